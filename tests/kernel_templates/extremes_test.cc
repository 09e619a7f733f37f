// Guards the recipes at the ends of what the contract lets through: sizes past 2^31, extents of 0
// beside huge ones, every device. What is bound must be launchable.
#include <gtest/gtest.h>

#include <algorithm>

#include "manifest/status.h"
#include "runtime/launch_rules.h"
#include "tests/kernel_templates/memory_bound_cases.h"

namespace tilewright {
namespace {

struct Problem {
  std::string_view op;
  std::vector<std::pair<std::string, Dims>> inputs;
  std::vector<std::pair<std::string, ParamValue>> params = {};
};

CallDesc CallOfProblem(const Problem& problem) {
  for (const OpSpec& op : Manifest::BuiltinOps()) {
    if (op.name != problem.op) continue;
    Workload workload;
    workload.input_shapes = problem.inputs;
    workload.params = problem.params;
    auto call = WorkloadCall(op, workload, DType::kBFloat16);
    EXPECT_TRUE(call.ok()) << call.status();
    if (call.ok()) return *std::move(call);
  }
  ADD_FAILURE() << "no call of " << problem.op;
  return {};
}

constexpr int64_t kPast = (int64_t{1} << 31) + 8;
constexpr int64_t kHuge = int64_t{1} << 40;

std::vector<Problem> LargeProblems() {
  return {{"GemmFwdOp", {{"a", {kPast, 8}}, {"b", {8, 8}}}},
          {"GemmFwdOp", {{"a", {8, 8}}, {"b", {kPast, 8}}}},
          {"GemmFwdOp", {{"a", {8, kPast}}, {"b", {8, kPast}}}},
          {"GemmFwdOp", {{"a", {1, 7}}, {"b", {kPast, 7}}}},
          {"GemmFwdOp", {{"a", {kPast, 1}}, {"b", {1, 1}}}},
          {"GemmFwdOp", {{"a", {8, kPast}}, {"b", {8, 8}}}, {{"trans_a", true}}},
          {"GemmFwdOp", {{"a", {65536, 64}}, {"b", {65536, 64}}}},
          {"RMSNormFwdOp", {{"x", {kPast, 4}}, {"weight", {4}}}, {{"normalized_shape", Dims{4}}}},
          {"RMSNormFwdOp", {{"x", {kPast, 1}}, {"weight", {1}}}, {{"normalized_shape", Dims{1}}}},
          {"RMSNormFwdOp",
           {{"x", {2, kPast}}, {"weight", {kPast}}},
           {{"normalized_shape", Dims{kPast}}}},
          {"SoftmaxFwdOp", {{"x", {kPast, 4}}}, {{"dim", 1}}},
          {"SoftmaxFwdOp", {{"x", {kPast, 4}}}, {{"dim", 0}}},
          {"SoftmaxFwdOp", {{"x", {4, kPast}}}, {{"dim", 0}}},
          {"SoftmaxFwdOp", {{"x", {4, kPast}}}, {{"dim", 1}}},
          {"SoftmaxFwdOp", {{"x", {65536, 3, 65536}}}, {{"dim", 1}}},
          {"AddFwdOp", {{"input", {kPast}}, {"other", {1}}}},
          {"AddFwdOp", {{"input", {65537, 1}}, {"other", {1, 65537}}}},
          {"SiluAndMulFwdOp", {{"x", {kPast, 2}}}},
          {"SiluAndMulFwdOp", {{"x", {2, 2 * kPast}}}},
          // More sequences, or sequences times heads, than y and z of a grid count.
          {"MultiHeadAttentionFwdOp",
           {{"q", {10923, 1, 6, 64}}, {"k", {10923, 1, 6, 64}}, {"v", {10923, 1, 6, 64}}}},
          {"GroupedQueryAttentionFwdOp",
           {{"q", {2048, 1, 32, 128}}, {"k", {2048, 1, 8, 128}}, {"v", {2048, 1, 8, 128}}}},
          {"GroupedQueryAttentionPrefillFwdOp",
           {{"q", {65536, 2, 64}},
            {"k", {65536, 2, 64}},
            {"v", {65536, 2, 64}},
            {"cu_seqlens_q", {65537}},
            {"cu_seqlens_kv", {65537}},
            {"q_scale", {65536, 2}},
            {"k_scale", {65536, 2}},
            {"v_scale", {65536, 2}}},
           {{"max_seqlen_q", 1}, {"max_seqlen_kv", 1}, {"dtype", DType::kBFloat16}}},
          {"GroupedQueryAttentionDecodeWithKVCacheFwdOp",
           {{"q", {65536, 32, 128}}, {"k", {65536, 8, 8, 128}}, {"v", {65536, 8, 8, 128}}}},
          {"MultiHeadAttentionDecodeWithKVCacheFwdOp",
           {{"q", {2048, 1, 32, 128}}, {"k", {2048, 8, 32, 128}}, {"v", {2048, 8, 32, 128}}}}};
}

void ExpectLaunchable(const Launch& launch, const std::string& where) {
  EXPECT_GE(launch.grid[0], 1u) << where;
  EXPECT_LE(launch.grid[0], 0x7FFFFFFFu) << where;
  EXPECT_EQ(launch.grid[0] % launch.cluster[0], 0u) << where;
  EXPECT_LE(launch.grid[1], 65535u) << where;
  EXPECT_LE(launch.grid[2], 65535u) << where;
  EXPECT_LE(launch.block[0], 1024u) << where;
  EXPECT_LE(launch.params.size(), 4096u) << where;
}

TEST(Extremes, LargeProblemsBindToLaunchableGrids) {
  for (const DeviceProfile& device : BuiltinDeviceProfiles()) {
    for (const Problem& problem : LargeProblems()) {
      const CallDesc call = CallOfProblem(problem);
      const auto recipe = MakeBuiltinRecipe(problem.op);
      ASSERT_TRUE(SelectVariant(*recipe, call, device).ok()) << call.ToString();
      for (const Variant* variant : recipe->variants()) {
        if (!variant->Serves(call, device).ok()) continue;
        const std::string where = Cat(call.ToString(), " ", variant->name(), " ", device.name);
        const Config config = variant->Default(call, device);
        EXPECT_EQ(variant->Legal(call, config, device), absl::OkStatus()) << where;
        const auto bound = variant->Bind(call, config, device);
        ASSERT_TRUE(bound.ok()) << where << bound.status();
        ASSERT_FALSE(bound->launches.empty()) << where;
        for (const Launch& launch : bound->launches) ExpectLaunchable(launch, where);
      }
    }
  }
}

// Guards: a size beyond the limits of a launch is refused with the operator's name and the size, on
// every device, and the entry says so.
TEST(Extremes, RefusedSizesAreNamedAndListed) {
  struct Refusal {
    Problem problem;
    std::string_view words, listed;
  };
  const int64_t huge = int64_t{1} << 33;
  const int64_t channels = (int64_t{1} << 32) + 1;  // wraps to a grid of 1
  const Refusal refusals[] = {
      {{"BmmFwdOp", {{"a", {kPast, 1, 1}}, {"b", {kPast, 1, 1}}}},
       "2147483656 x 1 x 1 tiles exceed the grid",
       "2^31 - 1 tiles"},
      {{"RopeNeoxFwdOp", {{"x", {1, 1, kPast, 2}}}},
       "1 tokens of 2147483656 heads",
       "2^31 pairs of columns"},
      {{"CumsumFwdOp", {{"x", {huge, 1}}}, {{"dim", 1}}},
       "8589934592 lines, expected at most 8589934588",
       "2^33 - 4 lines"},
      {{"BatchNormFwdOp",
        {{"x", {1, channels}},
         {"running_mean", {channels}},
         {"running_var", {channels}},
         {"weight", {channels}},
         {"bias", {channels}}}},
       "4294967297 channels of 1 elements, expected at most 2147483647",
       "2^31 channels"},
      {{"MultiHeadAttentionFwdOp",
        {{"q", {kPast, 1, 1, 8}}, {"k", {kPast, 1, 1, 8}}, {"v", {kPast, 1, 1, 8}}}},
       "2^31 - 1 sequences or heads, or more",
       "2^31 - 1 tiles of queries"}};
  for (const auto& [problem, words, listed] : refusals) {
    const CallDesc call = CallOfProblem(problem);
    for (const DeviceProfile& device : BuiltinDeviceProfiles()) {
      const auto recipe = MakeBuiltinRecipe(problem.op);
      const auto variant = SelectVariant(*recipe, call, device);
      absl::Status status = variant.status();
      if (status.ok()) {
        const Config config = (*variant)->Default(call, device);
        status = BindCall(**variant, call, config, device, (*variant)->Kernels(call, config).size())
                     .status();
      }
      EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
      const std::string message(status.message());
      EXPECT_NE(message.find(problem.op), std::string::npos) << message;
      EXPECT_NE(message.find(words), std::string::npos) << message;
    }
    const std::vector<std::string>& refused = call.op->refused;
    EXPECT_TRUE(std::any_of(refused.begin(), refused.end(),
                            [&listed = listed](const std::string& line) {
                              return line.find(listed) != std::string::npos;
                            }))
        << problem.op;
  }
}

// An output without elements is defined without a launch, however large the other extents.
TEST(Extremes, EmptyOutputsLaunchNothing) {
  const std::vector<Problem> problems = {
      {"GemmFwdOp", {{"a", {0, kHuge}}, {"b", {8, kHuge}}}},
      {"GemmFwdOp", {{"a", {kHuge, 8}}, {"b", {0, 8}}}},
      {"GemmFwdOp", {{"a", {0, 0}}, {"b", {0, 0}}}},
      {"RMSNormFwdOp",
       {{"x", {kHuge, kHuge, 0}}, {"weight", {kHuge, 0}}},
       {{"normalized_shape", Dims{kHuge, 0}}}},
      {"RMSNormFwdOp", {{"x", {0, 8}}, {"weight", {8}}}, {{"normalized_shape", Dims{8}}}},
      {"SoftmaxFwdOp", {{"x", {kHuge, kHuge, 0}}}, {{"dim", 0}}},
      {"SoftmaxFwdOp", {{"x", {0, kHuge, kHuge}}}, {{"dim", 2}}},
      {"AddFwdOp", {{"input", {kHuge, kHuge, 0}}, {"other", {kHuge, 1, 1}}}},
      {"SiluAndMulFwdOp", {{"x", {0, int64_t{1} << 62}}}},
      {"SiluAndMulFwdOp", {{"x", {8, 0}}}}};
  for (const Problem& problem : problems) {
    const CallDesc call = CallOfProblem(problem);
    const auto recipe = MakeBuiltinRecipe(problem.op);
    EXPECT_EQ(recipe->Describe(call).size(), recipe->fields().size());
    for (const Variant* variant : recipe->variants()) {
      if (!variant->Serves(call, H200()).ok()) continue;
      const auto bound = variant->Bind(call, variant->Default(call, H200()), H200());
      ASSERT_TRUE(bound.ok()) << call.ToString() << bound.status();
      EXPECT_TRUE(bound->launches.empty()) << call.ToString() << " " << variant->name();
    }
  }
}

// A product over nothing is zero, and must be written: one launch, of a kernel that can.
TEST(Extremes, GemmWithoutKWritesItsZeros) {
  for (const Dims& shape : {Dims{1, 8}, Dims{8, 8}, Dims{4096, 4096}}) {
    const CallDesc call =
        CallOfProblem({"GemmFwdOp", {{"a", {shape[0], 0}}, {"b", {shape[1], 0}}}});
    const auto recipe = MakeBuiltinRecipe("GemmFwdOp");
    const auto variant = SelectVariant(*recipe, call, H200());
    ASSERT_TRUE(variant.ok()) << variant.status();
    EXPECT_NE((*variant)->name(), "wgmma");
    const auto bound = (*variant)->Bind(call, (*variant)->Default(call, H200()), H200());
    ASSERT_TRUE(bound.ok()) << bound.status();
    EXPECT_EQ(bound->launches.size(), 1u);
  }
}

}  // namespace
}  // namespace tilewright
