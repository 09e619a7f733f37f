// Pooling with windows of any size and layouts of any strides: a window is shared by a group of
// lanes.
//
// Config:
//   Op, Element      see pool_ops.cuh
//   kAdaptive        windows are fractions of the input
//   kLanesW, kLanesH lanes of a window along its width and its height; powers of two
//   kColumns, kRows  positions that a lane loads before it uses the first
//   kAxes            spatial axes
//   kPlaneDims       1: batch and channels are numbered as one; else 2
//   kThreads, kWide
#ifndef TILEWRIGHT_POOL_WINDOW_POOL_CUH_
#define TILEWRIGHT_POOL_WINDOW_POOL_CUH_

#include "device/cluster.cuh"
#include "device/warp.cuh"
#include "pool/pool_ops.cuh"

namespace tilewright {

template <class Config>
class WindowPool {
 public:
  using Op = typename Config::Op;
  using T = typename Config::Element;
  using Params = PoolParams<Config::kWide>;
  using Coordinate = typename Params::Coordinate;
  using Index = typename Params::Index;
  using Best = PoolBest<Coordinate>;
  static constexpr int kSize = static_cast<int>(sizeof(T));
  static constexpr int kLanes = Config::kLanesW * Config::kLanesH;
  static_assert(kIsSame<ComputeType<T>, float>);
  static_assert(IsPowerOfTwo(Config::kLanesW) && IsPowerOfTwo(Config::kLanesH) && kLanes <= 32);

  __device__ __forceinline__ explicit WindowPool(const Params& p) : p_(p) {
    lane_w_ = threadIdx.x % Config::kLanesW;
    lane_h_ = threadIdx.x / Config::kLanesW % Config::kLanesH;
    const Index thread = static_cast<Index>(blockIdx.x) * Config::kThreads + threadIdx.x;
    exists_ = thread / kLanes < p.count;
    const PoolPlace<Config> place(p, exists_ ? thread / kLanes : 0);
    int64_t input = 0;
    output_ = 0;
    indices_ = 0;
#pragma unroll
    for (int d = 0; d < kPoolDims; ++d) {
      if (!place.Has(d)) continue;
      const int64_t where = static_cast<int64_t>(place.at[d]);
      output_ += where * p.output_stride[d];
      if constexpr (Op::kIndices) indices_ += where * p.indices_stride[d];
      if (d >= kPoolSpatial) input += where * p.input_stride[d];
    }
    Coordinate step = 1;
#pragma unroll
    for (int i = 0; i < kPoolSpatial; ++i) {
      windows_[i] = {0, 1, 1};
      tap_step_[i] = 0;
      tap_stride_[i] = 0;
      if (!place.Has(i)) continue;
      const Coordinate where = static_cast<Coordinate>(place.at[i]);
      const Coordinate dilation = Config::kAdaptive ? 1 : p.dilation[i];
      if constexpr (Config::kAdaptive) {
        windows_[i] = AdaptiveWindow(p.input[i], where, p.outputs[i]);
      } else {
        windows_[i] =
            FixedWindow(p.input[i], where, p.kernel[i], p.stride[i], p.padding[i], dilation);
      }
      input += static_cast<int64_t>(windows_[i].first) * p.input_stride[i];
      tap_stride_[i] = static_cast<int64_t>(dilation) * p.input_stride[i];
      origin_ += windows_[i].first * step;
      tap_step_[i] = dilation * step;
      step *= p.input[i];
    }
    input_ = static_cast<const uint8_t*>(p.source) + input;
  }

  __device__ __forceinline__ void Run() {
    float sum = 0.0f;
    Best best = {BitsToFloat(0xff800000), PositionOf(0, 0, 0)};
    for (Coordinate z = 0; z < windows_[2].count; ++z) {
      for (Coordinate y = lane_h_; y < windows_[1].count; y += kRowStep) {
        for (Coordinate x = lane_w_; x < windows_[0].count; x += kColumnStep) {
          Take(z, y, x, sum, best);
        }
      }
    }
    Reduce(sum, best);
    if (!exists_ || lane_w_ != 0 || lane_h_ != 0) return;
    const float y[1] = {Op::kAverage ? Quotient(sum, Divisor()) : best.value};
    StoreGlobal<kSize>(static_cast<uint8_t*>(p_.output) + output_, Pack<T, kSize>(y));
    if constexpr (Op::kIndices) {
      const int64_t at = best.at;
      StoreGlobal<8>(static_cast<uint8_t*>(p_.indices) + indices_,
                     Packet<8>{{static_cast<uint32_t>(at), static_cast<uint32_t>(at >> 32)}});
    }
  }

 private:
  static constexpr int kColumnStep = Config::kLanesW * Config::kColumns;
  static constexpr int kRowStep = Config::kLanesH * Config::kRows;

  __device__ __forceinline__ float Divisor() const {
    if (p_.divisor != 0) return static_cast<float>(p_.divisor);
    return PoolPositions(p_, windows_[0]) * PoolPositions(p_, windows_[1]) *
           PoolPositions(p_, windows_[2]);
  }

  // Of a tap in the flattened spatial axes.
  __device__ __forceinline__ Coordinate PositionOf(Coordinate z, Coordinate y, Coordinate x) const {
    return origin_ + z * tap_step_[2] + y * tap_step_[1] + x * tap_step_[0];
  }

  // The lane's batch of taps at (z, y, x) and on.
  __device__ __forceinline__ void Take(Coordinate z, Coordinate y, Coordinate x, float& sum,
                                       Best& best) const {
    Packet<kSize> raw[Config::kRows][Config::kColumns];
    const uint8_t* first = input_ + z * tap_stride_[2] + y * tap_stride_[1] + x * tap_stride_[0];
#pragma unroll
    for (int r = 0; r < Config::kRows; ++r) {
#pragma unroll
      for (int c = 0; c < Config::kColumns; ++c) {
        const bool inside = y + r * Config::kLanesH < windows_[1].count &&
                            x + c * Config::kLanesW < windows_[0].count;
        raw[r][c] = LoadOrFill<Op, T, kSize, CacheHint::kDefault>(
            inside,
            first + r * Config::kLanesH * tap_stride_[1] + c * Config::kLanesW * tap_stride_[0]);
      }
    }
#pragma unroll
    for (int r = 0; r < Config::kRows; ++r) {
#pragma unroll
      for (int c = 0; c < Config::kColumns; ++c) {
        float value[1];
        Unpack<T>(raw[r][c], value);
        if constexpr (Op::kAverage) {
          sum += value[0];
        } else if constexpr (Op::kIndices) {
          Choose(best, {value[0], PositionOf(z, y + r * Config::kLanesH, x + c * Config::kLanesW)});
        } else {
          best.value = MaxNan(best.value, value[0]);
        }
      }
    }
  }

  // NaN before all, the last one; else the largest, the first one.
  __device__ __forceinline__ static void Choose(Best& best, Best other) {
    const bool nan = best.value != best.value;
    const bool other_nan = other.value != other.value;
    const bool later = other.at > best.at;
    // Without branches.
    const bool larger = (other.value > best.value) | ((other.value == best.value) & !later);
    const bool take = (other_nan & (!nan | later)) | (!other_nan & !nan & larger);
    best.value = take ? other.value : best.value;
    best.at = take ? other.at : best.at;
  }

  __device__ __forceinline__ static void Reduce(float& sum, Best& best) {
#pragma unroll
    for (int mask = kLanes / 2; mask > 0; mask /= 2) {
      if constexpr (Op::kAverage) {
        sum += ShuffleXor(sum, mask);
      } else if constexpr (Op::kIndices) {
        Choose(best, {ShuffleXor(best.value, mask), ShuffleXor(best.at, mask)});
      } else {
        best.value = MaxNan(best.value, ShuffleXor(best.value, mask));
      }
    }
  }

  const Params& p_;
  int lane_w_;
  int lane_h_;
  bool exists_;
  PoolWindow<Coordinate> windows_[kPoolSpatial];
  Coordinate origin_ = 0;              // position of the first tap in the flattened spatial axes
  Coordinate tap_step_[kPoolSpatial];  // positions from a tap to the next
  int64_t tap_stride_[kPoolSpatial];
  const uint8_t* input_;
  int64_t output_;
  int64_t indices_;
};

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, 1)
    WindowPoolKernel(const __grid_constant__ PoolParams<Config::kWide> p) {
  WaitForPriorGrids();
  WindowPool<Config>(p).Run();
}

}  // namespace tilewright

#endif  // TILEWRIGHT_POOL_WINDOW_POOL_CUH_
