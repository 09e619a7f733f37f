// libFuzzer target: any text as a shape file, and its lines as arguments of the command line, over
// an operator with parameters of every type.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/op_spec.h"
#include "tools/shape_file.h"

namespace tilewright {

RooflineFormula BuiltinRoofline(std::string_view) { return {}; }

}  // namespace tilewright

namespace {

constexpr std::string_view kOps = R"(
FuzzOp:
  family: fuzz
  reference: none
  formula: nothing
  source: here
  signature:
    inputs:
      a: {dtype: [float16, float32, int32]}
      b: {dtype: same_as(a), shape: '[M, 4]', optional: true}
    outputs:
      y: {dtype: same_as(a), shape: 'reduced_shape(a.shape, dim, keep)'}
    params:
      dim: {type: axes, default: null, nullable: true}
      keep: {type: bool, default: false}
      scale: {type: int_or_float, default: 1}
      eps: {type: float, default: 1.0e-5, nullable: true}
      pads: {type: int_list, default: [1, 2]}
      axis: {type: axis, default: -1}
      count: {type: int, default: 3}
  roofline: {flops: 'product(a.shape)', bytes: 'product(a.shape) * elem_bytes'}
)";

const tilewright::OpSpec& Op() {
  static const tilewright::Manifest manifest =
      tilewright::Manifest::FromYaml(kOps, "fuzz.yaml").value();
  return manifest.ops()[0];
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tilewright;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const OpSpec* ops[] = {&Op()};
  const absl::StatusOr<std::vector<NamedCall>> calls = ParseShapeFile(text, "shapes", ops);
  if (calls.ok()) {
    if (calls->empty()) abort();
    for (const NamedCall& named : *calls) (void)named.call.ToString();
  } else if (calls.status().message().substr(0, 6) != "shapes") {
    abort();
  }
  std::vector<std::string> shapes;
  std::vector<std::string> params;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    (shapes.size() <= params.size() ? shapes : params)
        .emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  const absl::StatusOr<CallDesc> call = ParseCallArguments(Op(), shapes, "float32", params);
  if (!call.ok() && call.status().message().empty()) abort();
  return 0;
}
