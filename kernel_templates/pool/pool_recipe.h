// The recipe of every pooling operator, and what its variants share. An operator states what
// becomes of a window and how windows lie.
#ifndef TILEWRIGHT_KERNEL_TEMPLATES_POOL_POOL_RECIPE_H_
#define TILEWRIGHT_KERNEL_TEMPLATES_POOL_POOL_RECIPE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "kernel_templates/memory_bound.h"
#include "kernel_templates/pool/params.cuh"
#include "kernel_templates/recipe.h"

namespace tilewright {

struct PoolOperator {
  std::string_view op;  // struct in pool_ops.cuh
  bool average = false;
  bool indices = false;
  bool adaptive = false;
};

std::unique_ptr<Recipe> MakePoolRecipe(const PoolOperator& op);

// One spatial axis.
struct PoolAxis {
  int64_t input = 1;
  int64_t output = 1;
  int64_t kernel = 1;  // of adaptive windows the largest
  int64_t stride = 1;
  int64_t padding = 0;
  int64_t dilation = 1;
};

// A call with its axes innermost first, as params.cuh has them; those it lacks have extent 1.
// Strides are in elements.
struct PoolProblem {
  DType dtype = DType::kFloat32;
  std::array<PoolAxis, kPoolSpatial> axes;
  int64_t channels = 1;
  int64_t batch = 1;
  std::array<int64_t, kPoolDims> input_stride{};
  std::array<int64_t, kPoolDims> output_stride{};
  std::array<int64_t, kPoolDims> indices_stride{};
  int spatial = 1;             // axes that the input has
  bool one_plane_dim = false;  // batch and channels are one dim, under `channels`
  int64_t divisor = 0;
  bool count_padding = false;
  bool adaptive = false;

  bool dense_width = false;  // in every operand
  int vector = 1;            // most elements an access along the input's width
  int store = 1;             // and the output's
  int index_store = 1;       // and the indices'
  bool wide = false;         // 64-bit coordinates

  int64_t outputs() const;  // 0 where there are none
  // Windows of neighbouring planes of the output share planes of the input.
  bool shares_planes() const {
    return spatial == 3 && axes[2].kernel > axes[2].stride && axes[2].dilation == 1;
  }
};
PoolProblem PlanPool(const PoolOperator& op, const CallDesc& call);

// Bytes that the problem moves.
double PoolBytes(const PoolProblem& problem, bool indices);

// Parameters of a kernel whose grid is `width` by the output's other axes, `depth` of its planes at
// a time, as a launch of one thread, or `lanes` of them, each.
Launch PoolLaunch(const PoolProblem& problem, bool indices, int64_t width, int64_t lanes,
                  int64_t threads, int64_t depth = 1);

// The variants, in order of preference.
std::unique_ptr<Variant> MakeSlabPoolVariant(const PoolOperator& op);
std::unique_ptr<Variant> MakeStripPoolVariant(const PoolOperator& op);
std::unique_ptr<Variant> MakeWindowPoolVariant(const PoolOperator& op);
std::unique_ptr<Variant> MakePortablePoolVariant(const PoolOperator& op);

}  // namespace tilewright

#endif  // TILEWRIGHT_KERNEL_TEMPLATES_POOL_POOL_RECIPE_H_
