// Guards the comparison of benchmark runs: what counts as a regression, and the CSV between runs.
#include "tools/bench_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>

#include "manifest/status.h"
#include "tests/tools/cli_process.h"
#include "tools/bench_run.h"
#include "tools/interrupt.h"

namespace tilewright {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

BenchRow Row(const std::string& name, double median, double p10, double p90) {
  BenchRow row;
  row.op = "AddFwdOp";
  row.name = name;
  row.dtype = "float32";
  row.median_us = median;
  row.p10_us = p10;
  row.p90_us = p90;
  return row;
}

// A regression needs both: beyond the old spread, and by more than 3% and 0.2 us.
TEST(BenchRowsTest, RegressionsLieBeyondNoise) {
  const std::vector<BenchRow> before = {Row("slower", 100, 99, 101), Row("noise", 100, 95, 110),
                                        Row("small", 2.0, 1.99, 2.01), Row("faster", 100, 99, 101),
                                        Row("gone", 5, 5, 5)};
  const std::vector<BenchRow> now = {Row("slower", 104, 103, 105), Row("noise", 104, 103, 105),
                                     Row("small", 2.15, 2.14, 2.16), Row("faster", 50, 49, 51)};
  EXPECT_THAT(Regressions(before, now),
              ElementsAre(HasSubstr("slower: 100 us before, 104 us now"), HasSubstr("gone")));
  EXPECT_THAT(Regressions(before, before), IsEmpty());
}

// A run that is interrupted keeps the rows that it has, and says how far it came.
TEST(BenchRowsTest, AnInterruptedRunKeepsItsRows) {
  const OpSpec* const op = Manifest::FindBuiltin("AddFwdOp");
  const absl::StatusOr<std::vector<BenchCase>> cases = BenchCases(*op);
  ASSERT_TRUE(cases.ok()) << cases.status();
  ASSERT_GE(cases->size(), 4u);
  const std::atomic<bool>& interrupted = NoticeInterrupts();
  int calls = 0;
  const BenchMeasured result = MeasureCases(
      *cases, interrupted, [&](const BenchCase& bench_case) -> absl::StatusOr<BenchRow> {
        ++calls;
        if (calls == 1) return InvalidArgument("no such luck");
        if (calls == 3) {  // noticed when this case is done; twice, as timeout(1) sends it
          std::raise(SIGINT);
          std::raise(SIGINT);
        }
        return Row(bench_case.name, calls, calls, calls);
      });
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  EXPECT_TRUE(interrupted);
  EXPECT_EQ(calls, 3);
  ASSERT_EQ(result.rows.size(), 2u);
  EXPECT_EQ(result.rows[1].name, (*cases)[2].name);
  EXPECT_EQ(result.cases.size(), 2u);
  EXPECT_THAT(result.findings,
              ElementsAre(HasSubstr("no such luck"),
                          Cat("interrupted after 3 of ", cases->size(), " cases")));
}

// A config is JSON with commas and quotes: it must survive the CSV.
TEST(BenchRowsTest, CsvKeepsARow) {
  const CliSandbox sandbox;
  BenchRow row = Row("case", 12.5, 12.25, 13.75);
  row.config = R"({"variant":"rows","threads":256})";
  row.inputs = "normal";
  row.device = "NVIDIA H200";
  row.driver = "580.159.04, CUDA 13.0";
  row.date = "2026-11-30";
  row.commit = "4a0a616";
  const std::string path =
      sandbox.Write("rows.csv", "# a note\n" + BenchCsvHeader() + "\n" + BenchCsvLine(row) + "\n");
  const absl::StatusOr<std::vector<BenchRow>> rows = ReadBenchCsv(path);
  ASSERT_TRUE(rows.ok()) << rows.status();
  ASSERT_EQ(rows->size(), 1u);
  EXPECT_EQ(rows->front().name, "case");
  EXPECT_EQ(rows->front().median_us, 12.5);
  EXPECT_EQ(rows->front().p90_us, 13.75);
  const absl::StatusOr<std::vector<CsvRow>> fields = ReadCsv(path);
  EXPECT_EQ(fields->front().at("config"), row.config);
  EXPECT_EQ(fields->front().at("inputs"), "normal");
  EXPECT_EQ(fields->front().at("device"), row.device);
  EXPECT_EQ(fields->front().at("driver"), row.driver);
  EXPECT_EQ(fields->front().at("date"), row.date);
  EXPECT_EQ(fields->front().at("commit"), row.commit);
}

TEST(BenchRowsTest, CsvErrorsNameTheLine) {
  const auto short_line = ParseCsv("a,b\n1,2\n3\n", "x.csv");
  EXPECT_THAT(std::string(short_line.status().message()), HasSubstr("x.csv:3: expected 2 fields"));
  const auto open_quote = ParseCsv("a\n\"1\n", "x.csv");
  EXPECT_THAT(std::string(open_quote.status().message()), HasSubstr("x.csv:2: a quote"));
  EXPECT_FALSE(CsvNumber({{"a", "1x"}}, "a").ok());
  EXPECT_EQ(*CsvNumber({{"a", "1e-5"}}, "a"), 1e-5);
}

TEST(BenchRowsTest, KeepsTheBestPeerAndItsRatio) {
  BenchRow row = Row("case", 10, 10, 10);
  OfferPeer(row, "torch", 30);
  OfferPeer(row, "torch-compile", 12);
  OfferPeer(row, "broken", 0);
  EXPECT_EQ(row.peer, "torch-compile");
  EXPECT_DOUBLE_EQ(row.ratio, 1.2);
}

// Faster than light, and infinitely slow, are errors of the model.
TEST(BenchRowsTest, ModelFailuresAreSeen) {
  BenchRow good = Row("good", 10, 10, 10), fast = Row("fast", 10, 10, 10),
           none = Row("none", 1, 1, 1);
  good.sol_us = 9;
  good.efficiency = 0.9;
  fast.sol_us = 11;
  fast.efficiency = 1.1;
  const std::vector<BenchRow> rows = {good, fast, none};
  EXPECT_THAT(ModelFailures(rows), ElementsAre(HasSubstr("AddFwdOp fast")));
}

// The committed figures have one positive bar a case.
TEST(BenchRowsTest, CatalogBarsAreReadable) {
  const std::string path = std::string(TILEWRIGHT_SOURCE_DIR) + "/bench/catalog_bars.csv";
  const absl::StatusOr<std::vector<CsvRow>> lines = ReadCsv(path);
  ASSERT_TRUE(lines.ok()) << lines.status();
  std::set<std::string> names;
  for (const CsvRow& line : *lines) {
    EXPECT_GT(*CsvNumber(line, "bar_us"), 0) << line.at("case");
    EXPECT_TRUE(names.insert(line.at("op") + " " + line.at("case")).second) << line.at("case");
  }
  EXPECT_EQ(names.count("AddFwdOp cnn-feat-broadcast-float32"), 1u);
  std::vector<BenchRow> rows = {Row("hidden-state-prefill-float16", 14, 14, 14),
                                Row("other", 1, 1, 1)};
  ASSERT_TRUE(AddCatalogBars(path, rows).ok());
  EXPECT_DOUBLE_EQ(rows[0].bar_us, 14.688);
  EXPECT_EQ(rows[1].bar_us, 0);
}

}  // namespace
}  // namespace tilewright
