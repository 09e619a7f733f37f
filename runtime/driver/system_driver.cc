// The machine's own driver, through dlopen and cuGetProcAddress.
#include <cudaTypedefs.h>
#include <dlfcn.h>

#include <atomic>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "manifest/status.h"
#include "runtime/driver/driver.h"

namespace tilewright {
namespace {

// Interfaces are asked for as of CUDA 12.0, the oldest driver that is served.
constexpr int kInterfaceVersion = 12000;

// Entry point, and the version of its type in cudaTypedefs.h.
#define TILEWRIGHT_DRIVER_ENTRIES(X)     \
  X(cuInit, v2000)                       \
  X(cuDriverGetVersion, v2020)           \
  X(cuGetErrorName, v6000)               \
  X(cuDeviceGetCount, v2000)             \
  X(cuDeviceGetName, v2000)              \
  X(cuDeviceGetAttribute, v2000)         \
  X(cuDevicePrimaryCtxRetain, v7000)     \
  X(cuDevicePrimaryCtxRelease, v11000)   \
  X(cuCtxGetCurrent, v4000)              \
  X(cuCtxPushCurrent, v4000)             \
  X(cuCtxPopCurrent, v4000)              \
  X(cuCtxGetDevice, v2000)               \
  X(cuCtxSynchronize, v2000)             \
  X(cuStreamCreate, v2000)               \
  X(cuStreamDestroy, v4000)              \
  X(cuStreamSynchronize, v2000)          \
  X(cuStreamGetCtx, v9020)               \
  X(cuStreamGetCaptureInfo, v11030)      \
  X(cuLibraryLoadData, v12000)           \
  X(cuLibraryUnload, v12000)             \
  X(cuLibraryGetKernel, v12000)          \
  X(cuKernelGetFunction, v12000)         \
  X(cuKernelSetAttribute, v12000)        \
  X(cuLaunchKernelEx, v11060)            \
  X(cuTensorMapEncodeTiled, v12000)      \
  X(cuPointerGetAttributes, v7000)       \
  X(cuMemGetInfo, v3020)                 \
  X(cuMemAlloc, v3020)                   \
  X(cuMemFree, v3020)                    \
  X(cuMemAllocAsync, v11020)             \
  X(cuMemFreeAsync, v11020)              \
  X(cuMemcpyHtoDAsync, v3020)            \
  X(cuMemcpyDtoHAsync, v3020)            \
  X(cuMemcpyDtoDAsync, v3020)            \
  X(cuMemsetD8Async, v3020)              \
  X(cuMemsetD32Async, v3020)             \
  X(cuEventCreate, v2000)                \
  X(cuEventDestroy, v4000)               \
  X(cuEventRecord, v2000)                \
  X(cuEventSynchronize, v2000)           \
  X(cuEventElapsedTime, v2000)           \
  X(cuStreamBeginCapture, v10010)        \
  X(cuStreamEndCapture, v10000)          \
  X(cuGraphInstantiateWithFlags, v11040) \
  X(cuGraphLaunch, v10000)               \
  X(cuGraphDestroy, v10000)              \
  X(cuGraphExecDestroy, v10000)          \
  X(cuUserObjectCreate, v11030)          \
  X(cuUserObjectRelease, v11030)         \
  X(cuGraphRetainUserObject, v11030)     \
  X(cuThreadExchangeStreamCaptureMode, v10010)

struct Entries {
#define TILEWRIGHT_MEMBER(name, version) PFN_##name##_##version name = nullptr;
  TILEWRIGHT_DRIVER_ENTRIES(TILEWRIGHT_MEMBER)
#undef TILEWRIGHT_MEMBER
};

CUdeviceptr Address(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }
void* AsPointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

// Calls entry point `name` and returns its error from the enclosing function.
#define TW_CUDA(name, ...)                                                            \
  do {                                                                                \
    if (!ready_.load(std::memory_order_acquire)) TW_RETURN_IF_ERROR(Init());          \
    if (const CUresult result = entries_.name(__VA_ARGS__); result != CUDA_SUCCESS) { \
      return Error(#name, result);                                                    \
    }                                                                                 \
  } while (false)

class DlopenDriver final : public Driver {
 public:
  explicit DlopenDriver(std::string explicit_path) : explicit_path_(std::move(explicit_path)) {}

  absl::Status Init() override {
    std::lock_guard<std::mutex> lock(mutex_);
    if (ready_.load(std::memory_order_relaxed)) return absl::OkStatus();
    TW_RETURN_IF_ERROR(Load());
    if (const CUresult result = entries_.cuInit(0); result != CUDA_SUCCESS) {
      const absl::Status error = Error("cuInit", result);
      return FailedPrecondition("no usable GPU: ", path_, ": ", error.message());
    }
    ready_.store(true, std::memory_order_release);
    return absl::OkStatus();
  }

  absl::StatusOr<int> DriverVersion() override {
    int version = 0;
    TW_CUDA(cuDriverGetVersion, &version);
    return version;
  }
  std::string LibraryPath() override {
    std::lock_guard<std::mutex> lock(mutex_);
    return path_;
  }

  absl::StatusOr<int> DeviceCount() override {
    int count = 0;
    TW_CUDA(cuDeviceGetCount, &count);
    return count;
  }
  absl::StatusOr<std::string> DeviceName(int device) override {
    char name[256] = {};
    TW_CUDA(cuDeviceGetName, name, sizeof(name) - 1, device);
    return std::string(name);
  }
  absl::StatusOr<int> Attribute(int device, DeviceAttribute attribute) override {
    int value = 0;
    TW_CUDA(cuDeviceGetAttribute, &value, static_cast<CUdevice_attribute>(attribute), device);
    return value;
  }

  absl::StatusOr<CudaContext> RetainPrimaryContext(int device) override {
    CUcontext context = nullptr;
    TW_CUDA(cuDevicePrimaryCtxRetain, &context, device);
    return context;
  }
  absl::Status ReleasePrimaryContext(int device) override {
    TW_CUDA(cuDevicePrimaryCtxRelease, device);
    return absl::OkStatus();
  }
  absl::StatusOr<CudaContext> CurrentContext() override {
    CUcontext context = nullptr;
    TW_CUDA(cuCtxGetCurrent, &context);
    return context;
  }
  absl::Status PushContext(CudaContext context) override {
    TW_CUDA(cuCtxPushCurrent, context);
    return absl::OkStatus();
  }
  absl::Status PopContext() override {
    CUcontext context = nullptr;
    TW_CUDA(cuCtxPopCurrent, &context);
    return absl::OkStatus();
  }
  absl::StatusOr<int> CurrentDevice() override {
    CUdevice device = 0;
    TW_CUDA(cuCtxGetDevice, &device);
    return device;
  }
  absl::Status SynchronizeContext() override {
    TW_CUDA(cuCtxSynchronize);
    return absl::OkStatus();
  }

  absl::StatusOr<CudaStream> CreateStream() override {
    CUstream stream = nullptr;
    TW_CUDA(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
    return stream;
  }
  absl::Status DestroyStream(CudaStream stream) override {
    TW_CUDA(cuStreamDestroy, stream);
    return absl::OkStatus();
  }
  absl::Status SynchronizeStream(CudaStream stream) override {
    TW_CUDA(cuStreamSynchronize, stream);
    return absl::OkStatus();
  }
  absl::StatusOr<CudaContext> StreamContext(CudaStream stream) override {
    CUcontext context = nullptr;
    TW_CUDA(cuStreamGetCtx, stream, &context);
    return context;
  }
  absl::StatusOr<CaptureInfo> StreamCapture(CudaStream stream) override {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    cuuint64_t id = 0;
    CUgraph graph = nullptr;
    TW_CUDA(cuStreamGetCaptureInfo, stream, &status, &id, &graph, nullptr, nullptr);
    return CaptureInfo{status != CU_STREAM_CAPTURE_STATUS_NONE,
                       status == CU_STREAM_CAPTURE_STATUS_INVALIDATED, id, graph};
  }

  absl::StatusOr<CudaLibrary> LoadLibrary(std::string_view image) override {
    CUlibrary library = nullptr;
    TW_CUDA(cuLibraryLoadData, &library, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    return library;
  }
  absl::Status UnloadLibrary(CudaLibrary library) override {
    TW_CUDA(cuLibraryUnload, library);
    return absl::OkStatus();
  }
  absl::StatusOr<CudaKernel> LibraryKernel(CudaLibrary library, const char* name) override {
    CUkernel kernel = nullptr;
    TW_CUDA(cuLibraryGetKernel, &kernel, library, name);
    return kernel;
  }
  absl::StatusOr<CudaFunction> KernelFunction(CudaKernel kernel) override {
    CUfunction function = nullptr;
    TW_CUDA(cuKernelGetFunction, &function, kernel);
    return function;
  }
  absl::Status SetKernelAttribute(CudaKernel kernel, KernelAttribute attribute, int value,
                                  int device) override {
    TW_CUDA(cuKernelSetAttribute, static_cast<CUfunction_attribute>(attribute), value, kernel,
            device);
    return absl::OkStatus();
  }
  absl::Status Launch(const LaunchShape& shape, CudaKernel kernel, CudaStream stream,
                      void** params) override {
    CUlaunchAttribute attributes[2];
    unsigned int count = 0;
    if (shape.cluster[0] * shape.cluster[1] * shape.cluster[2] > 1) {
      attributes[count].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
      attributes[count].value.clusterDim = {shape.cluster[0], shape.cluster[1], shape.cluster[2]};
      ++count;
    }
    if (shape.programmatic_dependent_launch) {
      attributes[count].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
      attributes[count].value.programmaticStreamSerializationAllowed = 1;
      ++count;
    }
    const CUlaunchConfig config = {shape.grid[0],
                                   shape.grid[1],
                                   shape.grid[2],
                                   shape.block[0],
                                   shape.block[1],
                                   shape.block[2],
                                   shape.dynamic_smem_bytes,
                                   stream,
                                   attributes,
                                   count};
    TW_CUDA(cuLaunchKernelEx, &config, reinterpret_cast<CUfunction>(kernel), params, nullptr);
    return absl::OkStatus();
  }
  absl::Status EncodeTensorMap(const TensorMapShape& shape, void* map) override {
    const cuuint32_t steps[5] = {1, 1, 1, 1, 1};
    TW_CUDA(cuTensorMapEncodeTiled, static_cast<CUtensorMap*>(map),
            static_cast<CUtensorMapDataType>(shape.data_type), shape.rank, AsPointer(shape.address),
            shape.dims.data(), shape.strides_bytes.data(), shape.box.data(), steps,
            CU_TENSOR_MAP_INTERLEAVE_NONE, static_cast<CUtensorMapSwizzle>(shape.swizzle),
            static_cast<CUtensorMapL2promotion>(shape.l2_promotion),
            CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return absl::OkStatus();
  }

  absl::StatusOr<PointerInfo> Pointer(const void* pointer) override {
    int ordinal = -1;
    unsigned int type = 0;
    unsigned int managed = 0;
    void* device_pointer = nullptr;
    CUpointer_attribute attributes[] = {
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
        CU_POINTER_ATTRIBUTE_IS_MANAGED, CU_POINTER_ATTRIBUTE_DEVICE_POINTER};
    void* values[] = {&ordinal, &type, &managed, &device_pointer};
    TW_CUDA(cuPointerGetAttributes, 4, attributes, values, Address(pointer));
    // Without a current context the driver gives no device pointer, even of device memory.
    const bool on_device = type == CU_MEMORYTYPE_DEVICE && managed == 0;
    return PointerInfo{type != 0, on_device ? ordinal : -1, on_device || device_pointer != nullptr};
  }
  absl::StatusOr<MemoryInfo> Memory() override {
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    TW_CUDA(cuMemGetInfo, &free_bytes, &total_bytes);
    return MemoryInfo{free_bytes, total_bytes};
  }
  absl::StatusOr<void*> Alloc(size_t bytes) override {
    CUdeviceptr address = 0;
    TW_CUDA(cuMemAlloc, &address, bytes);
    return AsPointer(address);
  }
  absl::Status Free(void* pointer) override {
    TW_CUDA(cuMemFree, Address(pointer));
    return absl::OkStatus();
  }
  absl::StatusOr<void*> AllocAsync(size_t bytes, CudaStream stream) override {
    CUdeviceptr address = 0;
    TW_CUDA(cuMemAllocAsync, &address, bytes, stream);
    return AsPointer(address);
  }
  absl::Status FreeAsync(void* pointer, CudaStream stream) override {
    TW_CUDA(cuMemFreeAsync, Address(pointer), stream);
    return absl::OkStatus();
  }
  absl::Status CopyToDevice(void* to, const void* from, size_t bytes, CudaStream stream) override {
    TW_CUDA(cuMemcpyHtoDAsync, Address(to), from, bytes, stream);
    return absl::OkStatus();
  }
  absl::Status CopyToHost(void* to, const void* from, size_t bytes, CudaStream stream) override {
    TW_CUDA(cuMemcpyDtoHAsync, to, Address(from), bytes, stream);
    return absl::OkStatus();
  }
  absl::Status CopyOnDevice(void* to, const void* from, size_t bytes, CudaStream stream) override {
    TW_CUDA(cuMemcpyDtoDAsync, Address(to), Address(from), bytes, stream);
    return absl::OkStatus();
  }
  absl::Status Fill8(void* to, uint8_t value, size_t count, CudaStream stream) override {
    TW_CUDA(cuMemsetD8Async, Address(to), value, count, stream);
    return absl::OkStatus();
  }
  absl::Status Fill32(void* to, uint32_t value, size_t count, CudaStream stream) override {
    TW_CUDA(cuMemsetD32Async, Address(to), value, count, stream);
    return absl::OkStatus();
  }

  absl::StatusOr<CudaEvent> CreateEvent() override {
    CUevent event = nullptr;
    TW_CUDA(cuEventCreate, &event, CU_EVENT_DEFAULT);
    return event;
  }
  absl::Status DestroyEvent(CudaEvent event) override {
    TW_CUDA(cuEventDestroy, event);
    return absl::OkStatus();
  }
  absl::Status RecordEvent(CudaEvent event, CudaStream stream) override {
    TW_CUDA(cuEventRecord, event, stream);
    return absl::OkStatus();
  }
  absl::Status SynchronizeEvent(CudaEvent event) override {
    TW_CUDA(cuEventSynchronize, event);
    return absl::OkStatus();
  }
  absl::StatusOr<float> ElapsedMs(CudaEvent start, CudaEvent end) override {
    float ms = 0;
    TW_CUDA(cuEventElapsedTime, &ms, start, end);
    return ms;
  }

  absl::Status BeginCapture(CudaStream stream, CaptureMode mode) override {
    TW_CUDA(cuStreamBeginCapture, stream, static_cast<CUstreamCaptureMode>(mode));
    return absl::OkStatus();
  }
  absl::StatusOr<CudaGraph> EndCapture(CudaStream stream) override {
    CUgraph graph = nullptr;
    TW_CUDA(cuStreamEndCapture, stream, &graph);
    return graph;
  }
  absl::StatusOr<CudaGraphExec> Instantiate(CudaGraph graph) override {
    CUgraphExec exec = nullptr;
    TW_CUDA(cuGraphInstantiateWithFlags, &exec, graph, 0);
    return exec;
  }
  absl::Status LaunchGraph(CudaGraphExec exec, CudaStream stream) override {
    TW_CUDA(cuGraphLaunch, exec, stream);
    return absl::OkStatus();
  }
  absl::Status DestroyGraph(CudaGraph graph) override {
    TW_CUDA(cuGraphDestroy, graph);
    return absl::OkStatus();
  }
  absl::Status DestroyGraphExec(CudaGraphExec exec) override {
    TW_CUDA(cuGraphExecDestroy, exec);
    return absl::OkStatus();
  }
  absl::StatusOr<CudaUserObject> CreateUserObject(void* object, void (*destroy)(void*)) override {
    CUuserObject handle = nullptr;
    TW_CUDA(cuUserObjectCreate, &handle, object, destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    return handle;
  }
  absl::Status ReleaseUserObject(CudaUserObject object) override {
    TW_CUDA(cuUserObjectRelease, object, 1);
    return absl::OkStatus();
  }
  absl::Status GiveUserObject(CudaGraph graph, CudaUserObject object) override {
    TW_CUDA(cuGraphRetainUserObject, graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE);
    return absl::OkStatus();
  }
  absl::StatusOr<CaptureMode> ExchangeCaptureMode(CaptureMode mode) override {
    CUstreamCaptureMode value = static_cast<CUstreamCaptureMode>(mode);
    TW_CUDA(cuThreadExchangeStreamCaptureMode, &value);
    return static_cast<CaptureMode>(value);
  }

 private:
  // Finds the library and every entry point. Holds mutex_.
  absl::Status Load() {
    if (entries_.cuInit != nullptr) return absl::OkStatus();
    TW_ASSIGN_OR_RETURN(void* library, Open());
    auto get_proc =
        reinterpret_cast<PFN_cuGetProcAddress_v11030>(dlsym(library, "cuGetProcAddress"));
    if (get_proc == nullptr) {
      return FailedPrecondition("the CUDA driver ", path_,
                                " is older than CUDA 11.3; 12.0 or newer is needed");
    }
    Entries found;
    std::vector<std::string_view> missing;
#define TILEWRIGHT_LOOK_UP(name, version)                                             \
  if (get_proc(#name, reinterpret_cast<void**>(&found.name), kInterfaceVersion, 0) != \
          CUDA_SUCCESS ||                                                             \
      found.name == nullptr) {                                                        \
    missing.push_back(#name);                                                         \
  }
    TILEWRIGHT_DRIVER_ENTRIES(TILEWRIGHT_LOOK_UP)
#undef TILEWRIGHT_LOOK_UP
    if (!missing.empty()) {
      return FailedPrecondition("the CUDA driver ", path_, " lacks ", missing.front(), " and ",
                                missing.size() - 1, " more entry points; CUDA 12.0 is needed");
    }
    entries_ = found;
    return absl::OkStatus();
  }

  absl::StatusOr<void*> Open() {
    const std::vector<std::string> candidates =
        explicit_path_.empty() ? std::vector<std::string>{"libcuda.so.1",
                                                          "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
                                                          "/usr/lib/aarch64-linux-gnu/libcuda.so.1",
                                                          "/usr/lib64/libcuda.so.1",
                                                          "/usr/lib/wsl/lib/libcuda.so.1",
                                                          "/usr/local/nvidia/lib64/libcuda.so.1"}
                               : std::vector<std::string>{explicit_path_};
    std::string reasons;
    for (const std::string& candidate : candidates) {
      if (void* library = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL); library != nullptr) {
        path_ = candidate;
        return library;
      }
      reasons += Cat("\n  ", dlerror());
    }
    return FailedPrecondition("no CUDA driver on this machine; sought:", reasons);
  }

  absl::Status Error(std::string_view entry_point, CUresult result) {
    const char* name = nullptr;
    if (entries_.cuGetErrorName(result, &name) != CUDA_SUCCESS) name = nullptr;
    return DriverError(entry_point, result, name == nullptr ? "unknown error" : name);
  }

  const std::string explicit_path_;
  std::mutex mutex_;
  std::atomic<bool> ready_{false};
  std::string path_;
  Entries entries_;
};

}  // namespace

std::shared_ptr<Driver> SystemDriver(std::string explicit_path) {
  return std::make_shared<DlopenDriver>(std::move(explicit_path));
}

}  // namespace tilewright
