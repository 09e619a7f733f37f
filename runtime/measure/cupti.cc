#include "runtime/measure/cupti.h"

#include <dlfcn.h>
#include <glob.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "manifest/status.h"

#if __has_include(<cupti.h>)
#include <cupti.h>
#define TILEWRIGHT_HAS_CUPTI_HEADER 1
#endif

namespace tilewright {
namespace {

// The head of every kernel activity record since CUPTI 9; later versions only append.
struct KernelRecordHead {
  uint32_t kind;
  uint8_t cache_config;
  uint8_t shared_memory_config;
  uint16_t registers;
  uint32_t partitioned_requested;
  uint32_t partitioned_executed;
  uint64_t start_ns;
  uint64_t end_ns;
};
constexpr uint32_t kKindKernel = 3;
constexpr uint32_t kKindConcurrentKernel = 10;
constexpr int kSuccess = 0;
constexpr uint32_t kFlushForced = 1;

#if TILEWRIGHT_HAS_CUPTI_HEADER
static_assert(offsetof(KernelRecordHead, start_ns) == offsetof(CUpti_ActivityKernel9, start));
static_assert(offsetof(KernelRecordHead, end_ns) == offsetof(CUpti_ActivityKernel9, end));
static_assert(kKindConcurrentKernel == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
static_assert(kKindKernel == CUPTI_ACTIVITY_KIND_KERNEL && kSuccess == CUPTI_SUCCESS);
static_assert(kFlushForced == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
#endif

using Context = void*;
using RequestBuffer = void (*)(uint8_t** buffer, size_t* size, size_t* max_records);
using CompleteBuffer = void (*)(Context, uint32_t stream, uint8_t* buffer, size_t size,
                                size_t valid);

struct Entries {
  int (*cuptiActivityRegisterCallbacks)(RequestBuffer, CompleteBuffer) = nullptr;
  int (*cuptiActivityEnable)(uint32_t) = nullptr;
  int (*cuptiActivityDisable)(uint32_t) = nullptr;
  int (*cuptiActivityFlushAll)(uint32_t) = nullptr;
  int (*cuptiActivityGetNextRecord)(uint8_t*, size_t, void**) = nullptr;
  int (*cuptiGetResultString)(int, const char**) = nullptr;
};

// CUPTI calls back without a pointer of ours, so its one subscriber is known here.
struct Subscriber {
  std::mutex mutex;
  Entries entries;
  std::vector<KernelInterval> intervals;
};
std::atomic<Subscriber*> subscriber{nullptr};

void OnRequest(uint8_t** buffer, size_t* size, size_t* max_records) {
  constexpr size_t kBytes = size_t{1} << 20;
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(64, kBytes));
  *size = *buffer == nullptr ? 0 : kBytes;
  *max_records = 0;
}

void OnComplete(Context, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  if (Subscriber* const owner = subscriber.load(); owner != nullptr && valid > 0) {
    std::lock_guard<std::mutex> lock(owner->mutex);
    void* record = nullptr;
    while (owner->entries.cuptiActivityGetNextRecord(buffer, valid, &record) == kSuccess) {
      const auto* kernel = static_cast<const KernelRecordHead*>(record);
      if (kernel->kind != kKindKernel && kernel->kind != kKindConcurrentKernel) continue;
      owner->intervals.push_back({kernel->start_ns, kernel->end_ns});
    }
  }
  std::free(buffer);
}

std::vector<std::string> Candidates(const std::vector<std::string>& search_dirs) {
  std::vector<std::string> patterns;
  for (const std::string& dir : search_dirs) patterns.push_back(dir + "/libcupti.so.1[0-9]");
  std::vector<std::string> paths;
  const auto expand = [&paths](const std::string& pattern) {
    glob_t found{};
    if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
      for (size_t i = found.gl_pathc; i-- > 0;) paths.emplace_back(found.gl_pathv[i]);
    }
    globfree(&found);
  };
  for (const std::string& pattern : patterns) expand(pattern);
  paths.insert(paths.end(), {"libcupti.so.13", "libcupti.so.12", "libcupti.so"});
  for (const char* dir :
       {"/usr/local/cuda/lib64", "/usr/local/cuda/extras/CUPTI/lib64", "/usr/local/cuda-*/lib64",
        "/usr/local/cuda-*/extras/CUPTI/lib64", "/opt/cuda/extras/CUPTI/lib64"}) {
    expand(Cat(dir, "/libcupti.so.1[0-9]"));
  }
  for (const char* root : {"/usr/lib/python3*", "/usr/local/lib/python3*", "/opt/*/lib/python3*"}) {
    for (const char* packages : {"dist-packages", "site-packages"}) {
      for (const char* wheel : {"nvidia/cu13/lib", "nvidia/cuda_cupti/lib"}) {
        expand(Cat(root, "/", packages, "/", wheel, "/libcupti.so.1[0-9]"));
      }
    }
  }
  return paths;
}

class Recorder final : public KernelRecorder {
 public:
  ~Recorder() override {
    if (!active_) return;
    owner_.entries.cuptiActivityDisable(kKindConcurrentKernel);
    owner_.entries.cuptiActivityFlushAll(kFlushForced);
    subscriber.store(nullptr);
    // The library stays loaded: its callbacks may still be on their way.
  }

  absl::Status Start(const std::vector<std::string>& search_dirs) {
    TW_RETURN_IF_ERROR(Load(search_dirs));
    Subscriber* expected = nullptr;
    if (!subscriber.compare_exchange_strong(expected, &owner_)) {
      return FailedPrecondition("CUPTI: another recorder is active in this process");
    }
    active_ = true;
    TW_RETURN_IF_ERROR(Check("cuptiActivityRegisterCallbacks",
                             owner_.entries.cuptiActivityRegisterCallbacks(OnRequest, OnComplete)));
    return Check("cuptiActivityEnable", owner_.entries.cuptiActivityEnable(kKindConcurrentKernel));
  }

  absl::StatusOr<std::vector<KernelInterval>> Collect() override {
    TW_RETURN_IF_ERROR(Check("cuptiActivityFlushAll", owner_.entries.cuptiActivityFlushAll(0)));
    if (Empty()) {
      TW_RETURN_IF_ERROR(
          Check("cuptiActivityFlushAll", owner_.entries.cuptiActivityFlushAll(kFlushForced)));
    }
    std::lock_guard<std::mutex> lock(owner_.mutex);
    std::vector<KernelInterval> intervals = std::exchange(owner_.intervals, {});
    std::sort(intervals.begin(), intervals.end(),
              [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
    return intervals;
  }

 private:
  bool Empty() {
    std::lock_guard<std::mutex> lock(owner_.mutex);
    return owner_.intervals.empty();
  }

  absl::Status Load(const std::vector<std::string>& search_dirs) {
    void* library = nullptr;
    const std::vector<std::string> paths = Candidates(search_dirs);
    std::string sought;
    for (const std::string& path : paths) {
      library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (library != nullptr) break;
      sought += Cat(sought.empty() ? "" : ", ", path);
    }
    if (library == nullptr) return FailedPrecondition("no CUPTI; sought: ", sought);
    Entries& entries = owner_.entries;
    const bool complete =
        Find(library, "cuptiActivityRegisterCallbacks", entries.cuptiActivityRegisterCallbacks) &&
        Find(library, "cuptiActivityEnable", entries.cuptiActivityEnable) &&
        Find(library, "cuptiActivityDisable", entries.cuptiActivityDisable) &&
        Find(library, "cuptiActivityFlushAll", entries.cuptiActivityFlushAll) &&
        Find(library, "cuptiActivityGetNextRecord", entries.cuptiActivityGetNextRecord) &&
        Find(library, "cuptiGetResultString", entries.cuptiGetResultString);
    if (!complete) return FailedPrecondition("CUPTI lacks an entry point: ", dlerror());
    return absl::OkStatus();
  }

  template <class Function>
  static bool Find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
  }

  absl::Status Check(const char* entry_point, int code) const {
    if (code == kSuccess) return absl::OkStatus();
    const char* text = nullptr;
    owner_.entries.cuptiGetResultString(code, &text);
    return FailedPrecondition(entry_point, ": ", text != nullptr ? text : "error", " (", code, ")");
  }

  Subscriber owner_;
  bool active_ = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<KernelRecorder>> CuptiRecorder(
    const std::vector<std::string>& search_dirs) {
  auto recorder = std::make_unique<Recorder>();
  TW_RETURN_IF_ERROR(recorder->Start(search_dirs));
  return recorder;
}

}  // namespace tilewright
