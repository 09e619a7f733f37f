// Reductions beside a dense kept axis: lanes lie along it.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "kernel_templates/row/reduce_recipe.h"
#include "manifest/op_spec.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int64_t kLanes = 32;
constexpr int64_t kBriefLength = 16;
constexpr int64_t kBriefGroups = 4;
constexpr int64_t kBlocksPerSm = 32;
constexpr int64_t kSplitsPerSm = 2;
constexpr int64_t kMostSplits = 64;
constexpr int64_t kMostSplitResults = int64_t{1} << 20;
constexpr int64_t kSharedBytes = 48 * 1024;
constexpr int64_t kMostLoaded = 32;  // elements a thread holds at a time

class ColumnReduceVariant : public Variant {
 public:
  explicit ColumnReduceVariant(const ReduceOperator& op) : op_(op) {}
  std::string_view name() const override { return "columns"; }

  absl::Status Serves(const CallDesc& call, const DeviceProfile& device) const override {
    TW_RETURN_IF_ERROR(RequireSm80(call, device));
    if (PlanReduce(call, op_).layout == ReduceLayout::kColumns) return absl::OkStatus();
    return FailedPrecondition("no kept axis is dense beside strided ones");
  }
  TuningSpace Space(const CallDesc&, const DeviceProfile&) const override {
    return {std::string(name()),
            {{"warps", {1, 2, 4, 8, 16}},
             {"vector_bytes", {1, 2, 4, 8, 16}},
             {"unroll", {2, 4, 8}},
             {"split", {0, 1}},
             {"groups", {1, 2, 4, 8}}}};
  }
  absl::Status Legal(const CallDesc& call, const Config& config,
                     const DeviceProfile&) const override {
    const ReducePlan plan = PlanReduce(call, op_);
    const int64_t size = DTypeSize(plan.dtype);
    const int64_t bytes = config.Get("vector_bytes");
    if (bytes > plan.vector * size || bytes < size) {
      return FailedPrecondition("vectors of ", bytes, " bytes, expected ", size, " to ",
                                plan.vector * size);
    }
    const int64_t vector = bytes / size;
    const int64_t shared = config.Get("warps") * vector * kLanes * op_.value_bytes;
    if (shared > kSharedBytes) {
      return FailedPrecondition(shared, " bytes of shared memory, expected at most ", kSharedBytes);
    }
    if (vector * config.Get("unroll") > kMostLoaded) {
      return FailedPrecondition("a thread holds ", vector * config.Get("unroll"),
                                " elements, expected at most ", kMostLoaded);
    }
    if (config.Get("groups") > 1 && config.Get("warps") > 1) {
      return FailedPrecondition("groups take one warp each");
    }
    if (config.Get("split") != 0 && ResultsBucket(plan) > kMostSplitResults) {
      return FailedPrecondition(plan.rows, " results, expected at most ", kMostSplitResults,
                                " where they are split");
    }
    return absl::OkStatus();
  }
  double PredictUs(const CallDesc& call, const Config& config,
                   const DeviceProfile& device) const override {
    const ReducePlan plan = PlanReduce(call, op_);
    MemoryModel model;
    model.bytes =
        static_cast<double>(plan.rows) * static_cast<double>(plan.length) * DTypeSize(plan.dtype);
    model.ctas =
        static_cast<double>(Blocks(plan, VectorOf(plan, config)) * Splits(plan, config, device));
    model.ctas = std::ceil(model.ctas / static_cast<double>(config.Get("groups")));
    model.threads = static_cast<double>(Threads(config));
    model.bytes_per_thread = static_cast<double>(config.Get("unroll") * config.Get("vector_bytes"));
    model.fixed_us = config.Get("split") != 0 ? 1.5 : 0;
    return PredictMemoryUs(model, device);
  }
  Config Default(const CallDesc& call, const DeviceProfile& device) const override {
    const ReducePlan plan = PlanReduce(call, op_);
    const int64_t size = DTypeSize(plan.dtype);
    const int64_t length = ReduceLengthBucket(plan.length);
    const bool brief = length <= kBriefLength;  // as much is written as is read
    int64_t vector = std::min<int64_t>(plan.vector, op_.value_bytes > 8 ? 4 : 8);
    if (brief) vector = std::min(vector, std::max<int64_t>(16 / DTypeSize(plan.output), 4));
    const int64_t warps = brief ? 1 : std::clamp<int64_t>(length / 8, 1, 8);
    // By the bucket, so that all of it shares the choice.
    const int64_t blocks = ResultsBucket(plan) / (vector * kLanes);
    const bool split = blocks < std::max(device.sm_count, 1) && length >= 256 &&
                       ResultsBucket(plan) <= kMostSplitResults;
    return {std::string(name()),
            {{"warps", warps},
             {"vector_bytes", vector * size},
             {"unroll", brief ? std::clamp<int64_t>(length, 2, 4) : 4},
             {"split", split ? 1 : 0},
             {"groups", brief ? kBriefGroups : 1}}};
  }
  std::vector<KernelSpec> Kernels(const CallDesc& call, const Config& config) const override {
    const ReducePlan plan = PlanReduce(call, op_);
    const auto flag = [](bool value) { return value ? "true" : "false"; };
    const bool split = config.Get("split") != 0;
    KernelSpec spec;
    spec.template_file = "row/column_reduce.cuh";
    spec.entry = "tilewright::ColumnReduceKernel";
    spec.constants = ReduceConstants(op_, plan);
    spec.constants.insert(spec.constants.end(), {{"int kWarps", Cat(config.Get("warps"))},
                                                 {"int kGroups", Cat(config.Get("groups"))},
                                                 {"int kUnroll", Cat(config.Get("unroll"))},
                                                 {"int kVector", Cat(VectorOf(plan, config))},
                                                 {"bool kDims", flag(!plan.dense())},
                                                 {"bool kDenseOutput", flag(plan.dense_output)},
                                                 {"bool kSplit", flag(split)}});
    if (!split) return {spec};
    return {spec, CombineSpec(op_, plan)};
  }
  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config& config,
                                 const DeviceProfile& device) const override {
    const ReducePlan plan = PlanReduce(call, op_);
    BoundCall bound;
    if (plan.rows == 0) return bound;
    const int64_t vector = VectorOf(plan, config);
    const int64_t splits = Splits(plan, config, device);
    const bool split = config.Get("split") != 0;
    Launch launch;
    launch.SetParams(ParamsOf(call, plan, vector, splits));
    const int64_t groups = config.Get("groups");
    const int64_t most = kBlocksPerSm * std::max(device.sm_count, 1);
    launch.grid[0] =
        static_cast<uint32_t>(std::min((Blocks(plan, vector) + groups - 1) / groups, most));
    launch.grid[1] = static_cast<uint32_t>(splits);
    launch.block[0] = static_cast<uint32_t>(Threads(config));
    launch.pointers.push_back({offsetof(ColumnReduceParams, input), 0, 0});
    AddReduceLaunch(call, op_, plan,
                    {offsetof(ColumnReduceParams, partials), offsetof(ColumnReduceParams, outputs)},
                    split, splits, std::move(launch), &bound);
    return bound;
  }

 private:
  static int64_t VectorOf(const ReducePlan& plan, const Config& config) {
    return std::clamp<int64_t>(config.Get("vector_bytes") / DTypeSize(plan.dtype), 1, plan.vector);
  }
  static int64_t Threads(const Config& config) {
    return config.Get("warps") * config.Get("groups") * kLanes;
  }
  static int64_t Blocks(const ReducePlan& plan, int64_t vector) {
    const int64_t inner = plan.outer[0].extent / vector;
    return plan.rows / plan.outer[0].extent * ((inner + kLanes - 1) / kLanes);
  }
  // CTAs a result: enough to fill the device, each with some rounds of loads.
  static int64_t Splits(const ReducePlan& plan, const Config& config, const DeviceProfile& device) {
    if (config.Get("split") == 0 || plan.rows == 0) return 1;
    const int64_t blocks = std::max<int64_t>(1, Blocks(plan, VectorOf(plan, config)));
    const int64_t wanted = (kSplitsPerSm * std::max(device.sm_count, 1) + blocks - 1) / blocks;
    const int64_t rounds = plan.length / (config.Get("warps") * config.Get("unroll"));
    return std::clamp<int64_t>(std::min(wanted, rounds), 1, kMostSplits);
  }
  ColumnReduceParams ParamsOf(const CallDesc& call, const ReducePlan& plan, int64_t vector,
                              int64_t splits) const {
    const int64_t size = DTypeSize(plan.dtype);
    const int64_t output_size = DTypeSize(plan.output);
    ColumnReduceParams p{};
    p.inner = plan.outer[0].extent / vector;
    p.outer = plan.rows / plan.outer[0].extent;
    p.length = plan.length;
    p.split_length = (p.length + splits - 1) / splits;
    p.inner_blocks =
        MakeFastDivmod<true>(static_cast<unsigned long long>((p.inner + kLanes - 1) / kLanes));
    p.splits = static_cast<int>(splits);
    p.axis_rank = static_cast<int>(plan.inner.size());
    p.outer_rank = static_cast<int>(plan.outer.size()) - 1;
    p.scalars = ScalarsOf(call, op_, plan);
    size_t at = 0;
    for (const LayoutDim& dim : plan.inner) {
      p.extent[at] =
          MakeFastDivmod<true>(static_cast<unsigned long long>(std::max<int64_t>(dim.extent, 1)));
      p.input_stride[at++] = dim.strides[0] * size;
    }
    for (size_t d = 1; d < plan.outer.size(); ++d) {
      const LayoutDim& dim = plan.outer[d];
      p.extent[at] = MakeFastDivmod<true>(static_cast<unsigned long long>(dim.extent));
      p.input_stride[at++] = dim.strides[0] * size;
      for (size_t i = 1; i < dim.strides.size(); ++i) {
        p.output_stride[i - 1][d - 1] = dim.strides[i] * output_size;
      }
    }
    for (size_t i = 1; i < plan.outer[0].strides.size(); ++i) {
      p.inner_output_stride[i - 1] = plan.outer[0].strides[i] * output_size;
    }
    return p;
  }

  ReduceOperator op_;
};

}  // namespace

std::unique_ptr<Variant> MakeColumnReduceVariant(const ReduceOperator& op) {
  return std::make_unique<ColumnReduceVariant>(op);
}

}  // namespace tilewright
