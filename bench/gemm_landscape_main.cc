// Times many configurations of matrix products beside cuBLASLt, all in one run.
//
//   tilewright_gemm_landscape SHAPES [--configs FILE | --space | --top N] [--repeats N]
//   [--clean-l2] [--sets N] [--flush-times N] [--profile | --read | --prebuild CACHE]
//
// A line of SHAPES is `label dtype batches m n k trans_a trans_b`. Without an option the defaults
// of the variants that serve a shape are timed; --space times every legal configuration, --top also
// those of the N kernels that the model predicts fastest, --configs those of a file, where they are
// legal: a line is a shape's label, or *, and JSON. L2 is flushed by a fill, which leaves it full
// of lines to write back, or with --clean-l2 by reads, of --flush-times (4) its size. Samples go
// through --sets (3) sets of inputs. CSV on standard output. --profile launches each once after a
// flush, for a profiler to see. --read also times kernels that do nothing but read b once, as what
// weights that are read once take at least. --prebuild compiles what would be timed on an H200 into
// a cache file, for TILEWRIGHT_GEMM_CHECK_CACHE to name, and needs no GPU.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "bench/peers/cublaslt.h"
#include "manifest/status.h"
#include "runtime/measure/kernel_timer.h"
#include "runtime/measure/l2_flush.h"
#include "tests/gpu/gemm_checker.h"

namespace tilewright {
namespace {

struct Options {
  std::string shapes;
  std::string configs;
  bool space = false;
  size_t top = 0;
  bool clean_l2 = false;
  bool profile = false;
  bool read = false;
  std::string prebuild;
  int64_t flush_times = 4;
  int sets = 3;
  int repeats = 7;
};

struct Shape {
  std::string label;
  GemmCase gemm;
};

absl::StatusOr<std::vector<Shape>> ReadShapes(const std::string& path) {
  std::ifstream file(path);
  if (!file) return NotFound("cannot read ", path);
  std::vector<Shape> shapes;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    Shape shape;
    std::string dtype;
    GemmCase& g = shape.gemm;
    if (!(fields >> shape.label >> dtype >> g.batches >> g.m >> g.n >> g.k >> g.trans_a >>
          g.trans_b)) {
      return InvalidArgument(path, ": ", line);
    }
    const std::optional<DType> parsed = ParseDType(dtype);
    if (!parsed) return InvalidArgument(path, ": no dtype ", dtype);
    g.dtype = g.out_dtype = *parsed;
    shapes.push_back(shape);
  }
  return shapes;
}

using LabelledConfigs = std::vector<std::pair<std::string, Config>>;

absl::StatusOr<LabelledConfigs> ReadConfigs(const std::string& path) {
  LabelledConfigs configs;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const size_t space = line.find(' ');
    if (space == std::string::npos) continue;
    TW_ASSIGN_OR_RETURN(Config config, Config::FromJson(line.substr(space + 1)));
    configs.emplace_back(line.substr(0, space), std::move(config));
  }
  return configs;
}

// The legal points of all spaces, by predicted time; all, or the first of each of `top` kernels.
std::vector<Config> Ranked(const GemmBuilder& builder, const CallDesc& call,
                           const Options& options) {
  std::vector<std::pair<double, Config>> legal;
  for (const Variant* variant : builder.variants()) {
    if (!variant->Serves(call, builder.device()).ok()) continue;
    const TuningSpace space = variant->Space(call, builder.device());
    for (int64_t i = 0; i < space.size(); ++i) {
      Config config = space.At(i);
      if (!variant->Legal(call, config, builder.device()).ok()) continue;
      const double us = variant->PredictUs(call, config, builder.device());
      legal.emplace_back(us, std::move(config));
    }
  }
  std::stable_sort(legal.begin(), legal.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Config> configs;
  std::set<std::string> kernels;
  for (auto& [us, config] : legal) {
    if (options.top > 0) {
      if (configs.size() == options.top) break;
      const Variant& variant = *builder.Find(config);
      if (!kernels.insert(variant.Kernels(call, config)[0].Instantiation()).second) continue;
    }
    configs.push_back(std::move(config));
  }
  return configs;
}

std::vector<Config> Candidates(const GemmBuilder& builder, const Shape& shape,
                               const Options& options, const LabelledConfigs& listed) {
  const CallDesc call = shape.gemm.Call();
  std::vector<Config> points;
  for (const Variant* variant : builder.variants()) {
    if (!variant->Serves(call, builder.device()).ok()) continue;
    points.push_back(variant->Default(call, builder.device()));
  }
  if (options.space || options.top > 0) {
    for (Config& config : Ranked(builder, call, options)) points.push_back(std::move(config));
  }
  for (const auto& [label, config] : listed) {
    if (label == "*" || label == shape.label) points.push_back(config);
  }
  std::vector<Config> candidates;
  for (Config& config : points) {
    const Variant* const variant = builder.Find(config);
    if (variant == nullptr || !variant->Serves(call, builder.device()).ok()) continue;
    if (const absl::Status legal = variant->Legal(call, config, builder.device()); !legal.ok()) {
      std::cerr << shape.label << ": left out: " << config.ToJson() << ": " << legal << "\n";
      continue;
    }
    if (std::find(candidates.begin(), candidates.end(), config) != candidates.end()) continue;
    candidates.push_back(std::move(config));
  }
  return candidates;
}

// The same product as a call of a built-in operator, for the peer.
absl::StatusOr<CallDesc> PeerCall(const GemmCase& g) {
  const bool batched = g.batches > 1;
  const OpSpec* const op = Manifest::FindBuiltin(batched ? "BmmFwdOp" : "GemmFwdOp");
  const Dims a = g.trans_a ? Dims{g.k, g.m} : Dims{g.m, g.k};
  const Dims b = g.trans_b ? Dims{g.n, g.k} : Dims{g.k, g.n};
  std::vector<Operand> inputs;
  for (const Dims& shape : {a, b}) {
    const Dims full = batched ? Dims{g.batches, shape[0], shape[1]} : shape;
    inputs.push_back({TensorDesc::Contiguous(g.dtype, full), 256, true});
  }
  std::vector<NamedParam> params;
  if (!batched) params = {{"trans_a", g.trans_a}, {"trans_b", g.trans_b}};
  return InferCall(*op, inputs, params);
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

class Bench {
 public:
  Bench(GemmChecker& checker, const Options& options) : checker_(checker), options_(options) {}

  absl::Status Open() {
    Driver& driver = checker_.driver();
    TW_ASSIGN_OR_RETURN(workspace_, driver.Alloc(kCublasLtWorkspaceBytes));
    TimerOptions timing;
    timing.clean_l2 = options_.clean_l2;
    timing.warmup = 1;
    TW_ASSIGN_OR_RETURN(const int l2, driver.Attribute(0, DeviceAttribute::kL2CacheBytes));
    timing.l2_bytes = l2 * options_.flush_times / 4;
    if (options_.profile) {
      TW_ASSIGN_OR_RETURN(flush_, L2Flush::Create(driver, 0, checker_.stream(), timing.l2_bytes,
                                                  options_.clean_l2));
      return absl::OkStatus();
    }
    TW_ASSIGN_OR_RETURN(timer_, KernelTimer::Create(driver, 0, checker_.stream(), timing));
    std::cerr << "timing by " << TimingMethodName(timer_->method()) << "\n";
    std::cout << "label,dtype,batches,m,n,k,trans_a,trans_b,config,predicted_us,median_us,ratio\n";
    return absl::OkStatus();
  }

  absl::Status Measure(const Shape& shape, const std::vector<Config>& candidates) {
    works_.clear();
    std::vector<GemmBuffers> sets;
    std::vector<std::vector<std::unique_ptr<DirectCall>>> calls(candidates.size());
    for (int set = 0; set < options_.sets; ++set) {
      if (set > 0) checker_.SetInputsAside();
      TW_RETURN_IF_ERROR(checker_.PrepareNormal(shape.gemm, static_cast<uint32_t>(set) + 1));
      sets.push_back({checker_.Data(0), checker_.Data(1), checker_.Data(2), workspace_,
                      kCublasLtWorkspaceBytes});
      for (size_t i = 0; i < candidates.size(); ++i) {
        TW_ASSIGN_OR_RETURN(calls[i].emplace_back(), checker_.Direct(candidates[i]));
      }
    }
    TW_ASSIGN_OR_RETURN(const std::unique_ptr<CublasLtGemm> peer, AddPeer(shape.gemm, sets));
    const size_t peers = works_.size();
    const GemmCase& g = shape.gemm;
    const int64_t bytes = g.batches * g.n * g.k * DTypeSize(g.dtype);
    for (const bool evict_first : {false, true}) {
      if (!options_.read) break;
      Add([this, &sets, bytes, evict_first](int sample) {
        const GemmBuffers& set = sets[static_cast<size_t>(sample) % sets.size()];
        return checker_.LaunchRead(set.b, bytes, evict_first);
      });
    }
    for (const auto& of_config : calls) {
      Add([this, &of_config](int sample) {
        return of_config[static_cast<size_t>(sample) % of_config.size()]->Launch(checker_.stream());
      });
    }
    absl::Status status =
        options_.profile ? LaunchEach(shape, candidates, peers) : Time(shape, candidates, peers);
    TW_RETURN_IF_ERROR(checker_.FreeInputsAside());
    return status;
  }

 private:
  absl::Status Time(const Shape& shape, const std::vector<Config>& candidates, size_t peers) {
    auto samples = timer_->Time(works_, options_.repeats);
    if (!samples.ok()) return samples.status();
    double peer_us = 0;
    for (size_t i = 0; i < peers; ++i) {
      const double us = Median((*samples)[i]);
      if (peer_us == 0 || us < peer_us) peer_us = us;
    }
    Print(shape, "cublaslt", 0, peer_us, peer_us);
    const size_t reads = options_.read ? 2 : 0;
    for (size_t i = 0; i < reads; ++i) {
      const double us = Median((*samples)[peers + i]);
      Print(shape, i == 0 ? "read" : "read evict_first", 0, us, peer_us);
    }
    peers += reads;
    const CallDesc call = shape.gemm.Call();
    for (size_t i = 0; i < candidates.size(); ++i) {
      const double predicted =
          checker_.builder().Find(candidates[i])->PredictUs(call, candidates[i], checker_.device());
      Print(shape, candidates[i].ToJson(), predicted, Median((*samples)[peers + i]), peer_us);
    }
    std::cout.flush();
    return absl::OkStatus();
  }

  // Each once, in the order of the lines that it prints.
  absl::Status LaunchEach(const Shape& shape, const std::vector<Config>& candidates, size_t peers) {
    for (size_t i = 0; i < works_.size(); ++i) {
      TW_RETURN_IF_ERROR(flush_->Enqueue(checker_.stream()));
      if (!works_[i].launch(0).ok()) continue;  // not every algorithm of the peer runs
      const GemmCase& g = shape.gemm;
      std::cout << "launch " << g.batches << "x" << g.m << "x" << g.n << "x" << g.k << " "
                << (i < peers ? "cublaslt" : candidates[i - peers].ToJson()) << std::endl;
    }
    return checker_.driver().SynchronizeStream(checker_.stream());
  }

  void Add(std::function<absl::Status(int)> launch) {
    TimedWork work;
    work.launch = std::move(launch);
    works_.push_back(std::move(work));
  }

  // Every algorithm that runs.
  absl::StatusOr<std::unique_ptr<CublasLtGemm>> AddPeer(const GemmCase& gemm,
                                                        const std::vector<GemmBuffers>& sets) {
    TW_ASSIGN_OR_RETURN(const CallDesc call, PeerCall(gemm));
    TW_ASSIGN_OR_RETURN(std::unique_ptr<CublasLtGemm> peer, CublasLtGemm::Create(call));
    for (int i = 0; i < peer->algorithms(); ++i) {
      if (!options_.profile && !peer->Run(i, sets[0], checker_.stream()).ok()) continue;
      Add([this, raw = peer.get(), &sets, i](int sample) {
        return raw->Run(i, sets[static_cast<size_t>(sample) % sets.size()], checker_.stream());
      });
    }
    return peer;
  }

  static void Print(const Shape& shape, std::string config, double predicted, double us,
                    double peer_us) {
    for (size_t at = 0; (at = config.find('"', at)) != std::string::npos; at += 2) {
      config.insert(at, 1, '"');
    }
    const GemmCase& g = shape.gemm;
    std::cout << shape.label << "," << DTypeName(g.dtype) << "," << g.batches << "," << g.m << ","
              << g.n << "," << g.k << "," << g.trans_a << "," << g.trans_b << ",\"" << config
              << "\"," << predicted << "," << us << "," << peer_us / us << "\n";
  }

  GemmChecker& checker_;
  const Options& options_;
  std::unique_ptr<KernelTimer> timer_;  // null when profiling
  std::unique_ptr<L2Flush> flush_;      // when profiling
  void* workspace_ = nullptr;
  std::vector<TimedWork> works_;
};

// Compiles the candidates of the shapes, which are written to `candidates`.
absl::Status Build(GemmBuilder& builder, const std::vector<Shape>& shapes, const Options& options,
                   std::vector<std::vector<Config>>& candidates) {
  TW_ASSIGN_OR_RETURN(const LabelledConfigs listed, ReadConfigs(options.configs));
  std::vector<std::pair<CallDesc, Config>> points;
  for (const Shape& shape : shapes) {
    candidates.push_back(Candidates(builder, shape, options, listed));
    for (const Config& config : candidates.back()) points.emplace_back(shape.gemm.Call(), config);
  }
  std::cerr << points.size() << " points\n";
  TW_RETURN_IF_ERROR(builder.Build(points, [](size_t done, size_t all) {
    if (done % 100 == 0 || done == all) std::cerr << done << " of " << all << " kernels\n";
  }));
  return absl::OkStatus();
}

absl::Status Prebuild(const std::vector<Shape>& shapes, const Options& options) {
  TW_ASSIGN_OR_RETURN(const DeviceProfile device, BuiltinDeviceProfile("h200"));
  const std::string path = std::filesystem::absolute(options.prebuild).string();
  TW_ASSIGN_OR_RETURN(const auto builder, GemmBuilder::Open(path, device));
  std::vector<std::vector<Config>> candidates;
  return Build(*builder, shapes, options, candidates);
}

absl::Status Main(const Options& options) {
  TW_ASSIGN_OR_RETURN(const std::vector<Shape> shapes, ReadShapes(options.shapes));
  if (!options.prebuild.empty()) return Prebuild(shapes, options);
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<GemmChecker> checker, GemmChecker::Open());
  std::vector<std::vector<Config>> candidates;
  TW_RETURN_IF_ERROR(Build(checker->builder(), shapes, options, candidates));
  Bench bench(*checker, options);
  TW_RETURN_IF_ERROR(bench.Open());
  for (size_t i = 0; i < shapes.size(); ++i) {
    const absl::Status status = bench.Measure(shapes[i], candidates[i]);
    if (!status.ok()) std::cerr << shapes[i].label << ": " << status << "\n";
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace tilewright

int main(int argc, char** argv) {
  tilewright::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--space") {
      options.space = true;
    } else if (argument == "--top" && i + 1 < argc) {
      options.top = static_cast<size_t>(std::max(1, std::atoi(argv[++i])));
    } else if (argument == "--clean-l2") {
      options.clean_l2 = true;
    } else if (argument == "--profile") {
      options.profile = true;
    } else if (argument == "--read") {
      options.read = true;
    } else if (argument == "--prebuild" && i + 1 < argc) {
      options.prebuild = argv[++i];
    } else if (argument == "--sets" && i + 1 < argc) {
      options.sets = std::max(1, std::atoi(argv[++i]));
    } else if (argument == "--flush-times" && i + 1 < argc) {
      options.flush_times = std::max(1, std::atoi(argv[++i]));
    } else if (argument == "--configs" && i + 1 < argc) {
      options.configs = argv[++i];
    } else if (argument == "--repeats" && i + 1 < argc) {
      options.repeats = std::max(1, std::atoi(argv[++i]));
    } else {
      options.shapes = argument;
    }
  }
  if (options.shapes.empty()) {
    std::cerr << "usage: " << argv[0]
              << " SHAPES [--configs FILE | --space | --top N] [--repeats N] [--clean-l2]"
                 " [--sets N] [--flush-times N] [--profile | --read | --prebuild CACHE]\n";
    return 2;
  }
  const absl::Status status = tilewright::Main(options);
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
