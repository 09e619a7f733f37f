#include "runtime/launcher.h"

#include <cstring>
#include <memory>
#include <vector>

#include "manifest/op_spec.h"
#include "manifest/status.h"
#include "runtime/launch_rules.h"

namespace tilewright {
namespace {

constexpr uintptr_t kWorkspaceAlignment = 256;

uint64_t AddressOf(int operand, int64_t byte_offset, OperandPointers pointers, void* workspace) {
  const void* base =
      operand == kWorkspaceOperand ? workspace : pointers[static_cast<size_t>(operand)];
  if (base == nullptr) return 0;  // an absent operand
  return reinterpret_cast<uint64_t>(base) + static_cast<uint64_t>(byte_offset);
}

std::string_view OperandName(const CallDesc& call, size_t operand) {
  const size_t inputs = call.op->inputs.size();
  return operand < inputs ? call.op->inputs[operand].name : call.op->outputs[operand - inputs].name;
}

absl::Status CheckWorkspace(const ExactCall& call, const CallOptions& options) {
  if (options.workspace_bytes < call.workspace_bytes) {
    return InvalidArgument(call.call.op->name, ": workspace: expected at least ",
                           call.workspace_bytes, " bytes, got ", options.workspace_bytes);
  }
  if (reinterpret_cast<uintptr_t>(options.workspace) % kWorkspaceAlignment != 0) {
    return InvalidArgument(call.call.op->name, ": workspace: expected a pointer aligned to ",
                           kWorkspaceAlignment, " bytes, got ", options.workspace);
  }
  return absl::OkStatus();
}

// What is wrong with a stream's capture state.
absl::Status Usable(const absl::StatusOr<CaptureInfo>& capture) {
  if (capture.ok()) {
    if (!capture->invalidated) return absl::OkStatus();
    return FailedPrecondition("the capture of this stream has been invalidated by an earlier call");
  }
  if (DriverErrorCode(capture.status()) == kCudaCaptureImplicit) {
    return FailedPrecondition(
        "the default stream cannot be used while another stream is being captured; pass that "
        "stream");
  }
  return capture.status();
}

}  // namespace

absl::Status Launcher::Run(const ExactCall& call, OperandPointers pointers,
                           const CallOptions& options, bool first_use) {
  if (!devices_->SameProcess()) return DeviceTable::ForkedError();
  if (!call.overlap.Allowed(call.call, pointers)) return call.overlap.Check(call.call, pointers);
  if (call.launches.empty()) return absl::OkStatus();
  absl::Status status = RunInContext(call, pointers, options, first_use);
  if (DriverErrorCode(status) != kCudaInvalidContext) return status;
  ScopedContext primary(*driver_, call.device->context);
  TW_RETURN_IF_ERROR(primary.status());
  return RunInContext(call, pointers, options, first_use);
}

absl::Status Launcher::RunInContext(const ExactCall& call, OperandPointers pointers,
                                    const CallOptions& options, bool first_use) {
  const CudaStream stream = static_cast<CudaStream>(options.stream);
  if (check_pointers_ || first_use) TW_RETURN_IF_ERROR(CheckPointers(call, pointers));
  if (call.workspace_bytes > 0) {
    if (options.workspace == nullptr) return RunInOwnWorkspace(call, pointers, stream);
    TW_RETURN_IF_ERROR(CheckWorkspace(call, options));
  }
  // Before the driver is asked anything: the stores have then settled when it copies them.
  ParamBytes params;
  TW_RETURN_IF_ERROR(Fill(call.launches.front(), pointers, options.workspace, params));
  TW_RETURN_IF_ERROR(Admit(call, stream));
  return LaunchAll(call, pointers, options.workspace, params, stream);
}

absl::Status Launcher::RunInOwnWorkspace(const ExactCall& call, OperandPointers pointers,
                                         CudaStream stream) {
  TW_RETURN_IF_ERROR(Admit(call, stream));
  // Stream-ordered: under capture these become an allocation and a free node of this graph.
  TW_ASSIGN_OR_RETURN(void* workspace,
                      driver_->AllocAsync(static_cast<size_t>(call.workspace_bytes), stream));
  ParamBytes params;
  absl::Status status = Fill(call.launches.front(), pointers, workspace, params);
  if (status.ok()) status = LaunchAll(call, pointers, workspace, params, stream);
  const absl::Status freed = driver_->FreeAsync(workspace, stream);
  return status.ok() ? freed : status;
}

absl::Status Launcher::Admit(const ExactCall& call, CudaStream stream) {
  // The only device of a machine has every stream.
  if (devices_->SeveralVisible()) TW_RETURN_IF_ERROR(CheckStream(call, stream));
  const absl::StatusOr<CaptureInfo> capture = driver_->StreamCapture(stream);
  if (capture.ok() && !capture->capturing) return absl::OkStatus();
  TW_RETURN_IF_ERROR(Usable(capture));
  return Pin(call, capture->graph);
}

absl::StatusOr<CaptureInfo> Launcher::Capture(CudaStream stream, const VisibleDevice& device) {
  absl::StatusOr<CaptureInfo> capture = driver_->StreamCapture(stream);
  if (DriverErrorCode(capture.status()) == kCudaInvalidContext) {
    ScopedContext primary(*driver_, device.context);
    TW_RETURN_IF_ERROR(primary.status());
    capture = driver_->StreamCapture(stream);
  }
  TW_RETURN_IF_ERROR(Usable(capture));
  return capture;
}

absl::Status Launcher::CheckStream(const ExactCall& call, CudaStream stream) {
  // The driver is asked every time: a handle may have been destroyed, and made again on another
  // device, and the default stream is that of whatever context is current.
  const int expected = call.device->ordinal;
  int device = expected;
  if (stream == nullptr) {
    TW_ASSIGN_OR_RETURN(device, driver_->CurrentDevice());
  } else {
    TW_ASSIGN_OR_RETURN(const CudaContext context, driver_->StreamContext(stream));
    if (context != call.device->context) {
      TW_ASSIGN_OR_RETURN(device, devices_->DeviceOf(context));
    }
  }
  if (device == expected) return absl::OkStatus();
  return InvalidArgument(call.call.op->name, ": stream: expected one of device ", expected,
                         ", where the tensors are, got one of device ", device);
}

absl::Status Launcher::CheckPointers(const ExactCall& call, OperandPointers pointers) {
  for (size_t i = 0; i < pointers.size(); ++i) {
    const Operand& operand = call.call.operands[i];
    if (!operand.present || operand.desc.elements() == 0) continue;
    absl::StatusOr<PointerInfo> info = driver_->Pointer(pointers[i]);
    if (DriverErrorCode(info.status()) == kCudaInvalidValue) info = PointerInfo{};
    TW_RETURN_IF_ERROR(info.status());
    if (!info->known && !check_pointers_) continue;
    if (!info->known || !info->is_device_accessible) {
      return InvalidArgument(call.call.op->name, ": '", OperandName(call.call, i),
                             "': expected memory of device ", call.device->ordinal, ", got ",
                             pointers[i], ", which the driver does not know");
    }
    if (info->device >= 0 && info->device != call.device->ordinal) {
      return InvalidArgument(call.call.op->name, ": '", OperandName(call.call, i),
                             "': expected memory of device ", call.device->ordinal,
                             ", got memory of device ", info->device);
    }
  }
  return absl::OkStatus();
}

absl::Status Launcher::Pin(const ExactCall& call, CudaGraph graph) {
  using Kernels = decltype(Plan::kernels);
  auto held = std::make_unique<Kernels>(call.plan->kernels);
  TW_ASSIGN_OR_RETURN(const CudaUserObject object,
                      driver_->CreateUserObject(held.get(), [](void* kernels) {
                        delete static_cast<Kernels*>(kernels);
                      }));
  static_cast<void>(held.release());  // the driver owns it now
  absl::Status status = driver_->GiveUserObject(graph, object);
  if (!status.ok()) driver_->ReleaseUserObject(object).IgnoreError();
  return status;
}

absl::Status Launcher::Fill(const ReadyLaunch& launch, OperandPointers pointers, void* workspace,
                            ParamBytes& params) {
  for (size_t at = 0; at < launch.params.size(); at += kParamBlockBytes) {
    std::memcpy(params.bytes + at, launch.params.data() + at, kParamBlockBytes);
  }
  for (const PointerSlot& pointer : launch.pointers) {
    const uint64_t address = AddressOf(pointer.operand, pointer.byte_offset, pointers, workspace);
    std::memcpy(params.bytes + pointer.offset, &address, sizeof(address));
  }
  for (const ReadyLaunch::MapSlot& map : launch.tensor_maps) {
    TensorMapShape shape = map.shape;
    shape.address = AddressOf(map.operand, map.byte_offset, pointers, workspace);
    TW_RETURN_IF_ERROR(driver_->EncodeTensorMap(shape, params.bytes + map.offset));
  }
  return absl::OkStatus();
}

absl::Status Launcher::LaunchAll(const ExactCall& call, OperandPointers pointers, void* workspace,
                                 ParamBytes& params, CudaStream stream) {
  void* arguments[] = {params.bytes};
  for (const ReadyLaunch& launch : call.launches) {
    if (&launch != &call.launches.front()) {
      TW_RETURN_IF_ERROR(Fill(launch, pointers, workspace, params));
    }
    TW_RETURN_IF_ERROR(driver_->Launch(launch.shape, launch.kernel, stream, arguments));
  }
  return absl::OkStatus();
}

}  // namespace tilewright
