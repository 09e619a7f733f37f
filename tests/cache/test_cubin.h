// Bytes that pass for a cubin: the header of a CUDA ELF file without sections, then anything.
#ifndef TILEWRIGHT_TESTS_CACHE_TEST_CUBIN_H_
#define TILEWRIGHT_TESTS_CACHE_TEST_CUBIN_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>

namespace tilewright {

inline constexpr size_t kElfHeaderBytes = 64;

// At least a header; `seed` chooses what follows it. `sm` is 90 for "sm_90a".
inline std::string TestCubin(unsigned seed = 0, size_t bytes = 400, uint32_t sm = 90) {
  std::string cubin(kElfHeaderBytes, '\0');
  std::memcpy(cubin.data(),
              "\x7f"
              "ELF",
              4);
  cubin[8] = 8;  // the ABI's version, from which the architecture is the second byte of the flags
  const uint16_t machine = 190;
  const uint32_t flags = sm << 8;
  std::memcpy(cubin.data() + 18, &machine, sizeof(machine));
  std::memcpy(cubin.data() + 48, &flags, sizeof(flags));
  std::mt19937 random(seed);
  while (cubin.size() < bytes) cubin += static_cast<char>(random());
  return cubin;
}

}  // namespace tilewright

#endif  // TILEWRIGHT_TESTS_CACHE_TEST_CUBIN_H_
