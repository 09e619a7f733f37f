// Norms by channel in passes over x: of long channels, and where the statistics are given.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "kernel_templates/row/norm_recipe.h"
#include "kernel_templates/row/row_recipe.h"
#include "manifest/op_spec.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int64_t kMaxGrid = (int64_t{1} << 31) - 1;
constexpr int64_t kFinishThreads = 128;
constexpr int64_t kDefaultThreads = 256;
constexpr int64_t kDefaultUnroll = 4;
constexpr int64_t kSumsPerSm = 8;        // CTAs of the first pass
constexpr int64_t kSmallPackets = 2048;  // an SM
constexpr int64_t kPairBytes = 8;        // ChannelPair
constexpr int64_t kMostSumBytes = 12;    // Op::Sum::Value

std::vector<std::pair<std::string, std::string>> PassConstants(const NormPlan& plan,
                                                               std::string_view op, int64_t threads,
                                                               int64_t unroll, int64_t vector) {
  return {{"using Op", Cat("tilewright::", op)},
          {"using Element", std::string(StorageTypeName(plan.dtype))},
          {"using Column", std::string(StorageTypeName(plan.column))},
          {"int kThreads", Cat(threads)},
          {"int kUnroll", Cat(unroll)},
          {"int kVector", Cat(vector)}};
}

class NormPassesVariant : public Variant {
 public:
  explicit NormPassesVariant(NormProblemFunction problem) : problem_(problem) {}
  std::string_view name() const override { return "passes"; }

  absl::Status Serves(const CallDesc& call, const DeviceProfile& device) const override {
    TW_RETURN_IF_ERROR(RequireSm80(call, device));
    const NormPlan plan = PlanNorm(call, problem_);
    if (plan.problem.apply_op.empty()) return FailedPrecondition("rows are not channels");
    const int64_t blocks = plan.length / (plan.vector * 64) + 1;
    if (plan.rows > kMaxGrid / blocks) {
      return FailedPrecondition(plan.rows, " channels of ", plan.length, " elements are too many");
    }
    return absl::OkStatus();
  }
  TuningSpace Space(const CallDesc&, const DeviceProfile&) const override {
    return {std::string(name()), {{"threads", {64, 128, 256, 512}}, {"unroll", {1, 2, 4, 8}}}};
  }
  absl::Status Legal(const CallDesc&, const Config&, const DeviceProfile&) const override {
    return absl::OkStatus();
  }
  double PredictUs(const CallDesc& call, const Config& config,
                   const DeviceProfile& device) const override {
    const NormPlan plan = PlanNorm(call, problem_);
    const auto inputs = static_cast<double>(plan.problem.inputs.size());
    const double passes = plan.problem.sums_op.empty() ? inputs + 1 : 2 * inputs + 1;
    MemoryModel model;
    model.bytes = passes * static_cast<double>(plan.rows) * static_cast<double>(plan.length) *
                  DTypeSize(plan.dtype);
    model.ctas = static_cast<double>(plan.rows * Splits(plan, config, device));
    model.threads = static_cast<double>(config.Get("threads"));
    model.bytes_per_thread =
        inputs * static_cast<double>(config.Get("unroll") * plan.vector * DTypeSize(plan.dtype));
    model.fixed_us = plan.problem.sums_op.empty() ? 0 : 3;
    return PredictMemoryUs(model, device);
  }
  // Small problems: one packet a thread, so that all SMs have some.
  Config Default(const CallDesc& call, const DeviceProfile& device) const override {
    const NormPlan plan = PlanNorm(call, problem_);
    const int64_t packets = LengthBucket(plan.length) / plan.vector;
    const int64_t most = kSmallPackets * std::max(device.sm_count, 1);
    if (RowsBucket(plan.rows) <= most / packets) {
      return {std::string(name()), {{"threads", 128}, {"unroll", 1}}};
    }
    // The moments of many elements at once take less arithmetic an element.
    const bool moments = !plan.problem.sums_op.empty() && plan.problem.inputs.size() == 1;
    return {std::string(name()),
            {{"threads", kDefaultThreads}, {"unroll", (moments ? 2 : 1) * kDefaultUnroll}}};
  }
  std::vector<KernelSpec> Kernels(const CallDesc& call, const Config& config) const override {
    const NormPlan plan = PlanNorm(call, problem_);
    std::vector<KernelSpec> specs;
    if (!plan.problem.sums_op.empty()) {
      specs.push_back({"row/channel_norm.cuh", "tilewright::ChannelSumsKernel",
                       PassConstants(plan, plan.problem.sums_op, config.Get("threads"),
                                     config.Get("unroll"), plan.vector)});
      specs.push_back({"row/channel_norm.cuh",
                       "tilewright::ChannelFinishKernel",
                       {{"using Op", Cat("tilewright::", plan.problem.sums_op)},
                        {"int kThreads", Cat(kFinishThreads)}}});
    }
    specs.push_back(NormApplySpec(plan, plan.vector, config.Get("threads"), config.Get("unroll")));
    return specs;
  }
  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config& config,
                                 const DeviceProfile& device) const override {
    const NormPlan plan = PlanNorm(call, problem_);
    BoundCall bound;
    const bool sums = !plan.problem.sums_op.empty();
    if (plan.rows == 0 || (plan.length == 0 && !sums)) return bound;
    if (sums) AddSums(call, plan, config, device, &bound);
    if (plan.length == 0) return bound;
    Launch apply = NormApplyLaunch(call, plan, plan.vector, config.Get("threads"),
                                   config.Get("unroll"), sums ? 2 : 0);
    if (sums) {
      apply.pointers.push_back({offsetof(NormParams, pairs), kWorkspaceOperand, 0});
      apply.programmatic_dependent_launch = true;
    }
    bound.launches.push_back(std::move(apply));
    return bound;
  }

 private:
  // CTAs a channel in the first pass.
  static int64_t Splits(const NormPlan& plan, const Config& config, const DeviceProfile& device) {
    const int64_t wanted = (kSumsPerSm * std::max(device.sm_count, 1) + plan.rows - 1) /
                           std::max<int64_t>(plan.rows, 1);
    const int64_t rounds =
        plan.length / (plan.vector * config.Get("threads") * config.Get("unroll"));
    return std::clamp<int64_t>(std::min(wanted, rounds), 1, 1024);
  }

  static void AddSums(const CallDesc& call, const NormPlan& plan, const Config& config,
                      const DeviceProfile& device, BoundCall* bound) {
    NormParams p = NormParamsOf(call, plan, plan.vector);
    p.splits = static_cast<int>(Splits(plan, config, device));
    p.split_packets = (p.packets + p.splits - 1) / p.splits;
    const int64_t pairs = (plan.rows * kPairBytes + 255) / 256 * 256;
    bound->workspace_bytes = pairs + plan.rows * p.splits * kMostSumBytes;
    for (const bool finish : {false, true}) {
      Launch launch;
      launch.kernel = finish ? 1 : 0;
      launch.SetParams(p);
      launch.grid[0] = static_cast<uint32_t>(plan.rows * (finish ? 1 : p.splits));
      launch.block[0] = static_cast<uint32_t>(finish ? kFinishThreads : config.Get("threads"));
      launch.programmatic_dependent_launch = finish;
      AddNormPointers(plan, &launch);
      launch.pointers.push_back({offsetof(NormParams, partials), kWorkspaceOperand, pairs});
      launch.pointers.push_back({offsetof(NormParams, pairs), kWorkspaceOperand, 0});
      bound->launches.push_back(std::move(launch));
    }
  }

  NormProblemFunction problem_;
};

}  // namespace

KernelSpec NormApplySpec(const NormPlan& plan, int64_t vector, int64_t threads, int64_t unroll) {
  return {"row/channel_norm.cuh", "tilewright::ChannelApplyKernel",
          PassConstants(plan, plan.problem.apply_op, threads, unroll, vector)};
}

Launch NormApplyLaunch(const CallDesc& call, const NormPlan& plan, int64_t vector, int64_t threads,
                       int64_t unroll, int kernel) {
  NormParams p = NormParamsOf(call, plan, vector);
  p.split_packets = threads * unroll;
  p.splits = static_cast<int>((p.packets + p.split_packets - 1) / p.split_packets);
  Launch launch;
  launch.kernel = kernel;
  launch.SetParams(p);
  launch.grid[0] = static_cast<uint32_t>(plan.rows * p.splits);
  launch.block[0] = static_cast<uint32_t>(threads);
  AddNormPointers(plan, &launch);
  return launch;
}

std::unique_ptr<Variant> MakeNormPassesVariant(NormProblemFunction problem) {
  return std::make_unique<NormPassesVariant>(problem);
}

}  // namespace tilewright
