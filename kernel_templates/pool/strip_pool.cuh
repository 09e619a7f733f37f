// Pooling with small windows over a dense width: a thread makes a strip of neighbouring outputs
// from the columns below them, which it reads in aligned pieces, row by row of the window.
//
// Config:
//   Op, Element                    see pool_ops.cuh
//   kKernelD, kKernelH, kKernelW   window
//   kStrideW, kPaddingW, kDilationW
//   kOutputs      outputs a strip; a power of two
//   kVector       elements of the widest piece; divides kOutputs * kStrideW, the input's width and,
//   in
//                 bytes, the addresses of its rows
//   kStore        outputs a store; divides the output's width and, in bytes, its rows' addresses
//   kIndexStore   indices a store: 1 or 2
//   kGather       a warp exchanges its outputs, so that each store's lanes lie side by side
//   kAxes         spatial axes
//   kPlaneDims    1: batch and channels are numbered as one; else 2
//   kThreads, kWide, kStreaming
#ifndef TILEWRIGHT_POOL_STRIP_POOL_CUH_
#define TILEWRIGHT_POOL_STRIP_POOL_CUH_

#include "device/cluster.cuh"
#include "device/packed_max.cuh"
#include "device/shuffle.cuh"
#include "pool/pool_ops.cuh"

namespace tilewright {

__host__ __device__ constexpr int PowerAbove(int value) {
  int power = 1;
  while (power < value) power *= 2;
  return power;
}

// The columns of a strip, from the strip's first output's stride position, in aligned pieces.
template <class Config>
struct StripPieces {
  static constexpr int kMost = 64;
  static constexpr int kSize = static_cast<int>(sizeof(typename Config::Element));
  static constexpr int kVector = Config::kVector;
  static constexpr int kLast = (Config::kOutputs - 1) * Config::kStrideW - Config::kPaddingW +
                               (Config::kKernelW - 1) * Config::kDilationW;

  int count = 0;
  int words = 0;
  int end = 0;  // after the last column
  int column[kMost] = {};
  int size[kMost] = {};  // elements
  int word[kMost] = {};  // where the piece starts among the row's words

  __host__ __device__ static constexpr int First() {
    const int power = PowerAbove(Config::kPaddingW);
    if (Config::kPaddingW == 0) return 0;
    return power <= kVector ? -power : -((Config::kPaddingW + kVector - 1) / kVector * kVector);
  }
  __host__ __device__ constexpr StripPieces() {
    int at = First();
    while (at <= kLast) {
      int piece = kVector;
      while (at % piece != 0) piece /= 2;
      while (piece / 2 >= kLast - at + 1) piece /= 2;
      column[count] = at;
      size[count] = piece;
      word[count] = words;
      words += piece * kSize < 4 ? 1 : piece * kSize / 4;
      at += piece;
      ++count;
    }
    end = at;
  }
};

template <class Config>
class StripPool {
 public:
  using Op = typename Config::Op;
  using T = typename Config::Element;
  using Params = PoolParams<Config::kWide>;
  using Coordinate = typename Params::Coordinate;
  using Index = typename Params::Index;
  static constexpr int kSize = static_cast<int>(sizeof(T));
  static constexpr int kOutputs = Config::kOutputs;
  static constexpr StripPieces<Config> kPieces = {};
  static constexpr int kFirst = StripPieces<Config>::First();
  static constexpr int kColumns = kPieces.end - kFirst;
  static constexpr int kWords = kPieces.words;
  static constexpr int kRows = Config::kKernelD * Config::kKernelH;
  // Rows in flight.
  static constexpr int kBatch = Max(1, Min(kRows, 36 / kWords));
  // Indices are found column by column first, which windows side by side share, where words of two
  // values or many rows make up for the second step.
  static constexpr bool kByColumns =
      Op::kIndices && kRows >= (kSize == 2 && Config::kVector > 1 ? 3 : 6);
  static constexpr uint32_t kNoRow = kSize == 4 ? 0x7fff : 0x7fff7fff;  // of a column outside
  static constexpr CacheHint kHint =
      Config::kStreaming ? CacheHint::kStreaming : CacheHint::kDefault;
  static_assert(kIsSame<ComputeType<T>, float>);
  static_assert(IsPowerOfTwo(kOutputs) && IsPowerOfTwo(Config::kVector));
  static_assert(kOutputs * Config::kStrideW % Config::kVector == 0 &&
                Config::kVector * kSize <= 16);
  static_assert(kOutputs % Config::kStore == 0 && Config::kStore * kSize <= 16);

  // What a warp exchanges.
  struct alignas(16) Storage {
    float values[kOutputs * kWarpSize];
    Coordinate at[Op::kIndices ? kOutputs * kWarpSize : 1];
  };

  // Where the strip does not exist, `index` is of one that does; nothing is stored.
  __device__ __forceinline__ StripPool(const Params& p, Index index, bool exists)
      : StripPool(p, PoolPlace<Config>(p, index), exists) {}
  __device__ __forceinline__ StripPool(const Params& p, const PoolPlace<Config>& place, bool exists)
      : p_(p), exists_(exists) {
    first_output_ = static_cast<Coordinate>(place.at[0]) * kOutputs;
    column_ = first_output_ * Config::kStrideW;
#pragma unroll
    for (int i = 1; i < kPoolSpatial; ++i) {
      output_at_[i] = static_cast<Coordinate>(place.at[i]);
      start_[i] = place.Has(i) ? output_at_[i] * p.stride[i] - p.padding[i] : 0;
    }
    input_ = static_cast<const uint8_t*>(p.source) + static_cast<int64_t>(column_) * kSize;
    output_ = static_cast<uint8_t*>(p.output) + static_cast<int64_t>(first_output_) * kSize;
    indices_ = static_cast<uint8_t*>(p.indices) + static_cast<int64_t>(first_output_) * 8;
#pragma unroll
    for (int d = 1; d < kPoolDims; ++d) {
      if (!place.Has(d)) continue;
      const int64_t where = static_cast<int64_t>(place.at[d]);
      output_ += where * p.output_stride[d];
      if constexpr (Op::kIndices) indices_ += where * p.indices_stride[d];
      if (d >= kPoolSpatial) input_ += where * p.input_stride[d];
    }
#pragma unroll
    for (int i = 1; i < kPoolSpatial; ++i) {
      if (!place.Has(i)) continue;
      input_ += start_[i] * p.input_stride[i];
      tap_stride_[i] = p.dilation[i] * p.input_stride[i];
    }
  }

  __device__ __forceinline__ void Run(Storage* storage) {
    Start();
#pragma unroll
    for (int first = 0; first < kRows; first += kBatch) {
      uint32_t raw[kBatch][kWords];
#pragma unroll
      for (int b = 0; b < kBatch; ++b) {
        if (first + b < kRows) LoadRow(first + b, raw[b]);
      }
#pragma unroll
      for (int b = 0; b < kBatch; ++b) {
        if (first + b < kRows) TakeRow(first + b, raw[b]);
      }
    }
    Finish(storage);
  }

 protected:
  __device__ __forceinline__ Coordinate PositionOf(int axis, int row) const {
    const int tap = axis == 1 ? row % Config::kKernelH : row / Config::kKernelH;
    return axis < Config::kAxes ? start_[axis] + tap * p_.dilation[axis] : 0;
  }
  // One comparison: negative positions are large.
  __device__ __forceinline__ bool Inside(int axis, Coordinate at) const {
    return static_cast<Index>(at) < static_cast<Index>(p_.input[axis]);
  }
  // Row `row` of the window, counted plane by plane; also one of a plane behind the window's. The
  // fill in place of its first piece unless that is wanted.
  __device__ __forceinline__ void LoadRow(int row, uint32_t (&raw)[kWords],
                                          bool first_piece = true) const {
    bool inside = true;
    const uint8_t* address = input_;
    if constexpr (Config::kAxes > 1) {
      inside = Inside(1, PositionOf(1, row));
      address += row % Config::kKernelH * tap_stride_[1];
    }
    if constexpr (Config::kAxes > 2) {
      inside = inside && Inside(2, PositionOf(2, row));
      address += row / Config::kKernelH * tap_stride_[2];
    }
    StaticFor<kPieces.count>([&](auto index) {
      constexpr int kPiece = decltype(index)::value;
      constexpr int kBytes = kPieces.size[kPiece] * kSize;
      constexpr int kAt = kPieces.column[kPiece];
      const bool has = inside && Inside(0, column_ + kAt) && (kPiece > 0 || first_piece);
      const Packet<kBytes> packet = LoadOrFill<Op, T, kBytes, kHint>(has, address + kAt * kSize);
#pragma unroll
      for (int w = 0; w < Packet<kBytes>::kWords; ++w) {
        raw[kPieces.word[kPiece] + w] = packet.words[w];
      }
    });
  }
  // The columns' values of a row's words.
  __device__ __forceinline__ static void Columns(const uint32_t (&raw)[kWords],
                                                 float (&columns)[kColumns]) {
    StaticFor<kPieces.count>([&](auto index) {
      constexpr int kPiece = decltype(index)::value;
      constexpr int kCount = kPieces.size[kPiece];
      Packet<kCount * kSize> packet;
#pragma unroll
      for (int w = 0; w < Packet<kCount * kSize>::kWords; ++w) {
        packet.words[w] = raw[kPieces.word[kPiece] + w];
      }
      float values[kCount];
      Unpack<T>(packet, values);
#pragma unroll
      for (int i = 0; i < kCount; ++i) columns[kPieces.column[kPiece] - kFirst + i] = values[i];
    });
  }
  // Column of tap `tap` of output `output` of the strip.
  __device__ __forceinline__ static constexpr int ColumnOf(int output, int tap) {
    return output * Config::kStrideW - Config::kPaddingW + tap * Config::kDilationW;
  }

  __device__ __forceinline__ void Start() {
    if constexpr (Op::kAverage) {
#pragma unroll
      for (int c = 0; c < kColumns; ++c) sums_[c] = 0.0f;
    } else if constexpr (Op::kIndices && !kByColumns) {
      StartBest();
    } else {
#pragma unroll
      for (int w = 0; w < kWords; ++w) words_[w] = PoolFill<Op, T>();
      if constexpr (kByColumns) StartRows();
    }
  }

  // The first position that is not before the input: what stands where all are -inf.
  __device__ __forceinline__ void StartBest() {
    Coordinate y = start_[1];
    Coordinate z = start_[2];
    if constexpr (Config::kAxes > 1) {
      while (y < 0) y += p_.dilation[1];
    }
    if constexpr (Config::kAxes > 2) {
      while (z < 0) z += p_.dilation[2];
    }
    const Coordinate row = (z * p_.input[1] + y) * p_.input[0];
#pragma unroll
    for (int o = 0; o < kOutputs; ++o) {
      Coordinate x = column_ + ColumnOf(o, 0);
      constexpr int kDilation = Config::kDilationW;
      if (x < 0) x += (-x + kDilation - 1) / kDilation * kDilation;
      best_[o] = {BitsToFloat(0xff800000), row + x};
    }
  }
  // The same as rows of the window, of each column.
  __device__ __forceinline__ void StartRows() {
    uint32_t row = 0;
    if constexpr (Config::kAxes > 1) {
      for (Coordinate y = start_[1]; y < 0; y += p_.dilation[1]) row += 1;
    }
    if constexpr (Config::kAxes > 2) {
      for (Coordinate z = start_[2]; z < 0; z += p_.dilation[2]) row += Config::kKernelH;
    }
    StaticFor<kPieces.count>([&](auto index) {
      constexpr int kPiece = decltype(index)::value;
      constexpr int kPieceWords = Max(1, kPieces.size[kPiece] * kSize / 4);
      const Coordinate at = column_ + kPieces.column[kPiece];
      const uint32_t mark = Inside(0, at) ? RowMark(row) : kNoRow;
#pragma unroll
      for (int w = 0; w < kPieceWords; ++w) rows_[kPieces.word[kPiece] + w] = mark;
    });
  }
  // A row's number in each value of a word.
  __device__ __forceinline__ static uint32_t RowMark(uint32_t row) {
    return kSize == 4 ? row : row * 0x10001;
  }

  __device__ __forceinline__ void TakeRow(int row, const uint32_t (&raw)[kWords]) {
    if constexpr (kByColumns) {
#pragma unroll
      for (int w = 0; w < kWords; ++w) {
        const uint32_t greater = GreaterWord<T>(raw[w], words_[w]);
        rows_[w] = (greater & RowMark(row)) | (~greater & rows_[w]);
        words_[w] = MaxNanWord<T>(words_[w], raw[w]);
      }
    } else if constexpr (Op::kAverage || Op::kIndices) {
      float columns[kColumns];
      Columns(raw, columns);
      if constexpr (Op::kAverage) {
#pragma unroll
        for (int c = 0; c < kColumns; ++c) sums_[c] += columns[c];
      } else {
        ChooseFrom(row, columns);
      }
    } else {
#pragma unroll
      for (int w = 0; w < kWords; ++w) words_[w] = MaxNanWord<T>(words_[w], raw[w]);
    }
  }

  // Rows and taps come in ascending order of position.
  __device__ __forceinline__ void ChooseFrom(int row, const float (&columns)[kColumns]) {
    const Coordinate base = RowStart(row) + column_;
#pragma unroll
    for (int o = 0; o < kOutputs; ++o) {
#pragma unroll
      for (int tap = 0; tap < Config::kKernelW; ++tap) {
        const float value = columns[ColumnOf(o, tap) - kFirst];
        if (value > best_[o].value || value != value) best_[o] = {value, base + ColumnOf(o, tap)};
      }
    }
  }

  // The best of each output's columns.
  __device__ __forceinline__ void ChooseAcross() {
    float values[kColumns];
    Columns(words_, values);
    bool nan = false;
#pragma unroll
    for (int c = 0; c < kColumns; ++c) nan |= values[c] != values[c];
    StartBest();
    if (nan) return Rescan();
    uint32_t rows[kColumns];
    StaticFor<kPieces.count>([&](auto index) {
      constexpr int kPiece = decltype(index)::value;
#pragma unroll
      for (int i = 0; i < kPieces.size[kPiece]; ++i) {
        const uint32_t word = rows_[kPieces.word[kPiece] + i * kSize / 4];
        rows[kPieces.column[kPiece] - kFirst + i] = word >> (8 * (i * kSize % 4)) & 0x7fff;
      }
    });
#pragma unroll
    for (int o = 0; o < kOutputs; ++o) {
      int column = ColumnOf(o, 0);
      float value = values[column - kFirst];
      uint32_t row = rows[column - kFirst];
#pragma unroll
      for (int tap = 1; tap < Config::kKernelW; ++tap) {
        const int other = ColumnOf(o, tap) - kFirst;
        const bool earlier = (values[other] == value) & (rows[other] < row);
        const bool take = (values[other] > value) | earlier;
        column = take ? other + kFirst : column;
        value = take ? values[other] : value;
        row = take ? rows[other] : row;
      }
      best_[o].value = value;
      if (row != 0x7fff) best_[o].at = RowStart(row) + column_ + column;
    }
  }
  // Rows once more, for the last NaN.
  __device__ __forceinline__ void Rescan() {
#pragma unroll 1
    for (int row = 0; row < kRows; ++row) {
      uint32_t raw[kWords];
      float columns[kColumns];
      LoadRow(row, raw);
      Columns(raw, columns);
      ChooseFrom(row, columns);
    }
  }
  __device__ __forceinline__ Coordinate RowStart(int row) const {
    return (PositionOf(2, row) * p_.input[1] + PositionOf(1, row)) * p_.input[0];
  }

  __device__ __forceinline__ void Finish(Storage* storage) {
    float y[kOutputs];
    if constexpr (Op::kIndices) {
      if constexpr (kByColumns) ChooseAcross();
#pragma unroll
      for (int o = 0; o < kOutputs; ++o) y[o] = best_[o].value;
    } else {
      if constexpr (!Op::kAverage) Columns(words_, sums_);
      const bool fixed = Op::kAverage && p_.divisor != 0;
      float rows = 1.0f;
      if constexpr (Op::kAverage) {
        rows = fixed ? static_cast<float>(p_.divisor) : RowsOfWindow();
      }
#pragma unroll
      for (int o = 0; o < kOutputs; ++o) {
        y[o] = sums_[ColumnOf(o, 0) - kFirst];
#pragma unroll
        for (int tap = 1; tap < Config::kKernelW; ++tap) {
          const float value = sums_[ColumnOf(o, tap) - kFirst];
          y[o] = Op::kAverage ? y[o] + value : MaxNan(y[o], value);
        }
        if constexpr (Op::kAverage) {
          y[o] = Quotient(y[o], fixed ? rows : rows * PositionsOf(0, first_output_ + o));
        }
      }
    }
    if constexpr (Config::kGather) {
      StoreGathered(y, *storage);
    } else {
      StoreOutputs(y);
      if constexpr (Op::kIndices) StoreIndices();
    }
  }
  __device__ __forceinline__ float RowsOfWindow() const {
    float rows = 1.0f;
    if constexpr (Config::kAxes > 1) rows *= PositionsOf(1, output_at_[1]);
    if constexpr (Config::kAxes > 2) rows *= PositionsOf(2, output_at_[2]);
    return rows;
  }
  __device__ __forceinline__ float PositionsOf(int axis, Coordinate at) const {
    return PoolPositions(p_, FixedWindow(p_.input[axis], at, p_.kernel[axis], p_.stride[axis],
                                         p_.padding[axis], static_cast<Coordinate>(1)));
  }

  __device__ __forceinline__ void StoreOutputs(const float (&y)[kOutputs]) const {
    constexpr int kBytes = Config::kStore * kSize;
#pragma unroll
    for (int o = 0; o < kOutputs; o += Config::kStore) {
      float part[Config::kStore];
#pragma unroll
      for (int i = 0; i < Config::kStore; ++i) part[i] = y[o + i];
      StoreGlobalIf<kBytes, kHint>(exists_ && first_output_ + o < p_.output_width,
                                   output_ + o * kSize, Pack<T, kBytes>(part));
    }
  }
  __device__ __forceinline__ void StoreIndices() const {
    constexpr int kCount = Config::kIndexStore;
#pragma unroll
    for (int o = 0; o < kOutputs; o += kCount) {
      Packet<8 * kCount> packet;
#pragma unroll
      for (int i = 0; i < kCount; ++i) SetIndex(best_[o + i].at, &packet.words[2 * i]);
      StoreGlobalIf<8 * kCount, kHint>(exists_ && first_output_ + o < p_.output_width,
                                       indices_ + o * 8, packet);
    }
  }
  __device__ __forceinline__ static void SetIndex(int64_t at, uint32_t* words) {
    words[0] = static_cast<uint32_t>(at);
    words[1] = static_cast<uint32_t>(at >> 32);
  }

  // Store j of a lane is output lane % kOutputs of the strip of lane (32 j + lane) / kOutputs.
  __device__ __forceinline__ void StoreGathered(const float (&y)[kOutputs],
                                                Storage& storage) const {
    const int lane = static_cast<int>(LaneId());
#pragma unroll
    for (int o = 0; o < kOutputs; ++o) {
      storage.values[lane * kOutputs + o] = y[o];
      if constexpr (Op::kIndices) storage.at[lane * kOutputs + o] = best_[o].at;
    }
    WarpBarrier();
    const Coordinate left = exists_ ? p_.output_width - first_output_ : 0;
    const int own = lane % kOutputs;
#pragma unroll
    for (int j = 0; j < kOutputs; ++j) {
      const int from = (j * kWarpSize + lane) / kOutputs;
      const bool has = own < ShuffleIndex(left, from);
      uint8_t* output = ShuffleIndex(output_, from);
      const float value[1] = {storage.values[j * kWarpSize + lane]};
      StoreGlobalIf<kSize, kHint>(has, output + own * kSize, Pack<T, kSize>(value));
      if constexpr (Op::kIndices) {
        uint8_t* indices = ShuffleIndex(indices_, from);
        Packet<8> packet;
        SetIndex(storage.at[j * kWarpSize + lane], packet.words);
        StoreGlobalIf<8, kHint>(has, indices + own * 8, packet);
      }
    }
  }

  const Params& p_;
  bool exists_;
  Coordinate first_output_;
  Coordinate column_;                   // of the input, where the strip's pieces are counted from
  Coordinate output_at_[kPoolSpatial];  // not [0]
  Coordinate start_[kPoolSpatial];      // the window's first position; not [0]
  const uint8_t* input_;                // at column_ of the window's first row
  int64_t tap_stride_[kPoolSpatial];    // bytes from a row of the window to the next; not [0]
  uint8_t* output_;
  uint8_t* indices_;
  float sums_[kColumns];
  uint32_t words_[kWords];
  uint32_t rows_[kWords];  // of the window, that words_ come from
  PoolBest<Coordinate> best_[kOutputs];
};

template <class Config>
__global__ void __launch_bounds__(Config::kThreads)
    StripPoolKernel(const __grid_constant__ PoolParams<Config::kWide> p) {
  using Index = typename PoolParams<Config::kWide>::Index;
  using Pool = StripPool<Config>;
  const Index index = static_cast<Index>(blockIdx.x) * Config::kThreads + threadIdx.x;
  const bool exists = index < p.count;
  WaitForPriorGrids();
  if constexpr (Config::kGather) {
    __shared__ typename Pool::Storage storage[Config::kThreads / kWarpSize];
    Pool(p, exists ? index : 0, exists).Run(&storage[threadIdx.x / kWarpSize]);
  } else {
    if (exists) Pool(p, index, true).Run(nullptr);
  }
}

}  // namespace tilewright

#endif  // TILEWRIGHT_POOL_STRIP_POOL_CUH_
