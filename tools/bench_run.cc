#include "tools/bench_run.h"

#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/peers/cublaslt.h"
#include "manifest/reference.h"
#include "manifest/status.h"
#include "runtime/inputs.h"
#include "tools/message.h"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

constexpr InputMode kInputMode = InputMode::kNormal;
constexpr int kInputSets = 3;
// Of all sets together: inputs far beyond the L2 need no rotation, and take long to draw.
constexpr int64_t kMaxInputBytes = int64_t{1} << 30;
constexpr int kTrialRepeats = 5;  // of each cuBLASLt algorithm

// A call's tensors on the device: several sets of inputs, one of outputs.
struct DeviceCall {
  std::vector<std::vector<Tensor>> inputs;
  std::vector<Tensor> outputs;
  std::vector<NamedParam> params;
  CallOptions options;
};

absl::StatusOr<std::vector<Tensor>> MakeInputSet(GpuSession& gpu, const CallDesc& call) {
  TW_ASSIGN_OR_RETURN(
      const std::vector<HostBuffer> buffers,
      MakeInputs(call, {.mode = kInputMode, .seed = FreshSeed(), .use = InputUse::kTime}));
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const Operand& operand = call.input(static_cast<int>(i));
    if (!operand.present) {
      tensors.push_back(Tensor::Absent());
      continue;
    }
    TW_ASSIGN_OR_RETURN(void* const data, gpu.AllocCopy(buffers[i].bytes));
    tensors.push_back(
        {static_cast<std::byte*>(data) + buffers[i].origin_bytes, gpu.device(), operand.desc});
  }
  return tensors;
}

int64_t InputBytes(const CallDesc& call) {
  int64_t bytes = 0;
  for (int i = 0; i < call.op->input_count(); ++i) {
    const Operand& operand = call.input(i);
    if (operand.present) bytes += operand.desc.elements() * DTypeSize(operand.desc.dtype);
  }
  return bytes;
}

absl::StatusOr<DeviceCall> MakeDeviceCall(GpuSession& gpu, const CallDesc& call) {
  DeviceCall made;
  const int64_t bytes = std::max<int64_t>(InputBytes(call), 1);
  const int sets = static_cast<int>(std::clamp<int64_t>(kMaxInputBytes / bytes, 1, kInputSets));
  for (int i = 0; i < sets; ++i) {
    TW_ASSIGN_OR_RETURN(std::vector<Tensor> inputs, MakeInputSet(gpu, call));
    made.inputs.push_back(std::move(inputs));
  }
  for (int i = 0; i < call.op->output_count(); ++i) {
    const TensorDesc& desc = call.output(i).desc;
    TW_ASSIGN_OR_RETURN(void* const data, gpu.Alloc(desc.elements() * DTypeSize(desc.dtype)));
    made.outputs.push_back({data, gpu.device(), desc});
  }
  for (size_t i = 0; i < call.params.size(); ++i) {
    made.params.push_back({call.op->params[i].name, call.params[i]});
  }
  made.options.stream = gpu.stream();
  TW_ASSIGN_OR_RETURN(
      made.options.workspace_bytes,
      gpu.runtime().WorkspaceBytes(call.op->name, made.inputs[0], made.outputs, made.params));
  if (made.options.workspace_bytes > 0) {
    TW_ASSIGN_OR_RETURN(made.options.workspace, gpu.Alloc(made.options.workspace_bytes));
  }
  return made;
}

TimedWork OurWork(GpuSession& gpu, const OpSpec& op, const DeviceCall& call) {
  return {nullptr, [&gpu, &op, &call](int sample) {
            const auto& inputs = call.inputs[static_cast<size_t>(sample) % call.inputs.size()];
            return gpu.runtime().Call(op.name, inputs, call.outputs, call.params, call.options);
          }};
}

TimedWork CublasWork(GpuSession& gpu, CublasLtGemm& gemm, const DeviceCall& call, void* workspace,
                     int algorithm) {
  return {nullptr, [&gpu, &gemm, &call, workspace, algorithm](int sample) {
            const auto& inputs = call.inputs[static_cast<size_t>(sample) % call.inputs.size()];
            return gemm.Run(algorithm,
                            {inputs[0].data, inputs[1].data, call.outputs[0].data, workspace,
                             kCublasLtWorkspaceBytes},
                            gpu.stream());
          }};
}

// The algorithm that is fastest in a short race; one that fails to run is left out.
absl::StatusOr<int> BestAlgorithm(GpuSession& gpu, CublasLtGemm& gemm, const DeviceCall& call,
                                  void* workspace) {
  int best = -1;
  double best_us = 0;
  for (int i = 0; i < gemm.algorithms(); ++i) {
    const TimedWork work = CublasWork(gpu, gemm, call, workspace, i);
    auto samples = gpu.timer().Time({&work, 1}, kTrialRepeats);
    if (!samples.ok()) continue;
    const double us = Summarize(std::move(samples->front())).median_us;
    if (best < 0 || us < best_us) {
      best = i;
      best_us = us;
    }
  }
  if (best < 0) return Internal("no cuBLASLt algorithm runs");
  return best;
}

absl::Status FillModel(GpuSession& gpu, const CallDesc& call, BenchRow& row) {
  TW_ASSIGN_OR_RETURN(const Explanation explanation, gpu.runtime().Explain(call, gpu.profile()));
  row.config = explanation.config.ToJson();
  row.quality = QualityName(explanation.quality);
  const absl::StatusOr<double> sol_us = SpeedOfLightUs(call, gpu.profile());
  if (!sol_us.ok() && !absl::IsFailedPrecondition(sol_us.status())) return sol_us.status();
  row.sol_us = sol_us.ok() ? *sol_us : 0;
  return absl::OkStatus();
}

// cuBLASLt on the call's buffers, with its fastest algorithm.
struct CublasPeer {
  std::unique_ptr<CublasLtGemm> gemm;
  TimedWork work;
};
absl::StatusOr<CublasPeer> MakeCublasPeer(GpuSession& gpu, const CallDesc& call,
                                          const DeviceCall& device_call,
                                          const BenchOptions& options) {
  CublasPeer peer;
  TW_ASSIGN_OR_RETURN(peer.gemm, CublasLtGemm::Create(call, options.cublaslt_library));
  TW_ASSIGN_OR_RETURN(void* const workspace, gpu.Alloc(kCublasLtWorkspaceBytes));
  TW_ASSIGN_OR_RETURN(const int best, BestAlgorithm(gpu, *peer.gemm, device_call, workspace));
  peer.work = CublasWork(gpu, *peer.gemm, device_call, workspace, best);
  return peer;
}

absl::Status Measure(GpuSession& gpu, const BenchCase& bench_case, const BenchOptions& options,
                     BenchRow& row) {
  const CallDesc& call = bench_case.call;
  TW_ASSIGN_OR_RETURN(const DeviceCall device_call, MakeDeviceCall(gpu, call));
  std::vector<TimedWork> works = {OurWork(gpu, *call.op, device_call)};
  absl::StatusOr<CublasPeer> peer = absl::UnknownError("not asked for");
  if (options.cublaslt && CublasLtGemm::Serves(call.op->name)) {
    peer = MakeCublasPeer(gpu, call, device_call, options);
    if (peer.ok()) {
      works.push_back(peer->work);
    } else {
      row.peer_error = MessageOf(peer.status());
    }
  }
  TW_ASSIGN_OR_RETURN(auto samples, gpu.timer().Time(works, options.repeats));
  const TimeSummary ours = Summarize(std::move(samples[0]));
  row.median_us = ours.median_us;
  row.p10_us = ours.p10_us;
  row.p90_us = ours.p90_us;
  row.efficiency = row.sol_us / row.median_us;
  row.method = Cat(TimingMethodName(gpu.timer().method()), options.clean_l2 ? ", clean L2" : "");
  row.inputs = InputModeName(kInputMode);
  if (peer.ok()) OfferPeer(row, "cublaslt", Summarize(std::move(samples[1])).median_us);
  return gpu.driver().SynchronizeStream(gpu.stream());
}

Json ParamJson(const ParamValue& value) {
  switch (value.kind()) {
    case ParamValue::Kind::kNull:
      return nullptr;
    case ParamValue::Kind::kBool:
      return value.as_bool();
    case ParamValue::Kind::kInt:
      return value.as_int();
    case ParamValue::Kind::kFloat:
      if (!std::isfinite(value.as_float())) return value.ToString();  // JSON lacks these numbers
      return value.as_float();
    case ParamValue::Kind::kIntList:
      return std::vector<int64_t>(value.as_list().begin(), value.as_list().end());
    case ParamValue::Kind::kDType:
      return DTypeName(value.as_dtype());
  }
  return nullptr;
}

// Values that random data will not do for: lengths, tables, positions, scales.
Json ValuesJson(const TensorDesc& desc, const HostBuffer& buffer) {
  Json values = Json::array();
  for (int64_t i = 0; i < desc.elements(); ++i) {
    if (IsFloating(desc.dtype)) {
      values.push_back(LoadAsDouble(buffer.origin(), desc.dtype, i));
    } else {
      values.push_back(LoadAsInt(buffer.origin(), desc.dtype, i));
    }
  }
  return values;
}

Json InputJson(const TensorSpec& spec, const Operand& operand, const HostBuffer& chosen) {
  if (!operand.present) return nullptr;
  const TensorDesc& desc = operand.desc;
  Json input = {{"name", spec.name},
                {"dtype", DTypeName(desc.dtype)},
                {"shape", std::vector<int64_t>(desc.shape.begin(), desc.shape.end())}};
  const bool is_half = IsFloating(desc.dtype) && DTypeSize(desc.dtype) < 4;
  if (!chosen.bytes.empty() && !is_half) input["values"] = ValuesJson(desc, chosen);
  return input;
}

absl::StatusOr<std::string> CaseLine(const BenchCase& bench_case) {
  const CallDesc& call = bench_case.call;
  TW_ASSIGN_OR_RETURN(
      const std::vector<HostBuffer> chosen,
      MakeChosenInputs(call, {.seed = FreshSeed(), .threads = 1, .use = InputUse::kTime}));
  Json inputs = Json::array();
  for (int i = 0; i < call.op->input_count(); ++i) {
    const auto at = static_cast<size_t>(i);
    inputs.push_back(InputJson(call.op->inputs[at], call.input(i), chosen[at]));
  }
  Json params = Json::object();
  for (size_t i = 0; i < call.params.size(); ++i) {
    params[call.op->params[i].name] = ParamJson(call.params[i]);
  }
  return Json{{"op", call.op->name},
              {"case", bench_case.name},
              {"dtype", DTypeName(call.output(0).desc.dtype)},
              {"inputs", inputs},
              {"params", params}}
      .dump();
}

// A folder that is deleted at the end of the scope.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = std::filesystem::temp_directory_path() / "tilewright-bench-XXXXXX";
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string ShellQuoted(const std::string& text) {
  std::string quoted = "'";
  for (char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

absl::StatusOr<std::vector<BenchCase>> BenchCases(const OpSpec& op) {
  std::vector<BenchCase> cases;
  for (const Workload& workload : op.workloads) {
    for (DType dtype : workload.dtypes) {
      TW_ASSIGN_OR_RETURN(CallDesc call, WorkloadCall(op, workload, dtype));
      cases.push_back({Cat(workload.label, "-", DTypeName(dtype)), std::move(call)});
    }
  }
  return cases;
}

absl::StatusOr<BenchRow> MeasureCase(GpuSession& gpu, const BenchCase& bench_case,
                                     const BenchOptions& options) {
  BenchRow row;
  row.op = bench_case.call.op->name;
  row.name = bench_case.name;
  row.dtype = DTypeName(bench_case.call.input(0).desc.dtype);
  absl::Status status = FillModel(gpu, bench_case.call, row);
  if (status.ok()) status = Measure(gpu, bench_case, options, row);
  gpu.driver().SynchronizeContext().IgnoreError();
  gpu.FreeAll();
  if (!status.ok()) return status;
  return row;
}

BenchMeasured MeasureCases(
    std::span<const BenchCase> cases, const std::atomic<bool>& interrupted,
    const std::function<absl::StatusOr<BenchRow>(const BenchCase&)>& measure) {
  BenchMeasured result;
  for (size_t i = 0; i < cases.size(); ++i) {
    if (interrupted) {
      result.findings.push_back(Cat("interrupted after ", i, " of ", cases.size(), " cases"));
      break;
    }
    const BenchCase& bench_case = cases[i];
    absl::StatusOr<BenchRow> row = measure(bench_case);
    if (!row.ok()) {
      result.findings.push_back(
          Cat(bench_case.call.op->name, " ", bench_case.name, ": ", MessageOf(row.status())));
      continue;
    }
    if (!row->peer_error.empty()) {
      result.findings.push_back(Cat(row->op, " ", row->name, ": no peer: ", row->peer_error));
    }
    result.rows.push_back(*std::move(row));
    result.cases.push_back(bench_case);
  }
  return result;
}

absl::Status MeasureTorchPeers(const std::string& python, const std::string& script,
                               const BenchOptions& options, std::span<const BenchCase> cases,
                               std::span<BenchRow> rows) {
  const ScratchFolder folder;
  if (folder.path().empty()) return FailedPrecondition("cannot make a temporary folder");
  const std::string calls = folder.path() + "/calls.jsonl";
  const std::string times = folder.path() + "/times.csv";
  std::ofstream file(calls);
  for (const BenchCase& bench_case : cases) {
    TW_ASSIGN_OR_RETURN(const std::string line, CaseLine(bench_case));
    file << line << "\n";
  }
  file.close();
  const std::string command = Cat(ShellQuoted(python), " ", ShellQuoted(script), " ",
                                  ShellQuoted(calls), " ", ShellQuoted(times), " --repeats ",
                                  options.repeats, options.clean_l2 ? " --clean-l2" : "");
  const int status = std::system(command.c_str());
  TW_ASSIGN_OR_RETURN(const std::vector<CsvRow> lines, ReadCsv(times));
  for (const CsvRow& line : lines) {
    TW_ASSIGN_OR_RETURN(const double us, CsvNumber(line, "median_us"));
    for (BenchRow& row : rows) {
      if (row.op == line.at("op") && row.name == line.at("case"))
        OfferPeer(row, line.at("peer"), us);
    }
  }
  return status == 0
             ? absl::OkStatus()
             : FailedPrecondition("PyTorch peers were cut short, or none was timed: ", command);
}

}  // namespace tilewright
