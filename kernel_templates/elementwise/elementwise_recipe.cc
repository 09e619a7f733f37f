#include "kernel_templates/elementwise/elementwise_recipe.h"

#include <algorithm>
#include <utility>

#include "manifest/op_spec.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int64_t kMaxGrid = (int64_t{1} << 31) - 1;
constexpr int kPortableThreads = 256;

// What one launch is made of, from a plan and a config.
struct Geometry {
  int threads = kPortableThreads;
  int unroll = 1;
  int vector = 1;
  int scalar_mask = 0;
  int rank = kMaxRank;
  bool wide = true;
  int blocks_per_sm = 0;  // 0: one tile a CTA
  bool streaming = false;

  int64_t tile() const { return int64_t{threads} * unroll * vector; }
};

Geometry VectorGeometry(const ElementwisePlan& plan, const Config& config) {
  Geometry g;
  g.threads = static_cast<int>(config.Get("threads"));
  g.unroll = static_cast<int>(config.Get("unroll"));
  const int wanted = static_cast<int>(config.Get("vector_bytes")) / plan.element_bytes;
  g.vector = std::max(1, std::min(plan.vector, wanted));
  g.scalar_mask = g.vector > 1 ? plan.scalar_mask : 0;
  g.rank = plan.rank;
  g.wide = plan.wide;
  g.blocks_per_sm = static_cast<int>(config.Get("blocks_per_sm"));
  g.streaming = config.Get("streaming") != 0;
  return g;
}

std::vector<KernelSpec> KernelsOf(const ElementwiseOperator& op, const CallDesc& call,
                                  const ElementwiseProblem& problem, const Geometry& g) {
  const auto flag = [](bool value) { return value ? "true" : "false"; };
  KernelSpec spec;
  spec.template_file = op.file;
  spec.entry = "tilewright::ElementwiseKernel";
  const DType dtype = problem.views[static_cast<size_t>(op.typed_by)].dtype;
  spec.constants = {
      {"using Functor", Cat("tilewright::", op.FunctorOf(call), "<", StorageTypeName(dtype), ">")},
      {"int kThreads", Cat(g.threads)},
      {"int kUnroll", Cat(g.unroll)},
      {"int kVector", Cat(g.vector)},
      {"int kScalarMask", Cat(g.scalar_mask)},
      {"int kRank", Cat(g.rank)},
      {"bool kWide", flag(g.wide)},
      {"bool kPersistent", flag(g.blocks_per_sm > 0)},
      {"bool kStreaming", flag(g.streaming)}};
  return {spec};
}

template <int kInputs, int kRank, bool kWide>
void FillParams(const ElementwiseProblem& problem, const ElementwisePlan& plan, const Geometry& g,
                Launch* launch) {
  using Params = ElementwiseParams<kInputs, kRank, kWide>;
  Params p{};
  const auto extent = [&](int d) {
    const int64_t n = d < static_cast<int>(plan.dims.size()) ? plan.dims[d].extent : 1;
    return d == 0 ? n / g.vector : n;
  };
  p.count = static_cast<typename Params::Index>(plan.elements / g.vector);
  p.tail = static_cast<unsigned>(plan.elements % g.vector);
  for (int d = 0; d + 1 < kRank; ++d) {
    p.extent[d] = MakeFastDivmod<kWide>(static_cast<unsigned long long>(extent(d)));
  }
  for (int d = 0; d < std::min(kRank, static_cast<int>(plan.dims.size())); ++d) {
    const int64_t step = d == 0 ? g.vector : 1;
    const auto stride = [&](size_t v) {
      return plan.dims[d].strides[v] * step * problem.views[v].unit();
    };
    p.output_stride[d] = stride(0);
    for (size_t i = 0; i < kInputs; ++i) p.input_stride[i][d] = stride(i + 1);
  }
  for (size_t i = 0; i < kElementwiseScalars; ++i) p.scalars[i] = problem.scalars[i];
  for (size_t i = 0; i < kInputs; ++i) {
    const ElementwiseView& view = problem.views[i + 1];
    if (view.is_coordinate()) p.inputs[i] = reinterpret_cast<const void*>(view.byte_offset);
  }
  launch->SetParams(p);
  for (size_t v = 0; v <= kInputs; ++v) {
    if (problem.views[v].is_coordinate()) continue;
    const size_t offset =
        v == 0 ? offsetof(Params, output) : offsetof(Params, inputs) + (v - 1) * sizeof(void*);
    launch->pointers.push_back({static_cast<uint16_t>(offset),
                                static_cast<int8_t>(problem.views[v].operand),
                                problem.views[v].byte_offset});
  }
}

template <int kInputs, int kRank>
void FillWide(const ElementwiseProblem& problem, const ElementwisePlan& plan, const Geometry& g,
              Launch* launch) {
  if (g.wide) {
    FillParams<kInputs, kRank, true>(problem, plan, g, launch);
  } else {
    FillParams<kInputs, kRank, false>(problem, plan, g, launch);
  }
}

template <int kInputs>
void FillRank(const ElementwiseProblem& problem, const ElementwisePlan& plan, const Geometry& g,
              Launch* launch) {
  switch (g.rank) {
    case 1:
      return FillWide<kInputs, 1>(problem, plan, g, launch);
    case 2:
      return FillWide<kInputs, 2>(problem, plan, g, launch);
    case 3:
      return FillWide<kInputs, 3>(problem, plan, g, launch);
    default:
      return FillWide<kInputs, kMaxRank>(problem, plan, g, launch);
  }
}

absl::StatusOr<BoundCall> BindGeometry(const CallDesc& call, const ElementwiseProblem& problem,
                                       const ElementwisePlan& plan, const Geometry& g,
                                       const DeviceProfile& device) {
  BoundCall bound;
  if (plan.elements == 0) return bound;
  int64_t grid =
      std::max<int64_t>(1, (plan.elements / g.vector * g.vector + g.tile() - 1) / g.tile());
  if (g.blocks_per_sm > 0) {
    grid = std::min(grid, int64_t{g.blocks_per_sm} * std::max(device.sm_count, 1));
  }
  if (grid > kMaxGrid) {
    return FailedPrecondition(call.op == nullptr ? "the operator" : call.op->name, ": output of ",
                              plan.elements, " elements needs ", grid, " CTAs, expected at most ",
                              kMaxGrid);
  }
  Launch launch;
  launch.grid[0] = static_cast<uint32_t>(grid);
  launch.block[0] = static_cast<uint32_t>(g.threads);
  switch (problem.views.size()) {
    case 2:
      FillRank<1>(problem, plan, g, &launch);
      break;
    case 3:
      FillRank<2>(problem, plan, g, &launch);
      break;
    case 4:
      FillRank<3>(problem, plan, g, &launch);
      break;
    case 5:
      FillRank<4>(problem, plan, g, &launch);
      break;
    default:
      return Internal("elementwise operators take 1 to 4 inputs, got ", problem.views.size() - 1);
  }
  bound.launches.push_back(std::move(launch));
  return bound;
}

// Bytes that the problem moves: each operand's distinct elements once.
double BytesOf(const ElementwiseProblem& problem) {
  double bytes = 0;
  for (const ElementwiseView& view : problem.views) {
    if (view.is_coordinate()) continue;
    double elements = 1;
    for (int axis = 0; axis < problem.shape.rank(); ++axis) {
      if (view.strides[axis] != 0) elements *= static_cast<double>(problem.shape[axis]);
    }
    bytes += elements * DTypeSize(view.dtype);
  }
  return bytes;
}

// The untuned choice.
struct Usual {
  int64_t threads = 128;
  int64_t unroll = 1;
  int64_t vector_bytes = 16;
  int64_t blocks_per_sm = 0;
  int64_t streaming = 0;
};

// Within 2% of the best seen on an H200 over the workloads, small and large.
Usual UsualOf(const ElementwiseOperator& op, const ElementwiseProblem& problem,
              const ElementwisePlan& plan, const DeviceProfile& device) {
  constexpr double kManyBytes = 128e6;
  constexpr double kCachedBytes = 64e6;  // what is written may still be in the L2 at the end
  constexpr int64_t kVectorBytes = 16;
  Usual usual;
  const double bytes = BytesOf(problem);
  const int64_t vector = std::min<int64_t>(plan.vector, kVectorBytes / plan.element_bytes);
  const bool narrows = DTypeSize(problem.views[0].dtype) < plan.element_bytes;
  const bool reads = std::any_of(problem.views.begin() + 1, problem.views.end(),
                                 [](const ElementwiseView& v) { return !v.is_coordinate(); });
  if (!reads) {
    // Nothing to wait for: few CTAs that stay.
    constexpr int kThreads = 512, kBlocks = 4;
    const bool fit = device.max_threads_per_sm >= kThreads * kBlocks;
    return {.threads = kThreads, .unroll = 2, .blocks_per_sm = fit ? kBlocks : 0};
  }
  if (bytes > kManyBytes) usual.threads = 256;
  usual.streaming = bytes < kCachedBytes || narrows ? 1 : 0;
  // Narrow vectors need more of them in flight; so do the many elements of single bytes.
  if (vector * plan.element_bytes < 8 || plan.element_bytes == 1) usual.unroll = 4;
  const int64_t most_bytes = int64_t{plan.vector} * plan.element_bytes;
  if (plan.elements / vector < int64_t{std::max(device.sm_count, 1)} * usual.threads) {
    usual.unroll = 1;
    if (most_bytes > 8) usual.vector_bytes = 8;  // spreads the work over more of the SMs
  } else if (most_bytes >= 32 && (narrows || (op.long_vectors && plan.element_bytes <= 2) ||
                                  (op.long_broadcasts && plan.rank > 1))) {
    usual.vector_bytes = 32;
  }
  return usual;
}

// Collapsed dims and vectors of up to 64 bytes.
class VectorVariant : public Variant {
 public:
  explicit VectorVariant(const ElementwiseOperator& op) : op_(op) {}
  std::string_view name() const override { return "vector"; }

  absl::Status Serves(const CallDesc& call, const DeviceProfile& device) const override {
    return RequireSm80(call, device);
  }
  TuningSpace Space(const CallDesc&, const DeviceProfile&) const override {
    return {std::string(name()),
            {{"threads", {128, 256, 512}},
             {"unroll", {1, 2, 4}},
             {"vector_bytes", {16, 8, 32, 64}},
             {"blocks_per_sm", {0, 4, 8}},
             {"streaming", {0, 1}}}};
  }
  absl::Status Legal(const CallDesc& call, const Config& config,
                     const DeviceProfile& device) const override {
    const int64_t threads = config.Get("threads");
    const int64_t resident = config.Get("blocks_per_sm") * threads;
    if (resident > device.max_threads_per_sm) {
      return FailedPrecondition("blocks_per_sm * threads is ", resident, ", the SM holds ",
                                device.max_threads_per_sm);
    }
    const ElementwiseProblem problem = op_.problem(call);
    const ElementwisePlan plan = PlanElementwise(problem);
    const int64_t bytes = int64_t{plan.vector} * plan.element_bytes;
    const int64_t wanted = config.Get("vector_bytes");
    const bool same = wanted < 16 ? bytes <= wanted : wanted > 16 && bytes < wanted;
    if (same) return FailedPrecondition("vectors have at most ", bytes, " bytes");
    return absl::OkStatus();
  }
  double PredictUs(const CallDesc& call, const Config& config,
                   const DeviceProfile& device) const override {
    const ElementwiseProblem problem = op_.problem(call);
    const Geometry g = VectorGeometry(PlanElementwise(problem), config);
    MemoryModel model;
    model.bytes = BytesOf(problem);
    model.ctas =
        static_cast<double>(problem.shape.Product().value_or(0)) / static_cast<double>(g.tile());
    model.threads = g.threads;
    model.bytes_per_thread = 0;
    for (size_t v = 1; v < problem.views.size(); ++v) {
      const bool read = !problem.views[v].is_coordinate() && (g.scalar_mask >> (v - 1) & 1) == 0;
      if (!read) continue;
      model.bytes_per_thread += g.unroll * g.vector * DTypeSize(problem.views[v].dtype);
    }
    model.bytes_per_thread = std::max(model.bytes_per_thread, 4.0);
    return PredictMemoryUs(model, device);
  }
  Config Default(const CallDesc& call, const DeviceProfile& device) const override {
    const ElementwiseProblem problem = op_.problem(call);
    const Usual usual = UsualOf(op_, problem, PlanElementwise(problem), device);
    return {std::string(name()),
            {{"threads", usual.threads},
             {"unroll", usual.unroll},
             {"vector_bytes", usual.vector_bytes},
             {"blocks_per_sm", usual.blocks_per_sm},
             {"streaming", usual.streaming}}};
  }
  std::vector<KernelSpec> Kernels(const CallDesc& call, const Config& config) const override {
    const ElementwiseProblem problem = op_.problem(call);
    return KernelsOf(op_, call, problem, VectorGeometry(PlanElementwise(problem), config));
  }
  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config& config,
                                 const DeviceProfile& device) const override {
    const ElementwiseProblem problem = op_.problem(call);
    const ElementwisePlan plan = PlanElementwise(problem);
    return BindGeometry(call, problem, plan, VectorGeometry(plan, config), device);
  }

 private:
  ElementwiseOperator op_;
};

// One element a thread, any strides, 64-bit indices: one kernel a dtype.
class PortableVariant : public Variant {
 public:
  explicit PortableVariant(const ElementwiseOperator& op) : op_(op) {}
  std::string_view name() const override { return "portable"; }

  absl::Status Serves(const CallDesc& call, const DeviceProfile& device) const override {
    return RequireSm80(call, device);
  }
  TuningSpace Space(const CallDesc&, const DeviceProfile&) const override {
    return {std::string(name()), {{"threads", {kPortableThreads}}}};
  }
  absl::Status Legal(const CallDesc&, const Config&, const DeviceProfile&) const override {
    return absl::OkStatus();
  }
  double PredictUs(const CallDesc& call, const Config&,
                   const DeviceProfile& device) const override {
    const ElementwiseProblem problem = op_.problem(call);
    MemoryModel model;
    model.bytes = BytesOf(problem);
    model.ctas = static_cast<double>(problem.shape.Product().value_or(0)) / kPortableThreads;
    model.threads = kPortableThreads;
    model.bytes_per_thread = 4;
    return PredictMemoryUs(model, device) * 2;
  }
  Config Default(const CallDesc&, const DeviceProfile&) const override {
    return {std::string(name()), {{"threads", kPortableThreads}}};
  }
  std::vector<KernelSpec> Kernels(const CallDesc& call, const Config&) const override {
    return KernelsOf(op_, call, op_.problem(call), Geometry());
  }
  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config&,
                                 const DeviceProfile& device) const override {
    const ElementwiseProblem problem = op_.problem(call);
    return BindGeometry(call, problem, PlanElementwise(problem), Geometry(), device);
  }

 private:
  ElementwiseOperator op_;
};

class ElementwiseRecipe : public Recipe {
 public:
  explicit ElementwiseRecipe(const ElementwiseOperator& op)
      : op_(op), vector_(op), portable_(op), variants_{&vector_, &portable_} {}

  std::span<const ProblemField> fields() const override {
    using Kind = ProblemField::Kind;
    static const std::array<ProblemField, 6> fields = {{{"elements", Kind::kBucket},
                                                        {"rank", Kind::kClass},
                                                        {"vector", Kind::kClass},
                                                        {"scalar_mask", Kind::kClass},
                                                        {"wide", Kind::kClass},
                                                        {"form", Kind::kClass}}};
    return std::span(fields).first(op_.form == nullptr ? 5 : 6);
  }
  ProblemFields Describe(const CallDesc& call) const override {
    const ElementwisePlan plan = PlanElementwise(op_.problem(call));
    ProblemFields values = {PowerOfTwoBucket(plan.elements, 1), plan.rank, plan.vector,
                            plan.scalar_mask, plan.wide};
    if (op_.form != nullptr) values.push_back(op_.form(call));
    return values;
  }
  std::span<const Variant* const> variants() const override { return variants_; }

 private:
  ElementwiseOperator op_;
  VectorVariant vector_;
  PortableVariant portable_;
  std::array<const Variant*, 2> variants_;
};

}  // namespace

std::unique_ptr<Recipe> MakeElementwiseRecipe(const ElementwiseOperator& op) {
  return std::make_unique<ElementwiseRecipe>(op);
}

}  // namespace tilewright
