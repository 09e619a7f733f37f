// Guards the row recipes: layouts, legal defaults on every device, geometry, and how few kernels
// many shapes need.
#include "kernel_templates/row/row_recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/kernel_templates/bound_launch.h"
#include "tests/kernel_templates/memory_bound_cases.h"

namespace tilewright {
namespace {

using ::testing::SizeIs;

size_t CountKernels(std::string_view op, const std::vector<CallDesc>& calls,
                    const DeviceProfile& device) {
  const auto recipe = MakeBuiltinRecipe(op);
  std::set<std::string> sources;
  for (const CallDesc& call : calls) {
    const std::vector<std::string> needed = DefaultSources(*recipe, call, device);
    EXPECT_THAT(needed, SizeIs(1));
    sources.insert(needed.begin(), needed.end());
  }
  return sources.size();
}

TEST(RowRecipe, ThousandBatchSizesNeedAtMostEightKernels) {
  for (int64_t length : {64, 4096, 16384, 32768}) {
    std::vector<CallDesc> calls;
    for (int64_t m = 1; m <= 1000; ++m) {
      calls.push_back(RmsNormCall(DType::kBFloat16, m * 7, length));
    }
    EXPECT_LE(CountKernels("RMSNormFwdOp", calls, H200()), 8) << length;
  }
}

TEST(RowRecipe, FiveThousandLengthsNeedAtMost24Kernels) {
  std::vector<CallDesc> rms;
  std::vector<CallDesc> softmax;
  for (int64_t i = 1; i <= 5000; ++i) {
    const int64_t length = i <= 2500 ? i : (i - 2500) * 100;  // up to 250,000
    rms.push_back(RmsNormCall(DType::kBFloat16, 2048, length));
    softmax.push_back(SoftmaxCall(DType::kFloat32, {8, length}, 1));
  }
  EXPECT_LE(CountKernels("RMSNormFwdOp", rms, H200()), 24);
  EXPECT_LE(CountKernels("SoftmaxFwdOp", softmax, H200()), 24);
}

TEST(RowRecipe, DefaultsAreLegalOnEveryDevice) {
  for (const DeviceProfile& device : BuiltinDeviceProfiles()) {
    for (std::string_view op : {"RMSNormFwdOp", "SoftmaxFwdOp"}) {
      const auto recipe = MakeBuiltinRecipe(op);
      for (DType dtype : {DType::kFloat16, DType::kFloat32}) {
        for (int64_t rows : {1, 3, 33, 265, 5000}) {
          for (int64_t length :
               {1, 8, 255, 256, 4095, 4096, 16384, 40000, 131072, 262144, 262145}) {
            const CallDesc call = op == "SoftmaxFwdOp" ? SoftmaxCall(dtype, {rows, length}, 1)
                                                       : RmsNormCall(dtype, rows, length);
            const auto variant = SelectVariant(*recipe, call, device);
            ASSERT_TRUE(variant.ok()) << variant.status();
            const Config config = (*variant)->Default(call, device);
            EXPECT_EQ((*variant)->Legal(call, config, device), absl::OkStatus())
                << device.name << " " << rows << "x" << length << " " << config.ToJson();
            const auto bound = (*variant)->Bind(call, config, device);
            ASSERT_TRUE(bound.ok());
            EXPECT_LE(bound->launches[0].block[0], 1024u);
            EXPECT_LE(bound->launches[0].params.size(), 512u);
          }
        }
      }
    }
  }
}

TEST(RowRecipe, EveryLegalConfigHoldsTheWholeRow) {
  const auto recipe = MakeBuiltinRecipe("SoftmaxFwdOp");
  const Variant* variant = recipe->variants()[0];
  int legal = 0;
  for (int64_t length : {1, 4, 46, 4096, 32768, 102400}) {
    const CallDesc call = SoftmaxCall(DType::kBFloat16, {40, length}, 1);
    const TuningSpace space = variant->Space(call, H200());
    for (int64_t i = 0; i < space.size(); ++i) {
      const Config config = space.At(i);
      if (!variant->Legal(call, config, H200()).ok()) continue;
      ++legal;
      int64_t held = 1;
      const std::vector<KernelSpec> kernels = variant->Kernels(call, config);
      for (const auto& [name, value] : kernels[0].constants) {
        if (name == "int kThreads" || name == "int kPackets" || name == "int kVector" ||
            name == "int kCluster") {
          held *= std::stoll(value);
        }
      }
      EXPECT_GE(held, length) << config.ToJson();
      const auto bound = variant->Bind(call, config, H200());
      ASSERT_TRUE(bound.ok());
      const Launch& launch = bound->launches[0];
      const int64_t cluster = config.Get("cluster");
      EXPECT_EQ(launch.cluster[0], cluster);
      EXPECT_EQ(launch.grid[0] % cluster, 0);
      EXPECT_GE(launch.grid[0] / cluster * config.Get("rows"), 40);
    }
  }
  EXPECT_GT(legal, 100);
}

TEST(RowRecipe, SameFieldsAndConfigGiveTheSameKernels) {
  const auto recipe = MakeBuiltinRecipe("RMSNormFwdOp");
  const CallDesc a = RmsNormCall(DType::kBFloat16, 300, 4000);
  const CallDesc b = RmsNormCall(DType::kBFloat16, 2000, 4096);
  ASSERT_EQ(recipe->Describe(a), recipe->Describe(b));
  ASSERT_EQ(recipe->Describe(a).size(), recipe->fields().size());
  for (const Variant* variant : recipe->variants()) {
    const Config config = variant->Default(a, H200());
    EXPECT_EQ(config, variant->Default(b, H200()));
    EXPECT_EQ(variant->Kernels(a, config)[0].Source(), variant->Kernels(b, config)[0].Source());
  }
}

TEST(RowRecipe, ChoosesTheVariantByLayout) {
  const auto recipe = MakeBuiltinRecipe("SoftmaxFwdOp");
  const auto chosen = [&](const CallDesc& call) {
    return std::string((*SelectVariant(*recipe, call, H200()))->name());
  };
  const DType f = DType::kFloat32;
  EXPECT_EQ(chosen(SoftmaxCall(f, {6, 128}, 1)), "resident");
  EXPECT_EQ(chosen(SoftmaxCall(f, {6, 128, 1}, 1)), "resident");
  EXPECT_EQ(chosen(SoftmaxCall(f, {6, 128, 8}, 1)), "columns");
  EXPECT_EQ(chosen(SoftmaxCall(f, {128, 8}, 0)), "columns");
  EXPECT_EQ(chosen(SoftmaxCall(f, {4, 400000}, 1)), "portable");
  const TensorDesc transposed{f, {64, 96}, {1, 64}};
  EXPECT_EQ(chosen(CallOf({transposed, transposed}, {0})), "resident");
  EXPECT_EQ(chosen(CallOf({transposed, TensorDesc::Contiguous(f, {64, 96})}, {1})), "portable");
}

TEST(RowRecipe, UnalignedRowsUseSingleElements) {
  const auto recipe = MakeBuiltinRecipe("RMSNormFwdOp");
  EXPECT_EQ(recipe->Describe(RmsNormCall(DType::kBFloat16, 9, 512))[3], 8);
  EXPECT_EQ(recipe->Describe(RmsNormCall(DType::kBFloat16, 9, 46))[3], 1);
  CallDesc call = RmsNormCall(DType::kBFloat16, 9, 512);
  call.operands[1].alignment = 2;
  EXPECT_EQ(recipe->Describe(call)[3], 1);
}

TEST(RowRecipe, BindsStridesEpsilonAndPointers) {
  const auto recipe = MakeBuiltinRecipe("RMSNormFwdOp");
  const DType b = DType::kBFloat16;
  const CallDesc call =
      CallOf({TensorDesc{b, {4, 3, 64}, {1000, 64, 1}}, TensorDesc::Contiguous(b, {64}),
              TensorDesc::Contiguous(b, {4, 3, 64})},
             {Dims{64}, ParamValue()});
  const Variant* variant = recipe->variants()[0];
  const auto bound = variant->Bind(call, variant->Default(call, H200()), H200());
  ASSERT_TRUE(bound.ok()) << bound.status();
  const Launch& launch = bound->launches[0];
  const auto p = ParamsOf<RowParams>(launch);
  EXPECT_EQ(p.rows, 12);
  EXPECT_EQ(p.length, 64u);
  EXPECT_EQ(p.row_rank, 2);
  EXPECT_EQ(p.extent[0].divisor, 3u);
  EXPECT_EQ(p.input_stride[0], 128);
  EXPECT_EQ(p.input_stride[1], 2000);
  EXPECT_EQ(p.output_stride[1], 384);
  EXPECT_EQ(p.scalars[0], 0x1p-23f);
  ASSERT_EQ(launch.pointers.size(), 3u);
  EXPECT_EQ(launch.pointers[0].operand, 0);
  EXPECT_EQ(launch.pointers[1].operand, 2);
  EXPECT_EQ(launch.pointers[2].operand, 1);
}

TEST(RowRecipe, EmptyRowsLaunchNothing) {
  const auto recipe = MakeBuiltinRecipe("RMSNormFwdOp");
  for (const Variant* variant : recipe->variants()) {
    const CallDesc call = RmsNormCall(DType::kFloat16, 0, 64);
    const auto bound = variant->Bind(call, variant->Default(call, H200()), H200());
    ASSERT_TRUE(bound.ok()) << bound.status();
    EXPECT_TRUE(bound->launches.empty());
  }
}

}  // namespace
}  // namespace tilewright
