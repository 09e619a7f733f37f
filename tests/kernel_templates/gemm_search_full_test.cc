// Guards the order in which the model puts the wgmma configurations of a matrix product: the tuner
// measures the first of them only. The measured tuning spaces are those of bench/results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "autotune/tuner.h"
#include "kernel_templates/recipe.h"
#include "manifest/device_profile.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr char kSpaces[] = "/bench/results/h200_2026-11-30_gemm_search_spaces.csv";

struct MeasuredProblem {
  int64_t m = 0, n = 0, k = 0;
  double fastest_us = 0;
  std::map<std::string, double> us;  // by configuration; slower ones are not listed
};

// By label.
std::map<std::string, MeasuredProblem> ReadSpaces() {
  std::map<std::string, MeasuredProblem> problems;
  std::ifstream file(std::string(TILEWRIGHT_SOURCE_DIR) + kSpaces);
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    std::vector<std::string> values;
    std::istringstream fields(line);
    for (std::string value; std::getline(fields, value, ',');) values.push_back(value);
    if (names.empty()) {
      names = values;
      continue;
    }
    MeasuredProblem& problem = problems[values[0]];
    std::tie(problem.m, problem.n, problem.k) =
        std::tuple(std::stoll(values[1]), std::stoll(values[2]), std::stoll(values[3]));
    Config config{"wgmma", {}};
    for (size_t i = 5; i < names.size(); ++i) {
      config.values.emplace_back(names[i], std::stoll(values[i]));
    }
    const double us = std::stod(values[4]);
    problem.us[config.ToJson()] = us;
    if (problem.us.size() == 1 || us < problem.fastest_us) problem.fastest_us = us;
  }
  return problems;
}

CallDesc CallOf(const MeasuredProblem& problem) {
  CallDesc call;
  for (const Dims& shape :
       {Dims{problem.m, problem.k}, Dims{problem.n, problem.k}, Dims{problem.m, problem.n}}) {
    call.operands.push_back({TensorDesc::Contiguous(DType::kBFloat16, shape), 256, true});
  }
  call.params.push_back(ParamValue(false));
  call.params.push_back(ParamValue(true));
  return call;
}

// Configurations of the legal space, those that the model predicts fastest first.
std::vector<Config> Ranked(const Variant& wgmma, const CallDesc& call,
                           const DeviceProfile& device) {
  std::vector<Candidate> legal;
  const TuningSpace space = wgmma.Space(call, device);
  for (int64_t i = 0; i < space.size(); ++i) {
    Config config = space.At(i);
    if (!wgmma.Legal(call, config, device).ok()) continue;
    const double us = wgmma.PredictUs(call, config, device);
    legal.push_back({std::move(config), us});
  }
  std::stable_sort(legal.begin(), legal.end(), [](const Candidate& a, const Candidate& b) {
    return a.predicted_us < b.predicted_us;
  });
  std::vector<Config> ranked;
  for (Candidate& candidate : legal) ranked.push_back(std::move(candidate.config));
  return ranked;
}

// Of ten spaces that were measured whole, one within 3 % of the fastest is among those that the
// tuner measures: at most a fifth, and 64.
TEST(GemmSearchTest, TheModelPutsAFastOneAmongTheMeasured) {
  const std::map<std::string, MeasuredProblem> problems = ReadSpaces();
  ASSERT_EQ(problems.size(), 10u) << kSpaces;
  const absl::StatusOr<DeviceProfile> device = BuiltinDeviceProfile("h200");
  ASSERT_TRUE(device.ok()) << device.status();
  const std::unique_ptr<Recipe> recipe = MakeBuiltinRecipe("GemmFwdOp");
  const Variant& wgmma = *FindVariant(*recipe, "wgmma");
  const TuneOptions options;
  for (const auto& [label, problem] : problems) {
    const std::vector<Config> ranked = Ranked(wgmma, CallOf(problem), *device);
    const size_t measured = std::min(
        static_cast<size_t>(options.max_candidates),
        static_cast<size_t>(options.measured_fraction * static_cast<double>(ranked.size())));
    ASSERT_GT(ranked.size(), measured) << label;
    double found_us = 0;
    for (size_t i = 0; i < measured; ++i) {
      const auto it = problem.us.find(ranked[i].ToJson());
      if (it != problem.us.end() && (found_us == 0 || it->second < found_us)) found_us = it->second;
    }
    EXPECT_GT(found_us, 0) << label << ": none within a tenth of the fastest";
    EXPECT_LE(found_us, 1.03 * problem.fastest_us) << label;
  }
}

}  // namespace
}  // namespace tilewright
