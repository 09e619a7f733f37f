// Tensors that reach past 2^31 elements, on a GPU: zeros with a few marks, looked at where an
// index or an offset of 32 bits would have gone elsewhere. Up to 15 GB of device memory.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "manifest/reference.h"
#include "tests/runtime/gpu_fixture.h"

namespace tilewright {
namespace {

constexpr DType kBf16 = DType::kBFloat16;
constexpr DType kHalf = DType::kFloat16;
constexpr int64_t kTwo31 = int64_t{1} << 31;
constexpr uint64_t kNeededBytes = uint64_t{20} << 30;

using Place = std::vector<int64_t>;

class LargeOffsetsGpuTest : public GpuFixture {
 protected:
  void SetUp() override {
    GpuFixture::SetUp();
    if (!Ready()) return;
    const auto memory = driver_->Memory();
    ASSERT_TRUE(memory.ok()) << memory.status();
    if (memory->free_bytes < kNeededBytes) {
      GTEST_SKIP() << memory->free_bytes << " bytes of device memory are free, needed are "
                   << kNeededBytes;
    }
  }
  void TearDown() override {
    for (void* memory : allocated_) EXPECT_TRUE(driver_->Free(memory).ok());
    GpuFixture::TearDown();
  }

  // A tensor of zeros; of all ones in every bit if `poisoned`. Strides: dense if none are given.
  Tensor Make(DType dtype, const Dims& shape, const Dims& strides = {}, bool poisoned = false) {
    Tensor tensor = Tensor::Contiguous(nullptr, dtype, shape);
    if (strides.rank() > 0) tensor.desc.strides = strides;
    int64_t elements = 1;
    for (int d = 0; d < shape.rank(); ++d) elements += (shape[d] - 1) * tensor.desc.strides[d];
    const auto bytes = static_cast<size_t>(elements * DTypeSize(dtype));
    const auto memory = driver_->Alloc(bytes);
    EXPECT_TRUE(memory.ok()) << memory.status();
    if (!memory.ok()) return tensor;
    allocated_.push_back(*memory);
    EXPECT_TRUE(driver_->Fill8(*memory, poisoned ? 0xff : 0, bytes, stream_).ok());
    tensor.data = *memory;
    return tensor;
  }
  Tensor Output(DType dtype, const Dims& shape) { return Make(dtype, shape, {}, true); }

  static std::byte* AddressOf(const Tensor& tensor, const Place& at) {
    int64_t offset = 0;
    for (size_t d = 0; d < at.size(); ++d) {
      offset += at[d] * tensor.desc.strides[static_cast<int>(d)];
    }
    return static_cast<std::byte*>(tensor.data) + offset * DTypeSize(tensor.desc.dtype);
  }
  void Put(const Tensor& tensor, const Place& at, double value) {
    std::byte bytes[8];
    StoreFromDouble(bytes, tensor.desc.dtype, 0, value);
    const auto size = static_cast<size_t>(DTypeSize(tensor.desc.dtype));
    ASSERT_TRUE(driver_->CopyToDevice(AddressOf(tensor, at), bytes, size, stream_).ok());
    ASSERT_TRUE(driver_->SynchronizeStream(stream_).ok());
  }
  double At(const Tensor& tensor, const Place& at) {
    std::byte bytes[8];
    const auto size = static_cast<size_t>(DTypeSize(tensor.desc.dtype));
    EXPECT_TRUE(driver_->CopyToHost(bytes, AddressOf(tensor, at), size, stream_).ok());
    EXPECT_TRUE(driver_->SynchronizeStream(stream_).ok());
    return LoadAsDouble(bytes, tensor.desc.dtype, 0);
  }
  void Call(std::string_view op, const std::vector<Tensor>& inputs,
            const std::vector<Tensor>& outputs, const std::vector<NamedParam>& params = {}) {
    CallOptions options;
    options.stream = stream_;
    const absl::Status status = runtime_->Call(op, inputs, outputs, params, options);
    ASSERT_TRUE(status.ok()) << status;
    const absl::Status done = driver_->SynchronizeStream(stream_);
    ASSERT_TRUE(done.ok()) << op << ": " << done;
  }

  std::vector<void*> allocated_;
};

// Few elements, far apart: rows of both operands begin past 2^31 elements from the first.
TEST_F(LargeOffsetsGpuTest, StridedUnary) {
  const Dims far = {kTwo31 + 64, 1};
  const Tensor x = Make(kBf16, {2, 1024}, far);
  const Tensor y = Make(kBf16, {2, 1024}, far, /*poisoned=*/true);
  Put(x, {1, 5}, 7);
  Put(x, {0, 69}, 3);  // where a 32-bit offset of (1, 5) would look
  Call("NegFwdOp", {x}, {y});
  EXPECT_EQ(At(y, {1, 5}), -7);
  EXPECT_EQ(At(y, {0, 69}), -3);
  EXPECT_EQ(At(y, {1, 69}), 0);
  EXPECT_EQ(At(y, {0, 5}), 0);
}

TEST_F(LargeOffsetsGpuTest, DenseUnaryOfAnotherType) {
  constexpr int64_t kCount = kTwo31 + 4099;
  const Tensor x = Make(DType::kInt8, {kCount});
  const Tensor y = Output(DType::kBool, {kCount});
  for (int64_t at : {int64_t{0}, kTwo31 - 1, kTwo31 + 1, kCount - 1}) Put(x, {at}, -3);
  Call("LogicalNotFwdOp", {x}, {y});
  for (int64_t at : {int64_t{0}, kTwo31 - 1, kTwo31 + 1, kCount - 1}) EXPECT_EQ(At(y, {at}), 0);
  for (int64_t at : {int64_t{1}, kTwo31 - 2, kTwo31, kCount - 2}) EXPECT_EQ(At(y, {at}), 1) << at;
}

TEST_F(LargeOffsetsGpuTest, BroadcastUnary) {
  constexpr int64_t kRows = 65537, kColumns = 32784;
  Tensor x = Make(kBf16, {1, kColumns});
  Put(x, {0, 7}, NAN);
  Put(x, {0, kColumns - 1}, NAN);
  x.desc.shape = {kRows, kColumns};
  x.desc.strides = {0, 1};
  const Tensor y = Output(DType::kBool, {kRows, kColumns});
  Call("IsnanFwdOp", {x}, {y});
  for (int64_t row : {int64_t{0}, int64_t{65500}, kRows - 1}) {
    EXPECT_EQ(At(y, {row, 7}), 1) << row;
    EXPECT_EQ(At(y, {row, 8}), 0) << row;
    EXPECT_EQ(At(y, {row, kColumns - 1}), 1) << row;
  }
}

// A count that 32 bits do not hold, of a tensor as a whole and of each row of a broadcast view.
TEST_F(LargeOffsetsGpuTest, CountBeyond32Bits) {
  constexpr int64_t kCount = 2 * kTwo31 + 4099;
  const Tensor x = Make(DType::kBool, {kCount}, {}, /*poisoned=*/true);
  for (int64_t at : {int64_t{5}, kTwo31, kCount - 1}) Put(x, {at}, 0);
  const Tensor y = Output(DType::kInt64, {});
  Call("CountNonzeroFwdOp", {x}, {y});
  EXPECT_EQ(At(y, {}), kCount - 3);

  constexpr int64_t kRows = 2 * kTwo31 / 4096 + 1;
  Tensor row = Make(DType::kBool, {2, 4096}, {}, /*poisoned=*/true);
  Put(row, {1, 7}, 0);
  row.desc.shape = {2, kRows, 4096};
  row.desc.strides = {4096, 0, 1};
  const Tensor counts = Output(DType::kInt64, {2});
  Call("CountNonzeroFwdOp", {row}, {counts}, {{"dim", Dims{1, 2}}});
  EXPECT_EQ(At(counts, {0}), kRows * 4096);
  EXPECT_EQ(At(counts, {1}), kRows * 4095);
}

TEST_F(LargeOffsetsGpuTest, Ternary) {
  constexpr int64_t kCount = kTwo31 + 4099;
  const Tensor condition = Make(DType::kBool, {kCount});
  const Tensor a = Make(kHalf, {kCount});
  const Tensor b = Make(kHalf, {kCount});
  const Tensor y = Output(kHalf, {kCount});
  for (int64_t at : {int64_t{2}, kTwo31 + 2, kCount - 1}) {
    Put(condition, {at}, 1);
    Put(a, {at}, 4);
    Put(b, {at}, 5);
    Put(b, {at - 1}, 6);
  }
  Call("WhereFwdOp", {condition, a, b}, {y});
  for (int64_t at : {int64_t{2}, kTwo31 + 2, kCount - 1}) {
    EXPECT_EQ(At(y, {at}), 4) << at;
    EXPECT_EQ(At(y, {at - 1}), 6) << at;
    EXPECT_EQ(At(y, {at - 2}), 0) << at;
  }
}

TEST_F(LargeOffsetsGpuTest, GatedActivation) {
  constexpr int64_t kRows = 131073, kHidden = 16392;
  const Tensor x = Make(kBf16, {kRows, 2 * kHidden});
  const Tensor y = Output(kBf16, {kRows, kHidden});
  for (int64_t row : {int64_t{1}, kRows - 1}) {
    Put(x, {row, 3}, 1);
    Put(x, {row, kHidden + 3}, 2);
  }
  Call("SiluAndMulFwdOp", {x}, {y});
  for (int64_t row : {int64_t{1}, kRows - 1}) {
    EXPECT_NEAR(At(y, {row, 3}), 2 / (1 + std::exp(-1.0)), 0.006);
    EXPECT_EQ(At(y, {row, 4}), 0);
  }
}

TEST_F(LargeOffsetsGpuTest, GeneratedOutputs) {
  constexpr int64_t kLength = 46344;  // its square is past 2^31
  const Tensor bias = Output(kHalf, {1, kLength, kLength});
  Call("AlibiFwdOp", {}, {bias}, {{"seq_len", kLength}, {"num_heads", 1}});
  EXPECT_EQ(At(bias, {0, kLength - 1, kLength - 1}), 0);
  EXPECT_EQ(At(bias, {0, kLength - 1, kLength - 257}), -1);  // its slope is 2^-8
  EXPECT_EQ(At(bias, {0, 512, 0}), -2);
  constexpr int64_t kPositions = (1 << 20) + 8, kWidth = 2048;
  const Tensor waves = Output(kHalf, {kPositions, kWidth});
  Call("SinusoidalFwdOp", {}, {waves}, {{"seq_len", kPositions}, {"d_model", kWidth}});
  for (int64_t position : {int64_t{3}, kPositions - 1}) {
    EXPECT_NEAR(At(waves, {position, 0}), std::sin(static_cast<double>(position)), 1e-3);
    EXPECT_NEAR(At(waves, {position, 1}), std::cos(static_cast<double>(position)), 1e-3);
  }
}

TEST_F(LargeOffsetsGpuTest, Rotation) {
  constexpr int64_t kTokens = 524320, kHeads = 32, kColumns = 128;
  const double turn = std::pow(10000.0, -3 / 64.0);
  const Tensor x = Make(kBf16, {1, kTokens, kHeads, kColumns});
  const Tensor y = Output(kBf16, {1, kTokens, kHeads, kColumns});
  for (int64_t token : {int64_t{9}, kTokens - 1}) Put(x, {0, token, kHeads - 1, 3}, 1);
  Call("RopeNeoxFwdOp", {x}, {y});
  for (int64_t token : {int64_t{9}, kTokens - 1}) {
    const double angle = static_cast<double>(token) * turn;
    EXPECT_NEAR(At(y, {0, token, kHeads - 1, 3}), std::cos(angle), 0.004) << token;
    EXPECT_NEAR(At(y, {0, token, kHeads - 1, 67}), std::sin(angle), 0.004) << token;
    EXPECT_EQ(At(y, {0, token, kHeads - 1, 4}), 0) << token;
  }
  Tensor flat = x, turned = y;
  flat.desc = turned.desc = TensorDesc::Contiguous(kBf16, {kTokens, kHeads, kColumns});
  const Tensor ids = Make(DType::kInt64, {kTokens});
  Put(ids, {kTokens - 1}, 5);
  Call("RopeNeoxPositionIdsFwdOp", {flat, ids}, {turned}, {{"max_position", 8}});
  EXPECT_NEAR(At(turned, {kTokens - 1, kHeads - 1, 67}), std::sin(5 * turn), 0.004);
  EXPECT_EQ(At(turned, {9, kHeads - 1, 3}), 1);
}

TEST_F(LargeOffsetsGpuTest, ScanOfOneRowAndOfMany) {
  constexpr int64_t kCount = kTwo31 + 4104;
  const Tensor x = Make(kHalf, {kCount});
  const Tensor y = Output(kHalf, {kCount});
  for (int64_t at : {int64_t{5}, kTwo31 + 1, kCount - 1}) Put(x, {at}, 1);
  Call("CumsumFwdOp", {x}, {y});
  const std::pair<int64_t, double> sums[] = {{4, 0},          {5, 1},          {kTwo31, 1},
                                             {kTwo31 + 1, 2}, {kCount - 2, 2}, {kCount - 1, 3}};
  for (const auto& [at, sum] : sums) EXPECT_EQ(At(y, {at}), sum) << at;

  Tensor rows = x, row_sums = y;
  rows.desc = row_sums.desc = TensorDesc::Contiguous(kHalf, {8, kCount / 8});
  Call("CumsumFwdOp", {rows}, {row_sums});
  EXPECT_EQ(At(row_sums, {0, kCount / 8 - 1}), 1);
  EXPECT_EQ(At(row_sums, {7, kCount / 8 - 2}), 1);
  EXPECT_EQ(At(row_sums, {7, kCount / 8 - 1}), 2);
  EXPECT_EQ(At(row_sums, {6, kCount / 8 - 1}), 0);
}

TEST_F(LargeOffsetsGpuTest, ScanOfColumns) {
  constexpr int64_t kRows = 32784, kColumns = 65536;
  const Tensor x = Make(kHalf, {kRows, kColumns});
  const Tensor y = Output(kHalf, {kRows, kColumns});
  for (int64_t row : {int64_t{1}, int64_t{32769}}) Put(x, {row, kColumns - 1}, 1);
  Call("CumsumFwdOp", {x}, {y}, {{"dim", 0}});
  EXPECT_EQ(At(y, {0, kColumns - 1}), 0);
  EXPECT_EQ(At(y, {32768, kColumns - 1}), 1);
  EXPECT_EQ(At(y, {kRows - 1, kColumns - 1}), 2);
  EXPECT_EQ(At(y, {kRows - 1, kColumns - 2}), 0);
}

// Of ones, as far as float32 counts; and of many columns along another axis than the last.
TEST_F(LargeOffsetsGpuTest, ScanOfOnesIsExact) {
  const auto sums_of = [&](const Dims& shape, int64_t dim) {
    const Tensor x = Make(DType::kFloat32, shape);
    const Tensor y = Output(DType::kFloat32, shape);
    const auto count = static_cast<size_t>(x.desc.elements());
    EXPECT_TRUE(driver_->Fill32(x.data, 0x3f800000, count, stream_).ok());
    Call("CumsumFwdOp", {x}, {y}, {{"dim", dim}});
    std::vector<float> sums(count);
    EXPECT_TRUE(driver_->CopyToHost(sums.data(), y.data, count * sizeof(float), stream_).ok());
    EXPECT_TRUE(driver_->SynchronizeStream(stream_).ok());
    return sums;
  };
  const std::vector<float> line = sums_of({1 << 24}, 0);
  for (size_t i = 0; i < line.size(); ++i) ASSERT_EQ(line[i], static_cast<float>(i + 1)) << i;
  constexpr size_t kSide = 1280;
  const std::vector<float> planes = sums_of({2, kSide, kSide}, 0);
  for (size_t i = 0; i < planes.size(); ++i) {
    ASSERT_EQ(planes[i], i < kSide * kSide ? 1 : 2) << i;
  }
}

TEST_F(LargeOffsetsGpuTest, PoolingByStrips) {
  const Tensor x = Make(kBf16, {2, 16, 8200, 8200});
  const Tensor y = Output(kBf16, {2, 16, 4100, 4100});
  Put(x, {1, 15, 8199, 8198}, 3);
  Put(x, {1, 15, 1, 1}, 2);
  Call("MaxPool2dFwdOp", {x}, {y}, {{"kernel_size", Dims{2}}});
  EXPECT_EQ(At(y, {1, 15, 4099, 4099}), 3);
  EXPECT_EQ(At(y, {1, 15, 0, 0}), 2);
  EXPECT_EQ(At(y, {1, 15, 4099, 4098}), 0);
  EXPECT_EQ(At(y, {0, 0, 0, 0}), 0);
  const Tensor indices = Output(DType::kInt64, {2, 16, 4100, 4100});
  Call("MaxPool2dIndicesFwdOp", {x}, {y, indices}, {{"kernel_size", Dims{2}}});
  EXPECT_EQ(At(y, {1, 15, 4099, 4099}), 3);
  EXPECT_EQ(At(indices, {1, 15, 4099, 4099}), 8199.0 * 8200 + 8198);
  EXPECT_EQ(At(indices, {1, 15, 0, 0}), 8201);
}

// A plane of more than 2^31 elements: the index itself is past 2^31.
TEST_F(LargeOffsetsGpuTest, PoolingOfOneLargePlane) {
  constexpr int64_t kSide = 46344, kOut = kSide / 4;
  const Tensor x = Make(kBf16, {1, 1, kSide, kSide});
  const Tensor y = Output(kBf16, {1, 1, kOut, kOut});
  const Tensor indices = Output(DType::kInt64, {1, 1, kOut, kOut});
  Put(x, {0, 0, kSide - 1, kSide - 2}, 16);
  const std::vector<NamedParam> window = {{"kernel_size", Dims{4}}};
  Call("MaxPool2dIndicesFwdOp", {x}, {y, indices}, window);
  EXPECT_EQ(At(y, {0, 0, kOut - 1, kOut - 1}), 16);
  EXPECT_EQ(At(indices, {0, 0, kOut - 1, kOut - 1}), static_cast<double>(kSide * kSide - 2));
  EXPECT_EQ(At(indices, {0, 0, 0, 1}), 4);
  Call("AvgPool2dFwdOp", {x}, {y}, window);
  EXPECT_EQ(At(y, {0, 0, kOut - 1, kOut - 1}), 1);
  EXPECT_EQ(At(y, {0, 0, kOut - 1, 1023}), 0);
}

TEST_F(LargeOffsetsGpuTest, AdaptivePoolingOfManyPlanes) {
  constexpr int64_t kPlanes = 131080, kSide = 128;
  const Tensor x = Make(kBf16, {kPlanes, 1, kSide, kSide});
  const Tensor y = Output(kBf16, {kPlanes, 1, 1, 1});
  Put(x, {kPlanes - 1, 0, kSide - 1, kSide - 1}, kSide * kSide);
  Call("AdaptiveAvgPool2dFwdOp", {x}, {y}, {{"output_size", Dims{1, 1}}});
  EXPECT_EQ(At(y, {kPlanes - 1, 0, 0, 0}), 1);
  EXPECT_EQ(At(y, {kPlanes - 2, 0, 0, 0}), 0);
  EXPECT_EQ(At(y, {7, 0, 0, 0}), 0);
}

TEST_F(LargeOffsetsGpuTest, Quantisation) {
  constexpr int64_t kTokens = (1 << 21) + 8;
  const Tensor x = Make(kHalf, {1, kTokens, 8, 128});
  const Tensor scale = Output(DType::kFloat32, {1, kTokens, 8});
  const Tensor y = Output(DType::kFloat8E4M3, {1, kTokens, 8, 128});
  Put(x, {0, kTokens - 1, 7, 100}, -448);
  Put(x, {0, kTokens - 1, 7, 101}, 224);
  Call("FP8QuantFwdOp", {x}, {scale, y});
  EXPECT_EQ(At(scale, {0, kTokens - 1, 7}), 1);
  EXPECT_EQ(At(y, {0, kTokens - 1, 7, 100}), -448);
  EXPECT_EQ(At(y, {0, kTokens - 1, 7, 101}), 224);
  EXPECT_EQ(At(y, {0, kTokens - 1, 6, 100}), 0);
}

// More than 65,535 of what might become a grid's second or third dim.
TEST_F(LargeOffsetsGpuTest, ManyRowsPlanesAndBatches) {
  constexpr int64_t kMany = 70001;
  const Tensor x = Make(kHalf, {kMany, 3, 5});
  const Tensor y = Output(kHalf, {kMany, 3, 5});
  Put(x, {kMany - 1, 1, 4}, 2);
  Call("CumsumFwdOp", {x}, {y}, {{"dim", 1}});
  EXPECT_EQ(At(y, {kMany - 1, 2, 4}), 2);
  EXPECT_EQ(At(y, {kMany - 1, 0, 4}), 0);
  Call("CumsumFwdOp", {x}, {y}, {{"dim", 2}});
  EXPECT_EQ(At(y, {kMany - 1, 1, 4}), 2);
  EXPECT_EQ(At(y, {kMany - 1, 1, 3}), 0);
  const Tensor volume = Make(kHalf, {kMany, 2, 2, 3, 4});
  const Tensor pooled = Output(kHalf, {kMany, 2, 1, 1, 2});
  Put(volume, {kMany - 1, 1, 1, 1, 3}, 8);
  Call("AvgPool3dFwdOp", {volume}, {pooled}, {{"kernel_size", Dims{2}}});
  EXPECT_EQ(At(pooled, {kMany - 1, 1, 0, 0, 1}), 1);
  EXPECT_EQ(At(pooled, {kMany - 1, 1, 0, 0, 0}), 0);
  const Tensor heads = Make(kHalf, {kMany, 2, 1, 8});
  const Tensor turned = Output(kHalf, {kMany, 2, 1, 8});
  Put(heads, {kMany - 1, 1, 0, 7}, 1);
  Call("RopeNonNeoxFwdOp", {heads}, {turned});
  EXPECT_NEAR(At(turned, {kMany - 1, 1, 0, 7}), std::cos(1e-3), 1e-3);
}

}  // namespace
}  // namespace tilewright
