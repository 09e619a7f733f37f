// Guards operators whose inputs are coordinates: the bound parameters give each output element its
// own, however the output lies.
#include <gtest/gtest.h>

#include <array>
#include <map>

#include "kernel_templates/elementwise/elementwise_recipe.h"
#include "manifest/op_spec.h"
#include "tests/kernel_templates/bound_launch.h"
#include "tests/kernel_templates/memory_bound_cases.h"

namespace tilewright {
namespace {

using Coordinates = std::array<int64_t, 2>;

// The coordinates that the kernel of two of them computes, by byte offset in the output.
template <int kRank, bool kWide>
std::map<int64_t, Coordinates> Walk(const Launch& launch, const KernelSpec& spec, int size) {
  const auto p = ParamsOf<ElementwiseParams<2, kRank, kWide>>(launch);
  const int vector = ConstantOf(spec, "int kVector");
  std::map<int64_t, Coordinates> found;
  if (vector == 0) return found;  // ConstantOf() said why
  const auto add = [&](int64_t offset, int64_t first, int64_t second) {
    EXPECT_TRUE(found.emplace(offset, Coordinates{first, second}).second) << offset;
  };
  const std::array<int64_t, 2> base = {reinterpret_cast<int64_t>(p.inputs[0]),
                                       reinterpret_cast<int64_t>(p.inputs[1])};
  for (uint64_t v = 0; v < p.count; ++v) {
    auto rest = static_cast<typename decltype(p)::Index>(v);
    std::array<int64_t, 3> offset = {0, base[0], base[1]};
    for (int d = 0; d < kRank; ++d) {
      auto at = rest;
      if (d < kRank - 1) p.extent[d](rest, &rest, &at);
      offset[0] += static_cast<int64_t>(at) * p.output_stride[d];
      for (size_t i = 0; i < 2; ++i) {
        offset[i + 1] += static_cast<int64_t>(at) * p.input_stride[i][d];
      }
    }
    for (int e = 0; e < vector; ++e) {
      add(offset[0] + int64_t{e} * size, offset[1] + e * (p.input_stride[0][0] / vector),
          offset[2] + e * (p.input_stride[1][0] / vector));
    }
  }
  for (unsigned t = 0; t < p.tail; ++t) {
    const int64_t element = static_cast<int64_t>(p.count) * vector + t;
    add(element * size, base[0] + element * (p.input_stride[0][0] / vector),
        base[1] + element * (p.input_stride[1][0] / vector));
  }
  return found;
}

std::map<int64_t, Coordinates> WalkAny(const Launch& launch, const KernelSpec& spec, int size) {
  switch (ConstantOf(spec, "int kRank")) {
    case 1:
      return Walk<1, false>(launch, spec, size);
    case 2:
      return Walk<2, false>(launch, spec, size);
    case 3:
      return Walk<3, false>(launch, spec, size);
    default:
      return Walk<8, true>(launch, spec, size);
  }
}

// `expected`: the coordinates of the element at a position of the output.
void ExpectCoordinates(std::string_view op, const TensorDesc& output,
                       Coordinates (*expected)(const Dims& at)) {
  CallDesc call;
  call.op = Manifest::FindBuiltin(op);
  call.operands.push_back({output});
  const auto recipe = MakeBuiltinRecipe(op);
  for (const Variant* variant : recipe->variants()) {
    const Config config = variant->Default(call, H200());
    const auto bound = variant->Bind(call, config, H200());
    ASSERT_TRUE(bound.ok()) << bound.status();
    const Launch& launch = bound->launches.at(0);
    ASSERT_EQ(launch.pointers.size(), 1u);  // the output's alone
    const int size = DTypeSize(output.dtype);
    const auto found = WalkAny(launch, variant->Kernels(call, config)[0], size);
    EXPECT_EQ(static_cast<int64_t>(found.size()), output.elements());
    for (int64_t linear = 0; linear < output.elements(); ++linear) {
      Dims at = output.shape;
      int64_t rest = linear, offset = 0;
      for (int axis = output.rank() - 1; axis >= 0; --axis) {
        at[axis] = rest % output.shape[axis];
        rest /= output.shape[axis];
        offset += at[axis] * output.strides[axis] * size;
      }
      const auto place = found.find(offset);
      ASSERT_NE(place, found.end()) << variant->name() << " " << at.ToString();
      EXPECT_EQ(place->second, expected(at)) << variant->name() << " " << at.ToString();
    }
  }
}

Coordinates HeadAndDistance(const Dims& at) { return {at[0], at[1] - at[2]}; }
Coordinates RowAndColumn(const Dims& at) { return {at[0], at[1]}; }

TEST(CoordinateRecipe, AlibiCountsHeadsAndDistances) {
  for (const Dims& shape : {Dims{3, 16, 16}, Dims{2, 7, 7}, Dims{1, 1, 1}, Dims{5, 1, 1}}) {
    ExpectCoordinates("AlibiFwdOp", TensorDesc::Contiguous(DType::kFloat16, shape),
                      HeadAndDistance);
  }
  const TensorDesc turned{DType::kFloat32, {2, 8, 8}, {64, 1, 8}};
  ExpectCoordinates("AlibiFwdOp", turned, HeadAndDistance);
}

TEST(CoordinateRecipe, SinusoidalCountsRowsAndColumns) {
  for (const Dims& shape : {Dims{3, 16}, Dims{1, 22}, Dims{9, 2}}) {
    ExpectCoordinates("SinusoidalFwdOp", TensorDesc::Contiguous(DType::kBFloat16, shape),
                      RowAndColumn);
  }
  ExpectCoordinates("SinusoidalFwdOp", {DType::kFloat16, {4, 8}, {11, 1}}, RowAndColumn);
}

// Widths of what is read from memory, but not those of coordinates and of single values, bound the
// vectors.
TEST(CoordinateRecipe, DropoutKeepsWideVectors) {
  const auto recipe = MakeBuiltinRecipe("DropoutFwdOp");
  const OpSpec& op = *Manifest::FindBuiltin("DropoutFwdOp");
  Workload workload;
  workload.input_shapes = {{"input", {64, 128}}, {"state", {2}}};
  const CallDesc call = WorkloadCall(op, workload, DType::kFloat16).value();
  EXPECT_EQ(recipe->Describe(call)[2], 32);
  const auto bound =
      recipe->variants()[0]->Bind(call, recipe->variants()[0]->Default(call, H200()), H200());
  ASSERT_TRUE(bound.ok()) << bound.status();
  ASSERT_EQ(bound->launches[0].pointers.size(), 4u);
  EXPECT_EQ(bound->launches[0].pointers[2].byte_offset, 0);
  EXPECT_EQ(bound->launches[0].pointers[3].byte_offset, 8);
}

}  // namespace
}  // namespace tilewright
