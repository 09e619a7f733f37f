// Guards what reductions and norms accept: result shapes, empty axes, and the documented refusals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "manifest/op_spec.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<CallDesc> Infer(std::string_view op, const std::vector<Dims>& shapes,
                               const std::vector<NamedParam>& params,
                               DType channels = DType::kFloat32) {
  std::vector<Operand> inputs(shapes.size());
  for (size_t i = 0; i < shapes.size(); ++i) {
    inputs[i].desc = TensorDesc::Contiguous(i == 0 ? DType::kFloat32 : channels, shapes[i]);
  }
  return InferCall(*Manifest::FindBuiltin(op), inputs, params);
}

Dims ShapeOf(std::string_view op, const Dims& x, const std::vector<NamedParam>& params) {
  const auto call = Infer(op, {x}, params);
  EXPECT_TRUE(call.ok()) << call.status();
  return call.ok() ? call->output(0).desc.shape : Dims{-1};
}

std::string ErrorOf(std::string_view op, const std::vector<Dims>& shapes,
                    const std::vector<NamedParam>& params) {
  return Cat(Infer(op, shapes, params).status().message());
}

TEST(ReductionContract, ResultShapes) {
  const Dims x = {2, 3, 5};
  EXPECT_EQ(ShapeOf("SumFwdOp", x, {}), Dims{});
  EXPECT_EQ(ShapeOf("SumFwdOp", x, {{"keepdim", true}}), (Dims{1, 1, 1}));
  EXPECT_EQ(ShapeOf("SumFwdOp", x, {{"dim", Dims{0, -1}}}), Dims{3});
  EXPECT_EQ(ShapeOf("SumFwdOp", x, {{"dim", Dims{}}}), Dims{});
  EXPECT_EQ(ShapeOf("AnyFwdOp", x, {{"dim", Dims{}}}), x);
  EXPECT_EQ(ShapeOf("AnyFwdOp", x, {}), Dims{});
  EXPECT_EQ(ShapeOf("ArgmaxFwdOp", x, {}), Dims{});
  EXPECT_EQ(ShapeOf("ArgmaxFwdOp", x, {{"dim", 1}, {"keepdim", true}}), (Dims{2, 1, 5}));
  EXPECT_EQ(ShapeOf("ProdFwdOp", {}, {}), Dims{});
  EXPECT_EQ(ShapeOf("LogSumExpFwdOp", x, {}), (Dims{2, 3}));
}

// The sum of nothing is something; the largest of nothing is an error unless there is no result.
TEST(ReductionContract, EmptyAxes) {
  EXPECT_EQ(ShapeOf("SumFwdOp", {2, 0}, {{"dim", 1}}), Dims{2});
  EXPECT_EQ(ShapeOf("AllFwdOp", {0}, {}), Dims{});
  EXPECT_EQ(ShapeOf("AmaxFwdOp", {2, 0}, {{"dim", 0}}), Dims{0});
  for (std::string_view op : {"AmaxFwdOp", "AminFwdOp", "ArgmaxFwdOp", "InfNormFwdOp"}) {
    EXPECT_THAT(ErrorOf(op, {{2, 0}}, {{"dim", 1}}), HasSubstr("extents_at")) << op;
    EXPECT_THAT(ErrorOf(op, {{0}}, {}), HasSubstr("extents_at")) << op;
  }
}

TEST(ReductionContract, Refusals) {
  EXPECT_THAT(ErrorOf("SumFwdOp", {{2, 3}}, {{"dim", Dims{0, -2}}}), HasSubstr("given twice"));
  EXPECT_THAT(ErrorOf("SumFwdOp", {{2, 3}}, {{"dim", 2}}), HasSubstr("expected an axis"));
  EXPECT_THAT(ErrorOf("LogSumExpFwdOp", {{2, 3}}, {{"dim", Dims{}}}), HasSubstr("len(dim) > 0"));
  EXPECT_THAT(ErrorOf("L2NormFwdOp", {{2, 3}}, {{"ord", 3}}), HasSubstr("ord == 2"));
  EXPECT_THAT(ErrorOf("InfNormFwdOp", {{2, 3}}, {{"ord", 2}}), HasSubstr("ord > "));
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(ShapeOf("InfNormFwdOp", {2, 3}, {{"ord", infinity}, {"dim", 1}}), Dims{2});
}

TEST(NormContract, Refusals) {
  const Dims c = {4};
  EXPECT_THAT(ErrorOf("BatchNormFwdOp", {{1, 4}, c, c, c, c}, {{"training", true}}),
              HasSubstr("training"));
  EXPECT_TRUE(Infer("BatchNormFwdOp", {{1, 4}, c, c, c, c}, {}).ok());
  EXPECT_THAT(ErrorOf("BatchNormFwdOp", {{2, 4}, c, c, c, {5}}, {}), HasSubstr("bias"));
  EXPECT_THAT(ErrorOf("GroupNormFwdOp", {{2, 4, 3}}, {{"num_groups", 3}}), HasSubstr("num_groups"));
  EXPECT_THAT(ErrorOf("GroupNormFwdOp", {{2, 4, 3}, c}, {{"num_groups", 2}}),
              HasSubstr("weight.present"));
  EXPECT_THAT(ErrorOf("InstanceNormFwdOp", {{2, 4, 1}}, {}), HasSubstr("use_input_stats"));
  EXPECT_THAT(ErrorOf("InstanceNormFwdOp", {{2, 4, 3}}, {{"use_input_stats", false}}),
              HasSubstr("running_mean"));
  EXPECT_THAT(ErrorOf("LayerNormFwdOp", {{2, 4}, {4}, {4}}, {{"normalized_shape", Dims{2}}}),
              HasSubstr("normalized_shape"));
  EXPECT_THAT(ErrorOf("AdaLayerNormFwdOp", {{2, 4}, {2, 4}, {1, 4}}, {}), HasSubstr("shift"));
}

}  // namespace
}  // namespace tilewright
