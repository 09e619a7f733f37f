// The service's own device kernels compile for every dtype.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel_templates/embedded.h"
#include "runtime/compiler.h"
#include "runtime/worker/support_kernels.h"

namespace tilewright {
namespace {

constexpr DType kAll[] = {
    DType::kBool,    DType::kUint8,      DType::kInt8,       DType::kInt16,     DType::kInt32,
    DType::kInt64,   DType::kFloat8E4M3, DType::kFloat8E5M2, DType::kFloat16,   DType::kBFloat16,
    DType::kFloat32, DType::kFloat64,    DType::kComplex64,  DType::kComplex128};

// Guards that tuning can make data for, and judge, every dtype on the oldest and newest target.
TEST(SupportKernelsTest, CompileForEveryDType) {
  const auto compiler = NvrtcCompiler();
  const TemplateSet templates = TemplateSet::Builtin();
  const std::vector<KernelSpec> specs = SupportKernels(kAll);
  EXPECT_EQ(specs.size(), 24u);  // complex ones share their parts'; the guard zones' is uint8's
  for (const KernelSpec& spec : specs) {
    for (const char* arch : {"sm_80", "sm_90a"}) {
      CompileRequest request;
      request.source = spec.Source();
      request.headers = templates.Closure(spec.template_file).value();
      request.name_expression = spec.entry + "<Config>";
      request.arch = arch;
      const auto kernel = compiler->Compile(request);
      ASSERT_TRUE(kernel.ok()) << spec.Instantiation() << ": " << kernel.status();
      EXPECT_EQ(kernel->spill_bytes, 0) << spec.Instantiation();
      EXPECT_THAT(kernel->gates, testing::IsEmpty());
    }
  }
}

// Guards element counts of buffers that support kernels see as another type.
TEST(SupportKernelsTest, ElementsOfABuffer) {
  EXPECT_EQ(SupportElements(DType::kComplex64, 80), 20);
  EXPECT_EQ(SupportElements(DType::kBFloat16, 80), 40);
  EXPECT_EQ(SupportElements(DType::kFloat64, 80), 10);
}

}  // namespace
}  // namespace tilewright
