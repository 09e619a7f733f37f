#include "kernel_templates/gemm/problem.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

namespace tilewright {
namespace {

constexpr int64_t kPieceBytes = 16;
constexpr int64_t kMaxStrideBytes = int64_t{1} << 40;  // exclusive; of the copy engine

// Whether the copy engine takes the stride of `extent` elements, which are at least `least` apart.
// A stride that no element uses does not matter.
bool TakesStride(int64_t extent, int64_t stride, int64_t least, int64_t element_bytes) {
  return extent <= 1 || (stride * element_bytes % kPieceBytes == 0 && stride >= least &&
                         stride < kMaxStrideBytes / element_bytes);
}

// Rows of `inner_extent` contiguous elements that start `outer_stride` apart can be read in 16-byte
// pieces.
bool HasPieces(int64_t contiguous_extent, int64_t contiguous_stride, int64_t outer_extent,
               int64_t outer_stride, uint32_t alignment, int64_t element_bytes) {
  if (alignment < kPieceBytes) return false;
  if (contiguous_extent > 1 && contiguous_stride != 1) return false;
  return TakesStride(outer_extent, outer_stride, contiguous_extent, element_bytes);
}

OperandAccess Classify(const GemmOperand& operand, int64_t outer, int64_t inner, int64_t batches,
                       int64_t element_bytes = 2) {
  const bool batched = TakesStride(batches, operand.batch_stride, 0, element_bytes);
  if (batched && HasPieces(inner, operand.inner_stride, outer, operand.outer_stride,
                           operand.alignment, element_bytes)) {
    return OperandAccess::kKMajor;
  }
  if (batched && HasPieces(outer, operand.outer_stride, inner, operand.inner_stride,
                           operand.alignment, element_bytes)) {
    return OperandAccess::kMnMajor;
  }
  return std::abs(operand.outer_stride) < std::abs(operand.inner_stride) ? OperandAccess::kMnStrided
                                                                         : OperandAccess::kKStrided;
}

// An operand of matrices whose last two axes are `outer` and `inner`, or the other way round.
GemmOperand Read(const CallDesc& call, int index, bool transposed) {
  const Operand& operand = call.operands[static_cast<size_t>(index)];
  const Dims& strides = operand.desc.strides;
  const int last = strides.rank() - 1;
  return {.outer_stride = strides[transposed ? last : last - 1],
          .inner_stride = strides[transposed ? last - 1 : last],
          .batch_stride = last == 2 ? strides[0] : 0,
          .alignment = operand.alignment,
          .operand = index};
}

// Batches of `extent` rows follow one another like the rows do.
bool OnEnd(const GemmOperand& operand, int64_t extent) {
  return operand.batch_stride == extent * operand.outer_stride;
}

}  // namespace

OperandAccess GemmProblem::AccessA() const { return Classify(a, m, k, batches); }
OperandAccess GemmProblem::AccessB() const { return Classify(b, n, k, batches); }

bool GemmProblem::OutputPieces() const {
  return Classify(d, m, n, batches, DTypeSize(epilogue.out_dtype)) == OperandAccess::kKMajor;
}

int64_t BucketM(int64_t m) {
  if (m <= 2) return m;
  const int64_t power = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(m)));
  if (m > 128) {
    const int64_t step = m <= 256 ? 64 : std::max<int64_t>(128, power / 16);
    return (m + step - 1) / step * step;
  }
  const int64_t between = power / 4 * 3;
  return power >= 32 && m <= between ? between : power;
}

GemmProblem GemmProblem::Bucketed() const {
  GemmProblem bucketed = *this;
  bucketed.m = BucketM(m);
  bucketed.batches = BucketM(batches);
  return bucketed;
}

GemmProblem GemmProblem::Canonical() const {
  using Bias = GemmEpilogue::Bias;
  GemmProblem canonical = *this;
  if (n > 1 && d.inner_stride != 1 && d.outer_stride == 1) {
    std::swap(canonical.m, canonical.n);
    std::swap(canonical.a, canonical.b);
    std::swap(canonical.d.outer_stride, canonical.d.inner_stride);
    if (epilogue.bias != Bias::kNone) {
      canonical.epilogue.bias = epilogue.bias == Bias::kAlongN ? Bias::kAlongM : Bias::kAlongN;
    }
  }
  if (batches > 1 && m > 0 && canonical.b.batch_stride == 0 && OnEnd(canonical.a, canonical.m) &&
      OnEnd(canonical.d, canonical.m) && canonical.epilogue.bias != Bias::kAlongM) {
    canonical.m *= batches;
    canonical.batches = 1;
  }
  return canonical;
}

GemmProblem ReadMatrices(const CallDesc& call, bool trans_a, bool trans_b) {
  const TensorDesc& a = call.operands[0].desc;
  const TensorDesc& d = call.operands[2].desc;
  const int axis = a.rank() - 2;
  GemmProblem problem;
  problem.dtype = a.dtype;
  problem.batches = axis == 1 ? a.shape[0] : 1;
  problem.m = d.shape[axis];
  problem.n = d.shape[axis + 1];
  problem.k = a.shape[trans_a ? axis : axis + 1];
  problem.a = Read(call, 0, trans_a);
  problem.b = Read(call, 1, !trans_b);
  problem.d = Read(call, 2, false);
  problem.epilogue.out_dtype = d.dtype;
  return problem;
}

GemmProblem ReadGemm(const CallDesc& call) {
  return ReadMatrices(call, call.params[0].as_bool(), call.params[1].as_bool()).Canonical();
}

GemmProblem ReadBmm(const CallDesc& call) { return ReadMatrices(call, false, false).Canonical(); }

std::array<ProblemField, kGemmFieldCount> GemmFields() {
  using Kind = ProblemField::Kind;
  return {{{"batches", Kind::kBucket},
           {"m", Kind::kBucket},
           {"n", Kind::kExact},
           {"k", Kind::kExact},
           {"a_access", Kind::kClass},
           {"b_access", Kind::kClass},
           {"d_pieces", Kind::kClass}}};
}

ProblemFields DescribeGemm(const GemmProblem& problem) {
  return {BucketM(problem.batches),
          BucketM(problem.m),
          problem.n,
          problem.k,
          static_cast<int64_t>(problem.AccessA()),
          static_cast<int64_t>(problem.AccessB()),
          problem.OutputPieces() ? 1 : 0};
}

std::string_view ElementName(DType dtype) {
  return dtype == DType::kFloat32   ? "float"
         : dtype == DType::kFloat16 ? "tilewright::fp16"
                                    : "tilewright::bf16";
}

void AddEpilogueConstants(const GemmProblem& problem, bool rows_are_m, KernelSpec& spec) {
  using Bias = GemmEpilogue::Bias;
  const GemmEpilogue& epilogue = problem.epilogue;
  const bool along_rows = (epilogue.bias == Bias::kAlongM) == rows_are_m;
  const int bias = epilogue.bias == Bias::kNone ? 0 : along_rows ? 1 : 2;
  spec.constants.emplace_back("using Output", ElementName(epilogue.out_dtype));
  spec.constants.emplace_back("int kBias", std::to_string(bias));
  spec.constants.emplace_back("int kActivation",
                              std::to_string(static_cast<int>(epilogue.activation)));
}

void AddBiasPointer(const GemmProblem& problem, size_t offset, Launch& launch) {
  if (problem.epilogue.bias == GemmEpilogue::Bias::kNone) return;
  launch.pointers.push_back(
      {static_cast<uint16_t>(offset), static_cast<int8_t>(problem.epilogue.bias_operand), 0});
}

}  // namespace tilewright
