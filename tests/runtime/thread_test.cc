// Many threads in one runtime. Built with the thread sanitizer, these must be clean.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>

#include "runtime/kernel_store.h"
#include "tests/runtime/runtime_fixture.h"

namespace tilewright {
namespace {

constexpr std::array<const char*, 16> kOps = {
    "ReluFwdOp", "GeluFwdOp", "SiluFwdOp", "HardswishFwdOp", "HardsigmoidFwdOp", "MishFwdOp",
    "SeluFwdOp", "ExpFwdOp",  "LogFwdOp",  "SqrtFwdOp",      "RsqrtFwdOp",       "AbsFwdOp",
    "NegFwdOp",  "SinFwdOp",  "CosFwdOp",  "FloorFwdOp"};

class ThreadTest : public RuntimeFixture {
 protected:
  absl::Status Unary(const char* op) {
    const Tensor x = X(8, 64);
    const Tensor y = Y(8, 64);
    return runtime_->Call(op, {&x, 1}, {&y, 1});
  }
  absl::Status Half(CudaStream stream = nullptr) {
    const Tensor x = Tensor::Contiguous(base_, DType::kFloat16, {8, 64});
    CallOptions options;
    options.stream = stream;
    return runtime_->Call("ScaleTestOp", {&x, 1}, {&x, 1}, {}, options);
  }
  // Runs body(0) to body(count - 1), each on a thread of its own, all from one moment on.
  static void Together(int count, const std::function<void(int)>& body) {
    std::atomic<int> waiting{count};
    std::vector<std::thread> threads;
    for (int t = 0; t < count; ++t) {
      threads.emplace_back([&, t] {
        for (--waiting; waiting > 0;) std::this_thread::yield();
        body(t);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
};

// Guards: 16 threads with a cold key each, then all with one: one compile and one load a key.
TEST_F(ThreadTest, SixteenColdKeysThenOne) {
  compiler_->Take(std::chrono::milliseconds(5));
  Open();
  std::vector<absl::Status> statuses(kOps.size());
  Together(16,
           [&](int t) { statuses[static_cast<size_t>(t)] = Unary(kOps[static_cast<size_t>(t)]); });
  for (size_t t = 0; t < kOps.size(); ++t) EXPECT_TRUE(statuses[t].ok()) << kOps[t] << statuses[t];
  EXPECT_EQ(compiler_->compiles(), 16);
  EXPECT_EQ(driver_->LoadedLibraries(), 16);
  Together(16, [&](int t) { statuses[static_cast<size_t>(t)] = Scale(8); });
  for (const absl::Status& status : statuses) EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(compiler_->compiles(), 17);
  EXPECT_EQ(driver_->LoadedLibraries(), 17);
  EXPECT_EQ(driver_->Launches().size(), 32u);
}

// Guards: compiling, loading and evicting in some threads does not disturb what others capture.
TEST_F(ThreadTest, CompileWhileAnotherThreadCaptures) {
  compiler_->Take(std::chrono::milliseconds(2));
  RuntimeOptions options = Options();
  options.max_loaded_kernels = 6;
  options.capture_miss = CaptureMiss::kLoadCached;  // what was evicted comes back
  Open(options);
  MakeCurrent();
  const CudaStream stream = driver_->NewStream(0);
  ASSERT_TRUE(Scale(8, 64, stream).ok());
  std::atomic<bool> stop{false};
  std::atomic<int> failures{0};
  std::thread compiler([&] {
    // On a stream of its own: the default stream is out of use while another is captured.
    const CudaStream own = driver_->NewStream(0);
    CallOptions on_stream;
    on_stream.stream = own;
    for (int i = 0; !stop; ++i) {
      const Tensor x = X(8, 64);
      const Tensor y = Y(8, 64);
      const char* op = kOps[static_cast<size_t>(i) % kOps.size()];
      if (!runtime_->Call(op, {&x, 1}, {&y, 1}, {}, on_stream).ok()) ++failures;
    }
  });
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(driver_->BeginCapture(stream, CaptureMode::kGlobal).ok());
    for (int call = 0; call < 5; ++call) {
      EXPECT_TRUE(Scale(8, 64, stream).ok());
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const absl::StatusOr<CudaGraph> graph = driver_->EndCapture(stream);
    EXPECT_TRUE(graph.ok()) << graph.status();
    if (graph.ok()) {
      EXPECT_TRUE(driver_->DestroyGraph(*graph).ok());
    }
    EXPECT_TRUE(Scale(8, 64, stream).ok());  // keeps its plan in use
  }
  stop = true;
  compiler.join();
  EXPECT_EQ(failures, 0);
  EXPECT_GT(compiler_->compiles(), 1);
}

// Guards: a thread whose first action is a call, with no context, is served and left as it was.
TEST_F(ThreadTest, FreshThreadCalls) {
  Open();
  for (int round = 0; round < 3; ++round) {  // cold, then warm
    Together(8, [&](int) {
      EXPECT_TRUE(Scale(8).ok());
      EXPECT_EQ(driver_->ContextDepth(), 0);
    });
  }
  EXPECT_EQ(compiler_->compiles(), 1);
}

// Guards: while threads evict each other's kernels, those of a graph stay, and replay.
TEST_F(ThreadTest, EvictionUnderLoadSparesPinnedKernels) {
  RuntimeOptions options = Options();
  options.max_loaded_kernels = 2;
  options.max_exact_calls = 16;
  Open(options);
  MakeCurrent();
  const CudaStream stream = driver_->NewStream(0);
  ASSERT_TRUE(Scale(8, 64, stream).ok());
  ASSERT_TRUE(driver_->BeginCapture(stream, CaptureMode::kThreadLocal).ok());
  ASSERT_TRUE(Scale(8, 64, stream).ok());
  const CudaGraph graph = driver_->EndCapture(stream).value();
  const CudaGraphExec exec = driver_->Instantiate(graph).value();
  ASSERT_TRUE(driver_->DestroyGraph(graph).ok());
  std::atomic<int> failures{0};
  Together(8, [&](int t) {
    for (int i = 0; i < 60; ++i) {
      if (!Unary(kOps[static_cast<size_t>(i * 7 + t) % kOps.size()]).ok()) ++failures;
      if (t == 0 && !driver_->LaunchGraph(exec, stream).ok()) ++failures;
    }
  });
  EXPECT_EQ(failures, 0);
  EXPECT_GT(runtime_->Counters().evicted_kernels, 16);
  EXPECT_EQ(compiler_->compiles(), 17);  // evicted ones come back from the cache
  ASSERT_TRUE(Half().ok());              // the last sweep
  EXPECT_LE(driver_->LoadedLibraries(), 4);
  // Still the graph's: the same kernel is served without another load.
  const int loads = driver_->Calls("LoadLibrary");
  ASSERT_TRUE(Scale(8).ok());
  EXPECT_EQ(driver_->Calls("LoadLibrary"), loads);
  ASSERT_TRUE(driver_->DestroyGraphExec(exec).ok());
}

// Guards: a child forked after use is told so by its first call, and compiles all the same.
TEST_F(ThreadTest, ForkedChildCompilesOnly) {
  RuntimeOptions options = Options();
  options.compiler = NvrtcCompiler();
  Open(options);
  MakeCurrent();
  ASSERT_TRUE(Scale(8).ok());
  const KernelSpec fresh{
      "test/scale.cuh",
      "test::ScaleKernel",
      {{"int kThreads", "64"}, {"int kVector", "2"}, {"using Element", "float"}}};
  const pid_t child = fork();
  if (child == 0) {
    const absl::Status call = Scale(8);
    if (!absl::IsFailedPrecondition(call)) _exit(1);
    if (call.message().find("forked") == absl::string_view::npos) _exit(2);
    const auto built = runtime_->kernels().GetOrBuild(fresh, "ScaleTestOp", "sm_90a");
    if (!built.ok() || !built->compiled || built->row.cubin.empty()) _exit(3);
    const auto again = runtime_->kernels().GetOrBuild(fresh, "ScaleTestOp", "sm_90a");
    _exit(again.ok() && !again->compiled ? 0 : 4);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(Scale(8).ok());
}

}  // namespace
}  // namespace tilewright
