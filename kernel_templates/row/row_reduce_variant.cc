// Reductions along a dense axis, and the portable one of any layout.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "kernel_templates/row/reduce_recipe.h"
#include "kernel_templates/row/row_geometry.h"
#include "kernel_templates/row/row_recipe.h"
#include "manifest/op_spec.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int64_t kMostRows = 32;  // a CTA
constexpr int64_t kFewestRows = 4;
constexpr int64_t kFewestThreads = 256;     // where so few rows are long
constexpr int64_t kBrief = 8;               // packets a thread of these
constexpr int64_t kMostOfACluster = 16384;  // packets
constexpr int64_t kBlocksPerSm = 64;        // of a grid that walks the results
constexpr int64_t kSplitsPerSm = 2;         // CTAs an SM of a grid that splits them
constexpr int64_t kMostSplitRows = 2112;
constexpr int64_t kMostSplits = 4096;

struct Geometry : RowGeometry {
  int64_t unroll = 4;
  bool split = false;
};

Geometry GeometryOf(const Config& config) {
  return {RowGeometryOf(config, 1, 1), config.Get("unroll"), config.Get("split") != 0};
}

class RowReduceVariant : public Variant {
 public:
  RowReduceVariant(const ReduceOperator& op, bool portable) : op_(op), portable_(portable) {}
  std::string_view name() const override { return portable_ ? "portable" : "rows"; }

  absl::Status Serves(const CallDesc& call, const DeviceProfile& device) const override {
    TW_RETURN_IF_ERROR(RequireSm80(call, device));
    if (portable_ || PlanReduce(call, op_).layout == ReduceLayout::kRows) return absl::OkStatus();
    return FailedPrecondition("no reduced axis is dense");
  }

  TuningSpace Space(const CallDesc&, const DeviceProfile& device) const override {
    TuningSpace space{std::string(name()), RowAxes(device, kMostRows)};
    if (portable_) space.axes[2].values = {1};
    space.axes.push_back({"unroll", {2, 4, 8}});
    space.axes.push_back({"split", {0, 1}});
    return space;
  }

  absl::Status Legal(const CallDesc& call, const Config& config,
                     const DeviceProfile& device) const override {
    const ReducePlan plan = PlanReduce(call, op_);
    const Geometry g = GeometryOf(config);
    TW_RETURN_IF_ERROR(
        RowThreadsAreLegal(g, ReduceLengthBucket(plan.length) / VectorOf(plan), device));
    if (g.cluster > 1 && g.split) return FailedPrecondition("a cluster takes no split");
    if (g.cluster > 1 && plan.rows > kMostGrid / kMostRowCluster) {
      return FailedPrecondition(plan.rows, " rows, expected at most ", kMostGrid / kMostRowCluster);
    }
    if (g.split && ResultsBucket(plan) > kMostSplitRows) {
      return FailedPrecondition(plan.rows, " rows, expected at most ", kMostSplitRows,
                                " where they are split");
    }
    return absl::OkStatus();
  }

  double PredictUs(const CallDesc& call, const Config& config,
                   const DeviceProfile& device) const override {
    const ReducePlan plan = PlanReduce(call, op_);
    const Geometry g = GeometryOf(config);
    const double size = DTypeSize(plan.dtype);
    MemoryModel model = ModelOf(g, {}, plan.rows, device);
    model.bytes = static_cast<double>(plan.rows) * static_cast<double>(plan.length) * size;
    if (portable_) model.bytes *= 2;  // an element at a time
    model.ctas *= static_cast<double>(Splits(plan, g, device));
    model.bytes_per_thread = static_cast<double>(g.unroll * VectorOf(plan)) * size;
    if (g.split) model.fixed_us += 1.5;
    return PredictMemoryUs(model, device);
  }

  Config Default(const CallDesc& call, const DeviceProfile& device) const override;

  std::vector<KernelSpec> Kernels(const CallDesc& call, const Config& config) const override {
    const ReducePlan plan = PlanReduce(call, op_);
    const Geometry g = GeometryOf(config);
    const auto flag = [](bool value) { return value ? "true" : "false"; };
    KernelSpec spec;
    spec.template_file = "row/row_reduce.cuh";
    spec.entry = "tilewright::RowReduceKernel";
    spec.constants = ReduceConstants(op_, plan);
    spec.constants.insert(spec.constants.end(), {{"int kThreads", Cat(g.threads)},
                                                 {"int kRows", Cat(g.rows)},
                                                 {"int kCluster", Cat(g.cluster)},
                                                 {"int kUnroll", Cat(g.unroll)},
                                                 {"int kVector", Cat(VectorOf(plan))},
                                                 {"bool kDense", flag(IsDense(plan))},
                                                 {"bool kSplit", flag(g.split)}});
    if (!g.split) return {spec};
    return {spec, CombineSpec(op_, plan)};
  }

  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config& config,
                                 const DeviceProfile& device) const override {
    const ReducePlan plan = PlanReduce(call, op_);
    BoundCall bound;
    if (plan.rows == 0) return bound;
    const Geometry g = GeometryOf(config);
    const int64_t splits = Splits(plan, g, device);
    Launch launch;
    launch.SetParams(ParamsOf(call, plan, splits));
    const int64_t groups = (plan.rows + g.rows - 1) / g.rows;
    const int64_t most = kBlocksPerSm * std::max(device.sm_count, 1);
    launch.grid[0] =
        static_cast<uint32_t>(g.cluster > 1 ? groups * g.cluster : std::min(groups, most));
    launch.grid[1] = static_cast<uint32_t>(splits);
    launch.block[0] = static_cast<uint32_t>(g.cta_threads());
    launch.cluster[0] = static_cast<uint32_t>(g.cluster);
    launch.pointers.push_back({offsetof(RowReduceParams, input), 0, 0});
    AddReduceLaunch(call, op_, plan,
                    {offsetof(RowReduceParams, partials), offsetof(RowReduceParams, outputs)},
                    g.split, splits, std::move(launch), &bound);
    return bound;
  }

 private:
  int64_t VectorOf(const ReducePlan& plan) const { return portable_ ? 1 : plan.vector; }
  bool IsDense(const ReducePlan& plan) const { return !portable_ && plan.dense(); }
  int64_t Packets(const ReducePlan& plan) const { return plan.length / VectorOf(plan); }

  // CTAs a result: enough to fill the device, each with some rounds of loads.
  int64_t Splits(const ReducePlan& plan, const Geometry& g, const DeviceProfile& device) const {
    if (!g.split) return 1;
    const int64_t groups = std::max<int64_t>(1, (plan.rows + g.rows - 1) / g.rows);
    const int64_t wanted = (kSplitsPerSm * std::max(device.sm_count, 1) + groups - 1) / groups;
    const int64_t rounds = Packets(plan) / (g.threads * g.unroll);
    return std::clamp<int64_t>(std::min(wanted, rounds), 1, kMostSplits);
  }

  RowReduceParams ParamsOf(const CallDesc& call, const ReducePlan& plan, int64_t splits) const {
    const int64_t size = DTypeSize(plan.dtype);
    const int64_t vector = VectorOf(plan);
    RowReduceParams p{};
    p.rows = plan.rows;
    p.packets = Packets(plan);
    p.split_packets = (p.packets + splits - 1) / splits;
    p.splits = static_cast<int>(splits);
    p.inner_rank = static_cast<int>(plan.inner.size());
    p.row_rank = static_cast<int>(plan.outer.size());
    p.scalars = ScalarsOf(call, op_, plan);
    size_t at = 0;
    for (const LayoutDim& dim : plan.inner) {
      const int64_t packed = at == 0 ? vector : 1;
      p.extent[at] = MakeFastDivmod<true>(
          static_cast<unsigned long long>(std::max<int64_t>(dim.extent / packed, 1)));
      p.input_stride[at++] = dim.strides[0] * packed * size;
    }
    for (size_t d = 0; d < plan.outer.size(); ++d) {
      const LayoutDim& dim = plan.outer[d];
      p.extent[at] = MakeFastDivmod<true>(static_cast<unsigned long long>(dim.extent));
      p.input_stride[at++] = dim.strides[0] * size;
      for (size_t i = 1; i < dim.strides.size(); ++i) {
        p.output_stride[i - 1][d] = dim.strides[i] * DTypeSize(plan.output);
      }
    }
    return p;
  }

  ReduceOperator op_;
  bool portable_;
};

// Threads and packets at a time for a share of so many packets, which is then one round or few.
void SplitShare(int64_t share, int value_bytes, Geometry* g) {
  g->threads = share <= 1024 ? 256 : 512;
  g->unroll = share <= 2048 || value_bytes > 8 ? 4 : 8;
}

// Many rows: about four packets a thread, CTAs of 256 threads. Few rows: all SMs take part, by
// clusters while a row fits 16 CTAs at some packets a thread, else in two stages.
Config RowReduceVariant::Default(const CallDesc& call, const DeviceProfile& device) const {
  const ReducePlan plan = PlanReduce(call, op_);
  const int64_t rows = ResultsBucket(plan);
  const int64_t packets = ReduceLengthBucket(plan.length) / VectorOf(plan);
  const int64_t most_cluster = portable_ ? 1 : LargestRowCluster(device);
  Geometry g;
  // A thread that looks for positions ends in as many instructions as it takes for five packets.
  const bool searches = op_.indexed && rows > 264;
  const int64_t packets_each = searches ? 8 : 4;
  g.threads = std::clamp<int64_t>(packets / packets_each, 8, rows > 264 ? 256 : 512);
  const auto each = [&] { return packets / (g.threads * g.cluster); };
  if (rows <= kFewestRows && packets >= kFewestThreads * kBrief) g.threads = kFewestThreads;
  if (rows <= 264 && g.threads >= 64) {
    const int64_t most = rows <= 32 ? most_cluster : std::min<int64_t>(most_cluster, 4);
    while (each() > 4 && g.cluster < most) g.cluster *= 2;
    const int64_t most_each = rows <= kFewestRows && packets > kMostOfACluster ? 4 : 16;
    if (each() > most_each && rows <= 32) {
      g.cluster = 1;
      g.split = true;
      SplitShare(packets / (kSplitsPerSm * std::max(device.sm_count, 1)), op_.value_bytes, &g);
    }
  }
  const bool alone = g.cluster > 1 || g.split;
  const int64_t block = rows > 264 && !searches ? 256 : 128;
  g.rows = alone ? 1 : std::max<int64_t>(1, block / g.threads);
  if (searches) g.unroll = 8;
  if (g.cta_threads() < 32) g.rows = 32 / g.threads;
  return {std::string(name()),
          {{"threads", g.threads},
           {"rows", g.rows},
           {"cluster", g.cluster},
           {"unroll", g.unroll},
           {"split", g.split ? 1 : 0}}};
}

}  // namespace

std::unique_ptr<Variant> MakeRowReduceVariant(const ReduceOperator& op) {
  return std::make_unique<RowReduceVariant>(op, false);
}
std::unique_ptr<Variant> MakeStridedReduceVariant(const ReduceOperator& op) {
  return std::make_unique<RowReduceVariant>(op, true);
}

}  // namespace tilewright
