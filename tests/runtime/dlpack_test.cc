// Tensors that come through DLPack.
#if __has_include(<dlpack/dlpack.h>)
#include "runtime/dlpack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilewright {
namespace {

class DlpackTest : public ::testing::Test {
 protected:
  DlpackTest() {
    from_.data = memory_;
    from_.device = {kDLCUDA, 1};
    from_.ndim = 2;
    from_.dtype = {kDLFloat, 32, 1};
    from_.shape = shape_;
    from_.strides = nullptr;
    from_.byte_offset = 0;
  }
  alignas(16) std::byte memory_[256];
  int64_t shape_[2] = {3, 5};
  int64_t strides_[2] = {1, 3};
  DLTensor from_;
};

// Guards: null strides are dense rows, and the offset is in bytes.
TEST_F(DlpackTest, NullStridesAndByteOffset) {
  from_.byte_offset = 20;
  const auto tensor = FromDlpack(from_);
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->data, memory_ + 20);
  EXPECT_EQ(tensor->device, 1);
  EXPECT_EQ(tensor->desc.dtype, DType::kFloat32);
  EXPECT_EQ(tensor->desc.shape, (Dims{3, 5}));
  EXPECT_EQ(tensor->desc.strides, (Dims{5, 1}));
}

TEST_F(DlpackTest, StridesAreKept) {
  from_.strides = strides_;
  EXPECT_EQ(FromDlpack(from_).value().desc.strides, (Dims{1, 3}));
}

TEST_F(DlpackTest, Bfloat16IsNotFloat16) {
  from_.dtype = {kDLBfloat, 16, 1};
  EXPECT_EQ(FromDlpack(from_).value().desc.dtype, DType::kBFloat16);
  from_.dtype = {kDLFloat, 16, 1};
  EXPECT_EQ(FromDlpack(from_).value().desc.dtype, DType::kFloat16);
}

// Guards: what has no counterpart is refused, not misread.
TEST_F(DlpackTest, RefusesWhatItCannotDescribe) {
  const auto refused = [&] {
    return FromDlpack(from_).status().code() == absl::StatusCode::kInvalidArgument;
  };
  from_.dtype = {kDLFloat, 32, 4};
  EXPECT_TRUE(refused());
  from_.dtype = {kDLInt, 4, 1};
  EXPECT_TRUE(refused());
  from_.dtype = {kDLFloat, 32, 1};
  from_.device.device_type = kDLCPU;
  EXPECT_TRUE(refused());
  from_.device.device_type = kDLCUDA;
  from_.ndim = kMaxRank + 1;
  EXPECT_TRUE(refused());
  from_.ndim = 2;
  from_.device.device_id = -1;  // which would read as "not given"
  EXPECT_TRUE(refused());
  from_.device.device_id = 0;
  from_.shape = nullptr;
  EXPECT_TRUE(refused());
  from_.ndim = 0;
  EXPECT_EQ(FromDlpack(from_).value().desc.rank(), 0);
}

}  // namespace
}  // namespace tilewright
#endif
