#include "runtime/worker/support_kernels.h"

#include <algorithm>
#include <string>

#include "kernel_templates/memory_bound.h"

namespace tilewright {

namespace {

// A complex number is two of these; any other dtype is itself.
DType PartOf(DType dtype) {
  if (dtype == DType::kComplex64) return DType::kFloat32;
  if (dtype == DType::kComplex128) return DType::kFloat64;
  return dtype;
}

std::string ElementName(DType dtype) { return std::string(StorageTypeName(PartOf(dtype))); }

}  // namespace

KernelSpec FillSpec(DType dtype, bool small_integers) {
  return {"support/fill.cuh",
          "tilewright::FillKernel",
          {{"using Element", ElementName(dtype)},
           {"bool kSmallIntegers", small_integers ? "true" : "false"}}};
}

KernelSpec CompareSpec(DType dtype) {
  return {
      "support/compare.cuh", "tilewright::CompareKernel", {{"using Element", ElementName(dtype)}}};
}

std::vector<KernelSpec> SupportKernels(std::span<const DType> dtypes) {
  std::vector<KernelSpec> specs;
  const auto add = [&specs](KernelSpec spec) {
    const auto same = [&spec](const KernelSpec& known) {
      return known.Instantiation() == spec.Instantiation();
    };
    if (std::none_of(specs.begin(), specs.end(), same)) specs.push_back(std::move(spec));
  };
  add(CompareSpec(DType::kUint8));  // guard zones
  for (DType dtype : dtypes) {
    add(FillSpec(dtype, false));
    add(CompareSpec(dtype));
  }
  return specs;
}

int64_t SupportElements(DType dtype, int64_t bytes) { return bytes / DTypeSize(PartOf(dtype)); }

}  // namespace tilewright
