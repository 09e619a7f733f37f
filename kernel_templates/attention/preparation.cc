#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include "kernel_templates/attention/variants.h"

namespace tilewright {
namespace {

bool Appends(const AttentionProblem& problem) {
  return problem.operands.k_new != AttentionOperands::kNone;
}
bool Rotates(const AttentionProblem& problem) { return Appends(problem) && problem.rotary_dim > 0; }
bool Narrow(DType dtype) { return DTypeSize(dtype) == 1; }

// Takes `bytes` of the workspace; where they start.
int64_t TakeWorkspace(BoundCall& bound, int64_t bytes) {
  const int64_t start = bound.workspace_bytes;
  bound.workspace_bytes += (bytes + 255) / 256 * 256;
  return start;
}

Launch AppendLaunch(const CallDesc& call, const AttentionProblem& problem) {
  const AttentionOperands& at = problem.operands;
  const auto strides = [&](int operand) {
    const Dims& s = call.operands[static_cast<size_t>(operand)].desc.strides;
    return RowStrides{0, s[0], s[1], s[2]};
  };
  AppendParams params{};
  params.call = WithPack(problem, 1);
  params.k_new_strides = strides(at.k_new);
  params.v_new_strides = strides(at.v_new);
  params.rotary_dim = problem.rotary_dim;
  if (Rotates(problem)) {
    params.log2_base =
        -2.0 * std::log2(problem.rope_base) / static_cast<double>(problem.rotary_dim);
  }
  Launch launch;
  launch.grid = {static_cast<uint32_t>(problem.total_q), 1, 1};
  launch.block = {128, 1, 1};
  launch.SetParams(params);
  AddPointers(problem, offsetof(AppendParams, call), launch);
  const auto add = [&](size_t field, int operand) {
    launch.pointers.push_back({static_cast<uint16_t>(field), static_cast<int8_t>(operand), 0});
  };
  add(offsetof(AppendParams, k_new), at.k_new);
  add(offsetof(AppendParams, v_new), at.v_new);
  add(offsetof(AppendParams, k_pages), at.k);
  add(offsetof(AppendParams, v_pages), at.v);
  return launch;
}

// Rows x heads x dim of the operand at `strides`, packed into the workspace from `offset` on.
Launch WidenLaunch(int operand, const RowStrides& strides, int64_t rows, int64_t heads, int64_t dim,
                   int64_t offset) {
  constexpr int64_t kMaxBlocks = 132 * 16;
  WidenParams params{};
  params.strides = strides;
  params.pieces = rows * heads * dim / 8;
  params.row_pieces = MakeFastDivmod<false>(static_cast<unsigned long long>(dim / 8));
  params.heads = MakeFastDivmod<false>(static_cast<unsigned long long>(heads));
  Launch launch;
  launch.grid = {static_cast<uint32_t>(std::clamp<int64_t>(params.pieces / 1024, 1, kMaxBlocks)), 1,
                 1};
  launch.block = {256, 1, 1};
  launch.SetParams(params);
  launch.pointers = {{offsetof(WidenParams, from), static_cast<int8_t>(operand), 0},
                     {offsetof(WidenParams, to), kWorkspaceOperand, offset}};
  return launch;
}

}  // namespace

bool CanWiden(const AttentionProblem& problem) {
  constexpr int64_t kMaxPieces = 0x7fffffff;
  const AttentionParams& a = problem.params;
  return problem.ragged && problem.total_q * a.heads * a.head_dim / 8 <= kMaxPieces &&
         problem.total_kv * a.kv_heads * std::max(a.head_dim, a.value_dim) / 8 <= kMaxPieces;
}

void Preparation::AddKernels(const AttentionProblem& problem, bool widen,
                             std::vector<KernelSpec>& kernels) {
  const auto type = [](DType dtype) { return std::string(AttentionElement(dtype)); };
  if (Appends(problem)) {
    kernels.push_back({"attention/append.cuh",
                       "tilewright::AppendKernel",
                       {{"using Element", type(problem.query_dtype)},
                        {"using CacheElement", type(problem.key_dtype)},
                        {"bool kRotate", Rotates(problem) ? "true" : "false"}}});
  }
  if (widen && problem.float8()) {
    kernels.push_back({"attention/widen.cuh",
                       "tilewright::WidenKernel",
                       {{"using Element", type(problem.compute_dtype())},
                        {"using Source", type(DType::kFloat8E4M3)}}});
  }
}

AttentionProblem Preparation::Bind(const CallDesc& call, const AttentionProblem& problem,
                                   bool widen, int first_kernel, BoundCall& bound) {
  AttentionProblem ready = problem;
  const AttentionParams& a = problem.params;
  const auto packed = [](int64_t heads, int64_t dim) { return RowStrides{0, heads * dim, dim, 1}; };
  if (Appends(problem)) {
    Launch append = AppendLaunch(call, problem);
    append.kernel = first_kernel++;
    if (Rotates(problem)) {
      ready.operands.q = kWorkspaceOperand;
      ready.operands.q_offset = TakeWorkspace(bound, problem.total_q * a.heads * a.head_dim * 2);
      ready.params.q_strides = packed(a.heads, a.head_dim);
      append.pointers.push_back(
          {offsetof(AppendParams, q_rotated), kWorkspaceOperand, ready.operands.q_offset});
    }
    bound.launches.push_back(std::move(append));
  }
  if (!widen || !problem.float8()) return ready;
  const auto widened = [&](int& operand, int64_t& offset, RowStrides& strides, int64_t rows,
                           int64_t heads, int64_t dim) {
    offset = TakeWorkspace(bound, rows * heads * dim * 2);
    Launch launch = WidenLaunch(operand, strides, rows, heads, dim, offset);
    launch.kernel = first_kernel;
    bound.launches.push_back(std::move(launch));
    operand = kWorkspaceOperand;
    strides = packed(heads, dim);
  };
  AttentionOperands& at = ready.operands;
  if (Narrow(problem.query_dtype)) {
    widened(at.q, at.q_offset, ready.params.q_strides, problem.total_q, a.heads, a.head_dim);
  }
  widened(at.k, at.k_offset, ready.params.k_strides, problem.total_kv, a.kv_heads, a.head_dim);
  widened(at.v, at.v_offset, ready.params.v_strides, problem.total_kv, a.kv_heads, a.value_dim);
  ready.query_dtype = ready.key_dtype = problem.compute_dtype();
  return ready;
}

}  // namespace tilewright
