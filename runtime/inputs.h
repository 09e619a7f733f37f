// Input data for checking, tuning and benchmarks: random, never zeros, fresh per use.
#ifndef TILEWRIGHT_RUNTIME_INPUTS_H_
#define TILEWRIGHT_RUNTIME_INPUTS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "manifest/call_desc.h"
#include "manifest/input_values.h"

namespace tilewright {

enum class InputMode : uint8_t {
  // Floating: independent draws of N(0, 1). Integers: uniform over the whole range, so that sums
  // wrap. Bool: 0 or 1 with equal odds.
  kNormal,
  // Integers uniform in [-2, 2] (unsigned: [0, 4]) in any dtype: float32 sums of products are
  // exact.
  kSmallIntegers,
  // kNormal with about one floating element in 64 replaced by NaN, infinities, signed zeros, very
  // large numbers (the largest of 8 bits and of float16; 2^50, whose squares float32 still sums),
  // the smallest and subnormals; at least one such element where there is any.
  kSpecial,
};
std::string_view InputModeName(InputMode mode);

struct InputOptions {
  InputMode mode = InputMode::kNormal;
  uint64_t seed = 0;  // same seed, dtype and size: same bytes
  int threads = 0;    // 0: up to 8, by size
  InputUse use = InputUse::kCheck;
};

// A seed that differs per call and per process.
uint64_t FreshSeed();

// Fills `bytes`, a whole number of elements of `dtype`. Above 2^18 elements the data repeats a
// random block of that size in chunks that start at random places, so that hundreds of megabytes
// take well under a second.
void FillHost(DType dtype, std::span<std::byte> bytes, const InputOptions& options);

// Host storage of one operand: its whole byte extent, gaps of a strided view included.
struct HostBuffer {
  std::vector<std::byte> bytes;
  int64_t origin_bytes = 0;  // of element (0, ..., 0) in `bytes`

  const void* origin() const { return bytes.data() + origin_bytes; }
  void* origin() { return bytes.data() + origin_bytes; }
};

// Data for every input of `call`, in the manifest's order; an absent or empty one has no bytes. An
// operator whose inputs must fit together gets them from its own function (BuiltinInputs).
// ResourceExhausted where an extent overflows or cannot be held.
absl::StatusOr<std::vector<HostBuffer>> MakeInputs(const CallDesc& call,
                                                   const InputOptions& options);

// Only the inputs that random data will not do for: the integers and the small ones of an operator
// with a function of its own. The others, and all of other operators, have no bytes.
absl::StatusOr<std::vector<HostBuffer>> MakeChosenInputs(const CallDesc& call,
                                                         const InputOptions& options);

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_INPUTS_H_
