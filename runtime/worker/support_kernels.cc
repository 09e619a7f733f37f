#include "runtime/worker/support_kernels.h"

#include <algorithm>
#include <string>

#include "kernel_templates/memory_bound.h"

namespace tilewright {

namespace {

std::string ElementName(DType dtype) {
  return std::string(StorageTypeName(dtype == DType::kComplex64 ? DType::kFloat32 : dtype));
}

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

int64_t SupportElements(DType dtype, int64_t bytes) {
  return bytes / (dtype == DType::kComplex64 ? 4 : DTypeSize(dtype));
}

}  // namespace tilewright
