#include "tests/runtime/fake_compiler.h"

#include <new>
#include <thread>

namespace tilewright {
namespace {

// A real cubin, built once: digests are computed of it.
const std::string& SmallCubin() {
  static const std::string cubin = [] {
    CompileRequest request;
    request.source = "template <int> __global__ void Empty() {}";
    request.name_expression = "Empty<0>";
    request.arch = "sm_90a";
    return NvrtcCompiler()->Compile(request).value().cubin;
  }();
  return cubin;
}

}  // namespace

absl::StatusOr<CompiledKernel> FakeCompiler::Compile(const CompileRequest& request) {
  std::this_thread::sleep_for(time_.load());
  if (throws_.exchange(false)) throw std::bad_alloc();
  ++compiles_;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!failure_.ok()) return failure_;
  }
  CompiledKernel kernel;
  kernel.cubin = SmallCubin();
  kernel.lowered_name = request.source;
  kernel.compiler = version_;
  kernel.compile_ms = 1;
  kernel.registers = 16;
  return kernel;
}

void FakeCompiler::FailWith(absl::Status status) {
  std::lock_guard<std::mutex> lock(mutex_);
  failure_ = std::move(status);
}

}  // namespace tilewright
