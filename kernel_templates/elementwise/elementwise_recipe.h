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
  int operand = 0;  // index into CallDesc::operands
  int64_t byte_offset = 0;
  DType dtype = DType::kFloat32;
  Dims strides;
  uint32_t alignment = 256;  // of the view's first element
};

struct ElementwiseProblem {
  Dims shape;
  absl::InlinedVector<ElementwiseView, 5> views;  // the output, then the functor's inputs
  std::array<ElementwiseScalar, kElementwiseScalars> scalars{};
};

// The view of a whole operand, broadcast to `shape` as NumPy does.
ElementwiseView BroadcastView(const CallDesc& call, int operand, const Dims& shape);

struct ElementwiseOperator {
  std::string_view functor;  // class template in functors.cuh, over the output's type
  ElementwiseProblem (*problem)(const CallDesc& call);
};

std::unique_ptr<Recipe> MakeElementwiseRecipe(const ElementwiseOperator& op);

// The collapsed index space of a problem and what a vector of it may be.
struct ElementwisePlan {
  LayoutDims dims;  // innermost first, at least one; strides of the views in order
  int64_t elements = 0;
  int vector = 1;       // most elements a vector
  int scalar_mask = 0;  // inputs that do not move along dim 0, where vector > 1
  int rank = 1;         // dims, rounded up to one the template is instantiated for
  bool wide = false;    // 64-bit indices
};
ElementwisePlan PlanElementwise(const ElementwiseProblem& problem);

}  // namespace tilewright

#endif  // TILEWRIGHT_KERNEL_TEMPLATES_ELEMENTWISE_ELEMENTWISE_RECIPE_H_
