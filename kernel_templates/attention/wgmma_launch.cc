#include "kernel_templates/attention/wgmma_launch.h"

#include <algorithm>
#include <cmath>

#include "manifest/status.h"

namespace tilewright {
namespace {

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

bool HasPositiveStrides(const RowStrides& s) { return s.row > 0 && s.head > 0 && s.batch >= 0; }

int64_t WgmmaRowTiles(const AttentionProblem& problem, int64_t tile_m) {
  return CeilDiv(problem.params.q_len, tile_m);
}

absl::Status CheckWgmmaCall(const CallDesc& call, const AttentionProblem& p) {
  // Keys without elements may have no address, which no tensor map can hold.
  if (call.input(p.operands.k).desc.elements() == 0) return FailedPrecondition("there are no keys");
  const Operand& o = call.operands[static_cast<size_t>(p.operands.o)];
  const RowStrides& out = p.params.o_strides;
  if (o.alignment < 16 || out.dim != 1 || out.row % 8 != 0 || out.head % 8 != 0 ||
      out.batch % 8 != 0 || !HasPositiveStrides(out)) {
    return FailedPrecondition("o does not lie in rows of 16-byte pieces");
  }
  if (!p.positive_scale()) {
    return FailedPrecondition("sm_scale = ", p.scale, " is not positive in float32");
  }
  if (!p.empty() &&
      SaturatedProduct({p.params.heads, p.params.batches, WgmmaRowTiles(p, 64)}) > 0x3fffffff) {
    return FailedPrecondition("too many tiles");
  }
  return absl::OkStatus();
}

TensorMapSlot AttentionMap(const OperandPlace& place, const RowStrides& strides,
                           const OperandExtents& extents, int64_t box_rows) {
  const int64_t element = DTypeSize(place.dtype);
  const auto bytes = [element](int64_t extent, int64_t stride) {
    return static_cast<uint64_t>(extent > 1 ? stride * element : 16);
  };
  TensorMapSlot slot;
  slot.offset = static_cast<uint16_t>(place.slot);
  slot.operand = static_cast<int8_t>(place.operand);
  slot.byte_offset = place.byte_offset;
  slot.dtype = place.dtype;
  slot.rank = 4;
  slot.dims = {static_cast<uint64_t>(extents.dims),
               static_cast<uint64_t>(std::max<int64_t>(extents.rows, 1)),
               static_cast<uint64_t>(extents.heads), static_cast<uint64_t>(extents.batches)};
  slot.strides_bytes = {bytes(extents.rows, strides.row), bytes(extents.heads, strides.head),
                        bytes(extents.batches, strides.batch)};
  slot.box = {static_cast<uint32_t>(128 / element), static_cast<uint32_t>(box_rows), 1, 1};
  return slot;
}

WgmmaAttentionTiles WgmmaAttentionTiles::From(const Config& config) {
  return {config.Get("tile_n"), config.Get("groups"), config.Get("stages")};
}

Config WgmmaAttentionTiles::ToConfig(std::string_view variant) const {
  return {std::string(variant), {{"tile_n", tile_n}, {"groups", groups}, {"stages", stages}}};
}

absl::Status WgmmaAttentionTiles::Check(const AttentionProblem& problem, int64_t smem_bytes,
                                        int64_t registers) const {
  if (smem_bytes > kWgmmaSmemLimit) {
    return FailedPrecondition("needs ", smem_bytes, " bytes of shared memory, has ",
                              kWgmmaSmemLimit);
  }
  // Wide values spill sooner: their rescaling and the scores' descriptors need more besides.
  const int64_t limit = groups == 3 ? 128 : problem.padded_value_dim() > 128 ? 180 : 204;
  if (registers > limit) {
    return FailedPrecondition("needs ", registers, " registers for its tiles, at most ", limit);
  }
  return absl::OkStatus();
}

KernelSpec WgmmaAttentionSpec(const AttentionProblem& p, const WgmmaAttentionTiles& tiles,
                              const WgmmaAttentionTraits& traits) {
  const auto number = [](int64_t value) { return std::to_string(value); };
  const auto flag = [](bool value) { return std::string(value ? "true" : "false"); };
  const auto type = [](DType dtype) { return std::string(AttentionElement(dtype)); };
  KernelSpec spec{traits.template_file,
                  "tilewright::WgmmaAttentionKernel",
                  {{"using Element", type(traits.element)},
                   {"bool kFloat8", flag(DTypeSize(traits.element) == 1)},
                   {"using OutputElement", type(p.output_dtype)},
                   {"int kDim", number(traits.dim)},
                   {"int kValueDim", number(p.padded_value_dim())},
                   {"int kTileN", number(tiles.tile_n)},
                   {"int kStages", number(tiles.stages)},
                   {"int kMathGroups", number(tiles.groups)},
                   {"bool kCausal", flag(p.mask != AttentionMask::kFull)},
                   {"bool kWindow", flag(p.mask == AttentionMask::kWindow)},
                   {"bool kSoftcap", flag(p.softcap)},
                   {"bool kLse", flag(p.operands.lse >= 0)},
                   {"bool kQueryScales", flag(DTypeSize(p.query_dtype) == 1)},
                   {"bool kKeyScales", flag(DTypeSize(p.key_dtype) == 1)},
                   {"int kPageRows", number(traits.page_rows)},
                   {"bool kSharedOutput", flag(traits.shared_output)},
                   {"int kProducerRegisters", number(tiles.groups == 2 ? 24 : 32)},
                   {"int kMathRegisters", number(tiles.groups == 2 ? 240 : 160)}}};
  AddSequenceTraits(p, spec.constants);
  return spec;
}

Launch WgmmaAttentionLaunch(const AttentionProblem& p, const WgmmaAttentionTiles& tiles,
                            const DeviceProfile& device, int64_t smem_bytes) {
  WgmmaAttentionParams params{};
  params.walk = MakeWalk(p, tiles.tile_m());
  params.call = WithPack(p, 1);
  const int64_t sms = std::max(device.sm_count, 1);
  Launch launch;
  launch.grid = {static_cast<uint32_t>(std::min<int64_t>(params.walk.tiles, sms)), 1, 1};
  launch.block = {static_cast<uint32_t>((tiles.groups + 1) * 128), 1, 1};
  launch.dynamic_smem_bytes = static_cast<uint32_t>(smem_bytes);
  launch.SetParams(params);
  AddPointers(p, offsetof(WgmmaAttentionParams, call), launch);
  return launch;
}

AttentionWalk MakeWalk(const AttentionProblem& p, int64_t tile_m) {
  const auto divisor = [](int64_t value) {
    return MakeFastDivmod<false>(static_cast<unsigned long long>(std::max<int64_t>(value, 1)));
  };
  const int64_t row_tiles = WgmmaRowTiles(p, tile_m);
  AttentionWalk walk{};
  walk.by_tiles = divisor(row_tiles);
  walk.by_heads = divisor(p.params.heads);
  walk.row_tiles = static_cast<int>(row_tiles);
  walk.tiles = static_cast<int>(row_tiles * p.params.heads * p.params.batches);
  return walk;
}

double PredictWgmmaUs(const AttentionProblem& p, const DeviceProfile& device,
                      const WgmmaCost& cost) {
  const double flops = 2 * p.Pairs() * (p.params.head_dim + p.params.value_dim);
  const double sms = std::max(device.sm_count, 1);
  const double heads = static_cast<double>(p.params.heads) * p.params.batches;
  const double tiles = heads * static_cast<double>(WgmmaRowTiles(p, cost.tile_m));
  const double waves = std::max(1.0, tiles / sms);
  const double quantised = std::ceil(waves) / waves;
  // A masked block is multiplied whole.
  const double block = static_cast<double>(cost.tile_n + cost.tile_m) / 2;
  const double row_keys = p.Pairs() / std::max(1.0, heads * p.params.q_len);
  const double masked =
      p.mask == AttentionMask::kFull ? 1.0 : 1 + block / 2 / std::max(row_keys, 1.0);
  const double us = flops / (cost.rate * cost.efficiency) * masked *
                    (p.mask == AttentionMask::kFull ? quantised : std::max(1.0, quantised * 0.8));
  return 4.0 + us + waves * 0.8;
}

}  // namespace tilewright
