// Rows that are a short strided axis beside a dense one, by the copy engine (column_ring.cuh).
#include <algorithm>
#include <cstddef>
#include <utility>

#include "kernel_templates/row/row_recipe.h"
#include "manifest/op_spec.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int64_t kLanes = 32;
constexpr int64_t kTileBytes = 128;    // along the dense dim
constexpr int64_t kShortestAxis = 8;   // by bucket
constexpr int64_t kMostKept = 64;      // elements a thread, as float32
constexpr int64_t kDefaultStages = 3;  // warps are worth more
constexpr int64_t kMostWarps = 16;
constexpr int64_t kOtherRegisters = 48;    // of a thread, beside what it keeps
constexpr int64_t kReservedShared = 4096;  // of a CTA, beside its tiles
constexpr int64_t kMostStrideBytes = int64_t{1} << 40;
constexpr int64_t kMostExtent = (int64_t{1} << 31) - 1;
constexpr int64_t kMostTiles = int64_t{1} << 30;

class ColumnRingVariant : public Variant {
 public:
  explicit ColumnRingVariant(const RowOperator& op) : op_(op) {}
  std::string_view name() const override { return "column_ring"; }

  absl::Status Serves(const CallDesc& call, const DeviceProfile& device) const override {
    if (device.compute_capability() < 90) {
      return FailedPrecondition("tiles by the copy engine need sm_90, got ", device.arch);
    }
    const RowPlan plan = PlanRows(call, op_.problem(call));
    if (!plan.strided_axis) {
      return FailedPrecondition("the axis is not a strided one beside a dense one");
    }
    if (plan.column_vector * DTypeSize(plan.dtype) != 16) {
      return FailedPrecondition("the strides or addresses are not multiples of 16 bytes");
    }
    const int64_t bucket = ColumnLengthBucket(plan.length);
    if (bucket < kShortestAxis || KeptOf(plan) > kMostKept) {
      return FailedPrecondition("an axis of ", plan.length, " elements");
    }
    if (2 * plan.outer[0].extent * DTypeSize(plan.dtype) < kTileBytes) {
      return FailedPrecondition("the dense dim leaves most of a tile empty");
    }
    if (!StridesFit(plan)) return FailedPrecondition("a stride is not one of a tensor map");
    if (plan.outer[0].extent > kMostExtent || Outer(plan) > kMostExtent) {
      return FailedPrecondition("an extent is beyond ", kMostExtent);
    }
    if (Outer(plan) > kMostTiles / InnerTiles(plan)) {
      return FailedPrecondition("more than ", kMostTiles, " tiles");
    }
    return absl::OkStatus();
  }
  TuningSpace Space(const CallDesc&, const DeviceProfile&) const override {
    return {std::string(name()),
            {{"warps", {4, 8, 12, 16}}, {"stages", {2, 3, 4, 6}}, {"per_sm", {1, 2}}}};
  }
  absl::Status Legal(const CallDesc& call, const Config& config,
                     const DeviceProfile& device) const override {
    const RowPlan plan = PlanRows(call, op_.problem(call));
    const int64_t shared = SharedOf(plan, config) + kReservedShared;
    const int64_t per_sm = config.Get("per_sm");
    if (shared > device.smem_per_block_bytes || per_sm * shared > device.smem_per_sm_bytes) {
      return FailedPrecondition(shared, " bytes of shared memory, expected at most ",
                                device.smem_per_sm_bytes, " in ", per_sm, " CTAs");
    }
    const int64_t registers =
        per_sm * config.Get("warps") * kLanes * (KeptOf(plan) + kOtherRegisters);
    if (registers > device.registers_per_sm) {
      return FailedPrecondition(registers, " registers, expected at most ",
                                device.registers_per_sm);
    }
    return absl::OkStatus();
  }
  double PredictUs(const CallDesc& call, const Config& config,
                   const DeviceProfile& device) const override {
    const RowPlan plan = PlanRows(call, op_.problem(call));
    MemoryModel model;
    model.bytes = 2.0 * static_cast<double>(plan.rows) * static_cast<double>(plan.length) *
                  DTypeSize(plan.dtype);
    model.ctas = static_cast<double>(Grid(plan, config, device));
    model.threads = static_cast<double>(config.Get("warps") * kLanes);
    // The more tiles are on their way, and the more warps work, the less waits.
    model.fixed_us = 2e5 / static_cast<double>(config.Get("per_sm") * SharedOf(plan, config)) +
                     8.0 / static_cast<double>(config.Get("per_sm") * config.Get("warps"));
    return PredictMemoryUs(model, device);
  }
  Config Default(const CallDesc& call, const DeviceProfile& device) const override {
    const RowPlan plan = PlanRows(call, op_.problem(call));
    const int64_t tile = kTileBytes * ColumnLengthBucket(plan.length);
    const int64_t fitting =
        (device.smem_per_block_bytes - kReservedShared) / (kDefaultStages * tile);
    const int64_t warps = fitting >= kMostWarps ? kMostWarps : fitting / 4 * 4;
    return {std::string(name()),
            {{"warps", std::max<int64_t>(warps, 4)}, {"stages", kDefaultStages}, {"per_sm", 1}}};
  }
  std::vector<KernelSpec> Kernels(const CallDesc& call, const Config& config) const override {
    const RowPlan plan = PlanRows(call, op_.problem(call));
    KernelSpec spec;
    spec.template_file = "row/column_ring.cuh";
    spec.entry = "tilewright::ColumnRingKernel";
    spec.constants = {{"using Element", std::string(StorageTypeName(plan.dtype))},
                      {"int kWarps", Cat(config.Get("warps"))},
                      {"int kRows", Cat(ColumnLengthBucket(plan.length))},
                      {"int kStages", Cat(config.Get("stages"))},
                      {"bool kLog", op_.log ? "true" : "false"}};
    return {spec};
  }
  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config& config,
                                 const DeviceProfile& device) const override {
    const RowProblem problem = op_.problem(call);
    const RowPlan plan = PlanRows(call, problem);
    BoundCall bound;
    if (plan.rows == 0 || plan.length == 0) return bound;
    ColumnRingParams p{};
    p.tiles = static_cast<int>(Tiles(plan));
    p.inner_tiles = MakeFastDivmod<false>(static_cast<unsigned>(InnerTiles(plan)));
    p.length = static_cast<int>(plan.length);
    Launch launch;
    launch.SetParams(p);
    launch.grid[0] = static_cast<uint32_t>(Grid(plan, config, device));
    launch.block[0] = static_cast<uint32_t>(config.Get("warps") * kLanes);
    launch.dynamic_smem_bytes = static_cast<uint32_t>(SharedOf(plan, config));
    launch.tensor_maps.push_back(MapOf(offsetof(ColumnRingParams, input), problem.input, plan, 0));
    launch.tensor_maps.push_back(
        MapOf(offsetof(ColumnRingParams, output), problem.output, plan, 1));
    bound.launches.push_back(std::move(launch));
    return bound;
  }

 private:
  static bool StridesFit(const RowPlan& plan) {
    const int64_t most = kMostStrideBytes / DTypeSize(plan.dtype);
    const auto fits = [most](const LayoutDim& dim) {
      return std::all_of(dim.strides.begin(), dim.strides.end(),
                         [most](int64_t stride) { return stride > 0 && stride < most; });
    };
    return fits(plan.inner[0]) && (plan.outer.size() < 2 || fits(plan.outer[1]));
  }
  static int64_t Outer(const RowPlan& plan) {
    return plan.outer.size() > 1 ? plan.outer[1].extent : 1;
  }
  static int64_t InnerTiles(const RowPlan& plan) {
    const int64_t columns = kTileBytes / DTypeSize(plan.dtype);
    return (plan.outer[0].extent + columns - 1) / columns;
  }
  static int64_t Tiles(const RowPlan& plan) { return Outer(plan) * InnerTiles(plan); }
  static int64_t KeptOf(const RowPlan& plan) {
    return ColumnLengthBucket(plan.length) * 4 / DTypeSize(plan.dtype);
  }
  static int64_t SharedOf(const RowPlan& plan, const Config& config) {
    return config.Get("warps") * config.Get("stages") * kTileBytes *
           ColumnLengthBucket(plan.length);
  }
  static int64_t Grid(const RowPlan& plan, const Config& config, const DeviceProfile& device) {
    const int64_t warps = config.Get("warps");
    return std::min((Tiles(plan) + warps - 1) / warps,
                    config.Get("per_sm") * std::max(device.sm_count, 1));
  }
  // The operand whose strides are `which` in the plan's dims.
  static TensorMapSlot MapOf(size_t offset, int operand, const RowPlan& plan, size_t which) {
    const auto bytes = [&](const LayoutDim& dim) {
      return static_cast<uint64_t>(dim.strides[which] * DTypeSize(plan.dtype));
    };
    TensorMapSlot slot;
    slot.offset = static_cast<uint16_t>(offset);
    slot.operand = static_cast<int8_t>(operand);
    slot.dtype = plan.dtype;
    slot.rank = 3;
    slot.dims = {static_cast<uint64_t>(plan.outer[0].extent), static_cast<uint64_t>(plan.length),
                 static_cast<uint64_t>(Outer(plan))};
    slot.strides_bytes = {bytes(plan.inner[0]), plan.outer.size() > 1 ? bytes(plan.outer[1]) : 16};
    slot.box = {static_cast<uint32_t>(kTileBytes / DTypeSize(plan.dtype)),
                static_cast<uint32_t>(ColumnLengthBucket(plan.length)), 1};
    slot.swizzle = TensorMapSlot::Swizzle::kNone;
    return slot;
  }

  RowOperator op_;
};

}  // namespace

std::unique_ptr<Variant> MakeColumnRingVariant(const RowOperator& op) {
  return std::make_unique<ColumnRingVariant>(op);
}

}  // namespace tilewright
