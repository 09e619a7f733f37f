// Guards the elementwise recipes: collapsing, vector widths, and that every output element is
// written once from the right input elements, by walking the bound parameters as the kernel does.
#include "kernel_templates/elementwise/elementwise_recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/kernel_templates/bound_launch.h"
#include "tests/kernel_templates/memory_bound_cases.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

// Byte offsets of one element: output, inputs.
using Offsets = std::array<int64_t, 3>;

// What the kernel of two inputs touches, element by element.
template <int kRank, bool kWide>
std::vector<Offsets> Walk(const Launch& launch, const KernelSpec& spec, int size) {
  using Params = ElementwiseParams<2, kRank, kWide>;
  using Index = typename Params::Index;
  const auto p = ParamsOf<Params>(launch);
  const int vector = ConstantOf(spec, "int kVector");
  const int scalar_mask = ConstantOf(spec, "int kScalarMask");
  const int64_t tile = int64_t{ConstantOf(spec, "int kThreads")} * ConstantOf(spec, "int kUnroll");
  const bool persistent = ConstantOf(spec, "bool kPersistent") != 0;
  EXPECT_TRUE(persistent || launch.grid[0] * tile >= static_cast<int64_t>(p.count));
  std::vector<Offsets> touched;
  for (Index v = 0; v < p.count; ++v) {
    Index rest = v;
    Offsets offset{};
    for (int d = 0; d < kRank; ++d) {
      Index at = rest;
      if (d < kRank - 1) p.extent[d](rest, &rest, &at);
      offset[0] += static_cast<int64_t>(at) * p.output_stride[d];
      for (int i = 0; i < 2; ++i) {
        offset[i + 1] += static_cast<int64_t>(at) * p.input_stride[i][d];
      }
    }
    for (int e = 0; e < vector; ++e) {
      Offsets element = offset;
      element[0] += int64_t{e} * size;
      for (int i = 0; i < 2; ++i) element[i + 1] += (scalar_mask >> i & 1) != 0 ? 0 : e * size;
      touched.push_back(element);
    }
  }
  for (unsigned t = 0; t < p.tail; ++t) {
    const int64_t element = static_cast<int64_t>(p.count) * vector + t;
    Offsets offset = {element * size, element * size, element * size};
    for (int i = 0; i < 2; ++i) {
      if ((scalar_mask >> i & 1) != 0) offset[i + 1] = 0;
    }
    touched.push_back(offset);
  }
  return touched;
}

std::vector<Offsets> WalkAny(const Launch& launch, const KernelSpec& spec, int size) {
  const bool wide = ConstantOf(spec, "bool kWide") != 0;
  switch (ConstantOf(spec, "int kRank")) {
    case 1:
      return wide ? Walk<1, true>(launch, spec, size) : Walk<1, false>(launch, spec, size);
    case 2:
      return wide ? Walk<2, true>(launch, spec, size) : Walk<2, false>(launch, spec, size);
    case 3:
      return wide ? Walk<3, true>(launch, spec, size) : Walk<3, false>(launch, spec, size);
    default:
      return wide ? Walk<8, true>(launch, spec, size) : Walk<8, false>(launch, spec, size);
  }
}

// Byte offset of output coordinate `at` in an operand that is broadcast to it.
int64_t BroadcastOffset(const TensorDesc& desc, const Dims& at) {
  int64_t offset = 0;
  for (int axis = 0; axis < desc.rank(); ++axis) {
    const int64_t i = at[at.rank() - desc.rank() + axis];
    offset += (desc.shape[axis] == 1 ? 0 : i) * desc.strides[axis];
  }
  return offset * DTypeSize(desc.dtype);
}

std::map<int64_t, Offsets> Expected(const CallDesc& call) {
  std::map<int64_t, Offsets> expected;
  const TensorDesc& output = call.operands[2].desc;
  for (int64_t linear = 0; linear < output.elements(); ++linear) {
    Dims at = output.shape;
    int64_t rest = linear;
    for (int axis = output.rank() - 1; axis >= 0; --axis) {
      at[axis] = rest % output.shape[axis];
      rest /= output.shape[axis];
    }
    const int64_t key = BroadcastOffset(output, at);
    expected[key] = {key, BroadcastOffset(call.operands[0].desc, at),
                     BroadcastOffset(call.operands[1].desc, at)};
  }
  return expected;
}

void ExpectCoversOnce(const CallDesc& call) {
  const auto recipe = MakeBuiltinRecipe("AddFwdOp");
  const DeviceProfile device = H200();
  const std::map<int64_t, Offsets> expected = Expected(call);
  for (const Variant* variant : recipe->variants()) {
    const Config config = variant->Default(call, device);
    ASSERT_TRUE(variant->Legal(call, config, device).ok());
    const auto bound = variant->Bind(call, config, device);
    ASSERT_TRUE(bound.ok()) << bound.status();
    const std::vector<Offsets> touched =
        WalkAny(bound->launches[0], variant->Kernels(call, config)[0],
                DTypeSize(call.operands[2].desc.dtype));
    std::map<int64_t, Offsets> seen;
    for (const Offsets& offsets : touched) {
      EXPECT_TRUE(seen.emplace(offsets[0], offsets).second) << "twice: " << offsets[0];
    }
    EXPECT_EQ(seen, expected) << variant->name() << " " << config.ToJson();
  }
}

TensorDesc Strided(DType dtype, const Dims& shape, const Dims& strides) {
  return TensorDesc{dtype, shape, strides};
}

TEST(ElementwiseRecipe, CoversEveryElementOnceForAnyLayout) {
  const DType b = DType::kBFloat16;
  const Dims m = {6, 16};
  ExpectCoversOnce(AddCall(b, {37}, {37}, {37}));
  ExpectCoversOnce(AddCall(b, m, m, m));
  ExpectCoversOnce(AddCall(b, m, {16}, m));
  ExpectCoversOnce(AddCall(b, m, {6, 1}, m));
  ExpectCoversOnce(AddCall(b, {3, 1}, {1, 4}, {3, 4}));
  ExpectCoversOnce(AddCall(b, {}, {5, 7}, {5, 7}));
  ExpectCoversOnce(AddCall(b, {2, 8, 2, 4}, {8, 1, 1}, {2, 8, 2, 4}));
  ExpectCoversOnce(AddCall(DType::kInt64, {2, 1, 3, 1, 2}, {3, 3, 1, 2}, {2, 3, 3, 3, 2}));
  ExpectCoversOnce(
      CallOf({Strided(b, m, {-16, 1}), Strided(b, m, {1, 6}), TensorDesc::Contiguous(b, m)}, {1}));
  ExpectCoversOnce(
      CallOf({Strided(b, m, {1, 6}), Strided(b, m, {1, 6}), Strided(b, m, {1, 6})}, {1}));
  ExpectCoversOnce(
      CallOf({Strided(b, m, {0, -1}), TensorDesc::Contiguous(b, m), Strided(b, m, {24, 1})}, {1}));
  ExpectCoversOnce(CallOf(
      {Strided(b, {2, 3, 2, 3, 2, 2}, {200, 60, 25, 8, 3, 1}),
       TensorDesc::Contiguous(b, {3, 2, 1, 2, 1}), TensorDesc::Contiguous(b, {2, 3, 2, 3, 2, 2})},
      {1}));
}

ElementwisePlan PlanOf(std::string_view op, const CallDesc& call) {
  ElementwiseProblem problem;
  const Dims& shape = call.operands.back().desc.shape;
  const int output = static_cast<int>(call.operands.size()) - 1;
  problem.shape = shape;
  problem.views.push_back(BroadcastView(call, output, shape));
  for (int i = 0; i < output; ++i) problem.views.push_back(BroadcastView(call, i, shape));
  EXPECT_EQ(op, "AddFwdOp");
  return PlanElementwise(problem);
}

TEST(ElementwiseRecipe, CollapsesTheChannelBroadcastToVectorsWithAScalar) {
  const CallDesc call = AddCall(DType::kFloat16, {16, 256, 56, 56}, {256, 1, 1}, {16, 256, 56, 56});
  const ElementwisePlan plan = PlanOf("AddFwdOp", call);
  ASSERT_THAT(plan.dims, SizeIs(3));
  EXPECT_EQ(plan.dims[0].extent, 3136);
  EXPECT_EQ(plan.dims[1].extent, 256);
  EXPECT_EQ(plan.dims[2].extent, 16);
  EXPECT_THAT(plan.dims[0].strides, ElementsAre(1, 1, 0));
  EXPECT_THAT(plan.dims[1].strides, ElementsAre(3136, 3136, 1));
  EXPECT_EQ(plan.vector, 32);
  EXPECT_EQ(plan.scalar_mask, 0b10);
}

TEST(ElementwiseRecipe, NarrowsVectorsToTheAlignment) {
  CallDesc call = AddCall(DType::kBFloat16, {1000}, {1000}, {1000});
  EXPECT_EQ(PlanOf("AddFwdOp", call).vector, 32);
  call.operands[1].alignment = 4;
  EXPECT_EQ(PlanOf("AddFwdOp", call).vector, 2);
  call.operands[1].alignment = 2;
  EXPECT_EQ(PlanOf("AddFwdOp", call).vector, 1);
  EXPECT_EQ(PlanOf("AddFwdOp", AddCall(DType::kFloat32, {5, 46}, {46}, {5, 46})).vector, 2);
  EXPECT_EQ(PlanOf("AddFwdOp", AddCall(DType::kFloat32, {5, 47}, {47}, {5, 47})).vector, 1);
}

TEST(ElementwiseRecipe, SiluReadsBothHalvesOfARow) {
  const auto recipe = MakeBuiltinRecipe("SiluAndMulFwdOp");
  const CallDesc call = SiluAndMulCall(DType::kBFloat16, 4, 24);
  const Variant* variant = recipe->variants()[0];
  const auto bound = variant->Bind(call, variant->Default(call, H200()), H200());
  ASSERT_TRUE(bound.ok()) << bound.status();
  const auto& pointers = bound->launches[0].pointers;
  ASSERT_THAT(pointers, SizeIs(3));
  EXPECT_EQ(pointers[0].operand, 1);
  EXPECT_EQ(pointers[1].operand, 0);
  EXPECT_EQ(pointers[1].byte_offset, 0);
  EXPECT_EQ(pointers[2].operand, 0);
  EXPECT_EQ(pointers[2].byte_offset, 24 * 2);
  EXPECT_EQ(recipe->Describe(call)[2], 8);
  EXPECT_EQ(recipe->Describe(SiluAndMulCall(DType::kBFloat16, 4, 4))[2], 4);
  EXPECT_EQ(recipe->Describe(SiluAndMulCall(DType::kBFloat16, 4, 3))[2], 1);
}

TEST(ElementwiseRecipe, SizesPastTwoToThe31AreWideAndEmptyOnesLaunchNothing) {
  const auto recipe = MakeBuiltinRecipe("AddFwdOp");
  const Variant* variant = recipe->variants()[0];
  const Dims huge = {3, int64_t{1} << 30};
  const CallDesc call = AddCall(DType::kFloat16, huge, huge, huge);
  const auto bound = variant->Bind(call, variant->Default(call, H200()), H200());
  ASSERT_TRUE(bound.ok()) << bound.status();
  EXPECT_EQ(bound->launches[0].grid[0], (3u << 30) / 8 / 256);
  EXPECT_EQ(recipe->Describe(call)[4], 1);
  const CallDesc empty = AddCall(DType::kFloat16, {0, 4}, {4}, {0, 4});
  const auto nothing = variant->Bind(empty, variant->Default(empty, H200()), H200());
  ASSERT_TRUE(nothing.ok()) << nothing.status();
  EXPECT_TRUE(nothing->launches.empty());
}

// Guards: a grid of more CTAs than there can be is refused, not cut to 32 bits.
TEST(ElementwiseRecipe, GridsBeyondTheLimitAreRefused) {
  const auto recipe = MakeBuiltinRecipe("AddFwdOp");
  const Dims huge = {int64_t{1} << 23, int64_t{1} << 21};
  const CallDesc call = AddCall(DType::kFloat16, huge, huge, huge);
  for (const Variant* variant : recipe->variants()) {
    const absl::Status status =
        variant->Bind(call, variant->Default(call, H200()), H200()).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << variant->name();
    EXPECT_THAT(std::string(status.message()),
                ::testing::HasSubstr("output of 17592186044416 elements needs"));
  }
}

// One for those that are too few for the SMs, and one for the rest.
TEST(ElementwiseRecipe, ThousandSizesShareTwoKernels) {
  const auto recipe = MakeBuiltinRecipe("AddFwdOp");
  std::set<std::string> sources;
  for (int64_t m = 1; m <= 1000; ++m) {
    const Dims shape = {m, 4096};
    for (const std::string& source :
         DefaultSources(*recipe, AddCall(DType::kBFloat16, shape, shape, shape), H200())) {
      sources.insert(source);
    }
  }
  EXPECT_THAT(sources, SizeIs(2));
}

TEST(ElementwiseRecipe, RefusesArchitecturesBefore80) {
  DeviceProfile old = H200();
  old.arch = "sm_75";
  old.compute_major = 7;
  old.compute_minor = 5;
  const auto recipe = MakeBuiltinRecipe("AddFwdOp");
  const absl::Status status =
      recipe->variants()[0]->Serves(AddCall(DType::kFloat32, {4}, {4}, {4}), old);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("sm_75"));
}

}  // namespace
}  // namespace tilewright
