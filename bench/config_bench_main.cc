// Times configurations of workloads beside each other, in one process and in turns, and checks
// what each computes against the operator's reference.
//
//   tilewright_config_bench CASES --cache FILE [--shapes FILE] [--templates FOLDER]...
//   [--repeats N] [--together] [--profile | --build]
//
// A line of CASES is an operator, a workload with its dtype, and a configuration in JSON,
// `default`, or `all`, which is every legal one: `SoftmaxFwdOp attn-weights-4k-float16 default`.
// With --shapes a workload may also be a line of that file of calls, as `short.jsonl:3`. Lines of
// one workload that follow each other are timed in turns; with --together, all lines are. With
// --templates each is also run with the templates of FOLDER in place of the built-in ones where its
// kernels differ. --profile launches each once, after a flush, for a profiler to see. --build needs
// no GPU: it compiles all kernels for an H200 into the cache, and says what each takes. CSV on
// standard output, a line a configuration as soon as it is known: largest error as a fraction of
// the tolerance, median, p10 and p90 in microseconds. Exit code 1 where one was refused or wrong,
// 77 without a GPU.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "cache/cache.h"
#include "manifest/op_spec.h"
#include "manifest/reference.h"
#include "manifest/status.h"
#include "runtime/conform/compare.h"
#include "runtime/inputs.h"
#include "runtime/measure/kernel_timer.h"
#include "runtime/measure/l2_flush.h"
#include "tests/gpu/direct_call.h"
#include "tools/shape_file.h"

namespace tilewright {
namespace {

constexpr int kNoGpu = 77;
constexpr int kSets = 3;
constexpr int64_t kSamples = 2048;
constexpr uint32_t kPoison = 0x7FFF7FFF;

struct Options {
  std::string cases, cache, shapes;
  std::vector<std::string> templates;
  int repeats = 51;
  bool together = false;
  bool profile = false;
  bool build = false;
};

struct Entry {
  std::string op, workload, config;
};

absl::StatusOr<std::vector<std::vector<Entry>>> ReadCases(const std::string& path) {
  std::ifstream file(path);
  if (!file) return NotFound("cannot read ", path);
  std::vector<std::vector<Entry>> groups;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    Entry entry;
    if (!(fields >> entry.op >> entry.workload)) return InvalidArgument(path, ": ", line);
    std::getline(fields >> std::ws, entry.config);
    if (groups.empty() || groups.back()[0].op != entry.op ||
        groups.back()[0].workload != entry.workload) {
      groups.emplace_back();
    }
    groups.back().push_back(std::move(entry));
  }
  return groups;
}

absl::StatusOr<CallDesc> FindCall(const Entry& entry, const std::vector<NamedCall>& shapes) {
  const OpSpec* const op = Manifest::FindBuiltin(entry.op);
  if (op == nullptr) return NotFound("no operator ", entry.op);
  for (const NamedCall& shape : shapes) {
    if (shape.origin == entry.workload && shape.call.op == op) return shape.call;
  }
  for (const Workload& workload : op->workloads) {
    for (const DType dtype : workload.dtypes) {
      if (Cat(workload.label, "-", DTypeName(dtype)) == entry.workload) {
        return WorkloadCall(*op, workload, dtype);
      }
    }
  }
  return NotFound(entry.op, ": no workload ", entry.workload);
}

// Kernels from one set of templates.
struct Kernels {
  std::string name;  // "built-in" or a folder
  std::unique_ptr<KernelStore> store;
  DirectSite site;
};

class Bench {
 public:
  explicit Bench(const Options& options) : options_(options) {}

  absl::Status ReadShapes() {
    if (options_.shapes.empty()) return absl::OkStatus();
    std::vector<const OpSpec*> ops;
    for (const OpSpec& op : Manifest::BuiltinOps()) ops.push_back(&op);
    TW_ASSIGN_OR_RETURN(shapes_, ReadShapeFile(options_.shapes, ops));
    return absl::OkStatus();
  }
  absl::Status OpenKernels() {
    CacheOptions cache;
    cache.path = options_.cache;
    TW_ASSIGN_OR_RETURN(cache_, Cache::Open(std::move(cache)));
    TW_RETURN_IF_ERROR(AddKernels("built-in", TemplateSet::Builtin()));
    for (const std::string& folder : options_.templates) {
      TemplateSet templates = TemplateSet::Builtin();
      TW_RETURN_IF_ERROR(templates.OverrideFrom(folder));
      TW_RETURN_IF_ERROR(AddKernels(folder, std::move(templates)));
    }
    if (!options_.build) return absl::OkStatus();
    TW_ASSIGN_OR_RETURN(profile_, BuiltinDeviceProfile("h200"));
    std::cout << "op,workload,templates,config,registers,compile_ms\n";
    return absl::OkStatus();
  }
  absl::Status OpenGpu() {
    TW_RETURN_IF_ERROR(driver_->Init());
    devices_ = std::make_unique<DeviceTable>(driver_.get(), "", Logger());
    TW_ASSIGN_OR_RETURN(device_, devices_->Get(0));
    current_ = std::make_unique<ScopedContext>(*driver_, device_->context);
    TW_RETURN_IF_ERROR(current_->status());
    profile_ = device_->profile;
    loader_ = std::make_unique<KernelLoader>(driver_.get());
    for (Kernels& kernels : kernels_) {
      kernels.site = {driver_.get(), kernels.store.get(), loader_.get(), device_};
    }
    TW_ASSIGN_OR_RETURN(stream_, driver_->CreateStream());
    TW_ASSIGN_OR_RETURN(const int l2, driver_->Attribute(0, DeviceAttribute::kL2CacheBytes));
    if (options_.profile) {
      TW_ASSIGN_OR_RETURN(flush_, L2Flush::Create(*driver_, 0, stream_, l2, false));
      return absl::OkStatus();
    }
    TW_ASSIGN_OR_RETURN(timer_, KernelTimer::Create(*driver_, 0, stream_, {}));
    std::cerr << "timing by " << TimingMethodName(timer_->method()) << "\n";
    std::cout << "op,workload,templates,config,error,median_us,p10_us,p90_us,registers\n";
    return absl::OkStatus();
  }

  // Whether every configuration ran, and ran right.
  absl::StatusOr<bool> Run(const std::vector<std::vector<Entry>>& groups) {
    bool right = true;
    for (const std::vector<Entry>& entries : groups) {
      absl::StatusOr<bool> ran = Prepare(entries);
      if (ran.ok() && !options_.together) {
        if (absl::Status status = Finish(); !status.ok()) ran = std::move(status);
      }
      right = right && ran.ok() && *ran;
      if (ran.ok()) continue;
      std::cerr << entries[0].op << " " << entries[0].workload << ": " << ran.status() << "\n";
      if (!options_.together) Free();
    }
    if (options_.together) TW_RETURN_IF_ERROR(Finish());
    return right;
  }

 private:
  struct Work {
    Entry entry;
    const Kernels* kernels;
    int registers = 0;
    double compile_ms = 0;
    double error = 0;
    std::vector<std::unique_ptr<DirectCall>> calls;  // one a set of inputs
  };
  struct Data {
    std::vector<HostBuffer> inputs;
    std::vector<void*> pointers;  // of every operand
  };

  absl::Status AddKernels(std::string name, TemplateSet templates) {
    Kernels kernels;
    kernels.name = std::move(name);
    kernels.store =
        std::make_unique<KernelStore>(std::move(templates), cache_.get(), NvrtcCompiler());
    kernels_.push_back(std::move(kernels));
    return absl::OkStatus();
  }

  // Adds the works of one workload, and checks them.
  absl::StatusOr<bool> Prepare(const std::vector<Entry>& entries) {
    const size_t first = works_.size();
    TW_ASSIGN_OR_RETURN(const CallDesc call, FindCall(entries[0], shapes_));
    const std::unique_ptr<Recipe> recipe = MakeBuiltinRecipe(entries[0].op);
    if (recipe == nullptr) return NotFound("no recipe of ", entries[0].op);
    std::vector<Data> sets;
    for (int set = 0; !options_.build && set < (options_.profile ? 1 : kSets); ++set) {
      TW_ASSIGN_OR_RETURN(Data data, MakeData(call, set > 0 ? &sets[0] : nullptr));
      sets.push_back(std::move(data));
    }
    bool right = true;
    for (const Entry& entry : Expanded(entries, *recipe, call)) {
      for (const Kernels& kernels : kernels_) {
        const absl::Status status = AddWork(*recipe, call, entry, kernels, sets);
        if (absl::IsAlreadyExists(status)) continue;  // the same kernels
        if (status.ok()) continue;
        std::cout << entry.op << "," << entry.workload << "," << kernels.name << ",\""
                  << entry.config << "\",refused: " << status.message() << std::endl;
        right = false;
      }
    }
    if (options_.build || options_.profile) return right;
    TW_ASSIGN_OR_RETURN(const bool correct, Check(call, sets[0], first));
    return right && correct;
  }

  // Times or launches the works that are prepared, and drops them.
  absl::Status Finish() {
    absl::Status status;
    if (!options_.build) status = options_.profile ? LaunchEach() : Time();
    Free();
    return status;
  }
  void Free() {
    if (!options_.build) driver_->SynchronizeContext().IgnoreError();
    works_.clear();
    for (void* memory : memory_) driver_->Free(memory).IgnoreError();
    memory_.clear();
  }

  // `all` stands for every legal configuration of every variant that serves the call.
  std::vector<Entry> Expanded(const std::vector<Entry>& entries, const Recipe& recipe,
                              const CallDesc& call) const {
    std::vector<Entry> expanded;
    for (const Entry& entry : entries) {
      if (entry.config != "all") {
        expanded.push_back(entry);
        continue;
      }
      for (const Variant* variant : recipe.variants()) {
        if (!variant->Serves(call, profile_).ok()) continue;
        const TuningSpace space = variant->Space(call, profile_);
        for (int64_t i = 0; i < space.size(); ++i) {
          const Config config = space.At(i);
          if (!variant->Legal(call, config, profile_).ok()) continue;
          expanded.push_back({entry.op, entry.workload, config.ToJson()});
        }
      }
    }
    return expanded;
  }

  absl::StatusOr<void*> Take(int64_t bytes) {
    TW_ASSIGN_OR_RETURN(
        void* const memory,
        driver_->Alloc(static_cast<size_t>(std::max<int64_t>(bytes, 4) + 3) / 4 * 4));
    memory_.push_back(memory);
    return memory;
  }

  // The outputs are those of `first` where that is given.
  absl::StatusOr<Data> MakeData(const CallDesc& call, const Data* first) {
    Data data;
    TW_ASSIGN_OR_RETURN(data.inputs, MakeInputs(call, {.mode = InputMode::kNormal,
                                                       .seed = FreshSeed(),
                                                       .use = InputUse::kTime}));
    for (const HostBuffer& input : data.inputs) {
      TW_ASSIGN_OR_RETURN(void* const memory, Take(static_cast<int64_t>(input.bytes.size())));
      TW_RETURN_IF_ERROR(
          driver_->CopyToDevice(memory, input.bytes.data(), input.bytes.size(), stream_));
      data.pointers.push_back(static_cast<std::byte*>(memory) + input.origin_bytes);
    }
    for (int i = 0; i < call.op->output_count(); ++i) {
      if (first != nullptr) {
        data.pointers.push_back(first->pointers[data.pointers.size()]);
        continue;
      }
      const TensorDesc& desc = call.output(i).desc;
      TW_ASSIGN_OR_RETURN(data.pointers.emplace_back(),
                          Take(desc.elements() * DTypeSize(desc.dtype)));
    }
    return data;
  }

  absl::Status AddWork(const Recipe& recipe, const CallDesc& call, const Entry& entry,
                       const Kernels& kernels, const std::vector<Data>& sets) {
    Config config;
    const Variant* variant = nullptr;
    if (entry.config == "default") {
      TW_ASSIGN_OR_RETURN(variant, SelectVariant(recipe, call, profile_));
      config = variant->Default(call, profile_);
    } else {
      TW_ASSIGN_OR_RETURN(config, Config::FromJson(entry.config));
      variant = FindVariant(recipe, config.variant);
      if (variant == nullptr) return NotFound("no variant ", config.variant);
      TW_RETURN_IF_ERROR(variant->Serves(call, profile_));
      TW_RETURN_IF_ERROR(variant->Legal(call, config, profile_));
    }
    Work work{entry, &kernels, 0, 0, 0, {}};
    work.entry.config = config.ToJson();
    TW_ASSIGN_OR_RETURN(const bool same, SameAsNew(*variant, config, call, kernels, work));
    if (same) return absl::AlreadyExistsError("the same kernels");
    TW_ASSIGN_OR_RETURN(const BoundCall bound, variant->Bind(call, config, profile_));
    if (options_.build) {
      std::cout << entry.op << "," << entry.workload << "," << kernels.name << ",\"" << entry.config
                << "\"," << work.registers << "," << work.compile_ms << std::endl;
      return absl::OkStatus();
    }
    TW_ASSIGN_OR_RETURN(void* const workspace, Take(bound.workspace_bytes));
    for (const Data& data : sets) {
      TW_ASSIGN_OR_RETURN(
          work.calls.emplace_back(),
          DirectCall::Make(kernels.site, *variant, config, call, data.pointers, workspace));
    }
    works_.push_back(std::move(work));
    return absl::OkStatus();
  }

  // Builds the kernels; whether another set's are the same, bit for bit.
  absl::StatusOr<bool> SameAsNew(const Variant& variant, const Config& config, const CallDesc& call,
                                 const Kernels& kernels, Work& work) {
    bool same = &kernels != &kernels_[0];
    for (const KernelSpec& spec : variant.Kernels(call, config)) {
      TW_ASSIGN_OR_RETURN(const KernelStore::Result built,
                          kernels.store->GetOrBuild(spec, call.op->name, profile_.arch));
      work.registers = std::max(work.registers, static_cast<int>(built.row.registers));
      work.compile_ms += built.row.compile_ms;
      if (!same) continue;
      TW_ASSIGN_OR_RETURN(const KernelStore::Result other,
                          kernels_[0].store->GetOrBuild(spec, call.op->name, profile_.arch));
      same = other.row.cubin_digest == built.row.cubin_digest;
    }
    return same;
  }

  // The works from `first` on.
  absl::StatusOr<bool> Check(const CallDesc& call, const Data& data, size_t first) {
    const ReferenceFunction reference = BuiltinReference(call.op->name);
    if (!reference) return NotFound("no reference of ", call.op->name);
    std::vector<HostOperand> inputs;
    for (const HostBuffer& input : data.inputs) inputs.push_back({input.origin()});
    bool right = true;
    for (int i = 0; i < call.op->output_count(); ++i) {
      const TensorDesc& desc = call.output(i).desc;
      const std::vector<int64_t> elements = SampleElements(desc.shape, kSamples, FreshSeed());
      std::vector<RefScalar> expected(elements.size());
      TW_RETURN_IF_ERROR(reference({&call, inputs}, i, elements, expected));
      void* const output = data.pointers[data.inputs.size() + static_cast<size_t>(i)];
      std::vector<std::byte> bytes(static_cast<size_t>(desc.elements() * DTypeSize(desc.dtype)));
      for (size_t at = first; at < works_.size(); ++at) {
        Work& work = works_[at];
        TW_RETURN_IF_ERROR(driver_->Fill32(output, kPoison, bytes.size() / 4, stream_));
        // Twice: what a kernel leaves behind in a workspace must not disturb it.
        for (int run = 0; run < 2; ++run) TW_RETURN_IF_ERROR(work.calls[0]->Launch(stream_));
        TW_RETURN_IF_ERROR(driver_->CopyToHost(bytes.data(), output, bytes.size(), stream_));
        TW_RETURN_IF_ERROR(driver_->SynchronizeStream(stream_));
        const Agreement found = CompareElements(desc, bytes.data(), elements, expected,
                                                ToleranceOf(*call.op, desc.dtype), false);
        work.error = std::max(work.error, found.error);
        if (found.problem.empty()) continue;
        std::cout << work.entry.op << "," << work.entry.workload << "," << work.kernels->name
                  << ",\"" << work.entry.config << "\",WRONG: " << found.problem << std::endl;
        right = false;
      }
    }
    return right;
  }

  absl::Status Time() {
    std::vector<TimedWork> timed;
    for (const Work& work : works_) {
      timed.push_back({nullptr, [this, &work](int sample) {
                         const size_t set = static_cast<size_t>(sample) % work.calls.size();
                         return work.calls[set]->Launch(stream_);
                       }});
    }
    TW_ASSIGN_OR_RETURN(auto samples, timer_->Time(timed, options_.repeats));
    for (size_t i = 0; i < works_.size(); ++i) {
      std::vector<double>& us = samples[i];
      std::sort(us.begin(), us.end());
      const auto at = [&us](double part) {
        return us[static_cast<size_t>(std::lround(part * static_cast<double>(us.size() - 1)))];
      };
      std::string config = works_[i].entry.config;
      for (size_t quote = 0; (quote = config.find('"', quote)) != std::string::npos; quote += 2) {
        config.insert(quote, 1, '"');
      }
      std::cout << works_[i].entry.op << "," << works_[i].entry.workload << ","
                << works_[i].kernels->name << ",\"" << config << "\"," << works_[i].error << ","
                << at(0.5) << "," << at(0.1) << "," << at(0.9) << "," << works_[i].registers
                << std::endl;
    }
    return absl::OkStatus();
  }

  absl::Status LaunchEach() {
    for (const Work& work : works_) {
      TW_RETURN_IF_ERROR(flush_->Enqueue(stream_));
      TW_RETURN_IF_ERROR(work.calls[0]->Launch(stream_));
    }
    return driver_->SynchronizeStream(stream_);
  }

  const Options& options_;
  std::vector<NamedCall> shapes_;
  const std::shared_ptr<Driver> driver_ = SystemDriver();
  std::unique_ptr<Cache> cache_;
  std::unique_ptr<DeviceTable> devices_;
  const VisibleDevice* device_ = nullptr;
  DeviceProfile profile_;
  std::unique_ptr<ScopedContext> current_;
  std::unique_ptr<KernelLoader> loader_;
  std::vector<Kernels> kernels_;
  CudaStream stream_ = nullptr;
  std::unique_ptr<KernelTimer> timer_;
  std::unique_ptr<L2Flush> flush_;
  std::vector<Work> works_;
  std::vector<void*> memory_;
};

int Main(const Options& options) {
  auto groups = ReadCases(options.cases);
  if (!groups.ok()) {
    std::cerr << groups.status() << "\n";
    return 2;
  }
  Bench bench(options);
  if (absl::Status status = bench.ReadShapes(); !status.ok()) {
    std::cerr << status << "\n";
    return 2;
  }
  if (absl::Status status = bench.OpenKernels(); !status.ok()) {
    std::cerr << status << "\n";
    return 1;
  }
  if (absl::Status status = options.build ? absl::OkStatus() : bench.OpenGpu(); !status.ok()) {
    std::cerr << status << "\n";
    return kNoGpu;
  }
  const absl::StatusOr<bool> right = bench.Run(*groups);
  if (!right.ok()) std::cerr << right.status() << "\n";
  return right.ok() && *right ? 0 : 1;
}

}  // namespace
}  // namespace tilewright

int main(int argc, char** argv) {
  tilewright::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const auto value = [&] { return i + 1 < argc ? argv[++i] : ""; };
    if (option == "--cache") {
      options.cache = value();
    } else if (option == "--shapes") {
      options.shapes = value();
    } else if (option == "--templates") {
      options.templates.emplace_back(value());
    } else if (option == "--repeats") {
      options.repeats = std::atoi(value());
    } else if (option == "--together") {
      options.together = true;
    } else if (option == "--profile") {
      options.profile = true;
    } else if (option == "--build") {
      options.build = true;
    } else if (options.cases.empty() && option[0] != '-') {
      options.cases = option;
    } else {
      options.cases.clear();
      break;
    }
  }
  if (options.cases.empty() || options.cache.empty() || options.repeats < 3) {
    std::cerr << "usage: " << argv[0]
              << " CASES --cache FILE [--shapes FILE] [--templates FOLDER]... [--repeats N]"
                 " [--together] [--profile | --build]\n";
    return 2;
  }
  return tilewright::Main(options);
}
