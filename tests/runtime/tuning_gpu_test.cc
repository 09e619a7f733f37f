// Tuning end to end: worker process, real kernels, real times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "manifest/op_spec.h"
#include "runtime/device_table.h"
#include "runtime/driver/driver.h"
#include "runtime/tuning.h"

namespace tilewright {
namespace {

// One of each kind: matrix product, two reductions along rows, element by element, gated. The rest
// share their templates.
constexpr std::string_view kOps[] = {"GemmFwdOp", "RMSNormFwdOp", "SoftmaxFwdOp", "AddFwdOp",
                                     "SiluAndMulFwdOp"};

// Guards the whole path on a machine with a GPU, on each operator's first workload.
TEST(TuningGpuTest, TunesOneOperatorOfEachKind) {
  const auto driver = SystemDriver();
  if (absl::Status status = driver->Init(); !status.ok()) GTEST_SKIP() << status;
  const auto device = ReadDeviceProfile(*driver, 0);
  ASSERT_TRUE(device.ok()) << device.status();
  auto cache = Cache::Open({});
  ASSERT_TRUE(cache.ok());
  KernelStore kernels(TemplateSet::Builtin(), cache->get(), NvrtcCompiler());
  for (const std::string_view name : kOps) {
    const OpSpec& op = *Manifest::FindBuiltin(name);
    const auto recipe = MakeBuiltinRecipe(name);
    ASSERT_NE(recipe, nullptr) << name;
    const auto call = WorkloadCall(op, op.workloads.front(), op.workloads.front().dtypes.front());
    ASSERT_TRUE(call.ok()) << call.status();
    TuningOptions options;
    options.search.exhaustive_below = 4;
    options.search.max_candidates = 8;
    const auto report = TuneProblem(*call, *recipe, *device, kernels, **cache, options);
    ASSERT_TRUE(report.ok()) << op.name << ": " << report.status();
    EXPECT_GT(report->winner.median_us, 0.5) << op.name;
    EXPECT_EQ(report->method, "cupti") << report->note;
    for (const Trial& trial : report->trials) {
      EXPECT_EQ(trial.status, CandidateStatus::kOk)
          << op.name << " " << trial.config.ToJson() << ": " << trial.error;
    }
  }
}

}  // namespace
}  // namespace tilewright
