#include <cmath>

#include "manifest/references/elementwise_map.h"

namespace tilewright {

TILEWRIGHT_REFERENCE(EqFwdOp)
TILEWRIGHT_ELEMENTWISE(Predicate2([](auto a, auto b) { return a == b; }))
TILEWRIGHT_EDGE_CASES(EqFwdOp) { return BinaryEdges("input", "other"); }

TILEWRIGHT_REFERENCE(NeFwdOp)
TILEWRIGHT_ELEMENTWISE(Predicate2([](auto a, auto b) { return a != b; }))
TILEWRIGHT_EDGE_CASES(NeFwdOp) { return BinaryEdges("input", "other"); }

TILEWRIGHT_REFERENCE(GtFwdOp)
TILEWRIGHT_ELEMENTWISE(Predicate2([](auto a, auto b) { return a > b; }))
TILEWRIGHT_EDGE_CASES(GtFwdOp) { return BinaryEdges("input", "other"); }

TILEWRIGHT_REFERENCE(LtFwdOp)
TILEWRIGHT_ELEMENTWISE(Predicate2([](auto a, auto b) { return a < b; }))
TILEWRIGHT_EDGE_CASES(LtFwdOp) { return BinaryEdges("input", "other"); }

TILEWRIGHT_REFERENCE(GeFwdOp)
TILEWRIGHT_ELEMENTWISE(Predicate2([](auto a, auto b) { return a >= b; }))
TILEWRIGHT_EDGE_CASES(GeFwdOp) { return BinaryEdges("input", "other"); }

TILEWRIGHT_REFERENCE(LeFwdOp)
TILEWRIGHT_ELEMENTWISE(Predicate2([](auto a, auto b) { return a <= b; }))
TILEWRIGHT_EDGE_CASES(LeFwdOp) { return BinaryEdges("input", "other"); }

TILEWRIGHT_REFERENCE(LogicalAndFwdOp)
TILEWRIGHT_ELEMENTWISE(Predicate2([](auto a, auto b) { return a != 0 && b != 0; }))
TILEWRIGHT_EDGE_CASES(LogicalAndFwdOp) { return BinaryEdges("input", "other"); }

TILEWRIGHT_REFERENCE(LogicalOrFwdOp)
TILEWRIGHT_ELEMENTWISE(Predicate2([](auto a, auto b) { return a != 0 || b != 0; }))
TILEWRIGHT_EDGE_CASES(LogicalOrFwdOp) { return BinaryEdges("input", "other"); }

TILEWRIGHT_REFERENCE(LogicalNotFwdOp)
TILEWRIGHT_ELEMENTWISE(Predicate1([](auto a) { return a == 0; }))
TILEWRIGHT_EDGE_CASES(LogicalNotFwdOp) { return UnaryEdges(); }

TILEWRIGHT_REFERENCE(BitwiseAndFwdOp)
TILEWRIGHT_ELEMENTWISE(Integer2([](int64_t a, int64_t b) { return a & b; }))
TILEWRIGHT_EDGE_CASES(BitwiseAndFwdOp) { return BinaryEdges("input", "other"); }

TILEWRIGHT_REFERENCE(BitwiseOrFwdOp)
TILEWRIGHT_ELEMENTWISE(Integer2([](int64_t a, int64_t b) { return a | b; }))
TILEWRIGHT_EDGE_CASES(BitwiseOrFwdOp) { return BinaryEdges("input", "other"); }

TILEWRIGHT_REFERENCE(BitwiseXorFwdOp)
TILEWRIGHT_ELEMENTWISE(Integer2([](int64_t a, int64_t b) { return a ^ b; }))
TILEWRIGHT_EDGE_CASES(BitwiseXorFwdOp) { return BinaryEdges("input", "other"); }

// "Not" for bool.
TILEWRIGHT_REFERENCE(BitwiseNotFwdOp)
TILEWRIGHT_ELEMENTWISE([](const InputElements& x) {
  const DType dtype = x.output_dtype();
  return RefScalar{0, dtype == DType::kBool ? 1 - x.i(0) : WrapTo(dtype, ~x.i(0))};
})
TILEWRIGHT_EDGE_CASES(BitwiseNotFwdOp) { return UnaryEdges(); }

// Integers are finite.
TILEWRIGHT_REFERENCE(IsnanFwdOp)
TILEWRIGHT_ELEMENTWISE(Predicate1([](auto a) { return std::isnan(static_cast<double>(a)); }))
TILEWRIGHT_EDGE_CASES(IsnanFwdOp) { return UnaryEdges(); }

TILEWRIGHT_REFERENCE(IsinfFwdOp)
TILEWRIGHT_ELEMENTWISE(Predicate1([](auto a) { return std::isinf(static_cast<double>(a)); }))
TILEWRIGHT_EDGE_CASES(IsinfFwdOp) { return UnaryEdges(); }

TILEWRIGHT_REFERENCE(IsfiniteFwdOp)
TILEWRIGHT_ELEMENTWISE(Predicate1([](auto a) { return std::isfinite(static_cast<double>(a)); }))
TILEWRIGHT_EDGE_CASES(IsfiniteFwdOp) { return UnaryEdges(); }

}  // namespace tilewright
