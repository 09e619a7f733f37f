// Guards: what `tilewright bench` writes for the PyTorch peers describes every workload's inputs by
// dtype and shape, and by value where random data would make no valid call.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tools/bench_run.h"

namespace tilewright {
namespace {

using Json = nlohmann::json;

// Writes the calls of an operator's workloads, as for --torch, and reads them.
class BenchCalls : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/calls-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    // In place of Python: keeps the calls, and answers with no times.
    std::ofstream(folder_ + "/peer") << "cp \"$1\" " << folder_ << "/kept\n"
                                     << "echo op,case,peer,median_us,p10_us,p90_us > \"$2\"\n";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::vector<Json> CallsOf(std::string_view name) {
    std::vector<Json> calls;
    const OpSpec* const op = Manifest::FindBuiltin(name);
    const auto cases = BenchCases(*op);
    EXPECT_TRUE(cases.ok()) << cases.status();
    std::vector<BenchRow> rows;
    const absl::Status status =
        MeasureTorchPeers("/bin/sh", folder_ + "/peer", BenchOptions(), *cases, rows);
    EXPECT_TRUE(status.ok()) << status;
    std::ifstream kept(folder_ + "/kept");
    for (std::string line; std::getline(kept, line);) calls.push_back(Json::parse(line));
    EXPECT_EQ(calls.size(), cases->size()) << name;
    return calls;
  }

  std::string folder_;
};

TEST_F(BenchCalls, DescribesEveryInput) {
  for (std::string_view name : Manifest::BuiltinNames()) {
    const OpSpec& op = *Manifest::FindBuiltin(name);
    for (const Json& call : CallsOf(name)) {
      ASSERT_EQ(call.at("op"), name);
      ASSERT_EQ(call.at("inputs").size(), op.inputs.size());
      ASSERT_EQ(call.at("params").size(), op.params.size());
      for (size_t i = 0; i < op.inputs.size(); ++i) {
        const Json& input = call.at("inputs")[i];
        if (input.is_null()) {
          EXPECT_TRUE(op.inputs[i].optional) << name;
          continue;
        }
        EXPECT_EQ(input.at("name"), op.inputs[i].name);
        EXPECT_TRUE(ParseDType(input.at("dtype").get<std::string>()).has_value()) << input;
      }
    }
  }
}

// Guards: what peers were timed before the script was cut short is kept, and that it was is told.
TEST_F(BenchCalls, CutShort) {
  std::ofstream(folder_ + "/peer") << "echo op,case,peer,median_us,p10_us,p90_us > \"$2\"\n"
                                   << "echo CumsumFwdOp,b,torch,53.12,53,54 >> \"$2\"\nexit 3\n";
  std::vector<BenchRow> rows(2);
  rows[0].op = rows[1].op = "CumsumFwdOp";
  rows[0].name = "a";
  rows[1].name = "b";
  const absl::Status status =
      MeasureTorchPeers("/bin/sh", folder_ + "/peer", BenchOptions(), {}, rows);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("cut short"), std::string::npos) << status;
  EXPECT_EQ(rows[0].peer, "");
  EXPECT_EQ(rows[1].peer, "torch");
  EXPECT_EQ(rows[1].peer_us, 53.12);
}

TEST_F(BenchCalls, GivesPageTablesByValue) {
  for (const Json& call : CallsOf("GroupedQueryAttentionDecodePagedWithKVCacheFwdOp")) {
    const Json& inputs = call.at("inputs");
    EXPECT_FALSE(inputs[1].contains("values"));
    const int64_t page_size = call.at("params").at("page_size");
    const int64_t pool = inputs[1].at("shape")[0];
    const int64_t pages = inputs[4].at("shape")[1];
    const auto lengths = inputs[3].at("values").get<std::vector<int64_t>>();
    const auto table = inputs[4].at("values").get<std::vector<int64_t>>();
    ASSERT_EQ(static_cast<int64_t>(lengths.size()), inputs[3].at("shape")[0].get<int64_t>());
    ASSERT_EQ(table.size(), lengths.size() * static_cast<size_t>(pages));
    for (size_t b = 0; b < lengths.size(); ++b) {
      EXPECT_EQ(lengths[b], pages * page_size);
      for (int64_t page = 0; page < pages; ++page) {
        const int64_t at = table[b * static_cast<size_t>(pages) + static_cast<size_t>(page)];
        EXPECT_GE(at, 0);
        EXPECT_LT(at, pool / page_size);
      }
    }
  }
}

TEST_F(BenchCalls, GivesTheOutputsDTypeWhereThereAreNoInputs) {
  const std::vector<Json> calls = CallsOf("AlibiFwdOp");
  ASSERT_FALSE(calls.empty());
  EXPECT_EQ(calls[0].at("dtype"), "float16");
  EXPECT_TRUE(calls[0].at("inputs").empty());
}

}  // namespace
}  // namespace tilewright
