#include "runtime/conform/call_identity.h"

#include "manifest/digest.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

template <class Values>
std::string ListText(const Values& values) {
  std::string text;
  for (const auto value : values) text += Cat(value, ",");
  return text;
}

void AddLaunch(const Launch& launch, Digest& digest) {
  digest.Add(Cat(launch.kernel, ";", ListText(launch.grid), ";", ListText(launch.block), ";",
                 ListText(launch.cluster), ";", launch.dynamic_smem_bytes, ";",
                 launch.programmatic_dependent_launch));
  digest.Add({reinterpret_cast<const char*>(launch.params.data()), launch.params.size()});
  for (const PointerSlot& slot : launch.pointers) {
    digest.Add(Cat("p", slot.offset, ",", int{slot.operand}, ",", slot.byte_offset));
  }
  for (const TensorMapSlot& slot : launch.tensor_maps) {
    digest.Add(Cat("t", slot.offset, ",", int{slot.operand}, ",", slot.byte_offset, ",",
                   DTypeName(slot.dtype), ",", int{slot.rank}, ";", ListText(slot.dims), ";",
                   ListText(slot.strides_bytes), ";", ListText(slot.box), ";",
                   static_cast<int>(slot.swizzle), ",", int{slot.l2_promotion_bytes_log2}));
  }
}

}  // namespace

std::string LaunchDigest(const BoundCall& bound) {
  Digest digest;
  digest.Add(Cat(bound.launches.size(), ";", bound.workspace_bytes));
  for (const Launch& launch : bound.launches) AddLaunch(launch, digest);
  return digest.Hex();
}

absl::StatusOr<CallIdentity> IdentifyCall(
    const CallDesc& call, const Variant& variant, const Config& config, const DeviceProfile& device,
    const std::function<absl::StatusOr<std::string>(std::string_view)>& closure_digest) {
  TW_RETURN_IF_ERROR(variant.Legal(call, config, device));
  TW_ASSIGN_OR_RETURN(const BoundCall bound, variant.Bind(call, config, device));
  CallIdentity identity;
  identity.launch_digest = LaunchDigest(bound);
  if (bound.launches.empty()) return identity;
  identity.kernels = variant.Kernels(call, config);
  for (const KernelSpec& kernel : identity.kernels) {
    TW_ASSIGN_OR_RETURN(const std::string closure, closure_digest(kernel.template_file));
    identity.instantiations +=
        Cat(identity.instantiations.empty() ? "" : "; ", kernel.Instantiation());
    identity.closure_digests += Cat(identity.closure_digests.empty() ? "" : ",", closure);
  }
  return identity;
}

}  // namespace tilewright
