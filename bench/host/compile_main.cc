// Compile time of the workloads' default kernels against an empty kernel, in one process.
//
//   tilewright_compile_bench [--repeats N] [--op NAME]
//
// Every round compiles the empty kernel and then each kernel once; printed are medians over the
// rounds, of CPU time, as CSV. Exit code 1 where a kernel is over its budget.
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <set>
#include <string>
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
constexpr double kMemoryBoundBudget = 4;

double CpuMs() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

struct Subject {
  std::string op;
  std::string workload;
  std::string instantiation;
  double budget = 0;
  CompileRequest request;
  std::vector<double> ms;

  double MedianMs() {
    std::sort(ms.begin(), ms.end());
    return ms[ms.size() / 2];
  }
};

Subject EmptyKernel(const std::string& arch) {
  Subject subject;
  subject.instantiation = "empty";
  subject.request.source = "template <int> __global__ void Empty() {}\n";
  subject.request.name_expression = "Empty<0>";
  subject.request.arch = arch;
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
        subject.op = op.name;
        subject.workload = Cat(workload.label, "-", DTypeName(dtype));
        subject.instantiation = spec.Instantiation();
        subject.budget = op.name == "GemmFwdOp" ? kGemmBudget : kMemoryBoundBudget;
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

absl::StatusOr<std::vector<Subject>> Subjects(const std::string& only_op) {
  TW_ASSIGN_OR_RETURN(const DeviceProfile device, BuiltinDeviceProfile(kDevice));
  std::vector<Subject> subjects = {EmptyKernel(device.arch)};
  for (const OpSpec& op : Manifest::BuiltinOps()) {
    if (!only_op.empty() && op.name != only_op) continue;
    TW_RETURN_IF_ERROR(AddKernels(op, device, subjects));
  }
  if (subjects.size() == 1) return InvalidArgument("--op: no kernels of '", only_op, "'");
  return subjects;
}

// The number of kernels over budget.
absl::StatusOr<int> Run(int repeats, const std::string& only_op) {
  TW_ASSIGN_OR_RETURN(std::vector<Subject> subjects, Subjects(only_op));
  const std::shared_ptr<Compiler> compiler = NvrtcCompiler();
  TW_RETURN_IF_ERROR(compiler->Compile(subjects[0].request).status());  // NVRTC's own start
  for (int round = 0; round < repeats; ++round) {
    for (Subject& subject : subjects) {
      const double start = CpuMs();
      TW_RETURN_IF_ERROR(compiler->Compile(subject.request).status());
      subject.ms.push_back(CpuMs() - start);
    }
  }
  const double empty_ms = subjects[0].MedianMs();
  std::cout << "op,workload,cpu_ms,times_empty,budget,kernel\n";
  std::cout << ",," << empty_ms << ",1,,empty\n";
  int over = 0;
  for (size_t i = 1; i < subjects.size(); ++i) {
    Subject& subject = subjects[i];
    const double ratio = subject.MedianMs() / empty_ms;
    if (ratio > subject.budget) ++over;
    std::cout << subject.op << "," << subject.workload << "," << subject.MedianMs() << "," << ratio
              << "," << subject.budget << ",\"" << subject.instantiation << "\"\n";
  }
  return over;
}

}  // namespace
}  // namespace tilewright

int main(int argc, char** argv) {
  int repeats = 5;
  std::string op;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    if (i + 1 < argc && option == "--repeats" && std::atoi(argv[i + 1]) > 0) {
      repeats = std::atoi(argv[i + 1]);
    } else if (i + 1 < argc && option == "--op") {
      op = argv[i + 1];
    } else {
      std::cerr << "usage: " << argv[0] << " [--repeats N] [--op NAME]\n";
      return 2;
    }
  }
  const absl::StatusOr<int> over = tilewright::Run(repeats, op);
  if (!over.ok()) {
    std::cerr << over.status() << "\n";
    return 1;
  }
  if (*over > 0) std::cerr << *over << " kernels over budget\n";
  return *over > 0 ? 1 : 0;
}
