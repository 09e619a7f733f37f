// A compiler that is instant and scriptable: every kernel gets the same small cubin.
#ifndef TILEWRIGHT_TESTS_RUNTIME_FAKE_COMPILER_H_
#define TILEWRIGHT_TESTS_RUNTIME_FAKE_COMPILER_H_

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <string>

#include "runtime/compiler.h"

namespace tilewright {

// Thread-safe. The lowered name of a kernel is its whole source, so that tests tell kernels apart.
class FakeCompiler : public Compiler {
 public:
  explicit FakeCompiler(std::string version = "nvrtc 13.0.88") : version_(std::move(version)) {}

  absl::StatusOr<CompiledKernel> Compile(const CompileRequest& request) override;
  absl::StatusOr<std::string> Version() override { return version_; }

  int compiles() const { return compiles_; }
  void FailWith(absl::Status status);   // OK: compile again
  void ThrowOnce() { throws_ = true; }  // std::bad_alloc, by the next compile
  void Take(std::chrono::milliseconds time) { time_ = time; }

 private:
  const std::string version_;
  std::atomic<int> compiles_{0};
  std::atomic<bool> throws_{false};
  std::atomic<std::chrono::milliseconds> time_{std::chrono::milliseconds(0)};
  std::mutex mutex_;
  absl::Status failure_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TESTS_RUNTIME_FAKE_COMPILER_H_
