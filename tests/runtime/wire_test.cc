// The worker protocol loses nothing and takes no nonsense.
#include "runtime/worker/wire.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

Request OpenExample() {
  Request request;
  request.open.device = 1;
  request.open.seed = ~uint64_t{0};
  WireOperand operand;
  operand.desc = {DType::kBFloat16, Dims{3, 4}, Dims{-4, 1}};
  operand.alignment = 16;
  operand.mutated = true;
  operand.absolute = 1e-5;
  operand.relative = 0.016;
  operand.data_file = "/tmp/x";
  request.open.operands = {operand, WireOperand{}};
  request.open.support = {{"Fill<x>", "/tmp/a.cubin", "_Z4Fill", 12}};
  request.open.cupti_dirs = {"/opt/cupti"};
  return request;
}

Request AdmitExample() {
  Request request;
  request.kind = Request::Kind::kAdmit;
  request.admit.id = 7;
  request.admit.check = false;
  request.admit.plan.kernels = {{"", "/tmp/k.cubin", "_Z1k", 1024}};
  Launch launch;
  launch.grid = {132, 2, 1};
  launch.block = {384, 1, 1};
  launch.cluster = {2, 1, 1};
  launch.dynamic_smem_bytes = 200000;
  launch.programmatic_dependent_launch = true;
  launch.SetParams(std::array<int64_t, 3>{-1, 2, 0x123456789abcdef});
  launch.pointers = {{8, kWorkspaceOperand, int64_t{1} << 40}};
  TensorMapSlot slot;
  slot.offset = 64;
  slot.operand = 2;
  slot.byte_offset = 16;
  slot.dtype = DType::kFloat8E4M3;
  slot.rank = 3;
  slot.dims = {1, 2, uint64_t{1} << 35, 0, 0};
  slot.strides_bytes = {16, uint64_t{1} << 36, 0, 0};
  slot.box = {64, 128, 1, 0, 0};
  slot.swizzle = TensorMapSlot::Swizzle::k64B;
  launch.tensor_maps = {slot};
  request.admit.plan.bound.launches = {launch, Launch{}};
  request.admit.plan.bound.workspace_bytes = int64_t{1} << 33;
  return request;
}

// Guards every field: text, parsed and written again, is the same text.
TEST(WireTest, RequestsRoundTrip) {
  Request measure;
  measure.kind = Request::Kind::kMeasure;
  measure.measure = {{3, 1, 2}, 25};
  for (const Request& request : {OpenExample(), AdmitExample(), measure}) {
    const std::string line = ToLine(request);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const auto parsed = ParseRequest(line);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(ToLine(*parsed), line);
  }
  const auto admit = ParseRequest(ToLine(AdmitExample()));
  const Launch& launch = admit->admit.plan.bound.launches[0];
  EXPECT_EQ(launch.params.size(), 24u);
  EXPECT_EQ(launch.pointers[0].operand, kWorkspaceOperand);
  EXPECT_EQ(launch.tensor_maps[0].dims[2], uint64_t{1} << 35);
  EXPECT_EQ(launch.tensor_maps[0].swizzle, TensorMapSlot::Swizzle::k64B);
  const auto open = ParseRequest(ToLine(OpenExample()));
  EXPECT_EQ(open->open.seed, ~uint64_t{0});
  EXPECT_EQ(open->open.operands[0].desc.strides[0], -4);
  EXPECT_EQ(open->open.operands[0].relative, 0.016);
}

// Guards the answers, times to the last bit.
TEST(WireTest, RepliesRoundTrip) {
  Reply reply;
  reply.id = 4;
  reply.status = CandidateStatus::kWrong;
  reply.error = "line\nbreak and \"quotes\"";
  reply.fatal = true;
  reply.samples_us = {{0.1, 1e300}, {}};
  reply.method = "cupti";
  reply.note = "why";
  const std::string line = ToLine(reply);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto parsed = ParseReply(line);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(ToLine(*parsed), line);
  EXPECT_EQ(parsed->error, reply.error);
  EXPECT_EQ(parsed->samples_us, reply.samples_us);
  Reply event;
  event.started = true;
  event.id = 3;
  EXPECT_TRUE(ParseReply(ToLine(event))->started);
}

// Guards both sides against a peer that talks nonsense.
TEST(WireTest, NonsenseIsRefused) {
  for (const char* line :
       {"", "null", "[]", "{}", "{\"cmd\":7}", "{\"cmd\":\"dance\"}", "{\"cmd\":\"open\"}",
        "{\"cmd\":\"measure\",\"ids\":\"x\",\"repeats\":1}"}) {
    EXPECT_EQ(ParseRequest(line).status().code(), absl::StatusCode::kInvalidArgument) << line;
  }
  for (const char* line : {"", "hello", "{\"id\":1}", "{\"reply\":\"great\",\"id\":1}"}) {
    EXPECT_EQ(ParseReply(line).status().code(), absl::StatusCode::kInvalidArgument) << line;
  }
  std::string broken = ToLine(AdmitExample());
  const size_t params = broken.find("\"params\":\"");
  ASSERT_NE(params, std::string::npos);
  broken[params + 10] = 'z';
  EXPECT_FALSE(ParseRequest(broken).ok());
}

}  // namespace
}  // namespace tilewright
