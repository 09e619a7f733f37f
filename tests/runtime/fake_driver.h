// A driver without a GPU: host memory stands for device memory, launches are recorded, captures and
// user objects behave as the real ones do, and any call of any entry point can be made to fail.
#ifndef TILEWRIGHT_TESTS_RUNTIME_FAKE_DRIVER_H_
#define TILEWRIGHT_TESTS_RUNTIME_FAKE_DRIVER_H_

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "runtime/driver/driver.h"

namespace tilewright {

struct FakeDevice {
  std::string name = "NVIDIA H200";
  int compute_major = 9;
  int compute_minor = 0;
  int sm_count = 132;
  int smem_per_block = 232448;
  int smem_per_sm = 233472;
  int l2_bytes = 62914560;
};

struct FakeLaunch {
  LaunchShape shape;
  std::string kernel;  // lowered name
  CudaStream stream = nullptr;
  int device = 0;
  bool captured = false;
};

// Thread-safe. Outlives every runtime that uses it.
class FakeDriver : public Driver {
 public:
  explicit FakeDriver(std::vector<FakeDevice> devices = {FakeDevice{}});
  ~FakeDriver() override;

  // Scripting. Entry points are named by the methods below ("Launch", "AllocAsync").
  void FailCall(const std::string& method, int nth, int code);  // nth from now on, 1: the next
  void FailAlways(const std::string& method, int code);
  void ClearFailures();
  int Calls(const std::string& method) const;
  std::map<std::string, int> CallsByMethod() const;
  void OnLaunch(std::function<void(const FakeLaunch&, void** params)> callback);
  // What Pointer() says of [begin, begin + bytes).
  void OwnMemory(const void* begin, size_t bytes, int device);

  std::vector<FakeLaunch> Launches() const;
  int LoadedLibraries() const;
  int LiveAllocations() const;
  int ContextDepth() const;  // of the calling thread
  CudaContext PrimaryContext(int device);
  CudaStream NewStream(int device);
  // As if the stream were destroyed, and one of `device` made that gets the same handle.
  void ReuseStreamHandle(CudaStream stream, int device);

  absl::Status Init() override;
  absl::StatusOr<int> DriverVersion() override;
  std::string LibraryPath() override { return "fake"; }
  absl::StatusOr<int> DeviceCount() override;
  absl::StatusOr<std::string> DeviceName(int device) override;
  absl::StatusOr<int> Attribute(int device, DeviceAttribute attribute) override;
  absl::StatusOr<CudaContext> RetainPrimaryContext(int device) override;
  absl::Status ReleasePrimaryContext(int device) override;
  absl::StatusOr<CudaContext> CurrentContext() override;
  absl::Status PushContext(CudaContext context) override;
  absl::Status PopContext() override;
  absl::StatusOr<int> CurrentDevice() override;
  absl::Status SynchronizeContext() override;
  absl::StatusOr<CudaStream> CreateStream() override;
  absl::Status DestroyStream(CudaStream stream) override;
  absl::Status SynchronizeStream(CudaStream stream) override;
  absl::StatusOr<CudaContext> StreamContext(CudaStream stream) override;
  absl::StatusOr<CaptureInfo> StreamCapture(CudaStream stream) override;
  absl::StatusOr<CudaLibrary> LoadLibrary(std::string_view image) override;
  absl::Status UnloadLibrary(CudaLibrary library) override;
  absl::StatusOr<CudaKernel> LibraryKernel(CudaLibrary library, const char* name) override;
  absl::StatusOr<CudaFunction> KernelFunction(CudaKernel kernel) override;
  absl::Status SetKernelAttribute(CudaKernel kernel, KernelAttribute attribute, int value,
                                  int device) override;
  absl::Status Launch(const LaunchShape& shape, CudaKernel kernel, CudaStream stream,
                      void** params) override;
  absl::Status EncodeTensorMap(const TensorMapShape& shape, void* map) override;
  absl::StatusOr<PointerInfo> Pointer(const void* pointer) override;
  absl::StatusOr<MemoryInfo> Memory() override;
  absl::StatusOr<void*> Alloc(size_t bytes) override;
  absl::Status Free(void* pointer) override;
  absl::StatusOr<void*> AllocAsync(size_t bytes, CudaStream stream) override;
  absl::Status FreeAsync(void* pointer, CudaStream stream) override;
  absl::Status CopyToDevice(void* to, const void* from, size_t bytes, CudaStream stream) override;
  absl::Status CopyToHost(void* to, const void* from, size_t bytes, CudaStream stream) override;
  absl::Status CopyOnDevice(void* to, const void* from, size_t bytes, CudaStream stream) override;
  absl::Status Fill8(void* to, uint8_t value, size_t count, CudaStream stream) override;
  absl::Status Fill32(void* to, uint32_t value, size_t count, CudaStream stream) override;
  absl::StatusOr<CudaEvent> CreateEvent() override;
  absl::Status DestroyEvent(CudaEvent event) override;
  absl::Status RecordEvent(CudaEvent event, CudaStream stream) override;
  absl::Status SynchronizeEvent(CudaEvent event) override;
  absl::StatusOr<float> ElapsedMs(CudaEvent start, CudaEvent end) override;
  absl::Status BeginCapture(CudaStream stream, CaptureMode mode) override;
  absl::StatusOr<CudaGraph> EndCapture(CudaStream stream) override;
  absl::StatusOr<CudaGraphExec> Instantiate(CudaGraph graph) override;
  absl::Status LaunchGraph(CudaGraphExec exec, CudaStream stream) override;
  absl::Status DestroyGraph(CudaGraph graph) override;
  absl::Status DestroyGraphExec(CudaGraphExec exec) override;
  absl::StatusOr<CudaUserObject> CreateUserObject(void* object, void (*destroy)(void*)) override;
  absl::Status ReleaseUserObject(CudaUserObject object) override;
  absl::Status GiveUserObject(CudaGraph graph, CudaUserObject object) override;
  absl::StatusOr<CaptureMode> ExchangeCaptureMode(CaptureMode mode) override;

 private:
  struct Context;
  struct StreamState;
  struct Library;
  struct Kernel;
  struct Graph;
  struct Exec;
  struct ThreadState;
  struct UserObject;
  using UserHandle = std::shared_ptr<UserObject>;

  // Counts the call; the scripted error, if any.
  absl::Status Enter(const char* method);
  // A call that capture forbids: invalidates every capture that it disturbs.
  absl::Status EnterUnsafe(const char* method);
  ThreadState& Thread() const;
  StreamState* State(CudaStream stream);

  const uint64_t id_;  // tells drivers apart that had the same address
  const std::vector<FakeDevice> devices_;
  mutable std::mutex mutex_;
  std::map<std::string, int> calls_;
  std::map<std::string, std::map<int, int>> failures_;  // method -> call number -> code
  std::map<std::string, int> always_;
  std::function<void(const FakeLaunch&, void**)> on_launch_;
  std::vector<std::unique_ptr<Context>> contexts_;
  std::set<StreamState*> streams_;
  std::set<int*> events_;
  std::set<Library*> libraries_;
  std::set<Graph*> graphs_;
  std::set<Exec*> execs_;
  std::set<UserHandle*> user_handles_;  // neither given to a graph nor released
  std::vector<FakeLaunch> launches_;
  std::map<void*, size_t> allocations_;
  struct Range {
    size_t bytes;
    int device;
  };
  std::map<const char*, Range> owned_;
  uint64_t next_capture_ = 1;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TESTS_RUNTIME_FAKE_DRIVER_H_
