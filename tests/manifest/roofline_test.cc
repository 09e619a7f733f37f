// Guards the built-in entries (every workload expands, its roofline is right) and device profiles.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "manifest/device_profile.h"
#include "manifest/op_spec.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

const OpSpec& Op(std::string_view name) {
  for (const OpSpec& op : Manifest::BuiltinOps()) {
    if (op.name == name) return op;
  }
  ADD_FAILURE() << "no op " << name;
  return Manifest::BuiltinOps()[0];
}

CallDesc Infer(std::string_view op, DType dtype, const std::vector<Dims>& shapes,
               const std::vector<NamedParam>& params = {}) {
  std::vector<Operand> inputs(shapes.size());
  for (size_t i = 0; i < shapes.size(); ++i) {
    inputs[i].desc = TensorDesc::Contiguous(dtype, shapes[i]);
  }
  return InferCall(Op(op), inputs, params).value();
}

CallDesc WorkloadNamed(std::string_view op, std::string_view label, DType dtype) {
  for (const Workload& workload : Op(op).workloads) {
    if (workload.label == label) return WorkloadCall(Op(op), workload, dtype).value();
  }
  ADD_FAILURE() << label;
  return {};
}

TEST(BuiltinOpsTest, EveryWorkloadExpandsWithWork) {
  for (const OpSpec& op : Manifest::BuiltinOps()) {
    EXPECT_GE(op.workloads.size(), 2u) << op.name;
    for (const Workload& workload : op.workloads) {
      for (const DType dtype : workload.dtypes) {
        const auto call = WorkloadCall(op, workload, dtype);
        ASSERT_TRUE(call.ok()) << call.status();
        const auto work = EvaluateRoofline(*call);
        ASSERT_TRUE(work.ok()) << work.status();
        EXPECT_GT(work->flops, 0) << workload.label;
        EXPECT_GT(work->bytes, 0) << workload.label;
      }
    }
  }
}

// Guards: a scalar, where an operator takes one, is work that can be counted.
TEST(BuiltinOpsTest, ScalarsHaveWork) {
  int scalars = 0;
  for (const OpSpec& op : Manifest::BuiltinOps()) {
    Workload workload;
    for (const TensorSpec& input : op.inputs)
      workload.input_shapes.emplace_back(input.name, Dims());
    const auto call = WorkloadCall(op, workload, op.workloads[0].dtypes[0]);
    if (!call.ok()) continue;  // takes no scalar, or needs parameters
    const auto work = EvaluateRoofline(*call);
    ASSERT_TRUE(work.ok()) << work.status();
    EXPECT_GT(work->bytes, 0) << op.name;
    ++scalars;
  }
  EXPECT_GT(scalars, 50);
  EXPECT_EQ(EvaluateRoofline(Infer("SoftmaxFwdOp", DType::kFloat32, {Dims()}))->bytes, 8);
  EXPECT_EQ(EvaluateRoofline(Infer("LogSoftmaxFwdOp", DType::kFloat32, {Dims()}))->bytes, 8);
}

// Guards: counts of more than 2^31 elements are whole 64-bit numbers, the work too.
TEST(BuiltinOpsTest, CountsBeyond32Bits) {
  const int64_t many = (int64_t{1} << 32) + 7;
  const CallDesc call = Infer("CountNonzeroFwdOp", DType::kBool, {Dims{many}});
  EXPECT_EQ(call.output(0).desc.dtype, DType::kInt64);
  EXPECT_EQ(EvaluateRoofline(call)->flops, 2 * many);
}

TEST(BuiltinOpsTest, FindsTheSameObjects) {
  ASSERT_EQ(Manifest::BuiltinNames().size(), Manifest::BuiltinOps().size());
  for (size_t i = 0; i < Manifest::BuiltinNames().size(); ++i) {
    const OpSpec* op = Manifest::FindBuiltin(Manifest::BuiltinNames()[i]);
    EXPECT_EQ(op, &Manifest::BuiltinOps()[i]);
    EXPECT_EQ(op->name, Manifest::BuiltinNames()[i]);
  }
  EXPECT_EQ(Manifest::FindBuiltin("NoSuchOp"), nullptr);
}

// The generated tables carry what the YAML says.
TEST(BuiltinOpsTest, TablesCarryTheEntries) {
  const OpSpec& gemm = Op("GemmFwdOp");
  EXPECT_EQ(gemm.file, "manifest/gemm.yaml");
  EXPECT_EQ(gemm.line, 2);
  EXPECT_EQ(gemm.roofline.unit, Roofline::Unit::kTensor);
  EXPECT_EQ(gemm.params[1].default_value, ParamValue(true));
  EXPECT_EQ(ToleranceOf(Op("SoftmaxFwdOp"), DType::kFloat32).absolute, 1e-9);
  EXPECT_EQ(ToleranceOf(gemm, DType::kBFloat16).relative, 1.6e-2);
  const CallDesc call = WorkloadNamed("GemmFwdOp", "ds-v3-decode-down", DType::kBFloat16);
  EXPECT_EQ(call.input(0).desc.shape, (Dims{128, 2048}));
  EXPECT_EQ(call.input(1).desc.shape, (Dims{7168, 2048}));
  EXPECT_EQ(call.output(0).desc.shape, (Dims{128, 7168}));
}

TEST(RooflineTest, CountsEachOperandOnce) {
  const Work add =
      EvaluateRoofline(Infer("AddFwdOp", DType::kFloat32, {Dims{3, 1}, Dims{1, 4}})).value();
  EXPECT_EQ(add.flops, 12);
  EXPECT_EQ(add.bytes, (3 + 4 + 12) * 4);
  const std::vector<NamedParam> alpha = {{"alpha", 2.5}};
  const CallDesc scaled = Infer("AddFwdOp", DType::kFloat16, {Dims{3, 1}, Dims{1, 4}}, alpha);
  EXPECT_EQ(EvaluateRoofline(scaled)->flops, 24);
  EXPECT_EQ(EvaluateRoofline(scaled)->bytes, (3 + 4 + 12) * 2);
}

// Figures of the published catalog for the same cases.
TEST(RooflineTest, AgreesWithTheCatalog) {
  struct Case {
    std::string_view op, label;
    DType dtype;
    double flops, bytes;
  };
  const Case kCases[] = {
      {"GemmFwdOp", "square-1k-nn", DType::kFloat16, 2147483648, 6291456},
      {"GemmFwdOp", "ds-v3-decode-gate-up", DType::kBFloat16, 3875536896, 32653312},
      {"SoftmaxFwdOp", "attn-weights-4k", DType::kFloat32, 20971520, 33554432},
      {"SoftmaxFwdOp", "lm-head-logits", DType::kFloat16, 2048000, 1638400},
      {"AddFwdOp", "hidden-state-prefill", DType::kFloat32, 8388608, 100663296},
      {"AddFwdOp", "cnn-feat-broadcast", DType::kFloat16, 12845056, 51380736},
      {"RMSNormFwdOp", "llama-8b-decode", DType::kBFloat16, 16384, 24576},
      {"SiluAndMulFwdOp", "llama-8b-swiglu-decode", DType::kBFloat16, 86016, 86016},
  };
  for (const Case& c : kCases) {
    const Work work = EvaluateRoofline(WorkloadNamed(c.op, c.label, c.dtype)).value();
    EXPECT_EQ(work.flops, c.flops) << c.op << " " << c.label;
    EXPECT_EQ(work.bytes, c.bytes) << c.op << " " << c.label;
  }
}

TEST(RooflineTest, SpeedOfLightTakesTheSlowerLimit) {
  const DeviceProfile h200 = BuiltinDeviceProfile("h200").value();
  const CallDesc gemm =
      Infer("GemmFwdOp", DType::kBFloat16, {Dims{4096, 16384}, Dims{7168, 16384}});
  EXPECT_NEAR(SpeedOfLightUs(gemm, h200).value(), 2.0 * 4096 * 7168 * 16384 / 790e6, 1e-6);
  const CallDesc add = Infer("AddFwdOp", DType::kFloat32, {Dims{2048, 4096}, Dims{2048, 4096}});
  EXPECT_NEAR(SpeedOfLightUs(add, h200).value(), 100663296 / 4280e3, 1e-6);
  // Tensor cores take float8 operands twice as fast.
  const CallDesc float8 =
      WorkloadNamed("GroupedQueryAttentionPrefillFwdOp",
                    "llama-70b-prefill-fp8tc-bn224-s7168-to-bfloat16", DType::kFloat8E4M3);
  EXPECT_NEAR(SpeedOfLightUs(float8, h200).value(), 4.0 * 64 * 7168 * 7168 * 128 / 1580e6, 1e-6);
  const absl::Status status = SpeedOfLightUs(add, BuiltinDeviceProfile("sm_80").value()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Cat(status.message()), HasSubstr("is not calibrated"));
}

// The op's first workload with other input shapes and parameters.
CallDesc Changed(std::string_view op, const std::vector<std::pair<std::string, Dims>>& shapes,
                 const std::vector<std::pair<std::string, ParamValue>>& params) {
  Workload workload = Op(op).workloads.front();
  const auto replace = [](auto& entries, const auto& changes) {
    for (const auto& change : changes) {
      std::erase_if(entries, [&](const auto& entry) { return entry.first == change.first; });
      entries.push_back(change);
    }
  };
  replace(workload.input_shapes, shapes);
  replace(workload.params, params);
  return WorkloadCall(Op(op), workload, workload.dtypes.at(0)).value();
}

// The pairs of a query and a key that it sees, counted one by one.
int64_t VisiblePairs(int64_t queries, int64_t keys, int64_t left, int64_t right) {
  int64_t pairs = 0;
  for (int64_t i = 0; i < queries; ++i) {
    const int64_t p = i + keys - queries;
    for (int64_t j = 0; j < keys; ++j) {
      pairs += (left < 0 || j >= p - left) && (right < 0 || j <= p + right);
    }
  }
  return pairs;
}

// Guards: work of windows is exact also where there are more queries than keys, and never negative.
TEST(RooflineTest, MoreQueriesThanKeys) {
  constexpr std::string_view kOp = "GroupedQueryAttentionSlidingWindowVarlenFwdOp";
  for (const int64_t queries : {1, 5, 40}) {
    for (const int64_t keys : {1, 4, 5, 9}) {
      for (const int64_t left : {-1, 0, 2}) {
        for (const int64_t right : {-1, 0, 2}) {
          const CallDesc call = Changed(kOp,
                                        {{"q", {queries, 2, 64}},
                                         {"k", {keys, 1, 64}},
                                         {"v", {keys, 1, 64}},
                                         {"cu_seqlens_q", {2}},
                                         {"cu_seqlens_k", {2}}},
                                        {{"is_causal", ParamValue(false)},
                                         {"window_size_left", ParamValue(left)},
                                         {"window_size_right", ParamValue(right)},
                                         {"max_seqlen_q", ParamValue(int64_t{64})}});
          EXPECT_EQ(EvaluateRoofline(call)->flops,
                    2.0 * 2 * 128 * static_cast<double>(VisiblePairs(queries, keys, left, right)))
              << call.ToString();
        }
      }
    }
  }
}

// Guards: a bound on queries beyond what the pages hold leaves no cached tokens, not fewer.
TEST(RooflineTest, BoundBeyondThePages) {
  constexpr std::string_view kOp = "GroupedQueryAttentionPrefillPagedWithKVCacheFwdOp";
  const auto work = [&](int64_t bound) {
    return EvaluateRoofline(Changed(kOp, {}, {{"max_seqlen_q", ParamValue(bound)}})).value();
  };
  const int64_t beyond = int64_t{1} << 30;
  EXPECT_GT(work(beyond).flops, 0);
  EXPECT_EQ(work(beyond).flops, work(2 * beyond).flops);
  EXPECT_EQ(work(beyond).bytes, work(2 * beyond).bytes);
}

// Guards: negative work is refused by op and field.
TEST(RooflineTest, NegativeWorkIsRefused) {
  for (const std::string field : {"flops", "bytes"}) {
    OpSpec op = Op("AddFwdOp");
    op.roofline.formula = "Negative";
    op.roofline.compute = [&](const CallDesc&) {
      return field == "flops" ? Work{-3, 1} : Work{1, -3};
    };
    CallDesc call = Infer("AddFwdOp", DType::kFloat32, {Dims{4}, Dims{4}});
    call.op = &op;
    EXPECT_EQ(Cat(EvaluateRoofline(call).status().message()),
              "AddFwdOp: roofline." + field + ": expected at least 0, got -3");
  }
}

// A formula that cannot be evaluated, or overflows, is an error and never 0.
TEST(RooflineTest, OverflowIsAnError) {
  const Manifest manifest = Manifest::FromYaml(R"(
BigFwdOp:
  family: test
  reference: torch.neg
  source: here
  signature:
    inputs: {x: {dtype: [int8], shape: '[N]'}}
    outputs: {y: {dtype: same_as(x), shape: x.shape}}
  roofline: {vars: {T: N * N}, flops: T, bytes: N}
)",
                                               "f.yaml")
                                .value();
  std::vector<Operand> inputs(1);
  inputs[0].desc = TensorDesc::Contiguous(DType::kInt8, {int64_t{1} << 40});
  const CallDesc call = InferCall(manifest.ops()[0], inputs, {}).value();
  EXPECT_EQ(Cat(EvaluateRoofline(call).status().message()),
            "BigFwdOp: roofline var 'T' = N * N: column 3: integer overflow; got "
            "BigFwdOp(x=int8(1099511627776,))");
}

TEST(DeviceProfileTest, JsonRoundTrips) {
  DeviceProfile profile = BuiltinDeviceProfile("h200").value();
  EXPECT_EQ(profile.Key(), "NVIDIA H200/132");
  EXPECT_EQ(profile.compute_capability(), 90);
  profile.mig = "1g.18gb";
  EXPECT_EQ(profile.Key(), "NVIDIA H200/132/1g.18gb");
  const DeviceProfile read = DeviceProfile::FromJson(profile.ToJson()).value();
  EXPECT_EQ(read.ToJson(), profile.ToJson());
  EXPECT_EQ(read.smem_per_block_bytes, 232448);
  EXPECT_EQ(read.bandwidth_gbps, 4280);
}

TEST(DeviceProfileTest, BadJsonIsAnError) {
  const std::string good = BuiltinDeviceProfile("sm_80")->ToJson();
  const auto error = [&good](std::string_view from, std::string_view to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return Cat(DeviceProfile::FromJson(text).status().message());
  };
  EXPECT_EQ(Cat(DeviceProfile::FromJson("[1]").status().message()),
            "device profile: expected a JSON object");
  EXPECT_EQ(error("\"mig\": \"\"", "\"mig\": 3"),
            "device profile: field 'mig': expected a string, got number");
  EXPECT_EQ(error("\"sm_count\": 108", "\"sms\": 108"),
            "device profile: field 'sm_count' is missing");
  EXPECT_EQ(error("\"sm_count\": 108", "\"sm_count\": -1"),
            "device profile: field 'sm_count' is out of range");
  EXPECT_EQ(error("\"sm_80\"", "\"x\""),
            "device profile: field 'arch': expected sm_80 or sm_80a, as its compute capability "
            "says, got 'x'");
  EXPECT_THAT(error("\"sm_80\"", "\"sm_90a\""), HasSubstr("expected sm_80 or sm_80a"));
  EXPECT_EQ(error("\"sm_count\": 108", "\"sm_count\": 0"),
            "device profile: field 'sm_count': expected at least 1, got 0");
  EXPECT_EQ(error("\"sm_count\": 108", "\"sm_count\": 4294967404"),
            "device profile: field 'sm_count' is out of range");
  EXPECT_EQ(error("\"bandwidth_gbps\": 0.0", "\"bandwidth_gbps\": 5e-324"),
            "device profile: field 'bandwidth_gbps': expected 0 or at least 0.001, got "
            "4.94066e-324");
  for (const DeviceProfile& profile : BuiltinDeviceProfiles()) {
    EXPECT_TRUE(DeviceProfile::FromJson(profile.ToJson()).ok()) << profile.name;
  }
  EXPECT_THAT(Cat(BuiltinDeviceProfile("sm_1").status().message()), HasSubstr("h200, sm_80"));
}

}  // namespace
}  // namespace tilewright
