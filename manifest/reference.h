// Reference implementations: plain CPU functions that define what is correct.
#ifndef TILEWRIGHT_MANIFEST_REFERENCE_H_
#define TILEWRIGHT_MANIFEST_REFERENCE_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "manifest/call_desc.h"

namespace tilewright {

// One element of a result: `f` for floating dtypes, `i` for integers and bool.
struct RefScalar {
  double f = 0;
  int64_t i = 0;
  // Where `f` is a sum whose terms may cancel: the sum of their magnitudes, which the rounding of a
  // float32 accumulation is in proportion to. Else 0.
  double magnitude = 0;
  // What the definition lets a result differ by besides the rounding to its dtype: where inner
  // values may be rounded to a narrow format.
  double slack = 0;
  // The definition rounds on the way (exponentials): integers in give no exact integers out.
  bool inexact = false;
};

// Host data of one operand, in the operand's own dtype and strides: `data` points at element
// (0, ..., 0).
struct HostOperand {
  const void* data = nullptr;
};

// Element readers: convert the element at `offset` (in elements) to double / int64. A floating
// element truncates to int64 (NaN is 0, infinities saturate); of a complex one the real part
// counts.
double LoadAsDouble(const void* data, DType dtype, int64_t offset);
int64_t LoadAsInt(const void* data, DType dtype, int64_t offset);
// Round to nearest even (saturating for fp8 e4m3) and store; integers wrap, a bool is "not zero".
void StoreFromDouble(void* data, DType dtype, int64_t offset, double value);
void StoreFromInt(void* data, DType dtype, int64_t offset, int64_t value);

struct ReferenceCall {
  const CallDesc* call = nullptr;
  std::span<const HostOperand> inputs;  // in the manifest's order
};

// Computes chosen elements of one output, or, at index output_count() + k, of the k-th mutated
// input after the call, in float64 or exact integers. `elements` are linear row-major indices into
// the output's shape; `values` has the same length. Sampling is what makes large shapes checkable:
// a reference must not compute more rows than it is asked for. Pure and thread-safe.
using ReferenceFunction =
    std::function<absl::Status(const ReferenceCall&, int output, std::span<const int64_t> elements,
                               std::span<RefScalar> values)>;

// The built-in reference of an op; empty function if it has none. Each reference is defined beside
// the manifest in manifest/references/ as
//   TILEWRIGHT_REFERENCE(GemmFwdOp)(const ReferenceCall& call, int output, ...) { ... }
// and found by the build-time generator through that marker.
ReferenceFunction BuiltinReference(std::string_view op);

// The operators that have a marker, declared or not: a misspelt one shows here.
std::vector<std::string_view> BuiltinReferenceOps();

#define TILEWRIGHT_REFERENCE(op) absl::Status Reference_##op

}  // namespace tilewright

#endif  // TILEWRIGHT_MANIFEST_REFERENCE_H_
