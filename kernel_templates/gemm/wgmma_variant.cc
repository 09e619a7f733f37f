#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>

#include "kernel_templates/gemm/params.cuh"
#include "kernel_templates/gemm/variants.h"
#include "kernel_templates/gemm/wgmma_choice.h"
#include "kernel_templates/gemm/wgmma_config.h"
#include "kernel_templates/gemm/wgmma_grid.h"
#include "kernel_templates/gemm/wgmma_model.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int64_t kMaxExtent = 0x7FFFFFFF - 1024;  // TMA coordinates are int32; a tile overshoots

// A map over one operand: `inner` contiguous elements, `outer` rows of them, then batches; one
// batch stands for all that share it. The stride of an axis that has one element is not looked at,
// so it is replaced by a valid one.
TensorMapSlot Map(size_t offset, const GemmOperand& operand, DType dtype, int64_t inner,
                  int64_t outer, int64_t batches, int64_t outer_stride, int64_t box_inner,
                  int64_t box_outer) {
  const int64_t bytes = DTypeSize(dtype);
  if (outer <= 1) outer_stride = CeilDiv(inner * bytes, 16) * 16 / bytes;
  if (operand.batch_stride == 0) batches = 1;
  const int64_t batch_stride = batches <= 1 ? outer_stride * outer : operand.batch_stride;
  TensorMapSlot slot;
  slot.offset = static_cast<uint16_t>(offset);
  slot.operand = static_cast<int8_t>(operand.operand);
  slot.dtype = dtype;
  slot.rank = 3;
  slot.dims = {static_cast<uint64_t>(inner), static_cast<uint64_t>(outer),
               static_cast<uint64_t>(batches)};
  slot.strides_bytes = {static_cast<uint64_t>(outer_stride * bytes),
                        static_cast<uint64_t>(batch_stride * bytes)};
  slot.box = {static_cast<uint32_t>(box_inner), static_cast<uint32_t>(box_outer), 1};
  // Lines that start off a multiple of 128 bytes: 256 would bring more of the neighbours.
  if (outer_stride * bytes % 128 != 0) slot.l2_promotion_bytes_log2 = 7;
  return slot;
}

TensorMapSlot InputMap(size_t offset, const GemmProblem& problem, const GemmOperand& side,
                       int64_t extent, bool mn_major, int64_t tile) {
  if (mn_major) {
    return Map(offset, side, problem.dtype, extent, problem.k, problem.batches, side.inner_stride,
               64, WgmmaConfig::kTileK);
  }
  return Map(offset, side, problem.dtype, problem.k, extent, problem.batches, side.outer_stride,
             WgmmaConfig::kTileK, tile);
}

// Where the last tile of a side starts so that its box stays inside (see WgmmaGemmParams), or,
// where it may not, the largest number. What is contiguous, in memory or in the output, keeps its
// alignment. The parts of a tail's tile are summed in another order than a whole tile.
int64_t LastStart(const WgmmaConfig& c, int64_t extent, int64_t tile, bool mn_major, bool is_m) {
  const int64_t last = extent - tile;
  const bool aligned = last % 8 == 0 || (is_m && !mn_major);
  return last >= 0 && aligned && !c.tail ? last : std::numeric_limits<int32_t>::max();
}

// Rows of an operand's box: no more than there are, where one tile spans them. What else is in the
// tile's shared memory then reaches only results that are not stored.
int64_t BoxRows(const WgmmaConfig& c, int64_t extent, int64_t tile, bool mn_major) {
  return mn_major || c.multicast > 1 ? tile : std::min(extent, tile);
}

// Gives the first launch's partial sums, of `parts` tiles, room in the workspace, and adds the
// launch that sums them up.
void AddReduction(const WgmmaConfig& c, int64_t parts, BoundCall& bound) {
  constexpr uint16_t kPartials = offsetof(WgmmaGemmParams, partials);
  bound.launches[0].pointers.push_back({kPartials, kWorkspaceOperand, 0});
  bound.workspace_bytes = parts * c.tile_rows * c.tile_cols * 4;
  Launch reduce;
  reduce.kernel = 1;
  reduce.programmatic_dependent_launch = true;
  reduce.params = bound.launches[0].params;
  reduce.pointers = bound.launches[0].pointers;
  WgmmaGemmParams params;
  std::memcpy(&params, reduce.params.data(), sizeof(params));
  const int64_t shares = c.group_rows() / 64 * (c.tile_cols / 8);
  reduce.grid[0] = static_cast<uint32_t>(parts / params.tail_parts * c.math_groups *
                                         CeilDiv(shares, kTailShares));
  reduce.block[0] = 128;
  bound.launches.push_back(std::move(reduce));
}

// See MakeWgmmaVariant().
class WgmmaVariant : public Variant {
 public:
  explicit WgmmaVariant(GemmReader read) : read_(read) {}
  std::string_view name() const override { return "wgmma"; }

  absl::Status Serves(const CallDesc& call, const DeviceProfile& device) const override {
    const GemmProblem problem = read_(call);
    if (device.arch != "sm_90a") return FailedPrecondition("needs sm_90a, got ", device.arch);
    if (problem.k == 0) return FailedPrecondition("k is 0");
    if (std::max({problem.m, problem.n, problem.k, problem.batches}) > kMaxExtent) {
      return FailedPrecondition("an extent exceeds ", kMaxExtent);
    }
    if (problem.AccessA() > OperandAccess::kMnMajor) {
      return FailedPrecondition("a is not contiguous along an axis, 16-byte aligned");
    }
    if (problem.AccessB() > OperandAccess::kMnMajor) {
      return FailedPrecondition("b is not contiguous along an axis, 16-byte aligned");
    }
    if (!problem.OutputPieces()) {
      return FailedPrecondition("d is not contiguous along n, 16-byte aligned");
    }
    return absl::OkStatus();
  }

  TuningSpace Space(const CallDesc& call, const DeviceProfile& device) const override {
    return WgmmaSpace(read_(call), device);
  }

  absl::Status Legal(const CallDesc& call, const Config& config,
                     const DeviceProfile& device) const override {
    const GemmProblem problem = read_(call);
    const WgmmaConfig c = WgmmaConfig::From(config, problem);
    TW_RETURN_IF_ERROR(c.Check(device));
    if (c.split < 1 || c.split > kMaxSplit) return FailedPrecondition("split = ", c.split);
    if (c.tail && Tail(c, problem.Bucketed(), device).parts == 1) {
      return FailedPrecondition("the last wave is full enough, or K too short, for a tail split");
    }
    // Where weights are read once, a cluster's tokens share them; else only large tiles gain.
    if (c.multicast > 1 && c.tile_rows * c.tile_cols < int64_t{128} * 176 &&
        problem.Bucketed().m > 1024) {
      return FailedPrecondition("multicast gains nothing on a tile of ", c.tile_rows, " x ",
                                c.tile_cols);
    }
    if (c.ping_pong && c.accumulators() > 128 && problem.epilogue.computes()) {
      return FailedPrecondition("a bias or activation beside ", c.accumulators(),
                                " sums of a thread spills");
    }
    // Each cluster does one tile: the order of tiles means little, and more than two waves gain
    // nothing.
    const int64_t sms = std::max<int64_t>(device.sm_count, 1);
    const GemmProblem bucketed = problem.Bucketed();
    const int64_t tiles = Tiles(c, WgmmaSides::Of(bucketed, c.swap), bucketed.batches);
    if (c.split > 1 && (c.group != 16 || tiles * c.split > std::max(2 * sms, c.split))) {
      return FailedPrecondition("split = ", c.split, " of ", tiles, " tiles, group = ", c.group);
    }
    // Where every row tile is in one group, a larger one is the same.
    const int64_t row_tiles = CeilDiv(WgmmaSides::Of(bucketed, c.swap).row_extent, c.tile_rows);
    if (OffersGroups(bucketed) && c.split == 1 && c.group > LeastGroup(row_tiles)) {
      return FailedPrecondition("group = ", c.group, " of ", row_tiles, " row tiles");
    }
    // A tile of few tokens that divides some m of the bucket well would serve others badly.
    const int64_t columns = WgmmaSides::Of(problem, c.swap).col_extent;
    if (c.swap && c.tile_cols > 128 && c.tile_cols % 64 != 0 && problem.m > 128 &&
        problem.m <= 512 && CeilDiv(columns, c.tile_cols) * c.tile_cols - columns > 64) {
      return FailedPrecondition("tile_cols = ", c.tile_cols, " of ", columns, " tokens");
    }
    if (c.split > KTiles(problem)) {
      return FailedPrecondition("split = ", c.split, " of ", KTiles(problem), " k tiles");
    }
    return absl::OkStatus();
  }

  // Of this very call: what is tuned is measured on it.
  double PredictUs(const CallDesc& call, const Config& config,
                   const DeviceProfile& device) const override {
    const GemmProblem problem = read_(call);
    return PredictWgmmaUs(problem, WgmmaConfig::From(config, problem), device);
  }

  Config Default(const CallDesc& call, const DeviceProfile& device) const override {
    const GemmProblem bucketed = read_(call).Bucketed();  // which shares it
    return FastestPredicted(
        *this, call, device, WgmmaCandidates(bucketed, device), [&](const Config& config) {
          return PredictWgmmaUs(bucketed, WgmmaConfig::From(config, bucketed), device);
        });
  }

  std::vector<KernelSpec> Kernels(const CallDesc& call, const Config& config) const override {
    const GemmProblem problem = read_(call);
    const WgmmaConfig c = WgmmaConfig::From(config, problem);
    const auto number = [](int64_t value) { return std::to_string(value); };
    const auto flag = [](bool value) { return std::string(value ? "true" : "false"); };
    KernelSpec spec{"gemm/wgmma.cuh",
                    "tilewright::WgmmaGemmKernel",
                    {{"using Element", std::string(ElementName(problem.dtype))},
                     {"int kTileRows", number(c.tile_rows)},
                     {"int kTileCols", number(c.tile_cols)},
                     {"int kStages", number(c.stages)},
                     {"int kMathGroups", number(c.math_groups)},
                     {"bool kPingPong", flag(c.ping_pong)},
                     {"bool kSwap", flag(c.swap)},
                     {"bool kSplitK", flag(c.split > 1)},
                     {"bool kOwnSlots", flag(c.own_slots())},
                     {"int kMulticast", number(c.multicast)},
                     {"int kStagingChunks", number(c.split > 1 ? 1 : c.staging_chunks())},
                     {"bool kMnMajorRows", flag(c.mn_major_rows)},
                     {"bool kMnMajorCols", flag(c.mn_major_cols)},
                     {"int kInFlight", number(c.in_flight)},
                     {"int kBlocksPerSm", number(c.blocks_per_sm())},
                     {"int kProducerRegisters", number(c.producer_registers())},
                     {"int kMathRegisters", number(c.math_registers())},
                     {"bool kTailSplit", flag(c.tail)}}};
    AddEpilogueConstants(problem, !c.swap, spec);
    if (!c.tail) return {spec};
    KernelSpec reduce = spec;
    reduce.entry = "tilewright::WgmmaReduceKernel";
    return {spec, reduce};
  }

  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config& config,
                                 const DeviceProfile& device) const override {
    const GemmProblem problem = read_(call);
    const WgmmaConfig c = WgmmaConfig::From(config, problem);
    const WgmmaSides sides = WgmmaSides::Of(problem, c.swap);
    BoundCall bound;
    if (problem.empty()) return bound;

    WgmmaGemmParams params{};
    params.out_row_stride = problem.d.outer_stride;
    params.out_batch_stride = problem.d.batch_stride;
    params.rows = static_cast<int>(sides.row_extent);
    params.cols = static_cast<int>(sides.col_extent);
    params.last_row =
        static_cast<int>(LastStart(c, sides.row_extent, c.tile_rows, c.mn_major_rows, !c.swap));
    params.last_col =
        static_cast<int>(LastStart(c, sides.col_extent, c.tile_cols, c.mn_major_cols, c.swap));
    const int64_t box_rows = BoxRows(c, sides.row_extent, c.tile_rows, c.mn_major_rows);
    const int64_t box_cols = BoxRows(c, sides.col_extent, c.tile_cols, c.mn_major_cols);
    params.loaded_bytes = static_cast<int>(c.LoadedBytes(box_rows, box_cols));
    params.k_tiles = static_cast<int>(KTiles(problem));
    params.rows_batch_step = sides.rows->batch_stride == 0 ? 0 : 1;
    params.cols_batch_step = sides.cols->batch_stride == 0 ? 0 : 1;
    const int64_t row_tiles = CeilDiv(sides.row_extent, c.tile_rows * c.multicast);
    const int64_t col_tiles = CeilDiv(sides.col_extent, c.tile_cols);
    if (row_tiles > kMaxExtent / kMaxSplit / col_tiles / problem.batches) {
      return FailedPrecondition("wgmma: ", problem.batches, " x ", row_tiles, " x ", col_tiles,
                                " tiles exceed the grid");
    }
    // A product of one batch need not have a batch stride.
    const bool once = problem.batches == 1;
    params.stream_rows = col_tiles == 1 && (once || params.rows_batch_step != 0);
    params.stream_cols = row_tiles == 1 && (once || params.cols_batch_step != 0);
    params.stream_out = c.stream;
    const int64_t tiles = row_tiles * col_tiles * problem.batches;
    // Tiles of a batch that all run at once read the same parts at about the same time.
    params.stream_first = (problem.batches > 1 || problem.m > 128) &&
                          row_tiles * col_tiles * c.multicast * c.split <= ResidentCtas(c, device);
    params.walk = MakeTileWalk(row_tiles, col_tiles, problem.batches,
                               std::max<int64_t>(1, c.group / c.multicast));
    const TailSplit tail = Tail(c, problem, device);
    const int64_t whole = tail.parts == 1 ? tiles : tail.first;
    const int64_t items = whole + (tiles - whole) * tail.parts;
    params.tail_first = static_cast<int>(whole);
    params.tail_parts = static_cast<int>(tail.parts);

    Launch launch;
    const int64_t resident = ResidentCtas(c, device);
    launch.grid[0] = static_cast<uint32_t>(
        c.split > 1 ? tiles * c.split : std::min(items, resident / c.multicast) * c.multicast);
    launch.block[0] = static_cast<uint32_t>(c.threads());
    launch.cluster[0] = static_cast<uint32_t>(c.split * c.multicast);
    launch.dynamic_smem_bytes = static_cast<uint32_t>(c.SmemBytes());
    launch.SetParams(params);
    launch.pointers.push_back(
        {offsetof(WgmmaGemmParams, out), static_cast<int8_t>(problem.d.operand), 0});
    AddBiasPointer(problem, offsetof(WgmmaGemmParams, bias), launch);
    launch.tensor_maps.push_back(InputMap(offsetof(WgmmaGemmParams, rows_map), problem, *sides.rows,
                                          sides.row_extent, c.mn_major_rows, box_rows));
    launch.tensor_maps.push_back(InputMap(offsetof(WgmmaGemmParams, cols_map), problem, *sides.cols,
                                          sides.col_extent, c.mn_major_cols,
                                          box_cols / c.multicast));
    launch.tensor_maps.push_back(Map(offsetof(WgmmaGemmParams, out_map), problem.d,
                                     problem.epilogue.out_dtype, problem.n, problem.m,
                                     problem.batches, problem.d.outer_stride, 128 / c.out_bytes,
                                     c.swap ? c.tile_cols : 64));
    bound.launches.push_back(std::move(launch));
    if (tail.parts > 1) AddReduction(c, items - whole, bound);
    return bound;
  }

 private:
  const GemmReader read_;
};

}  // namespace

std::unique_ptr<Variant> MakeWgmmaVariant(GemmReader read) {
  return std::make_unique<WgmmaVariant>(read);
}

}  // namespace tilewright
