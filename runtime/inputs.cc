#include "runtime/inputs.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <numbers>
#include <random>
#include <thread>

#include "manifest/float_format.h"
#include "manifest/op_spec.h"
#include "manifest/reference.h"
#include "manifest/status.h"
#include "manifest/threads.h"

namespace tilewright {
namespace {

constexpr int64_t kBlockElements = int64_t{1} << 18;
constexpr int64_t kChunkElements = 512;
constexpr int64_t kBytesPerThread = int64_t{1} << 23;
constexpr uint64_t kSpecialEvery = 64;

// SplitMix64 (Steele, Lea, Flood 2014): a counter-based hash, so that any part can be made alone.
uint64_t HashAt(uint64_t seed, uint64_t counter) {
  uint64_t z = seed + (counter + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// One of N(0, 1) by Box-Muller, from two 32-bit uniforms.
double NormalAt(uint64_t seed, uint64_t counter) {
  const uint64_t bits = HashAt(seed, counter);
  const double u = (static_cast<double>(bits >> 32) + 0.5) * 0x1p-32;
  const double v = static_cast<double>(bits & 0xffffffff) * 0x1p-32;
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

// The largest number, or 2^50 where the square of the largest would not sum in float32.
double LargeValueOf(DType dtype) { return std::min(LargestFinite(dtype), 0x1p50); }

double SmallestNormalOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat8E4M3:
      return 0x1p-6;
    case DType::kFloat8E5M2:
    case DType::kFloat16:
      return 0x1p-14;
    case DType::kFloat64:
    case DType::kComplex128:
      return std::numeric_limits<double>::min();
    default:
      return 0x1p-126;
  }
}

double SpecialValue(DType dtype, uint64_t choice) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  switch (choice % 10) {
    case 0:
    case 1:
      return std::numeric_limits<double>::quiet_NaN();
    case 2:
      return kInf;
    case 3:
      return -kInf;
    case 4:
      return -0.0;
    case 5:
      return 0.0;
    case 6:
      return LargeValueOf(dtype);
    case 7:
      return -LargeValueOf(dtype);
    case 8:
      return SmallestNormalOf(dtype);
    default:
      return SmallestNormalOf(dtype) / 2;  // a subnormal in every format
  }
}

void StoreElement(DType dtype, void* data, int64_t i, const InputOptions& options) {
  const auto counter = static_cast<uint64_t>(i);
  const bool floating = IsFloating(dtype) || IsComplex(dtype);
  if (options.mode == InputMode::kSmallIntegers) {
    const auto value = static_cast<int64_t>(HashAt(options.seed, counter) % 5);
    const bool is_unsigned = dtype == DType::kUint8 || dtype == DType::kBool;
    return StoreFromInt(data, dtype, i,
                        dtype == DType::kBool ? value % 2
                        : is_unsigned         ? value
                                              : value - 2);
  }
  if (!floating) {
    const auto bits = static_cast<int64_t>(HashAt(options.seed, counter));
    return StoreFromInt(data, dtype, i, dtype == DType::kBool ? (bits >> 40) & 1 : bits);
  }
  const uint64_t draw = HashAt(~options.seed, counter);
  if (options.mode == InputMode::kSpecial && (i == 0 || draw % kSpecialEvery == 0)) {
    return StoreFromDouble(data, dtype, i, SpecialValue(dtype, draw >> 32));
  }
  StoreFromDouble(data, dtype, i, NormalAt(options.seed, counter));
}

// Runs body(begin, end) over [0, count) split between threads.
template <class Body>
void Split(int64_t count, int threads, const Body& body) {
  std::atomic<int> next = 0;
  RunOnThreads(threads, [&] {
    for (int t = next++; t < threads; t = next++) {
      body(count * t / threads, count * (t + 1) / threads);
    }
  });
}

int ThreadsFor(size_t bytes, int requested) {
  if (requested > 0) return requested;
  const auto cores = static_cast<int64_t>(std::max(1u, std::thread::hardware_concurrency()));
  const auto wanted = static_cast<int64_t>(bytes) / kBytesPerThread + 1;
  return static_cast<int>(std::min({cores, wanted, int64_t{8}}));
}

}  // namespace

std::string_view InputModeName(InputMode mode) {
  switch (mode) {
    case InputMode::kNormal:
      return "normal";
    case InputMode::kSmallIntegers:
      return "small-integers";
    case InputMode::kSpecial:
      return "special";
  }
  return "?";
}

uint64_t FreshSeed() {
  std::random_device device;
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  const uint64_t random = (uint64_t{device()} << 32) | device();
  return HashAt(random, static_cast<uint64_t>(now));
}

void FillHost(DType dtype, std::span<std::byte> bytes, const InputOptions& options) {
  const int64_t size = DTypeSize(dtype);
  const int64_t count = static_cast<int64_t>(bytes.size()) / size;
  const int64_t block = std::min(count, kBlockElements);
  const int threads = ThreadsFor(bytes.size(), options.threads);
  std::byte* const data = bytes.data();
  Split(block, threads, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) StoreElement(dtype, data, i, options);
  });
  const int64_t chunks = (count - block + kChunkElements - 1) / kChunkElements;
  Split(chunks, threads, [&](int64_t begin, int64_t end) {
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      const int64_t to = block + chunk * kChunkElements;
      const uint64_t draw = HashAt(options.seed ^ 0x5bd1e995, static_cast<uint64_t>(chunk));
      const auto from =
          static_cast<int64_t>(draw % static_cast<uint64_t>(kBlockElements - kChunkElements + 1));
      const int64_t length = std::min(kChunkElements, count - to);
      std::memcpy(data + to * size, data + from * size, static_cast<size_t>(length * size));
    }
  });
}

namespace {

constexpr int64_t kSmallInput = int64_t{1} << 16;  // elements

absl::StatusOr<HostBuffer> MakeBuffer(const CallDesc& call, int index,
                                      const InputOptions& options) {
  const Operand& operand = call.input(index);
  const auto extent = operand.desc.Extent();
  if (!extent.has_value()) {
    return ResourceExhausted(call.op->name, ": ", call.op->inputs[static_cast<size_t>(index)].name,
                             ": extent of ", operand.desc.shape.ToString(), " overflows");
  }
  HostBuffer buffer;
  try {
    buffer.bytes.resize(static_cast<size_t>(extent->end - extent->begin));
  } catch (const std::exception&) {
    return ResourceExhausted(call.op->name, ": no host memory for ", extent->end - extent->begin,
                             " bytes");
  }
  buffer.origin_bytes = -extent->begin;
  InputOptions own = options;
  own.seed = HashAt(options.seed, static_cast<uint64_t>(index));
  FillHost(operand.desc.dtype, buffer.bytes, own);
  return buffer;
}

// Lets the operator's own function, if it has one, overwrite what it must.
absl::Status FitTogether(const CallDesc& call, const InputOptions& options,
                         const InputFunction& function, std::vector<HostBuffer>& buffers) {
  if (!function) return absl::OkStatus();
  std::vector<void*> data;
  for (HostBuffer& buffer : buffers) {
    data.push_back(buffer.bytes.empty() ? nullptr : buffer.origin());
  }
  return function({&call, options.use, options.seed, data});
}

}  // namespace

absl::StatusOr<std::vector<HostBuffer>> MakeInputs(const CallDesc& call,
                                                   const InputOptions& options) {
  std::vector<HostBuffer> buffers(call.op->inputs.size());
  for (int i = 0; i < call.op->input_count(); ++i) {
    if (!call.input(i).present) continue;
    TW_ASSIGN_OR_RETURN(buffers[static_cast<size_t>(i)], MakeBuffer(call, i, options));
  }
  TW_RETURN_IF_ERROR(FitTogether(call, options, BuiltinInputs(call.op->name), buffers));
  return buffers;
}

absl::StatusOr<std::vector<HostBuffer>> MakeChosenInputs(const CallDesc& call,
                                                         const InputOptions& options) {
  std::vector<HostBuffer> buffers(call.op->inputs.size());
  const InputFunction function = BuiltinInputs(call.op->name);
  if (!function) return buffers;
  for (int i = 0; i < call.op->input_count(); ++i) {
    const Operand& operand = call.input(i);
    if (!operand.present) continue;
    if (IsFloating(operand.desc.dtype) && operand.desc.elements() > kSmallInput) continue;
    TW_ASSIGN_OR_RETURN(buffers[static_cast<size_t>(i)], MakeBuffer(call, i, options));
  }
  TW_RETURN_IF_ERROR(FitTogether(call, options, function, buffers));
  return buffers;
}

}  // namespace tilewright
