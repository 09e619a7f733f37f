// Rows of any length and layout, read once a pass.
#include <algorithm>
#include <utility>

#include "kernel_templates/row/row_recipe.h"
#include "manifest/op_spec.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int64_t kThreads = 256;
constexpr int64_t kBlocksPerSm = 8;

class StreamedRowVariant : public Variant {
 public:
  explicit StreamedRowVariant(const RowOperator& op) : op_(op) {}
  std::string_view name() const override { return "portable"; }

  absl::Status Serves(const CallDesc& call, const DeviceProfile& device) const override {
    return RequireSm80(call, device);
  }
  TuningSpace Space(const CallDesc&, const DeviceProfile&) const override {
    return {std::string(name()), {{"threads", {kThreads, 2 * kThreads, 4 * kThreads}}}};
  }
  absl::Status Legal(const CallDesc&, const Config&, const DeviceProfile&) const override {
    return absl::OkStatus();
  }
  double PredictUs(const CallDesc& call, const Config& config,
                   const DeviceProfile& device) const override {
    const RowPlan plan = PlanRows(call, op_.problem(call));
    MemoryModel model;
    model.bytes = 3.0 * static_cast<double>(plan.rows) * static_cast<double>(plan.length) *
                  DTypeSize(plan.dtype);
    model.ctas = static_cast<double>(plan.rows);
    model.threads = static_cast<double>(config.Get("threads", kThreads));
    model.bytes_per_thread = plan.vector * DTypeSize(plan.dtype);
    return PredictMemoryUs(model, device);
  }
  Config Default(const CallDesc& call, const DeviceProfile&) const override {
    const RowPlan plan = PlanRows(call, op_.problem(call));
    const bool long_rows = LengthBucket(plan.length) > 65536;
    return {std::string(name()), {{"threads", long_rows ? 4 * kThreads : kThreads}}};
  }

  std::vector<KernelSpec> Kernels(const CallDesc& call, const Config& config) const override {
    const RowPlan plan = PlanRows(call, op_.problem(call));
    KernelSpec spec;
    spec.template_file = "row/streamed_row.cuh";
    spec.entry = "tilewright::StreamedRowKernel";
    spec.constants = {{"using Op", Cat("tilewright::", op_.op)},
                      {"using Element", std::string(StorageTypeName(plan.dtype))},
                      {"int kThreads", Cat(config.Get("threads", kThreads))},
                      {"int kVector", Cat(plan.vector)}};
    return {spec};
  }

  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config& config,
                                 const DeviceProfile& device) const override {
    const RowProblem problem = op_.problem(call);
    const RowPlan plan = PlanRows(call, problem);
    BoundCall bound;
    if (plan.rows == 0 || plan.length == 0) return bound;
    Launch launch;
    launch.SetParams(ParamsOf(problem, plan));
    const int64_t grid = std::min(plan.rows, kBlocksPerSm * std::max(device.sm_count, 1));
    launch.grid[0] = static_cast<uint32_t>(grid);
    launch.block[0] = static_cast<uint32_t>(config.Get("threads", kThreads));
    using P = StridedRowParams;
    launch.pointers.push_back({offsetof(P, input), static_cast<int8_t>(problem.input), 0});
    launch.pointers.push_back({offsetof(P, output), static_cast<int8_t>(problem.output), 0});
    for (size_t c = 0; c < problem.columns.size(); ++c) {
      launch.pointers.push_back({static_cast<uint16_t>(offsetof(P, columns) + c * sizeof(void*)),
                                 static_cast<int8_t>(problem.columns[c]), 0});
    }
    bound.launches.push_back(std::move(launch));
    return bound;
  }

 private:
  static StridedRowParams ParamsOf(const RowProblem& problem, const RowPlan& plan) {
    const int64_t size = DTypeSize(plan.dtype);
    StridedRowParams p{};
    p.rows = plan.rows;
    p.length = plan.length;
    p.inner_rank = static_cast<int>(plan.inner.size());
    p.row_rank = static_cast<int>(plan.outer.size());
    std::copy(problem.scalars.begin(), problem.scalars.end(), p.scalars);
    size_t d = 0;
    for (const LayoutDims* dims : {&plan.inner, &plan.outer}) {
      for (const LayoutDim& dim : *dims) {
        p.extent[d] = MakeFastDivmod<true>(static_cast<unsigned long long>(dim.extent));
        p.input_stride[d] = dim.strides[0] * size;
        p.output_stride[d] = dim.strides[1] * size;
        for (size_t c = 2; c < dim.strides.size(); ++c) {
          p.column_stride[c - 2][d] = dim.strides[c] * size;
        }
        ++d;
      }
    }
    return p;
  }

  RowOperator op_;
};

}  // namespace

std::unique_ptr<Variant> MakeStreamedRowVariant(const RowOperator& op) {
  return std::make_unique<StreamedRowVariant>(op);
}

}  // namespace tilewright
