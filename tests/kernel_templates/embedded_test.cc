// Guards the template closure (which files a digest covers) and the generated translation unit.
#include "kernel_templates/embedded.h"

#include <gtest/gtest.h>

#include "kernel_templates/recipe.h"

namespace tilewright {
namespace {

TemplateSet Example() {
  TemplateSet set;
  set.Add("a.cuh", "#include \"device/b.cuh\"\n  #  include \"c.cuh\"\n#include <cuda.h>\n");
  set.Add("device/b.cuh", "#include \"c.cuh\"\nint b;\n");
  set.Add("c.cuh", "#include \"a.cuh\"\nint c;\n");
  set.Add("unrelated.cuh", "int u;\n");
  return set;
}

// Transitive, tolerant of cycles, and without files that are not included.
TEST(TemplateSetTest, ClosureFollowsIncludes) {
  const auto closure = Example().Closure("a.cuh");
  ASSERT_TRUE(closure.ok()) << closure.status();
  ASSERT_EQ(closure->size(), 3u);
  EXPECT_EQ(closure->at("device/b.cuh"), "#include \"c.cuh\"\nint b;\n");
  EXPECT_EQ(closure->count("unrelated.cuh"), 0u);
}

TEST(TemplateSetTest, MissingFilesAreNamed) {
  TemplateSet set = Example();
  EXPECT_EQ(set.Closure("z.cuh").status().message(), "no template 'z.cuh'");
  set.Add("c.cuh", "#include \"gone.cuh\"\n");
  const absl::Status status = set.Closure("a.cuh").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "template 'c.cuh' includes 'gone.cuh', which does not exist");
}

// The digest changes with any file of the closure and with no other.
TEST(TemplateSetTest, DigestCoversTheClosureOnly) {
  TemplateSet set = Example();
  const std::string before = set.ClosureDigest("a.cuh").value();
  EXPECT_EQ(before.size(), 32u);
  set.Add("unrelated.cuh", "changed");
  EXPECT_EQ(set.ClosureDigest("a.cuh").value(), before);
  set.Add("device/b.cuh", "#include \"c.cuh\"\nint b2;\n");
  EXPECT_NE(set.ClosureDigest("a.cuh").value(), before);
}

TEST(KernelSpecTest, WritesTheTranslationUnit) {
  const KernelSpec spec{"norm/n.cuh",
                        "tilewright::NormKernel",
                        {{"int kThreads", "256"}, {"using Element", "tilewright::bf16"}}};
  EXPECT_EQ(spec.Source(),
            "#define CONFIG_kThreads 256\n#include \"norm/n.cuh\"\nstruct Config {\n"
            "  static constexpr int kThreads = 256;\n"
            "  using Element = tilewright::bf16;\n};\n");
  EXPECT_EQ(spec.Instantiation(), "tilewright::NormKernel<kThreads=256,Element=bf16>");
}

}  // namespace
}  // namespace tilewright
