// Guards that the device headers and every kernel that the memory-bound workloads may use compile
// on every architecture, without spills or warnings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "kernel_templates/embedded.h"
#include "manifest/edge_cases.h"
#include "tests/kernel_templates/compile_fixture.h"
#include "tests/kernel_templates/memory_bound_cases.h"

namespace tilewright {
namespace {

using ::testing::IsEmpty;

constexpr std::array<std::string_view, 6> kArchitectures = {"sm_80",  "sm_86",   "sm_89",
                                                            "sm_90a", "sm_100a", "sm_120a"};

class CompileTest : public CompileFixture {
 protected:
  void ExpectCompiles(const KernelSpec& spec, std::string_view arch) {
    const auto kernel = CompileOnce(spec, arch);
    if (!kernel.has_value()) return;
    EXPECT_THAT(kernel->gates, IsEmpty()) << arch << " " << spec.Instantiation();
    EXPECT_EQ(kernel->spill_bytes, 0) << arch << " " << spec.Instantiation();
    EXPECT_LE(kernel->registers, 128) << arch << " " << spec.Instantiation();
  }
};

DeviceProfile ProfileFor(std::string_view arch) {
  for (const DeviceProfile& device : BuiltinDeviceProfiles()) {
    if (device.arch == arch) return device;
  }
  ADD_FAILURE() << "no profile for " << arch;
  return {};
}

TEST_F(CompileTest, DeviceHeadersStandAlone) {
  for (std::string_view header :
       {"base", "fast_divmod", "types", "packet", "ldst", "ldst_if", "math", "nan_math", "warp",
        "cluster", "reduce", "complex", "strided_offset", "transcendental"}) {
    for (std::string_view arch : kArchitectures) {
      const std::string path = std::string("device/") + std::string(header) + ".cuh";
      const auto closure = TemplateSet::Builtin().Closure(path);
      ASSERT_TRUE(closure.ok()) << closure.status();
      CompileRequest request;
      request.source = "#include \"" + path + "\"\ntemplate <int> __global__ void Nothing() {}\n";
      request.headers = *closure;
      request.name_expression = "Nothing<0>";
      request.arch = std::string(arch);
      const auto kernel = compiler_->Compile(request);
      EXPECT_TRUE(kernel.ok()) << path << " " << arch << ": " << kernel.status();
    }
  }
}

TEST_F(CompileTest, DefaultsOfAllWorkloadsOnAllArchitectures) {
  std::set<std::pair<std::string, std::string>> done;
  int workloads = 0;
  for (const OpSpec& op : Manifest::BuiltinOps()) {
    const bool row = op.name == "RMSNormFwdOp" || op.name == "SoftmaxFwdOp";
    if (!row && op.name != "AddFwdOp" && op.name != "SiluAndMulFwdOp") continue;
    const auto recipe = MakeBuiltinRecipe(op.name);
    ASSERT_NE(recipe, nullptr) << op.name;
    for (const Workload& workload : op.workloads) {
      for (DType dtype : workload.dtypes) {
        const auto call = WorkloadCall(op, workload, dtype);
        ASSERT_TRUE(call.ok()) << call.status();
        ++workloads;
        for (std::string_view arch : kArchitectures) {
          const DeviceProfile device = ProfileFor(arch);
          for (const Variant* variant : recipe->variants()) {
            if (!variant->Serves(*call, device).ok()) continue;
            for (const KernelSpec& spec :
                 variant->Kernels(*call, variant->Default(*call, device))) {
              if (!done.emplace(spec.Source(), arch).second) continue;
              ExpectCompiles(spec, arch);
            }
          }
        }
      }
    }
  }
  EXPECT_GE(workloads, 25);
}

// Guards: every elementwise functor compiles on the oldest and the main architecture: vectors of
// the first workload at each dtype of a kind, and the kernel for any layout at the leading one.
TEST_F(CompileTest, EveryElementwiseFunctor) {
  struct Sample {
    DType dtype;
    std::string_view arch;
  };
  constexpr Sample kSamples[] = {{DType::kBFloat16, "sm_80"}, {DType::kFloat16, "sm_90a"},
                                 {DType::kFloat32, "sm_90a"}, {DType::kBool, "sm_90a"},
                                 {DType::kInt8, "sm_90a"},    {DType::kInt64, "sm_80"}};
  std::set<std::pair<std::string, std::string>> done;
  int operators = 0;
  for (const OpSpec& op : Manifest::BuiltinOps()) {
    if (op.family != "elementwise") continue;
    ++operators;
    const auto recipe = MakeBuiltinRecipe(op.name);
    ASSERT_NE(recipe, nullptr) << op.name;
    const std::vector<DType>& allowed = op.LeadingTensor().dtypes;
    for (const auto& [dtype, arch] : kSamples) {
      if (std::find(allowed.begin(), allowed.end(), dtype) == allowed.end()) continue;
      const auto call = WorkloadCall(op, op.workloads[0], dtype);
      ASSERT_TRUE(call.ok()) << call.status();
      const DeviceProfile device = ProfileFor(arch);
      for (const Variant* variant : recipe->variants()) {
        if (variant->name() == "portable" && dtype != allowed[0]) continue;
        for (const KernelSpec& spec : variant->Kernels(*call, variant->Default(*call, device))) {
          if (done.emplace(spec.Source(), arch).second) ExpectCompiles(spec, arch);
        }
      }
    }
  }
  EXPECT_GE(operators, 70);
}

// Guards: every reduction, norm, rotation, dropout and quantisation compiles on the oldest and the
// main architecture, in every variant, without spills.
TEST_F(CompileTest, EveryOperatorOfOtherFamilies) {
  const std::set<std::string_view> families = {"reduction", "normalization", "position_encoding",
                                               "regularization", "quantization"};
  std::set<std::pair<std::string, std::string>> done;
  int operators = 0;
  for (const OpSpec& op : Manifest::BuiltinOps()) {
    if (!families.contains(op.family)) continue;
    ++operators;
    const auto recipe = MakeBuiltinRecipe(op.name);
    ASSERT_NE(recipe, nullptr) << op.name;
    for (std::string_view arch : {"sm_80", "sm_90a"}) {
      const DeviceProfile device = ProfileFor(arch);
      for (const Workload* workload : {&op.workloads.front(), &op.workloads.back()}) {
        const auto call = WorkloadCall(op, *workload, workload->dtypes[0]);
        ASSERT_TRUE(call.ok()) << call.status();
        for (const Variant* variant : recipe->variants()) {
          if (!variant->Serves(*call, device).ok()) continue;
          for (const KernelSpec& spec : variant->Kernels(*call, variant->Default(*call, device))) {
            if (done.emplace(spec.Source(), arch).second) ExpectCompiles(spec, arch);
          }
        }
      }
    }
  }
  EXPECT_EQ(operators, 29 + 6 + 1 + 1);
}

// Guards: the functors that a parameter or an absent input chooses.
TEST_F(CompileTest, ChosenElementwiseFunctors) {
  std::set<std::string> functors;
  for (const std::string_view name :
       {"GeluFwdOp", "DivFwdOp", "ClampFwdOp", "RoundFwdOp", "DropoutFwdOp"}) {
    const OpSpec& op = *Manifest::FindBuiltin(name);
    const auto recipe = MakeBuiltinRecipe(name);
    for (const Workload& edge : BuiltinEdgeCases(name)) {
      const auto call = WorkloadCall(op, edge, DType::kFloat32);
      ASSERT_TRUE(call.ok()) << call.status();
      const Variant* portable = recipe->variants().back();
      for (std::string_view arch : {"sm_80", "sm_90a"}) {
        const DeviceProfile device = ProfileFor(arch);
        for (const KernelSpec& spec : portable->Kernels(*call, portable->Default(*call, device))) {
          if (functors.insert(spec.constants[0].second + std::string(arch)).second) {
            ExpectCompiles(spec, arch);
          }
        }
      }
    }
  }
  EXPECT_EQ(functors.size(), 2 * (2 + 3 + 3 + 3 + 2));
}

TEST_F(CompileTest, OtherLayoutsAndDtypes) {
  struct Case {
    std::string_view op;
    CallDesc call;
  };
  std::vector<Case> cases;
  for (DType dtype : {DType::kBool, DType::kUint8, DType::kInt8, DType::kInt16, DType::kInt32,
                      DType::kInt64, DType::kBFloat16}) {
    cases.push_back({"AddFwdOp", AddCall(dtype, {4, 16}, {4, 16}, {4, 16})});
    cases.push_back({"AddFwdOp", AddCall(dtype, {2, 3, 5, 7}, {2, 1, 5, 1}, {2, 3, 5, 7})});
  }
  cases.push_back({"SiluAndMulFwdOp", SiluAndMulCall(DType::kFloat32, 3, 47)});
  for (int64_t length : {46, 4095, 200001}) {
    cases.push_back({"RMSNormFwdOp", RmsNormCall(DType::kFloat16, 5, length)});
    cases.push_back({"SoftmaxFwdOp", SoftmaxCall(DType::kBFloat16, {500, length}, 1)});
  }
  cases.push_back({"SoftmaxFwdOp", SoftmaxCall(DType::kFloat16, {3, 50, 64}, 1)});
  cases.push_back({"SoftmaxFwdOp", SoftmaxCall(DType::kFloat16, {3, 20, 72}, 1)});
  cases.push_back({"SoftmaxFwdOp", SoftmaxCall(DType::kFloat32, {3, 50, 7}, 1)});
  for (const Case& c : cases) {
    const auto recipe = MakeBuiltinRecipe(c.op);
    const DeviceProfile device = H200();
    for (const Variant* variant : recipe->variants()) {
      if (!variant->Serves(c.call, device).ok()) continue;
      for (const KernelSpec& spec : variant->Kernels(c.call, variant->Default(c.call, device))) {
        ExpectCompiles(spec, device.arch);
      }
    }
  }
}

}  // namespace
}  // namespace tilewright
