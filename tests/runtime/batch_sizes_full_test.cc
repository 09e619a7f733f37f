// What many batch sizes, problems and calls cost: kernels, memory and file handles.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

#include "tests/runtime/noop_driver.h"
#include "tests/runtime/runtime_fixture.h"

namespace tilewright {
namespace {

int64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  int64_t total = 0;
  int64_t resident = 0;
  file >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

int64_t OpenFiles() {
  namespace fs = std::filesystem;
  return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
}

std::unique_ptr<Runtime> OpenWith(std::shared_ptr<Driver> driver, RuntimeOptions options = {}) {
  options.driver = std::move(driver);
  options.compiler = std::make_shared<FakeCompiler>();
  options.logger = [](LogLevel, std::string_view) {};
  return Runtime::Open(std::move(options)).value();
}

Tensor Null(const Dims& shape) { return Tensor::Contiguous(nullptr, DType::kBFloat16, shape); }

// Guards the promise that batch sizes share kernels: at most 8 for 1,000 of them.
TEST(BatchSizesTest, RmsNormKernels) {
  const auto runtime = OpenWith(std::make_shared<FakeDriver>());
  const NamedParam shape{"normalized_shape", Dims{4096}};
  for (int64_t rows = 1; rows <= 1000; ++rows) {
    const Tensor inputs[] = {Null({rows, 4096}), Null({4096})};
    const Tensor output = Null({rows, 4096});
    const absl::Status status = runtime->Prepare("RMSNormFwdOp", inputs, {&output, 1}, {&shape, 1});
    ASSERT_TRUE(status.ok()) << rows << ": " << status;
  }
  EXPECT_GE(runtime->Counters().compiles, 1);
  EXPECT_LE(runtime->Counters().compiles, 8);
}

// The same of 5,000 row lengths through an elementwise operator, at most 24: rows by rows, by one
// row, and by one column.
TEST(BatchSizesTest, AddKernels) {
  const auto runtime = OpenWith(std::make_shared<FakeDriver>());
  for (int64_t length = 1; length <= 5000; ++length) {
    for (const Dims& other : {Dims{64, length}, Dims{length}, Dims{64, 1}}) {
      const Tensor inputs[] = {Null({64, length}), Null(other)};
      const Tensor output = Null({64, length});
      const absl::Status status = runtime->Prepare("AddFwdOp", inputs, {&output, 1}, {});
      ASSERT_TRUE(status.ok()) << length << ": " << status;
    }
  }
  EXPECT_GE(runtime->Counters().compiles, 1);
  EXPECT_LE(runtime->Counters().compiles, 24);
}

// The same of the matrix product, at most 12, for each of the workloads' weights.
TEST(BatchSizesTest, GemmKernels) {
  const NamedParam transposed{"trans_b", true};
  for (const auto& [n, k] :
       {std::pair<int64_t, int64_t>{2112, 7168}, {7168, 2048}, {4096, 7168}, {7168, 16384}}) {
    const auto runtime = OpenWith(std::make_shared<FakeDriver>());
    for (int64_t m = 1; m <= 1000; ++m) {
      const Tensor inputs[] = {Null({m, k}), Null({n, k})};
      const Tensor output = Null({m, n});
      const absl::Status status =
          runtime->Prepare("GemmFwdOp", inputs, {&output, 1}, {&transposed, 1});
      ASSERT_TRUE(status.ok()) << m << ": " << status;
    }
    EXPECT_GE(runtime->Counters().compiles, 1) << n << " " << k;
    EXPECT_LE(runtime->Counters().compiles, 12) << n << " " << k;
  }
}

// Guards what 5,000 row lengths cost: kernels are shared, and once they are all there nothing grows
// any more, in host memory or on the device, and no call compiles or loads.
TEST(BatchSizesTest, RowLengthsLevelOff) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "resident memory is the sanitizer's own";
#endif
  constexpr int64_t kLengths = 5000;
  constexpr int64_t kBoundBytes = 1 << 20;
  const std::pair<std::string_view, int> ops[] = {{"SoftmaxFwdOp", 1}, {"AddFwdOp", 2}};
  for (const auto& [op, input_count] : ops) {
    const auto driver = std::make_shared<NoopDriver>();
    const auto runtime = OpenWith(driver);
    CallOptions options;
    options.stream = driver->NewStream(0);
    const auto call_all = [&, op = op, inputs = static_cast<size_t>(input_count)] {
      auto* const at = reinterpret_cast<std::byte*>(0x7f0000000000);  // never followed
      for (int64_t length = 1; length <= kLengths; ++length) {
        const Tensor x = Tensor::Contiguous(at, DType::kBFloat16, {64, length});
        const Tensor y =
            Tensor::Contiguous(at + (int64_t{1} << 40), DType::kBFloat16, {64, length});
        const Tensor both[] = {x, x};
        const absl::Status status = runtime->Call(op, {both, inputs}, {&y, 1}, {}, options);
        ASSERT_TRUE(status.ok()) << length << ": " << status;
      }
    };
    call_all();
    call_all();
    const RuntimeCounters before = runtime->Counters();
    const int64_t bytes = ResidentBytes();
    const int libraries = driver->LoadedLibraries();
    const int allocations = driver->LiveAllocations();
    EXPECT_GE(before.compiles, 1) << op;
    EXPECT_LE(before.compiles, 24) << op;
    EXPECT_LE(libraries, 24) << op;
    for (int round = 0; round < 4; ++round) call_all();
    EXPECT_LE(ResidentBytes() - bytes, kBoundBytes) << op;
    EXPECT_EQ(driver->LoadedLibraries(), libraries) << op;
    EXPECT_EQ(driver->LiveAllocations(), allocations) << op;
    const RuntimeCounters after = runtime->Counters();
    EXPECT_EQ(after.misses, before.misses) << op;
    EXPECT_EQ(after.compiles, before.compiles) << op;
    EXPECT_EQ(after.exact_hits + after.plan_hits - before.exact_hits - before.plan_hits,
              4 * kLengths)
        << op;
  }
}

// Guards against anything that grows with the number of shapes seen.
TEST(BatchSizesTest, MemoryStaysLevelOverAMillion) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "resident memory is the sanitizer's own";
#endif
  constexpr int64_t kWarmUp = 50'000;
  constexpr int64_t kSizes = 1'000'000;
  constexpr int64_t kBoundBytes = 4 << 20;  // 4 bytes a size
  const auto driver = std::make_shared<NoopDriver>();
  const auto runtime = OpenWith(driver);
  ASSERT_TRUE(runtime->Register(ScaleAndSumOps()).ok());
  CallOptions options;
  options.stream = driver->NewStream(0);
  const auto call = [&](int64_t rows) {
    auto* const at = reinterpret_cast<std::byte*>(0x7f0000000000);  // never followed
    const Tensor x = Tensor::Contiguous(at, DType::kFloat32, {rows, 4});
    const Tensor y = Tensor::Contiguous(at + (int64_t{1} << 40), DType::kFloat32, {rows, 4});
    return runtime->Call("ScaleTestOp", {&x, 1}, {&y, 1}, {}, options);
  };
  int64_t rows = int64_t{1} << 25;
  for (int64_t i = 0; i < kWarmUp; ++i) ASSERT_TRUE(call(--rows).ok());
  const int64_t before = ResidentBytes();
  const int64_t files = OpenFiles();
  for (int64_t i = 0; i < kSizes; ++i) ASSERT_TRUE(call(--rows).ok());
  EXPECT_EQ(OpenFiles(), files);
  EXPECT_LE(ResidentBytes() - before, kBoundBytes);
  EXPECT_EQ(runtime->Counters().exact_hits, 0);  // every size was new
  EXPECT_EQ(runtime->Counters().plan_hits + runtime->Counters().misses, kWarmUp + kSizes);
  EXPECT_EQ(runtime->Counters().compiles, 1);
}

// A runtime on a cache file, with ScaleTestOp, whose calls reach no device.
class LongRunTest : public testing::Test {
 protected:
  void Open(int64_t max_exact_calls) {
    char folder[] = "/tmp/tilewright-long-XXXXXX";
    ASSERT_NE(mkdtemp(folder), nullptr);
    folder_ = folder;
    RuntimeOptions options;
    options.cache_path = folder_ + "/kernels.db";
    options.max_exact_calls = max_exact_calls;
    driver_ = std::make_shared<NoopDriver>();
    runtime_ = OpenWith(driver_, std::move(options));
    ASSERT_TRUE(runtime_->Register(ScaleAndSumOps()).ok());
    call_.stream = driver_->NewStream(0);
  }
  void TearDown() override {
    runtime_.reset();
    std::filesystem::remove_all(folder_);
  }
  absl::Status Scale(int64_t rows, int64_t inner) {
    auto* const at = reinterpret_cast<std::byte*>(0x7f0000000000);  // never followed
    const Tensor x = Tensor::Contiguous(at, DType::kFloat32, {rows, inner});
    const Tensor y = Tensor::Contiguous(at + (int64_t{1} << 40), DType::kFloat32, {rows, inner});
    return runtime_->Call("ScaleTestOp", {&x, 1}, {&y, 1}, {}, call_);
  }
  std::string folder_;
  std::shared_ptr<NoopDriver> driver_;
  std::unique_ptr<Runtime> runtime_;
  CallOptions call_;
};

// Guards against anything that grows with the number of calls.
TEST_F(LongRunTest, AMillionHitsCostNothing) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "resident memory is the sanitizer's own";
#endif
  Open(8192);
  for (int i = 0; i < 10'000; ++i) ASSERT_TRUE(Scale(8, 64).ok());
  const int64_t hits = runtime_->Counters().exact_hits;
  const int64_t before = ResidentBytes();
  const int64_t files = OpenFiles();
  for (int i = 0; i < 1'000'000; ++i) ASSERT_TRUE(Scale(8, 64).ok());
  EXPECT_LE(ResidentBytes() - before, 256 << 10);
  EXPECT_EQ(OpenFiles(), files);
  EXPECT_EQ(runtime_->Counters().exact_hits - hits, 1'000'000);
}

// Guards against anything that grows with the number of problems beyond the bounds that were set.
TEST_F(LongRunTest, FiveThousandProblemsLevelOff) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "resident memory is the sanitizer's own";
#endif
  Open(1024);
  int64_t inner = 0;
  for (int i = 0; i < 2000; ++i) ASSERT_TRUE(Scale(8, ++inner).ok());
  const int64_t before = ResidentBytes();
  const int64_t files = OpenFiles();
  for (int i = 0; i < 5000; ++i) ASSERT_TRUE(Scale(8, ++inner).ok());
  RecordProperty("grown_bytes", static_cast<int>(ResidentBytes() - before));
  EXPECT_LE(ResidentBytes() - before, 2 << 20);
  EXPECT_EQ(OpenFiles(), files);
  EXPECT_EQ(runtime_->Counters().misses, 7000);
  EXPECT_EQ(runtime_->Counters().compiles, 1);
}

// The same within the usual bounds: what 5,000 problems take.
TEST_F(LongRunTest, FiveThousandProblemsAreSmall) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "resident memory is the sanitizer's own";
#endif
  Open(8192);
  ASSERT_TRUE(Scale(8, 1).ok());
  const int64_t before = ResidentBytes();
  for (int64_t inner = 2; inner <= 5001; ++inner) ASSERT_TRUE(Scale(8, inner).ok());
  RecordProperty("grown_bytes", static_cast<int>(ResidentBytes() - before));
  EXPECT_LE(ResidentBytes() - before, 5000 * 6000);
  EXPECT_EQ(runtime_->Counters().misses, 5001);
}

}  // namespace
}  // namespace tilewright
