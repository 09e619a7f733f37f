// cuBLASLt as a peer of GemmFwdOp and BmmFwdOp: every algorithm that its heuristics return for one
// problem.
#ifndef TILEWRIGHT_BENCH_PEERS_CUBLASLT_H_
#define TILEWRIGHT_BENCH_PEERS_CUBLASLT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manifest/call_desc.h"

namespace tilewright {

// Device buffers of one problem, in the manifest's layouts, contiguous. Not owned.
struct GemmBuffers {
  const void* a = nullptr;
  const void* b = nullptr;
  void* d = nullptr;
  void* workspace = nullptr;
  uint64_t workspace_bytes = 0;
};

// One matrix product in the context that is current when it is made and run. Not thread-safe. The
// library is found at run time: none is needed to build or to start.
class CublasLtGemm {
 public:
  static bool Serves(std::string_view op) { return op == "GemmFwdOp" || op == "BmmFwdOp"; }
  // InvalidArgument where `call` is not one of these with contiguous fp16 or bf16 operands,
  // FailedPrecondition where there is no libcublasLt. `library` replaces the search of the loader's
  // path and the CUDA toolkit.
  static absl::StatusOr<std::unique_ptr<CublasLtGemm>> Create(const CallDesc& call,
                                                              const std::string& library = "");
  virtual ~CublasLtGemm() = default;

  // Algorithms that the heuristics returned, the preferred one first; at least one.
  virtual int algorithms() const = 0;
  virtual absl::Status Run(int algorithm, const GemmBuffers& buffers, void* stream) = 0;
};

inline constexpr uint64_t kCublasLtWorkspaceBytes = uint64_t{64} << 20;

}  // namespace tilewright

#endif  // TILEWRIGHT_BENCH_PEERS_CUBLASLT_H_
