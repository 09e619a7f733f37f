// Reading a cubin: what its kernels need. Its digest, of what they do, is in cache/cubin_digest.h.
#ifndef TILEWRIGHT_RUNTIME_CUBIN_H_
#define TILEWRIGHT_RUNTIME_CUBIN_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cache/cubin_digest.h"

namespace tilewright {

// One kernel of a cubin. Figures are per thread (registers, stack, spills) or per block (shared).
struct CubinKernel {
  std::string name;  // symbol, as cuLibraryGetKernel takes it
  int registers = 0;
  int64_t static_smem_bytes = 0;  // without the block that the driver reserves on sm_90 and up
  int64_t stack_bytes = 0;        // local frame, spills included
  // Bytes that one execution of every spill instruction moves, as ptxas counts them.
  int64_t spill_store_bytes = 0;
  int64_t spill_load_bytes = 0;
  int64_t param_bytes = 0;
  int max_threads = 0;  // of __launch_bounds__; 0: not given
  int64_t code_bytes = 0;

  int64_t spill_bytes() const { return spill_store_bytes + spill_load_bytes; }
};

struct CubinInfo {
  std::vector<CubinKernel> kernels;  // in symbol-table order

  // Null if there is none.
  const CubinKernel* Find(std::string_view kernel) const;
};

// Parses a cubin. Bytes may come from anywhere: every offset is checked, and whatever is not a
// 64-bit little-endian CUDA ELF file with in-range sections is InvalidArgument.
absl::StatusOr<CubinInfo> ReadCubin(std::string_view bytes);

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_CUBIN_H_
