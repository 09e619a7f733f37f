// From a kernel instantiation to its cubin: cache, else compile, once.
#ifndef TILEWRIGHT_RUNTIME_KERNEL_STORE_H_
#define TILEWRIGHT_RUNTIME_KERNEL_STORE_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "cache/cache.h"
#include "kernel_templates/embedded.h"
#include "kernel_templates/recipe.h"
#include "runtime/compiler.h"
#include "runtime/keys.h"
#include "runtime/single_flight.h"

namespace tilewright {

struct KernelStoreOptions {
  bool strict = false;           // any compile is an error
  bool exact_toolchain = false;  // a cubin of another compiler build is a miss
  // How long another process's compile of the same kernel is waited for.
  std::chrono::milliseconds lock_timeout{120000};
};

// Purpose: the one way to a cubin. Compiles a missing kernel once among the threads of this process
// and, through the cache's lock, among processes; the others wait for the result. A failed compile
// is remembered, so that a broken template costs one compile. Thread-safe; no lock is held while
// another key compiles. Outlived by `cache` and `compiler`.
class KernelStore {
 public:
  KernelStore(TemplateSet templates, Cache* cache, std::shared_ptr<Compiler> compiler,
              KernelStoreOptions options = {});

  // Adds templates of an embedder's. AlreadyExists where the path holds another text; what `check`
  // says of them together with those already here, of which nothing is then added.
  absl::Status AddTemplates(const std::vector<std::pair<std::string, std::string>>& files,
                            const std::function<absl::Status(const TemplateSet&)>& check);

  // Errors of TemplateSet::Closure.
  absl::StatusOr<KernelKey> Key(const KernelSpec& spec, std::string_view arch);
  absl::StatusOr<std::string> ClosureDigest(std::string_view template_file);

  struct Result {
    KernelRow row;  // with its cubin
    bool compiled = false;
  };
  // Errors: FailedPrecondition in strict mode or without a compiler; Internal with the log where
  // the template does not compile; ResourceExhausted where the compiler lacked memory; Cancelled
  // where `cancelled` was set while another process compiled it.
  absl::StatusOr<Result> GetOrBuild(const KernelSpec& spec, std::string_view op,
                                    std::string_view arch,
                                    const std::atomic<bool>* cancelled = nullptr);
  // The cached row, compiling nothing; NotFound.
  absl::StatusOr<KernelRow> Find(const KernelKey& key);
  // Compiles anew and replaces the cached row: for a cubin that the driver refused.
  absl::StatusOr<Result> Rebuild(const KernelSpec& spec, std::string_view op,
                                 std::string_view arch);

  Compiler& compiler() { return *compiler_; }
  int64_t compiles() const { return compiles_.load(std::memory_order_relaxed); }

 private:
  absl::StatusOr<Result> Build(const KernelSpec& spec, const KernelKey& key, std::string_view op,
                               const std::atomic<bool>* cancelled);
  absl::StatusOr<std::unique_ptr<CompileLock>> TakeTurn(const KernelKey& key,
                                                        const std::atomic<bool>* cancelled);
  absl::StatusOr<Result> CompileAndKeep(const KernelSpec& spec, const KernelKey& key,
                                        std::string_view op);

  Cache* const cache_;
  const std::shared_ptr<Compiler> compiler_;
  const KernelStoreOptions options_;
  std::atomic<int64_t> compiles_{0};
  SingleFlight<Result> flights_;  // by kernel key

  std::mutex mutex_;
  std::shared_ptr<const TemplateSet> templates_;              // guarded by mutex_
  std::map<std::string, std::string, std::less<>> closures_;  // template file -> digest
  absl::flat_hash_map<std::string, absl::Status> broken_;     // kernels that do not compile
};

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_KERNEL_STORE_H_
