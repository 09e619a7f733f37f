// Small windows over a dense width: strips of outputs, a thread each, or strips of several planes.
#include <algorithm>
#include <utility>

#include "kernel_templates/pool/pool_recipe.h"
#include "manifest/op_spec.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int64_t kMaxGrid = (int64_t{1} << 31) - 1;
// What the kernel unrolls: rows of a window, columns of a strip and taps of all.
constexpr int64_t kMostRows = 16;
constexpr int64_t kMostColumns = 48;
constexpr int64_t kMostTaps = 256;
constexpr int64_t kMostSlabTaps = 512;
// Fewer outputs than this leave threads idle unless strips are short.
constexpr int64_t kFewOutputs = int64_t{1} << 18;
constexpr int64_t kManyOutputs = int64_t{1} << 20;
constexpr double kHeld = 200e6, kHeldWithIndices = 64e6;  // bytes
constexpr int64_t kManyTaps = 8;

constexpr std::string_view kSlabs = "slabs";
constexpr int64_t kWarpSize = 32;
constexpr double kCyclesPerUs = 1700;

int64_t LowestBit(int64_t value) { return value & -value; }

struct Geometry {
  int64_t outputs = 1;
  int64_t threads = 128;
  bool streaming = false;
  bool gather = false;
  int64_t depth = 1;  // planes of outputs

  int64_t vector(const PoolProblem& problem) const {
    return std::min<int64_t>(problem.vector, LowestBit(outputs * problem.axes[0].stride));
  }
  int64_t columns(const PoolProblem& problem) const {
    const PoolAxis& width = problem.axes[0];
    return (outputs - 1) * width.stride + (width.kernel - 1) * width.dilation + 1;
  }
  int64_t strips(const PoolProblem& problem) const {
    return (problem.axes[0].output + outputs - 1) / outputs;
  }
};

Geometry GeometryOf(const Config& config) {
  return {config.Get("outputs"), config.Get("threads"), config.Get("streaming") != 0,
          config.Get("gather") != 0, config.Get("depth", 1)};
}

int64_t RowsOf(const PoolProblem& problem) {
  return problem.axes[1].kernel * problem.axes[2].kernel;
}

class StripPoolVariant : public Variant {
 public:
  StripPoolVariant(const PoolOperator& op, bool slabs) : op_(op), slabs_(slabs) {}
  std::string_view name() const override { return slabs_ ? kSlabs : "strips"; }

  absl::Status Serves(const CallDesc& call, const DeviceProfile& device) const override {
    TW_RETURN_IF_ERROR(RequireSm80(call, device));
    const PoolProblem problem = PlanPool(op_, call);
    if (problem.adaptive) return FailedPrecondition("windows are not all alike");
    if (!problem.dense_width) return FailedPrecondition("the width is not dense");
    if (slabs_ && !problem.shares_planes()) {
      return FailedPrecondition("windows of neighbouring planes share none");
    }
    Geometry g;
    const PoolAxis& width = problem.axes[0];
    // Each bound by itself first: products of large ones overflow.
    if (problem.axes[1].kernel > kMostRows || problem.axes[2].kernel > kMostRows ||
        width.kernel > kMostColumns || width.dilation > kMostColumns ||
        width.stride > kMostColumns || RowsOf(problem) > kMostRows ||
        g.columns(problem) > kMostColumns || RowsOf(problem) * width.kernel > kMostTaps) {
      return FailedPrecondition("the window is too large to unroll");
    }
    if (problem.outputs() / g.threads >= kMaxGrid) {
      return FailedPrecondition(problem.outputs(), " outputs need too large a grid");
    }
    return absl::OkStatus();
  }
  TuningSpace Space(const CallDesc&, const DeviceProfile&) const override {
    TuningSpace space{std::string(name()),
                      {{"outputs", {1, 2, 4, 8}},
                       {"threads", {128, 256}},
                       {"streaming", {0, 1}},
                       {"gather", {0, 1}}}};
    if (slabs_) space.axes.push_back({"depth", {2, 4}});
    return space;
  }
  absl::Status Legal(const CallDesc& call, const Config& config,
                     const DeviceProfile&) const override {
    const PoolProblem problem = PlanPool(op_, call);
    const Geometry g = GeometryOf(config);
    if (g.columns(problem) > kMostColumns && g.outputs > 1) {
      return FailedPrecondition("a strip has ", g.columns(problem), " columns, expected at most ",
                                kMostColumns);
    }
    if (g.gather && (g.outputs == 1 || (!op_.indices && problem.store >= g.outputs))) {
      return FailedPrecondition("a strip's outputs are stored side by side already");
    }
    const int64_t taps = RowsOf(problem) * problem.axes[0].kernel * g.outputs;
    if (taps * g.depth > kMostSlabTaps && slabs_ && g.outputs > 1) {
      return FailedPrecondition("a slab has ", taps * g.depth, " taps, expected at most ",
                                kMostSlabTaps);
    }
    if (taps > kMostTaps && g.outputs > 1) {
      return FailedPrecondition("a strip has ", taps, " taps, expected at most ", kMostTaps);
    }
    return absl::OkStatus();
  }
  double PredictUs(const CallDesc& call, const Config& config,
                   const DeviceProfile& device) const override {
    const PoolProblem problem = PlanPool(op_, call);
    const Geometry g = GeometryOf(config);
    MemoryModel model;
    model.bytes = PoolBytes(problem, op_.indices);
    model.threads = static_cast<double>(g.threads);
    model.ctas = static_cast<double>(problem.outputs()) /
                 static_cast<double>(g.outputs * g.depth * g.threads);
    model.bytes_per_thread = 16;
    const double sms = std::max(device.sm_count, 1);
    const double warps = static_cast<double>(problem.outputs()) /
                         static_cast<double>(g.outputs * kWarpSize) * RowsRead(problem, g);
    const double issue_us = warps / sms * SmCyclesOf(problem, g) / kCyclesPerUs;
    // A resource that is half as busy as memory still delays some accesses.
    return PredictMemoryUs(model, device) + 0.5 * issue_us;
  }
  Config Default(const CallDesc& call, const DeviceProfile& device) const override;
  std::vector<KernelSpec> Kernels(const CallDesc& call, const Config& config) const override;
  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config& config,
                                 const DeviceProfile&) const override {
    const PoolProblem problem = PlanPool(op_, call);
    BoundCall bound;
    if (problem.outputs() == 0) return bound;
    const Geometry g = GeometryOf(config);
    bound.launches.push_back(
        PoolLaunch(problem, op_.indices, g.strips(problem), 1, g.threads, g.depth));
    return bound;
  }

 private:
  // Rows of the input read for a window, of those that it has.
  static double RowsRead(const PoolProblem& problem, const Geometry& g) {
    const PoolAxis& depth = problem.axes[2];
    return static_cast<double>((g.depth - 1) * depth.stride + depth.kernel) /
           static_cast<double>(g.depth * depth.kernel);
  }

  // Cycles of an SM for a warp: the larger of its memory pipe, a cycle for 128 bytes spanned, and
  // of issuing instructions, four a cycle.
  double SmCyclesOf(const PoolProblem& problem, const Geometry& g) const {
    const double size = DTypeSize(problem.dtype);
    const double rows = static_cast<double>(RowsOf(problem));
    const auto lines = [](double bytes_apart) {
      return std::max(1.0, static_cast<double>(kWarpSize) * bytes_apart / 128);
    };
    const double outputs = static_cast<double>(g.outputs);
    const double pieces = std::max(
        1.0, static_cast<double>(g.columns(problem)) / static_cast<double>(g.vector(problem)));
    const double input_apart = outputs * static_cast<double>(problem.axes[0].stride) * size;
    double pipe = rows * pieces * lines(input_apart);
    if (g.gather) {
      pipe += outputs * (op_.indices ? 12 : 6);
    } else {
      const auto stores = [&](int widest) {
        return outputs / static_cast<double>(std::min<int64_t>(widest, g.outputs));
      };
      pipe += stores(problem.store) * lines(outputs * size);
      if (op_.indices) pipe += stores(problem.index_store) * lines(outputs * 8);
    }
    const double taps = rows * static_cast<double>(problem.axes[0].kernel) * outputs;
    const double instructions = 80 + rows * (6 + 8 * pieces) + taps * (op_.indices ? 4 : 1) +
                                outputs * (op_.average ? 25 : 4) + (g.gather ? outputs * 10 : 0);
    return std::max(pipe, instructions / 4);
  }

  PoolOperator op_;
  bool slabs_;
};

// The shortest strip that reads whole vectors; of few outputs, and where rows are not aligned, one
// that leaves threads enough. Seen on an H200: evict-first helps as long as the L2 still holds much
// of what was written, unless it drops planes that the next window reads again; four narrow stores
// or pairs of indices gain from being gathered where windows are small.
Config StripPoolVariant::Default(const CallDesc& call, const DeviceProfile& device) const {
  const PoolProblem problem = PlanPool(op_, call);
  Config config{std::string(name()),
                {{"outputs", 1}, {"threads", 128}, {"streaming", 0}, {"gather", 0}}};
  if (slabs_) config.values.emplace_back("depth", 2);  // four: as fast, in more registers
  const int64_t longest = problem.axes[0].stride > 1 ? 4 : 8;
  const int64_t most = problem.outputs() <= kFewOutputs || problem.vector < 4 ? 2 : longest;
  for (int64_t outputs = 2; outputs <= most; outputs *= 2) {
    if (GeometryOf(config).vector(problem) >= problem.vector && outputs > 2) break;
    Config longer = config;
    longer.values[0].second = outputs;
    if (!Legal(call, longer, device).ok()) break;
    config = longer;
  }
  const int64_t outputs = config.Get("outputs");
  const bool planes_again = problem.axes[2].kernel > problem.axes[2].stride;
  const double bytes = PoolBytes(problem, op_.indices);
  const bool held = op_.indices ? bytes < kHeldWithIndices : bytes < kHeld && !planes_again;
  config.values[2].second = problem.outputs() > kManyOutputs && held ? 1 : 0;
  const int64_t taps = RowsOf(problem) * problem.axes[0].kernel;
  const bool gathers = taps < kManyTaps && (op_.indices || problem.store < outputs);
  config.values[3].second = outputs >= 4 && gathers ? 1 : 0;
  return config;
}

std::vector<KernelSpec> StripPoolVariant::Kernels(const CallDesc& call,
                                                  const Config& config) const {
  const PoolProblem problem = PlanPool(op_, call);
  const Geometry g = GeometryOf(config);
  const PoolAxis& width = problem.axes[0];
  const auto flag = [](bool value) { return value ? "true" : "false"; };
  KernelSpec spec;
  spec.template_file = slabs_ ? "pool/slab_pool.cuh" : "pool/strip_pool.cuh";
  spec.entry = slabs_ ? "tilewright::SlabPoolKernel" : "tilewright::StripPoolKernel";
  spec.constants = {{"using Op", Cat("tilewright::", op_.op)},
                    {"using Element", std::string(StorageTypeName(problem.dtype))},
                    {"int kKernelD", Cat(problem.axes[2].kernel)},
                    {"int kKernelH", Cat(problem.axes[1].kernel)},
                    {"int kKernelW", Cat(width.kernel)},
                    {"int kStrideW", Cat(width.stride)},
                    {"int kPaddingW", Cat(width.padding)},
                    {"int kDilationW", Cat(width.dilation)},
                    {"int kOutputs", Cat(g.outputs)},
                    {"int kVector", Cat(g.vector(problem))},
                    {"int kStore", Cat(std::min<int64_t>(problem.store, g.outputs))},
                    {"int kIndexStore", Cat(std::min<int64_t>(problem.index_store, g.outputs))},
                    {"int kAxes", Cat(problem.spatial)},
                    {"int kPlaneDims", Cat(problem.one_plane_dim ? 1 : 2)},
                    {"int kThreads", Cat(g.threads)},
                    {"bool kWide", flag(problem.wide)},
                    {"bool kStreaming", flag(g.streaming)},
                    {"bool kGather", flag(g.gather)}};
  if (slabs_) {
    spec.constants.emplace_back("int kDepth", Cat(g.depth));
    spec.constants.emplace_back("int kStrideD", Cat(problem.axes[2].stride));
  }
  return {spec};
}

}  // namespace

std::unique_ptr<Variant> MakeSlabPoolVariant(const PoolOperator& op) {
  return std::make_unique<StripPoolVariant>(op, true);
}
std::unique_ptr<Variant> MakeStripPoolVariant(const PoolOperator& op) {
  return std::make_unique<StripPoolVariant>(op, false);
}

}  // namespace tilewright
