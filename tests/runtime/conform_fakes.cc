#include "tests/runtime/conform_fakes.h"

#include <cstring>

#include "manifest/reference.h"
#include "manifest/status.h"
#include "runtime/keys.h"
#include "tests/cache/test_cubin.h"

namespace tilewright {
namespace {

class AddVariant : public Variant {
 public:
  AddVariant(std::string name, int kernels) : name_(std::move(name)), kernels_(kernels) {}
  std::string_view name() const override { return name_; }
  absl::Status Serves(const CallDesc&, const DeviceProfile&) const override {
    return absl::OkStatus();
  }
  TuningSpace Space(const CallDesc&, const DeviceProfile&) const override {
    return {name_, {{"tile", {1, 2, 4}}}};
  }
  absl::Status Legal(const CallDesc&, const Config&, const DeviceProfile&) const override {
    return absl::OkStatus();
  }
  double PredictUs(const CallDesc&, const Config&, const DeviceProfile&) const override {
    return 1;
  }
  Config Default(const CallDesc&, const DeviceProfile&) const override {
    return {name_, {{"tile", 1}}};
  }
  std::vector<KernelSpec> Kernels(const CallDesc&, const Config& config) const override {
    std::vector<KernelSpec> kernels;
    for (int i = 0; i < kernels_; ++i) {
      kernels.push_back({"test/add.cuh",
                         i == 0 ? "Add" : Cat("Add", i),
                         {{"int kTile", std::to_string(config.Get("tile"))}}});
    }
    return kernels;
  }
  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config&,
                                 const DeviceProfile&) const override {
    BoundCall bound;
    const int64_t elements = call.output(0).desc.elements();
    if (elements == 0) return bound;
    bound.launches.emplace_back();
    bound.launches[0].SetParams(elements);
    return bound;
  }

 private:
  std::string name_;
  int kernels_;
};

class AddRecipe : public Recipe {
 public:
  explicit AddRecipe(int kernels) : fast_("fast", kernels), portable_("portable", kernels) {}
  std::span<const ProblemField> fields() const override { return fields_; }
  ProblemFields Describe(const CallDesc& call) const override {
    return {call.output(0).desc.elements()};
  }
  std::span<const Variant* const> variants() const override { return variants_; }

 private:
  const std::vector<ProblemField> fields_ = {{"elements", ProblemField::Kind::kExact}};
  const AddVariant fast_;
  const AddVariant portable_;
  const std::vector<const Variant*> variants_ = {&fast_, &portable_};
};

// input + alpha * other through the reference, into the output's memory.
void AddOnHost(const OpSpec& op, std::vector<Tensor> inputs, Tensor output, const ParamValue& alpha,
               Fault fault) {
  CallDesc call;
  call.op = &op;
  std::vector<HostOperand> data;
  for (const Tensor& input : inputs) {
    call.operands.push_back({input.desc});
    data.push_back({input.data});
  }
  call.operands.push_back({output.desc});
  call.params.push_back(alpha);
  std::vector<int64_t> elements;
  for (int64_t i = 0; i < output.desc.elements(); ++i) elements.push_back(i);
  std::vector<RefScalar> values(elements.size());
  BuiltinReference("AddFwdOp")({&call, data}, 0, elements, values).IgnoreError();
  const DType dtype = output.desc.dtype;
  const auto last = static_cast<int64_t>(elements.size()) - 1;
  for (int64_t i = 0; i <= last; ++i) {
    if (i == last && fault == Fault::kSkipsLast) continue;
    const RefScalar& value = values[static_cast<size_t>(i)];
    const int off = i == last && fault == Fault::kWrongLast ? 1 : 0;
    int64_t rest = i;
    int64_t offset = 0;
    for (int axis = output.desc.rank() - 1; axis >= 0; --axis) {
      offset += rest % output.desc.shape[axis] * output.desc.strides[axis];
      rest /= output.desc.shape[axis];
    }
    if (IsFloating(dtype)) {
      StoreFromDouble(output.data, dtype, offset, value.f + off);
    } else {
      StoreFromInt(output.data, dtype, offset, value.i + off);
    }
  }
  if (fault == Fault::kWritesPast) StoreFromInt(output.data, dtype, last + 1, 1);
  if (fault == Fault::kChangesInput && last >= 0) StoreFromInt(inputs[0].data, dtype, 0, 77);
}

}  // namespace

std::unique_ptr<OpSpec> MakeAddSpec() {
  auto op = std::make_unique<OpSpec>();
  op->name = "AddFwdOp";
  op->status = OpStatus::kImplemented;
  op->inputs.resize(2);
  op->inputs[0].name = "input";
  op->inputs[0].dtypes = {DType::kFloat16, DType::kInt32};
  op->inputs[1].name = "other";
  op->inputs[1].same_as = "input";
  op->outputs.resize(1);
  op->outputs[0].name = "output";
  op->outputs[0].same_as = "input";
  op->outputs[0].shape = Expr::Parse("broadcast(input.shape, other.shape)").value();
  ParamSpec& alpha = op->params.emplace_back();
  alpha.name = "alpha";
  alpha.type = ParamSpec::Type::kIntOrFloat;
  alpha.default_value = ParamValue(1);
  Workload workload;
  workload.label = "rows";
  workload.input_shapes = {{"input", {64, 300}}, {"other", {64, 300}}};
  workload.dtypes = {DType::kFloat16, DType::kInt32};
  op->workloads.push_back(workload);
  return op;
}

std::unique_ptr<Recipe> MakeAddRecipe(int kernels) { return std::make_unique<AddRecipe>(kernels); }

static TemplateSet AddTemplates() {
  TemplateSet templates;
  templates.Add("test/add.cuh", "// code");
  return templates;
}

FakeHostRuntime::FakeHostRuntime(ReplayingDriver* driver, const OpSpec* op, const Recipe* recipe,
                                 Fault fault)
    : driver_(driver),
      op_(op),
      recipe_(recipe),
      fault_(fault),
      cache_(Cache::Open(CacheOptions{}).value()),
      kernels_(AddTemplates(), cache_.get(), nullptr) {}

absl::Status FakeHostRuntime::Call(OpHandle, std::span<const Tensor> inputs,
                                   std::span<const Tensor> outputs,
                                   std::span<const NamedParam> params, const CallOptions& options) {
  if (fault_ == Fault::kCallFails) return Internal("the fake call fails");
  const ParamValue alpha = params.empty() ? ParamValue(1) : params[0].value;
  const std::vector<Tensor> held(inputs.begin(), inputs.end());
  const auto run = [this, held, output = outputs[0], alpha] {
    AddOnHost(*op_, held, output, alpha, fault_);
  };
  const auto capture = driver_->StreamCapture(static_cast<CudaStream>(options.stream));
  if (capture.ok() && capture->capturing) {
    driver_->captured = fault_ == Fault::kReplaysStale ? std::function<void()>() : run;
  } else {
    run();
  }
  return absl::OkStatus();
}

absl::StatusOr<Explanation> FakeHostRuntime::Explain(const CallDesc& call,
                                                     const DeviceProfile& device) {
  Explanation explanation;
  explanation.config = recipe_->variants()[0]->Default(call, device);
  const auto winner = cache_->FindWinner(MakeProblemKey(call, *recipe_, device).digest);
  if (winner.has_value() && fault_ != Fault::kIgnoresWinner) {
    TW_ASSIGN_OR_RETURN(explanation.config, Config::FromJson(winner->config_json));
  }
  const Variant& variant = *FindVariant(*recipe_, explanation.config.variant);
  for (const KernelSpec& kernel : variant.Kernels(call, explanation.config)) {
    KernelRow row;
    row.key = kernel.Instantiation();
    row.closure_digest = "closure";
    row.cubin_digest = "cubin-" + std::to_string(explanation.config.Get("tile"));
    row.compiler = "fake 1";
    row.instantiation = kernel.Instantiation();
    row.arch = "sm_90a";
    row.cubin = TestCubin();
    TW_RETURN_IF_ERROR(cache_->PutKernel(row));
    explanation.kernels.push_back({row.key, row.instantiation, true, 0, 0, row.compiler});
  }
  return explanation;
}

}  // namespace tilewright
