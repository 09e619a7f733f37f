// Guards that the kernels of pooling and scans compile on the oldest and the main architecture,
// without spills or warnings: those of the workloads, every variant, and those of the edge cases.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "manifest/edge_cases.h"
#include "tests/kernel_templates/compile_fixture.h"
#include "tests/kernel_templates/memory_bound_cases.h"

namespace tilewright {
namespace {

using ::testing::IsEmpty;

class PoolScanCompileTest : public CompileFixture {
 protected:
  void ExpectCompiles(const KernelSpec& spec, std::string_view arch) {
    const auto kernel = CompileOnce(spec, arch);
    if (!kernel.has_value()) return;
    EXPECT_THAT(kernel->gates, IsEmpty()) << arch << " " << spec.Instantiation();
    EXPECT_EQ(kernel->spill_bytes, 0) << arch << " " << spec.Instantiation();
  }
  // Every variant's default, on the device.
  void ExpectCallCompiles(const OpSpec& op, const CallDesc& call, std::string_view profile) {
    const DeviceProfile device = BuiltinDeviceProfile(profile).value();
    const auto recipe = MakeBuiltinRecipe(op.name);
    ASSERT_NE(recipe, nullptr) << op.name;
    for (const Variant* variant : recipe->variants()) {
      if (!variant->Serves(call, device).ok()) continue;
      for (const KernelSpec& spec : variant->Kernels(call, variant->Default(call, device))) {
        ExpectCompiles(spec, device.arch);
      }
    }
  }
};

bool IsOurs(const OpSpec& op) { return op.family == "pool" || op.family == "scan"; }

TEST_F(PoolScanCompileTest, Workloads) {
  int operators = 0;
  for (const OpSpec& op : Manifest::BuiltinOps()) {
    if (!IsOurs(op)) continue;
    ++operators;
    for (const Workload& workload : op.workloads) {
      const auto call = WorkloadCall(op, workload, workload.dtypes[0]);
      ASSERT_TRUE(call.ok()) << call.status();
      ExpectCallCompiles(op, *call, "h200");
    }
    const auto call = WorkloadCall(op, op.workloads[0], op.workloads[0].dtypes[0]);
    ExpectCallCompiles(op, *call, "sm_80");
  }
  EXPECT_EQ(operators, 14);
}

TEST_F(PoolScanCompileTest, EdgeCases) {
  for (std::string_view name : {"MaxPool2dIndicesFwdOp", "AvgPool3dFwdOp", "CumprodFwdOp"}) {
    const OpSpec& op = *Manifest::FindBuiltin(name);
    for (const Workload& edge : BuiltinEdgeCases(name)) {
      const auto call = WorkloadCall(op, edge, DType::kFloat32);
      ASSERT_TRUE(call.ok()) << edge.label << " " << call.status();
      ExpectCallCompiles(op, *call, "h200");
    }
  }
  EXPECT_GT(done_.size(), 30u);
}

}  // namespace
}  // namespace tilewright
