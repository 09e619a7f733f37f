#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>

#include "kernel_templates/attention/variants.h"
#include "kernel_templates/gemm/variants.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int64_t kSmemLimit = 232448;

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
  bool SharedOutput(const AttentionProblem& p) const { return SmemBytes(p, false) > kSmemLimit; }
  // Registers of scores, weights and results.
  int64_t Registers(const AttentionProblem& p) const {
    return tile_n / 2 + tile_n / 4 + p.padded_value_dim() / 2;
  }

  absl::Status Check(const AttentionProblem& p) const {
    const bool shared = SharedOutput(p);
    if (shared && Blocks(p.padded_value_dim()) > Blocks(p.padded_dim())) {
      return FailedPrecondition("the output does not fit into shared memory");
    }
    if (SmemBytes(p, shared) > kSmemLimit) {
      return FailedPrecondition("needs ", SmemBytes(p, shared), " bytes of shared memory, has ",
                                kSmemLimit);
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

bool Positive(const RowStrides& s) { return s.row > 0 && s.head > 0 && s.batch >= 0; }

int64_t RowTiles(const AttentionProblem& problem, int64_t tile_m) {
  return CeilDiv(problem.params.q_len, tile_m);
}

// A map over one operand: dimensions, rows, heads, sequences. The stride of an axis that has one
// element is not looked at, so it is replaced by a valid one.
TensorMapSlot Map(size_t offset, int operand, int64_t byte_offset, DType dtype,
                  const RowStrides& strides, int64_t dims, int64_t rows, int64_t heads,
                  int64_t batches, int64_t box_rows) {
  const auto bytes = [](int64_t extent, int64_t stride) {
    return static_cast<uint64_t>(extent > 1 ? stride * 2 : 16);
  };
  TensorMapSlot slot;
  slot.offset = static_cast<uint16_t>(offset);
  slot.operand = static_cast<int8_t>(operand);
  slot.byte_offset = byte_offset;
  slot.dtype = dtype;
  slot.rank = 4;
  slot.dims = {static_cast<uint64_t>(dims), static_cast<uint64_t>(std::max<int64_t>(rows, 1)),
               static_cast<uint64_t>(heads), static_cast<uint64_t>(batches)};
  slot.strides_bytes = {bytes(rows, strides.row), bytes(heads, strides.head),
                        bytes(batches, strides.batch)};
  slot.box = {64, static_cast<uint32_t>(box_rows), 1, 1};
  return slot;
}

AttentionWalk MakeWalk(const AttentionProblem& p, int64_t tile_m) {
  const auto divisor = [](int64_t value) {
    return MakeFastDivmod<false>(static_cast<unsigned long long>(std::max<int64_t>(value, 1)));
  };
  const int64_t row_tiles = RowTiles(p, tile_m);
  AttentionWalk walk{};
  walk.by_tiles = divisor(row_tiles);
  walk.by_heads = divisor(p.params.heads);
  walk.row_tiles = static_cast<int>(row_tiles);
  walk.tiles = static_cast<int>(row_tiles * p.params.heads * p.params.batches);
  return walk;
}

}  // namespace

absl::Status WgmmaAttentionVariant::Serves(const CallDesc& call,
                                           const DeviceProfile& device) const {
  const AttentionProblem p = read_(call);
  if (device.arch != "sm_90a") return FailedPrecondition("needs sm_90a, got ", device.arch);
  TW_RETURN_IF_ERROR(p.CheckExtents());
  if (p.float8() && !CanWiden(p)) return FailedPrecondition("float8 operands too large to widen");
  // Keys without elements may have no address, which no tensor map can hold.
  if (call.input(p.operands.k).desc.elements() == 0) return FailedPrecondition("there are no keys");
  if (!p.vector || !Positive(p.params.q_strides) || !Positive(p.params.k_strides) ||
      !Positive(p.params.v_strides)) {
    return FailedPrecondition("q, k or v does not lie in rows of 16-byte pieces");
  }
  const Operand& o = call.operands[static_cast<size_t>(p.operands.o)];
  const RowStrides& out = p.params.o_strides;
  if (o.alignment < 16 || out.dim != 1 || out.row % 8 != 0 || out.head % 8 != 0 ||
      out.batch % 8 != 0 || !Positive(out)) {
    return FailedPrecondition("o does not lie in rows of 16-byte pieces");
  }
  if (p.scale <= 0) return FailedPrecondition("sm_scale = ", p.scale, " is not positive");
  if (!p.empty() && int64_t{p.params.heads} * p.params.batches * RowTiles(p, 64) > 0x3fffffff) {
    return FailedPrecondition("too many tiles");
  }
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
  const double flops = 2 * p.Pairs() * (p.params.head_dim + p.params.value_dim);
  const double sms = std::max(device.sm_count, 1);
  const double heads = static_cast<double>(p.params.heads) * p.params.batches;
  const double tiles = heads * static_cast<double>(RowTiles(p, c.tile_m()));
  // Share of the tensor cores' rate; exponentials and waits take the rest.
  const double efficiency =
      (c.groups == 3 ? 0.80 : 0.83) * (1 - 10.0 / static_cast<double>(c.tile_n));
  const double waves = std::max(1.0, tiles / sms);
  const double quantised = std::ceil(waves) / waves;
  // A masked block is multiplied whole.
  const double block = static_cast<double>(c.tile_n + c.tile_m()) / 2;
  const double row_keys = p.Pairs() / std::max(1.0, heads * p.params.q_len);
  const double masked =
      p.mask == AttentionMask::kFull ? 1.0 : 1 + block / 2 / std::max(row_keys, 1.0);
  const double us = flops / (TensorFlopsPerUs(device) * 1.1 * efficiency) * masked *
                    (p.mask == AttentionMask::kFull ? quantised : std::max(1.0, quantised * 0.8));
  return 4.0 + us + waves * 0.8;
}

Config WgmmaAttentionVariant::Default(const CallDesc& call, const DeviceProfile& device) const {
  const AttentionProblem p = read_(call);
  const int64_t dim = std::max(p.padded_dim(), p.padded_value_dim());
  WgmmaAttentionConfig c;
  // Three groups where their taller tiles still make several waves.
  const int64_t tall_tiles = RowTiles(p, 192) * p.params.heads * p.params.batches;
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
  launch.tensor_maps = {
      Map(offsetof(WgmmaAttentionParams, q_map), at.q, at.q_offset, p.query_dtype, a.q_strides,
          a.head_dim, q_rows, a.heads, batches, c.tile_m()),
      Map(offsetof(WgmmaAttentionParams, k_map), at.k, at.k_offset, p.query_dtype, a.k_strides,
          a.head_dim, kv_rows, a.kv_heads, kv_batches, PageRows(p, c.tile_n)),
      Map(offsetof(WgmmaAttentionParams, v_map), at.v, at.v_offset, p.query_dtype, a.v_strides,
          a.value_dim, kv_rows, a.kv_heads, kv_batches, PageRows(p, c.tile_n)),
      Map(offsetof(WgmmaAttentionParams, o_map), at.o, 0, p.output_dtype, a.o_strides, a.value_dim,
          q_rows, a.heads, batches, 64)};
  bound.launches.push_back(std::move(launch));
  return bound;
}

}  // namespace tilewright
