// Guards that the matrix-product kernels build: the defaults of the workloads for Hopper and the
// portable template for every architecture, without spills or serialised wgmmas.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <set>

#include "kernel_templates/gemm/problem.h"
#include "kernel_templates/gemm/variants.h"
#include "tests/kernel_templates/compile_fixture.h"

namespace tilewright {
namespace {

CallDesc Call(int64_t m, int64_t n, int64_t k, bool trans_a, bool trans_b, DType dtype) {
  CallDesc call;
  const auto add = [&](int64_t rows, int64_t cols) {
    call.operands.push_back({TensorDesc::Contiguous(dtype, Dims{rows, cols}), 256, true});
  };
  trans_a ? add(k, m) : add(m, k);
  trans_b ? add(n, k) : add(k, n);
  add(m, n);
  call.params.push_back(ParamValue(trans_a));
  call.params.push_back(ParamValue(trans_b));
  return call;
}

class GemmCompileTest : public CompileFixture {
 protected:
  void Check(std::string_view variant_name, const CallDesc& call, const DeviceProfile& device) {
    Check(*FindVariant(*recipe_, variant_name), call, device);
  }
  // Compiles the variant's default for the call, once an instantiation.
  void Check(const Variant& variant, const CallDesc& call, const DeviceProfile& device) {
    ASSERT_TRUE(variant.Serves(call, device).ok()) << variant.Serves(call, device);
    for (const KernelSpec& spec : variant.Kernels(call, variant.Default(call, device))) {
      const auto kernel = CompileOnce(spec, device.arch);
      if (!kernel.has_value()) continue;
      EXPECT_TRUE(kernel->gates.empty()) << spec.Instantiation() << ": " << kernel->gates[0];
      EXPECT_EQ(kernel->spill_bytes, 0) << spec.Instantiation();
    }
  }

  const std::unique_ptr<Recipe> recipe_ = MakeBuiltinRecipe("GemmFwdOp");
};

// GemmFwdOp with what an operator to come may ask of the epilogue.
template <GemmEpilogue::Activation kActivation, bool kBias>
GemmProblem ReadWithEpilogue(const CallDesc& call) {
  GemmProblem problem = ReadMatrices(call, call.params[0].as_bool(), call.params[1].as_bool());
  problem.epilogue.activation = kActivation;
  const bool activated = kActivation > GemmEpilogue::Activation::kRelu;
  problem.epilogue.out_dtype = kBias && !activated ? DType::kFloat32 : problem.dtype;
  problem.epilogue.bias = kBias ? GemmEpilogue::Bias::kAlongN : GemmEpilogue::Bias::kNone;
  problem.epilogue.bias_operand = 1;
  return problem.Canonical();
}

template <GemmEpilogue::Activation kActivation, bool kBias>
std::array<std::unique_ptr<Variant>, 3> VariantsWithEpilogue() {
  constexpr GemmReader kRead = ReadWithEpilogue<kActivation, kBias>;
  return {MakeGemvVariant(kRead), MakeWgmmaVariant(kRead), MakeMmaVariant(kRead)};
}

TEST_F(GemmCompileTest, EpilogueOptions) {
  const DeviceProfile h200 = Device("sm_90a", 9, 0);
  using Activation = GemmEpilogue::Activation;
  for (const auto& variants : {VariantsWithEpilogue<Activation::kNone, true>(),
                               VariantsWithEpilogue<Activation::kRelu, true>(),
                               VariantsWithEpilogue<Activation::kSilu, false>(),
                               VariantsWithEpilogue<Activation::kGelu, false>(),
                               VariantsWithEpilogue<Activation::kGelu, true>()}) {
    for (const int64_t m : {16, 100, 4096}) {
      const CallDesc call = Call(m, 2048, 512, false, true, DType::kBFloat16);
      for (const auto& variant : variants) {
        if (variant->Serves(call, h200).ok()) Check(*variant, call, h200);
      }
    }
  }
}

TEST_F(GemmCompileTest, BatchDefaults) {
  const DeviceProfile h200 = Device("sm_90a", 9, 0);
  const std::unique_ptr<Recipe> recipe = MakeBuiltinRecipe("BmmFwdOp");
  for (const auto& [b, m, n, k] : {std::array<int64_t, 4>{8, 1024, 1024, 1024},
                                   {16, 512, 512, 512},
                                   {32, 256, 256, 256},
                                   {64, 128, 2048, 128},
                                   {64, 128, 128, 2048}}) {
    CallDesc call;
    for (const Dims& shape : {Dims{b, m, k}, Dims{b, k, n}, Dims{b, m, n}}) {
      call.operands.push_back({TensorDesc::Contiguous(DType::kFloat16, shape), 256, true});
    }
    Check(*FindVariant(*recipe, "wgmma"), call, h200);
  }
}

TEST_F(GemmCompileTest, HopperDefaults) {
  const DeviceProfile h200 = Device("sm_90a", 9, 0);
  for (const auto& [m, n, k] : {std::array<int64_t, 3>{1024, 1024, 1024},
                                {128, 2112, 7168},
                                {128, 7168, 2048},
                                {4096, 2112, 7168},
                                {4096, 7168, 2048},
                                {4096, 4096, 7168},
                                {4096, 7168, 16384},
                                {4096, 24576, 1536},
                                {16, 4096, 7168},
                                {32, 4096, 7168},
                                {64, 7168, 2048},
                                {96, 2112, 7168},
                                {8, 7168, 16384}}) {
    Check("wgmma", Call(m, n, k, false, true, DType::kBFloat16), h200);
  }
  for (int layout = 0; layout < 4; ++layout) {
    Check("wgmma", Call(4096, 4096, 4096, layout & 1, layout & 2, DType::kFloat16), h200);
  }
  for (int64_t m : {1, 4, 8}) {
    Check("gemv", Call(m, 1024, 4096, false, true, DType::kBFloat16), h200);
  }
}

TEST_F(GemmCompileTest, PortableTemplateOnEveryArchitecture) {
  for (const auto& [arch, major, minor] : {std::tuple{"sm_80", 8, 0},
                                           {"sm_86", 8, 6},
                                           {"sm_89", 8, 9},
                                           {"sm_90a", 9, 0},
                                           {"sm_100a", 10, 0},
                                           {"sm_120a", 12, 0}}) {
    const DeviceProfile device = Device(arch, major, minor);
    Check("mma", Call(4096, 4096, 4096, false, true, DType::kBFloat16), device);
    Check("mma", Call(4096, 4096, 4096, true, false, DType::kFloat16), device);
    Check("mma", Call(63, 65, 17, false, true, DType::kBFloat16), device);  // element by element
    Check("gemv", Call(4, 1024, 4096, false, true, DType::kFloat16), device);
  }
}

}  // namespace
}  // namespace tilewright
