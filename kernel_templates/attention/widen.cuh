// Widens a float8 tensor of rows x heads x dimensions to 16 bits, densely packed.
#ifndef TILEWRIGHT_ATTENTION_WIDEN_CUH_
#define TILEWRIGHT_ATTENTION_WIDEN_CUH_

#include "attention/params.cuh"
#include "device/base.cuh"
#include "device/types.cuh"

namespace tilewright {

// Config: Element, Source. Pieces of eight dimensions, a grid-stride loop; any grid.
template <class Config>
__global__ __launch_bounds__(256) void WidenKernel(const __grid_constant__ WidenParams params) {
  using Source = typename Config::Source;
  const auto* from = static_cast<const Source*>(params.from);
  auto* to = static_cast<uint4*>(params.to);
  const unsigned step = gridDim.x * blockDim.x;
  const auto pieces = static_cast<unsigned>(params.pieces);
#pragma unroll 4
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < pieces; i += step) {
    unsigned rest, piece, row, head;
    params.row_pieces(i, &rest, &piece);
    params.heads(rest, &row, &head);
    const uint2 bits = *reinterpret_cast<const uint2*>(from + row * params.strides.row +
                                                       head * params.strides.head + piece * 8);
    uint32_t words[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const uint32_t pair = (j < 2 ? bits.x : bits.y) >> (j % 2 * 16);
      words[j] = Pack2<typename Config::Element>(
          TypeTraits<Source>::ToCompute(Source{static_cast<uint8_t>(pair & 0xff)}),
          TypeTraits<Source>::ToCompute(Source{static_cast<uint8_t>(pair >> 8 & 0xff)}));
    }
    to[i] = {words[0], words[1], words[2], words[3]};
  }
}

}  // namespace tilewright

#endif  // TILEWRIGHT_ATTENTION_WIDEN_CUH_
