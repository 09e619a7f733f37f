// Guards the pooling recipe: which variant serves what, legal defaults, access widths, geometry of
// large outputs, and that shapes share kernels.
#include "kernel_templates/pool/pool_recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "manifest/edge_cases.h"
#include "tests/kernel_templates/bound_launch.h"
#include "tests/kernel_templates/memory_bound_cases.h"

namespace tilewright {
namespace {

constexpr DType kHalf = DType::kFloat16;

CallDesc MaxPool(DType dtype, const Dims& input, const Dims& output, const Dims& kernel,
                 const Dims& stride, const Dims& padding = {0}, const Dims& dilation = {1}) {
  return CallOf({TensorDesc::Contiguous(dtype, input), TensorDesc::Contiguous(dtype, output)},
                {kernel, stride, padding, dilation, false});
}

std::string Chosen(std::string_view op, const CallDesc& call) {
  const auto recipe = MakeBuiltinRecipe(op);
  const auto variant = SelectVariant(*recipe, call, H200());
  return variant.ok() ? std::string((*variant)->name()) : std::string(variant.status().message());
}

TEST(PoolRecipe, ChoosesTheVariantByWindowAndLayout) {
  EXPECT_EQ(Chosen("MaxPool2dFwdOp", MaxPool(kHalf, {2, 3, 8, 8}, {2, 3, 4, 4}, {2}, {2})),
            "strips");
  EXPECT_EQ(Chosen("MaxPool1dFwdOp", MaxPool(kHalf, {2, 3, 128}, {2, 3, 1}, {128}, {1})),
            "windows");
  EXPECT_EQ(Chosen("MaxPool2dFwdOp", MaxPool(kHalf, {2, 3, 40, 8}, {2, 3, 1, 4}, {40, 2}, {2})),
            "windows");
  CallDesc transposed = MaxPool(kHalf, {2, 3, 8, 8}, {2, 3, 4, 4}, {2}, {2});
  transposed.operands[0].desc.strides = {192, 64, 1, 8};
  EXPECT_EQ(Chosen("MaxPool2dFwdOp", transposed), "windows");
  const CallDesc adaptive = CallOf(
      {TensorDesc::Contiguous(kHalf, {2, 3, 8, 8}), TensorDesc::Contiguous(kHalf, {2, 3, 4, 4})},
      {Dims{4, 4}});
  EXPECT_EQ(Chosen("AdaptiveMaxPool2dFwdOp", adaptive), "windows");
}

TEST(PoolRecipe, AccessWidthsFollowExtentsStridesAndAlignment) {
  const PoolOperator op = {"PoolMax"};
  PoolProblem plan = PlanPool(op, MaxPool(kHalf, {2, 3, 8, 24}, {2, 3, 4, 12}, {2}, {2}));
  EXPECT_EQ(plan.vector, 8);
  EXPECT_EQ(plan.store, 4);
  EXPECT_TRUE(plan.dense_width);
  plan = PlanPool(op, MaxPool(kHalf, {2, 3, 7, 7}, {2, 3, 3, 3}, {2}, {2}));
  EXPECT_EQ(plan.vector, 1);
  EXPECT_EQ(plan.store, 1);
  CallDesc call = MaxPool(DType::kFloat32, {2, 3, 8, 24}, {2, 3, 4, 12}, {2}, {2});
  call.operands[0].alignment = 8;
  EXPECT_EQ(PlanPool(op, call).vector, 2);
  call.operands[0].desc.strides = {int64_t{8} * 24 * 3, int64_t{8} * 24, 27,
                                   1};  // rows three elements apart
  EXPECT_EQ(PlanPool(op, call).vector, 1);
  call.operands[0].desc.strides = {1, int64_t{8} * 24 * 2, 48, 2};
  EXPECT_FALSE(PlanPool(op, call).dense_width);
}

TEST(PoolRecipe, AxesAreInnermostFirst) {
  const PoolOperator op = {"PoolMax"};
  const PoolProblem plan = PlanPool(op, MaxPool(kHalf, {5, 3, 8, 9, 24}, {5, 3, 4, 7, 5}, {2, 3, 4},
                                                {2, 1, 5}, {0, 0, 2}, {1, 1, 3}));
  EXPECT_EQ(plan.axes[0].input, 24);
  EXPECT_EQ(plan.axes[0].kernel, 4);
  EXPECT_EQ(plan.axes[0].stride, 5);
  EXPECT_EQ(plan.axes[0].padding, 2);
  EXPECT_EQ(plan.axes[0].dilation, 3);
  EXPECT_EQ(plan.axes[2].input, 8);
  EXPECT_EQ(plan.axes[2].output, 4);
  EXPECT_EQ(plan.axes[2].kernel, 2);
  EXPECT_EQ(plan.spatial, 3);
  EXPECT_TRUE(plan.one_plane_dim);
  EXPECT_EQ(plan.channels, 15);
  EXPECT_EQ(plan.batch, 1);
  EXPECT_EQ(plan.outputs(), 5 * 3 * 4 * 7 * 5);
}

// Guards: batch and channels are one dim only where every operand strides evenly through them.
TEST(PoolRecipe, PlanesMergeWhereAllStridesAllow) {
  const PoolOperator op = {"PoolMax"};
  CallDesc call = MaxPool(kHalf, {5, 3, 8, 8}, {5, 3, 4, 4}, {2}, {2});
  call.operands[1].desc.strides[0] = 100;
  const PoolProblem plan = PlanPool(op, call);
  EXPECT_FALSE(plan.one_plane_dim);
  EXPECT_EQ(plan.channels, 3);
  EXPECT_EQ(plan.batch, 5);
  EXPECT_EQ(plan.outputs(), 5 * 3 * 16);
}

// Guards: a window of the whole plane is one row of it, where rows lie side by side.
TEST(PoolRecipe, WholePlanesAreOneAxis) {
  const PoolOperator op = {"PoolMax"};
  CallDesc call = MaxPool(kHalf, {5, 3, 7, 9}, {5, 3, 1, 1}, {7, 9}, {1});
  PoolProblem plan = PlanPool(op, call);
  EXPECT_EQ(plan.spatial, 1);
  EXPECT_EQ(plan.axes[0].input, 63);
  EXPECT_EQ(plan.axes[0].kernel, 63);
  EXPECT_EQ(plan.axes[1].input, 1);
  call.operands[0].desc.strides[2] = 12;
  plan = PlanPool(op, call);
  EXPECT_EQ(plan.spatial, 2);
  EXPECT_EQ(plan.axes[1].kernel, 7);
}

// Guards: planes that windows share are read once for several of them; each slab is a thread's.
TEST(PoolRecipe, SlabsServeWindowsThatSharePlanes) {
  const auto pool = [](int64_t kernel, int64_t stride, int64_t planes) {
    return MaxPool(kHalf, {2, 3, 9, 16, 32}, {2, 3, planes, 8, 16}, {kernel, 2, 2}, {stride, 2, 2});
  };
  EXPECT_EQ(Chosen("MaxPool3dFwdOp", pool(3, 2, 4)), "slabs");
  EXPECT_EQ(Chosen("MaxPool3dFwdOp", pool(3, 1, 7)), "slabs");
  EXPECT_EQ(Chosen("MaxPool3dFwdOp", pool(2, 2, 4)), "strips");
  const auto recipe = MakeBuiltinRecipe("MaxPool3dFwdOp");
  const Variant* slabs = FindVariant(*recipe, "slabs");
  const CallDesc call = pool(3, 1, 7);
  Config config = slabs->Default(call, H200());
  EXPECT_EQ(config.Get("depth"), 2);
  config.values[0].second = 4;  // outputs: four strips a row
  const auto bound = slabs->Bind(call, config, H200());
  ASSERT_TRUE(bound.ok()) << bound.status();
  const auto p = ParamsOf<PoolParams<false>>(bound->launches[0]);
  EXPECT_EQ(p.count, 4u * 8 * 4 * 2 * 3);  // strips, rows, pairs of planes, channels of samples
  EXPECT_EQ(p.extent[2].divisor, 4u);
  EXPECT_EQ(p.outputs[2].divisor, 7u);
}

// Guards: outputs that cannot be stored together are gathered over the warp.
TEST(PoolRecipe, GathersWhereStoresAreNarrow) {
  const auto recipe = MakeBuiltinRecipe("MaxPool1dFwdOp");
  const Variant* strips = FindVariant(*recipe, "strips");
  const CallDesc odd = MaxPool(kHalf, {32, 80, 4096}, {32, 80, 1365}, {3}, {3});
  EXPECT_EQ(strips->Default(odd, H200()).Get("gather"), 1);
  const CallDesc even = MaxPool(kHalf, {32, 80, 4096}, {32, 80, 2048}, {2}, {2});
  EXPECT_EQ(strips->Default(even, H200()).Get("gather"), 0);
}

// The largest adaptive window decides the lanes.
TEST(PoolRecipe, AdaptiveWindowsHoldTheLargest) {
  const PoolOperator op = {"PoolAverage", true, false, true};
  const auto largest = [&](int64_t input, int64_t output) {
    return PlanPool(op, CallOf({TensorDesc::Contiguous(kHalf, {1, 1, input, 2}),
                                TensorDesc::Contiguous(kHalf, {1, 1, output, 2})},
                               {Dims{output, 2}}))
        .axes[1]
        .kernel;
  };
  for (int64_t input = 1; input <= 40; ++input) {
    for (int64_t output = 1; output <= 50; ++output) {
      int64_t most = 0;
      for (int64_t o = 0; o < output; ++o) {
        most = std::max(most, ((o + 1) * input + output - 1) / output - o * input / output);
      }
      EXPECT_GE(largest(input, output), most) << input << " " << output;
      EXPECT_LE(largest(input, output), most + 1) << input << " " << output;
    }
  }
}

TEST(PoolRecipe, DefaultsAreLegalOnEveryDevice) {
  const std::vector<CallDesc> calls = {
      MaxPool(kHalf, {2, 3, 8, 8}, {2, 3, 4, 4}, {2}, {2}),
      MaxPool(DType::kFloat32, {2, 3, 64, 4096}, {2, 3, 21, 1365}, {3}, {3}),
      MaxPool(kHalf, {2, 64, 112, 112}, {2, 64, 56, 56}, {3}, {2}, {1}),
      MaxPool(kHalf, {64, 256, 128}, {64, 256, 1}, {128}, {1}),
      MaxPool(kHalf, {1, 1, 60, 60, 60}, {1, 1, 1, 1, 1}, {60}, {1})};
  const auto recipe = MakeBuiltinRecipe("MaxPool2dFwdOp");
  for (const DeviceProfile& device : BuiltinDeviceProfiles()) {
    for (const CallDesc& call : calls) {
      for (const Variant* variant : recipe->variants()) {
        if (!variant->Serves(call, device).ok()) continue;
        const Config config = variant->Default(call, device);
        EXPECT_EQ(variant->Legal(call, config, device), absl::OkStatus())
            << device.name << " " << config.ToJson();
        EXPECT_TRUE(variant->Bind(call, config, device).ok());
      }
    }
  }
}

TEST(PoolRecipe, BatchSizesShareKernels) {
  const auto recipe = MakeBuiltinRecipe("MaxPool2dFwdOp");
  std::set<std::string> sources;
  for (int64_t n = 1; n <= 500; ++n) {
    const CallDesc call = MaxPool(kHalf, {n, 64, 112, 112}, {n, 64, 56, 56}, {3}, {2}, {1});
    for (const std::string& source : DefaultSources(*recipe, call, H200())) sources.insert(source);
  }
  EXPECT_LE(sources.size(), 4u);  // three classes of outputs, and more than 32 bits count
}

// Guards: what a config makes of a problem follows from its fields, so that calls that share a plan
// share its kernels: over edge cases of every kind, equal fields give equal defaults and kernels.
TEST(PoolRecipe, FieldsDecideDefaultsAndKernels) {
  for (std::string_view name : {"MaxPool1dFwdOp", "MaxPool2dIndicesFwdOp", "AvgPool3dFwdOp",
                                "AdaptiveMaxPool2dFwdOp", "CumsumFwdOp"}) {
    const OpSpec& op = *Manifest::FindBuiltin(name);
    const auto recipe = MakeBuiltinRecipe(name);
    std::map<std::vector<int64_t>, std::string> seen;
    for (const Workload& edge : BuiltinEdgeCases(name)) {
      const auto call = WorkloadCall(op, edge, kHalf);
      ASSERT_TRUE(call.ok()) << call.status();
      const ProblemFields fields = recipe->Describe(*call);
      std::string made;
      for (const Variant* variant : recipe->variants()) {
        if (!variant->Serves(*call, H200()).ok()) continue;
        const Config config = variant->Default(*call, H200());
        made += config.ToJson();
        for (const KernelSpec& spec : variant->Kernels(*call, config)) made += spec.Source();
      }
      const auto [place, added] = seen.emplace(std::vector(fields.begin(), fields.end()), made);
      EXPECT_EQ(place->second, made) << name << " " << edge.label;
    }
    EXPECT_GT(seen.size(), 5u) << name;
  }
}

// Guards: 2^33 outputs need 64-bit counts and get a grid that covers them.
TEST(PoolRecipe, CountsBeyond32Bits) {
  const int64_t planes = int64_t{1} << 17;
  const CallDesc call = MaxPool(kHalf, {planes, 1, 512, 256}, {planes, 1, 256, 128}, {2}, {2});
  const auto recipe = MakeBuiltinRecipe("MaxPool2dFwdOp");
  const Variant* strips = FindVariant(*recipe, "strips");
  ASSERT_TRUE(strips->Serves(call, H200()).ok());
  const Config config = strips->Default(call, H200());
  const auto bound = strips->Bind(call, config, H200());
  ASSERT_TRUE(bound.ok()) << bound.status();
  const Launch& launch = bound->launches[0];
  const auto p = ParamsOf<PoolParams<true>>(launch);
  EXPECT_EQ(p.count, static_cast<unsigned long long>(planes) * 256 * 128 / config.Get("outputs"));
  EXPECT_GE(uint64_t{launch.grid[0]} * launch.block[0], p.count);
  EXPECT_EQ(p.input_stride[4], 512 * 256 * 2);
  EXPECT_LE(launch.params.size(), 512u);
}

// Guards: the bounds of adaptive windows are products of positions and windows, which 32 bits may
// not hold though they hold both.
TEST(PoolRecipe, AdaptiveBoundsBeyond32Bits) {
  const auto recipe = MakeBuiltinRecipe("AdaptiveAvgPool2dFwdOp");
  const auto field = std::find_if(recipe->fields().begin(), recipe->fields().end(),
                                  [](const ProblemField& each) { return each.name == "wide"; });
  ASSERT_NE(field, recipe->fields().end());
  const auto wide = [&](int64_t input, int64_t output) {
    const CallDesc call = CallOf({TensorDesc::Contiguous(kHalf, {1, 1, 2, input}),
                                  TensorDesc::Contiguous(kHalf, {1, 1, 2, output})},
                                 {Dims{2, output}});
    return recipe->Describe(call)[static_cast<size_t>(field - recipe->fields().begin())];
  };
  EXPECT_EQ(wide(1 << 20, 1 << 10), 0);
  EXPECT_EQ(wide(1 << 20, 1 << 11), 1);  // 2^20 * (2^11 + 1)
}

TEST(PoolRecipe, EmptyBatchLaunchesNothing) {
  const auto recipe = MakeBuiltinRecipe("MaxPool2dFwdOp");
  const CallDesc call = MaxPool(kHalf, {0, 3, 8, 8}, {0, 3, 4, 4}, {2}, {2});
  for (const Variant* variant : recipe->variants()) {
    const auto bound = variant->Bind(call, variant->Default(call, H200()), H200());
    ASSERT_TRUE(bound.ok()) << bound.status();
    EXPECT_TRUE(bound->launches.empty());
  }
}

// Guards: fields() names what Describe() returns, and equal fields give equal kernels.
TEST(PoolRecipe, SameFieldsGiveTheSameKernels) {
  const auto recipe = MakeBuiltinRecipe("MaxPool2dFwdOp");
  const CallDesc a = MaxPool(kHalf, {30, 64, 112, 112}, {30, 64, 56, 56}, {3}, {2}, {1});
  const CallDesc b = MaxPool(kHalf, {32, 60, 112, 112}, {32, 60, 56, 56}, {3, 3}, {2, 2}, {1, 1});
  ASSERT_EQ(recipe->Describe(a), recipe->Describe(b));
  ASSERT_EQ(recipe->Describe(a).size(), recipe->fields().size());
  for (const Variant* variant : recipe->variants()) {
    const Config config = variant->Default(a, H200());
    EXPECT_EQ(config, variant->Default(b, H200()));
    EXPECT_EQ(variant->Kernels(a, config)[0].Source(), variant->Kernels(b, config)[0].Source());
  }
}

}  // namespace
}  // namespace tilewright
