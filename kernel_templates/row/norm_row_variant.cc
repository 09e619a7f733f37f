// Norms of rows kept in registers, by one CTA or a cluster.
#include <algorithm>
#include <utility>

#include "kernel_templates/row/norm_recipe.h"
#include "kernel_templates/row/row_geometry.h"
#include "kernel_templates/row/row_recipe.h"
#include "manifest/op_spec.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int64_t kMostRows = 16;  // a CTA
constexpr int64_t kSmallCta = 512;
// Registers that hold operands, a thread, in CTAs of up to kSmallCta threads and in larger ones.
constexpr int64_t kMostHeld = 64;
constexpr int64_t kMostHeldInLargeCtas = 24;
constexpr int64_t kLongRowBytes = 32 * 1024;
constexpr int64_t kBriefRowBytes = 8 * 1024;
constexpr int64_t kFewRows = 32;    // leave most SMs idle unless they are split
constexpr int64_t kSomeRows = 264;  // one or two an SM

struct Geometry : RowGeometry {
  bool early = true;
  bool whole = false;  // counts are known ahead

  int64_t most_held() const {
    return cta_threads() <= kSmallCta ? kMostHeld : kMostHeldInLargeCtas;
  }
};

Geometry GeometryOf(const NormPlan& plan, const Config& config) {
  return {RowGeometryOf(config, LengthBucket(plan.length), plan.vector), config.Get("early") != 0,
          config.Get("whole", 0) != 0};
}

// Registers for the operands that are held at once.
int64_t HeldRegisters(const NormPlan& plan, const Geometry& g) {
  const NormProblem& problem = plan.problem;
  const int64_t per_packet = g.threads * g.cluster * plan.vector;
  const int64_t packets = (LengthBucket(plan.length) + per_packet - 1) / per_packet;
  const int64_t elements = packets * plan.vector;
  const int64_t registers = elements * DTypeSize(plan.dtype) / 4;
  const bool all = g.early || problem.inputs.size() == 2 || g.stages > 0;
  const int64_t held = registers * (all ? static_cast<int64_t>(problem.inputs.size()) : 1);
  if (!g.early) return held;
  const auto columns = static_cast<int64_t>(problem.columns.size());
  const bool by_element = problem.kind == NormColumnKind::kElement;
  return held + columns * (by_element ? elements * DTypeSize(plan.column) / 4 : packets);
}

RingContents ContentsOf(const NormPlan& plan, const Geometry& g) {
  return {plan.vector * DTypeSize(plan.dtype), static_cast<int64_t>(plan.problem.inputs.size()),
          HeldRegisters(plan, g),
          !plan.several_runs && plan.problem.kind != NormColumnKind::kChannel};
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
    if (plan.rows > kMostGrid / kMostRowCluster) {
      return FailedPrecondition(plan.rows, " rows, expected at most ", kMostGrid / kMostRowCluster);
    }
    return absl::OkStatus();
  }

  TuningSpace Space(const CallDesc&, const DeviceProfile& device) const override {
    TuningSpace space{std::string(name()), RowAxes(device, kMostRows)};
    space.axes.push_back({"early", {0, 1}});
    space.axes.push_back({"whole", {0, 1}});
    for (TuningAxis& axis : RingAxes()) space.axes.push_back(std::move(axis));
    return space;
  }

  absl::Status Legal(const CallDesc& call, const Config& config,
                     const DeviceProfile& device) const override {
    const NormPlan plan = PlanNorm(call, problem_);
    const Geometry g = GeometryOf(plan, config);
    TW_RETURN_IF_ERROR(RowThreadsAreLegal(g, LengthBucket(plan.length) / plan.vector, device));
    if (HeldRegisters(plan, g) > g.most_held()) {
      return FailedPrecondition("a thread holds ", HeldRegisters(plan, g),
                                " registers of operands, expected at most ", g.most_held());
    }
    if (g.whole && !IsWhole(plan, g)) {
      return FailedPrecondition("rows of ", plan.length,
                                " elements, expected a power of two that fills every packet of a "
                                "norm of one input by its moments");
    }
    if (plan.problem.given && g.cluster > 1) {
      return FailedPrecondition("a cluster has nothing to exchange where statistics are given");
    }
    return RingIsLegal(g, ContentsOf(plan, g), device);
  }

  double PredictUs(const CallDesc& call, const Config& config,
                   const DeviceProfile& device) const override {
    const NormPlan plan = PlanNorm(call, problem_);
    const Geometry g = GeometryOf(plan, config);
    const double row_bytes = static_cast<double>(plan.length) * DTypeSize(plan.dtype);
    const auto operands =
        static_cast<double>(plan.problem.inputs.size() + plan.problem.outputs.size());
    MemoryModel model = ModelOf(g, ContentsOf(plan, g), plan.rows, device);
    model.bytes = operands * static_cast<double>(plan.rows) * row_bytes;
    const double loaded = g.early ? static_cast<double>(plan.problem.inputs.size()) : 1.0;
    model.bytes_per_thread = loaded * row_bytes / static_cast<double>(g.threads * g.cluster);
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
        {"using Op", g.whole ? Cat("tilewright::WholeRows<tilewright::", plan.problem.op, ">")
                             : Cat("tilewright::", plan.problem.op)},
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
        {"int kStages", Cat(g.stages)},
        {"int kPerSm", Cat(g.per_sm)}};
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
    SetRowGrid(g, ContentsOf(plan, g), plan.rows, device, &launch);
    AddNormPointers(plan, &launch);
    bound.launches.push_back(std::move(launch));
    return bound;
  }

 private:
  Config ConfigOf(const Geometry& g) const {
    Config config{std::string(name()),
                  {{"threads", g.threads},
                   {"rows", g.rows},
                   {"cluster", g.cluster},
                   {"early", g.early ? 1 : 0}}};
    if (g.whole) config.values.emplace_back("whole", 1);
    config.values.emplace_back("stages", g.stages);
    config.values.emplace_back("per_sm", g.per_sm);
    return config;
  }
  static bool IsWhole(const NormPlan& plan, const Geometry& g) {
    return plan.whole && plan.length == g.threads * g.packets * g.vector * g.cluster;
  }
  // Many long rows of one input whose columns follow the elements: arithmetic would keep loads
  // waiting, so that these go ahead. Chosen by tuning on an H200. False: no ring fits.
  static bool TakeRing(const NormPlan& plan, int64_t bucket, const DeviceProfile& device,
                       Geometry* g) {
    Geometry ring;
    ring.vector = plan.vector;
    const int64_t row_bytes = bucket * DTypeSize(plan.dtype);
    ring.whole = plan.whole && DTypeSize(plan.dtype) == 2;
    if (row_bytes == kLongRowBytes) {
      // Known counts leave registers for two CTAs, whose columns come late.
      ring.threads = kSmallCta;
      ring.early = !ring.whole;
      ring.stages = ring.whole ? 3 : 4;
      ring.per_sm = ring.whole ? 2 : 1;
    } else if (row_bytes == kLongRowBytes / 2) {
      ring.threads = 128;
      ring.early = false;
      ring.stages = 2;
      ring.per_sm = 4;
    } else if (ring.whole && row_bytes == kLongRowBytes / 4) {
      ring.threads = 128;
      ring.early = false;
      ring.stages = 3;
      ring.per_sm = 4;
    } else {
      return false;
    }
    ring.packets = bucket / (ring.threads * ring.vector);
    if (HeldRegisters(plan, ring) > ring.most_held()) return false;
    if (!RingIsLegal(ring, ContentsOf(plan, ring), device).ok()) return false;
    *g = ring;
    return true;
  }
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
  // small CTAs that load the columns late, unless rows are brief. Chosen by tuning on an H200.
  const bool slim = !some && inputs == 1 && plan.problem.kind == NormColumnKind::kElement;
  const bool brief = slim && bucket * DTypeSize(plan.dtype) <= kBriefRowBytes;
  const int64_t many = (slim && !brief ? 64 : 32 / std::min<int64_t>(inputs, 2)) / (narrow ? 1 : 2);
  // Of groups of channels, whose values each packet loads for itself, four packets a thread.
  const bool grouped = plan.several_runs && !few && plan.problem.results.empty() &&
                       plan.problem.kind == NormColumnKind::kChannel && !plan.problem.given;
  const int64_t wanted = std::max<int64_t>(some ? plan.vector * (grouped ? 4 : 1) : many, 8);
  g.threads = std::clamp<int64_t>(bucket / wanted, 8, some || !narrow ? kSmallCta : kSmallCta / 2);
  if (few) {
    while (kept() > 2 * wanted && g.cluster < most_cluster) g.cluster *= 2;
  }
  if (slim && TakeRing(plan, bucket, device, &g)) return ConfigOf(g);
  g.early = (!slim || brief) && !plan.problem.given;
  const auto too_many = [&] { return HeldRegisters(plan, g) > kMostHeld; };
  while (too_many() && g.threads < kSmallCta) g.threads *= 2;
  if (too_many()) g.early = false;
  while (too_many() && g.cluster < std::min<int64_t>(most_cluster, 8)) g.cluster *= 2;
  const int64_t block = some || plan.problem.given ? 32 : brief ? 128 : slim ? 64 : 256;
  if (g.cluster == 1) g.rows = std::max<int64_t>(1, block / g.threads);
  return ConfigOf(g);
}

}  // namespace

std::unique_ptr<Variant> MakeNormRowVariant(NormProblemFunction problem) {
  return std::make_unique<NormRowVariant>(problem);
}

}  // namespace tilewright
