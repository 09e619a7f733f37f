// FP8QuantFwdOp: rows along the last axis, a scale each.
#include <algorithm>
#include <array>

#include "kernel_templates/memory_bound.h"
#include "kernel_templates/quantization/params.cuh"
#include "kernel_templates/recipe.h"
#include "manifest/op_spec.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int kVectorBytes = 16;
constexpr int kMostChunks = 8;
constexpr int kMostLanes = 32;
constexpr int64_t kMostBlocks = (int64_t{1} << 31) - 1;

// Operands: input, scale, output.
struct Problem {
  const TensorDesc& input;
  const TensorDesc& scale;
  const TensorDesc& output;
  LayoutDims rows;  // strides of input, scale, output; innermost first
  int64_t row_count = 0;
  int64_t width = 0;
  int vector = 1;      // most elements a vector
  bool dense = false;  // the rows are one axis, the elements of each lie together
};

bool Fits(const Problem& problem, const CallDesc& call, int vector) {
  const auto input_bytes = static_cast<uint32_t>(vector * DTypeSize(problem.input.dtype));
  if (problem.width % vector != 0) return false;
  if (call.operands[0].alignment % input_bytes != 0) return false;
  if (call.operands[2].alignment % static_cast<uint32_t>(vector) != 0) return false;
  return std::all_of(problem.rows.begin(), problem.rows.end(), [&](const LayoutDim& dim) {
    return dim.strides[0] % vector == 0 && dim.strides[2] % vector == 0;
  });
}

Problem ProblemOf(const CallDesc& call) {
  Problem problem{call.operands[0].desc, call.operands[1].desc, call.operands[2].desc, {}};
  LayoutDims rows;
  for (int axis = 2; axis >= 0; --axis) {
    LayoutDim dim;
    dim.extent = problem.input.shape[axis];
    dim.strides = {problem.input.strides[axis], problem.scale.strides[axis],
                   problem.output.strides[axis]};
    rows.push_back(dim);
  }
  problem.rows = Collapse(rows);
  problem.row_count = problem.scale.elements();
  problem.width = problem.input.shape[3];
  const bool together =
      problem.width == 1 || (problem.input.strides[3] == 1 && problem.output.strides[3] == 1);
  problem.dense = problem.rows.size() <= 1 && together;
  if (!problem.dense) return problem;
  problem.vector = kVectorBytes / DTypeSize(problem.input.dtype);
  while (problem.vector > 1 && !Fits(problem, call, problem.vector)) problem.vector /= 2;
  return problem;
}

int LanesFor(int64_t vectors) {
  return static_cast<int>(std::min<int64_t>(kMostLanes, PowerOfTwoBucket(vectors, 1)));
}

// What one launch is made of.
struct Geometry {
  int threads = 256;
  int lanes = kMostLanes;
  int vector = 1;
  int chunks = 0;
  bool strided = true;
};

Geometry RowGeometry(const Problem& problem, const Config& config) {
  Geometry g;
  g.threads = static_cast<int>(config.Get("threads"));
  g.vector = problem.vector;
  const int64_t vectors = problem.width / g.vector;
  g.lanes = static_cast<int>(std::max<int64_t>(1, LanesFor(vectors) / config.Get("fold")));
  const int64_t chunks = (vectors + g.lanes - 1) / g.lanes;
  g.chunks = chunks <= kMostChunks ? static_cast<int>(PowerOfTwoBucket(chunks, 1)) : 0;
  g.strided = false;
  return g;
}

std::vector<KernelSpec> KernelsOf(const Problem& problem, const Geometry& g) {
  KernelSpec spec;
  spec.template_file = "quantization/fp8_quant.cuh";
  spec.entry = "tilewright::Fp8QuantKernel";
  spec.constants = {{"using Element", std::string(StorageTypeName(problem.input.dtype))},
                    {"int kThreads", Cat(g.threads)},
                    {"int kLanes", Cat(g.lanes)},
                    {"int kVector", Cat(g.vector)},
                    {"int kChunks", Cat(g.chunks)},
                    {"bool kStrided", g.strided ? "true" : "false"}};
  return {spec};
}

absl::StatusOr<BoundCall> BindGeometry(const Problem& problem, const Geometry& g) {
  BoundCall bound;
  if (problem.row_count == 0) return bound;
  const int64_t rows_per_block = g.threads / g.lanes;
  const int64_t blocks = (problem.row_count + rows_per_block - 1) / rows_per_block;
  if (blocks > kMostBlocks) {
    return FailedPrecondition(problem.row_count, " rows need ", blocks, " CTAs, expected at most ",
                              kMostBlocks);
  }
  Fp8QuantParams p{};
  p.rows = problem.row_count;
  p.vectors = problem.width / g.vector;
  p.input_step = problem.input.strides[3];
  p.output_step = problem.output.strides[3];
  for (size_t d = 0; d < 3; ++d) {
    const bool there = d < problem.rows.size();
    if (d < 2) {
      p.extent[d] =
          MakeFastDivmod<true>(static_cast<unsigned long long>(there ? problem.rows[d].extent : 1));
    }
    if (!there) continue;
    p.input_stride[d] = problem.rows[d].strides[0];
    p.scale_stride[d] = problem.rows[d].strides[1];
    p.output_stride[d] = problem.rows[d].strides[2];
  }
  Launch launch;
  launch.grid[0] = static_cast<uint32_t>(blocks);
  launch.block[0] = static_cast<uint32_t>(g.threads);
  launch.SetParams(p);
  launch.pointers = {{offsetof(Fp8QuantParams, input), 0, 0},
                     {offsetof(Fp8QuantParams, scale), 1, 0},
                     {offsetof(Fp8QuantParams, output), 2, 0}};
  bound.launches.push_back(std::move(launch));
  return bound;
}

double PredictOf(const Problem& problem, const Geometry& g, const DeviceProfile& device) {
  const auto elements = static_cast<double>(problem.row_count) * static_cast<double>(problem.width);
  MemoryModel model;
  model.bytes = elements * (DTypeSize(problem.input.dtype) + 1) + 4.0 * problem.row_count;
  model.ctas = static_cast<double>(problem.row_count) * g.lanes / g.threads;
  model.threads = g.threads;
  model.bytes_per_thread =
      std::max(1, g.chunks) * g.vector * static_cast<double>(DTypeSize(problem.input.dtype));
  return PredictMemoryUs(model, device) * (g.chunks == 0 ? 2 : 1);
}

// Dense rows, a few lanes each, kept in registers where they are short.
class RowsVariant : public Variant {
 public:
  std::string_view name() const override { return "rows"; }
  absl::Status Serves(const CallDesc& call, const DeviceProfile& device) const override {
    TW_RETURN_IF_ERROR(RequireSm80(call, device));
    if (ProblemOf(call).dense) return absl::OkStatus();
    return FailedPrecondition("rows are not evenly apart, or their elements are");
  }
  TuningSpace Space(const CallDesc&, const DeviceProfile&) const override {
    return {std::string(name()), {{"threads", {64, 128, 256}}, {"fold", {1, 2, 4}}}};
  }
  absl::Status Legal(const CallDesc& call, const Config& config,
                     const DeviceProfile&) const override {
    const Problem problem = ProblemOf(call);
    const int lanes = LanesFor(problem.width / problem.vector);
    if (config.Get("fold") <= lanes) return absl::OkStatus();
    return FailedPrecondition("a row has ", lanes, " lanes");
  }
  double PredictUs(const CallDesc& call, const Config& config,
                   const DeviceProfile& device) const override {
    const Problem problem = ProblemOf(call);
    return PredictOf(problem, RowGeometry(problem, config), device);
  }
  Config Default(const CallDesc&, const DeviceProfile&) const override {
    return {std::string(name()), {{"threads", 128}, {"fold", 1}}};
  }
  std::vector<KernelSpec> Kernels(const CallDesc& call, const Config& config) const override {
    const Problem problem = ProblemOf(call);
    return KernelsOf(problem, RowGeometry(problem, config));
  }
  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config& config,
                                 const DeviceProfile&) const override {
    const Problem problem = ProblemOf(call);
    return BindGeometry(problem, RowGeometry(problem, config));
  }
};

// One element at a time at any strides, each read twice.
class StridedVariant : public Variant {
 public:
  std::string_view name() const override { return "strided"; }
  absl::Status Serves(const CallDesc& call, const DeviceProfile& device) const override {
    return RequireSm80(call, device);
  }
  TuningSpace Space(const CallDesc&, const DeviceProfile&) const override {
    return {std::string(name()), {{"threads", {256}}}};
  }
  absl::Status Legal(const CallDesc&, const Config&, const DeviceProfile&) const override {
    return absl::OkStatus();
  }
  double PredictUs(const CallDesc& call, const Config&,
                   const DeviceProfile& device) const override {
    return PredictOf(ProblemOf(call), Geometry(), device);
  }
  Config Default(const CallDesc&, const DeviceProfile&) const override {
    return {std::string(name()), {{"threads", 256}}};
  }
  std::vector<KernelSpec> Kernels(const CallDesc& call, const Config&) const override {
    return KernelsOf(ProblemOf(call), Geometry());
  }
  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config&,
                                 const DeviceProfile&) const override {
    return BindGeometry(ProblemOf(call), Geometry());
  }
};

class Fp8QuantRecipe : public Recipe {
 public:
  std::span<const ProblemField> fields() const override {
    using Kind = ProblemField::Kind;
    static const std::array<ProblemField, 4> fields = {{{"rows", Kind::kBucket},
                                                        {"width", Kind::kBucket},
                                                        {"vector", Kind::kClass},
                                                        {"dense", Kind::kClass}}};
    return fields;
  }
  ProblemFields Describe(const CallDesc& call) const override {
    const Problem problem = ProblemOf(call);
    // The vectors of a row, not its elements, decide how many lanes share it.
    return {PowerOfTwoBucket(problem.row_count, 1),
            PowerOfTwoBucket(problem.width / problem.vector, 1) * problem.vector, problem.vector,
            problem.dense};
  }
  std::span<const Variant* const> variants() const override { return variants_; }

 private:
  RowsVariant rows_;
  StridedVariant strided_;
  std::array<const Variant*, 2> variants_ = {&rows_, &strided_};
};

}  // namespace

TILEWRIGHT_RECIPE(FP8QuantFwdOp) { return std::make_unique<Fp8QuantRecipe>(); }

}  // namespace tilewright
