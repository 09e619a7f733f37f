// How the tuner's search fares on measured tuning spaces: replays it on the CSV of
// `tilewright_gemm_landscape SHAPES --space`.
//
//   tilewright_gemm_search LANDSCAPE.csv [--model]
//
// With --model the predictions are those of the model as it is now, not those that the file has,
// and points that the spaces no longer have are left out.
//
// A sample is the configuration's measured median, with noise of half a percent. One line a
// problem, as CSV: how many configurations are legal, how many the search measured, the one it
// chose and the fastest of all.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "autotune/tuner.h"
#include "kernel_templates/gemm/variants.h"
#include "manifest/device_profile.h"
#include "manifest/status.h"
#include "tests/gpu/gemm_builder.h"
#include "tools/csv.h"

namespace tilewright {
namespace {

struct Point {
  Candidate candidate;
  double median_us = 0;
};

class Replay : public Evaluator {
 public:
  explicit Replay(const std::vector<Point>& points) {
    for (const Point& point : points) us_[point.candidate.config.ToJson()] = point.median_us;
  }
  std::vector<Measurement> Admit(std::span<const Config> configs) override {
    admitted_ += static_cast<int>(configs.size());
    return std::vector<Measurement>(configs.size());
  }
  std::vector<Measurement> Measure(std::span<const Config> configs, int repeats) override {
    std::vector<Measurement> results(configs.size());
    for (size_t i = 0; i < configs.size(); ++i) {
      for (int r = 0; r < repeats; ++r) {
        results[i].samples_us.push_back(us_.at(configs[i].ToJson()) * noise_(random_));
      }
    }
    return results;
  }
  int admitted() const { return admitted_; }
  double Us(const Config& config) const { return us_.at(config.ToJson()); }

 private:
  std::map<std::string, double> us_;
  std::mt19937_64 random_{1};
  std::normal_distribution<double> noise_{1.0, 0.005};
  int admitted_ = 0;
};

bool Offers(const TuningSpace& space, const Config& config) {
  return std::ranges::all_of(space.axes, [&](const TuningAxis& axis) {
    return std::ranges::count(axis.values, config.Get(axis.name)) > 0;
  });
}

// The points of a CSV row's problem as the spaces and the model have them now.
class Model {
 public:
  static absl::StatusOr<Model> Create() {
    Model model;
    TW_ASSIGN_OR_RETURN(model.device_, BuiltinDeviceProfile("h200"));
    model.variants_.push_back(MakeGemvVariant(ReadGemmCase));
    model.variants_.push_back(MakeWgmmaVariant(ReadGemmCase));
    model.variants_.push_back(MakeMmaVariant(ReadGemmCase));
    return model;
  }

  // The predicted time; none where the point is in no space.
  absl::StatusOr<std::optional<double>> Predict(const CsvRow& row, const Config& config) const {
    GemmCase gemm;
    const std::optional<DType> dtype = ParseDType(row.at("dtype"));
    if (!dtype) return InvalidArgument("no dtype ", row.at("dtype"));
    gemm.dtype = gemm.out_dtype = *dtype;
    for (const auto& [name, extent] :
         {std::pair{"batches", &gemm.batches}, {"m", &gemm.m}, {"n", &gemm.n}, {"k", &gemm.k}}) {
      TW_ASSIGN_OR_RETURN(const double value, CsvNumber(row, name));
      *extent = static_cast<int64_t>(value);
    }
    gemm.trans_a = row.at("trans_a") == "1";
    gemm.trans_b = row.at("trans_b") == "1";
    const CallDesc call = gemm.Call();
    for (const auto& variant : variants_) {
      if (variant->name() != config.variant || !variant->Serves(call, device_).ok()) continue;
      if (!Offers(variant->Space(call, device_), config)) continue;
      if (!variant->Legal(call, config, device_).ok()) continue;
      return variant->PredictUs(call, config, device_);
    }
    return std::nullopt;
  }

 private:
  DeviceProfile device_;
  std::vector<std::unique_ptr<Variant>> variants_;
};

absl::StatusOr<std::map<std::string, std::vector<Point>>> ReadLandscape(const std::string& path,
                                                                        const Model* model) {
  TW_ASSIGN_OR_RETURN(const std::vector<CsvRow> rows, ReadCsv(path));
  std::map<std::string, std::vector<Point>> problems;
  for (const CsvRow& row : rows) {
    if (row.at("config") == "cublaslt" || row.at("config").starts_with("read")) continue;
    const absl::StatusOr<Config> config = Config::FromJson(row.at("config"));
    if (!config.ok()) return config.status();
    const std::string name = Cat(row.at("label"), " ", row.at("batches"), "x", row.at("m"), "x",
                                 row.at("n"), "x", row.at("k"));
    TW_ASSIGN_OR_RETURN(double predicted, CsvNumber(row, "predicted_us"));
    if (model != nullptr) {
      TW_ASSIGN_OR_RETURN(const std::optional<double> now, model->Predict(row, *config));
      if (!now) continue;
      predicted = *now;
    }
    TW_ASSIGN_OR_RETURN(const double median, CsvNumber(row, "median_us"));
    problems[name].push_back({{*config, predicted}, median});
  }
  return problems;
}

absl::Status Main(const std::string& path, bool model) {
  TW_ASSIGN_OR_RETURN(const Model now, Model::Create());
  TW_ASSIGN_OR_RETURN(const auto problems, ReadLandscape(path, model ? &now : nullptr));
  std::cout << "problem,legal,measured,measured_part,found_us,best_us,found_over_best\n";
  for (const auto& [name, points] : problems) {
    std::vector<Candidate> candidates;
    double best_us = points.front().median_us;
    for (const Point& point : points) {
      candidates.push_back(point.candidate);
      best_us = std::min(best_us, point.median_us);
    }
    Replay replay(points);
    TW_ASSIGN_OR_RETURN(const TuneResult result, Tune(std::move(candidates), {}, replay, {}));
    const double found_us = replay.Us(result.best);
    std::cout << name << "," << result.legal << "," << replay.admitted() << ","
              << static_cast<double>(replay.admitted()) / static_cast<double>(result.legal) << ","
              << found_us << "," << best_us << "," << found_us / best_us << "\n";
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace tilewright

int main(int argc, char** argv) {
  const bool model = argc == 3 && std::string(argv[2]) == "--model";
  if (argc != 2 && !model) {
    std::cerr << "usage: " << argv[0] << " LANDSCAPE.csv [--model]\n";
    return 2;
  }
  const absl::Status status = tilewright::Main(argv[1], model);
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
