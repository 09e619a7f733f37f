#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "manifest/edge_cases.h"
#include "manifest/op_spec.h"
#include "manifest/references/element_access.h"

namespace tilewright {
namespace {

constexpr int kMaxSpatial = 3;

// A window's positions along one axis: first, first + step, ..., `count` of them, all inside.
struct WindowAxis {
  int64_t first = 0;
  int64_t count = 0;
  int64_t step = 1;
  int64_t padded = 0;  // positions up to extent + padding
};

// Value `axis` of a list that has one for each axis or one for all.
int64_t OfAxis(const ParamValue& list, int axis) {
  return list.as_list()[list.as_list().rank() == 1 ? 0 : axis];
}

WindowAxis FixedWindow(int64_t extent, int64_t at, int64_t kernel, int64_t stride, int64_t padding,
                       int64_t dilation) {
  WindowAxis window;
  window.step = dilation;
  window.first = at * stride - padding;
  window.padded = std::min(window.first + kernel, extent + padding) - window.first;
  const int64_t last = window.first + (kernel - 1) * dilation;
  while (window.first < 0) window.first += dilation;
  for (int64_t i = window.first; i <= last && i < extent; i += dilation) ++window.count;
  return window;
}

WindowAxis AdaptiveWindow(int64_t extent, int64_t at, int64_t outputs) {
  WindowAxis window;
  window.first = at * extent / outputs;
  window.count = ((at + 1) * extent + outputs - 1) / outputs - window.first;
  window.padded = window.count;
  return window;
}

// What the operators differ in.
struct PoolForm {
  bool average = false;
  bool adaptive = false;
};

class PoolReference {
 public:
  PoolReference(const ReferenceCall& call, PoolForm form)
      : call_(*call.call),
        data_(call.inputs[0].data),
        form_(form),
        input_(call_.input(0).desc),
        spatial_(input_.rank() - 2) {}

  RefScalar Value(int output, int64_t element) const {
    const TensorDesc& desc = call_.output(output).desc;
    const Dims at = CoordinatesOf(desc.shape, element);
    std::array<WindowAxis, kMaxSpatial> windows;
    for (WindowAxis& window : windows) window = {0, 1, 1, 1};
    for (int i = 0; i < spatial_; ++i) {
      windows[static_cast<size_t>(i + kMaxSpatial - spatial_)] =
          Window(i, at[i + 2], desc.shape[i + 2]);
    }
    const int64_t plane = at[0] * input_.strides[0] + at[1] * input_.strides[1];
    return form_.average ? Average(windows, plane) : Maximum(windows, plane, output == 1);
  }

 private:
  using Windows = std::array<WindowAxis, kMaxSpatial>;

  WindowAxis Window(int axis, int64_t at, int64_t outputs) const {
    const int64_t extent = input_.shape[axis + 2];
    if (form_.adaptive) return AdaptiveWindow(extent, at, outputs);
    const auto of = [&](int param) {
      return OfAxis(call_.params[static_cast<size_t>(param)], axis);
    };
    return FixedWindow(extent, at, of(0), of(1), of(2), form_.average ? 1 : of(3));
  }
  // Of spatial axis `i` of kMaxSpatial; those that the input lacks have extent 1.
  int64_t Extent(int i) const {
    const int axis = i - (kMaxSpatial - spatial_);
    return axis < 0 ? 1 : input_.shape[axis + 2];
  }
  int64_t Stride(int i) const {
    const int axis = i - (kMaxSpatial - spatial_);
    return axis < 0 ? 0 : input_.strides[axis + 2];
  }

  // Calls f(value, position in the flattened spatial axes) in ascending order of position.
  template <class F>
  void ForEach(const Windows& windows, int64_t plane, F f) const {
    const auto [d, h, w] = windows;
    for (int64_t i = 0; i < d.count; ++i) {
      for (int64_t j = 0; j < h.count; ++j) {
        for (int64_t k = 0; k < w.count; ++k) {
          const int64_t z = d.first + i * d.step;
          const int64_t y = h.first + j * h.step;
          const int64_t x = w.first + k * w.step;
          const int64_t offset = plane + z * Stride(0) + y * Stride(1) + x * Stride(2);
          f(LoadAsDouble(data_, input_.dtype, offset), (z * Extent(1) + y) * Extent(2) + x);
        }
      }
    }
  }

  double Divisor(const Windows& windows) const {
    const bool has_override = !form_.adaptive && call_.params.size() > 5;
    if (has_override && !call_.params[5].is_null()) return call_.params[5].as_float();
    const bool padded = !form_.adaptive && call_.params[4].as_bool();
    double positions = 1;
    for (const WindowAxis& window : windows) {
      positions *= static_cast<double>(padded ? window.padded : window.count);
    }
    return positions;
  }

  RefScalar Average(const Windows& windows, int64_t plane) const {
    RefScalar value;
    int64_t terms = 0;
    ForEach(windows, plane, [&](double x, int64_t) {
      value.f += x;
      value.magnitude += std::fabs(x);
      ++terms;
    });
    if (terms == 0) return {};
    const double divisor = Divisor(windows);
    value.f /= divisor;
    value.magnitude /= std::fabs(divisor);
    return value;
  }

  RefScalar Maximum(const Windows& windows, int64_t plane, bool want_index) const {
    double best = -std::numeric_limits<double>::infinity();
    const auto& [d, h, w] = windows;
    int64_t index = (d.first * Extent(1) + h.first) * Extent(2) + w.first;
    ForEach(windows, plane, [&](double x, int64_t position) {
      if (x > best || std::isnan(x)) {
        best = x;
        index = position;
      }
    });
    RefScalar value;
    if (want_index) {
      value.i = index;
    } else {
      value.f = best;
    }
    return value;
  }

  const CallDesc& call_;
  const void* data_;
  PoolForm form_;
  const TensorDesc& input_;
  int spatial_;
};

absl::Status Pool(const ReferenceCall& call, PoolForm form, int output,
                  std::span<const int64_t> elements, std::span<RefScalar> values) {
  const PoolReference reference(call, form);
  for (size_t i = 0; i < elements.size(); ++i) values[i] = reference.Value(output, elements[i]);
  return absl::OkStatus();
}

constexpr PoolForm kAverage = {true, false};
constexpr PoolForm kMaximum = {false, false};
constexpr PoolForm kAdaptiveAverage = {true, true};
constexpr PoolForm kAdaptiveMaximum = {false, true};

}  // namespace

#define TILEWRIGHT_POOL_REFERENCE(form)                                      \
  (const ReferenceCall& call, int output, std::span<const int64_t> elements, \
   std::span<RefScalar> values) {                                            \
    return Pool(call, form, output, elements, values);                       \
  }

TILEWRIGHT_REFERENCE(AvgPool1dFwdOp)
TILEWRIGHT_POOL_REFERENCE(kAverage)
TILEWRIGHT_REFERENCE(AvgPool2dFwdOp)
TILEWRIGHT_POOL_REFERENCE(kAverage)
TILEWRIGHT_REFERENCE(AvgPool3dFwdOp)
TILEWRIGHT_POOL_REFERENCE(kAverage)
TILEWRIGHT_REFERENCE(MaxPool1dFwdOp)
TILEWRIGHT_POOL_REFERENCE(kMaximum)
TILEWRIGHT_REFERENCE(MaxPool2dFwdOp)
TILEWRIGHT_POOL_REFERENCE(kMaximum)
TILEWRIGHT_REFERENCE(MaxPool3dFwdOp)
TILEWRIGHT_POOL_REFERENCE(kMaximum)
TILEWRIGHT_REFERENCE(MaxPool1dIndicesFwdOp)
TILEWRIGHT_POOL_REFERENCE(kMaximum)
TILEWRIGHT_REFERENCE(MaxPool2dIndicesFwdOp)
TILEWRIGHT_POOL_REFERENCE(kMaximum)
TILEWRIGHT_REFERENCE(MaxPool3dIndicesFwdOp)
TILEWRIGHT_POOL_REFERENCE(kMaximum)
TILEWRIGHT_REFERENCE(AdaptiveAvgPool2dFwdOp)
TILEWRIGHT_POOL_REFERENCE(kAdaptiveAverage)
TILEWRIGHT_REFERENCE(AdaptiveMaxPool2dFwdOp)
TILEWRIGHT_POOL_REFERENCE(kAdaptiveMaximum)
TILEWRIGHT_REFERENCE(AdaptiveMaxPool2dIndicesFwdOp)
TILEWRIGHT_POOL_REFERENCE(kAdaptiveMaximum)

#undef TILEWRIGHT_POOL_REFERENCE

}  // namespace tilewright
