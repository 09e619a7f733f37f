// Winners whose configs are of no space: a cache may be anyone's, or of a version whose spaces had
// other axes. None is ever chosen, and none brings a crash or an error.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <set>

#include "manifest/status.h"
#include "runtime/conform/cases.h"
#include "runtime/explain.h"
#include "runtime/keys.h"
#include "runtime/op_table.h"
#include "runtime/tuning.h"
#include "tests/runtime/runtime_fixture.h"
#include "tests/runtime/winner_of.h"

namespace tilewright {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

// The config with each of its values in turn missing or replaced, with a value that no variant
// knows, and with none at all.
std::vector<Config> Mutants(const Config& config) {
  std::vector<Config> mutants = {{config.variant, {}}, config};
  mutants.back().values.emplace_back("no_such_axis", 1);
  for (size_t i = 0; i < config.values.size(); ++i) {
    mutants.push_back(config);
    mutants.back().values.erase(mutants.back().values.begin() + static_cast<ptrdiff_t>(i));
    for (const int64_t value :
         {int64_t{0}, int64_t{-1}, int64_t{1}, int64_t{99999999}, kMost, kLeast}) {
      mutants.push_back(config);
      mutants.back().values[i].second = value;
    }
  }
  return mutants;
}

class WinnerTrust {
 public:
  WinnerTrust()
      : kernels_(TemplateSet::Builtin(), cache_.get(), std::make_shared<FakeCompiler>()),
        loader_(&driver_),
        planner_(&kernels_, &loader_, cache_.get(), nullptr) {}

  // Every mutant of the variant's default as this problem's winner, and as that of one nearby.
  void Check(const OpEntry& op, const Variant& variant, const CallDesc& call,
             const DeviceProfile& device) {
    std::set<std::string> legal = {variant.Default(call, device).ToJson()};
    for (const Candidate& candidate : TuningCandidates(*op.recipe, call, device)) {
      legal.insert(candidate.config.ToJson());
    }
    const ProblemFields own = op.recipe->Describe(call);
    std::vector<ProblemFields> problems = {own};
    for (size_t i = 0; i < own.size() && problems.size() < 2; ++i) {
      if (op.recipe->fields()[i].kind == ProblemField::Kind::kClass || own[i] < 2) continue;
      problems.push_back(own);
      ++problems.back()[i];
    }
    const std::string usual =
        SelectVariant(*op.recipe, call, device).value()->Default(call, device).ToJson();
    for (const Config& mutant : Mutants(variant.Default(call, device))) {
      for (const ProblemFields& fields : problems) {
        const std::string text = mutant.ToJson();
        const std::string where = Cat(call.ToString(), " ", text, fields == own ? "" : " nearby");
        const auto chosen = Chosen(op, call, device, fields, mutant);
        ASSERT_TRUE(chosen.ok()) << where << ": " << chosen.status();
        if (*chosen != usual) {
          EXPECT_EQ(*chosen, text) << where;
        }
        EXPECT_TRUE(*chosen == usual || legal.contains(text)) << where;
      }
    }
    ++checked_;
  }
  int checked() const { return checked_; }

 private:
  absl::StatusOr<std::string> Chosen(const OpEntry& op, const CallDesc& call,
                                     const DeviceProfile& device, const ProblemFields& fields,
                                     const Config& config) {
    const ProblemKey problem = MakeProblemKey(call, *op.recipe, fields, device.Key());
    WinnerRow row = WinnerOf(problem, config);
    row.key = "the only row";
    TW_RETURN_IF_ERROR(cache_->PutWinner(row));
    planner_.winners().Forget(problem);
    TW_ASSIGN_OR_RETURN(const Explanation explained,
                        ExplainCall(op, call, device, planner_, *cache_));
    return explained.config.ToJson();
  }

  const std::unique_ptr<Cache> cache_ = Cache::Open({}).value();
  FakeDriver driver_;
  KernelStore kernels_;
  KernelLoader loader_;
  Planner planner_;
  int checked_ = 0;
};

// Guards every operator and every variant that some case of the manifest reaches.
TEST(WinnerTrustTest, EveryVariantIgnoresWhatIsOfNoSpace) {
  WinnerTrust trust;
  int operators = 0;
  for (const auto& op : BuiltinOpEntries()) {
    if (op->recipe == nullptr) continue;
    ++operators;
    std::set<std::string_view> seen;
    const auto cases = ConformCases(op->spec);
    ASSERT_TRUE(cases.ok()) << cases.status();
    for (const DeviceProfile& device : BuiltinDeviceProfiles()) {
      for (const ConformCase& test : *cases) {
        for (const Variant* variant : op->recipe->variants()) {
          if (seen.contains(variant->name()) || test.call.operands[0].desc.elements() == 0)
            continue;
          if (!variant->Serves(test.call, device).ok()) continue;
          seen.insert(variant->name());
          trust.Check(*op, *variant, test.call, device);
          if (::testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
  EXPECT_GE(operators, 130);
  EXPECT_GE(trust.checked(), operators);
}

}  // namespace
}  // namespace tilewright
