#include "runtime/conform/case_runner.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr size_t kNone = static_cast<size_t>(-1);
// All bits set is NaN in every floating format; the second pattern is a number in all of them, so
// that one poison or the other differs from whatever should have been written.
constexpr uint8_t kNanPoison = 0xff;
constexpr uint8_t kNumberPoison = 0x5a;

// Fills what no element of the view covers, so that a write there shows.
void PoisonGaps(const TensorDesc& desc, HostBuffer& buffer) {
  if (desc.IsContiguous()) return;
  const std::vector<std::byte> data = buffer.bytes;
  std::fill(buffer.bytes.begin(), buffer.bytes.end(), std::byte{kNanPoison});
  const int64_t size = DTypeSize(desc.dtype);
  for (int64_t i = 0; i < desc.elements(); ++i) {
    int64_t rest = i, offset = 0;
    for (int axis = desc.rank() - 1; axis >= 0; --axis) {
      offset += rest % desc.shape[axis] * desc.strides[axis];
      rest /= desc.shape[axis];
    }
    const auto at = static_cast<size_t>(buffer.origin_bytes + offset * size);
    std::copy_n(data.begin() + static_cast<std::ptrdiff_t>(at), size,
                buffer.bytes.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

constexpr int64_t kLargestInputReadBack = int64_t{64} << 20;

class OwnedGraph {
 public:
  OwnedGraph(Driver& driver, CudaGraph graph) : driver_(driver), graph_(graph) {}
  OwnedGraph(const OwnedGraph&) = delete;
  OwnedGraph& operator=(const OwnedGraph&) = delete;
  ~OwnedGraph() { driver_.DestroyGraph(graph_).IgnoreError(); }

 private:
  Driver& driver_;
  CudaGraph graph_;
};

class OwnedExec {
 public:
  OwnedExec(Driver& driver, CudaGraphExec exec) : driver_(driver), exec_(exec) {}
  OwnedExec(const OwnedExec&) = delete;
  OwnedExec& operator=(const OwnedExec&) = delete;
  ~OwnedExec() { driver_.DestroyGraphExec(exec_).IgnoreError(); }

 private:
  Driver& driver_;
  CudaGraphExec exec_;
};

}  // namespace

absl::StatusOr<CaseRunner> CaseRunner::Create(Driver& driver, CudaStream stream,
                                              const ConformCase& entry, ReferenceFunction reference,
                                              const Options& options) {
  CaseRunner runner;
  runner.driver_ = &driver;
  runner.stream_ = stream;
  runner.entry_ = &entry;
  runner.reference_ = std::move(reference);
  runner.seed_ = options.seed;
  const OpSpec& op = *entry.call.op;
  for (size_t i = 0; i < entry.call.operands.size(); ++i) {
    const Operand& operand = entry.call.operands[i];
    const bool is_input = i < op.inputs.size();
    if (!operand.present) {
      runner.inputs_.push_back(Tensor::Absent());
      runner.buffer_of_input_.push_back(kNone);
      continue;
    }
    TW_ASSIGN_OR_RETURN(GuardedTensor buffer, GuardedTensor::Allocate(driver, operand));
    const Tensor tensor{buffer.data(), options.device, operand.desc};
    if (is_input) runner.buffer_of_input_.push_back(runner.buffers_.size());
    if (is_input && op.inputs[i].mutated) runner.mutated_.push_back(runner.buffers_.size());
    (is_input ? runner.inputs_ : runner.outputs_).push_back(tensor);
    runner.buffers_.push_back(std::move(buffer));
    if (!is_input) {
      runner.elements_.push_back(
          SampleElements(operand.desc.shape, options.samples, runner.seed_++));
    }
  }
  for (const size_t buffer : runner.mutated_) {
    const Dims& shape = runner.buffers_[buffer].desc().shape;
    runner.elements_.push_back(SampleElements(shape, options.samples, runner.seed_++));
  }
  return runner;
}

bool CaseRunner::has_elements() const {
  for (const Tensor& output : outputs_) {
    if (output.desc.elements() > 0) return true;
  }
  return false;
}

absl::StatusOr<DataSet> CaseRunner::Draw(InputMode mode) {
  DataSet data;
  data.mode = mode;
  TW_ASSIGN_OR_RETURN(data.inputs, MakeInputs(entry_->call, {.mode = mode, .seed = seed_++}));
  std::vector<HostOperand> inputs;
  for (size_t i = 0; i < data.inputs.size(); ++i) {
    const bool mutated = entry_->call.op->inputs[i].mutated && buffer_of_input_[i] != kNone;
    if (mutated) PoisonGaps(entry_->call.input(static_cast<int>(i)).desc, data.inputs[i]);
    inputs.push_back({data.inputs[i].origin()});
  }
  const ReferenceCall call{&entry_->call, inputs};
  for (size_t i = 0; i < elements_.size(); ++i) {
    data.expected.emplace_back(elements_[i].size());
    TW_RETURN_IF_ERROR(reference_(call, static_cast<int>(i), elements_[i], data.expected.back()));
  }
  return data;
}

absl::Status CaseRunner::Launch(Runtime& runtime, const CallOptions& options) {
  TW_ASSIGN_OR_RETURN(const OpHandle op, runtime.Find(entry_->call.op->name));
  return runtime.Call(op, inputs_, outputs_, entry_->NamedParams(), options);
}

absl::Status CaseRunner::Load(const DataSet& data, uint8_t poison) {
  for (const GuardedTensor& buffer : buffers_) {
    TW_RETURN_IF_ERROR(buffer.Poison(*driver_, stream_, poison));
  }
  for (size_t i = 0; i < data.inputs.size(); ++i) {
    if (buffer_of_input_[i] == kNone) continue;
    // Guards of inputs are NaN, so that reading past the end shows in the results.
    const GuardedTensor& buffer = buffers_[buffer_of_input_[i]];
    TW_RETURN_IF_ERROR(buffer.Poison(*driver_, stream_, kNanPoison));
    TW_RETURN_IF_ERROR(buffer.Upload(*driver_, stream_, data.inputs[i].bytes));
  }
  return absl::OkStatus();
}

absl::Status CaseRunner::CompareOutput(size_t output, const DataSet& data, uint8_t poison,
                                       Agreement& agreement) {
  const GuardedTensor& buffer = buffers_[buffers_.size() - outputs_.size() + output];
  const TensorDesc& desc = buffer.desc();
  TW_ASSIGN_OR_RETURN(const std::vector<std::byte> image, buffer.Download(*driver_, stream_));
  const Tolerance tolerance = ToleranceOf(*entry_->call.op, desc.dtype);
  Agreement found =
      CompareElements(desc, buffer.Origin(image), elements_[output], data.expected[output],
                      tolerance, data.mode == InputMode::kSmallIntegers);
  if (found.problem.empty()) found.problem = buffer.DamageOutside(image, poison);
  const bool tell_tale =
      poison == kNanPoison && data.mode != InputMode::kSpecial && IsFloating(desc.dtype);
  if (found.problem.empty() && tell_tale && desc.IsContiguous()) {
    const int64_t unwritten = CountPoisoned(desc, buffer.Origin(image), poison);
    if (unwritten > 0) found.problem = Cat(unwritten, " elements were never written");
  }
  if (!found.problem.empty()) {
    found.problem = Cat(InputModeName(data.mode), " inputs, output ", output, ": ", found.problem);
  }
  agreement.Merge(found);
  return absl::OkStatus();
}

absl::Status CaseRunner::CompareMutated(size_t result, const DataSet& data, Agreement& agreement) {
  const GuardedTensor& buffer = buffers_[mutated_[result - outputs_.size()]];
  TW_ASSIGN_OR_RETURN(const std::vector<std::byte> image, buffer.Download(*driver_, stream_));
  Agreement found = CompareElements(
      buffer.desc(), buffer.Origin(image), elements_[result], data.expected[result],
      ToleranceOf(*entry_->call.op, buffer.desc().dtype), data.mode == InputMode::kSmallIntegers);
  // Between the elements of a strided one lies what was uploaded.
  if (found.problem.empty() && buffer.desc().IsContiguous()) {
    found.problem = buffer.DamageOutside(image, kNanPoison);
  }
  if (!found.problem.empty()) {
    found.problem = Cat(InputModeName(data.mode), " inputs, mutated input ",
                        result - outputs_.size(), ": ", found.problem);
  }
  agreement.Merge(found);
  return absl::OkStatus();
}

absl::Status CaseRunner::CompareInputs(const DataSet& data, Agreement& agreement) {
  for (size_t i = 0; i < data.inputs.size(); ++i) {
    if (buffer_of_input_[i] == kNone || entry_->call.op->inputs[i].mutated) continue;
    const GuardedTensor& buffer = buffers_[buffer_of_input_[i]];
    if (buffer.extent_bytes() > kLargestInputReadBack) continue;
    TW_ASSIGN_OR_RETURN(const std::vector<std::byte> image, buffer.Download(*driver_, stream_));
    if (!buffer.HoldsExtent(image, data.inputs[i].bytes)) {
      agreement.Merge({0, Cat("input '", entry_->call.op->inputs[i].name, "' was overwritten")});
    }
  }
  return absl::OkStatus();
}

absl::Status CaseRunner::Compare(const DataSet& data, uint8_t poison, Agreement& agreement) {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    TW_RETURN_IF_ERROR(CompareOutput(i, data, poison, agreement));
  }
  for (size_t i = outputs_.size(); i < elements_.size(); ++i) {
    TW_RETURN_IF_ERROR(CompareMutated(i, data, agreement));
  }
  return CompareInputs(data, agreement);
}

absl::Status CaseRunner::CheckCall(Runtime& runtime, const DataSet& data, bool own_workspace,
                                   Agreement& agreement) {
  const uint8_t poison = data.mode == InputMode::kNormal ? kNanPoison : kNumberPoison;
  TW_RETURN_IF_ERROR(Load(data, poison));
  CallOptions options{.stream = stream_};
  GuardedTensor workspace;
  if (own_workspace) {
    TW_ASSIGN_OR_RETURN(
        options.workspace_bytes,
        runtime.WorkspaceBytes(entry_->call.op->name, inputs_, outputs_, entry_->NamedParams()));
  }
  if (options.workspace_bytes > 0) {
    const Dims shape = {options.workspace_bytes};
    TW_ASSIGN_OR_RETURN(
        workspace,
        GuardedTensor::Allocate(*driver_, Operand{TensorDesc::Contiguous(DType::kUint8, shape)}));
    TW_RETURN_IF_ERROR(workspace.Poison(*driver_, stream_, poison));
    options.workspace = workspace.data();
  }
  TW_RETURN_IF_ERROR(Launch(runtime, options));
  TW_RETURN_IF_ERROR(driver_->SynchronizeStream(stream_));
  TW_RETURN_IF_ERROR(Compare(data, poison, agreement));
  if (options.workspace_bytes == 0) return absl::OkStatus();
  TW_ASSIGN_OR_RETURN(const std::vector<std::byte> image, workspace.Download(*driver_, stream_));
  const std::string damage = workspace.DamageOutside(image, poison);
  if (!damage.empty()) agreement.Merge({0, Cat("workspace: ", damage)});
  return absl::OkStatus();
}

absl::Status CaseRunner::CheckGraph(Runtime& runtime, Agreement& agreement) {
  TW_RETURN_IF_ERROR(
      runtime.Prepare(entry_->call.op->name, inputs_, outputs_, entry_->NamedParams()));
  TW_RETURN_IF_ERROR(driver_->SynchronizeStream(stream_));
  TW_RETURN_IF_ERROR(driver_->BeginCapture(stream_, CaptureMode::kGlobal));
  const absl::Status called = Launch(runtime, {.stream = stream_});
  const absl::StatusOr<CudaGraph> graph = driver_->EndCapture(stream_);
  if (!called.ok()) {
    if (graph.ok()) driver_->DestroyGraph(*graph).IgnoreError();
    return absl::Status(called.code(), Cat("under capture: ", called.message()));
  }
  TW_RETURN_IF_ERROR(graph.status());
  return Replay(*graph, agreement);
}

absl::Status CaseRunner::Replay(CudaGraph graph, Agreement& agreement) {
  const OwnedGraph owned(*driver_, graph);
  TW_ASSIGN_OR_RETURN(const CudaGraphExec exec, driver_->Instantiate(graph));
  const OwnedExec owned_exec(*driver_, exec);
  for (const InputMode mode : {InputMode::kNormal, InputMode::kSmallIntegers}) {
    TW_ASSIGN_OR_RETURN(const DataSet data, Draw(mode));
    const uint8_t poison = mode == InputMode::kNormal ? kNanPoison : kNumberPoison;
    TW_RETURN_IF_ERROR(Load(data, poison));
    TW_RETURN_IF_ERROR(driver_->LaunchGraph(exec, stream_));
    TW_RETURN_IF_ERROR(driver_->SynchronizeStream(stream_));
    Agreement replayed;
    TW_RETURN_IF_ERROR(Compare(data, poison, replayed));
    if (!replayed.problem.empty()) replayed.problem = Cat("graph replay: ", replayed.problem);
    agreement.Merge(replayed);
  }
  return absl::OkStatus();
}

}  // namespace tilewright
