// The recipe of every operator that reduces axes to single values. An operator states its functor
// (reduce_ops.cuh) and its parameters; all else is shared.
#ifndef TILEWRIGHT_KERNEL_TEMPLATES_ROW_REDUCE_RECIPE_H_
#define TILEWRIGHT_KERNEL_TEMPLATES_ROW_REDUCE_RECIPE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel_templates/memory_bound.h"
#include "kernel_templates/recipe.h"
#include "kernel_templates/row/reduce_params.cuh"

namespace tilewright {

// Operands: x, then outputs of one shape.
struct ReduceOperator {
  std::string_view op;         // struct in reduce_ops.cuh
  int value_bytes = 4;         // of its Value
  int axes_param = 0;          // index of `dim`: an axis, axes, or null for all
  int correction_param = -1;   // index of `correction`; -1: none
  bool indexed = false;        // the order of elements matters
  bool none_if_empty = false;  // an empty list of axes reduces nothing; else everything
};

std::unique_ptr<Recipe> MakeReduceRecipe(const ReduceOperator& op);

enum class ReduceLayout : uint8_t {
  kRows,     // the innermost reduced axis is dense
  kColumns,  // a kept axis is
  kStrided,  // none is, or it is too short
};

// The collapsed axes of a call. Strides of `inner` (reduced) are of the input, those of `outer`
// (kept) of the input and the outputs; both innermost first.
struct ReducePlan {
  DType dtype = DType::kFloat32;
  DType output = DType::kFloat32;
  LayoutDims inner;
  LayoutDims outer;
  int64_t rows = 0;
  int64_t length = 0;
  ReduceLayout layout = ReduceLayout::kStrided;
  int vector = 1;  // most elements an access along the dense axis
  // Results along a dense kept axis are dense as well, and aligned to `vector` of them.
  bool dense_output = false;

  bool dense() const { return inner.size() <= 1; }
};
ReducePlan PlanReduce(const CallDesc& call, const ReduceOperator& op);

// Count and denominator of the variance.
ReduceScalars ScalarsOf(const CallDesc& call, const ReduceOperator& op, const ReducePlan& plan);

// Upper bound of the numbers of results that share winners.
int64_t ResultsBucket(const ReducePlan& plan);
int64_t ReduceLengthBucket(int64_t length);

// The constants that every kernel of an operator has.
std::vector<std::pair<std::string, std::string>> ReduceConstants(const ReduceOperator& op,
                                                                 const ReducePlan& plan);

// The kernel of the second stage of results that several CTAs share.
KernelSpec CombineSpec(const ReduceOperator& op, const ReducePlan& plan);

// Where the parameters of a kernel that reduces keep its pointers.
struct ReducePointers {
  size_t partials;
  size_t outputs;  // one a result
};
// Adds `launch` to `bound`: it writes the results or, where `split`, partial values in the
// workspace, which a second launch combines.
void AddReduceLaunch(const CallDesc& call, const ReduceOperator& op, const ReducePlan& plan,
                     ReducePointers pointers, bool split, int64_t splits, Launch launch,
                     BoundCall* bound);

// The variants, in order of preference. The last serves any layout.
std::unique_ptr<Variant> MakeRowReduceVariant(const ReduceOperator& op);
std::unique_ptr<Variant> MakeColumnReduceVariant(const ReduceOperator& op);
std::unique_ptr<Variant> MakeStridedReduceVariant(const ReduceOperator& op);

}  // namespace tilewright

#endif  // TILEWRIGHT_KERNEL_TEMPLATES_ROW_REDUCE_RECIPE_H_
