// Guards the overlap checks: exact for interleaved views, and in place only where the manifest
// says.
#include "manifest/overlap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

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

// The bytes that a view of (2, 2) elements covers from `first` on.
std::set<int64_t> BytesOf(const TensorDesc& view, int64_t first) {
  const int64_t size = DTypeSize(view.dtype);
  std::set<int64_t> bytes;
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t at = first + (i / 2 * view.strides[0] + i % 2 * view.strides[1]) * size;
    for (int64_t byte = at; byte < at + size; ++byte) bytes.insert(byte);
  }
  return bytes;
}

// Elements of one, two and four bytes, at every distance, between each other's elements too.
TEST(OverlapTest, OverlapOfTwoAgreesWithEnumeration) {
  alignas(8) static std::byte memory[256];
  constexpr DType kDTypes[] = {DType::kInt8, DType::kFloat16, DType::kFloat32};
  int overlapping = 0;
  int apart = 0;
  for (const DType a_dtype : kDTypes) {
    for (const DType b_dtype : kDTypes) {
      for (const int64_t stride : {-5, 2, 7}) {
        const TensorDesc a{a_dtype, {2, 2}, {stride, 3}};
        const TensorDesc b{b_dtype, {2, 2}, {4, -stride}};
        const std::set<int64_t> mine = BytesOf(a, 128);
        for (int64_t first = 60; first < 200; ++first) {
          const std::set<int64_t> other = BytesOf(b, first);
          const bool meet = std::any_of(other.begin(), other.end(),
                                        [&](int64_t byte) { return mine.count(byte) > 0; });
          EXPECT_EQ(ViewsOverlap(a, memory + 128, b, memory + first), meet)
              << DTypeName(a_dtype) << " " << DTypeName(b_dtype) << " " << stride << " " << first;
          (meet ? overlapping : apart) += 1;
        }
      }
    }
  }
  EXPECT_GT(overlapping, 500);
  EXPECT_GT(apart, 500);
}

TEST(OverlapTest, LargeViewsAreDecided) {
  const TensorDesc rows{DType::kBFloat16, {1 << 20, 4096}, {8192, 1}};
  EXPECT_FALSE(OverlapsItself(rows));
  alignas(2) static std::byte memory[2 * 4096 + 2];
  // The two halves of each row interleave without meeting; one element further they meet.
  EXPECT_FALSE(ViewsOverlap(rows, memory, rows, memory + size_t{2} * 4096));
  EXPECT_TRUE(ViewsOverlap(rows, memory, rows, memory + size_t{2} * 4095));
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

// What an operator may write over: what PyTorch's methods that end in "_" do, for every operator
// that has one (where the dtypes are the same), for sums in place, rotations and fused residuals;
// nothing else. Operators are grouped by the inputs that their output may replace.
TEST(OverlapTest, OperatorsRunInPlaceAsInPyTorch) {
  const std::pair<std::string_view, std::vector<std::string_view>> groups[] = {
      {"output=input", {"AbsFwdOp",         "BitwiseNotFwdOp", "CeilFwdOp",
                        "ClampScalarFwdOp", "CosFwdOp",        "DropoutFwdOp",
                        "EluFwdOp",         "ErfFwdOp",        "ExpFwdOp",
                        "Expm1FwdOp",       "FloorFwdOp",      "GeluFwdOp",
                        "HardsigmoidFwdOp", "HardswishFwdOp",  "HardtanhFwdOp",
                        "LeakyReluFwdOp",   "Log1pFwdOp",      "LogFwdOp",
                        "LogicalNotFwdOp",  "MaskedFillFwdOp", "MaskedFillScalarFwdOp",
                        "MishFwdOp",        "NanToNumFwdOp",   "NegFwdOp",
                        "PreluFwdOp",       "ReciprocalFwdOp", "ReluFwdOp",
                        "RoundFwdOp",       "RsqrtFwdOp",      "SeluFwdOp",
                        "SigmoidFwdOp",     "SignFwdOp",       "SiluFwdOp",
                        "SinFwdOp",         "SoftplusFwdOp",   "SqrtFwdOp",
                        "TanhFwdOp",        "TruncFwdOp"}},
      {"output=input output=other",
       {"AddFwdOp",        "BitwiseAndFwdOp",  "BitwiseOrFwdOp", "BitwiseXorFwdOp", "DivFwdOp",
        "EqFwdOp",         "FloorDivideFwdOp", "GeFwdOp",        "GtFwdOp",         "LeFwdOp",
        "LogicalAndFwdOp", "LogicalOrFwdOp",   "LtFwdOp",        "MaximumFwdOp",    "MinimumFwdOp",
        "MulFwdOp",        "NeFwdOp",          "RemainderFwdOp", "SubFwdOp",        "WhereFwdOp"}},
      {"output=input output=exponent", {"PowFwdOp"}},
      {"output=input output=end", {"LerpFwdOp"}},
      {"output=input output=end output=weight", {"LerpTensorFwdOp"}},
      {"output=input output=min output=max", {"ClampFwdOp"}},
      {"y=x", {"CumprodFwdOp", "CumsumFwdOp"}},
      {"output=x",
       {"RopeLlama31FwdOp", "RopeLongRopeFwdOp", "RopeNeoxFwdOp", "RopeNeoxPositionIdsFwdOp",
        "RopeNonNeoxFwdOp", "RopeYarnFwdOp"}},
      {"output=x residual_out=residual", {"FusedAddLayerNormFwdOp", "FusedAddRMSNormFwdOp"}}};
  std::map<std::string, std::string> expected;
  for (const auto& [pairs, ops] : groups) {
    for (std::string_view op : ops) expected[std::string(op)] = pairs;
  }
  std::map<std::string, std::string> found;
  for (const OpSpec& op : Manifest::BuiltinOps()) {
    std::string pairs;
    for (const auto& [output, input] : op.in_place) {
      pairs += Cat(pairs.empty() ? "" : " ", output, "=", input);
    }
    if (!pairs.empty()) found[op.name] = pairs;
  }
  EXPECT_EQ(found, expected);
}

// A result of another dtype than its input never takes its place.
TEST(OverlapTest, InPlaceNeedsTheSameDType) {
  const OpSpec& op = *Manifest::FindBuiltin("EqFwdOp");
  uint8_t memory[64] = {};
  for (const auto& [dtype, allowed] : {std::pair{DType::kBool, true}, {DType::kInt8, false}}) {
    std::vector<Operand> inputs(2);
    for (Operand& input : inputs) input.desc = TensorDesc::Contiguous(dtype, {4, 4});
    const CallDesc call = InferCall(op, inputs, {}).value();
    const void* over_input[] = {memory, memory + 32, memory};
    EXPECT_EQ(CheckOverlap(call, over_input).ok(), allowed) << DTypeName(dtype);
    const void* over_other[] = {memory + 32, memory, memory};
    EXPECT_EQ(CheckOverlap(call, over_other).ok(), allowed) << DTypeName(dtype);
  }
}

TEST(OverlapTest, EmptyCallsNeverOverlap) {
  float memory[4] = {};
  const CallDesc call = AddCall({0, 4}, {4});
  const void* data[] = {memory, memory, memory};
  EXPECT_TRUE(CheckOverlap(call, data).ok());
}

}  // namespace
}  // namespace tilewright
