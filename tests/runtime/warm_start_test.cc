// What a new process finds in a warm cache: everything. Each runs in a process of its own, since
// others of this program load the compiler.
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>

#include "tests/runtime/mapped_library.h"
#include "tests/runtime/runtime_fixture.h"

namespace tilewright {
namespace {

// Calls once over `cache`, with this compiler (null: NVRTC), and ends the process: exit code 0
// where it compiled `compiles` times and NVRTC was not loaded.
[[noreturn]] void CallAndExit(const std::string& cache, std::shared_ptr<Compiler> compiler,
                              int64_t compiles) {
  RuntimeOptions options;
  options.cache_path = cache;
  options.driver = std::make_shared<FakeDriver>();
  options.compiler = std::move(compiler);
  options.logger = [](LogLevel, std::string_view) {};
  auto driver = options.driver;
  auto runtime = Runtime::Open(std::move(options)).value();
  absl::Status status = runtime->Register(ScaleAndSumOps());
  if (status.ok()) status = driver->PushContext(driver->RetainPrimaryContext(0).value());
  alignas(256) static std::byte memory[2 * 64 * 64 * 4];
  const Tensor x = Tensor::Contiguous(memory, DType::kFloat32, {64, 64});
  const Tensor y = Tensor::Contiguous(memory + 64 * 64 * 4, DType::kFloat32, {64, 64});
  if (status.ok()) status = runtime->Call("ScaleTestOp", {&x, 1}, {&y, 1});
  const int64_t counted = runtime->Counters().compiles;
  std::cerr << status << ", " << counted << " compiles, NVRTC "
            << (LibraryIsMapped("libnvrtc") ? "loaded" : "not loaded") << "\n";
  _exit(status.ok() && counted == compiles && !LibraryIsMapped("libnvrtc") ? 0 : 1);
}

// Guards the cost of a start: a kernel that the cache has needs neither a compile nor NVRTC.
TEST(WarmStartTest, NothingIsCompiledAndNvrtcIsNotLoaded) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";  // a new process each
  const std::string folder = testing::TempDir() + "tilewright-warm-start";
  const std::string cache = folder + "/kernels.db";
  EXPECT_EXIT(
      {
        std::filesystem::remove_all(folder);
        std::filesystem::create_directory(folder);
        CallAndExit(cache, std::make_shared<FakeCompiler>(), 1);
      },
      testing::ExitedWithCode(0), "");
  EXPECT_EXIT(CallAndExit(cache, nullptr, 0), testing::ExitedWithCode(0), "");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tilewright
