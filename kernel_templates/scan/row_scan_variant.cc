// Scans of rows: contiguous ones, kept by a CTA or a cluster or streamed, and those of any layout.
#include <algorithm>
#include <utility>

#include "kernel_templates/scan/params.cuh"
#include "kernel_templates/scan/scan_recipe.h"
#include "manifest/op_spec.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int64_t kMaxGrid = (int64_t{1} << 31) - 1;
constexpr int64_t kWarpSize = 32;
constexpr int64_t kMaxWarps = 32;
constexpr int64_t kMaxChunks = 1024;
// CTAs that fill an SM, for cutting rows.
constexpr int64_t kBlocksPerSm = 4;
// A row class of at most this many rows leaves SMs idle unless long rows are cut.
constexpr int64_t kFewRows = 264;

struct Geometry {
  int64_t warps = 1;  // a row
  int64_t rows = 1;   // a CTA
  int64_t packets = 1;
  int64_t vector = 1;
  int64_t cluster = 1;
  bool loop = false;
  bool split = false;
  bool strided = false;
  bool row_dims = false;

  int64_t threads() const { return warps * rows * kWarpSize; }
  int64_t cta_tile() const { return kWarpSize * warps * packets * vector; }
  int64_t tile() const { return cta_tile() * cluster; }
};

Geometry GeometryOf(const RowPlan& plan, const Config& config) {
  Geometry g;
  g.warps = config.Get("warps");
  g.rows = config.Get("rows");
  g.packets = config.Get("packets");
  g.cluster = config.Get("cluster");
  g.vector = plan.vector;
  g.loop = LengthBucket(plan.length) > g.tile();
  g.split = config.Get("split") != 0;
  g.row_dims = plan.outer.size() > 1;
  return g;
}

int64_t LargestCluster(const DeviceProfile& device) {
  return device.compute_capability() >= 90 ? 8 : 1;
}

std::vector<KernelSpec> KernelsOf(const ScanOperator& op, const RowPlan& plan, const Geometry& g) {
  const auto flag = [](bool value) { return value ? "true" : "false"; };
  KernelSpec spec;
  spec.template_file = "scan/row_scan.cuh";
  spec.entry = "tilewright::RowScanKernel";
  spec.constants = {{"using Op", Cat("tilewright::", op.op)},
                    {"using Element", std::string(StorageTypeName(plan.dtype))},
                    {"int kWarps", Cat(g.warps)},
                    {"int kRows", Cat(g.rows)},
                    {"int kPackets", Cat(g.packets)},
                    {"int kVector", Cat(g.vector)},
                    {"int kCluster", Cat(g.cluster)},
                    {"bool kLoop", flag(g.loop)},
                    {"bool kRowDims", flag(g.row_dims)},
                    {"bool kStrided", flag(g.strided)}};
  std::vector<KernelSpec> kernels = {spec};
  if (g.split) {
    spec.entry = "tilewright::RowTotalKernel";
    kernels.push_back(spec);
  }
  return kernels;
}

RowScanParams ParamsOf(const RowPlan& plan, const ScanChunks& cut) {
  const int64_t size = DTypeSize(plan.dtype);
  RowScanParams p{};
  p.rows = plan.rows;
  p.length = plan.length;
  p.chunk = cut.chunk;
  p.chunks = static_cast<unsigned>(cut.chunks);
  p.row_rank = static_cast<int>(plan.outer.size());
  p.input_step = p.output_step = size;
  if (!plan.inner.empty()) {
    p.input_step = plan.inner[0].strides[0] * size;
    p.output_step = plan.inner[0].strides[1] * size;
  }
  for (size_t d = 0; d < plan.outer.size(); ++d) {
    p.input_stride[d] = plan.outer[d].strides[0] * size;
    p.output_stride[d] = plan.outer[d].strides[1] * size;
    if (d + 1 < plan.outer.size()) {
      p.extent[d] = MakeFastDivmod<true>(static_cast<unsigned long long>(plan.outer[d].extent));
    }
  }
  return p;
}

absl::StatusOr<BoundCall> BindGeometry(const ScanOperator& op, const RowPlan& plan,
                                       const Geometry& g, const DeviceProfile& device) {
  BoundCall bound;
  if (plan.rows == 0 || plan.length == 0) return bound;
  const int64_t groups = (plan.rows + g.rows - 1) / g.rows;
  const int64_t wanted = g.split ? kBlocksPerSm * std::max(device.sm_count, 1) / groups : 1;
  const ScanChunks cut = CutScan(plan.length, g.tile(), wanted, kMaxChunks);
  const auto launch = [&](int kernel, int64_t chunks) {
    Launch result;
    result.kernel = kernel;
    result.SetParams(ParamsOf(plan, cut));
    result.grid[0] = static_cast<uint32_t>(groups * chunks * g.cluster);
    result.block[0] = static_cast<uint32_t>(g.threads());
    result.cluster[0] = static_cast<uint32_t>(g.cluster);
    result.pointers.push_back({offsetof(RowScanParams, input), 0, 0});
    result.pointers.push_back({offsetof(RowScanParams, output), 1, 0});
    if (cut.chunks > 1) {
      result.pointers.push_back({offsetof(RowScanParams, totals), kWorkspaceOperand, 0});
    }
    bound.launches.push_back(std::move(result));
  };
  if (cut.chunks > 1) {
    bound.workspace_bytes = plan.rows * (cut.chunks - 1) * op.value_bytes;
    launch(1, cut.chunks - 1);
  }
  launch(0, cut.chunks);
  return bound;
}

double PredictRowsUs(const RowPlan& plan, const Geometry& g, const DeviceProfile& device) {
  const double size = DTypeSize(plan.dtype);
  MemoryModel model;
  model.bytes = 2.0 * static_cast<double>(plan.rows) * static_cast<double>(plan.length) * size;
  model.ctas = static_cast<double>((plan.rows + g.rows - 1) / g.rows * g.cluster);
  if (g.split) {
    model.bytes *= 1.5;
    model.ctas = std::max(model.ctas, static_cast<double>(kBlocksPerSm * device.sm_count));
    model.fixed_us += 2;
  }
  model.threads = static_cast<double>(g.threads());
  model.bytes_per_thread = static_cast<double>(g.packets * g.vector) * size;
  if (g.warps > 1) model.fixed_us += 0.1;
  if (g.cluster > 1) model.fixed_us += 0.5 + 0.01 * static_cast<double>(g.cluster);
  return PredictMemoryUs(model, device);
}

class RowScanVariant : public Variant {
 public:
  explicit RowScanVariant(const ScanOperator& op) : op_(op) {}
  std::string_view name() const override { return "rows"; }

  absl::Status Serves(const CallDesc& call, const DeviceProfile& device) const override {
    TW_RETURN_IF_ERROR(RequireSm80(call, device));
    const RowPlan plan = PlanScan(call);
    if (!plan.contiguous) return FailedPrecondition("the axis is not contiguous in both operands");
    if (plan.rows > kMaxGrid / LargestCluster(device)) {
      return FailedPrecondition(plan.rows, " rows, expected at most ",
                                kMaxGrid / LargestCluster(device));
    }
    return absl::OkStatus();
  }
  TuningSpace Space(const CallDesc&, const DeviceProfile& device) const override {
    TuningSpace space{std::string(name()),
                      {{"warps", {1, 2, 4, 8, 16, 32}},
                       {"rows", {1, 2, 4, 8}},
                       {"packets", {1, 2, 4, 8}},
                       {"cluster", {1}},
                       {"split", {0, 1}}}};
    for (int64_t size = 2; size <= LargestCluster(device); size *= 2) {
      space.axes[3].values.push_back(size);
    }
    return space;
  }
  absl::Status Legal(const CallDesc& call, const Config& config,
                     const DeviceProfile& device) const override;
  double PredictUs(const CallDesc& call, const Config& config,
                   const DeviceProfile& device) const override {
    const RowPlan plan = PlanScan(call);
    return PredictRowsUs(plan, GeometryOf(plan, config), device);
  }
  Config Default(const CallDesc& call, const DeviceProfile& device) const override;
  std::vector<KernelSpec> Kernels(const CallDesc& call, const Config& config) const override {
    const RowPlan plan = PlanScan(call);
    return KernelsOf(op_, plan, GeometryOf(plan, config));
  }
  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config& config,
                                 const DeviceProfile& device) const override {
    const RowPlan plan = PlanScan(call);
    return BindGeometry(op_, plan, GeometryOf(plan, config), device);
  }

 private:
  ScanOperator op_;
};

absl::Status RowScanVariant::Legal(const CallDesc& call, const Config& config,
                                   const DeviceProfile& device) const {
  const RowPlan plan = PlanScan(call);
  const Geometry g = GeometryOf(plan, config);
  const int64_t bucket = LengthBucket(plan.length);
  if (g.warps * g.rows > kMaxWarps) {
    return FailedPrecondition(g.warps * g.rows, " warps, expected at most ", kMaxWarps);
  }
  if (g.rows > 1 && g.threads() > 256) {
    return FailedPrecondition("several rows make a CTA of ", g.threads(),
                              " threads, expected at most 256");
  }
  const int64_t most = g.threads() > 512 ? std::min<int64_t>(op_.most_kept, 16) : op_.most_kept;
  if (g.packets * g.vector > most) {
    return FailedPrecondition("a thread keeps ", g.packets * g.vector,
                              " elements, expected at most ", most);
  }
  if (g.cluster > LargestCluster(device)) {
    return FailedPrecondition("a cluster of ", g.cluster, ", expected at most ",
                              LargestCluster(device), " on ", device.name);
  }
  if (g.cluster > 1 && (g.rows > 1 || g.loop || g.warps < 2)) {
    return FailedPrecondition("a cluster takes one row of one tile and at least 2 warps a CTA");
  }
  if (g.tile() > bucket && (g.warps > 1 || g.packets > 1)) {
    return FailedPrecondition("a tile of ", g.tile(), " elements for rows of up to ", bucket);
  }
  if (g.split && (!g.loop || g.rows > 1 || ScanLinesBucket(plan) > kFewRows)) {
    return FailedPrecondition("only few rows of many tiles are cut");
  }
  return absl::OkStatus();
}

// About 16 elements a thread; rows beyond 512 threads are shared by a cluster, longer ones streamed
// or, where they are few, cut.
Config RowScanVariant::Default(const CallDesc& call, const DeviceProfile& device) const {
  const RowPlan plan = PlanScan(call);
  const int64_t bucket = LengthBucket(plan.length);
  const bool few = ScanLinesBucket(plan) <= kFewRows;
  Geometry g;
  g.vector = plan.vector;
  g.packets = std::max<int64_t>(1, std::min<int64_t>(8, 16 / g.vector));
  while (g.packets > 1 && g.tile() > bucket) g.packets /= 2;
  const int64_t most_warps = few ? 8 : 16;
  while (g.warps < most_warps && g.tile() < bucket) g.warps *= 2;
  while (g.tile() < bucket && g.cluster < LargestCluster(device)) g.cluster *= 2;
  while (g.tile() < bucket && g.warps < 16) g.warps *= 2;
  if (g.tile() < bucket) {
    g.cluster = 1;
    g.split = few;
  }
  g.rows = std::max<int64_t>(1, 4 / g.warps);
  if (g.split || g.cluster > 1) g.rows = 1;
  return {std::string(name()),
          {{"warps", g.warps},
           {"rows", g.rows},
           {"packets", g.packets},
           {"cluster", g.cluster},
           {"split", g.split ? 1 : 0}}};
}

// One warp a line of any layout, element by element: one kernel a dtype.
class StridedScanVariant : public Variant {
 public:
  explicit StridedScanVariant(const ScanOperator& op) : op_(op) {}
  std::string_view name() const override { return "portable"; }

  absl::Status Serves(const CallDesc& call, const DeviceProfile& device) const override {
    TW_RETURN_IF_ERROR(RequireSm80(call, device));
    const int64_t rows = PlanScan(call).rows;
    if (rows > 4 * kMaxGrid) {
      return FailedPrecondition(rows, " lines, expected at most ", 4 * kMaxGrid);
    }
    return absl::OkStatus();
  }
  TuningSpace Space(const CallDesc&, const DeviceProfile&) const override {
    return {std::string(name()), {{"rows", {4}}}};
  }
  absl::Status Legal(const CallDesc&, const Config&, const DeviceProfile&) const override {
    return absl::OkStatus();
  }
  double PredictUs(const CallDesc& call, const Config&,
                   const DeviceProfile& device) const override {
    return 4 * PredictRowsUs(PlanScan(call), AnyGeometry(), device);
  }
  Config Default(const CallDesc&, const DeviceProfile&) const override {
    return {std::string(name()), {{"rows", 4}}};
  }
  std::vector<KernelSpec> Kernels(const CallDesc& call, const Config&) const override {
    return KernelsOf(op_, PlanScan(call), AnyGeometry());
  }
  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config&,
                                 const DeviceProfile& device) const override {
    return BindGeometry(op_, PlanScan(call), AnyGeometry(), device);
  }

 private:
  static Geometry AnyGeometry() {
    Geometry g;
    g.rows = 4;
    g.packets = 8;
    g.loop = g.strided = g.row_dims = true;
    return g;
  }
  ScanOperator op_;
};

}  // namespace

std::unique_ptr<Variant> MakeRowScanVariant(const ScanOperator& op) {
  return std::make_unique<RowScanVariant>(op);
}

std::unique_ptr<Variant> MakeStridedScanVariant(const ScanOperator& op) {
  return std::make_unique<StridedScanVariant>(op);
}

}  // namespace tilewright
