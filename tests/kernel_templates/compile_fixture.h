// Compiling kernels for tests: each instantiation once; skipped where there is no compiler.
#ifndef TILEWRIGHT_TESTS_KERNEL_TEMPLATES_COMPILE_FIXTURE_H_
#define TILEWRIGHT_TESTS_KERNEL_TEMPLATES_COMPILE_FIXTURE_H_

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "kernel_templates/embedded.h"
#include "kernel_templates/recipe.h"
#include "runtime/compiler.h"

namespace tilewright {

class CompileFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto version = compiler_->Version(); !version.ok()) {
      GTEST_SKIP() << version.status().message();
    }
  }

  // Nothing where it was compiled before, or, which fails the test, does not compile.
  std::optional<CompiledKernel> CompileOnce(const KernelSpec& spec, std::string_view arch) {
    if (!done_.emplace(spec.Source() + spec.entry, arch).second) return std::nullopt;
    const auto closure = templates_.Closure(spec.template_file);
    EXPECT_TRUE(closure.ok()) << closure.status();
    if (!closure.ok()) return std::nullopt;
    CompileRequest request;
    request.source = spec.Source();
    request.headers = *closure;
    request.name_expression = spec.entry + "<Config>";
    request.arch = std::string(arch);
    auto kernel = compiler_->Compile(request);
    EXPECT_TRUE(kernel.ok()) << spec.Instantiation() << ": " << kernel.status();
    if (!kernel.ok()) return std::nullopt;
    EXPECT_GT(kernel->registers, 0) << arch << " " << spec.Instantiation();
    return *std::move(kernel);
  }

  // A device of the architecture, as large as an H200.
  static DeviceProfile Device(const std::string& arch, int major, int minor) {
    DeviceProfile device;
    device.name = arch;
    device.arch = arch;
    device.compute_major = major;
    device.compute_minor = minor;
    device.sm_count = 132;
    device.smem_per_block_bytes = major == 9 || major == 10 ? 232448 : 101376;
    return device;
  }

  const std::shared_ptr<Compiler> compiler_ = NvrtcCompiler();
  const TemplateSet templates_ = TemplateSet::Builtin();
  std::set<std::pair<std::string, std::string>> done_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TESTS_KERNEL_TEMPLATES_COMPILE_FIXTURE_H_
