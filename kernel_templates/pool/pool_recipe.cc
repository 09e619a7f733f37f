// The pooling operators: average, maximum and maximum with indices, fixed and adaptive windows.
#include "kernel_templates/pool/pool_recipe.h"

#include <algorithm>
#include <utility>

#include "kernel_templates/owning_recipe.h"

namespace tilewright {
namespace {

constexpr int kVectorBytes = 16;
constexpr int64_t kNarrowLimit = (int64_t{1} << 31) - 1;
constexpr int64_t kLanes = 32;
// Buckets of outputs below this are one.
constexpr int64_t kFewestOutputs = 1024;

// Value `axis` of a list that has one for each axis or one for all.
int64_t OfAxis(const ParamValue& list, int axis) {
  return list.as_list()[list.as_list().rank() == 1 ? 0 : axis];
}

PoolAxis AdaptiveAxis(int64_t input, int64_t output) {
  PoolAxis axis{input, output};
  const int64_t shared = input % output == 0 ? 0 : 1;  // windows may start inside a position
  axis.kernel = std::min(input, (input + output - 1) / output + shared);
  return axis;
}

// The widest access, in elements, that divides the width, the strides of the other axes and the
// alignment.
int WidestAccess(const Operand& operand, const std::array<int64_t, kPoolDims>& strides) {
  const TensorDesc& desc = operand.desc;
  const int size = DTypeSize(desc.dtype);
  for (int vector = kVectorBytes / size; vector > 1; vector /= 2) {
    bool fits = desc.shape[desc.rank() - 1] % vector == 0 &&
                operand.alignment % static_cast<uint32_t>(vector * size) == 0;
    for (size_t d = 1; d < strides.size(); ++d) fits = fits && strides[d] % vector == 0;
    if (fits) return vector;
  }
  return 1;
}

// Innermost first: spatial axes, then channels and batch; 0 for axes that the input lacks.
std::array<int64_t, kPoolDims> StridesOf(const TensorDesc& desc) {
  std::array<int64_t, kPoolDims> strides{};
  const int spatial = desc.rank() - 2;
  for (int i = 0; i < spatial; ++i) {
    strides[static_cast<size_t>(i)] = desc.strides[desc.rank() - 1 - i];
  }
  strides[3] = desc.strides[1];
  strides[4] = desc.strides[0];
  return strides;
}

// Makes batch and channels one dim where every operand strides evenly through both.
void MergePlanes(bool indices, PoolProblem* problem) {
  const auto even = [&](const std::array<int64_t, kPoolDims>& strides) {
    int64_t next = 0;
    return !__builtin_mul_overflow(strides[3], problem->channels, &next) && strides[4] == next;
  };
  int64_t planes = 0;
  if (__builtin_mul_overflow(problem->channels, problem->batch, &planes)) return;
  const bool merges = even(problem->input_stride) && even(problem->output_stride) &&
                      (!indices || even(problem->indices_stride));
  if (problem->batch != 1 && !merges) return;
  problem->one_plane_dim = true;
  problem->channels = planes;
  problem->batch = 1;
}

// Makes width and height one axis where a window is all of both and they lie side by side.
void MergeWindow(PoolProblem* problem) {
  PoolAxis& width = problem->axes[0];
  PoolAxis& height = problem->axes[1];
  const auto is_whole = [](const PoolAxis& axis) {
    return axis.output == 1 && axis.kernel == axis.input && axis.padding == 0 && axis.dilation == 1;
  };
  int64_t next = 0;
  int64_t positions = 0;
  if (problem->spatial != 2 || !is_whole(width) || !is_whole(height)) return;
  if (__builtin_mul_overflow(problem->input_stride[0], width.input, &next)) return;
  if (__builtin_mul_overflow(width.input, height.input, &positions)) return;
  if (problem->input_stride[1] != next || positions > kNarrowLimit) return;
  width.input = width.kernel = positions;
  height = PoolAxis();
  problem->input_stride[1] = 0;
  problem->spatial = 1;
}

bool NeedsWide(const PoolProblem& problem) {
  int64_t plane = 1;
  for (const PoolAxis& axis : problem.axes) {
    if (axis.input + 2 * axis.padding > kNarrowLimit) return true;
    if (__builtin_mul_overflow(plane, axis.input, &plane) || plane > kNarrowLimit) return true;
    int64_t from = 0;  // of adaptive windows
    if (!problem.adaptive) continue;
    if (__builtin_mul_overflow(axis.input, axis.output + 1, &from) || from > kNarrowLimit) {
      return true;
    }
  }
  int64_t threads = 0;
  return __builtin_mul_overflow(problem.outputs(), kLanes, &threads) || threads > kNarrowLimit;
}

class PoolRecipe : public OwningRecipe {
 public:
  explicit PoolRecipe(const PoolOperator& op)
      : OwningRecipe({{"outputs", Kind::kBucket},
                      {"kernel_d", Kind::kExact},
                      {"shared_stride_d", Kind::kExact},
                      {"kernel_h", Kind::kExact},
                      {"kernel_w", Kind::kExact},
                      {"stride_w", Kind::kExact},
                      {"padding_w", Kind::kExact},
                      {"dilation_w", Kind::kExact},
                      {"dense_width", Kind::kClass},
                      {"vector", Kind::kClass},
                      {"store", Kind::kClass},
                      {"index_store", Kind::kClass},
                      {"axes", Kind::kClass},
                      {"one_plane_dim", Kind::kClass},
                      {"wide", Kind::kClass}}),
        op_(op) {
    // Of positions as well, a slab takes so many registers that strips are faster.
    if (!op.indices && !op.adaptive) Add(MakeSlabPoolVariant(op));
    Add(MakeStripPoolVariant(op));
    Add(MakeWindowPoolVariant(op));
    Add(MakePortablePoolVariant(op));
  }

  ProblemFields Describe(const CallDesc& call) const override {
    const PoolProblem problem = PlanPool(op_, call);
    const auto kernel = [&](size_t i) {
      const int64_t extent = problem.axes[i].kernel;
      return problem.adaptive ? PowerOfTwoBucket(extent, 1) : extent;
    };
    const PoolAxis& width = problem.axes[0];
    return {PowerOfTwoBucket(problem.outputs(), kFewestOutputs),
            kernel(2),
            problem.shares_planes() ? problem.axes[2].stride : 0,
            kernel(1),
            kernel(0),
            width.stride,
            width.padding,
            width.dilation,
            problem.dense_width,
            problem.vector,
            problem.store,
            problem.index_store,
            problem.spatial,
            problem.one_plane_dim,
            problem.wide};
  }

 private:
  PoolOperator op_;
};

// Points of a grid of `width` by the output's height by `planes`, of each channel.
int64_t GroupsOf(const PoolProblem& problem, int64_t width, int64_t planes) {
  return problem.outputs() / (problem.axes[0].output * problem.axes[2].output) * width * planes;
}

template <bool kWide>
void FillLaunch(const PoolProblem& problem, bool indices, int64_t width, int64_t planes,
                Launch* launch) {
  using Params = PoolParams<kWide>;
  using Coordinate = typename Params::Coordinate;
  const int64_t size = DTypeSize(problem.dtype);
  Params p{};
  for (size_t d = 0; d < kPoolDims; ++d) {
    p.input_stride[d] = problem.input_stride[d] * size;
    p.output_stride[d] = problem.output_stride[d] * size;
    p.indices_stride[d] = problem.indices_stride[d] * 8;
  }
  const std::array<int64_t, kPoolDims - 1> grid = {width, problem.axes[1].output, planes,
                                                   problem.channels};
  p.count = static_cast<typename Params::Index>(GroupsOf(problem, width, planes));
  for (size_t d = 0; d < grid.size(); ++d) {
    p.extent[d] = MakeFastDivmod<kWide>(static_cast<unsigned long long>(grid[d]));
  }
  p.output_width = static_cast<Coordinate>(problem.axes[0].output);
  for (size_t i = 0; i < kPoolSpatial; ++i) {
    const PoolAxis& axis = problem.axes[i];
    p.input[i] = static_cast<Coordinate>(axis.input);
    p.kernel[i] = static_cast<Coordinate>(axis.kernel);
    p.stride[i] = static_cast<Coordinate>(axis.stride);
    p.padding[i] = static_cast<Coordinate>(axis.padding);
    p.dilation[i] = static_cast<Coordinate>(axis.dilation);
    p.outputs[i] = MakeFastDivmod<kWide>(static_cast<unsigned long long>(axis.output));
  }
  p.divisor = problem.divisor;
  p.count_padding = problem.count_padding ? 1 : 0;
  launch->SetParams(p);
  launch->pointers.push_back({offsetof(Params, source), 0, 0});
  launch->pointers.push_back({offsetof(Params, output), 1, 0});
  if (indices) launch->pointers.push_back({offsetof(Params, indices), 2, 0});
}

}  // namespace

int64_t PoolProblem::outputs() const {
  return Dims{axes[0].output, axes[1].output, axes[2].output, channels, batch}.Product().value_or(
      0);
}

PoolProblem PlanPool(const PoolOperator& op, const CallDesc& call) {
  const TensorDesc& input = call.operands[0].desc;
  const TensorDesc& output = call.operands[1].desc;
  const int spatial = input.rank() - 2;
  PoolProblem problem;
  problem.dtype = input.dtype;
  problem.batch = input.shape[0];
  problem.channels = input.shape[1];
  problem.adaptive = op.adaptive;
  problem.input_stride = StridesOf(input);
  problem.output_stride = StridesOf(output);
  if (op.indices) problem.indices_stride = StridesOf(call.operands[2].desc);
  for (int i = 0; i < spatial; ++i) {
    const int axis = spatial - 1 - i;  // of the parameters
    const int64_t extent = input.shape[axis + 2];
    PoolAxis& plan = problem.axes[static_cast<size_t>(i)];
    if (op.adaptive) {
      plan = AdaptiveAxis(extent, output.shape[axis + 2]);
      continue;
    }
    plan = {extent, output.shape[axis + 2], OfAxis(call.params[0], axis),
            OfAxis(call.params[1], axis), OfAxis(call.params[2], axis)};
    if (!op.average) plan.dilation = OfAxis(call.params[3], axis);
  }
  if (op.average && !op.adaptive) {
    problem.count_padding = call.params[4].as_bool();
    if (call.params.size() > 5 && !call.params[5].is_null()) {
      problem.divisor = call.params[5].as_int();
    }
  }
  problem.dense_width = problem.input_stride[0] == 1 && problem.output_stride[0] == 1 &&
                        (!op.indices || problem.indices_stride[0] == 1);
  if (problem.dense_width) {
    problem.vector = WidestAccess(call.operands[0], problem.input_stride);
    problem.store = WidestAccess(call.operands[1], problem.output_stride);
    if (op.indices) {
      problem.index_store = WidestAccess(call.operands[2], problem.indices_stride);
    }
  }
  problem.spatial = spatial;
  MergeWindow(&problem);
  MergePlanes(op.indices, &problem);
  problem.wide = NeedsWide(problem);
  return problem;
}

double PoolBytes(const PoolProblem& problem, bool indices) {
  double elements = static_cast<double>(problem.channels) * static_cast<double>(problem.batch);
  for (const PoolAxis& axis : problem.axes) elements *= static_cast<double>(axis.input);
  const double size = DTypeSize(problem.dtype);
  return elements * size + static_cast<double>(problem.outputs()) * (size + (indices ? 8 : 0));
}

Launch PoolLaunch(const PoolProblem& problem, bool indices, int64_t width, int64_t lanes,
                  int64_t threads, int64_t depth) {
  Launch launch;
  const int64_t planes = (problem.axes[2].output + depth - 1) / depth;
  if (problem.wide) {
    FillLaunch<true>(problem, indices, width, planes, &launch);
  } else {
    FillLaunch<false>(problem, indices, width, planes, &launch);
  }
  const int64_t groups = GroupsOf(problem, width, planes);
  const int64_t per_cta = threads / lanes;
  launch.grid[0] = static_cast<uint32_t>((groups + per_cta - 1) / per_cta);
  launch.block[0] = static_cast<uint32_t>(threads);
  return launch;
}

std::unique_ptr<Recipe> MakePoolRecipe(const PoolOperator& op) {
  return std::make_unique<PoolRecipe>(op);
}

namespace {

constexpr PoolOperator kAverage = {"PoolAverage", true, false, false};
constexpr PoolOperator kMax = {"PoolMax", false, false, false};
constexpr PoolOperator kMaxIndices = {"PoolMaxIndices", false, true, false};

PoolOperator Adaptive(PoolOperator op) {
  op.adaptive = true;
  return op;
}

}  // namespace

TILEWRIGHT_RECIPE(AvgPool1dFwdOp) { return MakePoolRecipe(kAverage); }
TILEWRIGHT_RECIPE(AvgPool2dFwdOp) { return MakePoolRecipe(kAverage); }
TILEWRIGHT_RECIPE(AvgPool3dFwdOp) { return MakePoolRecipe(kAverage); }
TILEWRIGHT_RECIPE(MaxPool1dFwdOp) { return MakePoolRecipe(kMax); }
TILEWRIGHT_RECIPE(MaxPool2dFwdOp) { return MakePoolRecipe(kMax); }
TILEWRIGHT_RECIPE(MaxPool3dFwdOp) { return MakePoolRecipe(kMax); }
TILEWRIGHT_RECIPE(MaxPool1dIndicesFwdOp) { return MakePoolRecipe(kMaxIndices); }
TILEWRIGHT_RECIPE(MaxPool2dIndicesFwdOp) { return MakePoolRecipe(kMaxIndices); }
TILEWRIGHT_RECIPE(MaxPool3dIndicesFwdOp) { return MakePoolRecipe(kMaxIndices); }
TILEWRIGHT_RECIPE(AdaptiveAvgPool2dFwdOp) { return MakePoolRecipe(Adaptive(kAverage)); }
TILEWRIGHT_RECIPE(AdaptiveMaxPool2dFwdOp) { return MakePoolRecipe(Adaptive(kMax)); }
TILEWRIGHT_RECIPE(AdaptiveMaxPool2dIndicesFwdOp) { return MakePoolRecipe(Adaptive(kMaxIndices)); }

}  // namespace tilewright
