// A matrix product as the GEMM templates see it: extents, strides and how each operand can be read.
#ifndef TILEWRIGHT_KERNEL_TEMPLATES_GEMM_PROBLEM_H_
#define TILEWRIGHT_KERNEL_TEMPLATES_GEMM_PROBLEM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "kernel_templates/recipe.h"
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
  int operand = 0;  // index into the call's operands
};

// What happens to a sum before it is rounded: d = activation(sum + bias).
struct GemmEpilogue {
  enum class Activation : uint8_t { kNone = 0, kRelu = 1, kGelu = 2, kSilu = 3 };
  enum class Bias : uint8_t { kNone = 0, kAlongM = 1, kAlongN = 2 };
  DType out_dtype = DType::kBFloat16;  // the inputs' or float32
  Bias bias = Bias::kNone;             // dense, of the inputs' dtype
  int bias_operand = 0;
  Activation activation = Activation::kNone;

  bool computes() const { return bias != Bias::kNone || activation != Activation::kNone; }
};

// d[batch] (m x n) = a[batch] (m x k) * b[batch] (n x k)^T, float32 accumulation.
struct GemmProblem {
  DType dtype = DType::kBFloat16;  // of a and b
  int64_t batches = 1;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  GemmOperand a;
  GemmOperand b;
  GemmOperand d;
  GemmEpilogue epilogue;

  OperandAccess AccessA() const;
  OperandAccess AccessB() const;
  // The output's rows are contiguous and can be written by the copy engine.
  bool OutputPieces() const;
  bool empty() const { return batches == 0 || m == 0 || n == 0; }

  // The largest problem that shares this one's keys: m and the number of batches at their buckets'
  // upper bounds. What decides tiles looks at this one, so that a bucket has one choice.
  GemmProblem Bucketed() const;

  // The same problem as the kernels like it best: a column-major output makes it that of b and a;
  // batches that lie on end along m, with one b for all of them, make it one product.
  GemmProblem Canonical() const;
};

// Upper bound of the bucket of m: up to 128 a power of two or one and a half times one; beyond, a
// multiple of 128 rows (64 up to 256), or of an eighth of the power of two below m where that is
// more.
int64_t BucketM(int64_t m);

// The matrices of a call whose operands 0 to 2 are a [(B,) M, K], b [(B,) K, N] and d, or the
// transposes of a and b. As they are, without an epilogue.
GemmProblem ReadMatrices(const CallDesc& call, bool trans_a, bool trans_b);

// Reads a problem, in its canonical form, off a call of an operator.
using GemmReader = GemmProblem (*)(const CallDesc& call);
GemmProblem ReadGemm(const CallDesc& call);  // GemmFwdOp: a, b, d; params trans_a, trans_b
GemmProblem ReadBmm(const CallDesc& call);   // BmmFwdOp: a [B, M, K], b [B, K, N], d [B, M, N]

// The part of a problem that decides keys, as GemmFields() names it.
inline constexpr int kGemmFieldCount = 7;
std::array<ProblemField, kGemmFieldCount> GemmFields();
ProblemFields DescribeGemm(const GemmProblem& problem);

// "tilewright::bf16", the element type's name in the templates.
std::string_view ElementName(DType dtype);

// The constants that epilogue.cuh asks of a kernel's Config; `rows_are_m`: whether the kernel's
// rows are m (else its columns are).
void AddEpilogueConstants(const GemmProblem& problem, bool rows_are_m, KernelSpec& spec);
// Fills in the bias pointer at `offset` of a kernel's parameters.
void AddBiasPointer(const GemmProblem& problem, size_t offset, Launch& launch);

// Fills in the pointers of a kernel whose parameters hold all four operands by address.
template <class Params>
void AddOperandPointers(const GemmProblem& problem, Launch& launch) {
  launch.pointers = {{offsetof(Params, a), static_cast<int8_t>(problem.a.operand), 0},
                     {offsetof(Params, b), static_cast<int8_t>(problem.b.operand), 0},
                     {offsetof(Params, d), static_cast<int8_t>(problem.d.operand), 0}};
  AddBiasPointer(problem, offsetof(Params, bias), launch);
}

}  // namespace tilewright

#endif  // TILEWRIGHT_KERNEL_TEMPLATES_GEMM_PROBLEM_H_
