// Guards that every element of a row operator's output is written once, from the right input and
// column elements, whatever the layout: by walking the bound parameters as the kernels do.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "kernel_templates/row/row_recipe.h"
#include "tests/kernel_templates/bound_launch.h"
#include "tests/kernel_templates/memory_bound_cases.h"

namespace tilewright {
namespace {

// Byte offsets of an element's input and column by that of its output.
using Touched = std::map<int64_t, std::pair<int64_t, int64_t>>;

void Put(Touched& touched, int64_t output, int64_t input, int64_t column) {
  EXPECT_TRUE(touched.emplace(output, std::pair(input, column)).second) << "twice: " << output;
}

Touched WalkStreamed(const Launch& launch) {
  const auto p = ParamsOf<StridedRowParams>(launch);
  Touched touched;
  for (int64_t row = 0; row < p.rows; ++row) {
    const FastDivmod<true>* extent = p.extent + p.inner_rank;
    const int64_t in = OffsetAt(row, p.row_rank, extent, p.input_stride + p.inner_rank);
    const int64_t out = OffsetAt(row, p.row_rank, extent, p.output_stride + p.inner_rank);
    for (int64_t i = 0; i < p.length; ++i) {
      Put(touched, out + OffsetAt(i, p.inner_rank, p.extent, p.output_stride),
          in + OffsetAt(i, p.inner_rank, p.extent, p.input_stride),
          OffsetAt(i, p.inner_rank, p.extent, p.column_stride[0]));
    }
  }
  return touched;
}

Touched WalkResident(const Launch& launch, int64_t size) {
  const auto p = ParamsOf<RowParams>(launch);
  Touched touched;
  for (int64_t row = 0; row < p.rows; ++row) {
    const int64_t in = OffsetAt(row, p.row_rank, p.extent, p.input_stride);
    const int64_t out = OffsetAt(row, p.row_rank, p.extent, p.output_stride);
    for (int64_t i = 0; i < p.length; ++i) Put(touched, out + i * size, in + i * size, i * size);
  }
  return touched;
}

Touched WalkColumns(const Launch& launch, int64_t vector, int64_t size) {
  const auto p = ParamsOf<ColumnParams>(launch);
  Touched touched;
  for (int64_t outer = 0; outer < p.outer; ++outer) {
    for (int64_t row = 0; row < p.length; ++row) {
      for (int64_t i = 0; i < p.inner * vector; ++i) {
        Put(touched, outer * p.output_outer_stride + row * p.output_stride + i * size,
            outer * p.input_outer_stride + row * p.input_stride + i * size, 0);
      }
    }
  }
  return touched;
}

// As the copy engine cuts its maps into boxes: what lies outside is left out.
Touched WalkTiles(const Launch& launch, int64_t size) {
  const auto p = ParamsOf<ColumnRingParams>(launch);
  const TensorMapSlot& in = launch.tensor_maps[0];
  const TensorMapSlot& out = launch.tensor_maps[1];
  EXPECT_EQ(in.dims, out.dims);
  EXPECT_EQ(in.box, out.box);
  EXPECT_GE(in.box[1], in.dims[1]);
  Touched touched;
  for (int64_t tile = 0; tile < p.tiles; ++tile) {
    unsigned outer = 0;
    unsigned inner = 0;
    p.inner_tiles(static_cast<unsigned>(tile), &outer, &inner);
    for (uint64_t x = uint64_t{inner} * in.box[0]; x < (inner + 1ULL) * in.box[0] && x < in.dims[0];
         ++x) {
      for (uint64_t row = 0; row < in.dims[1]; ++row) {
        const auto offset = [&](const TensorMapSlot& map) {
          return static_cast<int64_t>(x) * size +
                 static_cast<int64_t>(row * map.strides_bytes[0] + outer * map.strides_bytes[1]);
        };
        Put(touched, offset(out), offset(in), 0);
      }
    }
  }
  return touched;
}

int64_t OffsetAt(const TensorDesc& desc, const Dims& at, int first_axis) {
  int64_t offset = 0;
  for (int axis = 0; axis < desc.rank(); ++axis) {
    offset += at[first_axis + axis] * desc.strides[axis];
  }
  return offset * DTypeSize(desc.dtype);
}

Touched Expected(const CallDesc& call) {
  const TensorDesc& x = call.operands.front().desc;
  const TensorDesc& y = call.operands.back().desc;
  Touched expected;
  for (int64_t linear = 0; linear < x.elements(); ++linear) {
    Dims at = x.shape;
    int64_t rest = linear;
    for (int axis = x.rank() - 1; axis >= 0; --axis) {
      at[axis] = rest % x.shape[axis];
      rest /= x.shape[axis];
    }
    int64_t column = 0;
    if (call.operands.size() == 3) {
      const TensorDesc& weight = call.operands[1].desc;
      column = OffsetAt(weight, at, x.rank() - weight.rank());
    }
    expected[OffsetAt(y, at, 0)] = {OffsetAt(x, at, 0), column};
  }
  return expected;
}

class Layouts {
 public:
  explicit Layouts(unsigned seed) : random_(seed) {}
  int64_t Below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }

  // Axes in any order, padded, some reversed; and where `input`, some that do not move.
  TensorDesc View(DType dtype, const Dims& shape, bool input) {
    TensorDesc desc = TensorDesc::Contiguous(dtype, shape);
    if (Below(3) == 0) return desc;
    std::vector<int> order;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) order.push_back(axis);
    if (Below(2) == 0) std::shuffle(order.begin(), order.end(), random_);
    int64_t stride = Below(4) == 0 ? 2 : 1;
    for (const int axis : order) {
      desc.strides[axis] = Below(8) == 0 ? -stride : stride;
      stride *= shape[axis] + (Below(3) == 0 ? 8 : 0);
      if (input && Below(8) == 0) desc.strides[axis] = 0;
    }
    return desc;
  }
  Dims Shape() {
    Dims shape;
    for (int64_t rank = 1 + Below(4); rank > 0; --rank) {
      constexpr int64_t kExtents[] = {1, 2, 3, 5, 8};
      shape.push_back(kExtents[Below(5)]);
    }
    return shape;
  }
  CallDesc Softmax() {
    const Dims shape = Shape();
    const DType dtype = Below(2) == 0 ? DType::kFloat32 : DType::kBFloat16;
    return CallOf({View(dtype, shape, true), View(dtype, shape, false)}, {Below(shape.rank())});
  }
  CallDesc RmsNorm() {
    const Dims shape = Shape();
    Dims row;
    for (int64_t axis = Below(shape.rank()); axis < shape.rank(); ++axis) {
      row.push_back(shape[static_cast<int>(axis)]);
    }
    const DType dtype = DType::kFloat16;
    return CallOf({View(dtype, shape, true), View(dtype, row, true), View(dtype, shape, false)},
                  {row, 1e-6});
  }

 private:
  std::mt19937 random_;
};

void ExpectCoversOnce(std::string_view op, const CallDesc& call, std::map<std::string, int>& seen) {
  const auto recipe = MakeBuiltinRecipe(op);
  const int64_t size = DTypeSize(call.operands.front().desc.dtype);
  const Touched expected = Expected(call);
  for (const Variant* variant : recipe->variants()) {
    if (!variant->Serves(call, H200()).ok()) continue;
    const Config config = variant->Default(call, H200());
    ASSERT_TRUE(variant->Legal(call, config, H200()).ok()) << variant->name();
    const auto bound = variant->Bind(call, config, H200());
    ASSERT_TRUE(bound.ok()) << bound.status();
    ASSERT_EQ(bound->launches.size(), 1u);
    const Launch& launch = bound->launches[0];
    ++seen[std::string(variant->name())];
    Touched touched;
    if (variant->name() == "portable") touched = WalkStreamed(launch);
    if (variant->name() == "resident") touched = WalkResident(launch, size);
    if (variant->name() == "columns") {
      touched = WalkColumns(launch, config.Get("vector_bytes") / size, size);
    }
    if (variant->name() == "column_ring") touched = WalkTiles(launch, size);
    if (op == "SoftmaxFwdOp") {
      for (auto& [output, from] : touched) from.second = 0;
    }
    ASSERT_EQ(touched, expected) << variant->name() << " x "
                                 << call.operands.front().desc.shape.ToString() << " by "
                                 << call.operands.front().desc.strides.ToString() << " y by "
                                 << call.operands.back().desc.strides.ToString();
  }
}

TEST(RowWalk, RandomLayoutsAreCoveredOnce) {
  std::map<std::string, int> seen;
  for (unsigned seed = 0; seed < 500; ++seed) {
    Layouts layouts(seed);
    ExpectCoversOnce("SoftmaxFwdOp", layouts.Softmax(), seen);
    ExpectCoversOnce("RMSNormFwdOp", layouts.RmsNorm(), seen);
    if (HasFatalFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_EQ(seen["portable"], 1000);
  EXPECT_GT(seen["resident"], 100);
  EXPECT_GT(seen["columns"], 10);
  EXPECT_GT(seen["column_ring"], 0);
}

}  // namespace
}  // namespace tilewright
