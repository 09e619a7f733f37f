// References of norms by channel: batch norm and its gradients, group norm, instance norm.
#include "manifest/edge_cases.h"
#include "manifest/input_values.h"
#include "manifest/references/normalized_rows.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

RowStatistics StatisticsOfRow(const ReferenceCall& call, int input, const ChannelRows& rows,
                              int64_t row) {
  const int64_t runs = rows.RunsOf(call.call->input(input).desc.shape);
  const auto length = static_cast<size_t>(rows.RunLength());
  std::vector<double> values(static_cast<size_t>(runs) * length);
  for (int64_t run = 0; run < runs; ++run) {
    const std::span<double> part =
        std::span(values).subspan(static_cast<size_t>(run) * length, length);
    LoadRun(call, input, rows.RunBegin(row, run), part);
  }
  return StatisticsOf(values);
}

int64_t ElementsOfRow(const ReferenceCall& call, const ChannelRows& rows) {
  return rows.RunsOf(call.call->input(0).desc.shape) * rows.RunLength();
}

// `elements`' indices by their row, rows in rising order.
std::vector<std::vector<size_t>> ByRow(std::span<const int64_t> elements, const ChannelRows& rows) {
  std::vector<int64_t> keys;
  for (const int64_t element : elements) keys.push_back(rows.RowOf(element));
  std::vector<std::vector<size_t>> groups;
  for (const size_t k : GroupedOrder(keys)) {
    if (groups.empty() || keys[groups.back()[0]] != keys[k]) groups.emplace_back();
    groups.back().push_back(k);
  }
  return groups;
}

// Calls body(row, the elements' indices in it) for each row that `elements` need.
template <class Body>
void ForEachRow(const ReferenceCall& call, std::span<const int64_t> elements,
                const ChannelRows& rows, const Body& body) {
  const std::vector<std::vector<size_t>> groups = ByRow(elements, rows);
  const auto count = static_cast<int64_t>(groups.size());
  ForEach(count, count * ElementsOfRow(call, rows), [&](int64_t i) {
    const std::vector<size_t>& group = groups[static_cast<size_t>(i)];
    body(rows.RowOf(elements[group[0]]), group);
  });
}

RowStatistics RunningStatistics(const ReferenceCall& call, int mean, int variance,
                                int64_t channel) {
  RowStatistics row;
  row.mean = ElementOf(call, mean, channel);
  row.variance = ElementOf(call, variance, channel);
  row.magnitude = std::fabs(row.mean);
  return row;
}

// x normalised by the statistics of its rows, with the weight and bias of its channel, if any.
absl::Status NormalizeRows(const ReferenceCall& call, const ChannelRows& rows, double eps,
                           int weight, std::span<const int64_t> elements,
                           std::span<RefScalar> values) {
  const bool affine = call.call->input(weight).present;
  ForEachRow(call, elements, rows, [&](int64_t row, const std::vector<size_t>& group) {
    const RowStatistics statistics = StatisticsOfRow(call, 0, rows, row);
    for (const size_t k : group) {
      const int64_t channel = rows.ChannelOf(elements[k]);
      values[k] = Normalized(ElementOf(call, 0, elements[k]), statistics, eps,
                             affine ? ElementOf(call, weight, channel) : 1,
                             affine ? ElementOf(call, weight + 1, channel) : 0);
    }
  });
  return absl::OkStatus();
}

// The running statistics (output 1: mean, 2: variance) after a batch.
absl::Status UpdateRunning(const ReferenceCall& call, int output, std::span<const int64_t> elements,
                           std::span<RefScalar> values) {
  const bool training = call.call->params[0].as_bool();
  const double momentum = call.call->params[1].as_float();
  ChannelRows rows(call.call->input(0).desc.shape, 1);
  rows.across_batch = true;
  const auto channels = static_cast<int64_t>(elements.size());
  const auto count = static_cast<double>(ElementsOfRow(call, rows));
  const int64_t work = training ? channels * ElementsOfRow(call, rows) : 0;
  ForEach(channels, work, [&](int64_t i) {
    const auto k = static_cast<size_t>(i);
    const double old = ElementOf(call, output, elements[k]);
    values[k] = {.f = old, .inexact = true};
    if (!training) return;
    const RowStatistics row = StatisticsOfRow(call, 0, rows, elements[k]);
    const double now = output == 1 ? row.mean : row.variance * count / (count - 1);
    values[k].f = (1 - momentum) * old + momentum * now;
    values[k].magnitude =
        (1 - momentum) * std::fabs(old) + momentum * (output == 1 ? row.magnitude : std::fabs(now));
  });
  return absl::OkStatus();
}

// Sums of a channel of the gradients: of grad_out, and of grad_out * xhat.
struct GradientSums {
  double bias = 0;
  double bias_magnitude = 0;
  double weight = 0;
  double weight_magnitude = 0;
  double count = 0;
};

GradientSums SumGradients(const ReferenceCall& call, const ChannelRows& rows, int64_t channel) {
  GradientSums sums;
  const double mean = ElementOf(call, 3, channel);
  const double rstd = ElementOf(call, 4, channel);
  const int64_t runs = rows.RunsOf(call.call->input(0).desc.shape);
  std::vector<double> grads(static_cast<size_t>(rows.RunLength()));
  std::vector<double> xs(grads.size());
  for (int64_t run = 0; run < runs; ++run) {
    LoadRun(call, 0, rows.RunBegin(channel, run), grads);
    LoadRun(call, 1, rows.RunBegin(channel, run), xs);
    for (size_t i = 0; i < grads.size(); ++i) {
      sums.bias += grads[i];
      sums.bias_magnitude += std::fabs(grads[i]);
      sums.weight += grads[i] * (xs[i] - mean) * rstd;
      sums.weight_magnitude +=
          std::fabs(grads[i]) * (std::fabs(xs[i]) + std::fabs(mean)) * std::fabs(rstd);
    }
  }
  sums.count = static_cast<double>(ElementsOfRow(call, rows));
  return sums;
}

// grad_x at a position in `channel`.
RefScalar GradientOfX(const ReferenceCall& call, const GradientSums& sums, int64_t channel,
                      int64_t position) {
  const double grad = ElementOf(call, 0, position);
  const double x = ElementOf(call, 1, position);
  const double mean = ElementOf(call, 3, channel);
  const double rstd = ElementOf(call, 4, channel);
  const double scale = ElementOf(call, 2, channel) * rstd;
  const double xhat = (x - mean) * rstd;
  const double xhat_magnitude = (std::fabs(x) + std::fabs(mean)) * std::fabs(rstd);
  RefScalar result;
  result.f = scale * (grad - sums.bias / sums.count - xhat * sums.weight / sums.count);
  result.magnitude = std::fabs(scale) * (std::fabs(grad) + sums.bias_magnitude / sums.count +
                                         xhat_magnitude * sums.weight_magnitude / sums.count);
  result.inexact = true;
  return result;
}

Workload Channels(const char* label, const Dims& x, const char* first,
                  const std::vector<const char*>& by_channel) {
  Workload edge;
  edge.label = label;
  edge.input_shapes = {{first, x}};
  for (const char* name : by_channel) edge.input_shapes.emplace_back(name, Dims{x[1]});
  return edge;
}

struct Shape {
  const char* label;
  Dims x;
};
const std::vector<Shape>& ChannelShapes() {
  static const std::vector<Shape>& shapes = *new std::vector<Shape>{
      {"primes", {3, 7, 11}},     {"rank-2", {33, 5}},         {"rank-2-wide", {70, 520}},
      {"two", {2, 3, 1}},         {"image", {2, 6, 5, 7}},     {"vectors", {3, 16, 8, 8}},
      {"one-sample", {1, 4, 9}},  {"rank-5", {2, 4, 3, 2, 5}}, {"long", {2, 3, 40000}},
      {"longer", {3, 2, 300007}}, {"many", {70, 300, 4}},      {"no-samples", {0, 4, 3}},
      {"no-channels", {2, 0, 3}}};
  return shapes;
}

}  // namespace

TILEWRIGHT_REFERENCE(BatchNormFwdOp)
(const ReferenceCall& call, int output, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  if (output > 0) return UpdateRunning(call, output, elements, values);
  const bool training = call.call->params[0].as_bool();
  const double eps = call.call->params[2].as_float();
  ChannelRows rows(call.call->input(0).desc.shape, 1);
  rows.across_batch = true;
  if (training) return NormalizeRows(call, rows, eps, 3, elements, values);
  for (size_t k = 0; k < elements.size(); ++k) {
    const int64_t channel = rows.ChannelOf(elements[k]);
    values[k] = Normalized(ElementOf(call, 0, elements[k]), RunningStatistics(call, 1, 2, channel),
                           eps, ElementOf(call, 3, channel), ElementOf(call, 4, channel));
  }
  return absl::OkStatus();
}

// Outputs: grad_x, grad_weight, grad_bias.
TILEWRIGHT_REFERENCE(BatchNormBwdOp)
(const ReferenceCall& call, int output, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  ChannelRows rows(call.call->input(0).desc.shape, 1);
  rows.across_batch = true;
  if (output > 0) {
    const auto channels = static_cast<int64_t>(elements.size());
    ForEach(channels, channels * ElementsOfRow(call, rows), [&](int64_t i) {
      const auto k = static_cast<size_t>(i);
      const GradientSums sums = SumGradients(call, rows, elements[k]);
      values[k].f = output == 1 ? sums.weight : sums.bias;
      values[k].magnitude = output == 1 ? sums.weight_magnitude : sums.bias_magnitude;
    });
    return absl::OkStatus();
  }
  ForEachRow(call, elements, rows, [&](int64_t channel, const std::vector<size_t>& group) {
    const GradientSums sums = SumGradients(call, rows, channel);
    for (const size_t k : group) values[k] = GradientOfX(call, sums, channel, elements[k]);
  });
  return absl::OkStatus();
}

TILEWRIGHT_REFERENCE(GroupNormFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  const Dims& shape = call.call->input(0).desc.shape;
  const ChannelRows rows(shape, shape[1] / call.call->params[0].as_int());
  return NormalizeRows(call, rows, call.call->params[1].as_float(), 1, elements, values);
}

TILEWRIGHT_REFERENCE(InstanceNormFwdOp)
(const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements,
 std::span<RefScalar> values) {
  const ChannelRows rows(call.call->input(0).desc.shape, 1);
  const double eps = call.call->params[2].as_float();
  if (call.call->params[0].as_bool()) return NormalizeRows(call, rows, eps, 3, elements, values);
  const bool affine = call.call->input(3).present;
  for (size_t k = 0; k < elements.size(); ++k) {
    const int64_t channel = rows.ChannelOf(elements[k]);
    values[k] = Normalized(ElementOf(call, 0, elements[k]), RunningStatistics(call, 1, 2, channel),
                           eps, affine ? ElementOf(call, 3, channel) : 1,
                           affine ? ElementOf(call, 4, channel) : 0);
  }
  return absl::OkStatus();
}

namespace {

// A variance is not negative: its magnitude in place of input `input`.
absl::Status MakePositive(const InputRequest& request, size_t input) {
  void* const data = request.data[input];
  const Operand& operand = request.call->input(static_cast<int>(input));
  if (data == nullptr || !operand.present) return absl::OkStatus();
  for (int64_t i = 0; i < operand.desc.elements(); ++i) {
    const int64_t offset = OffsetAt(operand.desc, i);
    const double value = LoadAsDouble(data, operand.desc.dtype, offset);
    StoreFromDouble(data, operand.desc.dtype, offset, std::fabs(value));
  }
  return absl::OkStatus();
}

// Input `input` moved into [-most, most]; what is NaN or so small that its products leave float32's
// range becomes 1 where `finite`.
absl::Status Clamp(const InputRequest& request, size_t input, double most, bool finite) {
  void* const data = request.data[input];
  if (data == nullptr) return absl::OkStatus();
  const TensorDesc& desc = request.call->input(static_cast<int>(input)).desc;
  for (int64_t i = 0; i < desc.elements(); ++i) {
    const int64_t offset = OffsetAt(desc, i);
    double value = LoadAsDouble(data, desc.dtype, offset);
    if (std::isnan(value) ? !finite : std::isinf(value) && !finite) continue;
    if (finite && !(std::fabs(value) >= 0x1p-20)) value = 1;
    StoreFromDouble(data, desc.dtype, offset, std::fmin(std::fmax(value, -most), most));
  }
  return absl::OkStatus();
}

}  // namespace

// Statistics of a forward pass, and values whose products of three stay inside float32's range.
TILEWRIGHT_INPUTS(BatchNormBwdOp)(const InputRequest& request) {
  constexpr int64_t kMostClamped = int64_t{1} << 22;  // larger ones hold no extremes
  for (const size_t input : {size_t{0}, size_t{1}}) {
    if (request.call->input(0).desc.elements() > kMostClamped) break;
    TW_RETURN_IF_ERROR(Clamp(request, input, 0x1p30, false));
  }
  for (const size_t input : {size_t{2}, size_t{3}, size_t{4}}) {
    TW_RETURN_IF_ERROR(Clamp(request, input, 4, true));
  }
  return absl::OkStatus();
}
TILEWRIGHT_INPUTS(BatchNormFwdOp)(const InputRequest& request) { return MakePositive(request, 2); }
TILEWRIGHT_INPUTS(InstanceNormFwdOp)(const InputRequest& request) {
  return MakePositive(request, 2);
}

TILEWRIGHT_EDGE_CASES(BatchNormFwdOp) {
  std::vector<Workload> cases;
  for (const bool training : {true, false}) {
    for (const Shape& shape : ChannelShapes()) {
      if (training && shape.x.Product() == 0) continue;
      Workload edge =
          Channels(shape.label, shape.x, "x", {"running_mean", "running_var", "weight", "bias"});
      if (!training) edge.label += "-eval";
      edge.params = {{"training", training}};
      cases.push_back(edge);
    }
  }
  for (const double momentum : {0.0, 1.0}) {
    Workload edge = cases[0];
    edge.label = momentum > 0 ? "momentum-1" : "momentum-0";
    edge.params.emplace_back("momentum", momentum);
    cases.push_back(edge);
  }
  return cases;
}

TILEWRIGHT_EDGE_CASES(BatchNormBwdOp) {
  std::vector<Workload> cases;
  for (const Shape& shape : ChannelShapes()) {
    Workload edge = Channels(shape.label, shape.x, "grad_out", {"weight", "mean", "rstd"});
    edge.input_shapes.emplace_back("x", shape.x);
    cases.push_back(edge);
  }
  return cases;
}

TILEWRIGHT_EDGE_CASES(GroupNormFwdOp) {
  std::vector<Workload> cases;
  for (const bool affine : {true, false}) {
    for (const Shape& shape : ChannelShapes()) {
      if (shape.x[1] == 0) continue;
      Workload edge = affine ? Channels(shape.label, shape.x, "x", {"weight", "bias"})
                             : Channels(shape.label, shape.x, "x", {});
      if (!affine) edge.label += "-plain";
      edge.params = {{"num_groups", shape.x[1] % 2 == 0 ? int64_t{2} : int64_t{1}}};
      cases.push_back(edge);
    }
  }
  Workload odd = Channels("three-channels-a-group", {1, 48, 32, 32}, "x", {"weight", "bias"});
  odd.params = {{"num_groups", 16}};
  cases.push_back(odd);
  return cases;
}

TILEWRIGHT_EDGE_CASES(InstanceNormFwdOp) {
  std::vector<Workload> cases;
  for (const bool input_stats : {true, false}) {
    for (const bool affine : {true, false}) {
      for (const Shape& shape : ChannelShapes()) {
        const bool one = shape.x.rank() == 2 || (shape.x.rank() == 3 && shape.x[2] == 1);
        if (input_stats && one) continue;
        std::vector<const char*> names;
        if (!input_stats) names = {"running_mean", "running_var"};
        if (affine) names.insert(names.end(), {"weight", "bias"});
        Workload edge = Channels(shape.label, shape.x, "x", names);
        edge.label += input_stats ? "" : "-running";
        edge.label += affine ? "" : "-plain";
        edge.params = {{"use_input_stats", input_stats}};
        cases.push_back(edge);
      }
    }
  }
  return cases;
}

}  // namespace tilewright
