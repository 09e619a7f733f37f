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
// where it compiled once or, if `warm`, not at all and NVRTC is not loaded.
[[noreturn]] void CallAndExit(const std::string& cache, std::shared_ptr<Compiler> compiler,
                              bool warm) {
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
  const Tensor y = Tensor::Contiguous(memory + size_t{64} * 64 * 4, DType::kFloat32, {64, 64});
  if (status.ok()) status = runtime->Call("ScaleTestOp", {&x, 1}, {&y, 1});
  const int64_t compiles = runtime->Counters().compiles;
  std::cerr << status << ", " << compiles << " compiles, NVRTC "
            << (LibraryIsMapped("libnvrtc") ? "loaded" : "not loaded") << "\n";
  const bool as_expected = warm ? compiles == 0 && !LibraryIsMapped("libnvrtc") : compiles == 1;
  _exit(status.ok() && as_expected ? 0 : 1);
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
        CallAndExit(cache, std::make_shared<FakeCompiler>(), false);
      },
      testing::ExitedWithCode(0), "");
  EXPECT_EXIT(CallAndExit(cache, nullptr, true), testing::ExitedWithCode(0), "");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tilewright
