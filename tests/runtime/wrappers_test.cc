// Guards the generated typed wrappers: tensors in order, every parameter by name, no allocation.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "manifest/status.h"
#include "runtime/kernel_store.h"
#include "tests/runtime/allocation_count.h"
#include "tilewright/ops.h"

namespace tilewright {
namespace {

// Records the last call; every other method is out of use here.
class RecordingRuntime final : public Runtime {
 public:
  using Runtime::Call;
  absl::Status Call(OpHandle, std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                    std::span<const NamedParam> params, const CallOptions& options) override {
    input_count = inputs.size();
    first_input = inputs[0].data;
    last_input = inputs.back().data;
    output = outputs[0].data;
    param_count = params.size();
    for (size_t i = 0; i < params.size(); ++i) given[i] = params[i];
    stream = options.stream;
    return absl::OkStatus();
  }
  absl::StatusOr<OpHandle> Find(std::string_view op) const override {
    name = op;
    return OpHandle();
  }
  std::vector<const OpSpec*> Ops() const override { return {}; }
  const OpSpec* Spec(std::string_view) const override { return nullptr; }
  const Recipe* FindRecipe(std::string_view) const override { return nullptr; }
  absl::Status Prepare(std::string_view, std::span<const Tensor>, std::span<const Tensor>,
                       std::span<const NamedParam>) override {
    return absl::UnimplementedError("");
  }
  absl::StatusOr<int64_t> WorkspaceBytes(std::string_view, std::span<const Tensor>,
                                         std::span<const Tensor>,
                                         std::span<const NamedParam>) override {
    return absl::UnimplementedError("");
  }
  absl::StatusOr<Explanation> Explain(const CallDesc&, const DeviceProfile&) override {
    return absl::UnimplementedError("");
  }
  absl::Status Register(CustomOp) override { return absl::UnimplementedError(""); }
  RuntimeCounters Counters() const override { return {}; }
  Cache& cache() override { std::abort(); }
  KernelStore& kernels() override { std::abort(); }
  Driver& driver() override { std::abort(); }
  ReferenceFunction FindReference(std::string_view) const override { return {}; }
  absl::StatusOr<DeviceProfile> Device(int) override { return absl::UnimplementedError(""); }

  mutable std::string_view name;
  size_t input_count = 0;
  const void* first_input = nullptr;
  const void* last_input = nullptr;
  const void* output = nullptr;
  size_t param_count = 0;
  NamedParam given[4];
  Stream stream = nullptr;
};

TEST(WrappersTest, ForwardTensorsAndParameters) {
  RecordingRuntime runtime;
  char memory[3];
  const Tensor a = Tensor::Contiguous(memory, DType::kFloat16, {4, 4});
  const Tensor b = Tensor::Contiguous(memory + 1, DType::kFloat16, {4, 4});
  const Tensor d = Tensor::Contiguous(memory + 2, DType::kFloat16, {4, 4});
  ASSERT_TRUE(GemmFwd(runtime, a, b, d, {.trans_a = true}, {.stream = memory}).ok());
  EXPECT_EQ(runtime.name, "GemmFwdOp");
  EXPECT_EQ(runtime.input_count, 2u);
  EXPECT_EQ(runtime.first_input, memory);
  EXPECT_EQ(runtime.last_input, memory + 1);
  EXPECT_EQ(runtime.output, memory + 2);
  ASSERT_EQ(runtime.param_count, 2u);
  EXPECT_EQ(runtime.given[0].name, "trans_a");
  EXPECT_EQ(runtime.given[0].value, ParamValue(true));
  EXPECT_EQ(runtime.given[1].value, ParamValue(true));  // trans_b's default
  EXPECT_EQ(runtime.stream, memory);

  ASSERT_TRUE(RMSNormFwd(runtime, a, b, d, {.normalized_shape = {4}}).ok());
  EXPECT_EQ(runtime.given[0].value, ParamValue(Dims{4}));
  EXPECT_EQ(runtime.given[1].value, ParamValue(1e-6));
  ASSERT_TRUE(SiluAndMulFwd(runtime, a, d).ok());
  EXPECT_EQ(runtime.name, "SiluAndMulFwdOp");
  EXPECT_EQ(runtime.param_count, 0u);
  ASSERT_TRUE(SoftmaxFwd(runtime, a, d).ok());
  EXPECT_TRUE(runtime.given[0].value.is_null());
}

TEST(WrappersTest, AllocateNothing) {
  RecordingRuntime runtime;
  char memory[1];
  const Tensor t = Tensor::Contiguous(memory, DType::kFloat16, {4, 4});
  const int64_t before = AllocationsOfThisThread();
  for (int i = 0; i < 100; ++i) (void)AddFwd(runtime, t, t, t, {.alpha = 0.5});
  EXPECT_EQ(AllocationsOfThisThread(), before);
  EXPECT_EQ(runtime.given[0].value, ParamValue(0.5));
}

}  // namespace
}  // namespace tilewright
