// Guards the norm recipes: that every element of a norm is read and written once, with the columns
// of its channel, by walking the bound parameters as the kernels do; variants, defaults and how few
// kernels many shapes need.
#include "kernel_templates/row/norm_recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/kernel_templates/bound_launch.h"
#include "tests/kernel_templates/memory_bound_cases.h"

namespace tilewright {
namespace {

// By output byte offset: that of the input, and of the channel's column.
using Touched = std::map<int64_t, std::pair<int64_t, int64_t>>;

CallDesc GroupNormCall(const TensorDesc& x, int64_t groups) {
  const TensorDesc channel = TensorDesc::Contiguous(x.dtype, {x.shape[1]});
  return CallOf({x, channel, channel, TensorDesc::Contiguous(x.dtype, x.shape)}, {groups, 1e-5});
}
CallDesc BatchNormCall(const TensorDesc& x, bool training) {
  const TensorDesc channel = TensorDesc::Contiguous(DType::kFloat32, {x.shape[1]});
  return CallOf({x, channel, channel, channel, channel, TensorDesc::Contiguous(x.dtype, x.shape)},
                {training, 0.1, 1e-5});
}
CallDesc LayerNormCall(DType dtype, int64_t rows, int64_t length) {
  const TensorDesc x = TensorDesc::Contiguous(dtype, {rows, length});
  const TensorDesc column = TensorDesc::Contiguous(dtype, {length});
  return CallOf({x, column, column, x}, {Dims{length}, 1e-5});
}

// As NormRow and ChannelApplyKernel number packets and channels.
Touched Walk(const Launch& launch, int64_t vector, int64_t size, bool row_is_channel) {
  const auto p = ParamsOf<NormParams>(launch);
  Touched touched;
  const int64_t runs = p.packets / static_cast<int64_t>(p.run.divisor);
  for (int64_t row = 0; row < p.rows; ++row) {
    const FastDivmod<true>* extent = p.extent + p.inner_rank;
    const int64_t in = OffsetAt(row, p.row_rank, extent, p.input_stride[0] + p.inner_rank);
    const int64_t out = OffsetAt(row, p.row_rank, extent, p.output_stride[0] + p.inner_rank);
    for (int64_t packet = 0; packet < p.packets; ++packet) {
      unsigned long long run = 0;
      unsigned long long rest = 0;
      p.run(static_cast<unsigned long long>(packet), &run, &rest);
      const int64_t channel =
          row_is_channel ? row : row % p.channel_rows * runs + static_cast<int64_t>(run);
      for (int64_t i = 0; i < vector; ++i) {
        const int64_t to =
            out + OffsetAt(packet, p.inner_rank, p.extent, p.output_stride[0]) + i * size;
        const int64_t from =
            in + OffsetAt(packet, p.inner_rank, p.extent, p.input_stride[0]) + i * size;
        EXPECT_TRUE(touched.emplace(to, std::pair(from, channel * p.column_stride[0])).second);
      }
    }
  }
  return touched;
}

Touched Expected(const CallDesc& call, int output) {
  const TensorDesc& x = call.operands[0].desc;
  const TensorDesc& y = call.operands[static_cast<size_t>(output)].desc;
  const int64_t column = DTypeSize(call.operands[1].desc.dtype);
  Touched touched;
  for (int64_t i = 0; i < x.elements(); ++i) {
    int64_t rest = i;
    int64_t in = 0;
    int64_t out = 0;
    int64_t channel = 0;
    for (int axis = x.rank() - 1; axis >= 0; --axis) {
      const int64_t at = rest % x.shape[axis];
      rest /= x.shape[axis];
      in += at * x.strides[axis];
      out += at * y.strides[axis];
      if (axis == 1) channel = at;
    }
    touched[out * DTypeSize(y.dtype)] = {in * DTypeSize(x.dtype), channel * column};
  }
  return touched;
}

int64_t VectorOf(const KernelSpec& spec) {
  for (const auto& [declaration, value] : spec.constants) {
    if (declaration == "int kVector") return std::stoll(value);
  }
  return 1;
}

const std::vector<TensorDesc>& Images() {
  static const std::vector<TensorDesc>& images =
      *new std::vector<TensorDesc>{TensorDesc::Contiguous(DType::kFloat16, {2, 6, 16}),
                                   TensorDesc::Contiguous(DType::kFloat16, {1, 12, 3, 5}),
                                   TensorDesc::Contiguous(DType::kFloat16, {3, 4}),
                                   TensorDesc{DType::kFloat16, {2, 4, 3, 8}, {200, 50, 16, 2}},
                                   TensorDesc{DType::kFloat16, {2, 4, 8}, {1, 2, 8}}};
  return images;
}

TEST(NormRecipe, GroupsReachTheirChannels) {
  const auto recipe = MakeBuiltinRecipe("GroupNormFwdOp");
  for (const TensorDesc& x : Images()) {
    for (const int64_t groups : {1, 2, 4}) {
      if (x.shape[1] % groups != 0) continue;
      const CallDesc call = GroupNormCall(x, groups);
      for (const Variant* variant : recipe->variants()) {
        if (!variant->Serves(call, H200()).ok()) continue;
        const Config config = variant->Default(call, H200());
        const auto bound = variant->Bind(call, config, H200());
        ASSERT_TRUE(bound.ok()) << bound.status();
        const int64_t vector = VectorOf(variant->Kernels(call, config)[0]);
        EXPECT_TRUE(Walk(bound->launches[0], vector, 2, false) == Expected(call, 3))
            << variant->name() << " " << x.shape.ToString() << " groups " << groups;
      }
    }
  }
}

TEST(NormRecipe, ChannelsOfABatchAreWhole) {
  const auto recipe = MakeBuiltinRecipe("BatchNormFwdOp");
  for (const TensorDesc& x : Images()) {
    for (const bool training : {true, false}) {
      const CallDesc call = BatchNormCall(x, training);
      for (const Variant* variant : recipe->variants()) {
        if (!variant->Serves(call, H200()).ok()) continue;
        const Config config = variant->Default(call, H200());
        const auto bound = variant->Bind(call, config, H200());
        ASSERT_TRUE(bound.ok()) << bound.status();
        const std::vector<KernelSpec> kernels = variant->Kernels(call, config);
        ASSERT_EQ(bound->launches.size(), kernels.size());
        EXPECT_TRUE(Walk(bound->launches.back(), VectorOf(kernels.back()), 2, true) ==
                    Expected(call, 5))
            << variant->name() << " " << x.shape.ToString() << training;
      }
    }
  }
}

// Guards what training leaves behind: variances are unbiased, statistics lie a float apart.
TEST(NormRecipe, StatisticsOfABatch) {
  const auto recipe = MakeBuiltinRecipe("BatchNormFwdOp");
  CallDesc call = BatchNormCall(TensorDesc::Contiguous(DType::kFloat16, {4, 8, 5, 5}), true);
  call.operands[2].desc.strides = {3};  // the running variances
  for (const Variant* variant : recipe->variants()) {
    if (!variant->Serves(call, H200()).ok()) continue;
    const auto bound = variant->Bind(call, variant->Default(call, H200()), H200());
    ASSERT_TRUE(bound.ok()) << bound.status();
    const auto p = ParamsOf<NormParams>(bound->launches.back());
    EXPECT_EQ(p.count, 100) << variant->name();
    EXPECT_EQ(p.unbias, 100.0f / 99) << variant->name();
    EXPECT_EQ(p.column_stride[3], 4) << variant->name();
    EXPECT_EQ(p.column_stride[4], 12) << variant->name();
  }
}

// Guards passes over long rows: each split of each row has a block, and the splits are the row.
TEST(NormRecipe, PassesCoverTheirRows) {
  const auto recipe = MakeBuiltinRecipe("BatchNormFwdOp");
  const Variant* passes = FindVariant(*recipe, "passes");
  for (const bool training : {true, false}) {
    const CallDesc call =
        BatchNormCall(TensorDesc::Contiguous(DType::kFloat16, {32, 63, 56, 56}), training);
    const auto bound = passes->Bind(call, passes->Default(call, H200()), H200());
    ASSERT_TRUE(bound.ok()) << bound.status();
    EXPECT_EQ(bound->launches.size(), training ? 3u : 1u);
    for (const Launch& launch : bound->launches) {
      const auto p = ParamsOf<NormParams>(launch);
      const bool finishes = training && launch.kernel == 1;
      EXPECT_EQ(launch.grid[0], p.rows * (finishes ? 1 : p.splits)) << launch.kernel;
      EXPECT_GE(p.split_packets * p.splits, p.packets) << launch.kernel;
      EXPECT_LT(p.split_packets * (p.splits - 1), p.packets) << launch.kernel;
    }
  }
}

TEST(NormRecipe, ChoosesTheVariant) {
  const auto chosen = [&](std::string_view op, const CallDesc& call) {
    const auto recipe = MakeBuiltinRecipe(op);
    return std::string((*SelectVariant(*recipe, call, H200()))->name());
  };
  const DType h = DType::kFloat16;
  EXPECT_EQ(chosen("LayerNormFwdOp", LayerNormCall(h, 2048, 16384)), "resident");
  EXPECT_EQ(chosen("LayerNormFwdOp", LayerNormCall(h, 2, 600000)), "portable");
  const TensorDesc small = TensorDesc::Contiguous(h, {8, 64, 32, 32});
  const TensorDesc large = TensorDesc::Contiguous(h, {4, 128, 1024, 1024});
  EXPECT_EQ(chosen("BatchNormFwdOp", BatchNormCall(small, true)), "resident");
  EXPECT_EQ(chosen("BatchNormFwdOp", BatchNormCall(small, false)), "passes");
  EXPECT_EQ(chosen("BatchNormFwdOp", BatchNormCall(large, true)), "passes");
  EXPECT_EQ(chosen("GroupNormFwdOp", GroupNormCall(small, 32)), "resident");
}

TEST(NormRecipe, DefaultsAreLegalOnEveryDevice) {
  for (const OpSpec& op : Manifest::BuiltinOps()) {
    if (op.family != "normalization") continue;
    const auto recipe = MakeBuiltinRecipe(op.name);
    ASSERT_NE(recipe, nullptr) << op.name;
    for (const DeviceProfile& device : BuiltinDeviceProfiles()) {
      for (const Workload& workload : op.workloads) {
        for (const DType dtype : op.inputs[0].dtypes) {
          const auto call = WorkloadCall(op, workload, dtype);
          ASSERT_TRUE(call.ok()) << call.status();
          const auto variant = SelectVariant(*recipe, *call, device);
          ASSERT_TRUE(variant.ok()) << variant.status();
          for (const Variant* v : {*variant, recipe->variants().back()}) {
            const Config config = v->Default(*call, device);
            EXPECT_EQ(v->Legal(*call, config, device), absl::OkStatus())
                << op.name << " " << device.name << " " << workload.label << " " << config.ToJson();
            EXPECT_TRUE(v->Bind(*call, config, device).ok());
          }
        }
      }
    }
  }
}

// Guards: rings fit the device and walk every row; columns of channels, and devices without the
// copy engine, have none.
TEST(NormRecipe, RingsFitTheDevice) {
  const auto rings = [](std::string_view op, const CallDesc& call, const DeviceProfile& device) {
    const auto recipe = MakeBuiltinRecipe(op);
    const Variant* variant = recipe->variants()[0];
    const TuningSpace space = variant->Space(call, device);
    int count = 0;
    for (int64_t i = 0; i < space.size(); ++i) {
      const Config config = space.At(i);
      if (config.Get("stages") == 0 || !variant->Legal(call, config, device).ok()) continue;
      ++count;
      const auto bound = variant->Bind(call, config, device);
      EXPECT_TRUE(bound.ok()) << bound.status();
      const Launch& launch = bound->launches[0];
      const int64_t per_sm = config.Get("per_sm");
      EXPECT_GE(launch.dynamic_smem_bytes, config.Get("stages") * 5000 * 2) << config.ToJson();
      EXPECT_LE(per_sm * launch.dynamic_smem_bytes, device.smem_per_sm_bytes) << config.ToJson();
      EXPECT_LE(launch.grid[0], per_sm * device.sm_count) << config.ToJson();
    }
    return count;
  };
  const CallDesc rows = LayerNormCall(DType::kFloat16, 5000, 5000);
  EXPECT_GT(rings("LayerNormFwdOp", rows, H200()), 10);
  EXPECT_EQ(rings("LayerNormFwdOp", rows, *BuiltinDeviceProfile("sm_80")), 0);
  const TensorDesc image = TensorDesc::Contiguous(DType::kFloat16, {8, 64, 80, 80});
  EXPECT_EQ(rings("GroupNormFwdOp", GroupNormCall(image, 64), H200()), 0);
}

// Guards: counts are taken as known only of rows that fill their bucket, which are problems of
// their own, so that no other row is served by what was tuned for them.
TEST(NormRecipe, WholeRowsAreOfTheirOwn) {
  const auto recipe = MakeBuiltinRecipe("LayerNormFwdOp");
  const Variant& variant = *recipe->variants()[0];
  const CallDesc whole = LayerNormCall(DType::kFloat16, 2048, 16384);
  const CallDesc part = LayerNormCall(DType::kFloat16, 2048, 16384 - 8);
  const Config config = variant.Default(whole, H200());
  EXPECT_EQ(config.Get("whole"), 1) << config.ToJson();
  EXPECT_TRUE(variant.Legal(whole, config, H200()).ok());
  EXPECT_FALSE(variant.Legal(part, config, H200()).ok());
  EXPECT_EQ(variant.Default(part, H200()).Get("whole"), 0);
  EXPECT_NE(recipe->Describe(whole), recipe->Describe(part));
  const TensorDesc image = TensorDesc::Contiguous(DType::kFloat16, {2048, 64, 16, 16});
  EXPECT_EQ(variant.Default(GroupNormCall(image, 1), H200()).Get("whole"), 0);
}

TEST(NormRecipe, FiveThousandLengthsNeedAtMost24Kernels) {
  const auto recipe = MakeBuiltinRecipe("LayerNormFwdOp");
  std::set<std::string> sources;
  for (int64_t i = 1; i <= 5000; ++i) {
    const int64_t length = i <= 2500 ? i : (i - 2500) * 100;
    for (const std::string& source :
         DefaultSources(*recipe, LayerNormCall(DType::kFloat32, 512, length), H200())) {
      sources.insert(source);
    }
  }
  EXPECT_LE(sources.size(), 24u);
}

}  // namespace
}  // namespace tilewright
