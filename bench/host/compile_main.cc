// Compile time of the workloads' default kernels against an empty kernel, in one process.
//
//   tilewright_compile_bench [--repeats N] [--op NAME] [--family NAME] [--kernels FILE]
//
// Every round compiles each kernel once, between two compiles of the empty kernel, and takes CPU
// time: a kernel's ratio is that to the mean of its two neighbours, so that a machine that becomes
// slower or faster meanwhile slows both. A kernel counts with its median over the rounds, an
// operator with that over its kernels. Printed, as CSV, are a line a family and one for all
// memory-bound families (the median and the worst of the operators, in empty kernels), and then a
// line an operator (the median and the worst of its kernels, and how many are over the budget).
// FILE gets a line a kernel. Exit code 1 where the median of a group is over its budget.
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel_templates/embedded.h"
#include "kernel_templates/recipe.h"
#include "manifest/op_spec.h"
#include "manifest/status.h"
#include "runtime/compiler.h"

namespace tilewright {
namespace {

constexpr char kDevice[] = "h200";
constexpr double kGemmBudget = 15;
constexpr double kAttentionBudget = 30;
constexpr double kMemoryBoundBudget = 4;

double CpuMs() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

double MedianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

constexpr std::string_view kMemoryBound = "memory-bound";

bool IsMemoryBound(const std::string& family) { return family != "gemm" && family != "attention"; }

struct Subject {
  std::string family;
  std::string op;
  std::string workload;
  std::string instantiation;
  CompileRequest request;
  std::vector<double> ms;
  std::vector<double> times_empty;  // of the same rounds
};

struct Options {
  int repeats = 5;
  std::string op, family, kernels;
};

Subject EmptyKernel(const std::string& arch) {
  Subject subject;
  subject.instantiation = "empty";
  subject.request.source = "template <int> __global__ void Empty() {}\n";
  subject.request.name_expression = "Empty<0>";
  subject.request.arch = arch;
  subject.request.minimal = false;  // as NVRTC compiles it by itself
  return subject;
}

// The kernels that the op's workloads run untuned, each once.
absl::Status AddKernels(const OpSpec& op, const DeviceProfile& device,
                        std::vector<Subject>& subjects) {
  const std::unique_ptr<Recipe> recipe = MakeBuiltinRecipe(op.name);
  if (recipe == nullptr) return absl::OkStatus();
  const TemplateSet templates = TemplateSet::Builtin();
  std::set<std::string> seen;
  for (const Workload& workload : op.workloads) {
    for (DType dtype : workload.dtypes) {
      TW_ASSIGN_OR_RETURN(const CallDesc call, WorkloadCall(op, workload, dtype));
      TW_ASSIGN_OR_RETURN(const Variant* variant, SelectVariant(*recipe, call, device));
      for (const KernelSpec& spec : variant->Kernels(call, variant->Default(call, device))) {
        if (!seen.insert(spec.Instantiation()).second) continue;
        Subject subject;
        subject.family = op.family;
        subject.op = op.name;
        subject.workload = Cat(workload.label, "-", DTypeName(dtype));
        subject.instantiation = spec.Instantiation();
        subject.request.source = spec.Source();
        TW_ASSIGN_OR_RETURN(subject.request.headers, templates.Closure(spec.template_file));
        subject.request.name_expression = spec.entry + "<Config>";
        subject.request.arch = device.arch;
        subjects.push_back(std::move(subject));
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Subject>> Subjects(const Options& options) {
  TW_ASSIGN_OR_RETURN(const DeviceProfile device, BuiltinDeviceProfile(kDevice));
  std::vector<Subject> subjects = {EmptyKernel(device.arch)};
  for (const OpSpec& op : Manifest::BuiltinOps()) {
    if (!options.op.empty() && op.name != options.op) continue;
    if (!options.family.empty() && op.family != options.family) continue;
    TW_RETURN_IF_ERROR(AddKernels(op, device, subjects));
  }
  if (subjects.size() == 1) return InvalidArgument("no such operator or family has kernels");
  return subjects;
}

// Compiles it once; its CPU time in milliseconds is the last of `subject.ms`.
absl::Status CompileOnce(Compiler& compiler, Subject& subject) {
  const double start = CpuMs();
  TW_RETURN_IF_ERROR(compiler.Compile(subject.request).status());
  subject.ms.push_back(CpuMs() - start);
  return absl::OkStatus();
}

absl::Status CompileAll(int repeats, std::vector<Subject>& subjects) {
  const std::shared_ptr<Compiler> compiler = NvrtcCompiler();
  Subject& empty = subjects[0];
  TW_RETURN_IF_ERROR(compiler->Compile(empty.request).status());  // NVRTC's own start
  for (int round = 0; round < repeats; ++round) {
    TW_RETURN_IF_ERROR(CompileOnce(*compiler, empty));
    for (size_t i = 1; i < subjects.size(); ++i) {
      const double before = empty.ms.back();
      TW_RETURN_IF_ERROR(CompileOnce(*compiler, subjects[i]));
      TW_RETURN_IF_ERROR(CompileOnce(*compiler, empty));
      subjects[i].times_empty.push_back(subjects[i].ms.back() * 2 / (before + empty.ms.back()));
    }
  }
  return absl::OkStatus();
}

absl::Status WriteKernels(const std::string& path, const std::vector<Subject>& subjects) {
  std::ofstream file(path);
  file << "family,op,workload,cpu_ms,times_empty,kernel\n";
  for (const Subject& subject : subjects) {
    file << subject.family << "," << subject.op << "," << subject.workload << ","
         << MedianOf(subject.ms) << ","
         << (subject.times_empty.empty() ? 1 : MedianOf(subject.times_empty)) << ",\""
         << subject.instantiation << "\"\n";
  }
  if (!file.flush()) return InvalidArgument("cannot write ", path);
  return absl::OkStatus();
}

// Ratios to the empty kernel, of a group's kernels by operator.
using Group = std::map<std::string, std::vector<double>>;

// 0: none.
double BudgetOf(std::string_view group) {
  return group == kMemoryBound  ? kMemoryBoundBudget
         : group == "gemm"      ? kGemmBudget
         : group == "attention" ? kAttentionBudget
                                : 0;
}

// Returns whether the median is within its budget, if there is one.
bool PrintGroup(std::string_view name, const Group& group) {
  std::vector<double> medians;
  std::pair<double, std::string> worst;
  size_t kernels = 0;
  for (const auto& [op, ratios] : group) {
    kernels += ratios.size();
    medians.push_back(MedianOf(ratios));
    worst = std::max(worst, {medians.back(), op});
  }
  const double median = MedianOf(medians);
  const double budget = BudgetOf(name);
  std::cout << name << "," << group.size() << "," << kernels << "," << median << "," << worst.first
            << "," << worst.second << ",";
  if (budget > 0) std::cout << budget;
  std::cout << "\n";
  return budget == 0 || median <= budget;
}

// The number of groups over budget.
int PrintGroups(const std::vector<Subject>& subjects) {
  std::map<std::string, Group> families;
  Group memory_bound;
  for (size_t i = 1; i < subjects.size(); ++i) {
    const Subject& subject = subjects[i];
    const double ratio = MedianOf(subject.times_empty);
    families[subject.family][subject.op].push_back(ratio);
    if (IsMemoryBound(subject.family)) memory_bound[subject.op].push_back(ratio);
  }
  std::cout << "# an empty kernel: " << MedianOf(subjects[0].ms) << " ms of CPU time, median of "
            << subjects[0].ms.size() << "\n"
            << "group,operators,kernels,median_times_empty,worst_times_empty,worst_op,budget\n";
  int over = 0;
  for (const auto& [family, group] : families) over += PrintGroup(family, group) ? 0 : 1;
  if (!memory_bound.empty()) over += PrintGroup(kMemoryBound, memory_bound) ? 0 : 1;
  return over;
}

void PrintOperators(const std::vector<Subject>& subjects) {
  std::map<std::string, std::vector<std::pair<double, const Subject*>>> operators;
  for (size_t i = 1; i < subjects.size(); ++i) {
    operators[subjects[i].op].emplace_back(MedianOf(subjects[i].times_empty), &subjects[i]);
  }
  std::cout << "\noperator,family,kernels,median_times_empty,worst_times_empty,worst_workload,"
               "budget,kernels_over_budget\n";
  for (const auto& [op, kernels] : operators) {
    const std::string& family = kernels.front().second->family;
    const double budget = BudgetOf(IsMemoryBound(family) ? kMemoryBound : family);
    std::vector<double> ratios;
    for (const auto& [ratio, subject] : kernels) ratios.push_back(ratio);
    const auto& [worst, slowest] = *std::max_element(kernels.begin(), kernels.end());
    std::cout << op << "," << family << "," << kernels.size() << "," << MedianOf(ratios) << ","
              << worst << "," << slowest->workload << "," << budget << ","
              << std::count_if(ratios.begin(), ratios.end(), [&](double r) { return r > budget; })
              << "\n";
  }
}

absl::StatusOr<int> Run(const Options& options) {
  TW_ASSIGN_OR_RETURN(std::vector<Subject> subjects, Subjects(options));
  TW_RETURN_IF_ERROR(CompileAll(options.repeats, subjects));
  if (!options.kernels.empty()) TW_RETURN_IF_ERROR(WriteKernels(options.kernels, subjects));
  const int over = PrintGroups(subjects);
  PrintOperators(subjects);
  return over;
}

}  // namespace
}  // namespace tilewright

int main(int argc, char** argv) {
  tilewright::Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    const std::string value = i + 1 < argc ? argv[i + 1] : "";
    if (option == "--repeats" && std::atoi(value.c_str()) > 0) {
      options.repeats = std::atoi(value.c_str());
    } else if (option == "--op" && !value.empty()) {
      options.op = value;
    } else if (option == "--family" && !value.empty()) {
      options.family = value;
    } else if (option == "--kernels" && !value.empty()) {
      options.kernels = value;
    } else {
      std::cerr << "usage: " << argv[0]
                << " [--repeats N] [--op NAME] [--family NAME] [--kernels FILE]\n";
      return 2;
    }
  }
  const absl::StatusOr<int> over = tilewright::Run(options);
  if (!over.ok()) {
    std::cerr << over.status() << "\n";
    return 1;
  }
  if (*over > 0) std::cerr << *over << " medians over budget\n";
  return *over > 0 ? 1 : 0;
}
