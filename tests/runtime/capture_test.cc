// Calls on a stream that is being captured into a graph.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/runtime_fixture.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

class CaptureTest : public RuntimeFixture {
 protected:
  void Begin(CaptureMiss policy, int64_t max_loaded_kernels = 4096) {
    RuntimeOptions options = Options();
    options.capture_miss = policy;
    options.max_loaded_kernels = max_loaded_kernels;
    Open(options);
    MakeCurrent();
    stream_ = driver_->NewStream(0);
  }
  void Capture() { ASSERT_TRUE(driver_->BeginCapture(stream_, CaptureMode::kGlobal).ok()); }
  CudaStream stream_ = nullptr;
};

// Guards: a hit is recorded and the capture stays valid.
TEST_F(CaptureTest, HitIsCaptured) {
  Begin(CaptureMiss::kFail);
  ASSERT_TRUE(Scale(8).ok());
  Capture();
  ASSERT_TRUE(Scale(8, 64, stream_).ok());
  ASSERT_TRUE(Scale(7, 64, stream_).ok());  // another shape of a known problem
  const CudaGraph graph = driver_->EndCapture(stream_).value();
  const CudaGraphExec exec = driver_->Instantiate(graph).value();
  const size_t before = driver_->Launches().size();
  ASSERT_TRUE(driver_->LaunchGraph(exec, stream_).ok());
  EXPECT_EQ(driver_->Launches().size(), before + 2);
}

// Guards: a miss says what to do, compiles and loads nothing, and leaves the capture valid.
TEST_F(CaptureTest, MissFailsAndLeavesTheCaptureValid) {
  Begin(CaptureMiss::kFail);
  Capture();
  const absl::Status status = Scale(8, 64, stream_);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("ScaleTestOp: problem {\"rows\":8"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("tilewright warm --arch sm_90a"));
  EXPECT_EQ(compiler_->compiles(), 0);
  EXPECT_EQ(driver_->LoadedLibraries(), 0);
  EXPECT_TRUE(driver_->EndCapture(stream_).ok());
  EXPECT_TRUE(Scale(8, 64, stream_).ok());
}

// Guards: by option a cached cubin is served under capture, and nothing is compiled.
TEST_F(CaptureTest, CachedKernelIsLoadedByOption) {
  const std::string path = ::testing::TempDir() + "/capture_cache.db";
  std::remove(path.c_str());
  RuntimeOptions options = Options();
  options.cache_path = path;
  Open(options);
  MakeCurrent();
  ASSERT_TRUE(Scale(8).ok());
  options.capture_miss = CaptureMiss::kLoadCached;
  Open(options);
  stream_ = driver_->NewStream(0);
  Capture();
  EXPECT_TRUE(Scale(8, 64, stream_).ok());
  const Tensor x = Tensor::Contiguous(base_, DType::kFloat16, {8, 64});  // a kernel never built
  CallOptions call;
  call.stream = stream_;
  const absl::Status status = runtime_->Call("ScaleTestOp", {&x, 1}, {&x, 1}, {}, call);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("is not in the cache"));
  EXPECT_EQ(compiler_->compiles(), 1);
  EXPECT_TRUE(driver_->EndCapture(stream_).ok());
}

// Guards: by option the default is compiled and loaded, without disturbing the capture.
TEST_F(CaptureTest, DefaultIsCompiledByOption) {
  Begin(CaptureMiss::kCompile);
  Capture();
  EXPECT_TRUE(Scale(8, 64, stream_).ok());
  EXPECT_EQ(compiler_->compiles(), 1);
  EXPECT_TRUE(driver_->EndCapture(stream_).ok());
  EXPECT_EQ(driver_->ContextDepth(), 1);
}

// Guards: workspace under capture is the graph's own: allocated and freed by its nodes, each time.
TEST_F(CaptureTest, WorkspaceIsTheGraphs) {
  Begin(CaptureMiss::kFail);
  ASSERT_TRUE(Sum().ok());
  Capture();
  CallOptions options;
  options.stream = stream_;
  const int allocations = driver_->Calls("AllocAsync");
  ASSERT_TRUE(Sum(options).ok());
  ASSERT_TRUE(Sum(options).ok());
  EXPECT_EQ(driver_->Calls("AllocAsync"), allocations + 2);
  EXPECT_EQ(driver_->Calls("Alloc"), 0);
  EXPECT_TRUE(driver_->EndCapture(stream_).ok());
}

// Guards: an evicted kernel stays loaded while a graph uses it, and goes when the graph has gone.
TEST_F(CaptureTest, KernelsOfAGraphStayLoaded) {
  Begin(CaptureMiss::kFail, 1);
  ASSERT_TRUE(Scale(8).ok());
  Capture();
  ASSERT_TRUE(Scale(8, 64, stream_).ok());
  const CudaGraph graph = driver_->EndCapture(stream_).value();
  const CudaGraphExec exec = driver_->Instantiate(graph).value();
  ASSERT_TRUE(driver_->DestroyGraph(graph).ok());
  const Tensor half = Tensor::Contiguous(base_, DType::kFloat16, {8, 64});
  ASSERT_TRUE(runtime_->Call("ScaleTestOp", {&half, 1}, {&half, 1}).ok());  // beyond the limit
  EXPECT_EQ(driver_->LoadedLibraries(), 2);
  ASSERT_TRUE(driver_->LaunchGraph(exec, stream_).ok());
  ASSERT_TRUE(driver_->DestroyGraphExec(exec).ok());
  ASSERT_TRUE(Sum().ok());  // two more kernels: now the first can go
  EXPECT_EQ(runtime_->Counters().evicted_kernels, 2);
  EXPECT_EQ(driver_->LoadedLibraries(), 2);
}

// Guards: a runtime that ends leaves to the driver what a graph still needs.
TEST_F(CaptureTest, GraphOutlivesTheRuntime) {
  Begin(CaptureMiss::kFail);
  ASSERT_TRUE(Scale(8).ok());
  ASSERT_TRUE(Sum().ok());
  Capture();
  ASSERT_TRUE(Scale(8, 64, stream_).ok());
  const CudaGraph graph = driver_->EndCapture(stream_).value();
  runtime_.reset();
  EXPECT_EQ(driver_->LoadedLibraries(), 1);
  ASSERT_TRUE(driver_->DestroyGraph(graph).ok());
}

// Guards: the default stream is refused while another stream is captured, before it does harm.
TEST_F(CaptureTest, DefaultStreamIsRefusedMeanwhile) {
  Begin(CaptureMiss::kFail);
  ASSERT_TRUE(Scale(8).ok());
  Capture();
  const absl::Status status = Scale(8);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("default stream"));
  EXPECT_TRUE(driver_->EndCapture(stream_).ok());
}

}  // namespace
}  // namespace tilewright
