// What a row may hold, wherever it comes from or goes to. Rows that are put, read, salvaged,
// imported, checked and exported are held to this.
#ifndef TILEWRIGHT_CACHE_BOUNDS_H_
#define TILEWRIGHT_CACHE_BOUNDS_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "cache/cache.h"

namespace tilewright {

inline constexpr int64_t kMaxCubinBytes = 64 << 20;
inline constexpr int64_t kMaxTextBytes = 1 << 20;  // any one text column
inline constexpr int64_t kMaxKeyBytes = 512;

// What is out of bounds, in words, or empty: sizes, a NUL, numbers that are negative or not finite.
std::string_view FlawOf(const KernelRow& row);  // the cubin apart
std::string_view FlawOf(const WinnerRow& row);
std::string_view FlawOf(const TrialRow& row);
// The same for a kernel's bytes: a whole CUDA ELF file for `arch` has none.
std::string_view FlawOfCubin(std::string_view cubin, std::string_view arch);

// InvalidArgument, naming row and flaw, where there is one; a kernel's cubin counts.
absl::Status CheckBounds(const KernelRow& row);
absl::Status CheckBounds(const WinnerRow& row);
absl::Status CheckBounds(const TrialRow& row);

}  // namespace tilewright

#endif  // TILEWRIGHT_CACHE_BOUNDS_H_
