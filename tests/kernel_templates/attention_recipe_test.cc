// Guards the attention recipes: which variant serves what, chunks of keys, launches and workspace,
// and that the values an operator chooses for its inputs make valid calls. Host only.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "kernel_templates/attention/problem.h"
#include "kernel_templates/attention/variants.h"
#include "kernel_templates/recipe.h"
#include "manifest/edge_cases.h"
#include "manifest/op_spec.h"
#include "tests/kernel_templates/memory_bound_cases.h"

namespace tilewright {
namespace {

DeviceProfile Ampere() { return BuiltinDeviceProfile("sm_80").value(); }

const char* const kOps[] = {"MultiHeadAttentionFwdOp",
                            "GroupedQueryAttentionFwdOp",
                            "GroupedQueryAttentionPrefillFwdOp",
                            "GroupedQueryAttentionPrefillPagedWithKVCacheFwdOp",
                            "GroupedQueryAttentionSlidingWindowFwdOp",
                            "GroupedQueryAttentionSlidingWindowVarlenFwdOp",
                            "MultiHeadAttentionDecodeWithKVCacheFwdOp",
                            "MultiHeadAttentionDecodePagedWithKVCacheFwdOp",
                            "GroupedQueryAttentionDecodeWithKVCacheFwdOp",
                            "GroupedQueryAttentionDecodePagedWithKVCacheFwdOp"};

CallDesc WorkloadNamed(std::string_view op, std::string_view label, DType dtype) {
  const OpSpec& spec = *Manifest::FindBuiltin(op);
  for (const Workload& workload : spec.workloads) {
    if (workload.label == label) return WorkloadCall(spec, workload, dtype).value();
  }
  ADD_FAILURE() << label;
  return {};
}

std::string Served(std::string_view op, const CallDesc& call, const DeviceProfile& device) {
  const auto recipe = MakeBuiltinRecipe(op);
  const auto variant = SelectVariant(*recipe, call, device);
  return variant.ok() ? std::string((*variant)->name()) : variant.status().ToString();
}

// Guards: on Hopper every catalog workload of many queries takes the tensor-core kernel and every
// decode the split one; elsewhere the portable one serves.
TEST(AttentionRecipeTest, EachWorkloadGoesToItsVariant) {
  for (const char* op : kOps) {
    const OpSpec& spec = *Manifest::FindBuiltin(op);
    const bool decode = spec.name.find("Decode") != std::string::npos;
    for (const Workload& workload : spec.workloads) {
      for (const DType dtype : workload.dtypes) {
        const CallDesc call = WorkloadCall(spec, workload, dtype).value();
        const bool narrow = DTypeSize(dtype) == 1;
        EXPECT_EQ(Served(op, call, H200()), decode   ? "split"
                                            : narrow ? "float8"
                                                     : "wgmma")
            << workload.label;
        EXPECT_EQ(Served(op, call, Ampere()), decode ? "split" : "mma") << workload.label;
      }
    }
  }
}

// Guards: every edge case is served by the portable variant on both, its default being legal, and
// binds to launches whose grids are not empty.
TEST(AttentionRecipeTest, EveryEdgeCaseBinds) {
  for (const char* op : kOps) {
    const OpSpec& spec = *Manifest::FindBuiltin(op);
    const auto recipe = MakeBuiltinRecipe(op);
    for (const Workload& edge : BuiltinEdgeCases(op)) {
      const DType dtype = edge.dtypes.empty() ? DType::kFloat16 : edge.dtypes[0];
      const auto call = WorkloadCall(spec, edge, dtype);
      ASSERT_TRUE(call.ok()) << edge.label << ": " << call.status();
      for (const DeviceProfile& device : {H200(), Ampere()}) {
        for (const Variant* variant : recipe->variants()) {
          if (variant->name() != "mma" && !variant->Serves(*call, device).ok()) continue;
          ASSERT_TRUE(variant->Serves(*call, device).ok()) << edge.label;
          const Config config = variant->Default(*call, device);
          EXPECT_TRUE(variant->Legal(*call, config, device).ok())
              << spec.name << " " << edge.label << " " << config.ToJson();
          const auto bound = variant->Bind(*call, config, device);
          ASSERT_TRUE(bound.ok()) << bound.status();
          for (const Launch& launch : bound->launches) {
            EXPECT_GT(launch.grid[0], 0u) << edge.label;
            EXPECT_LE(launch.params.size(), 4096u);
            EXPECT_LT(launch.kernel, static_cast<int>(variant->Kernels(*call, config).size()));
          }
        }
      }
    }
  }
}

// Guards: keys are cut so that two blocks an SM are occupied once, one where there is little to
// read; partial results take workspace only where there are several chunks, and more of them than
// one cluster that has its SMs to itself.
TEST(AttentionRecipeTest, ChunksOccupyTheDeviceOnce) {
  struct Expected {
    const char* label;
    int64_t chunk;
    bool several;
    uint32_t cluster;
  };
  const char* op = "GroupedQueryAttentionDecodeWithKVCacheFwdOp";
  const auto recipe = MakeBuiltinRecipe(op);
  const Variant& split = *FindVariant(*recipe, "split");
  for (const auto& [label, chunk, several, cluster] :
       {Expected{"llama-8b-4k", 4096, false, 1}, Expected{"llama-70b-32k", 4096, true, 1},
        Expected{"qwen3-30b-a3b-bs1-1k", 128, false, 8},
        Expected{"qwen3-30b-a3b-bs1-8k", 256, true, 1},
        Expected{"qwen3-30b-a3b-bs1-64k", 1024, true, 1},
        Expected{"qwen3-30b-a3b-bs1-256k", 4096, true, 1}}) {
    const CallDesc call = WorkloadNamed(op, label, DType::kFloat16);
    const Config config = split.Default(call, H200());
    EXPECT_EQ(config.Get("chunk"), chunk) << label;
    const BoundCall bound = split.Bind(call, config, H200()).value();
    EXPECT_EQ(bound.launches.size(), several ? 2u : 1u) << label;
    EXPECT_EQ(bound.workspace_bytes > 0, several) << label;
    EXPECT_EQ(bound.launches[0].cluster[0], cluster) << label;
    EXPECT_LE(bound.launches[0].grid[0], 2 * 132u) << label;
    const Dims& k = call.operands[1].desc.shape;  // sequences, keys, heads
    const int64_t chunks = (k[1] + chunk - 1) / chunk;
    EXPECT_EQ(bound.launches[0].grid[0], k[0] * k[2] * chunks) << label;
    if (several) {
      const Dims& q = call.operands[0].desc.shape;  // sequences, heads
      EXPECT_EQ(bound.launches[1].grid[0], q[0] * q[1]) << label;
    }
  }
}

// Guards: where the output is staged over the queries and some may see no key, no CTA takes two
// tiles; persistent CTAs else. Grids of 40 sequences of 300 queries and 16 heads on 132 SMs.
TEST(AttentionRecipeTest, BlindTilesHaveACtaOfTheirOwn) {
  const char* op = "GroupedQueryAttentionPrefillFwdOp";
  const auto recipe = MakeBuiltinRecipe(op);
  const Variant& wgmma = *FindVariant(*recipe, "wgmma");
  const auto call = [&](int64_t sequences, int64_t keys, int64_t dim, bool causal) {
    const auto tensor = [](DType dtype, const Dims& shape) {
      Operand operand;
      operand.desc = TensorDesc::Contiguous(dtype, shape);
      return operand;
    };
    const Operand kv = tensor(DType::kBFloat16, {sequences * keys, 1, dim});
    const Operand starts = tensor(DType::kInt32, {sequences + 1});
    const Operand scales = tensor(DType::kFloat32, {sequences, 1});
    const std::vector<Operand> inputs = {tensor(DType::kBFloat16, {sequences * 300, 16, dim}),
                                         kv,
                                         kv,
                                         starts,
                                         starts,
                                         scales,
                                         scales,
                                         scales};
    const std::vector<NamedParam> params = {{"max_seqlen_q", int64_t{300}},
                                            {"max_seqlen_kv", keys},
                                            {"is_causal", causal},
                                            {"dtype", DType::kBFloat16}};
    return InferCall(*Manifest::FindBuiltin(op), inputs, params).value();
  };
  const auto grid = [&](const CallDesc& c, const Config& config) {
    return wgmma.Bind(c, config, H200()).value().launches.back().grid[0];
  };
  const auto default_grid = [&](const CallDesc& c) { return grid(c, wgmma.Default(c, H200())); };
  const Config separate = {"wgmma", {{"tile_n", 128}, {"groups", 2}, {"stages", 2}}};
  const int64_t tiles = 3 * 16;  // of a sequence

  EXPECT_EQ(default_grid(call(40, 300, 256, true)), 40 * tiles);
  EXPECT_EQ(default_grid(call(40, 300, 128, false)), 40 * tiles);
  EXPECT_EQ(grid(call(40, 300, 128, false), separate), 132);  // its output has a place of its own
  // One sequence: its length is the number of rows.
  EXPECT_FALSE(ReadPrefill(call(1, 300, 256, true)).may_be_blind());
  EXPECT_TRUE(ReadPrefill(call(1, 299, 256, true)).may_be_blind());
  EXPECT_FALSE(ReadPrefill(call(1, 299, 256, false)).may_be_blind());
}

// Guards: a growing cache is appended to before it is read, rotated queries and widened float8
// operands lie in the workspace without overlap.
TEST(AttentionRecipeTest, PreparationComesFirst) {
  const char* op = "GroupedQueryAttentionPrefillPagedWithKVCacheFwdOp";
  const auto recipe = MakeBuiltinRecipe(op);
  const Variant& wgmma = *FindVariant(*recipe, "wgmma");
  const CallDesc rope = WorkloadNamed(
      op, "llama-8b-prefill-paged-b8-prefix4k-chunk512-p64-full-rope", DType::kFloat16);
  const Config config = wgmma.Default(rope, H200());
  const BoundCall bound = wgmma.Bind(rope, config, H200()).value();
  const auto kernels = wgmma.Kernels(rope, config);
  ASSERT_EQ(bound.launches.size(), 2u);
  EXPECT_EQ(kernels[static_cast<size_t>(bound.launches[0].kernel)].template_file,
            "attention/append.cuh");
  EXPECT_EQ(bound.launches[0].grid[0], 4096u);  // a block a token
  EXPECT_EQ(bound.launches[1].kernel, 0);
  EXPECT_EQ(bound.workspace_bytes, 4096 * 32 * 128 * 2);
  EXPECT_EQ(bound.launches[1].tensor_maps[0].operand, kWorkspaceOperand);

  const CallDesc float8 = WorkloadNamed(
      op, "llama-8b-prefill-paged-fp8-cache-b8-prefix4k-chunk512-p64", DType::kFloat16);
  const BoundCall widened = wgmma.Bind(float8, wgmma.Default(float8, H200()), H200()).value();
  ASSERT_EQ(widened.launches.size(), 4u);
  const int64_t cache = int64_t{36864} * 8 * 128 * 2;
  EXPECT_EQ(widened.workspace_bytes, 2 * cache);
  EXPECT_EQ(widened.launches[3].tensor_maps[1].byte_offset, 0);
  EXPECT_EQ(widened.launches[3].tensor_maps[2].byte_offset, cache);
}

// Guards: every value of a float8 call is transposed, for each head.
TEST(AttentionRecipeTest, AllValuesAreTransposed) {
  const char* op = "GroupedQueryAttentionPrefillFwdOp";
  const OpSpec& spec = *Manifest::FindBuiltin(op);
  const auto recipe = MakeBuiltinRecipe(op);
  const Variant& float8 = *FindVariant(*recipe, "float8");
  int served = 0;
  for (const Workload& workload : spec.workloads) {
    const auto call = WorkloadCall(spec, workload, DType::kFloat8E4M3);
    if (!call.ok() || !float8.Serves(*call, H200()).ok()) continue;
    ++served;
    const BoundCall bound = float8.Bind(*call, float8.Default(*call, H200()), H200()).value();
    const Launch& transpose = bound.launches[0];
    EXPECT_EQ(transpose.kernel, 1) << workload.label;
    const Dims& v = call->operands[2].desc.shape;  // keys, heads
    EXPECT_GE(int64_t{transpose.grid[0]} * 128, v[0]) << workload.label;
    EXPECT_EQ(transpose.grid[1], v[1]) << workload.label;
  }
  EXPECT_GT(served, 0);
}

// Guards: what only the portable kernel can do goes there.
TEST(AttentionRecipeTest, OddCallsArePortable) {
  const char* op = "GroupedQueryAttentionFwdOp";
  CallDesc call = WorkloadNamed(op, "llama-8b-short", DType::kBFloat16);
  EXPECT_EQ(Served(op, call, H200()), "wgmma");
  CallDesc shifted = call;
  shifted.operands[1].alignment = 8;
  EXPECT_EQ(Served(op, shifted, H200()), "mma");
  const auto recipe = MakeBuiltinRecipe(op);
  const Variant& mma = *FindVariant(*recipe, "mma");
  const BoundCall bound = mma.Bind(shifted, mma.Default(shifted, H200()), H200()).value();
  const Dims& q = shifted.operands[0].desc.shape;
  EXPECT_EQ(bound.launches[0].grid[0], q[0] * q[1] * q[2] / 64);  // rows of a block
  CallDesc reversed = call;
  reversed.operands[2].desc.strides[1] = -reversed.operands[2].desc.strides[1];
  EXPECT_EQ(Served(op, reversed, H200()), "mma");
  CallDesc apart = call;
  apart.operands[3].desc.strides = Dims{int64_t{512} * 32 * 256, int64_t{32} * 256, 256, 2};
  EXPECT_EQ(Served(op, apart, H200()), "mma");
}

CallDesc CallOf(std::string_view op, const Workload& workload, DType dtype) {
  const auto call = WorkloadCall(*Manifest::FindBuiltin(op), workload, dtype);
  EXPECT_TRUE(call.ok()) << call.status();
  return call.ok() ? *call : CallDesc{};
}

// Guards: counts whose product no 64-bit integer holds are refused, not wrapped to a few tiles. A
// ragged call has them in little memory.
TEST(AttentionRecipeTest, ProductsOfCountsDoNotWrap) {
  const int64_t many = int64_t{1} << 20;
  const Workload ragged = {"ragged",
                           {{"q", Dims{1, many, 8}},
                            {"k", Dims{1, many, 8}},
                            {"v", Dims{1, many, 8}},
                            {"cu_seqlens_q", Dims{many + 1}},
                            {"cu_seqlens_k", Dims{many + 1}}},
                           {{"max_seqlen_q", ParamValue(int64_t{1} << 29)}},
                           {}};
  const char* op = "GroupedQueryAttentionSlidingWindowVarlenFwdOp";
  const CallDesc call = CallOf(op, ragged, DType::kFloat16);
  EXPECT_THAT(Served(op, call, H200()), testing::HasSubstr("too many tiles"));
  EXPECT_THAT(Served(op, call, Ampere()), testing::HasSubstr("tiles exceed the grid"));
}

// Guards: tokens of more elements than the appending kernel counts are refused.
TEST(AttentionRecipeTest, TokensThatAnIntDoesNotCountAreRefused) {
  const char* op = "GroupedQueryAttentionPrefillPagedWithKVCacheFwdOp";
  const auto served = [&](int64_t heads) {
    const Dims row = {1, heads, 256};
    const Workload workload = {
        "wide",
        {{"q", row},
         {"k_new", row},
         {"v_new", row},
         {"k_pages", row},
         {"v_pages", row},
         {"k_scale", Dims{1}},
         {"v_scale", Dims{1}},
         {"cu_seqlens_q", Dims{2}},
         {"cache_seqlens", Dims{1}},
         {"block_table", Dims{1, 1}}},
        {{"page_size", ParamValue(int64_t{1})}, {"max_seqlen_q", ParamValue(int64_t{1})}},
        {}};
    return Served(op, CallOf(op, workload, DType::kFloat16), Ampere());
  };
  EXPECT_EQ(served((1 << 23) - 1), "mma");
  EXPECT_THAT(served(1 << 23), testing::HasSubstr("2^31 elements a token"));
}

// Guards: the numbers of a scale and a softcap that reach the kernels are finite, a scale that
// float32 does not tell from zero goes where scores are scaled first, and a cap too large to matter
// is none (its tanh would be off by 1e-7 of it).
TEST(AttentionRecipeTest, ScalesAndCapsStayFinite) {
  const char* op = "GroupedQueryAttentionPrefillFwdOp";
  const auto call = [&](std::string_view name, double value) {
    const OpSpec& spec = *Manifest::FindBuiltin(op);
    Workload workload = spec.workloads[0];
    workload.params.emplace_back(std::string(name), ParamValue(value));
    return CallOf(op, workload, DType::kFloat16);
  };
  for (const double cap : {1e-45, 1e-30, 50.0, 32767.0}) {
    const AttentionProblem problem = ReadPrefill(call("softcap", cap));
    EXPECT_TRUE(problem.softcap) << cap;
    EXPECT_TRUE(std::isfinite(problem.params.softcap_in)) << cap;
    EXPECT_TRUE(std::isfinite(problem.params.softcap_log2)) << cap;
  }
  for (const double cap : {32768.0, 1e30, 3e38}) {
    const AttentionProblem problem = ReadPrefill(call("softcap", cap));
    EXPECT_FALSE(problem.softcap) << cap;
    EXPECT_EQ(problem.params.softcap_log2, ReadPrefill(call("sm_scale", 0.5)).params.softcap_log2);
  }
  EXPECT_EQ(Served(op, call("sm_scale", 1e-30), H200()), "wgmma");
  EXPECT_EQ(Served(op, call("sm_scale", 1e-60), H200()), "mma");
  EXPECT_EQ(Served(op, call("sm_scale", -0.5), H200()), "mma");
}

}  // namespace
}  // namespace tilewright
