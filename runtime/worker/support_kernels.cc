#include "runtime/worker/support_kernels.h"

#include <algorithm>
#include <string>

namespace tilewright {

std::string_view DeviceTypeName(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return "tilewright::bool8";
    case DType::kUint8:
      return "tilewright::uint8_t";
    case DType::kInt8:
      return "tilewright::int8_t";
    case DType::kInt16:
      return "tilewright::int16_t";
    case DType::kInt32:
      return "tilewright::int32_t";
    case DType::kInt64:
      return "tilewright::int64_t";
    case DType::kFloat8E4M3:
      return "tilewright::fp8_e4m3";
    case DType::kFloat8E5M2:
      return "tilewright::fp8_e5m2";
    case DType::kFloat16:
      return "tilewright::fp16";
    case DType::kBFloat16:
      return "tilewright::bf16";
    case DType::kFloat64:
      return "double";
    case DType::kFloat32:
    case DType::kComplex64:
      return "float";
  }
  return "float";
}

KernelSpec FillSpec(DType dtype, bool small_integers) {
  return {"support/fill.cuh",
          "tilewright::FillKernel",
          {{"using Element", std::string(DeviceTypeName(dtype))},
           {"bool kSmallIntegers", small_integers ? "true" : "false"}}};
}

KernelSpec CompareSpec(DType dtype) {
  return {"support/compare.cuh",
          "tilewright::CompareKernel",
          {{"using Element", std::string(DeviceTypeName(dtype))}}};
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
