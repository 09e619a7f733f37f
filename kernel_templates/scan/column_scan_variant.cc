// Scans along a strided axis beside a dense one.
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
constexpr int64_t kMaxChunks = 128;
constexpr int64_t kBlocksPerSm = 4;
constexpr int64_t kStorageBytes = 48 * 1024;

struct Geometry {
  int64_t warps = 1;
  int64_t packets = 1;
  int64_t vector = 1;
  bool split = false;

  int64_t tile() const { return warps * packets; }  // rows
  int64_t width() const { return kWarpSize * vector; }
};

Geometry GeometryOf(const Config& config) {
  return {config.Get("warps"), config.Get("packets"), config.Get("vector"),
          config.Get("split") != 0};
}

int64_t OuterOf(const RowPlan& plan) { return plan.outer.size() > 1 ? plan.outer[1].extent : 1; }

// CTAs of one chunk.
int64_t BlocksOf(const RowPlan& plan, const Geometry& g) {
  return OuterOf(plan) * ((plan.outer[0].extent + g.width() - 1) / g.width());
}

class ColumnScanVariant : public Variant {
 public:
  explicit ColumnScanVariant(const ScanOperator& op) : op_(op) {}
  std::string_view name() const override { return "columns"; }

  absl::Status Serves(const CallDesc& call, const DeviceProfile& device) const override {
    TW_RETURN_IF_ERROR(RequireSm80(call, device));
    const RowPlan plan = PlanScan(call);
    if (!plan.strided_axis) {
      return FailedPrecondition("the axis is not a strided one beside a dense one");
    }
    if (BlocksOf(plan, Geometry()) > kMaxGrid) {
      return FailedPrecondition(plan.rows, " lines, expected fewer");
    }
    return absl::OkStatus();
  }
  TuningSpace Space(const CallDesc&, const DeviceProfile&) const override {
    return {std::string(name()),
            {{"warps", {1, 2, 4, 8, 16, 32}},
             {"packets", {1, 2, 4, 8, 16}},
             {"vector", {1, 2, 4, 8}},
             {"split", {0, 1}}}};
  }
  absl::Status Legal(const CallDesc& call, const Config& config,
                     const DeviceProfile&) const override {
    const RowPlan plan = PlanScan(call);
    const Geometry g = GeometryOf(config);
    if (g.vector > plan.column_vector) {
      return FailedPrecondition("vectors of ", g.vector, " elements, expected at most ",
                                plan.column_vector);
    }
    if (g.packets * g.vector > op_.most_kept) {
      return FailedPrecondition("a thread keeps ", g.packets * g.vector,
                                " elements, expected at most ", op_.most_kept);
    }
    if (2 * g.warps * g.width() * op_.value_bytes > kStorageBytes) {
      return FailedPrecondition("the totals of ", g.warps, " warps take more than ", kStorageBytes,
                                " bytes");
    }
    const int64_t bucket = ColumnLengthBucket(plan.length);
    if (g.tile() > bucket && g.tile() > 1) {
      return FailedPrecondition("a tile of ", g.tile(), " rows for up to ", bucket);
    }
    if (g.split && g.tile() * 2 > bucket) {
      return FailedPrecondition("only an axis of many tiles is cut");
    }
    return absl::OkStatus();
  }
  double PredictUs(const CallDesc& call, const Config& config,
                   const DeviceProfile& device) const override {
    const RowPlan plan = PlanScan(call);
    const Geometry g = GeometryOf(config);
    const double size = DTypeSize(plan.dtype);
    MemoryModel model;
    model.bytes = 2.0 * static_cast<double>(plan.rows) * static_cast<double>(plan.length) * size;
    model.ctas = static_cast<double>(BlocksOf(plan, g));
    if (g.split) {
      model.bytes *= 1.5;
      model.ctas = std::max(model.ctas, static_cast<double>(kBlocksPerSm * device.sm_count));
      model.fixed_us += 2;
    }
    model.threads = static_cast<double>(g.warps * kWarpSize);
    model.bytes_per_thread = static_cast<double>(g.packets * g.vector) * size;
    return PredictMemoryUs(model, device);
  }
  Config Default(const CallDesc& call, const DeviceProfile& device) const override;
  std::vector<KernelSpec> Kernels(const CallDesc& call, const Config& config) const override {
    const Geometry g = GeometryOf(config);
    KernelSpec spec;
    spec.template_file = "scan/column_scan.cuh";
    spec.entry = "tilewright::ColumnScanKernel";
    spec.constants = {{"using Op", Cat("tilewright::", op_.op)},
                      {"using Element", std::string(StorageTypeName(PlanScan(call).dtype))},
                      {"int kWarps", Cat(g.warps)},
                      {"int kPackets", Cat(g.packets)},
                      {"int kVector", Cat(g.vector)}};
    std::vector<KernelSpec> kernels = {spec};
    if (g.split) {
      spec.entry = "tilewright::ColumnTotalKernel";
      kernels.push_back(spec);
    }
    return kernels;
  }
  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config& config,
                                 const DeviceProfile& device) const override;

 private:
  ScanOperator op_;
};

// Wide vectors while there are CTAs enough; a warp keeps about 16 elements a thread.
Config ColumnScanVariant::Default(const CallDesc& call, const DeviceProfile& device) const {
  const RowPlan plan = PlanScan(call);
  const int64_t bucket = ColumnLengthBucket(plan.length);
  const int64_t lines = ScanLinesBucket(plan);
  const int64_t sms = std::max(device.sm_count, 1);
  Geometry g;
  g.vector = plan.column_vector;
  while (g.vector > 2 && lines / g.width() < 2 * sms) g.vector /= 2;
  g.packets = std::min<int64_t>(bucket, std::clamp<int64_t>(16 / g.vector, 1, 8));
  while (g.warps < 8 && g.tile() < bucket) g.warps *= 2;
  g.split = lines / g.width() < sms && bucket >= 8 * g.tile();
  return {std::string(name()),
          {{"warps", g.warps},
           {"packets", g.packets},
           {"vector", g.vector},
           {"split", g.split ? 1 : 0}}};
}

absl::StatusOr<BoundCall> ColumnScanVariant::Bind(const CallDesc& call, const Config& config,
                                                  const DeviceProfile& device) const {
  const RowPlan plan = PlanScan(call);
  const Geometry g = GeometryOf(config);
  BoundCall bound;
  if (plan.rows == 0 || plan.length == 0) return bound;
  const int64_t size = DTypeSize(plan.dtype);
  const int64_t blocks = BlocksOf(plan, g);
  const int64_t wanted = g.split ? kBlocksPerSm * std::max(device.sm_count, 1) / blocks : 1;
  const ScanChunks cut = CutScan(plan.length, g.tile(), wanted, kMaxChunks);
  ColumnScanParams p{};
  p.length = plan.length;
  p.chunk = cut.chunk;
  p.chunks = static_cast<unsigned>(cut.chunks);
  p.inner = plan.outer[0].extent / g.vector;
  p.inner_blocks = static_cast<unsigned>(blocks / OuterOf(plan));
  p.input_stride = plan.inner[0].strides[0] * size;
  p.output_stride = plan.inner[0].strides[1] * size;
  if (plan.outer.size() > 1) {
    p.input_outer_stride = plan.outer[1].strides[0] * size;
    p.output_outer_stride = plan.outer[1].strides[1] * size;
  }
  const auto launch = [&](int kernel, int64_t chunks) {
    Launch result;
    result.kernel = kernel;
    result.SetParams(p);
    result.grid[0] = static_cast<uint32_t>(blocks * chunks);
    result.block[0] = static_cast<uint32_t>(g.warps * kWarpSize);
    result.pointers.push_back({offsetof(ColumnScanParams, input), 0, 0});
    result.pointers.push_back({offsetof(ColumnScanParams, output), 1, 0});
    if (cut.chunks > 1) {
      result.pointers.push_back({offsetof(ColumnScanParams, totals), kWorkspaceOperand, 0});
    }
    bound.launches.push_back(std::move(result));
  };
  if (cut.chunks > 1) {
    bound.workspace_bytes = plan.rows * (cut.chunks - 1) * op_.value_bytes;
    launch(1, cut.chunks - 1);
  }
  launch(0, cut.chunks);
  return bound;
}

}  // namespace

std::unique_ptr<Variant> MakeColumnScanVariant(const ScanOperator& op) {
  return std::make_unique<ColumnScanVariant>(op);
}

}  // namespace tilewright
