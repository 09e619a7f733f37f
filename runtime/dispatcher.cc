#include "runtime/dispatcher.h"

#include <algorithm>
#include <set>
#include <utility>

#include "manifest/status.h"
#include "manifest/text.h"
#include "runtime/call_check.h"
#include "runtime/launch_rules.h"

namespace tilewright {
namespace {

// One pointer per operand, inputs first; null for trailing optional inputs that were left out.
class Pointers {
 public:
  explicit Pointers(const CallArguments& arguments) {
    for (const Tensor& tensor : arguments.inputs()) pointers_[count_++] = tensor.data;
    while (count_ < arguments.op->spec.inputs.size()) pointers_[count_++] = nullptr;
    for (const Tensor& tensor : arguments.outputs()) pointers_[count_++] = tensor.data;
  }
  OperandPointers get() const { return {pointers_.data(), count_}; }

 private:
  std::array<const void*, kMaxOperands> pointers_;
  size_t count_ = 0;
};

// Errors of the driver, of streams and of devices do not know whose call they failed.
absl::Status Named(const OpSpec& op, absl::Status status) {
  if (status.ok() || status.message().find(op.name) != absl::string_view::npos) return status;
  absl::Status named(status.code(), Cat(op.name, ": ", status.message()));
  status.ForEachPayload([&named](absl::string_view type, const absl::Cord& payload) {
    named.SetPayload(type, payload);
  });
  return named;
}

}  // namespace

Dispatcher::Dispatcher(DispatcherOptions options, Driver* driver, DeviceTable* devices,
                       Planner* planner, KernelLoader* loader)
    : options_(std::move(options)),
      driver_(driver),
      devices_(devices),
      planner_(planner),
      loader_(loader),
      exact_(options_.max_exact_calls, &threads_),
      plans_(std::max<int64_t>(options_.max_exact_calls, 1)),
      launcher_(driver, devices, options_.check_pointers) {}

Dispatcher::~Dispatcher() = default;

absl::Status Dispatcher::Call(int op_index, const CallArguments& arguments,
                              const CallOptions& options) {
  ThreadSlot& slot = threads_.Mine();
  ExactKey key;
  const bool keyed =
      key.Build(op_index, arguments.inputs(), arguments.outputs(), arguments.params());
  if (keyed) {
    const ExactTable::Reading reading(exact_, slot);
    if (const ExactCall* known = exact_.Find(key); known != nullptr) {
      ThreadSlot::Count(slot.exact_hits);
      absl::Status status = launcher_.Run(*known, Pointers(arguments).get(), options);
      if (status.ok()) return status;
      return Named(arguments.op->spec, std::move(status));
    }
  }
  return Named(arguments.op->spec, Miss(arguments, options, keyed ? &key : nullptr, slot));
}

absl::Status Dispatcher::Miss(const CallArguments& arguments, const CallOptions& options,
                              const ExactKey* key, ThreadSlot& slot) {
  TW_ASSIGN_OR_RETURN(ExactPtr exact, Ready(arguments, &options, slot));
  TW_RETURN_IF_ERROR(launcher_.Run(*exact, Pointers(arguments).get(), options, /*first_use=*/true));
  if (key != nullptr) Remember(*key, std::move(exact));
  return absl::OkStatus();
}

absl::StatusOr<Dispatcher::ExactPtr> Dispatcher::Ready(const CallArguments& arguments,
                                                       const CallOptions* launch,
                                                       ThreadSlot& slot) {
  TW_ASSIGN_OR_RETURN(ExactPtr exact, Validate(arguments, launch != nullptr));
  if (!HasWork(exact->call)) return exact;
  TW_ASSIGN_OR_RETURN(exact->plan, FindOrResolve(*arguments.op, *exact, launch, slot));
  TW_RETURN_IF_ERROR(Bind(*exact));
  return exact;
}

absl::StatusOr<Dispatcher::ExactPtr> Dispatcher::Validate(const CallArguments& arguments,
                                                          bool launching) {
  const OpSpec& op = arguments.op->spec;
  if (std::max(arguments.inputs().size(), op.inputs.size()) + arguments.outputs().size() >
      kMaxOperands) {
    return InvalidArgument(op.name, ": expected ", op.input_count() + op.output_count(),
                           " tensors and at most ", kMaxOperands, ", got ",
                           arguments.inputs().size() + arguments.outputs().size());
  }
  TW_ASSIGN_OR_RETURN(CheckedCall checked, CheckCall(op, arguments.inputs(), arguments.outputs(),
                                                     arguments.params(), launching));
  auto exact = std::make_unique<ExactCall>();
  exact->call = std::move(checked.call);
  exact->overlap = OverlapRules(exact->call);
  if (launching) {
    TW_RETURN_IF_ERROR(exact->overlap.Check(exact->call, Pointers(arguments).get()));
  }
  // What has no work needs no device.
  if (HasWork(exact->call)) {
    TW_ASSIGN_OR_RETURN(exact->device, devices_->Get(checked.device));
  }
  return exact;
}

absl::StatusOr<std::shared_ptr<const Plan>> Dispatcher::FindOrResolve(const OpEntry& op,
                                                                      const ExactCall& exact,
                                                                      const CallOptions* launch,
                                                                      ThreadSlot& slot) {
  const VisibleDevice& device = *exact.device;
  if (op.recipe == nullptr) return FailedPrecondition(op.spec.name, ": has no kernels");
  TW_ASSIGN_OR_RETURN(const ProblemFields fields, DescribeProblem(op, exact.call));
  const std::string key = PlanKey(op.index, device.ordinal, exact.call, fields);
  if (std::shared_ptr<const Plan> plan = plans_.Find(key); plan != nullptr) {
    if (LegalVariant(*op.recipe, exact.call, plan->config, device.profile) != nullptr) {
      ThreadSlot::Count(slot.plan_hits);
      return plan;
    }
  }
  ThreadSlot::Count(slot.misses);
  if (launch != nullptr) {
    TW_ASSIGN_OR_RETURN(const CaptureInfo capture,
                        launcher_.Capture(static_cast<CudaStream>(launch->stream), device));
    if (capture.capturing) return ResolveInCapture(op, exact.call, device, fields);
  }
  TW_ASSIGN_OR_RETURN(std::shared_ptr<const Plan> plan, flights_.Do(key, [&] {
    auto resolved = Resolve(op, exact.call, device, fields);
    if (resolved.ok()) Publish(key, *resolved);
    return resolved;
  }));
  // Another shape of this problem may have been resolved in our stead, to what is not legal here.
  if (LegalVariant(*op.recipe, exact.call, plan->config, device.profile) == nullptr) {
    return Resolve(op, exact.call, device, fields);
  }
  return plan;
}

absl::StatusOr<std::shared_ptr<const Plan>> Dispatcher::Resolve(const OpEntry& op,
                                                                const CallDesc& call,
                                                                const VisibleDevice& device,
                                                                const ProblemFields& fields) {
  const ProblemKey problem = MakeProblemKey(call, *op.recipe, fields, device.profile_key);
  TW_ASSIGN_OR_RETURN(std::vector<Choice> choices,
                      planner_->Choose(op, call, device.profile, fields, problem));
  bool tuned = false;
  if (options_.tuning == TuningPolicy::kOnFirstUse && options_.tune != nullptr &&
      choices.front().quality != Quality::kWinner) {
    const absl::Status status = options_.tune(op, call, device);
    if (status.ok()) {
      tunes_.fetch_add(1, std::memory_order_relaxed);
      planner_->winners().Forget(problem);
      TW_ASSIGN_OR_RETURN(choices, planner_->Choose(op, call, device.profile, fields, problem));
      tuned = choices.front().quality == Quality::kWinner;
    }
  }
  TW_ASSIGN_OR_RETURN(std::shared_ptr<const Plan> plan,
                      Assemble(op, call, device, problem, choices, Effort::kCompile));
  if (tuned && plan->quality == Quality::kWinner) {
    auto marked = std::make_shared<Plan>(*plan);
    marked->source = Source::kTuned;
    plan = std::move(marked);
  }
  Say(*plan);
  if (options_.tuning == TuningPolicy::kBackground && options_.tune_later != nullptr &&
      plan->quality != Quality::kWinner) {
    options_.tune_later(op, call, device);
  }
  return plan;
}

absl::StatusOr<std::shared_ptr<const Plan>> Dispatcher::ResolveInCapture(
    const OpEntry& op, const CallDesc& call, const VisibleDevice& device,
    const ProblemFields& fields) {
  const ProblemKey problem = MakeProblemKey(call, *op.recipe, fields, device.profile_key);
  absl::Status reason = absl::OkStatus();
  if (options_.capture_miss != CaptureMiss::kFail) {
    TW_ASSIGN_OR_RETURN(const std::vector<Choice> choices,
                        planner_->Choose(op, call, device.profile, fields, problem));
    auto plan = Assemble(op, call, device, problem, choices, Effort::kCachedOnly);
    if (!plan.ok() && options_.capture_miss == CaptureMiss::kCompile) {
      plan = Assemble(op, call, device, problem, {choices.back()}, Effort::kCompile);
    }
    if (plan.ok()) {
      Publish(PlanKey(op.index, device.ordinal, call, fields), *plan);
      return plan;
    }
    reason = plan.status();
  }
  return FailedPrecondition(
      op.spec.name, ": problem ", problem.problem_json, " (", problem.dtypes,
      ") is not ready, and the stream is being captured; prepare the call before the capture, or "
      "run 'tilewright warm --arch ",
      device.profile.arch, " --op ", op.spec.name, "'", reason.ok() ? "" : ": ", reason.message());
}

absl::Status Dispatcher::Bind(ExactCall& exact) {
  const Plan& plan = *exact.plan;
  TW_ASSIGN_OR_RETURN(const BoundCall bound, BindCall(*plan.variant, exact.call, plan.config,
                                                      exact.device->profile, plan.kernels.size()));
  const ScopedContext primary(*driver_, exact.device->context);
  TW_RETURN_IF_ERROR(primary.status());
  TakeLaunches(bound, *driver_, exact);
  return absl::OkStatus();
}

void Dispatcher::Remember(const ExactKey& key, ExactPtr exact) {
  exact->hash = key.hash();
  exact->key.assign(key.words().begin(), key.words().end());
  const std::shared_ptr<const Plan> plan = exact->plan;
  exact_.Insert(std::move(exact));
  // Given up by another thread while this one called: its erasure may have come too early for the
  // call just inserted, which would keep the kernels loaded and the old choice in use.
  if (plan != nullptr && plan->given_up.IsSet()) exact_.Erase(plan.get());
}

void Dispatcher::Publish(const std::string& plan_key, const std::shared_ptr<const Plan>& plan) {
  if (const std::shared_ptr<const Plan> gone = plans_.Put(plan_key, plan); gone != nullptr) {
    exact_.Erase(gone.get());
  }
  KeepWithinKernelLimit(*plan);
}

void Dispatcher::KeepWithinKernelLimit(const Plan& newest) {
  if (loader_->loaded() > options_.max_loaded_kernels) {
    GiveUpPlans({&newest}, options_.max_loaded_kernels);
  }
}

int64_t Dispatcher::GiveUpPlans(std::set<const Plan*> busy, int64_t keep) {
  // Kernels that a reader or a graph still holds stay; more plans than this are not given up for
  // them.
  constexpr int kMaxVictims = 16;
  const size_t spared = busy.size();
  exact_.ForEach([&](const ExactCall& call) {  // busy are those called since the last sweep, too
    if (call.referenced.exchange(false, std::memory_order_relaxed)) busy.insert(call.plan.get());
  });
  int64_t unloaded = 0;
  for (int i = 0; i < kMaxVictims && plans_.size() > static_cast<int64_t>(spared); ++i) {
    std::shared_ptr<const Plan> victim =
        plans_.Evict([&](const Plan& plan) { return busy.contains(&plan); });
    exact_.Erase(victim.get());
    victim.reset();
    unloaded += loader_->UnloadUnused(keep);
    if (loader_->loaded() <= keep) break;
  }
  evicted_.fetch_add(unloaded, std::memory_order_relaxed);
  return unloaded;
}

absl::StatusOr<std::shared_ptr<const Plan>> Dispatcher::Assemble(
    const OpEntry& op, const CallDesc& call, const VisibleDevice& device, const ProblemKey& problem,
    const std::vector<Choice>& choices, Effort effort) {
  auto plan = planner_->Assemble(op, call, device, problem, choices, effort);
  if (DriverErrorCode(plan.status()) != kCudaOutOfMemory) return plan;
  // A quarter is room for one more, and leaves most of what is in use.
  const int64_t loaded = loader_->loaded();
  const int64_t unloaded = GiveUpPlans({}, loaded - (loaded + 3) / 4);
  options_.log(LogLevel::kWarning, Cat(op.spec.name, ": device memory is out while a kernel is ",
                                       "loaded; ", unloaded, " others were unloaded"));
  if (unloaded == 0) return plan;
  return planner_->Assemble(op, call, device, problem, choices, effort);
}

absl::Status Dispatcher::Prepare(const CallArguments& arguments) {
  ThreadSlot& slot = threads_.Mine();
  absl::StatusOr<ExactPtr> ready = Ready(arguments, nullptr, slot);
  if (!ready.ok()) return Named(arguments.op->spec, ready.status());
  ExactKey key;
  if (key.Build(arguments.op->index, arguments.inputs(), arguments.outputs(), arguments.params(),
                ExactKey::Null::kAligned)) {
    Remember(key, *std::move(ready));
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> Dispatcher::WorkspaceBytes(const CallArguments& arguments) {
  const absl::StatusOr<ExactPtr> exact = Ready(arguments, nullptr, threads_.Mine());
  if (!exact.ok()) return Named(arguments.op->spec, exact.status());
  return (*exact)->workspace_bytes;
}

absl::Status Dispatcher::Refresh(const OpEntry& op, const CallDesc& call, int ordinal) {
  TW_ASSIGN_OR_RETURN(const VisibleDevice* device, devices_->Get(ordinal));
  TW_ASSIGN_OR_RETURN(const ProblemFields fields, DescribeProblem(op, call));
  const ProblemKey problem = MakeProblemKey(call, *op.recipe, fields, device->profile_key);
  planner_->winners().Forget(problem);
  TW_ASSIGN_OR_RETURN(const std::vector<Choice> choices,
                      planner_->Choose(op, call, device->profile, fields, problem));
  TW_ASSIGN_OR_RETURN(std::shared_ptr<const Plan> plan,
                      Assemble(op, call, *device, problem, choices, Effort::kCompile));
  Publish(PlanKey(op.index, ordinal, call, fields), plan);
  return absl::OkStatus();
}

void Dispatcher::Say(const Plan& plan) const {
  if (plan.quality == Quality::kWinner) return;
  const std::string config = plan.config.ToJson();
  const bool outdated =
      plan.quality == Quality::kNeighbour && plan.neighbour_json == plan.problem.problem_json;
  options_.log(LogLevel::kInfo,
               Cat(plan.problem.op, " ", plan.problem.problem_json, " (", plan.problem.dtypes,
                   ") on ", plan.problem.device, " is not tuned: runs ",
                   outdated ? std::string("its winner of other templates or another tuning space")
                   : plan.quality == Quality::kNeighbour
                       ? Cat("the winner of ", Escaped(plan.neighbour_json))
                       : std::string("the default"),
                   ", ", config));
}

void Dispatcher::AddCounts(RuntimeCounters& counters) const {
  threads_.ForEach([&](const ThreadSlot& slot) {
    counters.exact_hits += slot.exact_hits.load(std::memory_order_relaxed);
    counters.plan_hits += slot.plan_hits.load(std::memory_order_relaxed);
    counters.misses += slot.misses.load(std::memory_order_relaxed);
  });
  counters.tunes = tunes_.load(std::memory_order_relaxed);
  counters.loaded_kernels = loader_->loaded();
  counters.evicted_kernels = evicted_.load(std::memory_order_relaxed);
}

}  // namespace tilewright
