#include "tests/kernel_templates/memory_bound_cases.h"

namespace tilewright {

DeviceProfile H200() { return BuiltinDeviceProfile("h200").value(); }

CallDesc CallOf(const std::vector<TensorDesc>& operands, const std::vector<ParamValue>& params) {
  CallDesc call;
  for (const TensorDesc& desc : operands) call.operands.push_back({desc, 256, true});
  for (const ParamValue& param : params) call.params.push_back(param);
  return call;
}

CallDesc RmsNormCall(DType dtype, int64_t rows, int64_t length) {
  const TensorDesc x = TensorDesc::Contiguous(dtype, {rows, length});
  return CallOf({x, TensorDesc::Contiguous(dtype, {length}), x}, {Dims{length}, 1e-6});
}

CallDesc SoftmaxCall(DType dtype, const Dims& shape, int64_t axis) {
  const TensorDesc x = TensorDesc::Contiguous(dtype, shape);
  return CallOf({x, x}, {axis});
}

CallDesc AddCall(DType dtype, const Dims& input, const Dims& other, const Dims& output) {
  return CallOf({TensorDesc::Contiguous(dtype, input), TensorDesc::Contiguous(dtype, other),
                 TensorDesc::Contiguous(dtype, output)},
                {1});
}

CallDesc SiluAndMulCall(DType dtype, int64_t rows, int64_t length) {
  return CallOf({TensorDesc::Contiguous(dtype, {rows, 2 * length}),
                 TensorDesc::Contiguous(dtype, {rows, length})},
                {});
}

std::vector<std::string> DefaultSources(const Recipe& recipe, const CallDesc& call,
                                        const DeviceProfile& device) {
  std::vector<std::string> sources;
  const auto variant = SelectVariant(recipe, call, device);
  if (!variant.ok()) return sources;
  for (const KernelSpec& spec : (*variant)->Kernels(call, (*variant)->Default(call, device))) {
    sources.push_back(spec.Source());
  }
  return sources;
}

}  // namespace tilewright
