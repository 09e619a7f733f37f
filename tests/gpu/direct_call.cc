#include "tests/gpu/direct_call.h"

#include <cstring>
#include <utility>

#include "manifest/op_spec.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

// Writes the addresses of operands and workspace, and the tensor maps over them.
absl::Status Fill(Driver& driver, const ReadyLaunch& ready, std::span<void* const> pointers,
                  void* workspace, std::byte* params) {
  const auto address = [&](int operand, int64_t byte_offset) {
    void* const base =
        operand == kWorkspaceOperand ? workspace : pointers[static_cast<size_t>(operand)];
    return reinterpret_cast<uint64_t>(base) + static_cast<uint64_t>(byte_offset);
  };
  std::memcpy(params, ready.params.data(), ready.params.size());
  for (const PointerSlot& slot : ready.pointers) {
    const uint64_t pointer = address(slot.operand, slot.byte_offset);
    std::memcpy(params + slot.offset, &pointer, sizeof(pointer));
  }
  for (const ReadyLaunch::MapSlot& slot : ready.tensor_maps) {
    TensorMapShape shape = slot.shape;
    shape.address = address(slot.operand, slot.byte_offset);
    TW_RETURN_IF_ERROR(driver.EncodeTensorMap(shape, params + slot.offset));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<DirectCall>> DirectCall::Make(
    const DirectSite& site, const Variant& variant, const Config& config, const CallDesc& call,
    std::span<void* const> pointers, void* workspace) {
  if (pointers.size() != call.operands.size()) {
    return InvalidArgument(pointers.size(), " pointers of ", call.operands.size());
  }
  ExactCall exact;
  exact.call = call;
  auto plan = std::make_shared<Plan>();
  plan->variant = &variant;
  for (const KernelSpec& spec : variant.Kernels(call, config)) {
    TW_ASSIGN_OR_RETURN(const KernelStore::Result built,
                        site.kernels->GetOrBuild(spec, call.op->name, site.device->profile.arch));
    TW_ASSIGN_OR_RETURN(std::shared_ptr<const LoadedKernel> loaded,
                        site.loader->Load(built.row, *site.device));
    plan->kernels.push_back(std::move(loaded));
  }
  exact.plan = plan;
  TW_ASSIGN_OR_RETURN(const BoundCall bound, BindCall(variant, call, config, site.device->profile,
                                                      exact.plan->kernels.size()));
  TakeLaunches(bound, *site.driver, exact);
  std::unique_ptr<DirectCall> direct(new DirectCall());
  direct->driver_ = site.driver;
  direct->plan_ = std::move(plan);
  for (ReadyLaunch& ready : exact.launches) {
    Filled filled{std::move(ready), std::make_unique<Params>()};
    TW_RETURN_IF_ERROR(Fill(*site.driver, filled.ready, pointers, workspace, filled.params->bytes));
    direct->launches_.push_back(std::move(filled));
  }
  return direct;
}

absl::Status DirectCall::Launch(CudaStream stream) const {
  for (const Filled& filled : launches_) {
    void* arguments[] = {filled.params->bytes};
    TW_RETURN_IF_ERROR(driver_->Launch(filled.ready.shape, filled.ready.kernel, stream, arguments));
  }
  return absl::OkStatus();
}

}  // namespace tilewright
