#include "tests/gpu/check_cases.h"

#include <array>
#include <set>
#include <utility>

#include "manifest/op_spec.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

struct NamedShape {
  std::string op;
  std::vector<TensorDesc> inputs;
  std::vector<NamedParam> params;
};

TensorDesc Dense(DType dtype, const Dims& shape) { return TensorDesc::Contiguous(dtype, shape); }

void AddGemms(std::vector<NamedShape>& calls) {
  const auto add = [&](DType dtype, int64_t m, int64_t n, int64_t k, bool trans_a, bool trans_b) {
    calls.push_back({"GemmFwdOp",
                     {Dense(dtype, trans_a ? Dims{k, m} : Dims{m, k}),
                      Dense(dtype, trans_b ? Dims{n, k} : Dims{k, n})},
                     {{"trans_a", trans_a}, {"trans_b", trans_b}}});
  };
  add(DType::kBFloat16, 200, 328, 192, false, true);
  add(DType::kFloat16, 264, 136, 200, false, false);
  add(DType::kFloat16, 136, 264, 72, true, false);
  add(DType::kBFloat16, 136, 136, 136, true, true);
  add(DType::kBFloat16, 16, 256, 1024, false, true);  // few rows: a split K
  add(DType::kBFloat16, 96, 200, 512, false, true);
  add(DType::kBFloat16, 3, 200, 1000, false, true);  // fewer still: gemv
  add(DType::kFloat16, 63, 65, 17, false, true);     // element by element
}

void AddBatches(std::vector<NamedShape>& calls) {
  for (const auto& [m, n, k] :
       {std::array<int64_t, 3>{136, 72, 136}, {16, 200, 264}, {5, 65, 17}}) {
    calls.push_back(
        {"BmmFwdOp", {Dense(DType::kBFloat16, {3, m, k}), Dense(DType::kBFloat16, {3, k, n})}, {}});
  }
}

void AddRows(std::vector<NamedShape>& calls) {
  for (const auto& [rows, length] :
       {std::pair<int64_t, int64_t>{5, 1000}, {3, 46}, {600, 512}, {2, 40000}, {1, 200001}}) {
    calls.push_back({"RMSNormFwdOp",
                     {Dense(DType::kFloat16, {rows, length}), Dense(DType::kFloat16, {length})},
                     {{"normalized_shape", Dims{length}}}});
    calls.push_back(
        {"SoftmaxFwdOp", {Dense(DType::kBFloat16, {rows, length})}, {{"dim", int64_t{-1}}}});
  }
  calls.push_back({"SoftmaxFwdOp", {Dense(DType::kFloat16, {3, 50, 64})}, {{"dim", int64_t{1}}}});
  calls.push_back({"SoftmaxFwdOp", {Dense(DType::kFloat16, {3, 20, 72})}, {{"dim", int64_t{1}}}});
  calls.push_back({"SoftmaxFwdOp", {Dense(DType::kFloat32, {3, 50, 7})}, {{"dim", int64_t{1}}}});
  calls.push_back({"SoftmaxFwdOp", {Dense(DType::kFloat16, {2, 3000, 40})}, {{"dim", int64_t{1}}}});
  calls.push_back(
      {"SoftmaxFwdOp", {{DType::kFloat16, {6, 100}, {400, 2}}}, {{"dim", int64_t{-1}}}});
}

void AddNormsAndReductions(std::vector<NamedShape>& calls) {
  const DType half = DType::kFloat16;
  const TensorDesc channels = Dense(DType::kFloat32, {6});
  const Dims last = {512};
  calls.push_back({"LayerNormFwdOp",
                   {Dense(half, {600, 512}), Dense(half, last), Dense(half, last)},
                   {{"normalized_shape", last}}});
  calls.push_back({"BatchNormFwdOp",
                   {Dense(half, {2, 6, 5, 8}), channels, channels, channels, channels},
                   {{"training", true}}});
  calls.push_back({"SumFwdOp", {Dense(half, {70, 512})}, {}});
  calls.push_back({"VarFwdOp", {Dense(half, {70, 512})}, {{"dim", Dims{1}}}});
  calls.push_back({"ArgmaxFwdOp", {Dense(half, {4, 64, 40})}, {{"dim", int64_t{0}}}});
}

void AddElementwise(std::vector<NamedShape>& calls) {
  const auto add = [&](DType dtype, TensorDesc input, TensorDesc other) {
    input.dtype = other.dtype = dtype;
    calls.push_back({"AddFwdOp", {input, other}, {}});
  };
  const DType half = DType::kFloat16;
  add(half, Dense(half, {37, 1024}), Dense(half, {37, 1024}));
  add(half, Dense(half, {37, 47}), Dense(half, {37, 47}));
  add(DType::kBFloat16, Dense(half, {4, 8, 64}), Dense(half, {64}));
  add(DType::kFloat32, Dense(half, {16, 128}), Dense(half, {16, 1}));
  add(DType::kInt64, Dense(half, {2, 3, 5, 7}), Dense(half, {2, 1, 5, 1}));
  add(DType::kFloat32, {half, {33, 17}, {1, 33}}, Dense(half, {33, 17}));
  calls.push_back({"SiluAndMulFwdOp", {Dense(DType::kBFloat16, {5, 2048})}, {}});
  calls.push_back({"SiluAndMulFwdOp", {Dense(DType::kFloat16, {3, 94})}, {}});
}

void AddPools(std::vector<NamedShape>& calls) {
  const Dims three = {3};
  const Dims two = {2};
  const Dims one = {1};
  for (const char* op : {"MaxPool2dFwdOp", "MaxPool2dIndicesFwdOp", "AvgPool2dFwdOp"}) {
    for (const Dims& shape : {Dims{2, 3, 13, 11}, Dims{2, 4, 16, 64}}) {
      calls.push_back({op,
                       {Dense(DType::kBFloat16, shape)},
                       {{"kernel_size", three}, {"stride", two}, {"padding", one}}});
    }
    calls.push_back({op, {Dense(DType::kFloat32, {1, 2, 50, 70})}, {{"kernel_size", Dims{41}}}});
  }
  calls.push_back({"MaxPool3dIndicesFwdOp",
                   {Dense(DType::kFloat16, {1, 2, 6, 7, 24})},
                   {{"kernel_size", two}, {"ceil_mode", true}}});
  for (const char* op : {"AdaptiveAvgPool2dFwdOp", "AdaptiveMaxPool2dIndicesFwdOp"}) {
    calls.push_back({op, {Dense(DType::kFloat16, {2, 3, 17, 19})}, {{"output_size", Dims{3, 5}}}});
  }
}

void AddScans(std::vector<NamedShape>& calls) {
  for (const char* op : {"CumsumFwdOp", "CumprodFwdOp"}) {
    const auto add = [&](const TensorDesc& x, int64_t dim) {
      calls.push_back({op, {x}, {{"dim", dim}}});
    };
    add(Dense(DType::kBFloat16, {5, 46}), 1);
    add(Dense(DType::kBFloat16, {3, 4096}), 1);
    add(Dense(DType::kFloat32, {2, 100003}), 1);   // streamed
    add(Dense(DType::kFloat16, {1, 1 << 18}), 1);  // cut
    add(Dense(DType::kFloat16, {3, 50, 64}), 1);
    add(Dense(DType::kFloat32, {2, 3000, 7}), 1);
    add({DType::kFloat16, {6, 100}, {400, 2}}, 1);
  }
}

// 2 sequences of up to 90 queries and 170 keys.
void AddForwards(std::vector<NamedShape>& calls) {
  const DType half = DType::kFloat16, narrow = DType::kFloat8E4M3;
  const TensorDesc starts = Dense(DType::kInt32, {3});
  const TensorDesc scales = Dense(DType::kFloat32, {2, 2});
  for (const int64_t dim : {128, 72}) {
    const TensorDesc q = Dense(half, {1, 150, 2, dim});
    calls.push_back({"MultiHeadAttentionFwdOp", {q, q, q}, {{"is_causal", dim == 128}}});
    const TensorDesc kv = Dense(half, {1, 150, 1, dim});
    calls.push_back({"GroupedQueryAttentionFwdOp", {q, kv, kv}, {}});
    calls.push_back({"GroupedQueryAttentionSlidingWindowFwdOp",
                     {q, kv, kv},
                     {{"is_causal", false},
                      {"window_size_left", int64_t{30}},
                      {"window_size_right", int64_t{20}}}});
  }
  const auto ragged = [&](DType dtype, bool is_causal) -> NamedShape {
    const TensorDesc kv = Dense(dtype, {250, 2, 128});
    return {"",
            {Dense(dtype, {130, 4, 128}), kv, kv, starts, starts},
            {{"is_causal", is_causal}, {"max_seqlen_q", int64_t{90}}}};
  };
  NamedShape window = ragged(half, true);
  window.op = "GroupedQueryAttentionSlidingWindowVarlenFwdOp";
  window.params.push_back({"window_size_left", int64_t{40}});
  window.params.push_back({"window_size_right", int64_t{-1}});
  calls.push_back(std::move(window));
  for (const DType dtype : {half, narrow}) {
    for (const bool is_causal : {true, false}) {
      NamedShape prefill = ragged(dtype, is_causal);
      prefill.op = "GroupedQueryAttentionPrefillFwdOp";
      prefill.inputs.insert(prefill.inputs.end(), 3, scales);
      prefill.params.push_back({"max_seqlen_kv", int64_t{170}});
      prefill.params.push_back({"dtype", half});
      calls.push_back(std::move(prefill));
    }
  }
}

// Caches of pages of 16 and 48 tokens, and contiguous ones.
void AddCaches(std::vector<NamedShape>& calls) {
  const DType half = DType::kFloat16;
  const TensorDesc lengths = Dense(DType::kInt32, {2});
  const TensorDesc one = Dense(DType::kFloat32, {1});
  const TensorDesc cache = Dense(half, {2, 400, 2, 64});
  calls.push_back(
      {"MultiHeadAttentionDecodeWithKVCacheFwdOp", {Dense(half, {2, 1, 2, 64}), cache, cache}, {}});
  calls.push_back(
      {"GroupedQueryAttentionDecodeWithKVCacheFwdOp", {Dense(half, {2, 8, 64}), cache, cache}, {}});
  for (const int64_t page : {16, 48}) {
    const TensorDesc pool = Dense(half, {16 * page, 2, 64});
    const TensorDesc table = Dense(DType::kInt32, {2, 7});
    calls.push_back({"MultiHeadAttentionDecodePagedWithKVCacheFwdOp",
                     {Dense(half, {2, 1, 2, 64}), pool, pool, lengths, table},
                     {{"page_size", page}}});
    calls.push_back({"GroupedQueryAttentionDecodePagedWithKVCacheFwdOp",
                     {Dense(half, {2, 8, 64}), pool, pool, lengths, table},
                     {{"page_size", page}}});
    for (const DType stored : {half, DType::kFloat8E4M3}) {
      const TensorDesc added = Dense(half, {60, 2, 64});
      const TensorDesc pages = Dense(stored, {16 * page, 2, 64});
      calls.push_back({"GroupedQueryAttentionPrefillPagedWithKVCacheFwdOp",
                       {Dense(half, {60, 4, 64}), added, added, pages, pages, one, one,
                        Dense(DType::kInt32, {3}), lengths, table},
                       {{"page_size", page},
                        {"max_seqlen_q", int64_t{50}},
                        {"cache_dtype", stored},
                        {"fuse_rope", stored == half}}});
    }
  }
}

// Adds the variant's default, then configurations that each bring in the most values of the axes
// that none before has; ties go to the earlier point of the space.
void AddConfigs(const Recipe& recipe, const Variant& variant, const CallDesc& call,
                const DeviceProfile& device, int configs, std::vector<CheckCase>& cases) {
  std::set<std::pair<std::string, int64_t>> seen;
  const auto fresh_values = [&seen](const Config& config) {
    int fresh = 0;
    for (const auto& value : config.values) fresh += seen.count({value.first, value.second}) == 0;
    return fresh;
  };
  const auto take = [&](const Config& config) {
    for (const auto& value : config.values) seen.insert({value.first, value.second});
    cases.push_back({&recipe, &variant, config, call});
  };
  take(variant.Default(call, device));
  const TuningSpace space = variant.Space(call, device);
  for (int i = 0; i < configs; ++i) {
    Config best;
    int most = 0;
    for (int64_t point = 0; point < space.size(); ++point) {
      Config config = space.At(point);
      const int fresh = fresh_values(config);
      if (fresh <= most || !variant.Legal(call, config, device).ok()) continue;
      most = fresh;
      best = std::move(config);
    }
    if (most == 0) return;
    take(best);
  }
}

}  // namespace

absl::StatusOr<CheckCases> MakeCheckCases(const DeviceProfile& device, int configs,
                                          std::string_view filter) {
  std::vector<NamedShape> calls;
  AddGemms(calls);
  AddBatches(calls);
  AddNormsAndReductions(calls);
  AddRows(calls);
  AddElementwise(calls);
  AddPools(calls);
  AddScans(calls);
  AddForwards(calls);
  AddCaches(calls);
  CheckCases made;
  for (const OpSpec& op : Manifest::BuiltinOps()) {
    std::unique_ptr<Recipe> recipe = MakeBuiltinRecipe(op.name);
    if (recipe == nullptr || op.name.find(filter) == std::string::npos) continue;
    for (const NamedShape& named : calls) {
      if (named.op != op.name) continue;
      std::vector<Operand> inputs;
      for (const TensorDesc& desc : named.inputs) inputs.push_back({desc, 256, true});
      TW_ASSIGN_OR_RETURN(const CallDesc call, InferCall(op, inputs, named.params));
      for (const Variant* variant : recipe->variants()) {
        if (!variant->Serves(call, device).ok()) continue;
        AddConfigs(*recipe, *variant, call, device, configs, made.cases);
      }
    }
    made.recipes.push_back(std::move(recipe));
  }
  return made;
}

}  // namespace tilewright
