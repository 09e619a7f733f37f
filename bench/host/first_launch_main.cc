// Time of a new process with a warm cache, from Runtime::Open to the end of its first launch.
//
//   tilewright_first_launch [--op NAME]... [CACHE]
//
// For each operator named, or every one: fills the cache (a temporary one if none is named) in one
// process, then starts new ones, each with a context made before the clock starts, and prints the
// medians by operator as CSV. Some seconds an operator. Exit code 1 where a process compiled,
// loaded NVRTC, or failed.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "manifest/op_spec.h"
#include "manifest/status.h"
#include "runtime/driver/driver.h"
#include "runtime/runtime.h"
#include "tests/runtime/mapped_library.h"

namespace tilewright {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kProcesses = 9;

struct FirstLaunch {
  double open_ms = 0;    // Runtime::Open
  double launch_ms = 0;  // the call
  double done_ms = 0;    // Open to the kernel's end
  int64_t compiles = 0;
  bool nvrtc = false;
};

absl::StatusOr<const OpSpec*> FindOp(const std::string& name) {
  for (const OpSpec& op : Manifest::BuiltinOps()) {
    if (op.name == name) return &op;
  }
  return NotFound("no operator '", name, "'");
}

absl::StatusOr<FirstLaunch> Launch(const std::string& cache, const std::string& name) {
  TW_ASSIGN_OR_RETURN(const OpSpec* op, FindOp(name));
  const Workload& workload = op->workloads.front();
  TW_ASSIGN_OR_RETURN(const CallDesc call, WorkloadCall(*op, workload, workload.dtypes.front()));
  const std::shared_ptr<Driver> driver = SystemDriver();
  TW_RETURN_IF_ERROR(driver->Init());
  TW_ASSIGN_OR_RETURN(const CudaContext context, driver->RetainPrimaryContext(0));
  TW_RETURN_IF_ERROR(driver->PushContext(context));
  TW_ASSIGN_OR_RETURN(const CudaStream stream, driver->CreateStream());
  std::vector<Tensor> tensors;
  for (const Operand& operand : call.operands) {
    const auto bytes = static_cast<size_t>(operand.desc.elements() * DTypeSize(operand.desc.dtype));
    TW_ASSIGN_OR_RETURN(void* const data, driver->Alloc(bytes));
    // Zeros are legal as page numbers, lengths and offsets.
    const uint8_t fill = IsFloating(operand.desc.dtype) ? 0x3c : 0;
    TW_RETURN_IF_ERROR(driver->Fill8(data, fill, bytes, stream));
    tensors.push_back({data, 0, operand.desc});
  }
  std::vector<NamedParam> params;
  for (size_t i = 0; i < call.params.size(); ++i) {
    params.push_back({op->params[i].name, call.params[i]});
  }
  TW_RETURN_IF_ERROR(driver->SynchronizeStream(stream));

  const auto inputs = static_cast<size_t>(op->input_count());
  const std::span<const Tensor> all(tensors);
  RuntimeOptions options = RuntimeOptions::FromEnvironment();
  options.cache_path = cache;
  options.driver = driver;
  options.logger = [](LogLevel, std::string_view) {};
  CallOptions call_options;
  call_options.stream = stream;
  const auto start = Clock::now();
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<Runtime> runtime, Runtime::Open(std::move(options)));
  const auto opened = Clock::now();
  TW_RETURN_IF_ERROR(
      runtime->Call(name, all.first(inputs), all.subspan(inputs), params, call_options));
  const auto launched = Clock::now();
  TW_RETURN_IF_ERROR(driver->SynchronizeStream(stream));
  const auto done = Clock::now();
  const auto ms = [](auto span) { return std::chrono::duration<double, std::milli>(span).count(); };
  return FirstLaunch{ms(opened - start), ms(launched - opened), ms(done - start),
                     runtime->Counters().compiles, LibraryIsMapped("libnvrtc")};
}

// The child: one line, or a message and exit code 1.
int RunOnce(const std::string& cache, const std::string& op) {
  const absl::StatusOr<FirstLaunch> first = Launch(cache, op);
  if (!first.ok()) {
    std::cerr << first.status() << "\n";
    return 1;
  }
  std::cout << first->open_ms << " " << first->launch_ms << " " << first->done_ms << " "
            << first->compiles << " " << first->nvrtc << std::endl;
  std::cout.flush();
  _exit(0);  // as a process that is still at work: nothing is torn down
}

absl::StatusOr<FirstLaunch> InNewProcess(const std::string& cache, const std::string& op) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  FILE* const pipe = popen(Cat("'", self, "' --once '", cache, "' ", op).c_str(), "r");
  if (pipe == nullptr) return Internal("cannot start ", self);
  std::string output;
  char buffer[256];
  while (fgets(buffer, sizeof(buffer), pipe) != nullptr) output += buffer;
  if (pclose(pipe) != 0) return Internal(op, ": the new process failed");
  FirstLaunch first;
  std::istringstream text(output);
  text >> first.open_ms >> first.launch_ms >> first.done_ms >> first.compiles >> first.nvrtc;
  if (!text) return Internal("cannot read '", output, "'");
  return first;
}

double Median(std::vector<FirstLaunch> runs, double FirstLaunch::*field) {
  std::sort(runs.begin(), runs.end(),
            [field](const auto& a, const auto& b) { return a.*field < b.*field; });
  return runs[runs.size() / 2].*field;
}

// True where every process found all that it needed in the cache.
absl::StatusOr<bool> MeasureOp(const std::string& cache, const std::string& op) {
  TW_RETURN_IF_ERROR(InNewProcess(cache, op).status());  // fills the cache
  std::vector<FirstLaunch> runs;
  int64_t compiles = 0;
  bool nvrtc = false;
  for (int i = 0; i < kProcesses; ++i) {
    TW_ASSIGN_OR_RETURN(runs.emplace_back(), InNewProcess(cache, op));
    compiles += runs.back().compiles;
    nvrtc = nvrtc || runs.back().nvrtc;
  }
  std::cout << op << "," << Median(runs, &FirstLaunch::open_ms) << ","
            << Median(runs, &FirstLaunch::launch_ms) << "," << Median(runs, &FirstLaunch::done_ms)
            << "," << compiles << "," << (nvrtc ? "yes" : "no") << std::endl;
  return compiles == 0 && !nvrtc;
}

std::vector<std::string> OpsWithKernels() {
  std::vector<std::string> ops;
  for (const OpSpec& op : Manifest::BuiltinOps()) {
    if (MakeBuiltinRecipe(op.name) != nullptr) ops.push_back(op.name);
  }
  return ops;
}

int RunAll(const std::string& cache, const std::vector<std::string>& ops) {
  std::cout << "op,open_ms,launch_ms,open_to_done_ms,compiles,nvrtc_loaded" << std::endl;
  bool good = !ops.empty();
  for (const std::string& op : ops) {
    const absl::StatusOr<bool> warm = MeasureOp(cache, op);
    if (!warm.ok()) std::cerr << warm.status() << "\n";
    good = good && warm.ok() && *warm;
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace tilewright

int main(int argc, char** argv) {
  using namespace tilewright;
  if (argc == 4 && std::string(argv[1]) == "--once") return RunOnce(argv[2], argv[3]);
  std::vector<std::string> ops;
  int next = 1;
  for (; next + 1 < argc && std::string(argv[next]) == "--op"; next += 2) {
    ops.push_back(argv[next + 1]);
    if (const absl::Status known = FindOp(ops.back()).status(); !known.ok()) {
      std::cerr << known.message() << "\n";
      return 2;
    }
  }
  if (next + 1 < argc || (next < argc && argv[next][0] == '-')) {
    std::cerr << "usage: " << argv[0] << " [--op NAME]... [CACHE]\n";
    return 2;
  }
  if (ops.empty()) ops = OpsWithKernels();
  if (const absl::Status status = SystemDriver()->Init(); !status.ok()) {
    std::cout << "SKIPPED: " << status.message() << "\n";
    return 0;
  }
  if (next < argc) return RunAll(argv[next], ops);
  const std::string folder =
      (std::filesystem::temp_directory_path() / Cat("tilewright-first-launch-", getpid())).string();
  std::filesystem::create_directory(folder);
  const int code = RunAll(folder + "/kernels.db", ops);
  std::filesystem::remove_all(folder);
  return code;
}
