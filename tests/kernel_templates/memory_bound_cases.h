// Calls of the memory-bound operators, built without the manifest's contract.
#ifndef TILEWRIGHT_TESTS_KERNEL_TEMPLATES_MEMORY_BOUND_CASES_H_
#define TILEWRIGHT_TESTS_KERNEL_TEMPLATES_MEMORY_BOUND_CASES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kernel_templates/recipe.h"
#include "manifest/device_profile.h"
#include "manifest/op_spec.h"

namespace tilewright {

// The built-in profile "h200".
DeviceProfile H200();

CallDesc RmsNormCall(DType dtype, int64_t rows, int64_t length);
CallDesc SoftmaxCall(DType dtype, const Dims& shape, int64_t axis);
CallDesc AddCall(DType dtype, const Dims& input, const Dims& other, const Dims& output);
CallDesc SiluAndMulCall(DType dtype, int64_t rows, int64_t length);
// Operands of any strides, outputs last.
CallDesc CallOf(const std::vector<TensorDesc>& operands, const std::vector<ParamValue>& params);

// The kernel sources that the preferred variant's default needs.
std::vector<std::string> DefaultSources(const Recipe& recipe, const CallDesc& call,
                                        const DeviceProfile& device);

}  // namespace tilewright

#endif  // TILEWRIGHT_TESTS_KERNEL_TEMPLATES_MEMORY_BOUND_CASES_H_
