// The recipe of every elementwise operator of one output. An operator states its functor, its
// operands' views and its constants; all else is shared.
#ifndef TILEWRIGHT_KERNEL_TEMPLATES_ELEMENTWISE_ELEMENTWISE_RECIPE_H_
#define TILEWRIGHT_KERNEL_TEMPLATES_ELEMENTWISE_ELEMENTWISE_RECIPE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "kernel_templates/elementwise/params.cuh"
#include "kernel_templates/memory_bound.h"
#include "kernel_templates/recipe.h"

namespace tilewright {

// One operand as the kernel sees it: strides over the output's axes, 0 where broadcast.
struct ElementwiseView {
  static constexpr int kCoordinate = -1;
  int operand = 0;  // index into CallDesc::operands; kCoordinate: see CoordinateView()
  int64_t byte_offset = 0;
  DType dtype = DType::kFloat32;
  Dims strides;
  uint32_t alignment = 256;  // of the view's first element
  bool consecutive = false;  // coordinates: the values of one vector must be n, n + 1, ...

  bool is_coordinate() const { return operand == kCoordinate; }
  // What one step of a stride is, in the units of the kernel's parameters.
  int64_t unit() const { return is_coordinate() ? 1 : DTypeSize(dtype); }
};

struct ElementwiseProblem {
  Dims shape;
  absl::InlinedVector<ElementwiseView, 5> views;  // the output, then the functor's inputs
  std::array<ElementwiseScalar, kElementwiseScalars> scalars{};
};

// The view of a whole operand, broadcast to `shape` as NumPy does.
ElementwiseView BroadcastView(const CallDesc& call, int operand, const Dims& shape);

// A coordinate of the output's elements: `base` at the first one, growing by strides[axis] along
// each axis.
ElementwiseView CoordinateView(const Dims& strides, int64_t base = 0);
// The same where a functor over vectors relies on consecutive values.
ElementwiseView ConsecutiveView(const Dims& strides, int64_t base = 0);

// The output, then every input that is present, each broadcast to the output; the first parameters
// as scalars: integers where the output is of an integer dtype, else floats. Null leaves 0.
ElementwiseProblem BroadcastProblem(const CallDesc& call);

struct ElementwiseOperator {
  std::string_view file;          // "elementwise/add.cuh"
  std::string_view functor = {};  // class template there, over one element type
  ElementwiseProblem (*problem)(const CallDesc& call) = BroadcastProblem;
  int typed_by = 0;  // the view whose dtype the functor takes: 0 is the output
  // The functor by the call, for operators that have several; null: `functor`. Parameters that
  // choose one must be in `form`.
  std::string_view (*choose)(const CallDesc& call) = nullptr;
  // A code of what parameters choose between functors, part of the problem; null: nothing.
  int64_t (*form)(const CallDesc& call) = nullptr;
  // Longer vectors are the default of 16 bits: the functor shares work between the elements of a
  // vector, or is bound by instructions.
  bool long_vectors = false;
  // Longer ones are the default where inputs are broadcast: the functor is bound by instructions,
  // and a vector's addresses are of them.
  bool long_broadcasts = false;

  std::string_view FunctorOf(const CallDesc& call) const {
    return choose == nullptr ? functor : choose(call);
  }
};

std::unique_ptr<Recipe> MakeElementwiseRecipe(const ElementwiseOperator& op);

// The collapsed index space of a problem and what a vector of it may be.
struct ElementwisePlan {
  LayoutDims dims;  // innermost first, at least one; strides of the views in order
  int64_t elements = 0;
  int element_bytes = 1;  // of the widest operand that moves
  int vector = 1;         // most elements a vector
  int scalar_mask = 0;    // inputs that do not move along dim 0, where vector > 1
  int rank = 1;           // dims, rounded up to one the template is instantiated for
  bool wide = false;      // 64-bit indices
};
ElementwisePlan PlanElementwise(const ElementwiseProblem& problem);

}  // namespace tilewright

#endif  // TILEWRIGHT_KERNEL_TEMPLATES_ELEMENTWISE_ELEMENTWISE_RECIPE_H_
