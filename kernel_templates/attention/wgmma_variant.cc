#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>

#include "kernel_templates/attention/variants.h"
#include "kernel_templates/attention/wgmma_launch.h"
#include "kernel_templates/gemm/variants.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t Blocks(int64_t columns) { return CeilDiv(columns, 64); }

struct WgmmaAttentionConfig {
  int64_t tile_n = 128;
  int64_t groups = 2;
  int64_t stages = 2;

  static WgmmaAttentionConfig From(const Config& config) {
    return {config.Get("tile_n"), config.Get("groups"), config.Get("stages")};
  }
  Config ToConfig() const {
    return {"wgmma", {{"tile_n", tile_n}, {"groups", groups}, {"stages", stages}}};
  }

  int64_t tile_m() const { return 64 * groups; }
  int64_t producer_registers() const { return groups == 2 ? 24 : 32; }
  int64_t math_registers() const { return groups == 2 ? 240 : 160; }
  int64_t SmemBytes(const AttentionProblem& p, bool shared_output) const {
    const int64_t q = Blocks(p.padded_dim()), v = Blocks(p.padded_value_dim());
    const int64_t rows = tile_m() * (q + (shared_output ? 0 : v)) + stages * tile_n * (q + v);
    return rows * 128 + (2 + 4 * stages) * 8;
  }
  // Whether the output is staged where the queries were.
  bool SharedOutput(const AttentionProblem& p) const {
    return SmemBytes(p, false) > kWgmmaSmemLimit;
  }
  // Registers of scores, weights and results.
  int64_t Registers(const AttentionProblem& p) const {
    return tile_n / 2 + tile_n / 4 + p.padded_value_dim() / 2;
  }

  absl::Status Check(const AttentionProblem& p) const {
    const bool shared = SharedOutput(p);
    if (shared && Blocks(p.padded_value_dim()) > Blocks(p.padded_dim())) {
      return FailedPrecondition("the output does not fit into shared memory");
    }
    if (SmemBytes(p, shared) > kWgmmaSmemLimit) {
      return FailedPrecondition("needs ", SmemBytes(p, shared), " bytes of shared memory, has ",
                                kWgmmaSmemLimit);
    }
    // Wide values spill sooner: their rescaling and the scores' descriptors need more besides.
    const int64_t limit = groups == 3 ? 128 : p.padded_value_dim() > 128 ? 180 : 204;
    if (Registers(p) > limit) {
      return FailedPrecondition("needs ", Registers(p), " registers for its tiles, at most ",
                                limit);
    }
    return absl::OkStatus();
  }
};

// Rows of a block of keys that lie together: they are loaded by one copy.
int64_t PageRows(const AttentionProblem& p, int64_t tile_n) {
  return p.paged ? std::gcd(static_cast<int64_t>(p.params.page.divisor), tile_n) : tile_n;
}

}  // namespace

absl::Status WgmmaAttentionVariant::Serves(const CallDesc& call,
                                           const DeviceProfile& device) const {
  const AttentionProblem p = read_(call);
  if (device.arch != "sm_90a") return FailedPrecondition("needs sm_90a, got ", device.arch);
  TW_RETURN_IF_ERROR(p.CheckExtents());
  if (p.float8() && !CanWiden(p)) return FailedPrecondition("float8 operands too large to widen");
  if (!p.vector || !HasPositiveStrides(p.params.q_strides) ||
      !HasPositiveStrides(p.params.k_strides) || !HasPositiveStrides(p.params.v_strides)) {
    return FailedPrecondition("q, k or v does not lie in rows of 16-byte pieces");
  }
  TW_RETURN_IF_ERROR(CheckWgmmaCall(call, p));
  return Default(call, device).variant.empty()
             ? FailedPrecondition("no tile of these head dimensions fits into an SM")
             : absl::OkStatus();
}

TuningSpace WgmmaAttentionVariant::Space(const CallDesc&, const DeviceProfile&) const {
  return {"wgmma",
          {{"tile_n", {64, 80, 96, 112, 128, 144, 160, 176, 192}},
           {"groups", {2, 3}},
           {"stages", {2, 3}}}};
}

absl::Status WgmmaAttentionVariant::Legal(const CallDesc& call, const Config& config,
                                          const DeviceProfile&) const {
  const AttentionProblem p = read_(call);
  if (PageRows(p, config.Get("tile_n")) % 8 != 0) {
    return FailedPrecondition("pages of ", p.params.page.divisor, " rows in tiles of ",
                              config.Get("tile_n"));
  }
  return WgmmaAttentionConfig::From(config).Check(p);
}

double WgmmaAttentionVariant::PredictUs(const CallDesc& call, const Config& config,
                                        const DeviceProfile& device) const {
  const AttentionProblem p = read_(call);
  const WgmmaAttentionConfig c = WgmmaAttentionConfig::From(config);
  // Share of the tensor cores' rate; exponentials and waits take the rest.
  const double efficiency =
      (c.groups == 3 ? 0.80 : 0.83) * (1 - 10.0 / static_cast<double>(c.tile_n));
  return PredictWgmmaUs(p, device,
                        {c.tile_m(), c.tile_n, TensorFlopsPerUs(device) * 1.1, efficiency});
}

Config WgmmaAttentionVariant::Default(const CallDesc& call, const DeviceProfile& device) const {
  const AttentionProblem p = read_(call);
  const int64_t dim = std::max(p.padded_dim(), p.padded_value_dim());
  WgmmaAttentionConfig c;
  // Three groups where their taller tiles still make several waves.
  const int64_t tall_tiles = WgmmaRowTiles(p, 192) * p.params.heads * p.params.batches;
  if (dim <= 64 && tall_tiles >= 2 * std::max(device.sm_count, 1)) c.groups = 3;
  if (dim > 64 && dim <= 128 && p.mask == AttentionMask::kFull) c.tile_n = 176;
  // Pages that are halves or quarters of a tile are loaded by few copies.
  if (p.paged) c.tile_n = dim <= 128 ? 128 : 64;
  for (; c.tile_n >= 32; c.tile_n -= p.paged ? 32 : 16) {
    if (c.Check(p).ok() && PageRows(p, c.tile_n) % 8 == 0) return c.ToConfig();
  }
  return {};
}

std::vector<KernelSpec> WgmmaAttentionVariant::Kernels(const CallDesc& call,
                                                       const Config& config) const {
  const AttentionProblem p = read_(call);
  const WgmmaAttentionConfig c = WgmmaAttentionConfig::From(config);
  const auto number = [](int64_t value) { return std::to_string(value); };
  const auto flag = [](bool value) { return std::string(value ? "true" : "false"); };
  KernelSpec spec{"attention/wgmma.cuh",
                  "tilewright::WgmmaAttentionKernel",
                  {{"using Element", std::string(AttentionElement(p.compute_dtype()))},
                   {"bool kFloat8", "false"},
                   {"using OutputElement", std::string(AttentionElement(p.output_dtype))},
                   {"int kDim", number(p.padded_dim())},
                   {"int kValueDim", number(p.padded_value_dim())},
                   {"int kTileN", number(c.tile_n)},
                   {"int kStages", number(c.stages)},
                   {"int kMathGroups", number(c.groups)},
                   {"bool kCausal", flag(p.mask != AttentionMask::kFull)},
                   {"bool kWindow", flag(p.mask == AttentionMask::kWindow)},
                   {"bool kSoftcap", flag(p.softcap)},
                   {"bool kLse", flag(p.operands.lse >= 0)},
                   {"bool kQueryScales", flag(DTypeSize(p.query_dtype) == 1)},
                   {"bool kKeyScales", flag(DTypeSize(p.key_dtype) == 1)},
                   {"int kPageRows", number(PageRows(p, c.tile_n))},
                   {"bool kSharedOutput", flag(c.SharedOutput(p))},
                   {"int kProducerRegisters", number(c.producer_registers())},
                   {"int kMathRegisters", number(c.math_registers())}}};
  AddSequenceTraits(p, spec.constants);
  std::vector<KernelSpec> kernels = {spec};
  Preparation::AddKernels(p, true, kernels);
  return kernels;
}

absl::StatusOr<BoundCall> WgmmaAttentionVariant::Bind(const CallDesc& call, const Config& config,
                                                      const DeviceProfile& device) const {
  const AttentionProblem given = read_(call);
  const WgmmaAttentionConfig c = WgmmaAttentionConfig::From(config);
  BoundCall bound;
  if (given.empty()) return bound;
  const AttentionProblem p = Preparation::Bind(call, given, true, 1, bound);
  WgmmaAttentionParams params{};
  params.walk = MakeWalk(p, c.tile_m());
  params.call = WithPack(p, 1);
  Launch launch;
  const int64_t sms = std::max(device.sm_count, 1);
  launch.grid = {static_cast<uint32_t>(std::min<int64_t>(params.walk.tiles, sms)), 1, 1};
  launch.block = {static_cast<uint32_t>((c.groups + 1) * 128), 1, 1};
  launch.dynamic_smem_bytes = static_cast<uint32_t>(c.SmemBytes(p, c.SharedOutput(p)));
  launch.SetParams(params);
  AddPointers(p, offsetof(WgmmaAttentionParams, call), launch);
  const int64_t batches = p.ragged ? 1 : p.params.batches;
  const int64_t q_rows = p.ragged ? p.total_q : p.params.q_len;
  const int64_t kv_batches = p.ragged || p.paged ? 1 : p.params.batches;
  const int64_t kv_rows = p.ragged || p.paged ? p.total_kv : p.params.kv_len;
  const AttentionParams& a = p.params;
  const AttentionOperands& at = p.operands;
  const int64_t page_rows = PageRows(p, c.tile_n);
  launch.tensor_maps = {
      AttentionMap({offsetof(WgmmaAttentionParams, q_map), at.q, at.q_offset, p.query_dtype},
                   a.q_strides, {a.head_dim, q_rows, a.heads, batches}, c.tile_m()),
      AttentionMap({offsetof(WgmmaAttentionParams, k_map), at.k, at.k_offset, p.query_dtype},
                   a.k_strides, {a.head_dim, kv_rows, a.kv_heads, kv_batches}, page_rows),
      AttentionMap({offsetof(WgmmaAttentionParams, v_map), at.v, at.v_offset, p.query_dtype},
                   a.v_strides, {a.value_dim, kv_rows, a.kv_heads, kv_batches}, page_rows),
      AttentionMap({offsetof(WgmmaAttentionParams, o_map), at.o, 0, p.output_dtype}, a.o_strides,
                   {a.value_dim, q_rows, a.heads, batches}, 64)};
  bound.launches.push_back(std::move(launch));
  return bound;
}

}  // namespace tilewright
