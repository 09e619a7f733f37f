// The facts of one call, without pointers: what recipes, keys, rooflines and references look at.
#ifndef TILEWRIGHT_MANIFEST_CALL_DESC_H_
#define TILEWRIGHT_MANIFEST_CALL_DESC_H_

#include <cstdint>
#include <string>

#include "absl/container/inlined_vector.h"
#include "manifest/param_value.h"
#include "manifest/tensor_desc.h"

namespace tilewright {

struct OpSpec;

// One input or output. `alignment` is the largest power of two, at most 256, that divides the data
// pointer (256 where no pointer is known yet, as when warming).
struct Operand {
  TensorDesc desc;
  uint32_t alignment = 256;
  bool present = true;  // false: an optional input that was not given
};

// A validated call. `operands` holds the op's inputs, then its outputs, in the manifest's order
// (an absent optional input keeps its place); `params` holds one normalised value per declared
// parameter, in the manifest's order. Lives as long as `op`, which it does not own.
struct CallDesc {
  const OpSpec* op = nullptr;
  absl::InlinedVector<Operand, 8> operands;
  absl::InlinedVector<ParamValue, 6> params;

  const Operand& input(int i) const { return operands[static_cast<size_t>(i)]; }
  const Operand& output(int i) const;
  // "GemmFwdOp(a=bfloat16(128, 7168), b=..., trans_b=true)", for messages and logs.
  std::string ToString() const;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_MANIFEST_CALL_DESC_H_
