// An operator of an embedder's own (tests/runtime/scale_op.cc), from its manifest entry to a
// launch, compiled for real.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cache/cache.h"
#include "runtime/cubin.h"
#include "tests/runtime/runtime_fixture.h"

namespace tilewright {
namespace {

class CustomOpTest : public RuntimeFixture {};

// Guards: NVRTC builds the registered template for sm_90a, the cubin holds the kernel that is
// launched, and a second process would find it in the cache.
TEST_F(CustomOpTest, CompilesAndLaunches) {
  RuntimeOptions options = Options();
  options.compiler = NvrtcCompiler();
  Open(options);
  MakeCurrent();
  const Tensor x = X(8, 64);
  const Tensor y = Y(8, 64);
  const NamedParam factor{"factor", 0.5};
  ASSERT_TRUE(runtime_->Call("ScaleTestOp", {&x, 1}, {&y, 1}, {&factor, 1}).ok());
  const std::vector<FakeLaunch> launches = driver_->Launches();
  ASSERT_EQ(launches.size(), 1u);
  const std::vector<KernelRow> rows = runtime_->cache().AllKernels();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].op, "ScaleTestOp");
  EXPECT_EQ(rows[0].arch, "sm_90a");
  EXPECT_EQ(rows[0].instantiation, "test::ScaleKernel<kThreads=128,kVector=1,Element=float>");
  EXPECT_EQ(rows[0].lowered_name, launches[0].kernel);
  const KernelRow kernel = runtime_->cache().FindKernel(rows[0].key).value();
  const CubinInfo info = ReadCubin(kernel.cubin).value();
  ASSERT_NE(info.Find(launches[0].kernel), nullptr);
  EXPECT_EQ(info.Find(launches[0].kernel)->max_threads, 128);
}

// Guards: a registered operator is compiled ahead for every dtype that it accepts, without a GPU,
// and with the element type of each; what was compiled is what a call would run.
TEST_F(CustomOpTest, WarmCompilesEachDtype) {
  RuntimeOptions options = Options();
  options.compiler = NvrtcCompiler();
  Open(options);
  const OpSpec& spec = *runtime_->Spec("ScaleTestOp");
  const DeviceProfile h200 = BuiltinDeviceProfile("h200").value();
  for (const auto& [dtype, type] : {std::pair<DType, std::string>{DType::kFloat16, "fp16"},
                                    {DType::kBFloat16, "bf16"},
                                    {DType::kFloat32, "float"}}) {
    const CallDesc call = WorkloadCall(spec, spec.workloads[0], dtype).value();
    const absl::Status warmed = runtime_->Warm(call, h200);
    ASSERT_TRUE(warmed.ok()) << warmed;
    const Explanation explained = runtime_->Explain(call, h200).value();
    ASSERT_EQ(explained.kernels.size(), 1u);
    EXPECT_TRUE(explained.kernels[0].in_cache);
    EXPECT_THAT(explained.kernels[0].instantiation, ::testing::HasSubstr("Element=" + type + ">"));
  }
  EXPECT_EQ(runtime_->cache().AllKernels().size(), 3u);
  EXPECT_TRUE(driver_->Launches().empty());
}

// Guards: a template that does not compile is found by warming, with the compiler's words; a call
// without an operator is refused.
TEST_F(CustomOpTest, WarmTellsWhatDoesNotCompile) {
  RuntimeOptions options = Options();
  options.compiler = NvrtcCompiler();
  auto runtime = Runtime::Open(options).value();
  CustomOp broken = ScaleOp();
  std::string& text = broken.templates[0].second;
  text.replace(text.find("p.factor"), 8, "p.fctor");
  ASSERT_TRUE(runtime->Register(broken).ok());
  const OpSpec& spec = *runtime->Spec("ScaleTestOp");
  const DeviceProfile h200 = BuiltinDeviceProfile("h200").value();
  const absl::Status warmed =
      runtime->Warm(WorkloadCall(spec, spec.workloads[0], DType::kFloat16).value(), h200);
  EXPECT_EQ(warmed.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(warmed.message()), ::testing::HasSubstr("fctor"));
  EXPECT_EQ(runtime->Warm(CallDesc{}, h200).code(), absl::StatusCode::kInvalidArgument);
}

// Guards: explanation tells what would run, before and after it is built, without building it.
TEST_F(CustomOpTest, ExplainTellsWithoutBuilding) {
  Open();
  MakeCurrent();
  const Explanation before = ExplainScale(8);
  EXPECT_EQ(before.quality, Quality::kDefault);
  EXPECT_EQ(before.problem_json, "{\"rows\":8,\"inner\":64,\"dense\":1}");
  ASSERT_EQ(before.kernels.size(), 1u);
  EXPECT_FALSE(before.kernels[0].in_cache);
  EXPECT_EQ(compiler_->compiles(), 0);
  ASSERT_TRUE(Scale(8).ok());
  const Explanation after = ExplainScale(8);
  EXPECT_EQ(after.kernels[0].key, before.kernels[0].key);
  EXPECT_TRUE(after.kernels[0].in_cache);
  EXPECT_EQ(after.kernels[0].registers, 16);
}

// Guards: a call that launches nothing is explained as such, like Call() answers it, even where no
// kernel would serve it; an incomplete call is refused.
TEST_F(CustomOpTest, ExplainWithoutALaunch) {
  Open();
  const DeviceProfile device = runtime_->Device(0).value();
  EXPECT_TRUE(ExplainScale(8).launches);
  EXPECT_FALSE(ExplainScale(0).launches);
  EXPECT_TRUE(ExplainScale(0).kernels.empty());
  Operand x;
  x.desc = TensorDesc::Contiguous(DType::kFloat32, {5, 2147483649, 0});
  const CallDesc call = InferCall(*runtime_->Spec("CumprodFwdOp"), {&x, 1}, {}).value();
  const absl::StatusOr<Explanation> empty = runtime_->Explain(call, device);
  ASSERT_TRUE(empty.ok()) << empty.status();
  EXPECT_FALSE(empty->launches);
  EXPECT_TRUE(empty->kernels.empty());
  const absl::Status no_op = runtime_->Explain(CallDesc{}, device).status();
  EXPECT_EQ(no_op.code(), absl::StatusCode::kInvalidArgument);
  CallDesc incomplete = ScaleCall(8);
  incomplete.operands.pop_back();
  const absl::Status operands = runtime_->Explain(incomplete, device).status();
  EXPECT_EQ(operands.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(operands.message()),
              ::testing::HasSubstr("ScaleTestOp: expected a call of 2 operands, got 1"));
  CallDesc without = ScaleCall(8);
  without.params.clear();
  EXPECT_EQ(runtime_->Explain(without, device).status().code(), absl::StatusCode::kInvalidArgument);
  CallDesc misshapen = ScaleCall(8);
  misshapen.operands[1].desc.shape = {8, 63};
  const absl::Status shape = runtime_->Explain(misshapen, device).status();
  EXPECT_EQ(shape.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(shape.message()),
              ::testing::HasSubstr("'output': expected shape (8, 64), got (8, 63)"));
}

// Guards: operators without inputs and inputs without axes are explained in full.
TEST_F(CustomOpTest, ExplainWithoutInputsOrAxes) {
  Open();
  const DeviceProfile device = BuiltinDeviceProfile("h200").value();
  for (const std::string_view op : {"AlibiFwdOp", "SinusoidalFwdOp"}) {
    const OpSpec& spec = *runtime_->Spec(op);
    const CallDesc call =
        WorkloadCall(spec, spec.workloads[0], spec.workloads[0].dtypes[0]).value();
    const absl::StatusOr<Explanation> explained = runtime_->Explain(call, device);
    ASSERT_TRUE(explained.ok()) << explained.status();
    EXPECT_TRUE(explained->launches);
    EXPECT_EQ(explained->kernels.size(), 1u) << op;
    EXPECT_GT(explained->sol_us, 0) << op;
  }
  Operand scalar;
  scalar.desc = TensorDesc::Contiguous(DType::kFloat32, {});
  const Operand both[] = {scalar, scalar};
  const CallDesc add = InferCall(*runtime_->Spec("AddFwdOp"), both, {}).value();
  EXPECT_EQ(runtime_->Explain(add, device).value().kernels.size(), 1u);
}

// Guards: a roofline that names a C++ formula is what that formula says, of the embedder's own; one
// that nobody defines, or that gives no work, is refused.
TEST_F(CustomOpTest, RooflineFormulas) {
  Open();
  Operand x;
  x.desc = TensorDesc::Contiguous(DType::kFloat32, {8, 64});
  const CallDesc call = InferCall(*runtime_->Spec("SumTestOp"), {&x, 1}, {}).value();
  const Work work = EvaluateRoofline(call).value();
  EXPECT_EQ(work.flops, 512);
  EXPECT_EQ(work.bytes, 2048);
  const auto refusal = [this](const CustomOp& custom) {
    CustomOp renamed = custom;
    for (const char* name : {"ScaleTestOp:", "SumTestOp:"}) {
      renamed.manifest_yaml.replace(renamed.manifest_yaml.find(name), 0, "Other");
    }
    return std::string(runtime_->Register(renamed).message());
  };
  CustomOp unknown = ScaleAndSumOps();
  unknown.roofline = {};
  EXPECT_THAT(refusal(unknown), ::testing::HasSubstr("no C++ formula 'SumWork'"));
  CustomOp idle = ScaleAndSumOps();
  idle.roofline = [](std::string_view) { return [](const CallDesc&) { return Work{0, 1}; }; };
  EXPECT_THAT(refusal(idle), ::testing::HasSubstr("expected finite flops and bytes above 0"));
}

// Guards: a template that is missing, or includes one that is, is named when the op is registered,
// not at the first call; nothing of the op stays, so that it can be registered once it is whole.
TEST_F(CustomOpTest, MissingTemplateIsRefused) {
  auto runtime = Runtime::Open(Options()).value();
  CustomOp without = ScaleAndSumOps();
  without.templates.erase(without.templates.begin());
  const absl::Status missing = runtime->Register(without);
  EXPECT_EQ(missing.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(missing.message()),
              ::testing::MatchesRegex("custom.yaml:[0-9]+: ScaleTestOp: workload 'small': variant "
                                      "'scale': no template 'test/scale.cuh'"));
  CustomOp includes = ScaleAndSumOps();
  includes.templates[1].second.insert(0, "#include \"test/none.cuh\"\n");
  const absl::Status included = runtime->Register(includes);
  EXPECT_EQ(included.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(
      std::string(included.message()),
      ::testing::HasSubstr("SumTestOp: workload 'small': variant 'sum': template "
                           "'test/sum.cuh' includes 'test/none.cuh', which does not exist"));
  EXPECT_EQ(runtime->Spec("ScaleTestOp"), nullptr);
  EXPECT_TRUE(runtime->Register(ScaleAndSumOps()).ok());
}

// Guards: a broken entry is refused with file, line, op and field, and leaves nothing behind.
TEST_F(CustomOpTest, BrokenEntryIsRefused) {
  Open();
  CustomOp broken = ScaleAndSumOps();
  const size_t at = broken.manifest_yaml.find("ScaleTestOp:");
  broken.manifest_yaml.replace(at, 12, "OtherTestOp:");
  broken.manifest_yaml.replace(broken.manifest_yaml.find("flops"), 5, "flips");
  const absl::Status status = runtime_->Register(broken);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("custom.yaml:"));
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("OtherTestOp"));
  EXPECT_EQ(runtime_->Spec("OtherTestOp"), nullptr);
}

}  // namespace
}  // namespace tilewright
