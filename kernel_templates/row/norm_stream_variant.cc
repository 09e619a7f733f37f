// Norms of any layout and length, an element at a time.
#include <algorithm>
#include <utility>

#include "kernel_templates/row/norm_recipe.h"
#include "manifest/op_spec.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int64_t kThreads = 256;
constexpr int64_t kApplyUnroll = 4;
constexpr int64_t kBlocksPerSm = 8;
constexpr int64_t kMaxGrid = (int64_t{1} << 31) - 1;

class PortableNormVariant : public Variant {
 public:
  explicit PortableNormVariant(NormProblemFunction problem) : problem_(problem) {}
  std::string_view name() const override { return "portable"; }

  absl::Status Serves(const CallDesc& call, const DeviceProfile& device) const override {
    TW_RETURN_IF_ERROR(RequireSm80(call, device));
    const NormPlan plan = PlanNorm(call, problem_);
    const int64_t blocks = plan.length / (kThreads * kApplyUnroll) + 1;
    if (plan.problem.op.empty() && plan.rows > kMaxGrid / blocks) {
      return FailedPrecondition(plan.rows, " channels of ", plan.length,
                                " elements, expected at most ", kMaxGrid / blocks);
    }
    return absl::OkStatus();
  }
  TuningSpace Space(const CallDesc&, const DeviceProfile&) const override {
    return {std::string(name()), {{"threads", {kThreads, 2 * kThreads, 4 * kThreads}}}};
  }
  absl::Status Legal(const CallDesc&, const Config&, const DeviceProfile&) const override {
    return absl::OkStatus();
  }
  double PredictUs(const CallDesc& call, const Config& config,
                   const DeviceProfile& device) const override {
    const NormPlan plan = PlanNorm(call, problem_);
    MemoryModel model;
    model.bytes =
        2.0 * static_cast<double>(plan.problem.inputs.size() + plan.problem.outputs.size()) *
        static_cast<double>(plan.rows) * static_cast<double>(plan.length) * DTypeSize(plan.dtype);
    model.ctas = static_cast<double>(plan.rows);
    model.threads = static_cast<double>(config.Get("threads", kThreads));
    model.bytes_per_thread = DTypeSize(plan.dtype);
    return PredictMemoryUs(model, device);
  }
  Config Default(const CallDesc&, const DeviceProfile&) const override {
    return {std::string(name()), {{"threads", 2 * kThreads}}};
  }
  std::vector<KernelSpec> Kernels(const CallDesc& call, const Config& config) const override {
    const NormPlan plan = PlanNorm(call, problem_);
    if (plan.problem.op.empty()) return {NormApplySpec(plan, 1, kThreads, kApplyUnroll)};
    const std::string_view kind = plan.problem.kind == NormColumnKind::kElement   ? "kElement"
                                  : plan.problem.kind == NormColumnKind::kChannel ? "kChannel"
                                                                                  : "kNone";
    KernelSpec spec;
    spec.template_file = "row/norm_stream.cuh";
    spec.entry = "tilewright::StreamedNormKernel";
    spec.constants = {
        {"using Op", Cat("tilewright::", plan.problem.op)},
        {"using Element", std::string(StorageTypeName(plan.dtype))},
        {"using Column", std::string(StorageTypeName(plan.column))},
        {"tilewright::NormColumns kColumnKind", Cat("tilewright::NormColumns::", kind)},
        {"int kThreads", Cat(config.Get("threads", kThreads))}};
    return {spec};
  }
  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config& config,
                                 const DeviceProfile& device) const override {
    const NormPlan plan = PlanNorm(call, problem_);
    BoundCall bound;
    if (plan.rows == 0 || (plan.length == 0 && plan.problem.results.empty())) return bound;
    if (plan.problem.op.empty()) {
      if (plan.length > 0)
        bound.launches.push_back(NormApplyLaunch(call, plan, 1, kThreads, kApplyUnroll, 0));
      return bound;
    }
    Launch launch;
    launch.SetParams(ParamsOf(call, plan));
    const int64_t grid = std::min(plan.rows, kBlocksPerSm * std::max(device.sm_count, 1));
    launch.grid[0] = static_cast<uint32_t>(grid);
    launch.block[0] = static_cast<uint32_t>(config.Get("threads", kThreads));
    AddNormPointers(plan, &launch);
    bound.launches.push_back(std::move(launch));
    return bound;
  }

 private:
  // A row's dims are numbered one by one, so that columns of its shape have strides of their own.
  static NormParams ParamsOf(const CallDesc& call, const NormPlan& plan) {
    if (plan.problem.kind != NormColumnKind::kElement) return NormParamsOf(call, plan, 1);
    NormPlan apart = plan;
    const TensorDesc& column = call.operands[static_cast<size_t>(plan.problem.columns[0])].desc;
    apart.inner.clear();
    for (int axis = column.rank() - 1; axis >= 0; --axis) {
      const int x_rank = call.operands[static_cast<size_t>(plan.problem.inputs[0])].desc.rank();
      absl::InlinedVector<int, 4> operands = plan.problem.inputs;
      operands.insert(operands.end(), plan.problem.outputs.begin(), plan.problem.outputs.end());
      apart.inner.push_back(AxisOf(call, operands, x_rank - column.rank() + axis));
    }
    NormParams p = NormParamsOf(call, apart, 1);
    for (size_t c = 0; c < plan.problem.columns.size(); ++c) {
      const TensorDesc& desc = call.operands[static_cast<size_t>(plan.problem.columns[c])].desc;
      for (int axis = 0; axis < desc.rank(); ++axis) {
        p.column_strides[c][desc.rank() - 1 - axis] = desc.strides[axis] * DTypeSize(desc.dtype);
      }
    }
    return p;
  }

  NormProblemFunction problem_;
};

}  // namespace

std::unique_ptr<Variant> MakePortableNormVariant(NormProblemFunction problem) {
  return std::make_unique<PortableNormVariant>(problem);
}

}  // namespace tilewright
