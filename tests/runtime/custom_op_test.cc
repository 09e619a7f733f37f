// An operator of an embedder's own, from its manifest entry to a launch, compiled for real. The
// example to follow: tests/runtime/scale_op.cc holds the entry, the template and the recipe.
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
