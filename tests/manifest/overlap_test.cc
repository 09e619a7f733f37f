// Guards the overlap checks: exact for interleaved views, and in place only where the manifest
// says.
#include "manifest/overlap.h"

#include <gtest/gtest.h>

#include <set>

#include "manifest/op_spec.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

TEST(OverlapTest, SelfOverlapAgreesWithEnumeration) {
  int overlapping = 0;
  for (int64_t s0 = -4; s0 <= 4; ++s0) {
    for (int64_t s1 = -4; s1 <= 4; ++s1) {
      for (int64_t s2 = 1; s2 <= 9; s2 += 4) {
        const TensorDesc desc{DType::kFloat16, {3, 2, 2}, {s0, s1, s2}};
        std::set<int64_t> places;
        for (int64_t i = 0; i < 12; ++i) {
          places.insert(i / 4 * s0 + i / 2 % 2 * s1 + i % 2 * s2);
        }
        EXPECT_EQ(OverlapsItself(desc), places.size() != 12u) << desc.strides.ToString();
        overlapping += places.size() != 12u;
      }
    }
  }
  EXPECT_GT(overlapping, 50);
  EXPECT_LT(overlapping, 240);
}

TEST(OverlapTest, LargeViewsAreDecided) {
  const TensorDesc rows{DType::kBFloat16, {1 << 20, 4096}, {8192, 1}};
  EXPECT_FALSE(OverlapsItself(rows));
  alignas(2) static std::byte memory[2 * 4096 + 2];
  // The two halves of each row interleave without meeting; one element further they meet.
  EXPECT_FALSE(ViewsOverlap(rows, memory, rows, memory + 2 * 4096));
  EXPECT_TRUE(ViewsOverlap(rows, memory, rows, memory + 2 * 4095));
  EXPECT_FALSE(ViewsOverlap({DType::kInt8, {0}, {1}}, memory, rows, memory));
}

// The stride of an axis of one element says nothing, and must not overflow.
TEST(OverlapTest, StridesOfSingleElementsAreIgnored) {
  const TensorDesc desc{DType::kFloat64, {1, 4, 1}, {INT64_MIN, 1, INT64_MAX}};
  double memory[8] = {};
  EXPECT_FALSE(OverlapsItself(desc));
  EXPECT_FALSE(ViewsOverlap(desc, memory, desc, memory + 4));
  EXPECT_TRUE(ViewsOverlap(desc, memory, desc, memory + 3));
}

const OpSpec& AddOp() {
  for (const OpSpec& op : Manifest::BuiltinOps()) {
    if (op.name == "AddFwdOp") return op;
  }
  ADD_FAILURE();
  return Manifest::BuiltinOps()[0];
}

CallDesc AddCall(const Dims& input, const Dims& other) {
  std::vector<Operand> inputs(2);
  inputs[0].desc = TensorDesc::Contiguous(DType::kFloat32, input);
  inputs[1].desc = TensorDesc::Contiguous(DType::kFloat32, other);
  return InferCall(AddOp(), inputs, {}).value();
}

TEST(OverlapTest, InPlaceIsExactOrRefused) {
  float memory[64] = {};
  const CallDesc call = AddCall({4, 4}, {4});
  const OverlapRules rules(call);
  const void* apart[] = {memory, memory + 16, memory + 20};
  EXPECT_TRUE(rules.Allowed(call, apart));
  const void* in_place[] = {memory, memory + 16, memory};
  EXPECT_TRUE(rules.Allowed(call, in_place));
  EXPECT_TRUE(rules.Check(call, in_place).ok());
  const void* shifted[] = {memory, memory + 32, memory + 1};
  EXPECT_FALSE(rules.Allowed(call, shifted));
  const absl::Status status = rules.Check(call, shifted);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Cat(status.message()).substr(0, 92),
            "AddFwdOp: 'output' must not share memory with 'input' unless pointer and layout are "
            "the same");
  // `other` is broadcast: its layout differs, so sharing its memory is refused.
  const void* broadcast[] = {memory + 32, memory, memory};
  EXPECT_FALSE(rules.Allowed(call, broadcast));
  // Inputs may share memory with each other.
  const void* same_inputs[] = {memory, memory, memory + 16};
  EXPECT_TRUE(rules.Allowed(call, same_inputs));
}

TEST(OverlapTest, EmptyCallsNeverOverlap) {
  float memory[4] = {};
  const CallDesc call = AddCall({0, 4}, {4});
  const void* data[] = {memory, memory, memory};
  EXPECT_TRUE(CheckOverlap(call, data).ok());
}

}  // namespace
}  // namespace tilewright
