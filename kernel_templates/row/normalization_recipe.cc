// The norms: what their rows and channels are.
#include "kernel_templates/row/norm_recipe.h"

namespace tilewright {
namespace {

constexpr float kImplicitEps = 0x1p-23f;
// Channels beyond this go in passes, by many CTAs each.
constexpr int64_t kLongestChannel = 32768;

absl::InlinedVector<int, 4> Whole(const NormProblem& problem) {
  absl::InlinedVector<int, 4> operands = problem.inputs;
  operands.insert(operands.end(), problem.outputs.begin(), problem.outputs.end());
  return operands;
}

// Rows over the last `axes` axes.
void RowsOverLast(const CallDesc& call, int axes, NormProblem* problem) {
  const int rank = call.operands[0].desc.rank();
  for (int axis = rank - 1; axis >= 0; --axis) {
    (axis >= rank - axes ? problem->run : problem->rows)
        .push_back(AxisOf(call, Whole(*problem), axis));
  }
}

// Rows of `row_channels` channels of a sample.
void RowsOfChannels(const CallDesc& call, int64_t row_channels, NormProblem* problem) {
  const int rank = call.operands[0].desc.rank();
  for (int axis = rank - 1; axis >= 2; --axis) {
    problem->run.push_back(AxisOf(call, Whole(*problem), axis));
  }
  LayoutDim inside = AxisOf(call, Whole(*problem), 1);
  LayoutDim groups = inside;
  groups.extent = row_channels > 0 ? inside.extent / row_channels : 0;
  inside.extent = row_channels;
  for (int64_t& stride : groups.strides) stride *= row_channels;
  problem->runs.push_back(inside);
  problem->rows = {groups, AxisOf(call, Whole(*problem), 0)};
  problem->channel_rows = groups.extent;
}

// Rows that are a channel of every sample.
void RowsAreChannels(const CallDesc& call, NormProblem* problem) {
  const int rank = call.operands[0].desc.rank();
  for (int axis = rank - 1; axis >= 2; --axis) {
    problem->run.push_back(AxisOf(call, Whole(*problem), axis));
  }
  problem->runs.push_back(AxisOf(call, Whole(*problem), 0));
  problem->rows.push_back(AxisOf(call, Whole(*problem), 1));
  problem->channel_rows = problem->rows[0].extent;
  problem->kind = NormColumnKind::kChannel;
  problem->longest = kLongestChannel;
}

float EpsOf(const ParamValue& eps) {
  return eps.is_null() ? kImplicitEps : static_cast<float>(eps.as_float());
}

// Operands: x, weight, bias, output. Params: normalized_shape, eps.
NormProblem LayerNormProblem(const CallDesc& call) {
  NormProblem problem;
  problem.op = "AffineNormRow";
  problem.inputs = {0};
  problem.outputs = {3};
  problem.columns = {1, 2};
  problem.kind = NormColumnKind::kElement;
  problem.eps = EpsOf(call.params[1]);
  RowsOverLast(call, call.operands[1].desc.rank(), &problem);
  return problem;
}

// Operands: x, residual, weight, [bias,] output, residual_out. Params: eps.
NormProblem FusedAddProblem(const CallDesc& call, bool bias) {
  NormProblem problem;
  problem.op = bias ? "FusedAddLayerNormRow" : "FusedAddRmsNormRow";
  problem.inputs = {0, 1};
  problem.columns = {2};
  if (bias) problem.columns.push_back(3);
  problem.outputs = {bias ? 4 : 3, bias ? 5 : 4};
  problem.kind = NormColumnKind::kElement;
  problem.eps = EpsOf(call.params[0]);
  RowsOverLast(call, 1, &problem);
  return problem;
}
NormProblem FusedAddRmsProblem(const CallDesc& call) { return FusedAddProblem(call, false); }
NormProblem FusedAddLayerProblem(const CallDesc& call) { return FusedAddProblem(call, true); }

// Operands: x, scale, shift, [gate,] output. Params: eps.
NormProblem AdaptiveProblem(const CallDesc& call, bool gate) {
  NormProblem problem;
  problem.op = gate ? "AdaLayerNormZeroRow" : "AdaLayerNormRow";
  problem.inputs = {0, 1, 2};
  if (gate) problem.inputs.push_back(3);
  problem.outputs = {gate ? 4 : 3};
  problem.eps = EpsOf(call.params[0]);
  RowsOverLast(call, 1, &problem);
  return problem;
}
NormProblem AdaLayerProblem(const CallDesc& call) { return AdaptiveProblem(call, false); }
NormProblem AdaLayerZeroProblem(const CallDesc& call) { return AdaptiveProblem(call, true); }

// Operands: x, running_mean, running_var, weight, bias, output. Params: training, momentum, eps.
NormProblem BatchNormProblem(const CallDesc& call) {
  const bool training = call.params[0].as_bool();
  NormProblem problem;
  problem.inputs = {0};
  problem.outputs = {5};
  problem.columns = {3, 4};
  problem.momentum = static_cast<float>(call.params[1].as_float());
  problem.eps = EpsOf(call.params[2]);
  if (training) {
    problem.op = "BatchNormRow";
    problem.sums_op = "BatchMoments";
    problem.apply_op = "ApplyBatchNorm";
    problem.results = {1, 2};
  } else {
    problem.apply_op = "ApplyGivenNorm";
    problem.columns = {3, 4, 1, 2};
  }
  RowsAreChannels(call, &problem);
  return problem;
}

// Operands: grad_out, x, weight, mean, rstd, grad_x, grad_weight, grad_bias.
NormProblem BatchNormBackwardProblem(const CallDesc& call) {
  NormProblem problem;
  problem.op = "BatchNormGradientRow";
  problem.sums_op = "BatchGradientSums";
  problem.apply_op = "ApplyBatchGradient";
  problem.inputs = {0, 1};
  problem.outputs = {5};
  problem.columns = {2, 3, 4};
  problem.results = {6, 7};
  RowsAreChannels(call, &problem);
  return problem;
}

// Operands: x, weight, bias, output. Params: num_groups, eps.
NormProblem GroupNormProblem(const CallDesc& call) {
  NormProblem problem;
  const bool affine = call.operands[1].present;
  problem.op = affine ? "AffineNormRow" : "PlainNormRow";
  problem.inputs = {0};
  problem.outputs = {3};
  if (affine) {
    problem.columns = {1, 2};
    problem.kind = NormColumnKind::kChannel;
  }
  problem.eps = EpsOf(call.params[1]);
  RowsOfChannels(call, call.operands[0].desc.shape[1] / call.params[0].as_int(), &problem);
  return problem;
}

// Operands: x, running_mean, running_var, weight, bias, output. Params: use_input_stats, momentum,
// eps.
NormProblem InstanceNormProblem(const CallDesc& call) {
  NormProblem problem;
  const bool affine = call.operands[3].present;
  problem.inputs = {0};
  problem.outputs = {5};
  problem.eps = EpsOf(call.params[2]);
  if (affine) problem.columns = {3, 4};
  if (!call.params[0].as_bool()) {
    int64_t length = 1;
    for (int axis = 2; axis < call.operands[0].desc.rank(); ++axis) {
      length *= call.operands[0].desc.shape[axis];
    }
    if (length <= kLongestChannel) {
      problem.op = affine ? "GivenAffineNormRow" : "GivenPlainNormRow";
      problem.given = true;
      problem.columns.insert(problem.columns.end(), {1, 2});
      problem.kind = NormColumnKind::kChannel;
      RowsOfChannels(call, 1, &problem);
      return problem;
    }
    problem.apply_op = affine ? "ApplyGivenNorm" : "ApplyGivenPlainNorm";
    // The statistics' places follow those of weight and bias.
    problem.columns = {affine ? 3 : 1, affine ? 4 : 2, 1, 2};
    RowsAreChannels(call, &problem);
    return problem;
  }
  problem.op = affine ? "AffineNormRow" : "PlainNormRow";
  if (affine) problem.kind = NormColumnKind::kChannel;
  RowsOfChannels(call, 1, &problem);
  return problem;
}

}  // namespace

TILEWRIGHT_RECIPE(LayerNormFwdOp) { return MakeNormRecipe(LayerNormProblem); }
TILEWRIGHT_RECIPE(FusedAddRMSNormFwdOp) { return MakeNormRecipe(FusedAddRmsProblem); }
TILEWRIGHT_RECIPE(FusedAddLayerNormFwdOp) { return MakeNormRecipe(FusedAddLayerProblem); }
TILEWRIGHT_RECIPE(AdaLayerNormFwdOp) { return MakeNormRecipe(AdaLayerProblem); }
TILEWRIGHT_RECIPE(AdaLayerNormZeroFwdOp) { return MakeNormRecipe(AdaLayerZeroProblem); }
TILEWRIGHT_RECIPE(BatchNormFwdOp) { return MakeNormRecipe(BatchNormProblem); }
TILEWRIGHT_RECIPE(BatchNormBwdOp) { return MakeNormRecipe(BatchNormBackwardProblem); }
TILEWRIGHT_RECIPE(GroupNormFwdOp) { return MakeNormRecipe(GroupNormProblem); }
TILEWRIGHT_RECIPE(InstanceNormFwdOp) { return MakeNormRecipe(InstanceNormProblem); }

}  // namespace tilewright
