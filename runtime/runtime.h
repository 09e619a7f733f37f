// The public API: open a runtime, describe tensors, call operators.
#ifndef TILEWRIGHT_RUNTIME_RUNTIME_H_
#define TILEWRIGHT_RUNTIME_RUNTIME_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernel_templates/recipe.h"
#include "manifest/op_spec.h"
#include "manifest/reference.h"
#include "runtime/tensor.h"

namespace tilewright {

class Cache;
class Driver;
class Compiler;
class KernelStore;

// A CUDA stream handle (CUstream or cudaStream_t); null is the default stream of the current
// context.
using Stream = void*;

enum class TuningPolicy : uint8_t { kNever, kOnFirstUse, kBackground };

// What a miss under stream capture does. Nothing is ever tuned, allocated or synchronised there.
enum class CaptureMiss : uint8_t {
  kFail,        // FailedPrecondition naming the op, the problem and the warm command
  kLoadCached,  // serve where every cubin is in the cache, else fail
  kCompile,     // also compile the default configuration
};

enum class LogLevel : uint8_t { kDebug, kInfo, kWarning, kError };
using Logger = std::function<void(LogLevel, std::string_view)>;

struct RuntimeOptions {
  std::string cache_path;                // empty: memory only. See DefaultCachePath().
  std::vector<std::string> seed_caches;  // read-only caches beneath it
  int64_t cache_max_bytes = 0;           // 0: no limit
  TuningPolicy tuning = TuningPolicy::kNever;
  CaptureMiss capture_miss = CaptureMiss::kFail;
  bool strict = false;           // any compile is an error
  bool exact_toolchain = false;  // a cubin of another compiler build is a miss
  // Asks the driver about every pointer on every call. Without it, only the first call of a shape
  // is checked for memory of another device.
  bool check_pointers = false;
  std::string template_dir;                    // overrides embedded templates; for kernel authors
  std::string nvrtc_path;                      // explicit libnvrtc, or its folder; else searched
  std::vector<std::string> nvrtc_search_dirs;  // looked in before the usual places
  std::string failed_source_dir;               // keeps sources that do not compile; empty: nowhere
  std::string worker_path;                     // tuning worker executable; else beside the library
  std::string device_profile_dir;              // calibrated profiles; see ProfileFolder()
  int64_t max_loaded_kernels = 4096;           // at least 1; pinned kernels stay beyond this
  int64_t max_exact_calls = 8192;              // bound of the exact-call table, 1 to 2^20
  Logger logger;                               // default: spdlog to standard error
  // Seams for tests: injected fakes. Null: the real driver and NVRTC, loaded on first need.
  std::shared_ptr<Driver> driver;
  std::shared_ptr<Compiler> compiler;

  // Of FromEnvironment(): why a variable has no meaning. Open() returns it.
  absl::Status environment;

  // Where the calibrated profiles of devices are: device_profile_dir, else "devices" beside the
  // cache; empty where there is neither. One that is damaged is warned of once, and ignored.
  std::string ProfileFolder() const;

  // Reads TILEWRIGHT_CACHE, TILEWRIGHT_STRICT, TILEWRIGHT_NVRTC, TILEWRIGHT_TEMPLATES,
  // TILEWRIGHT_WORKER, TILEWRIGHT_FAILED_SOURCES, the XDG paths, and where CUDA and Python say that
  // they are; the only place that reads the environment.
  static RuntimeOptions FromEnvironment();
};

// A resolved operator name; cheap to copy, valid for the runtime's lifetime.
class OpHandle {
 public:
  OpHandle() = default;
  bool valid() const { return index_ >= 0; }

 private:
  friend class RuntimeImpl;  // the one implementation of Runtime
  explicit OpHandle(int index) : index_(index) {}
  int index_ = -1;
};

struct CallOptions {
  Stream stream = nullptr;
  // Caller's scratch memory on the same device, 256-byte aligned, kept until the call has run. Too
  // small is InvalidArgument. None: stream-ordered memory is used (under capture, a graph node).
  void* workspace = nullptr;
  int64_t workspace_bytes = 0;
};

// Where a kernel came from.
enum class Source : uint8_t { kLoaded, kCache, kCompiled, kTuned };
std::string_view SourceName(Source source);

// Which choice a call runs with.
enum class Quality : uint8_t { kWinner, kNeighbour, kDefault };
std::string_view QualityName(Quality quality);

// What a call would run, and why.
struct Explanation {
  std::string op;
  std::string call;  // CallDesc::ToString()
  std::string problem_json;
  std::string problem_key;
  std::string device;
  Quality quality = Quality::kDefault;
  bool launches = true;        // false: no launch, for nothing that is written has elements
  std::string neighbour_json;  // the tuned problem whose winner is used, for kNeighbour
  Config config;
  struct Kernel {
    std::string key;
    std::string instantiation;
    bool in_cache = false;
    int registers = 0;
    int64_t smem_bytes = 0;
    std::string compiler;  // the build that made the cubin in the cache
  };
  std::vector<Kernel> kernels;
  std::vector<std::string> rejected_variants;  // "wgmma: base of 'a' is 2-byte aligned, needs 16"
  int64_t workspace_bytes = 0;
  double predicted_us = 0;
  double sol_us = 0;
};

// An operator of the embedder's own: what the built-in ones are made of.
struct CustomOp {
  std::string manifest_yaml;  // one document with one or more entries
  std::vector<std::pair<std::string, std::string>> templates;  // path, text
  std::function<std::unique_ptr<Recipe>(std::string_view op)> recipe;
  std::function<ReferenceFunction(std::string_view op)> reference;  // may be empty
  // The C++ formulas that rooflines name; may be empty.
  std::function<RooflineFormula(std::string_view formula)> roofline;
};

struct RuntimeCounters {
  int64_t exact_hits = 0;
  int64_t plan_hits = 0;
  int64_t misses = 0;  // problems resolved
  int64_t compiles = 0;
  int64_t tunes = 0;
  int64_t loaded_kernels = 0;
  int64_t evicted_kernels = 0;
};

// The kernel service of one process: dispatches calls to tuned kernels on every device.
//
// Thread-safe: any number of threads may call at once; a call never changes the caller's current
// device or context. Must outlive the work it launched only where CallOptions::workspace says so:
// kernels stay loaded while a captured graph uses them. Tensors and params are read during the call
// only.
class Runtime {
 public:
  // Works with neither a driver nor NVRTC present; what needs them says so when it is called.
  // InvalidArgument where a number among the options is out of its range.
  static absl::StatusOr<std::unique_ptr<Runtime>> Open(RuntimeOptions options);
  virtual ~Runtime() = default;

  // Runs `op` on tensors in the manifest's order. Asynchronous on the stream. Errors:
  //   NotFound            no such op
  //   InvalidArgument     the call breaks the manifest's contract; nothing was launched
  //   FailedPrecondition  no driver, an architecture without a template, or a miss under capture
  //   ResourceExhausted   device memory
  //   Internal            compile or launch failure
  virtual absl::Status Call(OpHandle op, std::span<const Tensor> inputs,
                            std::span<const Tensor> outputs,
                            std::span<const NamedParam> params = {},
                            const CallOptions& options = {}) = 0;
  absl::Status Call(std::string_view op, std::span<const Tensor> inputs,
                    std::span<const Tensor> outputs, std::span<const NamedParam> params = {},
                    const CallOptions& options = {});

  virtual absl::StatusOr<OpHandle> Find(std::string_view op) const = 0;
  virtual std::vector<const OpSpec*> Ops() const = 0;
  virtual const OpSpec* Spec(std::string_view op) const = 0;        // null if unknown
  virtual const Recipe* FindRecipe(std::string_view op) const = 0;  // null if none

  // Resolves a call without launching it, so that the same call under capture is a hit. The call
  // tunes by policy. Data pointers may be null; alignment is then taken as 256.
  virtual absl::Status Prepare(std::string_view op, std::span<const Tensor> inputs,
                               std::span<const Tensor> outputs,
                               std::span<const NamedParam> params = {}) = 0;

  // Bytes of workspace that the call needs; 0 for most. Resolves the call as Prepare does.
  virtual absl::StatusOr<int64_t> WorkspaceBytes(std::string_view op,
                                                 std::span<const Tensor> inputs,
                                                 std::span<const Tensor> outputs,
                                                 std::span<const NamedParam> params = {}) = 0;

  // What `call` would run on `device`; compiles and loads nothing. Needs no GPU. InvalidArgument
  // for a call without an operator, or one that Call() would refuse.
  virtual absl::StatusOr<Explanation> Explain(const CallDesc& call,
                                              const DeviceProfile& device) = 0;

  // Compiles into the cache what `call` would run on `device`, and the portable kernel that serves
  // it where its pointers are less aligned; for registered operators too. Needs no GPU. The errors
  // of Explain(), and of a compile: Internal with the log where a template does not compile,
  // FailedPrecondition without NVRTC or in strict mode.
  absl::Status Warm(const CallDesc& call, const DeviceProfile& device);

  // Adds operators of the embedder's own. AlreadyExists for a name that is taken; the entry is
  // checked as `validate` checks it, and the templates that its workloads need must be there, but
  // nothing is compiled: Warm() does. Not to be called while other threads look up the same op.
  virtual absl::Status Register(CustomOp op) = 0;

  virtual RuntimeCounters Counters() const = 0;
  virtual Cache& cache() = 0;
  virtual KernelStore& kernels() = 0;
  virtual Driver& driver() = 0;
  virtual ReferenceFunction FindReference(std::string_view op) const = 0;  // empty if none
  // The profile of a visible device; FailedPrecondition without a driver.
  virtual absl::StatusOr<DeviceProfile> Device(int ordinal) = 0;
};

// $XDG_CACHE_HOME/tilewright/kernels.db, else ~/.cache/tilewright/kernels.db; empty where neither
// is known.
std::string DefaultCachePath();

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_RUNTIME_H_
