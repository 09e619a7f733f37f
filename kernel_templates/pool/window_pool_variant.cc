// Windows of any size, any layout: a group of lanes a window.
#include <algorithm>
#include <utility>

#include "kernel_templates/pool/pool_recipe.h"
#include "manifest/op_spec.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int64_t kMaxGrid = (int64_t{1} << 31) - 1;
constexpr int64_t kMostLanes = 32;
constexpr int64_t kMostInFlight = 8;
constexpr int64_t kLargeWindow = 1024;  // positions
constexpr int64_t kPortableThreads = 128;

struct Geometry {
  int64_t lanes_w = 1;
  int64_t lanes_h = 1;
  int64_t columns = 4;
  int64_t rows = 1;
  int64_t threads = kPortableThreads;

  int64_t lanes() const { return lanes_w * lanes_h; }
};

// The window's width and height, as a power of two that holds them.
int64_t Extent(const PoolProblem& problem, size_t axis) {
  return PowerOfTwoBucket(problem.axes[axis].kernel, 1);
}

// Lanes, with as many positions in flight as the window has for them.
Geometry GeometryOf(const PoolProblem& problem, int64_t lanes_w, int64_t lanes_h, int64_t threads) {
  Geometry g;
  g.lanes_w = lanes_w;
  g.lanes_h = lanes_h;
  g.threads = threads;
  g.columns = std::clamp<int64_t>(Extent(problem, 0) / lanes_w, 1, kMostInFlight);
  g.rows = std::clamp<int64_t>(Extent(problem, 1) / lanes_h, 1, kMostInFlight / g.columns);
  return g;
}

std::vector<KernelSpec> KernelsOf(const PoolOperator& op, const PoolProblem& problem,
                                  const Geometry& g, bool wide) {
  const auto flag = [](bool value) { return value ? "true" : "false"; };
  KernelSpec spec;
  spec.template_file = "pool/window_pool.cuh";
  spec.entry = "tilewright::WindowPoolKernel";
  spec.constants = {{"using Op", Cat("tilewright::", op.op)},
                    {"using Element", std::string(StorageTypeName(problem.dtype))},
                    {"bool kAdaptive", flag(op.adaptive)},
                    {"int kLanesW", Cat(g.lanes_w)},
                    {"int kLanesH", Cat(g.lanes_h)},
                    {"int kColumns", Cat(g.columns)},
                    {"int kRows", Cat(g.rows)},
                    {"int kAxes", Cat(problem.spatial)},
                    {"int kPlaneDims", Cat(problem.one_plane_dim ? 1 : 2)},
                    {"int kThreads", Cat(g.threads)},
                    {"bool kWide", flag(wide)}};
  return {spec};
}

absl::StatusOr<BoundCall> BindGeometry(const PoolOperator& op, const PoolProblem& problem,
                                       const Geometry& g) {
  BoundCall bound;
  if (problem.outputs() == 0) return bound;
  bound.launches.push_back(
      PoolLaunch(problem, op.indices, problem.axes[0].output, g.lanes(), g.threads));
  return bound;
}

double Predict(const PoolOperator& op, const PoolProblem& problem, const Geometry& g,
               const DeviceProfile& device) {
  MemoryModel model;
  model.bytes = PoolBytes(problem, op.indices);
  model.threads = static_cast<double>(g.threads);
  model.ctas = static_cast<double>(problem.outputs()) * static_cast<double>(g.lanes()) /
               static_cast<double>(g.threads);
  model.bytes_per_thread = static_cast<double>(g.columns * g.rows) * DTypeSize(problem.dtype);
  // A batch after the other, each as long as an access to memory takes.
  double positions = 1;
  for (const PoolAxis& axis : problem.axes) positions *= static_cast<double>(axis.kernel);
  const double batches = positions / static_cast<double>(g.lanes() * g.columns * g.rows);
  model.fixed_us = 0.6 * std::max(1.0, batches);
  return PredictMemoryUs(model, device);
}

class WindowPoolVariant : public Variant {
 public:
  explicit WindowPoolVariant(const PoolOperator& op) : op_(op) {}
  std::string_view name() const override { return "windows"; }

  absl::Status Serves(const CallDesc& call, const DeviceProfile& device) const override {
    TW_RETURN_IF_ERROR(RequireSm80(call, device));
    const int64_t outputs = PlanPool(op_, call).outputs();
    if (outputs / (kPortableThreads / kMostLanes) >= kMaxGrid) {
      return FailedPrecondition(outputs, " outputs need too large a grid");
    }
    return absl::OkStatus();
  }
  TuningSpace Space(const CallDesc&, const DeviceProfile&) const override {
    const std::vector<int64_t> lanes = {1, 2, 4, 8, 16, 32};
    return {std::string(name()), {{"lanes_w", lanes}, {"lanes_h", lanes}, {"threads", {128, 256}}}};
  }
  absl::Status Legal(const CallDesc& call, const Config& config,
                     const DeviceProfile&) const override {
    const PoolProblem problem = PlanPool(op_, call);
    const Geometry g = Of(problem, config);
    if (g.lanes() > kMostLanes) {
      return FailedPrecondition(g.lanes(), " lanes, expected at most ", kMostLanes);
    }
    if ((g.lanes_w > 1 && g.lanes_w > Extent(problem, 0)) ||
        (g.lanes_h > 1 && g.lanes_h > Extent(problem, 1))) {
      return FailedPrecondition(g.lanes_w, " by ", g.lanes_h, " lanes for windows of up to ",
                                Extent(problem, 0), " by ", Extent(problem, 1));
    }
    return absl::OkStatus();
  }
  double PredictUs(const CallDesc& call, const Config& config,
                   const DeviceProfile& device) const override {
    const PoolProblem problem = PlanPool(op_, call);
    return Predict(op_, problem, Of(problem, config), device);
  }
  // About eight positions a lane; all lanes for large windows alone.
  Config Default(const CallDesc& call, const DeviceProfile&) const override {
    const PoolProblem problem = PlanPool(op_, call);
    const int64_t width = std::min(Extent(problem, 0), kLargeWindow);
    const int64_t height = std::min(Extent(problem, 1), kLargeWindow);
    const int64_t most = width * height >= kLargeWindow ? kMostLanes : kMostLanes / 2;
    const int64_t wanted = std::clamp<int64_t>(width * height / 8, 1, most);
    const int64_t lanes_w = std::min(width, wanted);
    return {
        std::string(name()),
        {{"lanes_w", lanes_w}, {"lanes_h", std::min(height, wanted / lanes_w)}, {"threads", 128}}};
  }
  std::vector<KernelSpec> Kernels(const CallDesc& call, const Config& config) const override {
    const PoolProblem problem = PlanPool(op_, call);
    return KernelsOf(op_, problem, Of(problem, config), problem.wide);
  }
  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config& config,
                                 const DeviceProfile&) const override {
    const PoolProblem problem = PlanPool(op_, call);
    return BindGeometry(op_, problem, Of(problem, config));
  }

 private:
  static Geometry Of(const PoolProblem& problem, const Config& config) {
    return GeometryOf(problem, config.Get("lanes_w"), config.Get("lanes_h"), config.Get("threads"));
  }
  PoolOperator op_;
};

// One thread a window, 64-bit coordinates: one kernel a dtype.
class PortablePoolVariant : public Variant {
 public:
  explicit PortablePoolVariant(const PoolOperator& op) : op_(op) {}
  std::string_view name() const override { return "portable"; }

  absl::Status Serves(const CallDesc& call, const DeviceProfile& device) const override {
    TW_RETURN_IF_ERROR(RequireSm80(call, device));
    const int64_t outputs = PlanPool(op_, call).outputs();
    if (outputs / kPortableThreads >= kMaxGrid) {
      return FailedPrecondition(outputs, " outputs need too large a grid");
    }
    return absl::OkStatus();
  }
  TuningSpace Space(const CallDesc&, const DeviceProfile&) const override {
    return {std::string(name()), {{"threads", {kPortableThreads}}}};
  }
  absl::Status Legal(const CallDesc&, const Config&, const DeviceProfile&) const override {
    return absl::OkStatus();
  }
  double PredictUs(const CallDesc& call, const Config&,
                   const DeviceProfile& device) const override {
    return 2 * Predict(op_, PlanPool(op_, call), Geometry(), device);
  }
  Config Default(const CallDesc&, const DeviceProfile&) const override {
    return {std::string(name()), {{"threads", kPortableThreads}}};
  }
  std::vector<KernelSpec> Kernels(const CallDesc& call, const Config&) const override {
    return KernelsOf(op_, AnyLayout(PlanPool(op_, call)), Geometry(), true);
  }
  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config&,
                                 const DeviceProfile&) const override {
    return BindGeometry(op_, AnyLayout(PlanPool(op_, call)), Geometry());
  }

 private:
  // For the kernel that serves all.
  static PoolProblem AnyLayout(PoolProblem problem) {
    problem.wide = true;
    problem.spatial = kPoolSpatial;
    problem.one_plane_dim = false;
    return problem;
  }
  PoolOperator op_;
};

}  // namespace

std::unique_ptr<Variant> MakeWindowPoolVariant(const PoolOperator& op) {
  return std::make_unique<WindowPoolVariant>(op);
}

std::unique_ptr<Variant> MakePortablePoolVariant(const PoolOperator& op) {
  return std::make_unique<PortablePoolVariant>(op);
}

}  // namespace tilewright
