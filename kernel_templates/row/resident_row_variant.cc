// Rows kept in registers, by one CTA or a cluster.
#include <algorithm>
#include <utility>

#include "kernel_templates/row/row_geometry.h"
#include "kernel_templates/row/row_recipe.h"
#include "manifest/op_spec.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

// Row elements a thread may keep as float32, at up to 64 and up to 128 registers a thread.
constexpr int64_t kMostKept = 32;
constexpr int64_t kMostKeptInSmallCtas = 64;
constexpr int64_t kSmallCta = 512;
constexpr int64_t kMostRows = 16;  // a CTA
// A row class of at most this many rows leaves most SMs idle unless rows are split.
constexpr int64_t kFewRows = 32;
constexpr int64_t kBriefRow = 4096;  // elements

RowGeometry GeometryOf(const RowPlan& plan, const Config& config) {
  return RowGeometryOf(config, LengthBucket(plan.length), plan.vector);
}
int64_t MostKept(const RowGeometry& g) {
  return g.cta_threads() <= kSmallCta ? kMostKeptInSmallCtas : kMostKept;
}
RingContents ContentsOf(const RowPlan& plan, const RowGeometry& g) {
  return {plan.vector * DTypeSize(plan.dtype), 1, g.packets * g.vector, true};
}

// The longest bucket that the device can keep.
int64_t Capacity(const DeviceProfile& device) {
  const int64_t cta = kMostRowThreads * kMostKept;
  return LargestRowCluster(device) > 1 ? cta * 8 : cta;
}

class ResidentRowVariant : public Variant {
 public:
  explicit ResidentRowVariant(const RowOperator& op) : op_(op) {}
  std::string_view name() const override { return "resident"; }

  absl::Status Serves(const CallDesc& call, const DeviceProfile& device) const override {
    TW_RETURN_IF_ERROR(RequireSm80(call, device));
    const RowPlan plan = PlanRows(call, op_.problem(call));
    if (!plan.contiguous) return FailedPrecondition("the row is not contiguous in every operand");
    if (LengthBucket(plan.length) > Capacity(device)) {
      return FailedPrecondition("rows of ", plan.length, " elements, expected at most ",
                                Capacity(device), " on ", device.arch);
    }
    if (plan.rows > kMostGrid / kMostRowCluster) {
      return FailedPrecondition(plan.rows, " rows, expected at most ", kMostGrid / kMostRowCluster);
    }
    return absl::OkStatus();
  }

  TuningSpace Space(const CallDesc&, const DeviceProfile& device) const override {
    TuningSpace space{std::string(name()), RowAxes(device, kMostRows)};
    space.axes.push_back({"early_columns", {1}});
    if (op_.column_template.empty()) space.axes.back().values = {0, 1};
    space.axes.push_back({"streaming", {0, 1}});
    for (TuningAxis& axis : RingAxes()) space.axes.push_back(std::move(axis));
    return space;
  }

  absl::Status Legal(const CallDesc& call, const Config& config,
                     const DeviceProfile& device) const override {
    const RowPlan plan = PlanRows(call, op_.problem(call));
    const RowGeometry g = GeometryOf(plan, config);
    TW_RETURN_IF_ERROR(RowThreadsAreLegal(g, LengthBucket(plan.length) / plan.vector, device));
    if (g.packets * g.vector > MostKept(g)) {
      return FailedPrecondition("a thread keeps ", g.packets * g.vector,
                                " elements, expected at most ", MostKept(g));
    }
    return RingIsLegal(g, ContentsOf(plan, g), device);
  }

  double PredictUs(const CallDesc& call, const Config& config,
                   const DeviceProfile& device) const override {
    const RowPlan plan = PlanRows(call, op_.problem(call));
    const RowGeometry g = GeometryOf(plan, config);
    const double size = DTypeSize(plan.dtype);
    MemoryModel model = ModelOf(g, ContentsOf(plan, g), plan.rows, device);
    model.bytes = 2.0 * static_cast<double>(plan.rows) * static_cast<double>(plan.length) * size;
    model.bytes_per_thread =
        static_cast<double>(plan.length) * size / static_cast<double>(g.threads * g.cluster);
    return PredictMemoryUs(model, device);
  }

  Config Default(const CallDesc& call, const DeviceProfile& device) const override;

  std::vector<KernelSpec> Kernels(const CallDesc& call, const Config& config) const override {
    const RowPlan plan = PlanRows(call, op_.problem(call));
    const RowGeometry g = GeometryOf(plan, config);
    const auto flag = [](bool value) { return value ? "true" : "false"; };
    KernelSpec spec;
    spec.template_file = "row/resident_row.cuh";
    spec.entry = "tilewright::ResidentRowKernel";
    spec.constants = {{"using Op", Cat("tilewright::", op_.op)},
                      {"using Element", std::string(StorageTypeName(plan.dtype))},
                      {"int kThreads", Cat(g.threads)},
                      {"int kRows", Cat(g.rows)},
                      {"int kPackets", Cat(g.packets)},
                      {"int kVector", Cat(g.vector)},
                      {"int kCluster", Cat(g.cluster)},
                      {"bool kRowDims", flag(plan.outer.size() > 1)},
                      {"bool kEarlyColumns", flag(config.Get("early_columns") != 0)},
                      {"bool kStreaming", flag(config.Get("streaming") != 0)},
                      {"int kStages", Cat(g.stages)},
                      {"int kPerSm", Cat(g.per_sm)}};
    return {spec};
  }

  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config& config,
                                 const DeviceProfile& device) const override {
    const RowProblem problem = op_.problem(call);
    const RowPlan plan = PlanRows(call, problem);
    BoundCall bound;
    if (plan.rows == 0 || plan.length == 0) return bound;
    const RowGeometry g = GeometryOf(plan, config);
    const int64_t size = DTypeSize(plan.dtype);
    RowParams p{};
    p.rows = plan.rows;
    p.length = static_cast<unsigned>(plan.length);
    p.row_rank = static_cast<int>(plan.outer.size());
    std::copy(problem.scalars.begin(), problem.scalars.end(), p.scalars);
    for (size_t d = 0; d < plan.outer.size(); ++d) {
      p.input_stride[d] = plan.outer[d].strides[0] * size;
      p.output_stride[d] = plan.outer[d].strides[1] * size;
      if (d + 1 < plan.outer.size()) {
        p.extent[d] = MakeFastDivmod<true>(static_cast<unsigned long long>(plan.outer[d].extent));
      }
    }
    Launch launch;
    launch.SetParams(p);
    SetRowGrid(g, ContentsOf(plan, g), plan.rows, device, &launch);
    launch.pointers.push_back({offsetof(RowParams, input), static_cast<int8_t>(problem.input), 0});
    launch.pointers.push_back(
        {offsetof(RowParams, output), static_cast<int8_t>(problem.output), 0});
    for (size_t c = 0; c < problem.columns.size(); ++c) {
      launch.pointers.push_back(
          {static_cast<uint16_t>(offsetof(RowParams, columns) + c * sizeof(void*)),
           static_cast<int8_t>(problem.columns[c]), 0});
    }
    bound.launches.push_back(std::move(launch));
    return bound;
  }

 private:
  RowOperator op_;
};

// Few rows want all SMs and short chains: about 8 elements a thread. Many rows want bytes in flight
// with some CTAs loading while others store: 64 bytes a thread, float32 fewer. Within 3% of the
// best seen on an H200 over the workloads, except rows of 32768 (10%: keeping 64 elements is
// better, but takes half as long again to compile).
Config ResidentRowVariant::Default(const CallDesc& call, const DeviceProfile& device) const {
  const RowPlan plan = PlanRows(call, op_.problem(call));
  const int64_t bucket = LengthBucket(plan.length);
  const bool few = RowsBucket(plan.rows) <= kFewRows;
  const bool narrow = DTypeSize(plan.dtype) < 4;
  const int64_t most_cluster = LargestRowCluster(device);
  RowGeometry g;
  const auto kept = [&] { return bucket / (g.threads * g.cluster); };
  if (few) {
    g.threads = std::clamp<int64_t>(bucket / std::max<int64_t>(plan.vector, 8), 8, kSmallCta);
    if (kept() > 16) {
      while (kept() > 8 && g.cluster < most_cluster) g.cluster *= 2;
      while (kept() > 8 && !narrow && g.threads < kMostRowThreads) g.threads *= 2;
    }
  } else {
    const int64_t wanted = narrow ? 32 : 8;
    g.threads = std::clamp<int64_t>(bucket / wanted, 8, narrow ? kSmallCta / 2 : kSmallCta);
    while (g.threads < kSmallCta && kept() > kMostKept && bucket <= 2 * kMostKept * kSmallCta / 2) {
      g.threads *= 2;
    }
    while (kept() > kMostKept && g.cluster < std::min<int64_t>(most_cluster, 8)) g.cluster *= 2;
  }
  while (kept() > kMostKeptInSmallCtas && g.threads < kSmallCta) g.threads *= 2;
  while (kept() > kMostKept && g.threads >= kSmallCta && g.threads < kMostRowThreads)
    g.threads *= 2;
  g.rows = std::max<int64_t>(1, (few ? 32 : 256) / g.threads);
  // Brief rows with columns: these come late and the rows leave the cache first.
  const bool brief =
      !few && narrow && op_.column_template.empty() && plan.vector > 1 && bucket <= kBriefRow;
  return {std::string(name()),
          {{"threads", g.threads},
           {"rows", g.rows},
           {"cluster", g.cluster},
           {"early_columns", brief ? 0 : 1},
           {"streaming", brief ? 1 : 0},
           {"stages", 0},
           {"per_sm", 1}}};
}

}  // namespace

std::unique_ptr<Variant> MakeResidentRowVariant(const RowOperator& op) {
  return std::make_unique<ResidentRowVariant>(op);
}

}  // namespace tilewright
