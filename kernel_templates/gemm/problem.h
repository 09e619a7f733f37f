// A matrix product as the GEMM templates see it: extents, strides and how each operand can be read.
#ifndef TILEWRIGHT_KERNEL_TEMPLATES_GEMM_PROBLEM_H_
#define TILEWRIGHT_KERNEL_TEMPLATES_GEMM_PROBLEM_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "manifest/call_desc.h"
#include "manifest/device_profile.h"

namespace tilewright {

// How an input lies in memory. The values enter problem keys.
enum class OperandAccess : uint8_t {
  kKMajor = 0,     // K contiguous, 16-byte pieces
  kMnMajor = 1,    // M (or N) contiguous, 16-byte pieces
  kKStrided = 2,   // element by element, K closer together than M (or N)
  kMnStrided = 3,  // element by element, M (or N) closer together
};

// One operand as a batch of matrices. For an input `outer` is M or N and `inner` is K; for the
// output they are M and N. Strides are in elements.
struct GemmOperand {
  int64_t outer_stride = 0;
  int64_t inner_stride = 0;
  int64_t batch_stride = 0;
  uint32_t alignment = 256;
};

// d[batch] (m x n) = a[batch] (m x k) * b[batch] (n x k)^T, float32 accumulation.
struct GemmProblem {
  DType dtype = DType::kBFloat16;
  int64_t batches = 1;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  GemmOperand a;
  GemmOperand b;
  GemmOperand d;

  OperandAccess AccessA() const;
  OperandAccess AccessB() const;
  // The output's rows are contiguous and can be written by the copy engine.
  bool OutputPieces() const;
  bool empty() const { return batches == 0 || m == 0 || n == 0; }

  // The largest problem that shares this one's keys: m at its bucket's upper bound. What decides
  // tiles looks at this one, so that a bucket has one choice.
  GemmProblem Bucketed() const;
};

// Upper bound of the bucket of m: a power of two or one and a half times one, from 1 on.
int64_t BucketM(int64_t m);

// Reads a problem off a call of an operator with operands a, b, d.
using GemmReader = GemmProblem (*)(const CallDesc& call);
GemmProblem ReadGemm(const CallDesc& call);  // GemmFwdOp: params trans_a, trans_b

// "tilewright::bf16", the element type's name in the templates.
std::string_view ElementName(DType dtype);

}  // namespace tilewright

#endif  // TILEWRIGHT_KERNEL_TEMPLATES_GEMM_PROBLEM_H_
