// References of elementwise operators as a function of one element of each input.
#ifndef TILEWRIGHT_MANIFEST_REFERENCES_ELEMENTWISE_MAP_H_
#define TILEWRIGHT_MANIFEST_REFERENCES_ELEMENTWISE_MAP_H_

#include <array>
#include <span>
#include <vector>

#include "manifest/edge_cases.h"
#include "manifest/references/element_access.h"

namespace tilewright {

// The offset of an operand that broadcasts to `coordinates` of the output.
int64_t BroadcastOffset(const TensorDesc& desc, const Dims& coordinates);

// One element of every input, floating ones in `f`, others in `i`; 0 for an absent input.
struct InputElements {
  const CallDesc& call;
  std::array<RefScalar, 4> x{};

  double f(size_t input) const { return x[input].f; }
  int64_t i(size_t input) const { return x[input].i; }
  const ParamValue& param(size_t index) const { return call.params[index]; }
  bool is_floating(size_t input) const { return IsFloating(call.operands[input].desc.dtype); }
  DType output_dtype() const { return call.operands.back().desc.dtype; }
};

// The elements of every input at `coordinates` of the output.
InputElements ElementsAt(const ReferenceCall& call, const Dims& coordinates);

// An integer as the dtype holds it: wrapped, or "not zero" for bool.
int64_t WrapTo(DType dtype, int64_t value);

// values[k] = function(the inputs' elements at elements[k]).
template <class Function>
absl::Status MapElements(const ReferenceCall& call, std::span<const int64_t> elements,
                         std::span<RefScalar> values, Function function) {
  const Dims& shape = call.call->operands.back().desc.shape;
  for (size_t k = 0; k < elements.size(); ++k) {
    values[k] = function(ElementsAt(call, CoordinatesOf(shape, elements[k])));
  }
  return absl::OkStatus();
}

// Functions of doubles, of integers that wrap, and of either with bool as the result.
template <class Function>
auto Real1(Function function) {
  return [=](const InputElements& x) { return RefScalar{function(x.f(0)), 0}; };
}
template <class Function>
auto Real2(Function function) {
  return [=](const InputElements& x) { return RefScalar{function(x.f(0), x.f(1)), 0}; };
}
template <class RealFunction, class IntegerFunction>
auto RealOrInteger1(RealFunction real, IntegerFunction integer) {
  return [=](const InputElements& x) {
    if (x.is_floating(0)) return RefScalar{real(x.f(0)), 0};
    return RefScalar{0, WrapTo(x.output_dtype(), integer(x.i(0)))};
  };
}
template <class RealFunction, class IntegerFunction>
auto RealOrInteger2(RealFunction real, IntegerFunction integer) {
  return [=](const InputElements& x) {
    if (x.is_floating(0)) return RefScalar{real(x.f(0), x.f(1)), 0};
    return RefScalar{0, WrapTo(x.output_dtype(), integer(x.i(0), x.i(1)))};
  };
}
template <class Function>
auto Integer2(Function function) {
  return [=](const InputElements& x) {
    return RefScalar{0, WrapTo(x.output_dtype(), function(x.i(0), x.i(1)))};
  };
}
template <class Function>
auto Predicate1(Function function) {
  return [=](const InputElements& x) {
    return RefScalar{0, x.is_floating(0) ? function(x.f(0)) : function(x.i(0))};
  };
}
template <class Function>
auto Predicate2(Function function) {
  return [=](const InputElements& x) {
    return RefScalar{0, x.is_floating(0) ? function(x.f(0), x.f(1)) : function(x.i(0), x.i(1))};
  };
}

// The rest of a reference after TILEWRIGHT_REFERENCE(Op): maps elements by a function such as the
// above give.
#define TILEWRIGHT_ELEMENTWISE(...)                                              \
  (const ReferenceCall& call, int /*output*/, std::span<const int64_t> elements, \
   std::span<RefScalar> values) {                                                \
    return MapElements(call, elements, values, __VA_ARGS__);                     \
  }

// Shapes at which elementwise kernels break, for operators of one, two and three inputs that
// broadcast.
std::vector<Workload> UnaryEdges(std::vector<std::pair<std::string, ParamValue>> params = {});
std::vector<Workload> BinaryEdges(const char* first, const char* second,
                                  std::vector<std::pair<std::string, ParamValue>> params = {});
std::vector<Workload> TernaryEdges(const char* first, const char* second, const char* third);

}  // namespace tilewright

#endif  // TILEWRIGHT_MANIFEST_REFERENCES_ELEMENTWISE_MAP_H_
