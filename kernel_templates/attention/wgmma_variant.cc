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

int64_t SmemBytes(const AttentionProblem& p, const WgmmaAttentionTiles& t, bool shared_output) {
  const int64_t q = Blocks(p.padded_dim()), v = Blocks(p.padded_value_dim());
  const int64_t rows = t.tile_m() * (q + (shared_output ? 0 : v)) + t.stages * t.tile_n * (q + v);
  return rows * 128 + (2 + 4 * t.stages) * 8;
}

// Whether the output is staged where the queries were.
bool SharedOutput(const AttentionProblem& p, const WgmmaAttentionTiles& t) {
  return SmemBytes(p, t, false) > kWgmmaSmemLimit;
}

absl::Status Check(const AttentionProblem& p, const WgmmaAttentionTiles& t) {
  const bool shared = SharedOutput(p, t);
  if (shared && Blocks(p.padded_value_dim()) > Blocks(p.padded_dim())) {
    return FailedPrecondition("the output does not fit into shared memory");
  }
  return t.Check(p, SmemBytes(p, t, shared),
                 t.tile_n / 2 + t.tile_n / 4 + p.padded_value_dim() / 2);
}

// Rows of a block of keys that lie together: they are loaded by one copy.
int64_t PageRows(const AttentionProblem& p, int64_t tile_n) {
  return p.paged ? std::gcd(static_cast<int64_t>(p.params.page.divisor), tile_n) : tile_n;
}

class WgmmaAttentionVariant : public AttentionVariant {
 public:
  using AttentionVariant::AttentionVariant;
  std::string_view name() const override { return "wgmma"; }

  absl::Status Serves(const CallDesc& call, const DeviceProfile& device) const override {
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

  TuningSpace Space(const CallDesc&, const DeviceProfile&) const override {
    return {"wgmma",
            {{"tile_n", {64, 80, 96, 112, 128, 144, 160, 176, 192}},
             {"groups", {2, 3}},
             {"stages", {2, 3}}}};
  }

  absl::Status Legal(const CallDesc& call, const Config& config,
                     const DeviceProfile&) const override {
    const AttentionProblem p = read_(call);
    if (PageRows(p, config.Get("tile_n")) % 8 != 0) {
      return FailedPrecondition("pages of ", p.params.page.divisor, " rows in tiles of ",
                                config.Get("tile_n"));
    }
    return Check(p, WgmmaAttentionTiles::From(config));
  }

  double PredictUs(const CallDesc& call, const Config& config,
                   const DeviceProfile& device) const override {
    const AttentionProblem p = read_(call);
    const auto c = WgmmaAttentionTiles::From(config);
    // Share of the tensor cores' rate; exponentials and waits take the rest.
    const double efficiency =
        (c.groups == 3 ? 0.80 : 0.83) * (1 - 10.0 / static_cast<double>(c.tile_n));
    return PredictWgmmaUs(p, device,
                          {c.tile_m(), c.tile_n, TensorFlopsPerUs(device) * 1.1, efficiency});
  }

  Config Default(const CallDesc& call, const DeviceProfile& device) const override {
    const AttentionProblem p = read_(call);
    const int64_t dim = std::max(p.padded_dim(), p.padded_value_dim());
    WgmmaAttentionTiles c = {128};
    // Three groups where their taller tiles still make several waves.
    const int64_t tall_tiles = WgmmaRowTiles(p, 192) * p.params.heads * p.params.batches;
    if (dim <= 64 && tall_tiles >= 2 * std::max(device.sm_count, 1)) c.groups = 3;
    if (dim > 64 && dim <= 128 && p.mask == AttentionMask::kFull) c.tile_n = 176;
    // Pages that are halves or quarters of a tile are loaded by few copies.
    if (p.paged) c.tile_n = dim <= 128 ? 128 : 64;
    for (; c.tile_n >= 32; c.tile_n -= p.paged ? 32 : 16) {
      if (Check(p, c).ok() && PageRows(p, c.tile_n) % 8 == 0) return c.ToConfig(name());
    }
    return {};
  }

  std::vector<KernelSpec> Kernels(const CallDesc& call, const Config& config) const override {
    const AttentionProblem p = read_(call);
    const auto c = WgmmaAttentionTiles::From(config);
    const KernelSpec spec =
        WgmmaAttentionSpec(p, c,
                           {"attention/wgmma.cuh", p.compute_dtype(), p.padded_dim(),
                            PageRows(p, c.tile_n), SharedOutput(p, c)});
    std::vector<KernelSpec> kernels = {spec};
    Preparation::AddKernels(p, true, kernels);
    return kernels;
  }

  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config& config,
                                 const DeviceProfile& device) const override {
    const AttentionProblem given = read_(call);
    const auto c = WgmmaAttentionTiles::From(config);
    BoundCall bound;
    if (given.empty()) return bound;
    const AttentionProblem p = Preparation::Bind(call, given, true, 1, bound);
    const bool shared_output = SharedOutput(p, c);
    Launch launch = WgmmaAttentionLaunch(p, c, device, SmemBytes(p, c, shared_output));
    // The zeros of a tile that sees no key would be staged over the next tile's queries, which are
    // under way: no CTA has a next tile then.
    if (shared_output && p.may_be_blind()) {
      launch.grid[0] = static_cast<uint32_t>(MakeWalk(p, c.tile_m()).tiles);
    }
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
};

}  // namespace

std::unique_ptr<Variant> MakeWgmmaAttentionVariant(AttentionReader read) {
  return std::make_unique<WgmmaAttentionVariant>(read);
}

}  // namespace tilewright
