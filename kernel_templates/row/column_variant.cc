// Rows that are a strided axis beside a dense one: lanes lie along the dense one.
#include <algorithm>
#include <utility>

#include "kernel_templates/row/row_recipe.h"
#include "manifest/op_spec.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int64_t kLanes = 32;
constexpr int64_t kMostBlocksPerSm = 32;
constexpr int64_t kMostKept = 64;  // elements a thread, as float32

class ColumnVariant : public Variant {
 public:
  explicit ColumnVariant(const RowOperator& op) : op_(op) {}
  std::string_view name() const override { return "columns"; }

  absl::Status Serves(const CallDesc& call, const DeviceProfile& device) const override {
    TW_RETURN_IF_ERROR(RequireSm80(call, device));
    if (PlanRows(call, op_.problem(call)).strided_axis) return absl::OkStatus();
    return FailedPrecondition("the axis is not a strided one beside a dense one");
  }
  TuningSpace Space(const CallDesc&, const DeviceProfile&) const override {
    return {std::string(name()),
            {{"warps", {1, 2, 4, 8, 16}}, {"vector_bytes", {2, 4, 8, 16}}, {"keep", {0, 1}}}};
  }
  absl::Status Legal(const CallDesc& call, const Config& config,
                     const DeviceProfile&) const override {
    const RowPlan plan = PlanRows(call, op_.problem(call));
    const int64_t most = int64_t{plan.column_vector} * DTypeSize(plan.dtype);
    const int64_t bytes = config.Get("vector_bytes");
    if (bytes > most || bytes < DTypeSize(plan.dtype)) {
      return FailedPrecondition("vectors of ", bytes, " bytes, expected ", DTypeSize(plan.dtype),
                                " to ", most);
    }
    const int64_t kept = PacketsOf(plan, config) * VectorOf(plan, config);
    if (kept > kMostKept) {
      return FailedPrecondition("a thread keeps ", kept, " elements, expected at most ", kMostKept);
    }
    return absl::OkStatus();
  }
  double PredictUs(const CallDesc& call, const Config& config,
                   const DeviceProfile& device) const override {
    const RowPlan plan = PlanRows(call, op_.problem(call));
    MemoryModel model;
    const double passes = config.Get("keep") != 0 ? 2.0 : 3.0;
    model.bytes = passes * static_cast<double>(plan.rows) * static_cast<double>(plan.length) *
                  DTypeSize(plan.dtype);
    model.ctas = static_cast<double>(Blocks(plan, VectorOf(plan, config)));
    model.threads = static_cast<double>(config.Get("warps") * kLanes);
    const double packets = static_cast<double>(std::max<int64_t>(PacketsOf(plan, config), 2));
    model.bytes_per_thread = packets * static_cast<double>(config.Get("vector_bytes"));
    return PredictMemoryUs(model, device);
  }
  Config Default(const CallDesc& call, const DeviceProfile&) const override {
    const RowPlan plan = PlanRows(call, op_.problem(call));
    // Within 5% of the best seen on an H200 over the workloads.
    const int64_t bucket = ColumnLengthBucket(plan.length);
    const int64_t size = DTypeSize(plan.dtype);
    const int64_t vector = std::min(plan.column_vector, 4);
    const int64_t warps = std::clamp<int64_t>(bucket / 4, 1, 8);
    const int64_t keep = bucket / warps * vector <= kMostKept / 2 ? 1 : 0;
    return {std::string(name()),
            {{"warps", warps}, {"vector_bytes", vector * size}, {"keep", keep}}};
  }
  std::vector<KernelSpec> Kernels(const CallDesc& call, const Config& config) const override {
    const RowPlan plan = PlanRows(call, op_.problem(call));
    KernelSpec spec;
    spec.template_file = std::string(op_.column_template);
    spec.entry = std::string(op_.column_entry);
    spec.constants = {{"using Element", std::string(StorageTypeName(plan.dtype))},
                      {"int kWarps", Cat(config.Get("warps"))},
                      {"int kPackets", Cat(PacketsOf(plan, config))},
                      {"int kVector", Cat(VectorOf(plan, config))},
                      {"bool kLog", op_.log ? "true" : "false"}};
    return {spec};
  }
  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config& config,
                                 const DeviceProfile& device) const override {
    const RowProblem problem = op_.problem(call);
    const RowPlan plan = PlanRows(call, problem);
    BoundCall bound;
    if (plan.rows == 0 || plan.length == 0) return bound;
    const int64_t vector = VectorOf(plan, config);
    const int64_t size = DTypeSize(plan.dtype);
    ColumnParams p{};
    p.outer = plan.outer.size() > 1 ? plan.outer[1].extent : 1;
    p.length = plan.length;
    p.inner = plan.outer[0].extent / vector;
    p.inner_blocks =
        MakeFastDivmod<true>(static_cast<unsigned long long>((p.inner + kLanes - 1) / kLanes));
    p.input_stride = plan.inner[0].strides[0] * size;
    p.output_stride = plan.inner[0].strides[1] * size;
    if (plan.outer.size() > 1) {
      p.input_outer_stride = plan.outer[1].strides[0] * size;
      p.output_outer_stride = plan.outer[1].strides[1] * size;
    }
    Launch launch;
    launch.SetParams(p);
    const int64_t most = kMostBlocksPerSm * std::max(device.sm_count, 1);
    launch.grid[0] = static_cast<uint32_t>(std::min(Blocks(plan, vector), most));
    launch.block[0] = static_cast<uint32_t>(config.Get("warps") * kLanes);
    launch.pointers.push_back(
        {offsetof(ColumnParams, input), static_cast<int8_t>(problem.input), 0});
    launch.pointers.push_back(
        {offsetof(ColumnParams, output), static_cast<int8_t>(problem.output), 0});
    bound.launches.push_back(std::move(launch));
    return bound;
  }

 private:
  static int64_t VectorOf(const RowPlan& plan, const Config& config) {
    return std::clamp<int64_t>(config.Get("vector_bytes") / DTypeSize(plan.dtype), 1,
                               plan.column_vector);
  }
  // Packets a thread keeps; 0 if it reads twice.
  static int64_t PacketsOf(const RowPlan& plan, const Config& config) {
    if (config.Get("keep") == 0) return 0;
    const int64_t warps = config.Get("warps");
    return (ColumnLengthBucket(plan.length) + warps - 1) / warps;
  }
  static int64_t Blocks(const RowPlan& plan, int64_t vector) {
    const int64_t inner = plan.outer[0].extent / vector;
    const int64_t outer = plan.outer.size() > 1 ? plan.outer[1].extent : 1;
    return outer * ((inner + kLanes - 1) / kLanes);
  }

  RowOperator op_;
};

}  // namespace

std::unique_ptr<Variant> MakeColumnVariant(const RowOperator& op) {
  return std::make_unique<ColumnVariant>(op);
}

}  // namespace tilewright
