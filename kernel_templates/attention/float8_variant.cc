#include <algorithm>
#include <cstddef>
#include <string>

#include "kernel_templates/attention/variants.h"
#include "kernel_templates/attention/wgmma_launch.h"
#include "kernel_templates/gemm/variants.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int64_t kGroup = 32;  // keys, of transposed values

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

int64_t PaddedDim(const AttentionProblem& p) { return CeilDiv(p.params.head_dim, 32) * 32; }

// Rows of ones and zeros behind the values, where a product has place for them.
int64_t SumDims(const AttentionProblem& p) { return p.padded_value_dim() <= 248 ? 8 : 0; }

int64_t SmemBytes(const AttentionProblem& p, const WgmmaAttentionTiles& t) {
  const int64_t q = CeilDiv(PaddedDim(p), 128) * t.tile_m();
  const int64_t k = CeilDiv(PaddedDim(p), 128) * t.tile_n;
  const int64_t v = CeilDiv(t.tile_n, 128) * (p.padded_value_dim() + SumDims(p));
  const int64_t o = CeilDiv(p.padded_value_dim(), 64) * t.tile_m();
  return (q + o + t.stages * (k + v)) * 128 + (2 + 4 * t.stages) * 8;
}

absl::Status Check(const AttentionProblem& p, const WgmmaAttentionTiles& t) {
  return t.Check(p, SmemBytes(p, t), t.tile_n / 2 + t.tile_n / 8 + p.padded_value_dim() / 2);
}

// Whether rows can be loaded by the copy engine: 16-byte pieces.
bool InSixteens(const CallDesc& call, int operand, const RowStrides& strides) {
  return call.operands[static_cast<size_t>(operand)].alignment >= 16 && strides.dim == 1 &&
         strides.row % 16 == 0 && strides.head % 16 == 0 && HasPositiveStrides(strides);
}

// Columns of the transposed values: every sequence may waste most of a group.
int64_t TransposedColumns(const AttentionProblem& p) {
  return CeilDiv((CeilDiv(p.total_kv, kGroup) + p.params.batches) * kGroup, 128) * 128;
}

Launch TransposeLaunch(const AttentionProblem& p, int64_t columns) {
  TransposeParams params{};
  params.strides = p.params.v_strides;
  params.kv_starts_stride = p.params.kv_starts_stride;
  params.columns = columns;
  params.batches = p.params.batches;
  params.value_dim = p.params.value_dim;
  Launch launch;
  launch.kernel = 1;
  launch.grid = {static_cast<uint32_t>(columns / 128), static_cast<uint32_t>(p.params.kv_heads), 1};
  launch.block = {256, 1, 1};
  launch.SetParams(params);
  launch.pointers = {
      {offsetof(TransposeParams, from), static_cast<int8_t>(p.operands.v), 0},
      {offsetof(TransposeParams, to), kWorkspaceOperand, 0},
      {offsetof(TransposeParams, kv_starts), static_cast<int8_t>(p.operands.kv_starts), 0}};
  return launch;
}

class Float8AttentionVariant : public AttentionVariant {
 public:
  using AttentionVariant::AttentionVariant;
  std::string_view name() const override { return "float8"; }

  absl::Status Serves(const CallDesc& call, const DeviceProfile& device) const override {
    const AttentionProblem p = read_(call);
    if (device.arch != "sm_90a") return FailedPrecondition("needs sm_90a, got ", device.arch);
    if (DTypeSize(p.query_dtype) != 1 || DTypeSize(p.key_dtype) != 1) {
      return FailedPrecondition("queries or keys are not float8");
    }
    if (!p.ragged || p.paged || p.operands.lse >= 0) {
      return FailedPrecondition("not a ragged batch of keys in one place");
    }
    TW_RETURN_IF_ERROR(p.CheckExtents());
    const AttentionParams& a = p.params;
    if (!InSixteens(call, p.operands.q, a.q_strides) ||
        !InSixteens(call, p.operands.k, a.k_strides) ||
        !InSixteens(call, p.operands.v, a.v_strides) || a.value_dim % 16 != 0) {
      return FailedPrecondition("q, k or v does not lie in rows of 16-byte pieces");
    }
    if (a.kv_heads > 65535) return FailedPrecondition(a.kv_heads, " key heads exceed the grid");
    if (TransposedColumns(p) > 0x7fffffff) return FailedPrecondition("too many keys to transpose");
    TW_RETURN_IF_ERROR(CheckWgmmaCall(call, p));
    return Default(call, device).variant.empty()
               ? FailedPrecondition("no tile of these head dimensions fits into an SM")
               : absl::OkStatus();
  }

  TuningSpace Space(const CallDesc&, const DeviceProfile&) const override {
    return {"float8",
            {{"tile_n", {64, 96, 128, 160, 192, 224}}, {"groups", {2, 3}}, {"stages", {2, 3}}}};
  }

  absl::Status Legal(const CallDesc& call, const Config& config,
                     const DeviceProfile&) const override {
    return Check(read_(call), WgmmaAttentionTiles::From(config));
  }

  double PredictUs(const CallDesc& call, const Config& config,
                   const DeviceProfile& device) const override {
    const auto c = WgmmaAttentionTiles::From(config);
    // Exponentials take as long as the products; both overlap in part.
    const double efficiency = 0.55 * (1 - 10.0 / static_cast<double>(c.tile_n));
    return 4.0 + PredictWgmmaUs(read_(call), device,
                                {c.tile_m(), c.tile_n, TensorFlopsPerUs(device) * 2.2, efficiency});
  }

  Config Default(const CallDesc& call, const DeviceProfile&) const override {
    const AttentionProblem p = read_(call);
    // A softcap's exponentials need registers of their own.
    const bool whole = p.mask == AttentionMask::kFull && !p.softcap;
    WgmmaAttentionTiles c = {whole ? 224 : 192};
    for (; c.tile_n >= 32; c.tile_n -= 32) {
      if (Check(p, c).ok()) return c.ToConfig(name());
    }
    return {};
  }

  std::vector<KernelSpec> Kernels(const CallDesc& call, const Config& config) const override {
    const AttentionProblem p = read_(call);
    const auto c = WgmmaAttentionTiles::From(config);
    const KernelSpec spec = WgmmaAttentionSpec(
        p, c, {"attention/wgmma_float8.cuh", DType::kFloat8E4M3, PaddedDim(p), c.tile_n});
    return {spec, {"attention/transpose.cuh", "tilewright::TransposeKernel", {}}};
  }

  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config& config,
                                 const DeviceProfile& device) const override {
    const AttentionProblem p = read_(call);
    const auto c = WgmmaAttentionTiles::From(config);
    BoundCall bound;
    if (p.empty()) return bound;
    const AttentionParams& a = p.params;
    const AttentionOperands& at = p.operands;
    const int64_t columns = TransposedColumns(p);
    bound.workspace_bytes = columns * a.value_dim * a.kv_heads;
    bound.launches.push_back(TransposeLaunch(p, columns));
    Launch launch = WgmmaAttentionLaunch(p, c, device, SmemBytes(p, c));
    const RowStrides transposed = {0, columns, columns * a.value_dim, 1};
    launch.tensor_maps = {
        AttentionMap({offsetof(WgmmaAttentionParams, q_map), at.q, 0, p.query_dtype}, a.q_strides,
                     {a.head_dim, p.total_q, a.heads, 1}, c.tile_m()),
        AttentionMap({offsetof(WgmmaAttentionParams, k_map), at.k, 0, p.key_dtype}, a.k_strides,
                     {a.head_dim, p.total_kv, a.kv_heads, 1}, c.tile_n),
        AttentionMap({offsetof(WgmmaAttentionParams, v_map), kWorkspaceOperand, 0, p.key_dtype},
                     transposed, {columns, a.value_dim, a.kv_heads, 1}, p.padded_value_dim()),
        AttentionMap({offsetof(WgmmaAttentionParams, o_map), at.o, 0, p.output_dtype}, a.o_strides,
                     {a.value_dim, p.total_q, a.heads, 1}, 64)};
    bound.launches.push_back(std::move(launch));
    return bound;
  }
};

}  // namespace

std::unique_ptr<Variant> MakeFloat8AttentionVariant(AttentionReader read) {
  return std::make_unique<Float8AttentionVariant>(read);
}

}  // namespace tilewright
