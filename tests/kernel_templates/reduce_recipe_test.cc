// Guards the reduction recipes: layouts, legal defaults on every device, how few kernels many
// shapes need, and that every element reaches its result once: by walking the bound parameters as
// the kernels do.
#include "kernel_templates/row/reduce_recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/kernel_templates/bound_launch.h"
#include "tests/kernel_templates/memory_bound_cases.h"

namespace tilewright {
namespace {

// Input byte offsets by output byte offset.
using Reached = std::map<int64_t, std::multiset<int64_t>>;

CallDesc ReduceCall(const TensorDesc& x, const Dims& axes, bool keepdim) {
  Dims shape;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const bool reduced = std::find(axes.begin(), axes.end(), axis) != axes.end();
    if (!reduced) shape.push_back(x.shape[axis]);
    if (reduced && keepdim) shape.push_back(1);
  }
  return CallOf({x, TensorDesc::Contiguous(x.dtype, shape)}, {axes, keepdim});
}
CallDesc ReduceCall(DType dtype, const Dims& shape, const Dims& axes) {
  return ReduceCall(TensorDesc::Contiguous(dtype, shape), axes, false);
}

Reached WalkRows(const BoundCall& bound, const KernelSpec& spec, int64_t size) {
  const auto p = ParamsOf<RowReduceParams>(bound.launches[0]);
  // Where results are written: by the second stage where there is one.
  const auto last = ParamsOf<RowReduceParams>(bound.launches.back());
  const int64_t vector = ConstantOf(spec, "int kVector");
  const bool dense = ConstantOf(spec, "bool kDense") != 0;
  Reached reached;
  for (int64_t row = 0; row < p.rows; ++row) {
    const int64_t out =
        OffsetAt(row, last.row_rank, last.extent + last.inner_rank, last.output_stride[0]);
    const int64_t start =
        OffsetAt(row, p.row_rank, p.extent + p.inner_rank, p.input_stride + p.inner_rank);
    for (int64_t split = 0; split < p.splits; ++split) {
      const int64_t end = std::min<int64_t>(p.packets, (split + 1) * p.split_packets);
      for (int64_t packet = split * p.split_packets; packet < end; ++packet) {
        const int64_t at = dense ? packet * vector * size
                                 : OffsetAt(packet, p.inner_rank, p.extent, p.input_stride);
        for (int64_t i = 0; i < vector; ++i) reached[out].insert(start + at + i * size);
      }
    }
  }
  return reached;
}

Reached WalkColumns(const BoundCall& bound, const KernelSpec& spec, int64_t size) {
  const auto p = ParamsOf<ColumnReduceParams>(bound.launches[0]);
  const int64_t vector = ConstantOf(spec, "int kVector");
  EXPECT_EQ(bound.launches[0].grid[1], static_cast<uint32_t>(p.splits));
  Reached reached;
  for (int64_t outer = 0; outer < p.outer; ++outer) {
    for (int64_t column = 0; column < p.inner * vector; ++column) {
      int64_t out = column * p.inner_output_stride[0] +
                    OffsetAt(outer, p.outer_rank, p.extent + p.axis_rank, p.output_stride[0]);
      if (bound.launches.size() > 1) {
        const auto last = ParamsOf<RowReduceParams>(bound.launches[1]);
        out = OffsetAt(outer * p.inner * vector + column, last.row_rank, last.extent,
                       last.output_stride[0]);
      }
      const int64_t start = column * size + OffsetAt(outer, p.outer_rank, p.extent + p.axis_rank,
                                                     p.input_stride + p.axis_rank);
      for (int64_t split = 0; split < p.splits; ++split) {
        const int64_t end = std::min<int64_t>(p.length, (split + 1) * p.split_length);
        for (int64_t at = split * p.split_length; at < end; ++at) {
          reached[out].insert(start + OffsetAt(at, p.axis_rank, p.extent, p.input_stride));
        }
      }
    }
  }
  return reached;
}

// What should be reached, from the definition.
Reached Expected(const CallDesc& call, const Dims& axes, bool keepdim) {
  const TensorDesc& x = call.operands[0].desc;
  const TensorDesc& y = call.operands[1].desc;
  Reached reached;
  for (int64_t i = 0; i < x.elements(); ++i) {
    int64_t rest = i;
    int64_t in = 0;
    int64_t out = 0;
    int out_axis = y.rank() - 1;
    for (int axis = x.rank() - 1; axis >= 0; --axis) {
      const int64_t at = rest % x.shape[axis];
      rest /= x.shape[axis];
      in += at * x.strides[axis];
      const bool reduced = std::find(axes.begin(), axes.end(), axis) != axes.end();
      if (!reduced) out += at * y.strides[out_axis];
      if (!reduced || keepdim) --out_axis;
    }
    reached[out * DTypeSize(y.dtype)].insert(in * DTypeSize(x.dtype));
  }
  return reached;
}

TEST(ReduceRecipe, EveryElementReachesItsResultOnce) {
  const auto recipe = MakeBuiltinRecipe("SumFwdOp");
  const DType h = DType::kFloat16;
  struct Case {
    TensorDesc x;
    Dims axes;
  };
  const std::vector<Case> cases = {
      {TensorDesc::Contiguous(h, {5, 67}), {1}},
      {TensorDesc::Contiguous(h, {67, 5}), {0}},
      {TensorDesc::Contiguous(h, {40, 64}), {0}},
      {TensorDesc::Contiguous(h, {4, 6, 32}), {0, 2}},
      {TensorDesc::Contiguous(h, {4, 6, 32}), {1}},
      {TensorDesc::Contiguous(h, {4, 6, 32}), {0, 1, 2}},
      {TensorDesc::Contiguous(h, {2, 3, 2, 5, 3, 2, 3, 2}), {0, 2, 4, 6}},
      {TensorDesc::Contiguous(h, {2, 3, 2, 5, 3, 2, 3, 2}), {1, 3, 5, 7}},
      {TensorDesc::Contiguous(h, {600, 48}), {0}},
      {TensorDesc::Contiguous(h, {2, 20000}), {1}},
      {TensorDesc{h, {6, 8, 10}, {200, 20, 2}}, {1}},
      {TensorDesc{h, {8, 32}, {1, 8}}, {0}},
      {TensorDesc{h, {8, 32}, {1, 8}}, {1}},
      {TensorDesc{h, {4, 16}, {0, 1}}, {0}},
  };
  for (const Case& c : cases) {
    for (const bool keepdim : {false, true}) {
      const CallDesc call = ReduceCall(c.x, c.axes, keepdim);
      const Reached expected = Expected(call, c.axes, keepdim);
      for (const Variant* variant : recipe->variants()) {
        if (!variant->Serves(call, H200()).ok()) continue;
        Config config = variant->Default(call, H200());
        for (const int64_t split : {0, 1}) {
          for (auto& [name, value] : config.values) {
            if (name == "split") value = split;
          }
          if (config.Get("cluster", 1) > 1 && split == 1) continue;
          const auto bound = variant->Bind(call, config, H200());
          ASSERT_TRUE(bound.ok()) << bound.status();
          const KernelSpec spec = variant->Kernels(call, config)[0];
          EXPECT_EQ(bound->launches.size(), split + 1);
          EXPECT_EQ(bound->workspace_bytes > 0, split == 1);
          const Reached reached = variant->name() == "columns" ? WalkColumns(*bound, spec, 2)
                                                               : WalkRows(*bound, spec, 2);
          EXPECT_TRUE(reached == expected) << variant->name() << " " << c.x.shape.ToString() << " "
                                           << c.axes.ToString() << " split " << split;
        }
      }
    }
  }
}

TEST(ReduceRecipe, ChoosesTheVariantByLayout) {
  const auto recipe = MakeBuiltinRecipe("SumFwdOp");
  const auto chosen = [&](const CallDesc& call) {
    return std::string((*SelectVariant(*recipe, call, H200()))->name());
  };
  const DType f = DType::kFloat32;
  EXPECT_EQ(chosen(ReduceCall(f, {8, 64}, {1})), "rows");
  EXPECT_EQ(chosen(ReduceCall(f, {8, 64}, {0})), "columns");
  EXPECT_EQ(chosen(ReduceCall(f, {4, 8, 64}, {0, 2})), "rows");
  EXPECT_EQ(chosen(ReduceCall(f, {4, 8, 64}, {0, 1})), "columns");
  EXPECT_EQ(chosen(ReduceCall(f, {64, 7}, {0})), "portable");
  EXPECT_EQ(chosen(ReduceCall(f, {4, 8}, {0, 1})), "rows");
  EXPECT_EQ(chosen(ReduceCall(TensorDesc{f, {64, 96}, {1, 64}}, {0}, false)), "rows");
}

TEST(ReduceRecipe, DefaultsAreLegalOnEveryDevice) {
  for (std::string_view op : {"SumFwdOp", "VarMeanFwdOp", "ArgmaxFwdOp", "AnyFwdOp"}) {
    const auto recipe = MakeBuiltinRecipe(op);
    for (const DeviceProfile& device : BuiltinDeviceProfiles()) {
      for (int64_t rows : {1, 3, 33, 265, 5000}) {
        for (int64_t length : {1, 8, 255, 4096, 40000, 262145, 8388608}) {
          for (int axis : {0, 1}) {
            const Dims shape = axis == 1 ? Dims{rows, length} : Dims{length, rows};
            CallDesc call = ReduceCall(DType::kBFloat16, shape, {axis});
            if (op == "ArgmaxFwdOp") call.params[0] = axis;
            if (op == "VarMeanFwdOp") {
              call.operands.push_back(call.operands[1]);
              call.params.insert(call.params.begin() + 1, ParamValue(1));
            }
            const auto variant = SelectVariant(*recipe, call, device);
            ASSERT_TRUE(variant.ok()) << variant.status();
            for (const Variant* v : {*variant, recipe->variants().back()}) {
              const Config config = v->Default(call, device);
              EXPECT_EQ(v->Legal(call, config, device), absl::OkStatus())
                  << device.name << " " << shape.ToString() << " " << config.ToJson();
              const auto bound = v->Bind(call, config, device);
              ASSERT_TRUE(bound.ok());
              EXPECT_LE(bound->launches[0].block[0], 1024u);
              EXPECT_LE(bound->launches[0].grid[1], 65535u);
            }
          }
        }
      }
    }
  }
}

TEST(ReduceRecipe, FiveThousandLengthsNeedAtMost24Kernels) {
  const auto recipe = MakeBuiltinRecipe("SumFwdOp");
  std::set<std::string> sources;
  for (int64_t i = 1; i <= 5000; ++i) {
    const int64_t length = i <= 2500 ? i : (i - 2500) * 100;
    for (const std::string& source :
         DefaultSources(*recipe, ReduceCall(DType::kFloat32, {512, length}, {1}), H200())) {
      sources.insert(source);
    }
  }
  EXPECT_LE(sources.size(), 24u);
}

TEST(ReduceRecipe, NothingToWriteLaunchesNothing) {
  const auto recipe = MakeBuiltinRecipe("SumFwdOp");
  for (const Variant* variant : recipe->variants()) {
    const CallDesc call = ReduceCall(DType::kFloat16, {0, 64}, {1});
    const auto bound = variant->Bind(call, variant->Default(call, H200()), H200());
    ASSERT_TRUE(bound.ok()) << bound.status();
    EXPECT_TRUE(bound->launches.empty());
  }
  // Sums of nothing are written.
  const CallDesc call = ReduceCall(DType::kFloat16, {64, 0}, {1});
  const Variant* rows = *SelectVariant(*recipe, call, H200());
  const auto bound = rows->Bind(call, rows->Default(call, H200()), H200());
  ASSERT_TRUE(bound.ok()) << bound.status();
  EXPECT_FALSE(bound->launches.empty());
}

}  // namespace
}  // namespace tilewright
