#include "kernel_templates/rope/rope_recipe.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "kernel_templates/memory_bound.h"
#include "manifest/op_spec.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int kVectorBytes = 16;
constexpr int64_t kMostBlocks = (int64_t{1} << 31) - 1;
constexpr int kFewThreads = 128;  // an SM

// One tensor over (batch, position, head, column).
struct View {
  std::array<int64_t, 4> strides{};
  uint32_t alignment = 256;
};

struct Problem {
  DType dtype = DType::kFloat32;
  std::array<int64_t, 4> shape{1, 1, 1, 1};  // batch, position, head, column
  View input, output;
  int pairs = 0;
  int vector = 1;  // most columns a packet

  int64_t tokens() const { return shape[0] * shape[1]; }
  bool several_heads() const { return shape[2] > 1; }
};

// The axes of x by its rank: (position, column), (token, head, column), or all four.
std::array<int, 4> AxesOf(int rank) {
  if (rank == 2) return {-1, 0, -1, 1};
  if (rank == 3) return {-1, 0, 1, 2};
  return {0, 1, 2, 3};
}

View ViewOf(const Operand& operand) {
  View view;
  const std::array<int, 4> axes = AxesOf(operand.desc.rank());
  for (size_t d = 0; d < 4; ++d) {
    if (axes[d] >= 0) view.strides[d] = operand.desc.strides[axes[d]];
  }
  view.alignment = operand.alignment;
  return view;
}

int PairsOf(const RopeOperator& op, int vector) {
  return op.halves || vector == 1 ? vector : vector / 2;
}

// Whether packets of `vector` columns lie together and aligned in both tensors.
bool Fits(const RopeOperator& op, const Problem& problem, int vector) {
  const int pairs = PairsOf(op, vector);
  const int64_t copied = problem.shape[3] - 2 * problem.pairs;
  if (problem.pairs % pairs != 0 || copied % (2 * pairs) != 0) return false;
  for (const View& view : {problem.input, problem.output}) {
    if (view.strides[3] != 1) return false;
    if (view.alignment % static_cast<uint32_t>(vector * DTypeSize(problem.dtype)) != 0)
      return false;
    for (size_t d = 0; d < 3; ++d) {
      if (problem.shape[d] > 1 && view.strides[d] % vector != 0) return false;
    }
  }
  return true;
}

Problem ProblemOf(const RopeOperator& op, const CallDesc& call) {
  const TensorDesc& x = call.operands.front().desc;
  Problem problem;
  problem.dtype = x.dtype;
  const std::array<int, 4> axes = AxesOf(x.rank());
  for (size_t d = 0; d < 4; ++d) {
    if (axes[d] >= 0) problem.shape[d] = x.shape[axes[d]];
  }
  problem.input = ViewOf(call.operands.front());
  problem.output = ViewOf(call.operands.back());
  const ParamValue rotated =
      op.rotated < 0 ? ParamValue() : call.params[static_cast<size_t>(op.rotated)];
  problem.pairs = static_cast<int>(rotated.is_null() ? problem.shape[3] : rotated.as_int()) / 2;
  problem.vector = kVectorBytes / DTypeSize(problem.dtype);
  while (problem.vector > 1 && !Fits(op, problem, problem.vector)) problem.vector /= 2;
  return problem;
}

bool HasFactors(const RopeOperator& op, const CallDesc& call) {
  return op.factors >= 0 && call.operands[static_cast<size_t>(op.factors)].present;
}

// What one launch is made of.
struct Geometry {
  int threads = 256;
  int group = 64;
  int unroll = 1;
  int vector = 1;
  int pairs_per_item = 1;
  bool same_columns = false;
  bool table = false;

  int tokens() const { return threads / group; }
  int64_t head_items(const Problem& problem) const {
    return problem.shape[3] / (2 * pairs_per_item);
  }
  int64_t items(const Problem& problem) const { return problem.shape[2] * head_items(problem); }
};

// Items of one head where all rotate and their number is a power of two, else 0: then threads that
// are a multiple apart share their columns.
int64_t SharedColumns(const Problem& problem, int64_t head_items) {
  const bool power = head_items > 0 && (head_items & (head_items - 1)) == 0;
  return power && problem.shape[3] == 2 * problem.pairs ? head_items : 0;
}

Geometry PortableGeometry(const RopeOperator& op) {
  Geometry g;
  g.pairs_per_item = PairsOf(op, 1);
  return g;
}

Geometry VectorGeometry(const RopeOperator& op, const Problem& problem, const Config& config) {
  Geometry g;
  g.threads = static_cast<int>(config.Get("threads"));
  g.group = static_cast<int>(std::min(config.Get("group"), config.Get("threads")));
  g.unroll = static_cast<int>(config.Get("unroll"));
  g.table = config.Get("table") != 0;
  const int wanted = static_cast<int>(config.Get("vector_bytes")) / DTypeSize(problem.dtype);
  g.vector = std::min(problem.vector, wanted);
  g.pairs_per_item = PairsOf(op, g.vector);
  const int64_t columns = SharedColumns(problem, g.head_items(problem));
  g.same_columns = columns > 0 && g.group % columns == 0;
  return g;
}

std::vector<KernelSpec> KernelsOf(const RopeOperator& op, const CallDesc& call,
                                  const Problem& problem, const Geometry& g) {
  const auto flag = [](bool value) { return value ? "true" : "false"; };
  const std::string_view position =
      op.positions < 0
          ? "void"
          : StorageTypeName(call.operands[static_cast<size_t>(op.positions)].desc.dtype);
  KernelSpec spec;
  spec.template_file = "rope/rope.cuh";
  spec.entry = "tilewright::RopeKernel";
  spec.constants = {{"using Element", std::string(StorageTypeName(problem.dtype))},
                    {"using Position", std::string(position)},
                    {"bool kHalves", flag(op.halves)},
                    {"bool kFactors", flag(HasFactors(op, call))},
                    {"bool kTable", flag(g.table)},
                    {"int kThreads", Cat(g.threads)},
                    {"int kGroup", Cat(g.group)},
                    {"int kVector", Cat(g.vector)},
                    {"int kUnroll", Cat(g.unroll)},
                    {"bool kSameColumns", flag(g.same_columns)}};
  return {spec};
}

RopeParams ParamsOf(const RopeOperator& op, const CallDesc& call, const Problem& problem,
                    const Geometry& g) {
  RopeParams p{};
  p.tokens = problem.tokens();
  p.sequence = MakeFastDivmod<true>(static_cast<unsigned long long>(problem.shape[1]));
  for (size_t d = 0; d < 3; ++d) {
    p.input_stride[d] = problem.input.strides[d];
    p.output_stride[d] = problem.output.strides[d];
  }
  p.input_step = problem.input.strides[3];
  p.output_step = problem.output.strides[3];
  p.pairs = problem.pairs;
  p.items = static_cast<int>(g.items(problem));
  p.head_items = MakeFastDivmod<false>(static_cast<unsigned>(g.head_items(problem)));
  RopeTurns turns;
  op.turns(call, problem.pairs, &turns);
  for (size_t k = 0; k < static_cast<size_t>(problem.pairs); ++k) {
    const double step = turns.radians[k] / (2 * std::numbers::pi);
    const double fraction = step - std::floor(step);
    p.steps[k] = HasFactors(op, call) ? std::bit_cast<uint64_t>(step)
                                      : static_cast<uint64_t>(std::ldexp(fraction, 64));
  }
  p.amplitude = static_cast<float>(turns.amplitude);
  return p;
}

absl::StatusOr<BoundCall> BindGeometry(const RopeOperator& op, const CallDesc& call,
                                       const Problem& problem, const Geometry& g) {
  BoundCall bound;
  if (call.operands.back().desc.elements() == 0) return bound;
  const int64_t blocks = (problem.tokens() + g.tokens() - 1) / g.tokens();
  if (blocks > kMostBlocks || g.items(problem) > kMostBlocks) {
    return FailedPrecondition(problem.tokens(), " tokens of ", problem.shape[2],
                              " heads: expected at most ", kMostBlocks, " CTAs and items a token");
  }
  Launch launch;
  launch.grid[0] = static_cast<uint32_t>(blocks);
  launch.block[0] = static_cast<uint32_t>(g.threads);
  launch.dynamic_smem_bytes =
      g.table ? static_cast<uint32_t>(g.tokens() * (problem.pairs | 1) * 8) : 0;
  RopeParams p = ParamsOf(op, call, problem, g);
  launch.pointers = {
      {offsetof(RopeParams, x), 0, 0},
      {offsetof(RopeParams, output), static_cast<int8_t>(call.operands.size() - 1), 0}};
  if (op.positions >= 0) {
    p.position_stride = call.operands[static_cast<size_t>(op.positions)].desc.strides[0];
    launch.pointers.push_back(
        {offsetof(RopeParams, positions), static_cast<int8_t>(op.positions), 0});
  }
  if (HasFactors(op, call)) {
    p.factor_stride = call.operands[static_cast<size_t>(op.factors)].desc.strides[0];
    launch.pointers.push_back({offsetof(RopeParams, factors), static_cast<int8_t>(op.factors), 0});
  }
  launch.SetParams(p);
  bound.launches.push_back(std::move(launch));
  return bound;
}

double PredictOf(const Problem& problem, const Geometry& g, const DeviceProfile& device) {
  MemoryModel model;
  const double elements = static_cast<double>(problem.tokens()) *
                          static_cast<double>(problem.shape[2] * problem.shape[3]);
  model.bytes = 2 * elements * DTypeSize(problem.dtype);
  model.ctas = static_cast<double>(problem.tokens()) / g.tokens();
  model.threads = g.threads;
  model.bytes_per_thread = 2.0 * g.pairs_per_item * g.unroll * DTypeSize(problem.dtype);
  return PredictMemoryUs(model, device);
}

// Packets of up to 16 bytes.
class VectorVariant : public Variant {
 public:
  explicit VectorVariant(const RopeOperator& op) : op_(op) {}
  std::string_view name() const override { return "vector"; }

  absl::Status Serves(const CallDesc& call, const DeviceProfile& device) const override {
    TW_RETURN_IF_ERROR(RequireSm80(call, device));
    if (ProblemOf(op_, call).vector > 1) return absl::OkStatus();
    return FailedPrecondition("columns do not lie together and aligned");
  }
  TuningSpace Space(const CallDesc&, const DeviceProfile&) const override {
    return {std::string(name()),
            {{"threads", {128, 256}},
             {"group", {4, 8, 16, 32, 64, 128, 256}},
             {"unroll", {1, 2, 4}},
             {"vector_bytes", {16, 8}},
             {"table", {1, 0}}}};
  }
  absl::Status Legal(const CallDesc& call, const Config& config,
                     const DeviceProfile&) const override {
    if (config.Get("group") > config.Get("threads")) {
      return FailedPrecondition("a token's group has more threads than the CTA");
    }
    const Problem problem = ProblemOf(op_, call);
    const int64_t bytes = int64_t{problem.vector} * DTypeSize(problem.dtype);
    if (config.Get("vector_bytes") < kVectorBytes && bytes <= config.Get("vector_bytes")) {
      return FailedPrecondition("packets have at most ", bytes, " bytes");
    }
    const Geometry g = VectorGeometry(op_, problem, config);
    if (g.unroll > 1 && int64_t{g.group} * g.unroll / 2 >= g.items(problem)) {
      return FailedPrecondition("a token has ", g.items(problem), " items");
    }
    return absl::OkStatus();
  }
  double PredictUs(const CallDesc& call, const Config& config,
                   const DeviceProfile& device) const override {
    const Problem problem = ProblemOf(op_, call);
    return PredictOf(problem, VectorGeometry(op_, problem, config), device);
  }
  Config Default(const CallDesc& call, const DeviceProfile& device) const override {
    const Problem problem = ProblemOf(op_, call);
    // Of one head, a table has nobody to share it, and short packets give threads enough.
    const bool table = problem.several_heads();
    const int64_t bytes = int64_t{problem.vector} * DTypeSize(problem.dtype);
    Geometry g;
    g.pairs_per_item = PairsOf(op_, problem.vector);
    const int64_t threads = problem.tokens() * g.items(problem);
    const bool narrow = !table && bytes > 8 && threads < int64_t{kFewThreads} * device.sm_count;
    if (narrow) g.pairs_per_item = PairsOf(op_, problem.vector / 2);
    const int64_t items = PowerOfTwoBucket(g.items(problem), 1);
    const int64_t unroll = items >= 512 ? 4 : op_.positions >= 0 && items >= 256 ? 2 : 1;
    const int64_t group = std::clamp<int64_t>(items / unroll, table ? 8 : 4, 256);
    return {std::string(name()),
            {{"threads", std::max<int64_t>(group, 128)},
             {"group", group},
             {"unroll", unroll},
             {"vector_bytes", narrow ? 8 : kVectorBytes},
             {"table", table ? 1 : 0}}};
  }
  std::vector<KernelSpec> Kernels(const CallDesc& call, const Config& config) const override {
    const Problem problem = ProblemOf(op_, call);
    return KernelsOf(op_, call, problem, VectorGeometry(op_, problem, config));
  }
  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config& config,
                                 const DeviceProfile&) const override {
    const Problem problem = ProblemOf(op_, call);
    return BindGeometry(op_, call, problem, VectorGeometry(op_, problem, config));
  }

 private:
  RopeOperator op_;
};

// One pair at a time at any strides.
class PortableVariant : public Variant {
 public:
  explicit PortableVariant(const RopeOperator& op) : op_(op) {}
  std::string_view name() const override { return "portable"; }

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
    return 2 * PredictOf(ProblemOf(op_, call), PortableGeometry(op_), device);
  }
  Config Default(const CallDesc&, const DeviceProfile&) const override {
    return {std::string(name()), {{"threads", 256}}};
  }
  std::vector<KernelSpec> Kernels(const CallDesc& call, const Config&) const override {
    return KernelsOf(op_, call, ProblemOf(op_, call), PortableGeometry(op_));
  }
  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config&,
                                 const DeviceProfile&) const override {
    return BindGeometry(op_, call, ProblemOf(op_, call), PortableGeometry(op_));
  }

 private:
  RopeOperator op_;
};

class RopeRecipe : public Recipe {
 public:
  explicit RopeRecipe(const RopeOperator& op)
      : op_(op), vector_(op), portable_(op), variants_{&vector_, &portable_} {}

  std::span<const ProblemField> fields() const override {
    using Kind = ProblemField::Kind;
    static const std::array<ProblemField, 5> fields = {{{"tokens", Kind::kBucket},
                                                        {"items", Kind::kBucket},
                                                        {"vector", Kind::kClass},
                                                        {"columns", Kind::kClass},
                                                        {"several_heads", Kind::kClass}}};
    return fields;
  }
  ProblemFields Describe(const CallDesc& call) const override {
    const Problem problem = ProblemOf(op_, call);
    Geometry g;
    g.pairs_per_item = PairsOf(op_, problem.vector);
    return {PowerOfTwoBucket(problem.tokens(), 1), PowerOfTwoBucket(g.items(problem), 1),
            problem.vector, SharedColumns(problem, g.head_items(problem)), problem.several_heads()};
  }
  std::span<const Variant* const> variants() const override { return variants_; }

 private:
  RopeOperator op_;
  VectorVariant vector_;
  PortableVariant portable_;
  std::array<const Variant*, 2> variants_;
};

}  // namespace

std::unique_ptr<Recipe> MakeRopeRecipe(const RopeOperator& op) {
  return std::make_unique<RopeRecipe>(op);
}

}  // namespace tilewright
