// Rows kept in registers, by one CTA or a cluster.
#include <algorithm>
#include <utility>

#include "kernel_templates/row/row_recipe.h"
#include "manifest/op_spec.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int64_t kMaxGrid = (int64_t{1} << 31) - 1;
constexpr int64_t kMaxThreads = 1024;
constexpr int64_t kMaxCluster = 16;
// Row elements a thread may keep as float32, at up to 64 and up to 128 registers a thread.
constexpr int64_t kMostKept = 32;
constexpr int64_t kMostKeptInSmallCtas = 64;
constexpr int64_t kSmallCta = 512;
// A row class of at most this many rows leaves most SMs idle unless rows are split.
constexpr int64_t kFewRows = 32;

// What a config makes of a length bucket.
struct Geometry {
  int64_t threads = 0;
  int64_t rows = 0;  // a CTA
  int64_t cluster = 1;
  int64_t vector = 1;
  int64_t packets = 0;

  int64_t cta_threads() const { return threads * rows; }
  int64_t most_kept() const {
    return cta_threads() <= kSmallCta ? kMostKeptInSmallCtas : kMostKept;
  }
};

Geometry GeometryOf(const RowPlan& plan, const Config& config) {
  Geometry g;
  g.threads = config.Get("threads");
  g.rows = config.Get("rows");
  g.cluster = config.Get("cluster");
  g.vector = plan.vector;
  const int64_t per_packet = g.threads * g.cluster * g.vector;
  g.packets = (LengthBucket(plan.length) + per_packet - 1) / per_packet;
  return g;
}

// The longest bucket that the device can keep.
int64_t Capacity(const DeviceProfile& device) {
  const int64_t cta = kMaxThreads * kMostKept;
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
                       {"early_columns", {1}},
                       {"streaming", {0, 1}}}};
    for (int64_t size = 2; size <= LargestRowCluster(device); size *= 2) {
      space.axes[2].values.push_back(size);
    }
    if (op_.column_template.empty()) space.axes[3].values = {0, 1};
    return space;
  }

  absl::Status Legal(const CallDesc& call, const Config& config,
                     const DeviceProfile& device) const override {
    const RowPlan plan = PlanRows(call, op_.problem(call));
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
    if (g.packets * g.vector > g.most_kept()) {
      return FailedPrecondition("a thread keeps ", g.packets * g.vector,
                                " elements, expected at most ", g.most_kept());
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
    const RowPlan plan = PlanRows(call, op_.problem(call));
    const Geometry g = GeometryOf(plan, config);
    const double size = DTypeSize(plan.dtype);
    MemoryModel model;
    model.bytes = 2.0 * static_cast<double>(plan.rows) * static_cast<double>(plan.length) * size;
    model.ctas = static_cast<double>((plan.rows + g.rows - 1) / g.rows * g.cluster);
    model.threads = static_cast<double>(g.cta_threads());
    model.bytes_per_thread =
        static_cast<double>(plan.length) * size / static_cast<double>(g.threads * g.cluster);
    // A barrier and a second level of shuffles; a cluster barrier.
    if (g.threads > 32) model.fixed_us += 0.05 + 0.0002 * static_cast<double>(g.threads);
    if (g.cluster > 1) model.fixed_us += 0.25 + 0.01 * static_cast<double>(g.cluster);
    return PredictMemoryUs(model, device);
  }

  Config Default(const CallDesc& call, const DeviceProfile& device) const override;

  std::vector<KernelSpec> Kernels(const CallDesc& call, const Config& config) const override {
    const RowPlan plan = PlanRows(call, op_.problem(call));
    const Geometry g = GeometryOf(plan, config);
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
                      {"bool kStreaming", flag(config.Get("streaming") != 0)}};
    return {spec};
  }

  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config& config,
                                 const DeviceProfile&) const override {
    const RowProblem problem = op_.problem(call);
    const RowPlan plan = PlanRows(call, problem);
    BoundCall bound;
    if (plan.rows == 0 || plan.length == 0) return bound;
    const Geometry g = GeometryOf(plan, config);
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
    launch.grid[0] = static_cast<uint32_t>((plan.rows + g.rows - 1) / g.rows * g.cluster);
    launch.block[0] = static_cast<uint32_t>(g.cta_threads());
    launch.cluster[0] = static_cast<uint32_t>(g.cluster);
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
  Geometry g;
  const auto kept = [&] { return bucket / (g.threads * g.cluster); };
  if (few) {
    g.threads = std::clamp<int64_t>(bucket / std::max<int64_t>(plan.vector, 8), 8, kSmallCta);
    if (kept() > 16) {
      while (kept() > 8 && g.cluster < most_cluster) g.cluster *= 2;
      while (kept() > 8 && !narrow && g.threads < kMaxThreads) g.threads *= 2;
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
  while (kept() > kMostKept && g.threads >= kSmallCta && g.threads < kMaxThreads) g.threads *= 2;
  g.rows = std::max<int64_t>(1, (few ? 32 : 256) / g.threads);
  return {std::string(name()),
          {{"threads", g.threads},
           {"rows", g.rows},
           {"cluster", g.cluster},
           {"early_columns", 1},
           {"streaming", 0}}};
}

}  // namespace

std::unique_ptr<Variant> MakeResidentRowVariant(const RowOperator& op) {
  return std::make_unique<ResidentRowVariant>(op);
}

}  // namespace tilewright
