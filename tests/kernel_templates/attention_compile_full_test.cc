// Guards that the attention kernels build without spills or serialised wgmmas: the catalog's head
// dimension on Hopper, and the portable and split templates for every architecture.
#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "kernel_templates/attention/variants.h"
#include "kernel_templates/embedded.h"
#include "kernel_templates/recipe.h"
#include "manifest/edge_cases.h"
#include "manifest/op_spec.h"
#include "runtime/compiler.h"

namespace tilewright {
namespace {

DeviceProfile Device(const std::string& arch, int major, int minor) {
  DeviceProfile device;
  device.name = arch;
  device.arch = arch;
  device.compute_major = major;
  device.compute_minor = minor;
  device.sm_count = 132;
  device.smem_per_block_bytes = major == 9 || major == 10 ? 232448 : 101376;
  return device;
}

class AttentionCompileTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto version = compiler_->Version(); !version.ok()) {
      GTEST_SKIP() << version.status().message();
    }
  }

  // Compiles the variant's default for the call, once an instantiation.
  void Check(std::string_view op, std::string_view variant_name, const CallDesc& call,
             const DeviceProfile& device) {
    const auto recipe = MakeBuiltinRecipe(op);
    const Variant& variant = *FindVariant(*recipe, variant_name);
    ASSERT_TRUE(variant.Serves(call, device).ok()) << variant.Serves(call, device);
    for (const KernelSpec& spec : variant.Kernels(call, variant.Default(call, device))) {
      if (!done_.insert(device.arch + spec.Instantiation()).second) continue;
      const auto closure = templates_.Closure(spec.template_file);
      ASSERT_TRUE(closure.ok()) << closure.status();
      CompileRequest request;
      request.source = spec.Source();
      request.headers = *closure;
      request.name_expression = spec.entry + "<Config>";
      request.arch = device.arch;
      const auto kernel = compiler_->Compile(request);
      ASSERT_TRUE(kernel.ok()) << spec.Instantiation() << kernel.status();
      for (const std::string& gate : kernel->gates) {
        // The portable kernel may spill a few registers where it widens float8 on its way.
        EXPECT_TRUE(gate.starts_with("spills") && variant_name == "mma")
            << spec.Instantiation() << ": " << gate;
      }
      EXPECT_GT(kernel->registers, 0);
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

  const std::shared_ptr<Compiler> compiler_ = NvrtcCompiler("");
  const TemplateSet templates_ = TemplateSet::Builtin();
  std::set<std::string> done_;
};

TEST_F(AttentionCompileTest, HopperForward) {
  const DeviceProfile h200 = Device("sm_90a", 9, 0);
  CheckWorkload("MultiHeadAttentionFwdOp", "llama-8b-short", "wgmma", h200);
  CheckWorkload("MultiHeadAttentionFwdOp", "long-8k-full", "wgmma", h200);
  CheckWorkload("GroupedQueryAttentionSlidingWindowFwdOp", "llama-8b-short-w256", "wgmma", h200);
  CheckWorkload("GroupedQueryAttentionPrefillFwdOp", "llama-8b-prefill-dense-softcap50", "wgmma",
                h200);
  CheckWorkload("GroupedQueryAttentionPrefillFwdOp", "llama-8b-prefill-fp8tc-bn224-s896-to-float16",
                "wgmma", h200);
  CheckWorkload("GroupedQueryAttentionPrefillPagedWithKVCacheFwdOp",
                "llama-8b-prefill-paged-b8-prefix4k-chunk512-p64-full-rope", "wgmma", h200);
}

TEST_F(AttentionCompileTest, PortableEverywhere) {
  for (const DeviceProfile& device :
       {Device("sm_80", 8, 0), Device("sm_89", 8, 9), Device("sm_90a", 9, 0)}) {
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
