#include "runtime/worker_evaluator.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <exception>
#include <fstream>
#include <thread>
#include <utility>

#include "manifest/op_spec.h"
#include "manifest/status.h"
#include "manifest/text.h"
#include "manifest/threads.h"
#include "runtime/launch_rules.h"
#include "runtime/worker/support_kernels.h"

namespace tilewright {
namespace {

// A candidate and its judge may each be this far from the truth.
constexpr double kToleranceFactor = 2;

// Gates that make a kernel unfit by itself; Build() judges spills.
std::string UnfitReason(const KernelRow& row) {
  for (const std::string& gate : CompileGates(row.compile_log, row.spill_bytes)) {
    if (!gate.starts_with("spills")) return Cat(Escaped(row.instantiation), ": ", gate);
  }
  return "";
}

Measurement Failed(std::string why) {
  Measurement result;
  result.status = CandidateStatus::kFailed;
  result.error = std::move(why);
  return result;
}

WireOperand Describe(const CallDesc& call, size_t index) {
  const Operand& operand = call.operands[index];
  const auto inputs = static_cast<size_t>(call.op->input_count());
  WireOperand wire;
  wire.desc = operand.desc;
  wire.alignment = operand.alignment;
  wire.present = operand.present;
  wire.output = index >= inputs;
  wire.mutated = !wire.output && call.op->inputs[index].mutated;
  const Tolerance tolerance = ToleranceOf(*call.op, operand.desc.dtype);
  wire.absolute = kToleranceFactor * tolerance.absolute;
  wire.relative = kToleranceFactor * tolerance.relative;
  return wire;
}

}  // namespace

WorkerEvaluator::WorkerEvaluator(const CallDesc& call, const Recipe& recipe, DeviceProfile device,
                                 KernelStore& kernels, WorkerEvaluatorOptions options)
    : call_(call),
      recipe_(recipe),
      device_(std::move(device)),
      kernels_(kernels),
      options_(std::move(options)),
      client_(options_.worker) {
  absl::StatusOr<ScratchFolder> scratch = ScratchFolder::Make();
  status_ = scratch.status();
  if (scratch.ok()) scratch_ = *std::move(scratch);
}

bool WorkerEvaluator::Cancelled() const {
  return options_.worker.cancelled != nullptr && options_.worker.cancelled->load();
}

std::vector<Measurement> WorkerEvaluator::Admit(std::span<const Config> configs) {
  Measurement pruned;
  pruned.status = CandidateStatus::kPruned;
  std::vector<Measurement> results(configs.size(), pruned);
  if (!status_.ok()) return results;
  if (!spills_allowed_.has_value()) LearnWhetherDefaultSpills();
  std::vector<Built> built = BuildAll(configs);
  const bool none = std::none_of(built.begin(), built.end(), [](const Built& candidate) {
    return candidate.facts.status == CandidateStatus::kOk;
  });
  // Without a compiler nothing is learnt of what the cache lacks; with nothing built, nothing can
  // be.
  if (none && !opened_) status_ = no_compiler_;
  std::vector<std::pair<int, WirePlan>> plans;
  std::vector<size_t> places;
  for (size_t i = 0; i < configs.size(); ++i) {
    results[i] = built[i].facts;
    if (results[i].status != CandidateStatus::kOk) continue;
    const int id =
        ids_.try_emplace(configs[i].ToJson(), static_cast<int>(ids_.size())).first->second;
    plans.emplace_back(id, std::move(built[i].plan));
    places.push_back(i);
  }
  if (!opened_ && !plans.empty() && !Cancelled()) status_ = OpenWorker();
  if (!opened_) {
    for (size_t place : places) results[place] = pruned;
    LearnOfLacks({});
    return results;
  }
  std::vector<Measurement> verdicts = client_.Admit(plans);
  for (size_t i = 0; i < places.size(); ++i) {
    results[places[i]].status = verdicts[i].status;
    results[places[i]].error = std::move(verdicts[i].error);
  }
  LearnOfLacks(results);
  return results;
}

std::vector<Measurement> WorkerEvaluator::Measure(std::span<const Config> configs, int repeats) {
  std::vector<int> ids;
  for (const Config& config : configs) {
    const auto it = ids_.find(config.ToJson());
    ids.push_back(it == ids_.end() ? -1 : it->second);
  }
  std::vector<Measurement> results = client_.Measure(ids, repeats);
  LearnOfLacks(results);
  return results;
}

void WorkerEvaluator::Lack(absl::Status what) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (lack_.ok()) lack_ = std::move(what);
}

// What the worker could not look at, and said why.
void WorkerEvaluator::LearnOfLacks(const std::vector<Measurement>& results) {
  for (const Measurement& result : results) {
    if (result.status == CandidateStatus::kPruned && !result.error.empty()) {
      Lack(ResourceExhausted(result.error));
    }
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (status_.ok()) status_ = client_.status();
  if (status_.ok()) status_ = lack_;
}

std::vector<WorkerEvaluator::Built> WorkerEvaluator::BuildAll(std::span<const Config> configs) {
  std::vector<Built> built(configs.size());
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < configs.size(); i = next++) {
      built[i] = Build(configs[i]);
    }
  };
  const size_t cores = std::max(1u, std::thread::hardware_concurrency());
  const size_t jobs = options_.jobs > 0 ? static_cast<size_t>(options_.jobs) : cores;
  RunOnThreads(static_cast<int64_t>(std::min(jobs, configs.size())), work);
  return built;
}

WorkerEvaluator::Built WorkerEvaluator::Build(const Config& config) {
  Built built;
  if (Cancelled()) {
    built.facts.status = CandidateStatus::kPruned;
    return built;
  }
  auto plan = BuildPlan(config, built.facts);
  if (built.facts.status == CandidateStatus::kPruned) return built;
  if (plan.ok() && built.facts.spill_bytes > 0 && spills_allowed_ != true) {
    if (!spills_allowed_.has_value()) {
      built.facts.status = CandidateStatus::kPruned;
      return built;
    }
    plan = Internal("spills ", built.facts.spill_bytes, " bytes of registers");
  }
  if (!plan.ok()) {
    const int registers = built.facts.registers;
    const int64_t spill_bytes = built.facts.spill_bytes;
    built.facts = Failed(std::string(plan.status().message()));
    built.facts.registers = registers;
    built.facts.spill_bytes = spill_bytes;
  } else {
    built.plan = *std::move(plan);
  }
  return built;
}

void WorkerEvaluator::LearnWhetherDefaultSpills() {
  Measurement facts;
  if (const auto variant = SelectVariant(recipe_, call_, device_); variant.ok()) {
    (void)BuildPlan((*variant)->Default(call_, device_), facts).ok();
  }
  if (facts.spill_bytes > 0 || facts.status != CandidateStatus::kPruned) {
    spills_allowed_ = facts.spill_bytes > 0;
  }
}

absl::StatusOr<WirePlan> WorkerEvaluator::BuildPlan(const Config& config, Measurement& facts) {
  const Variant* variant = FindVariant(recipe_, config.variant);
  if (variant == nullptr) return NotFound("no variant is named '", config.variant, "'");
  WirePlan plan;
  for (const KernelSpec& spec : variant->Kernels(call_, config)) {
    TW_ASSIGN_OR_RETURN(WireKernel kernel, BuildKernel(spec, facts));
    plan.kernels.push_back(std::move(kernel));
  }
  TW_ASSIGN_OR_RETURN(plan.bound, BindCall(*variant, call_, config, device_, plan.kernels.size()));
  return plan;
}

absl::StatusOr<KernelStore::Result> WorkerEvaluator::Compile(const KernelSpec& spec) {
  try {
    return kernels_.GetOrBuild(spec, call_.op->name, device_.arch, options_.worker.cancelled);
  } catch (const std::exception& error) {  // no memory, say; on a thread it would end the process
    return ResourceExhausted("compiling ", spec.Instantiation(), ": ", error.what());
  }
}

absl::StatusOr<WireKernel> WorkerEvaluator::BuildKernel(const KernelSpec& spec,
                                                        Measurement& facts) {
  if (Cancelled()) {
    facts.status = CandidateStatus::kPruned;
    return absl::CancelledError("tuning: cancelled while kernels were compiled");
  }
  const absl::StatusOr<KernelStore::Result> result = Compile(spec);
  if (absl::IsFailedPrecondition(result.status())) {
    facts.status = CandidateStatus::kPruned;
    const std::lock_guard<std::mutex> lock(mutex_);
    no_compiler_ = result.status();
  } else if (absl::IsCancelled(result.status())) {
    facts.status = CandidateStatus::kPruned;
  } else if (absl::IsResourceExhausted(result.status())) {
    facts.status = CandidateStatus::kPruned;
    Lack(result.status());
  }
  TW_RETURN_IF_ERROR(result.status());
  const KernelRow& row = result->row;
  facts.registers = std::max(facts.registers, row.registers);
  facts.spill_bytes += row.spill_bytes;
  if (const std::string reason = UnfitReason(row); !reason.empty()) return Internal(reason);
  const std::string path = scratch_.path() + "/" + row.key + ".cubin";
  if (const absl::Status written = WriteOnce(path, row.cubin); !written.ok()) {
    facts.status = CandidateStatus::kPruned;
    Lack(written);
    return written;
  }
  return WireKernel{spec.Instantiation(), path, row.lowered_name, row.static_smem_bytes};
}

absl::Status WorkerEvaluator::WriteOnce(const std::string& path, std::string_view bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!written_.insert(path).second) return absl::OkStatus();
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (file) return absl::OkStatus();
  const int error = errno;
  written_.erase(path);
  (void)unlink(path.c_str());  // half of it
  return ResourceExhausted("cannot write ", path, error == 0 ? "" : ": ",
                           error == 0 ? "" : std::strerror(error));
}

absl::Status WorkerEvaluator::OpenWorker() {
  const Variant* judge = nullptr;
  for (const Variant* variant : recipe_.variants()) {
    if (variant->Serves(call_, device_).ok()) judge = variant;
  }
  if (judge == nullptr) {
    return FailedPrecondition("no variant serves ", call_.ToString(), " on ", device_.name);
  }
  Measurement facts;
  const auto plan = BuildPlan(judge->Default(call_, device_), facts);
  if (!plan.ok()) {
    return absl::Status(plan.status().code(), Cat("the template that judges candidates, '",
                                                  judge->name(), "': ", plan.status().message()));
  }
  TW_ASSIGN_OR_RETURN(OpenRequest problem, DescribeProblem());
  TW_RETURN_IF_ERROR(client_.Open(std::move(problem), *plan));
  opened_ = true;
  return absl::OkStatus();
}

absl::StatusOr<OpenRequest> WorkerEvaluator::DescribeProblem() {
  OpenRequest request;
  request.device = options_.device;
  request.seed = FreshSeed();
  request.cupti_dirs = options_.cupti_dirs;
  std::vector<DType> dtypes;
  for (size_t i = 0; i < call_.operands.size(); ++i) {
    request.operands.push_back(Describe(call_, i));
    if (call_.operands[i].present) dtypes.push_back(call_.operands[i].desc.dtype);
  }
  Measurement ignored;
  for (const KernelSpec& spec : SupportKernels(dtypes)) {
    TW_ASSIGN_OR_RETURN(WireKernel kernel, BuildKernel(spec, ignored));
    request.support.push_back(std::move(kernel));
  }
  TW_RETURN_IF_ERROR(WriteInputs(request));
  return request;
}

absl::Status WorkerEvaluator::WriteInputs(OpenRequest& request) {
  const InputOptions use{.seed = request.seed, .use = InputUse::kTime};
  TW_ASSIGN_OR_RETURN(const std::vector<HostBuffer> buffers,
                      options_.inputs ? options_.inputs(call_) : MakeChosenInputs(call_, use));
  for (size_t i = 0; i < buffers.size() && i < request.operands.size(); ++i) {
    if (buffers[i].bytes.empty() || request.operands[i].output) continue;
    request.operands[i].data_file = Cat(scratch_.path(), "/input", i);
    TW_RETURN_IF_ERROR(WriteOnce(
        request.operands[i].data_file,
        {reinterpret_cast<const char*>(buffers[i].bytes.data()), buffers[i].bytes.size()}));
  }
  return absl::OkStatus();
}

}  // namespace tilewright
