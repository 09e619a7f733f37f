// The CUDA driver, one virtual method an entry point: the seam between the runtime and the GPU.
//
// No cuda.h here: handles are pointers to the driver's own opaque structs, so that they convert to
// CUstream, CUcontext, ... without a cast.
#ifndef TILEWRIGHT_RUNTIME_DRIVER_DRIVER_H_
#define TILEWRIGHT_RUNTIME_DRIVER_DRIVER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct CUctx_st;
struct CUstream_st;
struct CUevent_st;
struct CUgraph_st;
struct CUgraphExec_st;
struct CUlib_st;
struct CUkern_st;
struct CUfunc_st;
struct CUuserObject_st;

namespace tilewright {

using CudaContext = CUctx_st*;
using CudaStream = CUstream_st*;
using CudaEvent = CUevent_st*;
using CudaGraph = CUgraph_st*;
using CudaGraphExec = CUgraphExec_st*;
using CudaLibrary = CUlib_st*;
using CudaKernel = CUkern_st*;
using CudaFunction = CUfunc_st*;
using CudaUserObject = CUuserObject_st*;

// Values are those of CUdevice_attribute.
enum class DeviceAttribute : int {
  kMaxGridDimX = 5,
  kMultiprocessorCount = 16,
  kL2CacheBytes = 38,
  kMaxThreadsPerSm = 39,
  kComputeMajor = 75,
  kComputeMinor = 76,
  kSharedMemoryPerSm = 81,
  kRegistersPerSm = 82,
  kSharedMemoryPerBlockOptin = 97,
};

// Values are those of CUfunction_attribute.
enum class KernelAttribute : int {
  kMaxDynamicSharedBytes = 8,
  kNonPortableClusterSizeAllowed = 14,
};

struct LaunchShape {
  std::array<uint32_t, 3> grid{1, 1, 1};
  std::array<uint32_t, 3> block{1, 1, 1};
  std::array<uint32_t, 3> cluster{1, 1, 1};
  uint32_t dynamic_smem_bytes = 0;
  bool programmatic_dependent_launch = false;
};

// A tiled tensor map. Enumerations hold the driver's own values.
struct TensorMapShape {
  int data_type = 0;  // CUtensorMapDataType
  uint32_t rank = 0;
  uint64_t address = 0;
  std::array<uint64_t, 5> dims{};
  std::array<uint64_t, 4> strides_bytes{};
  std::array<uint32_t, 5> box{};
  int swizzle = 0;       // CUtensorMapSwizzle
  int l2_promotion = 0;  // CUtensorMapL2promotion
};

struct CaptureInfo {
  bool capturing = false;
  bool invalidated = false;
  uint64_t id = 0;            // of the capture sequence
  CudaGraph graph = nullptr;  // being captured into
};

struct PointerInfo {
  bool known = false;  // allocated or registered with the driver
  int device = -1;     // of device memory; -1 for host and managed memory, which belong to none
  bool is_device_accessible = false;
};

struct MemoryInfo {
  uint64_t free_bytes = 0;
  uint64_t total_bytes = 0;
};

enum class CaptureMode : int { kGlobal = 0, kThreadLocal = 1, kRelaxed = 2 };

// Every method maps to one driver entry point, unless it says otherwise. Errors:
//   FailedPrecondition  no driver (the message says where it was sought), no device, a driver too
//                       old, an entry point it lacks, an operation that capture forbids
//   ResourceExhausted   out of memory
//   InvalidArgument     the driver refused a value
//   Internal            anything else
// DriverErrorCode() gives the CUresult behind an error. Thread-safe as the driver is.
class Driver {
 public:
  virtual ~Driver() = default;

  // Loads and initialises the driver; idempotent. Every other method does so on first need.
  virtual absl::Status Init() = 0;
  virtual absl::StatusOr<int> DriverVersion() = 0;  // 13000: CUDA 13.0
  virtual std::string LibraryPath() = 0;            // of the driver found; empty if none

  virtual absl::StatusOr<int> DeviceCount() = 0;
  virtual absl::StatusOr<std::string> DeviceName(int device) = 0;
  virtual absl::StatusOr<int> Attribute(int device, DeviceAttribute attribute) = 0;

  virtual absl::StatusOr<CudaContext> RetainPrimaryContext(int device) = 0;
  virtual absl::Status ReleasePrimaryContext(int device) = 0;
  virtual absl::StatusOr<CudaContext> CurrentContext() = 0;  // null where there is none
  virtual absl::Status PushContext(CudaContext context) = 0;
  virtual absl::Status PopContext() = 0;
  virtual absl::StatusOr<int> CurrentDevice() = 0;  // of the current context
  virtual absl::Status SynchronizeContext() = 0;

  virtual absl::StatusOr<CudaStream> CreateStream() = 0;  // non-blocking
  virtual absl::Status DestroyStream(CudaStream stream) = 0;
  virtual absl::Status SynchronizeStream(CudaStream stream) = 0;
  virtual absl::StatusOr<CudaContext> StreamContext(CudaStream stream) = 0;
  virtual absl::StatusOr<CaptureInfo> StreamCapture(CudaStream stream) = 0;

  virtual absl::StatusOr<CudaLibrary> LoadLibrary(std::string_view image) = 0;
  virtual absl::Status UnloadLibrary(CudaLibrary library) = 0;
  virtual absl::StatusOr<CudaKernel> LibraryKernel(CudaLibrary library, const char* name) = 0;
  // Loads the kernel into the current context.
  virtual absl::StatusOr<CudaFunction> KernelFunction(CudaKernel kernel) = 0;
  virtual absl::Status SetKernelAttribute(CudaKernel kernel, KernelAttribute attribute, int value,
                                          int device) = 0;
  // `params` points at one pointer per kernel parameter.
  virtual absl::Status Launch(const LaunchShape& shape, CudaKernel kernel, CudaStream stream,
                              void** params) = 0;
  // Writes 128 bytes at `map`, which is 64-byte aligned.
  virtual absl::Status EncodeTensorMap(const TensorMapShape& shape, void* map) = 0;

  virtual absl::StatusOr<PointerInfo> Pointer(const void* pointer) = 0;
  virtual absl::StatusOr<MemoryInfo> Memory() = 0;
  virtual absl::StatusOr<void*> Alloc(size_t bytes) = 0;
  virtual absl::Status Free(void* pointer) = 0;
  virtual absl::StatusOr<void*> AllocAsync(size_t bytes, CudaStream stream) = 0;
  virtual absl::Status FreeAsync(void* pointer, CudaStream stream) = 0;
  virtual absl::Status CopyToDevice(void* to, const void* from, size_t bytes,
                                    CudaStream stream) = 0;  // asynchronous
  virtual absl::Status CopyToHost(void* to, const void* from, size_t bytes,
                                  CudaStream stream) = 0;  // asynchronous
  virtual absl::Status CopyOnDevice(void* to, const void* from, size_t bytes,
                                    CudaStream stream) = 0;
  virtual absl::Status Fill8(void* to, uint8_t value, size_t count, CudaStream stream) = 0;
  virtual absl::Status Fill32(void* to, uint32_t value, size_t count, CudaStream stream) = 0;

  virtual absl::StatusOr<CudaEvent> CreateEvent() = 0;  // with timing
  virtual absl::Status DestroyEvent(CudaEvent event) = 0;
  virtual absl::Status RecordEvent(CudaEvent event, CudaStream stream) = 0;
  virtual absl::Status SynchronizeEvent(CudaEvent event) = 0;
  virtual absl::StatusOr<float> ElapsedMs(CudaEvent start, CudaEvent end) = 0;

  virtual absl::Status BeginCapture(CudaStream stream, CaptureMode mode) = 0;
  virtual absl::StatusOr<CudaGraph> EndCapture(CudaStream stream) = 0;
  virtual absl::StatusOr<CudaGraphExec> Instantiate(CudaGraph graph) = 0;
  virtual absl::Status LaunchGraph(CudaGraphExec exec, CudaStream stream) = 0;
  virtual absl::Status DestroyGraph(CudaGraph graph) = 0;
  virtual absl::Status DestroyGraphExec(CudaGraphExec exec) = 0;
  // `destroy(object)` runs on a driver thread once no graph holds it; it may not call the driver.
  virtual absl::StatusOr<CudaUserObject> CreateUserObject(void* object, void (*destroy)(void*)) = 0;
  virtual absl::Status ReleaseUserObject(CudaUserObject object) = 0;
  // Moves the caller's reference to the graph.
  virtual absl::Status GiveUserObject(CudaGraph graph, CudaUserObject object) = 0;
  // Sets the calling thread's mode and returns the one before.
  virtual absl::StatusOr<CaptureMode> ExchangeCaptureMode(CaptureMode mode) = 0;
};

// The machine's driver: libcuda.so.1, loaded on first need. `explicit_path` replaces the search.
std::shared_ptr<Driver> SystemDriver(std::string explicit_path = "");

// The error for a CUresult of `entry_point`; carries the code.
absl::Status DriverError(std::string_view entry_point, int code, std::string_view name,
                         std::string_view detail = "");
// The CUresult of an error made by DriverError(); 0 for any other status.
int DriverErrorCode(const absl::Status& status);
// True where the process's CUDA state is lost (illegal address, launch failure, ECC, ...): every
// later call fails alike, and only a new process recovers.
bool IsSticky(const absl::Status& status);
// True where a machine as it should be would not have failed: memory, file handles or a device that
// others hold, hardware that broke. Says nothing of what was to run.
bool IsOfTheMachine(const absl::Status& status);

// CUresult values that the runtime acts on.
inline constexpr int kCudaInvalidValue = 1;
inline constexpr int kCudaOutOfMemory = 2;
inline constexpr int kCudaNotInitialized = 3;
inline constexpr int kCudaInvalidImage = 200;
inline constexpr int kCudaInvalidContext = 201;
inline constexpr int kCudaNoBinaryForGpu = 209;
inline constexpr int kCudaUnsupportedPtxVersion = 222;
inline constexpr int kCudaInvalidHandle = 400;
inline constexpr int kCudaNotFound = 500;
inline constexpr int kCudaIllegalAddress = 700;
inline constexpr int kCudaContextDestroyed = 709;
inline constexpr int kCudaCaptureUnsupported = 900;
inline constexpr int kCudaCaptureImplicit = 906;

// Makes the primary context of `device` current for the scope. Check status() first. Not movable;
// lives on one thread's stack.
class ScopedContext {
 public:
  ScopedContext(Driver& driver, CudaContext context)
      : driver_(driver), status_(driver.PushContext(context)) {}
  ~ScopedContext() {
    if (status_.ok()) driver_.PopContext().IgnoreError();
  }
  ScopedContext(const ScopedContext&) = delete;
  ScopedContext& operator=(const ScopedContext&) = delete;
  const absl::Status& status() const { return status_; }

 private:
  Driver& driver_;
  absl::Status status_;
};

// Puts the calling thread into relaxed capture mode for the scope, so that loading a module does
// not disturb a capture of another thread, or of this one.
class ScopedRelaxedCapture {
 public:
  explicit ScopedRelaxedCapture(Driver& driver) : driver_(driver) {
    auto mode = driver.ExchangeCaptureMode(CaptureMode::kRelaxed);
    if (mode.ok()) before_ = *mode;
  }
  ~ScopedRelaxedCapture() {
    if (before_.has_value()) driver_.ExchangeCaptureMode(*before_).IgnoreError();
  }
  ScopedRelaxedCapture(const ScopedRelaxedCapture&) = delete;
  ScopedRelaxedCapture& operator=(const ScopedRelaxedCapture&) = delete;

 private:
  Driver& driver_;
  std::optional<CaptureMode> before_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_DRIVER_DRIVER_H_
