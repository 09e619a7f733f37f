#include "runtime/inputs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>

#include "manifest/op_spec.h"
#include "manifest/reference.h"

namespace tilewright {
namespace {

std::vector<std::byte> Filled(DType dtype, int64_t count, const InputOptions& options) {
  std::vector<std::byte> bytes(static_cast<size_t>(count * DTypeSize(dtype)));
  FillHost(dtype, bytes, options);
  return bytes;
}

// Guards: mean 0, variance 1 and tails, in the block and beyond it.
TEST(InputsTest, NormalDataIsNormal) {
  constexpr int64_t kCount = 600'001;
  const auto bytes = Filled(DType::kFloat16, kCount, {.seed = 5});
  double sum = 0;
  double squares = 0;
  double largest = 0;
  for (int64_t i = 0; i < kCount; ++i) {
    const double value = LoadAsDouble(bytes.data(), DType::kFloat16, i);
    sum += value;
    squares += value * value;
    largest = std::max(largest, std::fabs(value));
  }
  EXPECT_NEAR(sum / kCount, 0, 0.01);
  EXPECT_NEAR(squares / kCount, 1, 0.02);
  EXPECT_GT(largest, 3.5);
  EXPECT_LT(largest, 7);
}

// Guards: the same seed gives the same bytes for any number of threads; another seed others.
TEST(InputsTest, SeedDecidesEveryByte) {
  const auto one = Filled(DType::kBFloat16, 700'003, {.seed = 5, .threads = 1});
  const auto many = Filled(DType::kBFloat16, 700'003, {.seed = 5, .threads = 7});
  const auto other = Filled(DType::kBFloat16, 700'003, {.seed = 6, .threads = 1});
  EXPECT_EQ(std::memcmp(one.data(), many.data(), one.size()), 0);
  EXPECT_NE(std::memcmp(one.data(), other.data(), one.size()), 0);
  // The expanded part differs from the block it was made of, chunk by chunk.
  const size_t block = size_t{2} << 18;
  EXPECT_NE(std::memcmp(one.data(), one.data() + block, 1024), 0);
  EXPECT_NE(std::memcmp(one.data() + block, one.data() + block + 1024, 1024), 0);
  std::set<uint64_t> seeds;
  for (int i = 0; i < 100; ++i) seeds.insert(FreshSeed());
  EXPECT_EQ(seeds.size(), 100);
}

// Guards: small integers are exactly -2..2 (0..4 unsigned, 0..1 bool), each of them present.
TEST(InputsTest, SmallIntegers) {
  const InputOptions options{.mode = InputMode::kSmallIntegers, .seed = 9};
  const std::set<double> around_zero = {-2, -1, 0, 1, 2};
  for (const DType dtype : {DType::kFloat16, DType::kFloat8E4M3, DType::kFloat32, DType::kInt8,
                            DType::kInt64, DType::kUint8, DType::kBool}) {
    const auto bytes = Filled(dtype, 1000, options);
    std::set<double> seen;
    for (int64_t i = 0; i < 1000; ++i) seen.insert(LoadAsDouble(bytes.data(), dtype, i));
    if (dtype == DType::kBool) {
      EXPECT_EQ(seen, (std::set<double>{0, 1}));
    } else if (dtype == DType::kUint8) {
      EXPECT_EQ(seen, (std::set<double>{0, 1, 2, 3, 4}));
    } else {
      EXPECT_EQ(seen, around_zero);
    }
  }
}

// Guards: special data holds NaN, both infinities and subnormals, and is mostly ordinary.
TEST(InputsTest, SpecialValues) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16, DType::kFloat32}) {
    const auto bytes = Filled(dtype, 20'000, {.mode = InputMode::kSpecial, .seed = 4});
    int nan = 0;
    int positive = 0;
    int negative = 0;
    int tiny = 0;
    int ordinary = 0;
    for (int64_t i = 0; i < 20'000; ++i) {
      const double value = LoadAsDouble(bytes.data(), dtype, i);
      nan += std::isnan(value) ? 1 : 0;
      positive += std::isinf(value) && value > 0 ? 1 : 0;
      negative += std::isinf(value) && value < 0 ? 1 : 0;
      tiny += value != 0 && std::fabs(value) < (dtype == DType::kFloat16 ? 0x1p-14 : 0x1p-126);
      ordinary += value != 0 && std::fabs(value) < 7 ? 1 : 0;
    }
    EXPECT_GT(nan, 10);
    EXPECT_GT(positive, 5);
    EXPECT_GT(negative, 5);
    EXPECT_GT(tiny, 3);
    EXPECT_GT(ordinary, 19'000);
  }
}

// Guards: integers cover their range; bytes of bool are 0 or 1 only.
TEST(InputsTest, IntegersCoverTheirRange) {
  const auto bytes = Filled(DType::kInt8, 5000, {.seed = 1});
  std::set<int64_t> seen;
  for (int64_t i = 0; i < 5000; ++i) seen.insert(LoadAsInt(bytes.data(), DType::kInt8, i));
  EXPECT_EQ(seen.size(), 256);
  for (const std::byte byte : Filled(DType::kBool, 5000, {.seed = 1})) {
    EXPECT_LE(std::to_integer<int>(byte), 1);
  }
}

// Guards: buffers span the whole extent of a view, negative strides included; absent ones are
// empty.
TEST(InputsTest, BuffersCoverTheExtent) {
  OpSpec op;
  op.inputs.resize(3);
  CallDesc call;
  call.op = &op;
  call.operands.push_back({TensorDesc{DType::kFloat32, {3, 4}, {-8, 2}}});
  call.operands.push_back({TensorDesc::Contiguous(DType::kFloat16, {0, 5})});
  call.operands.emplace_back();
  call.operands.back().present = false;
  const auto buffers = MakeInputs(call, {.seed = 2});
  ASSERT_TRUE(buffers.ok()) << buffers.status();
  EXPECT_EQ((*buffers)[0].bytes.size(), (2 * 8 + 3 * 2 + 1) * 4);
  EXPECT_EQ((*buffers)[0].origin_bytes, 2 * 8 * 4);
  EXPECT_EQ((*buffers)[1].bytes.size(), 0);
  EXPECT_EQ((*buffers)[2].bytes.size(), 0);
  EXPECT_NE(LoadAsDouble((*buffers)[0].origin(), DType::kFloat32, -16), 0);
}

}  // namespace
}  // namespace tilewright
