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

struct Float8Config {
  int64_t tile_n = 192;
  int64_t groups = 2;
  int64_t stages = 2;

  static Float8Config From(const Config& config) {
    return {config.Get("tile_n"), config.Get("groups"), config.Get("stages")};
  }
  Config ToConfig() const {
    return {"float8", {{"tile_n", tile_n}, {"groups", groups}, {"stages", stages}}};
  }
  int64_t tile_m() const { return 64 * groups; }
  int64_t producer_registers() const { return groups == 2 ? 24 : 32; }
  int64_t math_registers() const { return groups == 2 ? 240 : 160; }
  int64_t SmemBytes(const AttentionProblem& p) const {
    const int64_t q = CeilDiv(PaddedDim(p), 128) * tile_m();
    const int64_t k = CeilDiv(PaddedDim(p), 128) * tile_n;
    const int64_t v = CeilDiv(tile_n, 128) * p.padded_value_dim();
    const int64_t o = CeilDiv(p.padded_value_dim(), 64) * tile_m();
    return (q + o + stages * (k + v)) * 128 + (2 + 4 * stages) * 8;
  }
  // Registers of scores, weights and results.
  int64_t Registers(const AttentionProblem& p) const {
    return tile_n / 2 + tile_n / 8 + p.padded_value_dim() / 2;
  }
  absl::Status Check(const AttentionProblem& p) const {
    if (SmemBytes(p) > kWgmmaSmemLimit) {
      return FailedPrecondition("needs ", SmemBytes(p), " bytes of shared memory, has ",
                                kWgmmaSmemLimit);
    }
    const int64_t limit = groups == 3 ? 128 : p.padded_value_dim() > 128 ? 180 : 204;
    if (Registers(p) > limit) {
      return FailedPrecondition("needs ", Registers(p), " registers for its tiles, at most ",
                                limit);
    }
    return absl::OkStatus();
  }
};

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

}  // namespace

absl::Status Float8AttentionVariant::Serves(const CallDesc& call,
                                            const DeviceProfile& device) const {
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

TuningSpace Float8AttentionVariant::Space(const CallDesc&, const DeviceProfile&) const {
  return {"float8",
          {{"tile_n", {64, 96, 128, 160, 192, 224}}, {"groups", {2, 3}}, {"stages", {2, 3}}}};
}

absl::Status Float8AttentionVariant::Legal(const CallDesc& call, const Config& config,
                                           const DeviceProfile&) const {
  return Float8Config::From(config).Check(read_(call));
}

double Float8AttentionVariant::PredictUs(const CallDesc& call, const Config& config,
                                         const DeviceProfile& device) const {
  const Float8Config c = Float8Config::From(config);
  // Exponentials take as long as the products; both overlap in part.
  const double efficiency = 0.55 * (1 - 10.0 / static_cast<double>(c.tile_n));
  return 4.0 + PredictWgmmaUs(read_(call), device,
                              {c.tile_m(), c.tile_n, TensorFlopsPerUs(device) * 2.2, efficiency});
}

Config Float8AttentionVariant::Default(const CallDesc& call, const DeviceProfile&) const {
  const AttentionProblem p = read_(call);
  Float8Config c;
  c.tile_n = p.mask == AttentionMask::kFull ? 224 : 128;
  for (; c.tile_n >= 32; c.tile_n -= 32) {
    if (c.Check(p).ok()) return c.ToConfig();
  }
  return {};
}

std::vector<KernelSpec> Float8AttentionVariant::Kernels(const CallDesc& call,
                                                        const Config& config) const {
  const AttentionProblem p = read_(call);
  const Float8Config c = Float8Config::From(config);
  const auto number = [](int64_t value) { return std::to_string(value); };
  const auto flag = [](bool value) { return std::string(value ? "true" : "false"); };
  KernelSpec spec{"attention/wgmma_float8.cuh",
                  "tilewright::WgmmaAttentionKernel",
                  {{"using Element", "tilewright::fp8_e4m3"},
                   {"bool kFloat8", "true"},
                   {"using OutputElement", std::string(AttentionElement(p.output_dtype))},
                   {"int kDim", number(PaddedDim(p))},
                   {"int kValueDim", number(p.padded_value_dim())},
                   {"int kTileN", number(c.tile_n)},
                   {"int kStages", number(c.stages)},
                   {"int kMathGroups", number(c.groups)},
                   {"bool kCausal", flag(p.mask != AttentionMask::kFull)},
                   {"bool kWindow", flag(p.mask == AttentionMask::kWindow)},
                   {"bool kSoftcap", flag(p.softcap)},
                   {"bool kLse", "false"},
                   {"bool kQueryScales", "true"},
                   {"bool kKeyScales", "true"},
                   {"int kPageRows", number(c.tile_n)},
                   {"bool kSharedOutput", "false"},
                   {"int kProducerRegisters", number(c.producer_registers())},
                   {"int kMathRegisters", number(c.math_registers())}}};
  AddSequenceTraits(p, spec.constants);
  return {spec, {"attention/transpose.cuh", "tilewright::TransposeKernel", {}}};
}

absl::StatusOr<BoundCall> Float8AttentionVariant::Bind(const CallDesc& call, const Config& config,
                                                       const DeviceProfile& device) const {
  const AttentionProblem p = read_(call);
  const Float8Config c = Float8Config::From(config);
  BoundCall bound;
  if (p.empty()) return bound;
  const AttentionParams& a = p.params;
  const AttentionOperands& at = p.operands;
  const int64_t columns = TransposedColumns(p);
  bound.workspace_bytes = columns * a.value_dim * a.kv_heads;
  bound.launches.push_back(TransposeLaunch(p, columns));
  WgmmaAttentionParams params{};
  params.walk = MakeWalk(p, c.tile_m());
  params.call = WithPack(p, 1);
  Launch launch;
  launch.grid = {
      static_cast<uint32_t>(std::min<int64_t>(params.walk.tiles, std::max(device.sm_count, 1))), 1,
      1};
  launch.block = {static_cast<uint32_t>((c.groups + 1) * 128), 1, 1};
  launch.dynamic_smem_bytes = static_cast<uint32_t>(c.SmemBytes(p));
  launch.SetParams(params);
  AddPointers(p, offsetof(WgmmaAttentionParams, call), launch);
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

}  // namespace tilewright
