// What a recipe may not do: each breach is a status that names the operator, never a crash and
// never a call that quietly does nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "runtime/launch_rules.h"
#include "tests/runtime/runtime_fixture.h"

namespace tilewright {
namespace {

using ::testing::HasSubstr;

// The variant of ScaleTestOp's recipe, but for what the test changes about its bound calls.
class BrokenVariant : public Variant {
 public:
  BrokenVariant(const Variant& base, std::function<void(BoundCall&)> breach)
      : base_(base), breach_(std::move(breach)) {}
  std::string_view name() const override { return base_.name(); }
  absl::Status Serves(const CallDesc& call, const DeviceProfile& device) const override {
    return base_.Serves(call, device);
  }
  TuningSpace Space(const CallDesc& call, const DeviceProfile& device) const override {
    return base_.Space(call, device);
  }
  absl::Status Legal(const CallDesc& call, const Config& config,
                     const DeviceProfile& device) const override {
    return base_.Legal(call, config, device);
  }
  double PredictUs(const CallDesc& call, const Config& config,
                   const DeviceProfile& device) const override {
    return base_.PredictUs(call, config, device);
  }
  Config Default(const CallDesc& call, const DeviceProfile& device) const override {
    return base_.Default(call, device);
  }
  std::vector<KernelSpec> Kernels(const CallDesc& call, const Config& config) const override {
    return base_.Kernels(call, config);
  }
  absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config& config,
                                 const DeviceProfile& device) const override {
    absl::StatusOr<BoundCall> bound = base_.Bind(call, config, device);
    if (bound.ok() && breach_) breach_(*bound);
    return bound;
  }

 private:
  const Variant& base_;
  const std::function<void(BoundCall&)> breach_;
};

struct Breach {
  std::function<void(BoundCall&)> bind = {};
  bool null_variant = false;
  bool extra_value = false;
};

class BrokenRecipe : public Recipe {
 public:
  BrokenRecipe(std::unique_ptr<Recipe> base, const Breach& breach)
      : base_(std::move(base)),
        variant_(*base_->variants()[0], breach.bind),
        extra_value_(breach.extra_value),
        variants_({&variant_}) {
    if (breach.null_variant) variants_.push_back(nullptr);
  }
  std::span<const ProblemField> fields() const override { return base_->fields(); }
  ProblemFields Describe(const CallDesc& call) const override {
    ProblemFields fields = base_->Describe(call);
    if (extra_value_) fields.push_back(1);
    return fields;
  }
  std::span<const Variant* const> variants() const override { return variants_; }

 private:
  const std::unique_ptr<Recipe> base_;
  const BrokenVariant variant_;
  const bool extra_value_;
  std::vector<const Variant*> variants_;
};

class RecipeContractTest : public RuntimeFixture {
 protected:
  // A fresh runtime whose ScaleTestOp breaks its contract: every way to use it is refused.
  void Refused(const Breach& breach, const std::string& words) {
    runtime_ = Runtime::Open(Options()).value();
    CustomOp custom = ScaleAndSumOps();
    custom.recipe = [inner = custom.recipe, breach](std::string_view op) {
      std::unique_ptr<Recipe> recipe = inner(op);
      if (op == "ScaleTestOp") recipe = std::make_unique<BrokenRecipe>(std::move(recipe), breach);
      return recipe;
    };
    ASSERT_TRUE(runtime_->Register(custom).ok());
    MakeCurrent();
    const size_t launches = driver_->Launches().size();
    const Tensor x = X(8, 64);
    const Tensor y = Y(8, 64);
    const absl::Status statuses[] = {
        Scale(8), Scale(8), runtime_->Prepare("ScaleTestOp", {&x, 1}, {&y, 1}),
        runtime_->WorkspaceBytes("ScaleTestOp", {&x, 1}, {&y, 1}).status(),
        runtime_->Explain(ScaleCall(8), runtime_->Device(0).value()).status()};
    for (const absl::Status& status : statuses) {
      EXPECT_EQ(status.code(), absl::StatusCode::kInternal) << status;
      EXPECT_THAT(std::string(status.message()), HasSubstr("ScaleTestOp"));
      EXPECT_THAT(std::string(status.message()), HasSubstr(words));
    }
    EXPECT_EQ(driver_->Launches().size(), launches);
  }
};

// Guards: a call whose output has elements is never answered without a launch.
TEST_F(RecipeContractTest, NoLaunchForAnOutputWithElements) {
  const auto breach = [](BoundCall& bound) { bound.launches.clear(); };
  Refused({.bind = breach}, "no launch, although an output has elements");
  Refused({.bind = breach}, "variant 'scale'");
}

// Guards: a workspace that cannot be, or that a slot points beyond, never reaches the device.
TEST_F(RecipeContractTest, ImpossibleWorkspace) {
  const auto to_workspace = [](int64_t bytes, int64_t offset) {
    return Breach{.bind = [=](BoundCall& bound) {
      bound.workspace_bytes = bytes;
      bound.launches[0].pointers[1] = {8, kWorkspaceOperand, offset};
    }};
  };
  Refused(to_workspace(0, 0), "points to byte 0 of a workspace of 0");
  Refused(to_workspace(256, 264), "points to byte 264 of a workspace of 256");
  Refused(to_workspace(256, -8), "points to byte -8 of a workspace of 256");
  Refused(to_workspace(-1, 0), "expected a workspace of 0 to 1099511627776 bytes, got -1");
  Refused(to_workspace(int64_t{1} << 62, 0), "got 4611686018427387904");
}

// Guards: slots and kernels are checked before anything is written through them.
TEST_F(RecipeContractTest, SlotOrKernelOutOfRange) {
  Refused({.bind = [](BoundCall& bound) { bound.launches[0].pointers[0].offset = 65535; }},
          "pointer slot at 65535");
  Refused({.bind = [](BoundCall& bound) { bound.launches[0].pointers[0].operand = 2; }},
          "of operand 2 is out of range");
  Refused({.bind = [](BoundCall& bound) { bound.launches[0].kernel = 1; }}, "kernel 1 of 1");
}

// Guards: a null variant behind a good one, and a value that no field names.
TEST_F(RecipeContractTest, NullVariantOrAnotherCountOfValues) {
  Refused({.null_variant = true}, "variant 1 of 2 of the recipe is null");
  Refused({.extra_value = true}, "expected 3 values, one of each field, got 4");
}

// The workload's call, and the calls with one extent set to 0, in one input or wherever inputs have
// that extent, where they are legal.
std::vector<CallDesc> CallsOf(const OpSpec& op, const Workload& workload, DType dtype) {
  std::vector<CallDesc> calls = {WorkloadCall(op, workload, dtype).value()};
  const auto add = [&](auto&& emptied) {
    Workload empty = workload;
    for (size_t input = 0; input < empty.input_shapes.size(); ++input) {
      Dims& shape = empty.input_shapes[input].second;
      for (int axis = 0; axis < shape.rank(); ++axis) {
        if (emptied(input, axis, shape[axis])) shape[axis] = 0;
      }
    }
    if (auto call = WorkloadCall(op, empty, dtype); call.ok()) calls.push_back(*call);
  };
  for (size_t input = 0; input < workload.input_shapes.size(); ++input) {
    const Dims& shape = workload.input_shapes[input].second;
    for (int axis = 0; axis < shape.rank(); ++axis) {
      add([&](size_t i, int a, int64_t) { return i == input && a == axis; });
      add([&](size_t, int, int64_t extent) { return extent == shape[axis]; });
    }
  }
  return calls;
}

// Binds the call by a sample of every variant's space and returns how often.
int64_t BindSampled(const Recipe& recipe, const CallDesc& call, const DeviceProfile& device) {
  constexpr int64_t kPoints = 12;  // of each variant's space
  int64_t bound_calls = 0;
  for (const Variant* variant : recipe.variants()) {
    if (!variant->Serves(call, device).ok()) continue;
    const TuningSpace space = variant->Space(call, device);
    std::vector<Config> configs = {variant->Default(call, device)};
    const int64_t step = std::max<int64_t>(space.size() / kPoints, 1);
    for (int64_t i = 0; i < space.size(); i += step) configs.push_back(space.At(i));
    for (const Config& config : configs) {
      if (!variant->Legal(call, config, device).ok()) continue;
      const size_t kernels = variant->Kernels(call, config).size();
      const absl::StatusOr<BoundCall> bound = BindCall(*variant, call, config, device, kernels);
      EXPECT_TRUE(bound.ok()) << bound.status() << " " << config.ToJson();
      if (!bound.ok()) continue;
      ++bound_calls;
      for (const Launch& launch : bound->launches) {
        for (const TensorMapSlot& map : launch.tensor_maps) {
          if (map.operand == kWorkspaceOperand) continue;
          // The driver encodes no map over memory that may be null.
          EXPECT_GT(call.input(map.operand).desc.elements(), 0)
              << call.ToString() << " " << config.ToJson();
        }
      }
    }
  }
  return bound_calls;
}

// Guards: the built-in recipes keep the contract, at their workloads and with extents of 0.
TEST(BuiltinRecipeContractTest, EveryOutputWithElementsIsLaunched) {
  const DeviceProfile device = BuiltinDeviceProfile("h200").value();
  int64_t bound_calls = 0;
  for (const OpSpec& op : Manifest::BuiltinOps()) {
    const std::unique_ptr<Recipe> recipe = MakeBuiltinRecipe(op.name);
    if (recipe == nullptr) continue;
    for (const Workload& workload : op.workloads) {
      for (const CallDesc& call : CallsOf(op, workload, workload.dtypes.at(0))) {
        bound_calls += BindSampled(*recipe, call, device);
      }
    }
  }
  EXPECT_GT(bound_calls, 500);
}

}  // namespace
}  // namespace tilewright
