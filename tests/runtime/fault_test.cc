// Failures of the driver at every entry point, threads, forks, and damaged surroundings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "cache/cache.h"
#include "tests/runtime/runtime_fixture.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

class FaultTest : public RuntimeFixture {
 protected:
  // Opens on a new cache file and returns the options, to open it again with others.
  RuntimeOptions OpenAfresh(const std::string& name) {
    RuntimeOptions options = Options();
    options.cache_path = ::testing::TempDir() + "/" + name;
    std::remove(options.cache_path.c_str());
    Open(options);
    return options;
  }
};

// Guards: whatever call of the driver fails, the caller gets its error, the context stack is as it
// was, and the next call works.
TEST_F(FaultTest, EveryEntryPointMayFail) {
  for (const char* method :
       {"Init", "DeviceCount", "DeviceName", "Attribute", "RetainPrimaryContext", "PushContext",
        "LoadLibrary", "LibraryKernel", "KernelFunction", "SetKernelAttribute", "StreamContext",
        "StreamCapture", "AllocAsync", "EncodeTensorMap", "Launch"}) {
    for (const int code : {kCudaOutOfMemory, kCudaInvalidValue, 999}) {
      driver_ = std::make_shared<FakeDriver>(std::vector<FakeDevice>(2));
      Open();
      MakeCurrent();
      CallOptions options;
      options.stream = driver_->NewStream(0);
      for (int nth = 1; nth <= 4; ++nth) driver_->FailCall(method, nth, code);
      const absl::Status failed = Sum(options);
      EXPECT_FALSE(failed.ok()) << method;
      EXPECT_THAT(std::string(failed.message()), HasSubstr("SumTestOp")) << method;
      EXPECT_EQ(driver_->ContextDepth(), 1) << method;
      EXPECT_EQ(driver_->LiveAllocations(), 0) << method;
      driver_->ClearFailures();
      const absl::Status again = Sum(options);
      EXPECT_TRUE(again.ok()) << method << ": " << again;
      runtime_.reset();
      EXPECT_EQ(driver_->LoadedLibraries(), 0) << method;
    }
  }
}

// Guards: out of memory is told apart, and a lost context is told plainly.
TEST_F(FaultTest, ErrorsKeepTheirKind) {
  Open();
  MakeCurrent();
  ASSERT_TRUE(Sum().ok());
  driver_->FailCall("AllocAsync", 1, kCudaOutOfMemory);
  EXPECT_EQ(Sum().code(), absl::StatusCode::kResourceExhausted);
  driver_->FailCall("Launch", 1, kCudaIllegalAddress);
  const absl::Status lost = Sum();
  EXPECT_TRUE(IsSticky(lost));
  EXPECT_THAT(std::string(lost.message()), HasSubstr("process must be restarted"));
  EXPECT_EQ(driver_->LiveAllocations(), 0);
}

// Guards: a cubin that the driver is too old for is rebuilt by another compiler build, or told so.
TEST_F(FaultTest, CubinTooNewForTheDriver) {
  RuntimeOptions options = OpenAfresh("too_new.db");
  MakeCurrent();
  ASSERT_TRUE(Scale(8).ok());
  Open(options);
  driver_->FailCall("LoadLibrary", 1, kCudaUnsupportedPtxVersion);
  const absl::Status status = Scale(8);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("built by nvrtc 13.0.88"));
  auto older = std::make_shared<FakeCompiler>("nvrtc 12.8.93");
  options.compiler = older;
  Open(options);
  driver_->FailCall("LoadLibrary", 1, kCudaNoBinaryForGpu);
  EXPECT_TRUE(Scale(8).ok());
  EXPECT_EQ(older->compiles(), 1);
}

// Guards: many threads, one compile a kernel, one load a device, every call launched.
TEST_F(FaultTest, ThreadsShareOneCompile) {
  compiler_->Take(std::chrono::milliseconds(20));
  Open();
  constexpr int kThreads = 8;
  constexpr int kCalls = 50;
  std::vector<absl::Status> statuses(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kCalls && statuses[t].ok(); ++i) statuses[t] = Scale(1 + i % 5);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& status : statuses) EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(compiler_->compiles(), 1);
  EXPECT_EQ(driver_->LoadedLibraries(), 1);
  EXPECT_EQ(driver_->Launches().size(), size_t{kThreads} * kCalls);
}

// Guards the table's reclamation: threads call while others evict what they hold.
TEST_F(FaultTest, ThreadsSurviveEviction) {
  RuntimeOptions options = Options();
  options.max_exact_calls = 8;
  options.max_loaded_kernels = 1;
  Open(options);
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const DType dtype = (i + t) % 2 == 0 ? DType::kFloat32 : DType::kFloat16;
        const Tensor x = Tensor::Contiguous(base_, dtype, {1 + i % 23, 64});
        if (!runtime_->Call("ScaleTestOp", {&x, 1}, {&x, 1}).ok()) ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(driver_->Launches().size(), 800u);
}

// Guards: a kernel that does not compile costs one compile, and its error is served again.
TEST_F(FaultTest, BrokenTemplateIsCompiledOnce) {
  Open();
  MakeCurrent();
  compiler_->FailWith(absl::InternalError("error: expected a ';'"));
  for (int i = 0; i < 3; ++i) {
    const absl::Status status = Scale(8);
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
    EXPECT_THAT(std::string(status.message()), HasSubstr("expected a ';'"));
  }
  EXPECT_EQ(compiler_->compiles(), 1);
}

// Guards: a second runtime on the same file compiles nothing and needs no compiler.
TEST_F(FaultTest, WarmCacheNeedsNoCompiler) {
  RuntimeOptions options = OpenAfresh("warm_no_compiler.db");
  MakeCurrent();
  ASSERT_TRUE(Scale(8).ok());
  options.compiler = NvrtcCompiler("/nonexistent/libnvrtc.so.13");
  options.strict = true;
  Open(options);
  EXPECT_TRUE(Scale(8).ok());
  EXPECT_EQ(runtime_->Counters().compiles, 0);
}

// Guards: exact_toolchain makes another compiler build's cubin a miss.
TEST_F(FaultTest, ExactToolchainRebuilds) {
  RuntimeOptions options = OpenAfresh("exact_toolchain.db");
  MakeCurrent();
  ASSERT_TRUE(Scale(8).ok());
  auto other = std::make_shared<FakeCompiler>("nvrtc 12.8.93");
  options.compiler = other;
  Open(options);
  ASSERT_TRUE(Scale(8).ok());
  EXPECT_EQ(other->compiles(), 0);
  options.exact_toolchain = true;
  Open(options);
  ASSERT_TRUE(Scale(8).ok());
  EXPECT_EQ(other->compiles(), 1);
}

// Guards: a forked child is told plainly; what needs no GPU still works there.
TEST_F(FaultTest, ForkedChildGetsAPlainError) {
  Open();
  MakeCurrent();
  ASSERT_TRUE(Scale(8).ok());
  const pid_t child = fork();
  if (child == 0) {
    const absl::Status status = Scale(8);
    const bool told = absl::IsFailedPrecondition(status) &&
                      std::string(status.message()).find("forked") != std::string::npos;
    const bool new_shape_told = absl::IsFailedPrecondition(Scale(9));
    const bool listing_works = runtime_->Find("ScaleTestOp").ok();
    _exit(told && new_shape_told && listing_works ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(Scale(8).ok());
}

}  // namespace
}  // namespace tilewright
