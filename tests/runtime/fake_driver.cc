#include "tests/runtime/fake_driver.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <unordered_map>
#include <utility>

namespace tilewright {

struct FakeDriver::Context {
  int device;
};
struct FakeDriver::StreamState {
  Context* context;
  Graph* graph = nullptr;  // being captured into
  uint64_t capture_id = 0;
  CaptureMode mode = CaptureMode::kGlobal;
  bool invalidated = false;
};
struct FakeDriver::Kernel {
  Library* library;
  std::string name;
  std::map<int, int> attributes;
};
struct FakeDriver::Library {
  std::string image;
  std::map<std::string, std::unique_ptr<Kernel>> kernels;
};
struct FakeDriver::UserObject {
  void* object;
  void (*destroy)(void*);
};
struct FakeDriver::Graph {
  std::vector<FakeLaunch> launches;
  std::vector<UserHandle> objects;
};
struct FakeDriver::Exec {
  std::vector<FakeLaunch> launches;
  std::vector<UserHandle> objects;
};
struct FakeDriver::ThreadState {
  std::vector<Context*> stack;
  CaptureMode mode = CaptureMode::kGlobal;
};

namespace {
template <class To, class From>
To As(From* pointer) {
  return reinterpret_cast<To>(pointer);
}
absl::Status Error(const char* method, int code) { return DriverError(method, code, "fake error"); }
}  // namespace

#define TW_ENTER(method) TW_FAKE_RETURN_IF_ERROR(Enter(#method))
#define TW_ENTER_UNSAFE(method) TW_FAKE_RETURN_IF_ERROR(EnterUnsafe(#method))
#define TW_FAKE_RETURN_IF_ERROR(expr)        \
  std::unique_lock<std::mutex> lock(mutex_); \
  if (absl::Status status = (expr); !status.ok()) return status

FakeDriver::FakeDriver(std::vector<FakeDevice> devices)
    : id_([] {
        static std::atomic<uint64_t> next{0};
        return next++;
      }()),
      devices_(std::move(devices)) {
  for (size_t i = 0; i < devices_.size(); ++i) {
    contexts_.push_back(std::make_unique<Context>(Context{static_cast<int>(i)}));
  }
}

FakeDriver::~FakeDriver() {
  for (Exec* exec : execs_) delete exec;
  for (Graph* graph : graphs_) delete graph;
  for (UserHandle* handle : user_handles_) delete handle;
  for (StreamState* stream : streams_) delete stream;
  for (int* event : events_) delete event;
  for (Library* library : libraries_) delete library;
  for (auto& [pointer, bytes] : allocations_) std::free(pointer);
}

FakeDriver::ThreadState& FakeDriver::Thread() const {
  thread_local std::unordered_map<uint64_t, ThreadState> states;
  return states[id_];
}

absl::Status FakeDriver::Enter(const char* method) {
  const int call = ++calls_[method];
  if (auto it = always_.find(method); it != always_.end()) return Error(method, it->second);
  if (auto it = failures_.find(method); it != failures_.end()) {
    if (auto failure = it->second.find(call); failure != it->second.end()) {
      return Error(method, failure->second);
    }
  }
  return absl::OkStatus();
}

absl::Status FakeDriver::EnterUnsafe(const char* method) {
  if (absl::Status status = Enter(method); !status.ok()) return status;
  if (Thread().mode == CaptureMode::kRelaxed) return absl::OkStatus();
  bool disturbed = false;
  for (StreamState* stream : streams_) {
    if (stream->graph != nullptr && stream->mode == CaptureMode::kGlobal) {
      stream->invalidated = true;
      disturbed = true;
    }
  }
  return disturbed ? Error(method, kCudaCaptureUnsupported) : absl::OkStatus();
}

FakeDriver::StreamState* FakeDriver::State(CudaStream stream) { return As<StreamState*>(stream); }

void FakeDriver::FailCall(const std::string& method, int nth, int code) {
  std::lock_guard<std::mutex> lock(mutex_);
  failures_[method][calls_[method] + nth] = code;
}
void FakeDriver::FailAlways(const std::string& method, int code) {
  std::lock_guard<std::mutex> lock(mutex_);
  always_[method] = code;
}
void FakeDriver::ClearFailures() {
  std::lock_guard<std::mutex> lock(mutex_);
  failures_.clear();
  always_.clear();
}
int FakeDriver::Calls(const std::string& method) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = calls_.find(method);
  return it == calls_.end() ? 0 : it->second;
}
std::map<std::string, int> FakeDriver::CallsByMethod() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return calls_;
}
void FakeDriver::OnLaunch(std::function<void(const FakeLaunch&, void**)> callback) {
  std::lock_guard<std::mutex> lock(mutex_);
  on_launch_ = std::move(callback);
}
void FakeDriver::OwnMemory(const void* begin, size_t bytes, int device) {
  std::lock_guard<std::mutex> lock(mutex_);
  owned_[static_cast<const char*>(begin)] = {bytes, device};
}
std::vector<FakeLaunch> FakeDriver::Launches() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return launches_;
}
int FakeDriver::LoadedLibraries() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<int>(libraries_.size());
}
int FakeDriver::LiveAllocations() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<int>(allocations_.size());
}
int FakeDriver::ContextDepth() const { return static_cast<int>(Thread().stack.size()); }
CudaContext FakeDriver::PrimaryContext(int device) {
  return As<CudaContext>(contexts_[static_cast<size_t>(device)].get());
}
CudaStream FakeDriver::NewStream(int device) {
  std::lock_guard<std::mutex> lock(mutex_);
  auto* stream = new StreamState{contexts_[static_cast<size_t>(device)].get()};
  streams_.insert(stream);
  return As<CudaStream>(stream);
}

void FakeDriver::ReuseStreamHandle(CudaStream stream, int device) {
  std::lock_guard<std::mutex> lock(mutex_);
  *State(stream) = StreamState{contexts_[static_cast<size_t>(device)].get()};
}

absl::Status FakeDriver::Init() {
  TW_ENTER(Init);
  return absl::OkStatus();
}
absl::StatusOr<int> FakeDriver::DriverVersion() {
  TW_ENTER(DriverVersion);
  return 13000;
}
absl::StatusOr<int> FakeDriver::DeviceCount() {
  TW_ENTER(DeviceCount);
  return static_cast<int>(devices_.size());
}
absl::StatusOr<std::string> FakeDriver::DeviceName(int device) {
  TW_ENTER(DeviceName);
  return devices_.at(static_cast<size_t>(device)).name;
}
absl::StatusOr<int> FakeDriver::Attribute(int device, DeviceAttribute attribute) {
  TW_ENTER(Attribute);
  const FakeDevice& d = devices_.at(static_cast<size_t>(device));
  switch (attribute) {
    case DeviceAttribute::kMultiprocessorCount:
      return d.sm_count;
    case DeviceAttribute::kL2CacheBytes:
      return d.l2_bytes;
    case DeviceAttribute::kMaxThreadsPerSm:
      return 2048;
    case DeviceAttribute::kComputeMajor:
      return d.compute_major;
    case DeviceAttribute::kComputeMinor:
      return d.compute_minor;
    case DeviceAttribute::kSharedMemoryPerSm:
      return d.smem_per_sm;
    case DeviceAttribute::kRegistersPerSm:
      return 65536;
    case DeviceAttribute::kSharedMemoryPerBlockOptin:
      return d.smem_per_block;
    case DeviceAttribute::kMaxGridDimX:
      return 2147483647;
    default:
      return 1;
  }
}
absl::StatusOr<CudaContext> FakeDriver::RetainPrimaryContext(int device) {
  TW_ENTER(RetainPrimaryContext);
  return As<CudaContext>(contexts_.at(static_cast<size_t>(device)).get());
}
absl::Status FakeDriver::ReleasePrimaryContext(int) {
  TW_ENTER(ReleasePrimaryContext);
  return absl::OkStatus();
}
absl::StatusOr<CudaContext> FakeDriver::CurrentContext() {
  TW_ENTER(CurrentContext);
  const auto& stack = Thread().stack;
  return stack.empty() ? nullptr : As<CudaContext>(stack.back());
}
absl::Status FakeDriver::PushContext(CudaContext context) {
  TW_ENTER(PushContext);
  Thread().stack.push_back(As<Context*>(context));
  return absl::OkStatus();
}
absl::Status FakeDriver::PopContext() {
  TW_ENTER(PopContext);
  if (Thread().stack.empty()) return Error("PopContext", kCudaInvalidContext);
  Thread().stack.pop_back();
  return absl::OkStatus();
}
absl::StatusOr<int> FakeDriver::CurrentDevice() {
  TW_ENTER(CurrentDevice);
  if (Thread().stack.empty()) return Error("CurrentDevice", kCudaInvalidContext);
  return Thread().stack.back()->device;
}
absl::Status FakeDriver::SynchronizeContext() {
  TW_ENTER_UNSAFE(SynchronizeContext);
  return absl::OkStatus();
}
absl::StatusOr<CudaStream> FakeDriver::CreateStream() {
  TW_ENTER(CreateStream);
  if (Thread().stack.empty()) return Error("CreateStream", kCudaInvalidContext);
  auto* stream = new StreamState{Thread().stack.back()};
  streams_.insert(stream);
  return As<CudaStream>(stream);
}
absl::Status FakeDriver::DestroyStream(CudaStream stream) {
  TW_ENTER(DestroyStream);
  if (streams_.erase(State(stream)) == 0) return Error("DestroyStream", kCudaInvalidHandle);
  delete State(stream);
  return absl::OkStatus();
}
absl::Status FakeDriver::SynchronizeStream(CudaStream) {
  TW_ENTER_UNSAFE(SynchronizeStream);
  return absl::OkStatus();
}
absl::StatusOr<CudaContext> FakeDriver::StreamContext(CudaStream stream) {
  TW_ENTER(StreamContext);
  if (stream == nullptr) {
    if (Thread().stack.empty()) return Error("StreamContext", kCudaInvalidContext);
    return As<CudaContext>(Thread().stack.back());
  }
  if (!streams_.contains(State(stream))) return Error("StreamContext", kCudaInvalidHandle);
  return As<CudaContext>(State(stream)->context);
}
absl::StatusOr<CaptureInfo> FakeDriver::StreamCapture(CudaStream stream) {
  TW_ENTER(StreamCapture);
  if (stream == nullptr) {
    for (StreamState* other : streams_) {
      if (other->graph != nullptr && other->mode == CaptureMode::kGlobal) {
        return Error("StreamCapture", kCudaCaptureImplicit);
      }
    }
    return CaptureInfo{};
  }
  if (!streams_.contains(State(stream))) return Error("StreamCapture", kCudaInvalidHandle);
  const StreamState& state = *State(stream);
  return CaptureInfo{state.graph != nullptr, state.invalidated, state.capture_id,
                     As<CudaGraph>(state.graph)};
}

absl::StatusOr<CudaLibrary> FakeDriver::LoadLibrary(std::string_view image) {
  TW_ENTER_UNSAFE(LoadLibrary);
  if (image.empty()) return Error("LoadLibrary", kCudaInvalidImage);
  auto* library = new Library{std::string(image), {}};
  libraries_.insert(library);
  return As<CudaLibrary>(library);
}
absl::Status FakeDriver::UnloadLibrary(CudaLibrary handle) {
  TW_ENTER_UNSAFE(UnloadLibrary);
  Library* library = As<Library*>(handle);
  if (libraries_.erase(library) == 0) return Error("UnloadLibrary", kCudaInvalidHandle);
  delete library;
  return absl::OkStatus();
}
absl::StatusOr<CudaKernel> FakeDriver::LibraryKernel(CudaLibrary handle, const char* name) {
  TW_ENTER(LibraryKernel);
  Library* library = As<Library*>(handle);
  if (!libraries_.contains(library)) return Error("LibraryKernel", kCudaInvalidHandle);
  auto& kernel = library->kernels[name];
  if (kernel == nullptr) kernel.reset(new Kernel{library, name, {}});
  return As<CudaKernel>(kernel.get());
}
absl::StatusOr<CudaFunction> FakeDriver::KernelFunction(CudaKernel kernel) {
  TW_ENTER_UNSAFE(KernelFunction);
  if (Thread().stack.empty()) return Error("KernelFunction", kCudaInvalidContext);
  return As<CudaFunction>(kernel);
}
absl::Status FakeDriver::SetKernelAttribute(CudaKernel kernel, KernelAttribute attribute, int value,
                                            int) {
  TW_ENTER(SetKernelAttribute);
  As<Kernel*>(kernel)->attributes[static_cast<int>(attribute)] = value;
  return absl::OkStatus();
}

absl::Status FakeDriver::Launch(const LaunchShape& shape, CudaKernel handle, CudaStream stream,
                                void** params) {
  TW_ENTER(Launch);
  Kernel* kernel = As<Kernel*>(handle);
  bool loaded = false;
  for (Library* library : libraries_) {
    for (auto& [name, known] : library->kernels) loaded |= known.get() == kernel;
  }
  if (!loaded) return Error("Launch", kCudaInvalidHandle);
  if (Thread().stack.empty()) return Error("Launch", kCudaInvalidContext);
  if (stream != nullptr && !streams_.contains(State(stream))) {
    return Error("Launch", kCudaInvalidHandle);
  }
  const auto limit = kernel->attributes[static_cast<int>(KernelAttribute::kMaxDynamicSharedBytes)];
  if (shape.dynamic_smem_bytes > 49152 && shape.dynamic_smem_bytes > static_cast<uint32_t>(limit)) {
    return Error("Launch", kCudaInvalidValue);
  }
  for (uint32_t extent : shape.grid) {
    if (extent == 0) return Error("Launch", kCudaInvalidValue);
  }
  if (shape.grid[1] > 65535 || shape.grid[2] > 65535) return Error("Launch", kCudaInvalidValue);
  FakeLaunch launch{
      shape, kernel->name, stream,
      stream == nullptr ? Thread().stack.back()->device : State(stream)->context->device,
      stream != nullptr && State(stream)->graph != nullptr};
  if (launch.captured) State(stream)->graph->launches.push_back(launch);
  launches_.push_back(launch);
  const auto callback = on_launch_;
  lock.unlock();
  if (callback) callback(launch, params);
  return absl::OkStatus();
}

absl::Status FakeDriver::EncodeTensorMap(const TensorMapShape& shape, void* map) {
  TW_ENTER(EncodeTensorMap);
  if (shape.rank == 0 || shape.rank > 5 || shape.address % 16 != 0) {
    return Error("EncodeTensorMap", kCudaInvalidValue);
  }
  for (uint32_t i = 0; i < shape.rank; ++i) {
    if (shape.box[i] == 0 || shape.box[i] > 256 || shape.dims[i] == 0) {
      return Error("EncodeTensorMap", kCudaInvalidValue);
    }
    if (i > 0 && shape.strides_bytes[i - 1] % 16 != 0) {
      return Error("EncodeTensorMap", kCudaInvalidValue);
    }
  }
  std::memset(map, 0, 128);
  std::memcpy(map, &shape.address, sizeof(shape.address));
  return absl::OkStatus();
}

absl::StatusOr<PointerInfo> FakeDriver::Pointer(const void* pointer) {
  TW_ENTER(Pointer);
  const auto* address = static_cast<const char*>(pointer);
  auto it = owned_.upper_bound(address);
  if (it == owned_.begin()) return PointerInfo{};
  --it;
  if (address >= it->first + it->second.bytes) return PointerInfo{};
  return PointerInfo{true, it->second.device, true};
}
absl::StatusOr<MemoryInfo> FakeDriver::Memory() {
  TW_ENTER(Memory);
  return MemoryInfo{uint64_t{100} << 30, uint64_t{141} << 30};
}
absl::StatusOr<void*> FakeDriver::Alloc(size_t bytes) {
  TW_ENTER_UNSAFE(Alloc);
  void* pointer = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  allocations_[pointer] = bytes;
  return pointer;
}
absl::Status FakeDriver::Free(void* pointer) {
  TW_ENTER_UNSAFE(Free);
  if (allocations_.erase(pointer) == 0) return Error("Free", kCudaInvalidValue);
  std::free(pointer);
  return absl::OkStatus();
}
absl::StatusOr<void*> FakeDriver::AllocAsync(size_t bytes, CudaStream) {
  TW_ENTER(AllocAsync);
  if (Thread().stack.empty()) return Error("AllocAsync", kCudaInvalidContext);
  void* pointer = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  allocations_[pointer] = bytes;
  return pointer;
}
absl::Status FakeDriver::FreeAsync(void* pointer, CudaStream) {
  TW_ENTER(FreeAsync);
  if (allocations_.erase(pointer) == 0) return Error("FreeAsync", kCudaInvalidValue);
  std::free(pointer);
  return absl::OkStatus();
}
absl::Status FakeDriver::CopyToDevice(void* to, const void* from, size_t bytes, CudaStream) {
  TW_ENTER(CopyToDevice);
  std::memcpy(to, from, bytes);
  return absl::OkStatus();
}
absl::Status FakeDriver::CopyToHost(void* to, const void* from, size_t bytes, CudaStream) {
  TW_ENTER(CopyToHost);
  std::memcpy(to, from, bytes);
  return absl::OkStatus();
}
absl::Status FakeDriver::CopyOnDevice(void* to, const void* from, size_t bytes, CudaStream) {
  TW_ENTER(CopyOnDevice);
  std::memcpy(to, from, bytes);
  return absl::OkStatus();
}
absl::Status FakeDriver::Fill8(void* to, uint8_t value, size_t count, CudaStream) {
  TW_ENTER(Fill8);
  std::memset(to, value, count);
  return absl::OkStatus();
}
absl::Status FakeDriver::Fill32(void* to, uint32_t value, size_t count, CudaStream) {
  TW_ENTER(Fill32);
  for (size_t i = 0; i < count; ++i) static_cast<uint32_t*>(to)[i] = value;
  return absl::OkStatus();
}
absl::StatusOr<CudaEvent> FakeDriver::CreateEvent() {
  TW_ENTER(CreateEvent);
  return As<CudaEvent>(*events_.insert(new int(0)).first);
}
absl::Status FakeDriver::DestroyEvent(CudaEvent event) {
  TW_ENTER(DestroyEvent);
  if (events_.erase(As<int*>(event)) == 0) return Error("DestroyEvent", kCudaInvalidHandle);
  delete As<int*>(event);
  return absl::OkStatus();
}
absl::Status FakeDriver::RecordEvent(CudaEvent, CudaStream) {
  TW_ENTER(RecordEvent);
  return absl::OkStatus();
}
absl::Status FakeDriver::SynchronizeEvent(CudaEvent) {
  TW_ENTER_UNSAFE(SynchronizeEvent);
  return absl::OkStatus();
}
absl::StatusOr<float> FakeDriver::ElapsedMs(CudaEvent, CudaEvent) {
  TW_ENTER(ElapsedMs);
  return 1.0f;
}

absl::Status FakeDriver::BeginCapture(CudaStream stream, CaptureMode mode) {
  TW_ENTER(BeginCapture);
  StreamState* state = State(stream);
  state->graph = new Graph;
  graphs_.insert(state->graph);
  state->capture_id = next_capture_++;
  state->mode = mode;
  state->invalidated = false;
  return absl::OkStatus();
}
absl::StatusOr<CudaGraph> FakeDriver::EndCapture(CudaStream stream) {
  TW_ENTER(EndCapture);
  StreamState* state = State(stream);
  if (state->graph == nullptr) return Error("EndCapture", 903);
  Graph* graph = std::exchange(state->graph, nullptr);
  if (!state->invalidated) return As<CudaGraph>(graph);
  graphs_.erase(graph);
  lock.unlock();
  delete graph;
  return Error("EndCapture", 901);
}
absl::StatusOr<CudaGraphExec> FakeDriver::Instantiate(CudaGraph handle) {
  TW_ENTER(Instantiate);
  const Graph* graph = As<Graph*>(handle);
  auto* exec = new Exec{graph->launches, graph->objects};
  execs_.insert(exec);
  return As<CudaGraphExec>(exec);
}
absl::Status FakeDriver::LaunchGraph(CudaGraphExec exec, CudaStream) {
  TW_ENTER(LaunchGraph);
  for (const FakeLaunch& launch : As<Exec*>(exec)->launches) launches_.push_back(launch);
  return absl::OkStatus();
}
absl::Status FakeDriver::DestroyGraph(CudaGraph handle) {
  TW_ENTER(DestroyGraph);
  graphs_.erase(As<Graph*>(handle));
  lock.unlock();
  delete As<Graph*>(handle);
  return absl::OkStatus();
}
absl::Status FakeDriver::DestroyGraphExec(CudaGraphExec handle) {
  TW_ENTER(DestroyGraphExec);
  execs_.erase(As<Exec*>(handle));
  lock.unlock();
  delete As<Exec*>(handle);
  return absl::OkStatus();
}
// A handle is a heap-allocated reference; the object dies with the last one.
absl::StatusOr<CudaUserObject> FakeDriver::CreateUserObject(void* object, void (*destroy)(void*)) {
  TW_ENTER(CreateUserObject);
  auto* handle = new UserHandle(new UserObject{object, destroy}, [](UserObject* dying) {
    dying->destroy(dying->object);
    delete dying;
  });
  user_handles_.insert(handle);
  return As<CudaUserObject>(handle);
}
absl::Status FakeDriver::ReleaseUserObject(CudaUserObject object) {
  TW_ENTER(ReleaseUserObject);
  user_handles_.erase(As<UserHandle*>(object));
  lock.unlock();
  delete As<UserHandle*>(object);
  return absl::OkStatus();
}
absl::Status FakeDriver::GiveUserObject(CudaGraph graph, CudaUserObject object) {
  TW_ENTER(GiveUserObject);
  auto* handle = As<UserHandle*>(object);
  As<Graph*>(graph)->objects.push_back(*handle);
  user_handles_.erase(handle);
  delete handle;
  return absl::OkStatus();
}
absl::StatusOr<CaptureMode> FakeDriver::ExchangeCaptureMode(CaptureMode mode) {
  TW_ENTER(ExchangeCaptureMode);
  return std::exchange(Thread().mode, mode);
}

}  // namespace tilewright
