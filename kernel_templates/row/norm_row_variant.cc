// Norms of rows kept in registers, by one CTA or a cluster.
#include <algorithm>
#include <utility>

#include "kernel_templates/row/norm_recipe.h"
#include "kernel_templates/row/row_recipe.h"
#include "manifest/op_spec.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int64_t kMaxGrid = (int64_t{1} << 31) - 1;
constexpr int64_t kMaxThreads = 1024;
constexpr int64_t kMaxCluster = 16;
constexpr int64_t kSmallCta = 512;
// Registers that hold operands, a thread, in CTAs of up to kSmallCta threads and in larger ones.
constexpr int64_t kMostHeld = 64;
constexpr int64_t kMostHeldInLargeCtas = 24;
constexpr int64_t kFewRows = 32;    // leave most SMs idle unless they are split
constexpr int64_t kSomeRows = 264;  // one or two an SM

struct Geometry {
  int64_t threads = 0;
  int64_t rows = 0;  // a CTA
  int64_t cluster = 1;
  int64_t vector = 1;
  int64_t packets = 0;
  bool early = true;
  int64_t per_sm = 0;  // CTAs an SM that walk the rows; 0: a CTA takes its rows alone

  int64_t cta_threads() const { return threads * rows; }
  int64_t most_held() const {
    return cta_threads() <= kSmallCta ? kMostHeld : kMostHeldInLargeCtas;
  }
};

int64_t PacketsOf(const NormPlan& plan, const Geometry& g) {
  const int64_t per_packet = g.threads * g.cluster * plan.vector;
  return (LengthBucket(plan.length) + per_packet - 1) / per_packet;
}

Geometry GeometryOf(const NormPlan& plan, const Config& config) {
  Geometry g;
  g.threads = config.Get("threads");
  g.rows = config.Get("rows");
  g.cluster = config.Get("cluster");
  g.early = config.Get("early") != 0;
  g.per_sm = config.Get("per_sm");
  g.vector = plan.vector;
  g.packets = PacketsOf(plan, g);
  return g;
}

// Registers for the operands that are held at once.
int64_t HeldRegisters(const NormPlan& plan, const Geometry& g) {
  const NormProblem& problem = plan.problem;
  const int64_t elements = PacketsOf(plan, g) * plan.vector;
  const int64_t registers = elements * DTypeSize(plan.dtype) / 4;
  const bool all = g.early || problem.inputs.size() == 2;
  const int64_t inputs = all ? static_cast<int64_t>(problem.inputs.size()) : 1;
  const int64_t held = registers * inputs * (g.per_sm > 0 ? 2 : 1);
  if (!g.early) return held;
  const auto columns = static_cast<int64_t>(problem.columns.size());
  const bool by_element = problem.kind == NormColumnKind::kElement;
  return held + columns * (by_element ? elements * DTypeSize(plan.column) / 4 : PacketsOf(plan, g));
}

std::string_view KindName(NormColumnKind kind) {
  switch (kind) {
    case NormColumnKind::kElement:
      return "tilewright::NormColumns::kElement";
    case NormColumnKind::kChannel:
      return "tilewright::NormColumns::kChannel";
    case NormColumnKind::kNone:
      break;
  }
  return "tilewright::NormColumns::kNone";
}

class NormRowVariant : public Variant {
 public:
  explicit NormRowVariant(NormProblemFunction problem) : problem_(problem) {}
  std::string_view name() const override { return "resident"; }

  absl::Status Serves(const CallDesc& call, const DeviceProfile& device) const override {
    TW_RETURN_IF_ERROR(RequireSm80(call, device));
    const NormPlan plan = PlanNorm(call, problem_);
    if (plan.problem.op.empty()) return FailedPrecondition("the statistics are given");
    if (!plan.dense) return FailedPrecondition("rows are not dense in every operand");
    const int64_t longest = std::min(plan.problem.longest, Capacity(plan, device));
    if (LengthBucket(plan.length) > longest) {
      return FailedPrecondition("rows of ", plan.length, " elements, expected at most ", longest,
                                " on ", device.arch);
    }
    if (plan.rows > kMaxGrid / kMaxCluster) {
      return FailedPrecondition(plan.rows, " rows, expected at most ", kMaxGrid / kMaxCluster);
    }
    return absl::OkStatus();
  }

  TuningSpace Space(const CallDesc&, const DeviceProfile& device) const override {
    TuningSpace space{std::string(name()),
                      {{"threads", {8, 16, 32, 64, 128, 256, 512, 1024}},
                       {"rows", {1, 2, 4, 8, 16}},
                       {"cluster", {1}},
                       {"early", {0, 1}},
                       {"per_sm", {0, 1, 2, 3, 4, 8}}}};
    for (int64_t size = 2; size <= LargestRowCluster(device); size *= 2) {
      space.axes[2].values.push_back(size);
    }
    return space;
  }

  absl::Status Legal(const CallDesc& call, const Config& config,
                     const DeviceProfile& device) const override {
    const NormPlan plan = PlanNorm(call, problem_);
    const Geometry g = GeometryOf(plan, config);
    if (g.cta_threads() % 32 != 0 || g.cta_threads() > kMaxThreads) {
      return FailedPrecondition("threads * rows is ", g.cta_threads(),
                                ", expected a multiple of 32 up to ", kMaxThreads);
    }
    if (g.rows > 1 && g.cta_threads() > 256) {
      return FailedPrecondition("several rows make a CTA of ", g.cta_threads(),
                                " threads, expected at most 256");
    }
    if (g.cluster > LargestRowCluster(device)) {
      return FailedPrecondition("a cluster of ", g.cluster, ", expected at most ",
                                LargestRowCluster(device), " on ", device.name);
    }
    if (g.cluster > 1 && (g.rows > 1 || g.threads < 64)) {
      return FailedPrecondition("a cluster takes one row a CTA and at least 64 threads");
    }
    if (HeldRegisters(plan, g) > g.most_held()) {
      return FailedPrecondition("a thread holds ", HeldRegisters(plan, g),
                                " registers of operands, expected at most ", g.most_held());
    }
    if (g.per_sm > 0 && (g.cluster > 1 || plan.problem.kind == NormColumnKind::kChannel)) {
      return FailedPrecondition("walking rows takes no cluster and columns of the row's elements");
    }
    if (g.per_sm * g.cta_threads() > device.max_threads_per_sm) {
      return FailedPrecondition(g.per_sm, " CTAs of ", g.cta_threads(), " threads an SM");
    }
    const int64_t bucket = LengthBucket(plan.length);
    if ((g.threads > 32 || g.cluster > 1) && g.threads * g.cluster * g.vector > bucket) {
      return FailedPrecondition(g.threads * g.cluster, " threads of ", g.vector,
                                " elements for a row of up to ", bucket);
    }
    return absl::OkStatus();
  }

  double PredictUs(const CallDesc& call, const Config& config,
                   const DeviceProfile& device) const override {
    const NormPlan plan = PlanNorm(call, problem_);
    const Geometry g = GeometryOf(plan, config);
    const double row_bytes = static_cast<double>(plan.length) * DTypeSize(plan.dtype);
    const auto operands =
        static_cast<double>(plan.problem.inputs.size() + plan.problem.outputs.size());
    MemoryModel model;
    model.bytes = operands * static_cast<double>(plan.rows) * row_bytes;
    model.ctas = static_cast<double>((plan.rows + g.rows - 1) / g.rows * g.cluster);
    model.threads = static_cast<double>(g.cta_threads());
    const double loaded = g.early ? static_cast<double>(plan.problem.inputs.size()) : 1.0;
    model.bytes_per_thread = loaded * row_bytes / static_cast<double>(g.threads * g.cluster);
    if (g.threads > 32) model.fixed_us += 0.05 + 0.0002 * static_cast<double>(g.threads);
    if (g.cluster > 1) model.fixed_us += 0.25 + 0.01 * static_cast<double>(g.cluster);
    return PredictMemoryUs(model, device);
  }

  Config Default(const CallDesc& call, const DeviceProfile& device) const override;

  std::vector<KernelSpec> Kernels(const CallDesc& call, const Config& config) const override {
    const NormPlan plan = PlanNorm(call, problem_);
    const Geometry g = GeometryOf(plan, config);
    const auto flag = [](bool value) { return value ? "true" : "false"; };
    KernelSpec spec;
    spec.template_file = "row/norm_row.cuh";
    spec.entry = "tilewright::NormRowKernel";
    spec.constants = {
        {"using Op", Cat("tilewright::", plan.problem.op)},
        {"using Element", std::string(StorageTypeName(plan.dtype))},
        {"using Column", std::string(StorageTypeName(plan.column))},
        {"tilewright::NormColumns kColumnKind", std::string(KindName(plan.problem.kind))},
        {"int kThreads", Cat(g.threads)},
        {"int kRows", Cat(g.rows)},
        {"int kPackets", Cat(g.packets)},
        {"int kVector", Cat(g.vector)},
        {"int kCluster", Cat(g.cluster)},
        {"bool kRuns", flag(plan.several_runs)},
        {"bool kEarly", flag(g.early)},
        {"bool kPersistent", flag(g.per_sm > 0)}};
    return {spec};
  }

  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config& config,
                                 const DeviceProfile& device) const override {
    const NormPlan plan = PlanNorm(call, problem_);
    BoundCall bound;
    if (plan.rows == 0 || (plan.length == 0 && plan.problem.results.empty())) return bound;
    const Geometry g = GeometryOf(plan, config);
    Launch launch;
    launch.SetParams(NormParamsOf(call, plan, plan.vector));
    int64_t grid = (plan.rows + g.rows - 1) / g.rows * g.cluster;
    if (g.per_sm > 0) grid = std::min(grid, g.per_sm * std::max(device.sm_count, 1));
    launch.grid[0] = static_cast<uint32_t>(grid);
    launch.block[0] = static_cast<uint32_t>(g.cta_threads());
    launch.cluster[0] = static_cast<uint32_t>(g.cluster);
    AddNormPointers(plan, &launch);
    bound.launches.push_back(std::move(launch));
    return bound;
  }

 private:
  // The longest bucket that the device can keep.
  static int64_t Capacity(const NormPlan& plan, const DeviceProfile& device) {
    Geometry g;
    g.threads = kSmallCta;
    g.rows = 1;
    g.cluster = std::min<int64_t>(LargestRowCluster(device), 8);
    g.early = false;
    int64_t kept = 0;
    NormPlan probe = plan;
    for (probe.length = kSmallCta; probe.length <= (int64_t{1} << 30); probe.length *= 2) {
      if (HeldRegisters(probe, g) > kMostHeld) break;
      kept = probe.length;
    }
    return kept;
  }

  NormProblemFunction problem_;
};

// As for other resident rows: few rows want all SMs and short chains, many rows bytes in flight.
Config NormRowVariant::Default(const CallDesc& call, const DeviceProfile& device) const {
  const NormPlan plan = PlanNorm(call, problem_);
  const int64_t bucket = LengthBucket(plan.length);
  const int64_t rows = RowsBucket(plan.rows);
  const bool few = rows <= kFewRows;
  const bool some = rows <= kSomeRows;
  const bool narrow = DTypeSize(plan.dtype) < 4;
  const auto inputs = static_cast<int64_t>(plan.problem.inputs.size());
  const int64_t most_cluster = LargestRowCluster(device);
  Geometry g;
  g.rows = 1;
  const auto kept = [&] { return bucket / (g.threads * g.cluster); };
  // Elements a thread, a power of two. One input with columns along the row: as many as fit, in
  // small CTAs that load the columns late. Chosen by tuning on an H200.
  const bool slim = !some && inputs == 1 && plan.problem.kind == NormColumnKind::kElement;
  const int64_t many = (slim ? 64 : 32 / std::min<int64_t>(inputs, 2)) / (narrow ? 1 : 2);
  const int64_t wanted = std::max<int64_t>(some ? plan.vector : many, 8);
  g.threads = std::clamp<int64_t>(bucket / wanted, 8, some || !narrow ? kSmallCta : kSmallCta / 2);
  if (few) {
    while (kept() > 2 * wanted && g.cluster < most_cluster) g.cluster *= 2;
  }
  g.early = !slim;
  const auto too_many = [&] { return HeldRegisters(plan, g) > kMostHeld; };
  while (too_many() && g.threads < kSmallCta) g.threads *= 2;
  if (too_many()) g.early = false;
  while (too_many() && g.cluster < std::min<int64_t>(most_cluster, 8)) g.cluster *= 2;
  const int64_t block = some ? 32 : slim ? 64 : 256;
  if (g.cluster == 1) g.rows = std::max<int64_t>(1, block / g.threads);
  return {std::string(name()),
          {{"threads", g.threads},
           {"rows", g.rows},
           {"cluster", g.cluster},
           {"early", g.early ? 1 : 0},
           {"per_sm", 0}}};
}

}  // namespace

std::unique_ptr<Variant> MakeNormRowVariant(NormProblemFunction problem) {
  return std::make_unique<NormRowVariant>(problem);
}

}  // namespace tilewright
