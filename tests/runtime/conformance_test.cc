#include "runtime/conform/conformance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "runtime/conform/cases.h"
#include "runtime/keys.h"
#include "tests/runtime/conform_fakes.h"
#include "tests/runtime/winner_of.h"

namespace tilewright {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

// The runtimes that conformance opens have `fault`, and so has the one that serves.
struct Bench {
  explicit Bench(Fault fault)
      : served(&driver, spec.get(), recipe.get(), fault), open([this, fault] {
          return absl::StatusOr<std::unique_ptr<Runtime>>(
              std::make_unique<FakeHostRuntime>(&driver, spec.get(), recipe.get(), fault));
        }) {}

  ConformReport Run(ConformOptions options = {}) {
    options.seed = 11;
    auto report = RunConformance(served, driver, open, options);
    EXPECT_TRUE(report.ok()) << report.status();
    return report.ok() ? *std::move(report) : ConformReport();
  }

  std::unique_ptr<OpSpec> spec = MakeAddSpec();
  std::unique_ptr<Recipe> recipe = MakeAddRecipe();
  ReplayingDriver driver;
  FakeHostRuntime served;
  RuntimeFactory open;
};

ConformOptions WorkloadOnly() {
  ConformOptions options;
  options.edges = false;
  options.candidates = 0;
  return options;
}

// Guards: a correct operator passes every case, in every layout, and rows say what ran.
TEST(ConformanceTest, CorrectOperatorPassesEverywhere) {
  Bench bench(Fault::kNone);
  std::vector<std::string> flushed;
  ConformOptions options;
  options.on_row = [&](const LedgerRow& row) { flushed.push_back(row.case_name); };
  ConformReport report;
  for (const char* filter : {"workload/", "edge/primes", "edge/rank", "edge/alpha", "edge/empty"}) {
    options.case_filter = filter;
    ConformReport part = bench.Run(options);
    EXPECT_TRUE(part.ok());
    report.passed += part.passed;
    report.rows.insert(report.rows.end(), part.rows.begin(), part.rows.end());
  }
  for (const LedgerRow& row : report.rows) {
    EXPECT_EQ(row.verdict, Verdict::kPass)
        << row.case_name << " " << row.dtype << ": " << row.detail;
  }
  EXPECT_EQ(flushed.size(), report.rows.size());
  EXPECT_EQ(report.passed, static_cast<int64_t>(report.rows.size()));
  std::map<std::string, int> names;
  for (const LedgerRow& row : report.rows) ++names[row.case_name + " " + row.dtype];
  EXPECT_GE(names["workload/rows float16"], 3);  // default, the other variant, candidates
  for (const char* layout : {"", "+misaligned", "+padded", "+gapped", "+transposed", "+expanded"}) {
    EXPECT_EQ(names[std::string("edge/primes") + layout + " int32"], 2) << layout;
  }
  EXPECT_EQ(names["edge/alpha-half int32"], 0);
  EXPECT_EQ(names["edge/empty float16"], 2);
  const LedgerRow& first = report.rows.front();
  EXPECT_EQ(first.choice, "default");
  EXPECT_EQ(first.device, "NVIDIA H200/132");
  EXPECT_EQ(first.arch, "sm_90a");
  EXPECT_EQ(first.checks, "normal,small-integers,graph");
  EXPECT_EQ(first.closure_digest, "closure");
  EXPECT_EQ(first.cubin_digest, "cubin-1");
  EXPECT_EQ(first.compiler, "fake 1");
  EXPECT_EQ(first.launch_digest.size(), 32);
  EXPECT_THAT(first.kernels, HasSubstr("kTile=1"));
  EXPECT_GT(bench.driver.replays, 10);
  EXPECT_EQ(bench.driver.LiveAllocations(), 0);
  EXPECT_EQ(bench.driver.ContextDepth(), 0);
}

struct FaultCase {
  Fault fault;
  Verdict verdict;
  const char* detail;
};

class ConformanceFaultTest : public testing::TestWithParam<FaultCase> {};

// Guards: each kind of fault is seen, called by its name, and fails the run.
TEST_P(ConformanceFaultTest, FaultIsSeen) {
  Bench bench(GetParam().fault);
  const ConformReport report = bench.Run(WorkloadOnly());
  EXPECT_FALSE(report.ok());
  ASSERT_THAT(report.rows, testing::Not(IsEmpty()));
  int found = 0;
  for (const LedgerRow& row : report.rows) {
    if (row.verdict != GetParam().verdict) continue;
    ++found;
    EXPECT_THAT(row.detail, HasSubstr(GetParam().detail));
  }
  EXPECT_GE(found, 2);  // both dtypes
}

INSTANTIATE_TEST_SUITE_P(
    All, ConformanceFaultTest,
    testing::Values(FaultCase{Fault::kWrongLast, Verdict::kWrong, "at (63, 299)"},
                    FaultCase{Fault::kSkipsLast, Verdict::kWrong, "at (63, 299)"},
                    FaultCase{Fault::kWritesPast, Verdict::kWrong, "outside the tensor"},
                    FaultCase{Fault::kChangesInput, Verdict::kWrong,
                              "input 'input' was overwritten"},
                    FaultCase{Fault::kIgnoresWinner, Verdict::kError, "in place of"},
                    FaultCase{Fault::kCallFails, Verdict::kError, "the fake call fails"},
                    FaultCase{Fault::kReplaysStale, Verdict::kWrong, "graph replay"}));

// Guards: a failing driver gives rows, and a lost device ends the run with the reason.
TEST(ConformanceTest, DriverErrorsAreRows) {
  Bench bench(Fault::kNone);
  bench.driver.FailAlways("CopyToHost", kCudaIllegalAddress);
  const ConformReport failing = bench.Run(WorkloadOnly());
  EXPECT_EQ(failing.errors, 4);
  EXPECT_TRUE(failing.stopped.empty());
  EXPECT_THAT(failing.rows.front().detail, HasSubstr("CopyToHost"));
  bench.driver.FailAlways("SynchronizeContext", kCudaIllegalAddress);
  const ConformReport lost = bench.Run(WorkloadOnly());
  EXPECT_EQ(lost.errors, 1);
  EXPECT_THAT(lost.stopped, HasSubstr("the device is lost"));
  EXPECT_FALSE(lost.ok());
  bench.driver.ClearFailures();
  bench.driver.FailAlways("Alloc", kCudaOutOfMemory);
  const ConformReport no_memory = bench.Run(WorkloadOnly());
  EXPECT_EQ(no_memory.errors, 2);
  EXPECT_THAT(no_memory.rows.front().detail, HasSubstr("RESOURCE_EXHAUSTED"));
}

// Guards: the budget ends the run between configurations, and filters choose cases.
TEST(ConformanceTest, BudgetAndFilters) {
  Bench bench(Fault::kNone);
  ConformOptions options;
  options.budget_s = 1e-9;
  const ConformReport none = bench.Run(options);
  EXPECT_TRUE(none.out_of_budget);
  EXPECT_THAT(none.rows, IsEmpty());
  options = {};
  options.case_filter = "edge/scalar";
  for (const LedgerRow& row : bench.Run(options).rows) {
    EXPECT_THAT(row.case_name, HasSubstr("edge/scalar"));
  }
  options.ops = {"NoSuchOp"};
  EXPECT_EQ(RunConformance(bench.served, bench.driver, bench.open, options).status().code(),
            absl::StatusCode::kNotFound);
}

// Guards: what the served cache would run is run, beside the default.
TEST(ConformanceTest, ServedWinnerIsRunBesideTheDefault) {
  Bench bench(Fault::kNone);
  const auto cases = ConformCases(*bench.spec);
  ASSERT_TRUE(cases.ok()) << cases.status();
  const DeviceProfile device = BuiltinDeviceProfile("h200").value();
  const ProblemKey problem = MakeProblemKey((*cases)[0].call, *bench.recipe, device);
  const WinnerRow winner = WinnerOf(problem, {"portable", {{"tile", 4}}});
  ASSERT_TRUE(bench.served.cache().PutWinner(winner).ok());
  const ConformReport report = bench.Run(WorkloadOnly());
  EXPECT_TRUE(report.ok());
  std::map<std::string, std::string> configs;  // of float16
  for (const LedgerRow& row : report.rows) {
    if (row.dtype == "float16") configs[row.choice] = row.config;
  }
  EXPECT_EQ(configs["served"], winner.config_json);
  EXPECT_THAT(configs["default"], AllOf(HasSubstr("fast"), HasSubstr("1")));
}

}  // namespace
}  // namespace tilewright
