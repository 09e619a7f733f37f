// The sections of a cubin, and a digest of what its kernels do.
#ifndef TILEWRIGHT_CACHE_CUBIN_DIGEST_H_
#define TILEWRIGHT_CACHE_CUBIN_DIGEST_H_

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tilewright {

// 32 hex digits over names and contents of the code, relocations of code, constants, kernel info
// and initialised globals, and over the sizes of shared memory. Notes, debug sections, symbol order
// and file layout do not count, so that a cubin of the same code keeps its digest. InvalidArgument
// for what is no 64-bit CUDA ELF file with its sections within.
absl::StatusOr<std::string> CubinDigest(std::string_view bytes);

namespace elf {

template <class T>
std::optional<T> Load(std::string_view bytes, uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

// The zero-terminated name at `offset` of a string table; empty where it is not terminated.
std::string_view NameAt(std::string_view table, uint32_t offset);

struct Section {
  std::string_view name;
  uint32_t type = 0;
  uint32_t link = 0;
  uint32_t info = 0;
  uint64_t size = 0;
  std::string_view data;  // empty for sections without bytes in the file
};

// Of bytes from anywhere: every offset is checked.
absl::StatusOr<std::vector<Section>> ReadSections(std::string_view bytes);

}  // namespace elf
}  // namespace tilewright

#endif  // TILEWRIGHT_CACHE_CUBIN_DIGEST_H_
