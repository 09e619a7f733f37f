// Guards the quantiser's recipe: that every element is read and written once, with the scale of its
// row, whatever the layout and the configuration: by walking the bound parameters as the kernel
// does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "kernel_templates/quantization/params.cuh"
#include "kernel_templates/recipe.h"
#include "tests/kernel_templates/bound_launch.h"
#include "tests/kernel_templates/memory_bound_cases.h"

namespace tilewright {
namespace {

// Offsets of an element's input and of its row's scale, in elements, by that of its output.
using Touched = std::map<int64_t, std::pair<int64_t, int64_t>>;

CallDesc QuantCall(const TensorDesc& input) {
  const Dims& shape = input.shape;
  return CallOf({input, TensorDesc::Contiguous(DType::kFloat32, {shape[0], shape[1], shape[2]}),
                 TensorDesc::Contiguous(DType::kFloat8E4M3, shape)},
                {});
}

Touched Expected(const CallDesc& call) {
  Touched touched;
  const TensorDesc& x = call.operands[0].desc;
  for (int64_t element = 0; element < x.elements(); ++element) {
    int64_t rest = element;
    int64_t input = 0;
    for (int axis = 3; axis >= 0; --axis) {
      input += rest % x.shape[axis] * x.strides[axis];
      rest /= x.shape[axis];
    }
    touched[element] = {input, element / x.shape[3]};  // output and scale are dense
  }
  return touched;
}

Touched Walk(const Launch& launch, const KernelSpec& spec) {
  const auto p = ParamsOf<Fp8QuantParams>(launch);
  const int threads = ConstantOf(spec, "int kThreads");
  const int lanes = ConstantOf(spec, "int kLanes");
  const int vector = ConstantOf(spec, "int kVector");
  const int chunks = ConstantOf(spec, "int kChunks");
  const bool strided = ConstantOf(spec, "bool kStrided") != 0;
  EXPECT_EQ(launch.block[0], static_cast<uint32_t>(threads));
  const int64_t rows_per_block = threads / lanes;
  EXPECT_LT(int64_t{launch.grid[0]} * rows_per_block - p.rows, rows_per_block);
  if (chunks > 0) {
    EXPECT_GE(int64_t{chunks} * lanes, p.vectors);
  }
  Touched touched;
  for (int64_t row = 0;
       row < std::min(int64_t{launch.grid[0]} * rows_per_block, static_cast<int64_t>(p.rows));
       ++row) {
    const auto at = [&](const long long* strides) {
      return strided ? OffsetAt(row, 3, p.extent, strides) : row * strides[0];
    };
    for (int64_t v = 0; v < p.vectors; ++v) {
      for (int64_t i = 0; i < vector; ++i) {
        const int64_t to = at(p.output_stride) + v * (strided ? p.output_step : vector) + i;
        const int64_t from = at(p.input_stride) + v * (strided ? p.input_step : vector) + i;
        EXPECT_TRUE(touched.emplace(to, std::pair(from, at(p.scale_stride))).second) << to;
      }
    }
  }
  return touched;
}

TEST(Fp8QuantRecipe, EveryElementOnceInAnyLayout) {
  const auto recipe = MakeBuiltinRecipe("FP8QuantFwdOp");
  std::vector<TensorDesc> inputs = {TensorDesc::Contiguous(DType::kFloat16, {3, 5, 7, 128}),
                                    TensorDesc::Contiguous(DType::kBFloat16, {1, 37, 1, 46}),
                                    TensorDesc::Contiguous(DType::kFloat32, {1, 2, 1, 4097}),
                                    TensorDesc::Contiguous(DType::kFloat32, {1, 1, 1, 1}),
                                    {DType::kFloat16, {2, 3, 4, 8}, {8, 16, 48, 1}},
                                    {DType::kFloat16, {2, 3, 4, 8}, {192, 64, 16, 2}}};
  std::set<std::string_view> served;
  for (const TensorDesc& input : inputs) {
    const CallDesc call = QuantCall(input);
    const Touched expected = Expected(call);
    for (const Variant* variant : recipe->variants()) {
      if (!variant->Serves(call, H200()).ok()) continue;
      served.insert(variant->name());
      const TuningSpace space = variant->Space(call, H200());
      for (int64_t i = 0; i < space.size(); ++i) {
        const Config config = space.At(i);
        if (!variant->Legal(call, config, H200()).ok()) continue;
        const auto bound = variant->Bind(call, config, H200());
        ASSERT_TRUE(bound.ok()) << bound.status();
        ASSERT_EQ(bound->launches.size(), 1u);
        EXPECT_EQ(Walk(bound->launches[0], variant->Kernels(call, config)[0]), expected)
            << input.shape.ToString() << " " << config.ToJson();
      }
    }
  }
  EXPECT_THAT(served, testing::ElementsAre("rows", "strided"));
}

// Guards: vectors are no wider than what both tensors are aligned to and what rows are apart by.
TEST(Fp8QuantRecipe, VectorsAreAligned) {
  const auto recipe = MakeBuiltinRecipe("FP8QuantFwdOp");
  const Variant* rows = FindVariant(*recipe, "rows");
  const auto vector = [&](const CallDesc& call) {
    return ConstantOf(rows->Kernels(call, rows->Default(call, H200()))[0], "int kVector");
  };
  CallDesc call = QuantCall(TensorDesc::Contiguous(DType::kFloat16, {1, 4, 2, 64}));
  EXPECT_EQ(vector(call), 8);
  call.operands[0].alignment = 8;
  EXPECT_EQ(vector(call), 4);
  call.operands[2].alignment = 2;
  EXPECT_EQ(vector(call), 2);
  EXPECT_EQ(vector(QuantCall({DType::kFloat16, {1, 1, 4, 64}, {0, 0, 66, 1}})), 2);
  EXPECT_EQ(vector(QuantCall(TensorDesc::Contiguous(DType::kFloat16, {1, 4, 2, 46}))), 2);
}

TEST(Fp8QuantRecipe, EmptyBatchLaunchesNothing) {
  const auto recipe = MakeBuiltinRecipe("FP8QuantFwdOp");
  const CallDesc call = QuantCall(TensorDesc::Contiguous(DType::kFloat16, {0, 4, 2, 64}));
  for (const Variant* variant : recipe->variants()) {
    const auto bound = variant->Bind(call, variant->Default(call, H200()), H200());
    ASSERT_TRUE(bound.ok()) << bound.status();
    EXPECT_TRUE(bound->launches.empty());
  }
}

}  // namespace
}  // namespace tilewright
