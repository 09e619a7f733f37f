// Turning a kernel instantiation into a cubin.
#ifndef TILEWRIGHT_RUNTIME_COMPILER_H_
#define TILEWRIGHT_RUNTIME_COMPILER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tilewright {

struct CompileRequest {
  std::string source;                          // the translation unit
  std::map<std::string, std::string> headers;  // template closure: path -> text
  std::string name_expression;                 // "tilewright::RmsNormKernel<Config>"
  std::string arch;                            // "sm_90a"
  std::vector<std::string> flags;              // beyond the fixed ones; no paths
  // Without textures and what the device runtime declares, the reading of which takes a fifth of an
  // empty kernel's compile; the code is the same. A source that does not compile so is compiled
  // with them.
  bool minimal = true;
};

struct CompiledKernel {
  std::string cubin;
  std::string lowered_name;
  std::string log;       // compiler output, empty if silent
  std::string compiler;  // "nvrtc 13.0.88"
  double compile_ms = 0;
  int registers = 0;  // read from the cubin
  int64_t static_smem_bytes = 0;
  int64_t spill_bytes = 0;
  // Log gates: what makes a candidate unfit ("wgmma serialized", "setmaxnreg ignored", "spills").
  std::vector<std::string> gates;
};

// Thread-safe: compiles run in parallel.
class Compiler {
 public:
  virtual ~Compiler() = default;
  // Internal with the full log and the source (its path too, where it is kept) on a compile error;
  // ResourceExhausted where the compiler ran out of memory, so that another attempt may do;
  // FailedPrecondition, naming every place searched, where there is no compiler.
  virtual absl::StatusOr<CompiledKernel> Compile(const CompileRequest& request) = 0;
  // "nvrtc 13.0.88"; FailedPrecondition where there is none.
  virtual absl::StatusOr<std::string> Version() = 0;
};

// The flags of every compile, which with the architecture and CompileRequest::flags shape the code;
// part of each kernel's key.
std::vector<std::string> FixedCompileFlags();

// What makes a kernel unfit as a candidate, from its compile log and spills; a cached row keeps
// both.
std::vector<std::string> CompileGates(std::string_view log, int64_t spill_bytes);

// NVRTC, loaded on first use. `explicit_path` (a library or its folder) replaces the search;
// `search_dirs` are looked in before the loader's path, the CUDA toolkit and pip wheels. Sources
// that do not compile are kept in `source_dir`; empty: nowhere.
std::shared_ptr<Compiler> NvrtcCompiler(std::string explicit_path = "",
                                        std::vector<std::string> search_dirs = {},
                                        std::string source_dir = "");

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_COMPILER_H_
