// A bound launch and the constants of its kernel, as the kernel reads them.
#ifndef TILEWRIGHT_TESTS_KERNEL_TEMPLATES_BOUND_LAUNCH_H_
#define TILEWRIGHT_TESTS_KERNEL_TEMPLATES_BOUND_LAUNCH_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "kernel_templates/device/fast_divmod.cuh"
#include "kernel_templates/recipe.h"

namespace tilewright {

template <class Params>
Params ParamsOf(const Launch& launch) {
  Params params;
  EXPECT_EQ(launch.params.size(), sizeof(Params));
  std::memcpy(static_cast<void*>(&params), launch.params.data(), sizeof(Params));
  return params;
}

// The constant that is declared so, as in "int kVector" or "bool kWide".
inline int ConstantOf(const KernelSpec& spec, std::string_view declaration) {
  for (const auto& [name, value] : spec.constants) {
    if (name != declaration) continue;
    return value == "true" ? 1 : value == "false" ? 0 : std::stoi(value);
  }
  ADD_FAILURE() << spec.Instantiation() << " has no " << declaration;
  return 0;
}

// The offset of element `index` of `rank` axes, the first of which runs fastest.
inline int64_t OffsetAt(int64_t index, int rank, const FastDivmod<true>* extent,
                        const long long* stride) {
  if (rank == 0) return 0;
  auto rest = static_cast<unsigned long long>(index);
  int64_t offset = 0;
  for (int d = 0; d < rank; ++d) {
    unsigned long long at = rest;
    if (d < rank - 1) extent[d](rest, &rest, &at);
    offset += static_cast<int64_t>(at) * stride[d];
  }
  return offset;
}

}  // namespace tilewright

#endif  // TILEWRIGHT_TESTS_KERNEL_TEMPLATES_BOUND_LAUNCH_H_
