// Guards the contract checks: every error names op, argument, expected and got; valid calls come
// out normalised.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "manifest/op_spec.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const OpSpec& Op(std::string_view name) {
  for (const OpSpec& op : Manifest::BuiltinOps()) {
    if (op.name == name) return op;
  }
  ADD_FAILURE() << "no op " << name;
  return Manifest::BuiltinOps()[0];
}

Operand Of(DType dtype, const Dims& shape) {
  Operand operand;
  operand.desc = TensorDesc::Contiguous(dtype, shape);
  return operand;
}
Operand Strided(DType dtype, const Dims& shape, const Dims& strides) {
  Operand operand;
  operand.desc = {dtype, shape, strides};
  return operand;
}

constexpr DType kHalf = DType::kFloat16;

struct CallArgs {
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;
  std::vector<NamedParam> params;
};

std::string ErrorOf(std::string_view op, const CallArgs& args) {
  const auto call = MakeCall(Op(op), args.inputs, args.outputs, args.params);
  if (call.ok()) return "ok";
  EXPECT_EQ(call.status().code(), absl::StatusCode::kInvalidArgument);
  return Cat(call.status().message());
}

CallArgs Gemm() { return {{Of(kHalf, {4, 8}), Of(kHalf, {6, 8})}, {Of(kHalf, {4, 6})}, {}}; }

TEST(ContractTest, GemmAcceptsItsLayouts) {
  EXPECT_EQ(ErrorOf("GemmFwdOp", Gemm()), "ok");
  CallArgs args = Gemm();
  args.inputs = {Of(kHalf, {8, 4}), Of(kHalf, {8, 6})};
  args.params = {{"trans_b", false}, {"trans_a", true}};
  EXPECT_EQ(ErrorOf("GemmFwdOp", args), "ok");
  const CallDesc call = MakeCall(Op("GemmFwdOp"), args.inputs, args.outputs, args.params).value();
  EXPECT_EQ(call.params[0], ParamValue(true));
  EXPECT_EQ(call.params[1], ParamValue(false));
  EXPECT_EQ(call.ToString(),
            "GemmFwdOp(a=float16(8, 4), b=float16(8, 6), trans_a=true, trans_b=false)");
}

TEST(ContractTest, GemmErrors) {
  CallArgs args = Gemm();
  args.inputs.pop_back();
  EXPECT_EQ(ErrorOf("GemmFwdOp", args), "GemmFwdOp: expected 2 inputs (a, b), got 1");
  args = Gemm();
  args.outputs.clear();
  EXPECT_EQ(ErrorOf("GemmFwdOp", args), "GemmFwdOp: expected 1 outputs (d), got 0");
  args = Gemm();
  args.inputs[0].desc.dtype = DType::kInt8;
  EXPECT_EQ(ErrorOf("GemmFwdOp", args),
            "GemmFwdOp: input 'a': expected dtype float16 or bfloat16, got int8");
  args = Gemm();
  args.inputs[1].desc.dtype = DType::kBFloat16;
  EXPECT_EQ(ErrorOf("GemmFwdOp", args),
            "GemmFwdOp: input 'b': expected dtype float16 (that of 'a'), got bfloat16");
  args = Gemm();
  args.outputs[0].desc.dtype = DType::kFloat32;
  EXPECT_EQ(ErrorOf("GemmFwdOp", args),
            "GemmFwdOp: output 'd': expected dtype float16 (that of 'a'), got float32");
  args = Gemm();
  args.inputs[0] = Of(kHalf, {1, 4, 8});
  EXPECT_EQ(ErrorOf("GemmFwdOp", args),
            "GemmFwdOp: input 'a': expected shape [A0, A1], got (1, 4, 8)");
  args = Gemm();
  args.inputs[1] = Of(kHalf, {6, 7});
  EXPECT_THAT(ErrorOf("GemmFwdOp", args),
              HasSubstr("GemmFwdOp: expected K == (B1 if trans_b else B0), got GemmFwdOp(a="));
  args = Gemm();
  args.outputs[0] = Of(kHalf, {6, 4});
  EXPECT_EQ(ErrorOf("GemmFwdOp", args), "GemmFwdOp: output 'd': expected shape (4, 6), got (6, 4)");
  args = Gemm();
  args.inputs[0].present = false;
  EXPECT_EQ(ErrorOf("GemmFwdOp", args), "GemmFwdOp: input 'a': expected a tensor, got none");
}

TEST(ContractTest, ParameterErrors) {
  CallArgs args = Gemm();
  args.params = {{"transpose", true}};
  EXPECT_EQ(ErrorOf("GemmFwdOp", args),
            "GemmFwdOp: unknown parameter 'transpose'; it has trans_a, trans_b");
  args.params = {{"trans_a", 1}};
  EXPECT_EQ(ErrorOf("GemmFwdOp", args), "GemmFwdOp: parameter 'trans_a': expected bool, got 1");
  args.params = {{"trans_a", false}, {"trans_a", true}};
  EXPECT_EQ(ErrorOf("GemmFwdOp", args), "GemmFwdOp: parameter 'trans_a' is given twice");
  args = {{Of(kHalf, {2, 4}), Of(kHalf, {4})}, {Of(kHalf, {2, 4})}, {}};
  EXPECT_EQ(ErrorOf("RMSNormFwdOp", args),
            "RMSNormFwdOp: parameter 'normalized_shape': expected int_list, got nothing");
  args.params = {{"normalized_shape", Dims{}}};
  EXPECT_THAT(ErrorOf("RMSNormFwdOp", args),
              HasSubstr("expected 0 < len(normalized_shape) <= x.rank, got RMSNormFwdOp(x="));
}

TEST(ContractTest, ViewErrors) {
  CallArgs args = Gemm();
  args.inputs[0].desc.strides = {8};
  EXPECT_EQ(ErrorOf("GemmFwdOp", args),
            "GemmFwdOp: input 'a': expected 2 strides for shape (4, 8), got (8,)");
  args = Gemm();
  args.inputs[0].desc.shape = {-4, 8};
  EXPECT_EQ(ErrorOf("GemmFwdOp", args),
            "GemmFwdOp: input 'a': expected extents of at least 0, got (-4, 8)");
  args = Gemm();
  args.inputs[0].desc.strides = {INT64_MAX / 2, 1};
  EXPECT_THAT(ErrorOf("GemmFwdOp", args), HasSubstr("expected a view of less than 2^63 bytes"));
  args = Gemm();
  args.inputs[0] = Of(kHalf, {INT64_MAX / 2, INT64_MAX / 2});
  EXPECT_THAT(ErrorOf("GemmFwdOp", args), HasSubstr("expected a view of less than 2^63 bytes"));
  args = Gemm();
  args.inputs[0].alignment = 1;
  EXPECT_EQ(ErrorOf("GemmFwdOp", args),
            "GemmFwdOp: input 'a': expected a pointer aligned to 2 bytes (float16), got 1");
  args = Gemm();
  args.outputs[0].desc.strides = {0, 1};
  EXPECT_EQ(ErrorOf("GemmFwdOp", args),
            "GemmFwdOp: output 'd': expected elements at distinct places, got shape (4, 6) with "
            "strides (0, 1)");
  args.outputs[0].desc.strides = {5, 1};
  EXPECT_THAT(ErrorOf("GemmFwdOp", args), HasSubstr("expected elements at distinct places"));
}

// Any element-aligned strided view is accepted, expanded inputs and reversed outputs included.
TEST(ContractTest, StridedViewsAreAccepted) {
  CallArgs args = Gemm();
  args.inputs = {Strided(kHalf, {4, 8}, {0, 3}), Strided(kHalf, {6, 8}, {-9, 1})};
  args.outputs = {Strided(kHalf, {4, 6}, {-1, 4})};
  EXPECT_EQ(ErrorOf("GemmFwdOp", args), "ok");
}

// Zero elements and more than 2^31 of them are calls like any other.
TEST(ContractTest, EmptyAndHugeShapes) {
  CallArgs args{{Of(kHalf, {0, 8}), Of(kHalf, {6, 8})}, {Of(kHalf, {0, 6})}, {}};
  EXPECT_EQ(ErrorOf("GemmFwdOp", args), "ok");
  const Dims huge{65536, 65536};
  args = {{Of(kHalf, huge), Of(kHalf, huge)}, {Of(kHalf, huge)}, {}};
  EXPECT_EQ(ErrorOf("AddFwdOp", args), "ok");
}

TEST(ContractTest, SoftmaxAxes) {
  const auto axis = [](const Dims& shape, std::vector<NamedParam> params) -> std::string {
    const std::vector<Operand> x = {Of(DType::kFloat32, shape)};
    const auto call = InferCall(Op("SoftmaxFwdOp"), x, params);
    return call.ok() ? call->params[0].ToString() : Cat(call.status().message());
  };
  EXPECT_EQ(axis({2, 3, 5}, {{"dim", -1}}), "2");
  EXPECT_EQ(axis({2, 3, 5}, {{"dim", 1}}), "1");
  EXPECT_EQ(axis({}, {{"dim", -1}}), "0");
  // PyTorch's rule where dim is None.
  EXPECT_EQ(axis({}, {}), "0");
  EXPECT_EQ(axis({4}, {}), "0");
  EXPECT_EQ(axis({4, 5}, {}), "1");
  EXPECT_EQ(axis({4, 5, 6}, {{"dim", ParamValue()}}), "0");
  EXPECT_EQ(axis({4, 5, 6, 7}, {}), "1");
  EXPECT_EQ(axis({2, 3}, {{"dim", 2}}),
            "SoftmaxFwdOp: parameter 'dim': expected an axis from -2 to 1, got 2");
  EXPECT_EQ(axis({2, 3}, {{"dim", 1.0}}),
            "SoftmaxFwdOp: parameter 'dim': expected axis or null, got 1");
}

TEST(ContractTest, RmsNormParameters) {
  const std::vector<Operand> inputs = {Of(kHalf, {2, 3, 4}), Of(kHalf, {3, 4})};
  const OpSpec& op = Op("RMSNormFwdOp");
  const std::vector<NamedParam> params = {{"normalized_shape", Dims{3, 4}}, {"eps", ParamValue()}};
  const CallDesc call = InferCall(op, inputs, params).value();
  EXPECT_EQ(call.params[1], ParamValue(0x1p-23));
  EXPECT_EQ(call.output(0).desc.shape, (Dims{2, 3, 4}));
  const std::vector<NamedParam> defaults = {{"normalized_shape", Dims{3, 4}}};
  EXPECT_EQ(InferCall(op, inputs, defaults)->params[1], ParamValue(1e-6));
  // An int stands for a list of one.
  const std::vector<Operand> flat = {Of(kHalf, {2, 4}), Of(kHalf, {4})};
  const std::vector<NamedParam> one = {{"normalized_shape", 4}, {"eps", 1}};
  const CallDesc widened = InferCall(op, flat, one).value();
  EXPECT_EQ(widened.params[0], ParamValue(Dims{4}));
  EXPECT_EQ(widened.params[1], ParamValue(1.0));
}

TEST(ContractTest, AddRules) {
  const auto error = [](DType dtype, const Dims& a, const Dims& b, ParamValue alpha) {
    const std::vector<Operand> inputs = {Of(dtype, a), Of(dtype, b)};
    const std::vector<NamedParam> params = {{"alpha", alpha}};
    const auto call = InferCall(Op("AddFwdOp"), inputs, params);
    return call.ok() ? call->output(0).desc.shape.ToString() : Cat(call.status().message());
  };
  EXPECT_EQ(error(DType::kFloat32, {3, 1}, {1, 4}, 1), "(3, 4)");
  EXPECT_EQ(error(DType::kFloat32, {}, {0}, 0.5), "(0,)");
  EXPECT_EQ(error(DType::kBool, {2}, {2}, 1), "(2,)");
  EXPECT_EQ(error(DType::kInt32, {2}, {2}, -3), "(2,)");
  EXPECT_THAT(error(DType::kInt32, {2}, {2}, 1.5),
              HasSubstr("AddFwdOp: expected input.is_floating or is_int(alpha), got AddFwdOp("));
  EXPECT_THAT(error(DType::kFloat32, {3}, {4}, 1),
              HasSubstr("shapes (3,) and (4,) do not broadcast"));
  EXPECT_THAT(error(DType::kFloat32, {2}, {2}, ParamValue(DType::kInt8)),
              HasSubstr("parameter 'alpha': expected int_or_float, got int8"));
}

// Wrong dtypes, ranks and shapes of the row-wise and elementwise operators, each in full.
TEST(ContractTest, TensorErrorsOfEachKind) {
  const Operand x = Of(kHalf, {2, 4});
  const Operand whole = Of(DType::kFloat32, {2, 4});
  const Operand bits = Of(DType::kInt32, {2, 4});
  const std::vector<NamedParam> rows = {{"normalized_shape", Dims{4}}};
  const auto error = [](std::string_view op, std::vector<Operand> inputs, const Operand& output,
                        std::vector<NamedParam> params = {}) {
    return ErrorOf(op, {std::move(inputs), {output}, std::move(params)});
  };
  EXPECT_EQ(error("RMSNormFwdOp", {bits, Of(kHalf, {4})}, x, rows),
            "RMSNormFwdOp: input 'x': expected dtype float16 or bfloat16, got int32");
  EXPECT_EQ(error("RMSNormFwdOp", {x, Of(DType::kFloat32, {4})}, x, rows),
            "RMSNormFwdOp: input 'weight': expected dtype float16 (that of 'x'), got float32");
  EXPECT_EQ(error("RMSNormFwdOp", {x, Of(kHalf, {4})}, Of(kHalf, {4, 2}), rows),
            "RMSNormFwdOp: output 'output': expected shape (2, 4), got (4, 2)");
  EXPECT_THAT(error("RMSNormFwdOp", {x, Of(kHalf, {5})}, x, rows),
              HasSubstr("RMSNormFwdOp: expected weight.shape == normalized_shape, got "
                        "RMSNormFwdOp(x=float16(2, 4), weight=float16(5,)"));
  EXPECT_EQ(error("SoftmaxFwdOp", {bits}, x),
            "SoftmaxFwdOp: input 'x': expected dtype float16, bfloat16 or float32, got int32");
  EXPECT_EQ(error("SoftmaxFwdOp", {x}, whole),
            "SoftmaxFwdOp: output 'output': expected dtype float16 (that of 'x'), got float32");
  EXPECT_EQ(error("SoftmaxFwdOp", {x}, Of(kHalf, {8})),
            "SoftmaxFwdOp: output 'output': expected shape (2, 4), got (8,)");
  EXPECT_EQ(error("AddFwdOp", {x, whole}, x),
            "AddFwdOp: input 'other': expected dtype float16 (that of 'input'), got float32");
  EXPECT_EQ(error("AddFwdOp", {x, Of(kHalf, {3, 1, 4})}, x),
            "AddFwdOp: output 'output': expected shape (3, 2, 4), got (2, 4)");
  EXPECT_EQ(error("AddFwdOp", {x}, x), "AddFwdOp: expected 2 inputs (input, other), got 1");
  EXPECT_EQ(error("SiluAndMulFwdOp", {Of(kHalf, {8})}, x),
            "SiluAndMulFwdOp: input 'x': expected shape [M, N2], got (8,)");
  EXPECT_EQ(error("SiluAndMulFwdOp", {bits}, x),
            "SiluAndMulFwdOp: input 'x': expected dtype float16, bfloat16 or float32, got int32");
  EXPECT_EQ(error("SiluAndMulFwdOp", {x}, x),
            "SiluAndMulFwdOp: output 'output': expected shape (2, 2), got (2, 4)");
}

TEST(ContractTest, SiluAndMulNeedsAnEvenWidth) {
  const std::vector<Operand> odd = {Of(kHalf, {2, 5})};
  EXPECT_THAT(Cat(InferCall(Op("SiluAndMulFwdOp"), odd, {}).status().message()),
              HasSubstr("SiluAndMulFwdOp: expected N2 % 2 == 0, got"));
  const std::vector<Operand> even = {Of(kHalf, {2, 6})};
  EXPECT_EQ(InferCall(Op("SiluAndMulFwdOp"), even, {})->output(0).desc.shape, (Dims{2, 3}));
}

// Guards: a value among the rules that cannot be had names the operator, what was to be computed,
// why it cannot be, and the call.
TEST(ContractTest, LetErrorsNameTheCall) {
  const std::vector<Operand> x = {Of(kHalf, {1, 2, 8, 8})};
  const std::vector<NamedParam> params = {{"kernel_size", Dims{12, 2}}, {"stride", Dims{2, 1}}};
  const absl::Status status = InferCall(Op("AvgPool2dFwdOp"), x, params).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  const std::string message = Cat(status.message());
  EXPECT_THAT(message, HasSubstr("AvgPool2dFwdOp: let 'H_out' = pooled_extent(H_in, "));
  EXPECT_THAT(message, HasSubstr(": the window does not fit extent 8; got "
                                 "AvgPool2dFwdOp(input=float16(1, 2, 8, 8), kernel_size=(12, 2), "
                                 "stride=(2, 1)"));
}

// Guards: what pooling refuses is told of its own parameters, also where they keep the values among
// the rules from being computed.
TEST(ContractTest, PoolingErrorsNameTheParameters) {
  const std::vector<Operand> x = {Of(kHalf, {1, 2, 8, 8})};
  const auto error_of = [&](std::string_view op, const std::vector<NamedParam>& params) {
    return Cat(InferCall(Op(op), x, params).status().message());
  };
  EXPECT_THAT(error_of("AvgPool2dFwdOp", {{"kernel_size", Dims{2, 2}}, {"stride", Dims{0, 1}}}),
              HasSubstr("AvgPool2dFwdOp: expected min(kernel_size) > 0 and min(stride) > 0, got "
                        "AvgPool2dFwdOp("));
  EXPECT_THAT(error_of("AvgPool2dFwdOp", {{"kernel_size", Dims{-1}}}),
              HasSubstr("expected min(kernel_size) > 0"));
  EXPECT_THAT(error_of("AvgPool2dFwdOp", {{"kernel_size", Dims{2}}, {"padding", Dims{-1}}}),
              HasSubstr("expected min(padding) >= 0, got"));
  EXPECT_THAT(error_of("AvgPool2dFwdOp", {{"kernel_size", Dims{2, 2, 2}}}),
              HasSubstr("expected len(kernel_size) in (1, 2) and len(stride) in (1, 2), got"));
  EXPECT_THAT(error_of("MaxPool2dFwdOp", {{"kernel_size", Dims{2}}, {"dilation", Dims{0}}}),
              HasSubstr("min(stride) > 0 and min(dilation) > 0, got"));
  for (const Dims& size : {Dims{0}, Dims{3, -2}, Dims{0, 2}}) {
    EXPECT_THAT(error_of("AdaptiveAvgPool2dFwdOp", {{"output_size", size}}),
                HasSubstr("expected (output_size[0] > 0 or output_size[0] == -1) and"))
        << size.ToString();
  }
  for (const Dims& size : {Dims{}, Dims{2, 2, 2}}) {
    EXPECT_THAT(error_of("AdaptiveAvgPool2dFwdOp", {{"output_size", size}}),
                HasSubstr("expected len(output_size) in (1, 2), got"))
        << size.ToString();
  }
  EXPECT_EQ(InferCall(Op("AdaptiveAvgPool2dFwdOp"), x,
                      std::vector<NamedParam>{{"output_size", Dims{-1, 3}}})
                ->output(0)
                .desc.shape,
            (Dims{1, 2, 8, 3}));
}

// Optional and mutated inputs, dtype parameters and combinations, on an operator made for it.
TEST(ContractTest, OptionalInputsAndCombinations) {
  const Manifest manifest = Manifest::FromYaml(R"(
ScaleFwdOp:
  family: test
  reference: none
  formula: y = x * s
  source: here
  signature:
    inputs:
      x: {dtype: [int8, float16]}
      s: {dtype: [float16, float32], optional: true}
    outputs:
      y: {dtype: [float16, float32], shape: x.shape}
    params:
      axes: {type: axes, default: null, nullable: true}
  dtype_combos: [[int8, float16, float16], [int8, float32, float32], [float16, float16, float16]]
  shape_rules: ['s.shape == reduced_shape(x.shape, axes, false) if s.present else true']
  roofline: {flops: product(x.shape), bytes: product(x.shape)}
)",
                                               "f.yaml")
                                .value();
  const OpSpec& op = manifest.ops()[0];
  const std::vector<Operand> both = {Of(DType::kInt8, {2, 3}), Of(DType::kFloat32, {3})};
  const std::vector<NamedParam> axis = {{"axes", -2}};
  const CallDesc call = InferCall(op, both, axis).value();
  EXPECT_EQ(call.output(0).desc.dtype, DType::kFloat32);
  EXPECT_EQ(call.params[0], ParamValue(Dims{0}));
  // Left out: two combinations are possible for int8, one for float16.
  const std::vector<Operand> alone = {Of(DType::kInt8, {2, 3})};
  EXPECT_THAT(Cat(InferCall(op, alone, {}).status().message()),
              HasSubstr("output 'y': its dtype does not follow from the inputs"));
  const std::vector<Operand> half = {Of(kHalf, {2, 3})};
  const CallDesc absent = InferCall(op, half, {}).value();
  EXPECT_FALSE(absent.input(1).present);
  EXPECT_EQ(absent.output(0).desc.dtype, kHalf);
  EXPECT_EQ(absent.params[0], ParamValue(Dims{0, 1}));
  const std::vector<Operand> mixed = {Of(kHalf, {2, 3}), Of(DType::kFloat32, {3})};
  const std::vector<Operand> out = {Of(kHalf, {2, 3})};
  EXPECT_EQ(Cat(MakeCall(op, mixed, out, axis).status().message()),
            "ScaleFwdOp: dtypes: expected a combination that the manifest lists, got float16, "
            "float32, float16");
}

// Guards: a ninth dimension is refused, not forgotten.
// Without inputs the outputs follow from the parameters, and the caller's tensor says which dtype.
TEST(ContractTest, OperatorsWithoutInputs) {
  const OpSpec& op = Op("AlibiFwdOp");
  const std::vector<NamedParam> params = {{"seq_len", 5}, {"num_heads", 3}};
  EXPECT_EQ(&op.LeadingTensor(), &op.outputs[0]);
  EXPECT_EQ(ErrorOf("AlibiFwdOp", {{}, {Of(kHalf, {3, 5, 5})}, params}), "ok");
  EXPECT_EQ(ErrorOf("AlibiFwdOp", {{}, {Of(DType::kFloat32, {3, 5, 5})}, params}), "ok");
  EXPECT_THAT(ErrorOf("AlibiFwdOp", {{}, {Of(DType::kInt32, {3, 5, 5})}, params}),
              HasSubstr("output 'output': expected dtype float16, bfloat16 or float32, got int32"));
  EXPECT_THAT(ErrorOf("AlibiFwdOp", {{}, {Of(kHalf, {5, 3, 3})}, params}),
              HasSubstr("expected shape (3, 5, 5), got (5, 3, 3)"));
  EXPECT_THAT(
      ErrorOf("AlibiFwdOp", {{}, {Of(kHalf, {0, 5, 5})}, {{"seq_len", 5}, {"num_heads", 0}}}),
      HasSubstr("expected num_heads > 0"));
  EXPECT_THAT(ErrorOf("AlibiFwdOp", {{}, {Of(kHalf, {3, 5, 5})}, {{"seq_len", 5}}}),
              HasSubstr("parameter 'num_heads'"));
  const CallDesc call = InferCall(op, {}, params, DType::kBFloat16).value();
  EXPECT_EQ(call.output(0).desc.dtype, DType::kBFloat16);
  EXPECT_EQ(call.output(0).desc.shape, (Dims{3, 5, 5}));
  EXPECT_THAT(Cat(InferCall(op, {}, params).status().message()),
              HasSubstr("its dtype does not follow"));
}

TEST(ContractTest, MoreDimensionsThanFit) {
  const Dims nine = {1, 1, 1, 1, 1, 1, 1, 1, 5};
  EXPECT_EQ(nine.rank(), 8);
  EXPECT_TRUE(nine.truncated());
  EXPECT_NE(nine, (Dims{1, 1, 1, 1, 1, 1, 1, 1}));
  const Operand x = Of(kHalf, nine);
  EXPECT_THAT(
      ErrorOf("AddFwdOp", {{x, x}, {x}, {}}),
      HasSubstr("input 'input': expected at most 8 dimensions, got (1, 1, 1, 1, 1, 1, 1, 1,"));
  const Operand strides = Strided(kHalf, {2}, nine);
  EXPECT_THAT(ErrorOf("AddFwdOp", {{strides, strides}, {Of(kHalf, {2})}, {}}),
              HasSubstr("expected at most 8 dimensions"));
  EXPECT_THAT(
      ErrorOf("RMSNormFwdOp",
              {{Of(kHalf, {4}), Of(kHalf, {4})}, {Of(kHalf, {4})}, {{"normalized_shape", nine}}}),
      HasSubstr("parameter 'normalized_shape': expected at most 8 values"));
}

// Guards: strides that no element uses do not tell equal views apart, whatever they are.
TEST(ContractTest, UnusedStridesAreSettled) {
  const std::vector<Operand> odd = {Strided(kHalf, {1, 4, 1}, {INT64_MIN, 1, 77}),
                                    Strided(kHalf, {1, 4, 1}, {4, 1, 1})};
  const std::vector<Operand> out = {Strided(kHalf, {1, 4, 1}, {0, -1, INT64_MAX})};
  const CallDesc call = MakeCall(Op("AddFwdOp"), odd, out, {}).value();
  EXPECT_EQ(call.input(0).desc.strides, (Dims{4, 1, 1}));
  EXPECT_EQ(call.input(1).desc.strides, (Dims{4, 1, 1}));
  EXPECT_EQ(call.output(0).desc.strides, (Dims{-4, -1, 1}));
  const Operand empty = Strided(kHalf, {0, 3}, {INT64_MIN, INT64_MAX});
  const std::vector<Operand> none = {empty, empty};
  const std::vector<Operand> no_out = {empty};
  EXPECT_EQ(MakeCall(Op("AddFwdOp"), none, no_out, {})->output(0).desc.strides, (Dims{3, 1}));
}

// Guards: a view whose extent in bytes passes int64 is refused, in either direction.
TEST(ContractTest, ExtentsThatOverflow) {
  const Operand far = Strided(DType::kInt8, {2}, {INT64_MIN});
  EXPECT_THAT(ErrorOf("AddFwdOp", {{far, far}, {Of(DType::kInt8, {2})}, {}}),
              HasSubstr("expected a view of less than 2^63 bytes"));
}

TEST(ContractTest, WorkloadsNameInputsThatExistOnce) {
  Workload workload;
  workload.input_shapes = {{"input", {4}}, {"other", {4}}, {"extra", {4}}};
  EXPECT_EQ(Cat(WorkloadCall(Op("AddFwdOp"), workload, kHalf).status().message()),
            "AddFwdOp: no input 'extra'; it has input, other");
  workload.input_shapes = {{"input", {4}}, {"other", {4}}, {"input", {5}}};
  EXPECT_EQ(Cat(WorkloadCall(Op("AddFwdOp"), workload, kHalf).status().message()),
            "AddFwdOp: input 'input' is given twice");
}

// Guards every operator against float parameters that float32 does not hold: 0 * inf would be NaN
// where the reference gives 0. Infinities, NaN and the largest float stay what they are.
TEST(ContractTest, FloatsBeyondFloat32AreRefused) {
  int checked = 0;
  for (const OpSpec& op : Manifest::BuiltinOps()) {
    Workload workload = op.workloads.front();
    const DType dtype = workload.dtypes.front();
    for (const ParamSpec& param : op.params) {
      using Type = ParamSpec::Type;
      if (param.type != Type::kFloat && param.type != Type::kIntOrFloat) continue;
      const auto status_of = [&](double value) {
        Workload changed = workload;
        std::erase_if(changed.params, [&](const auto& given) { return given.first == param.name; });
        changed.params.emplace_back(param.name, value);
        return WorkloadCall(op, changed, dtype).status();
      };
      for (const double value : {1e300, -3.5e38}) {
        EXPECT_THAT(
            Cat(status_of(value).message()),
            HasSubstr(Cat("'", param.name, "': expected a number that float32 holds, got ")))
            << op.name;
      }
      EXPECT_THAT(Cat(status_of(3.4028234663852886e38).message()), Not(HasSubstr("float32 holds")));
      EXPECT_THAT(Cat(status_of(INFINITY).message()), Not(HasSubstr("float32 holds")));
      EXPECT_THAT(Cat(status_of(NAN).message()), Not(HasSubstr("float32 holds")));
      ++checked;
    }
  }
  EXPECT_GE(checked, 16);
}

}  // namespace
}  // namespace tilewright
