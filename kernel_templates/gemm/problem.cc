#include "kernel_templates/gemm/problem.h"

#include <bit>

namespace tilewright {
namespace {

constexpr int64_t kPieceElements = 8;  // 16 bytes of a 16-bit type

// Rows of `inner_extent` contiguous elements that start `outer_stride` apart can be read in 16-byte
// pieces. A stride that no element uses does not matter.
bool HasPieces(int64_t contiguous_extent, int64_t contiguous_stride, int64_t outer_extent,
               int64_t outer_stride, uint32_t alignment) {
  if (alignment < 16) return false;
  if (contiguous_extent > 1 && contiguous_stride != 1) return false;
  return outer_extent <= 1 ||
         (outer_stride % kPieceElements == 0 && outer_stride >= contiguous_extent);
}

OperandAccess Classify(const GemmOperand& operand, int64_t outer, int64_t inner, int64_t batches) {
  const bool batched = batches <= 1 || operand.batch_stride % kPieceElements == 0;
  if (batched &&
      HasPieces(inner, operand.inner_stride, outer, operand.outer_stride, operand.alignment)) {
    return OperandAccess::kKMajor;
  }
  if (batched &&
      HasPieces(outer, operand.outer_stride, inner, operand.inner_stride, operand.alignment)) {
    return OperandAccess::kMnMajor;
  }
  return std::abs(operand.outer_stride) < std::abs(operand.inner_stride) ? OperandAccess::kMnStrided
                                                                         : OperandAccess::kKStrided;
}

GemmOperand Read(const Operand& operand, bool transposed) {
  const Dims& strides = operand.desc.strides;
  return {.outer_stride = strides[transposed ? 1 : 0],
          .inner_stride = strides[transposed ? 0 : 1],
          .batch_stride = 0,
          .alignment = operand.alignment};
}

}  // namespace

OperandAccess GemmProblem::AccessA() const { return Classify(a, m, k, batches); }
OperandAccess GemmProblem::AccessB() const { return Classify(b, n, k, batches); }

bool GemmProblem::OutputPieces() const {
  return Classify(d, m, n, batches) == OperandAccess::kKMajor;
}

int64_t BucketM(int64_t m) {
  if (m <= 2) return m;
  const int64_t power = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(m)));
  const int64_t between = power / 4 * 3;
  return power >= 32 && m <= between ? between : power;
}

GemmProblem GemmProblem::Bucketed() const {
  GemmProblem bucketed = *this;
  bucketed.m = BucketM(m);
  return bucketed;
}

GemmProblem ReadGemm(const CallDesc& call) {
  const bool trans_a = call.params[0].as_bool();
  const bool trans_b = call.params[1].as_bool();
  const Operand& a = call.operands[0];
  const Operand& b = call.operands[1];
  const Operand& d = call.operands[2];
  GemmProblem problem;
  problem.dtype = a.desc.dtype;
  problem.m = d.desc.shape[0];
  problem.n = d.desc.shape[1];
  problem.k = a.desc.shape[trans_a ? 0 : 1];
  problem.a = Read(a, trans_a);
  problem.b = Read(b, !trans_b);
  problem.d = Read(d, false);
  return problem;
}

std::string_view ElementName(DType dtype) {
  return dtype == DType::kFloat16 ? "tilewright::fp16" : "tilewright::bf16";
}

}  // namespace tilewright
