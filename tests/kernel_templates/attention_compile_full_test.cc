// Guards that the attention kernels build without spills or serialised wgmmas: the catalog's calls
// and every head dimension of the edge cases on Hopper, and the portable and split templates for
// every architecture.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "kernel_templates/attention/variants.h"
#include "manifest/edge_cases.h"
#include "manifest/op_spec.h"
#include "tests/kernel_templates/compile_fixture.h"

namespace tilewright {
namespace {

class AttentionCompileTest : public CompileFixture {
 protected:
  // Compiles the variant's default for the call, once an instantiation.
  void Check(std::string_view op, std::string_view variant_name, const CallDesc& call,
             const DeviceProfile& device) {
    const auto recipe = MakeBuiltinRecipe(op);
    const Variant& variant = *FindVariant(*recipe, variant_name);
    ASSERT_TRUE(variant.Serves(call, device).ok()) << variant.Serves(call, device);
    for (const KernelSpec& spec : variant.Kernels(call, variant.Default(call, device))) {
      const auto kernel = CompileOnce(spec, device.arch);
      if (!kernel.has_value()) continue;
      for (const std::string& gate : kernel->gates) {
        // The portable kernel may spill a few registers where it widens float8 on its way.
        EXPECT_TRUE(gate.starts_with("spills") && variant_name == "mma")
            << spec.Instantiation() << ": " << gate;
      }
    }
  }
  void CheckWorkload(std::string_view op, std::string_view label, std::string_view variant,
                     const DeviceProfile& device) {
    const OpSpec& spec = *Manifest::FindBuiltin(op);
    for (const Workload& workload : spec.workloads) {
      if (workload.label != label) continue;
      Check(op, variant, WorkloadCall(spec, workload, workload.dtypes[0]).value(), device);
      return;
    }
    ADD_FAILURE() << label;
  }
};

TEST_F(AttentionCompileTest, HopperForward) {
  const DeviceProfile h200 = Device("sm_90a", 9, 0);
  CheckWorkload("MultiHeadAttentionFwdOp", "llama-8b-short", "wgmma", h200);
  CheckWorkload("MultiHeadAttentionFwdOp", "long-8k-full", "wgmma", h200);
  CheckWorkload("GroupedQueryAttentionSlidingWindowFwdOp", "llama-8b-short-w256", "wgmma", h200);
  CheckWorkload("GroupedQueryAttentionPrefillFwdOp", "llama-8b-prefill-dense-softcap50", "wgmma",
                h200);
  for (const char* variant : {"float8", "wgmma"}) {
    CheckWorkload("GroupedQueryAttentionPrefillFwdOp",
                  "llama-8b-prefill-fp8tc-bn224-s896-to-float16", variant, h200);
  }
  CheckWorkload("GroupedQueryAttentionPrefillPagedWithKVCacheFwdOp",
                "llama-8b-prefill-paged-b8-prefix4k-chunk512-p64-full-rope", "wgmma", h200);
}

TEST_F(AttentionCompileTest, HopperHeadDimensions) {
  const DeviceProfile h200 = Device("sm_90a", 9, 0);
  const OpSpec& spec = *Manifest::FindBuiltin("MultiHeadAttentionFwdOp");
  int dimensions = 0;
  for (const Workload& edge : BuiltinEdgeCases(spec.name)) {
    if (!edge.label.starts_with("dim-")) continue;
    Check(spec.name, "wgmma", WorkloadCall(spec, edge, DType::kBFloat16).value(), h200);
    ++dimensions;
  }
  EXPECT_GE(dimensions, 16);
}

TEST_F(AttentionCompileTest, Float8HeadDimensionsAndMasks) {
  const DeviceProfile h200 = Device("sm_90a", 9, 0);
  const OpSpec& spec = *Manifest::FindBuiltin("GroupedQueryAttentionPrefillFwdOp");
  const auto recipe = MakeBuiltinRecipe(spec.name);
  const Variant& float8 = *FindVariant(*recipe, "float8");
  std::set<std::string> seen;
  for (const Workload& edge : BuiltinEdgeCases(spec.name)) {
    const auto call = WorkloadCall(spec, edge, DType::kFloat8E4M3);
    if (!call.ok() || !float8.Serves(*call, h200).ok()) continue;
    const std::string kernel =
        float8.Kernels(*call, float8.Default(*call, h200))[0].Instantiation();
    // What is stored makes no difference to the registers of the loop.
    if (kernel.find("OutputElement=fp16") == std::string::npos) continue;
    seen.insert(kernel);
    Check(spec.name, "float8", *call, h200);
  }
  EXPECT_GE(seen.size(), 9);
}

TEST_F(AttentionCompileTest, PortableEverywhere) {
  for (const DeviceProfile& device :
       {Device("sm_80", 8, 0), Device("sm_86", 8, 6), Device("sm_89", 8, 9), Device("sm_90a", 9, 0),
        Device("sm_100a", 10, 0), Device("sm_120a", 12, 0)}) {
    CheckWorkload("MultiHeadAttentionFwdOp", "llama-8b-short", "mma", device);
    CheckWorkload("GroupedQueryAttentionPrefillFwdOp",
                  "llama-8b-prefill-fp8tc-bn224-s896-to-float16", "mma", device);
    CheckWorkload("GroupedQueryAttentionPrefillPagedWithKVCacheFwdOp",
                  "qwen35-9b-prefill-paged-fullattn-b8-prefix32k-chunk1k-p64-partial-rope64", "mma",
                  device);
    CheckWorkload("GroupedQueryAttentionDecodeWithKVCacheFwdOp", "llama-8b-32k", "split", device);
    CheckWorkload("GroupedQueryAttentionDecodePagedWithKVCacheFwdOp", "serving-8b-p64-softcap50",
                  "split", device);
  }
}

}  // namespace
}  // namespace tilewright
