// Guards that validate sees an entry that claims what is not there, level by level.
#include "tools/validator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tilewright {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

// A well-formed entry; `status`, `bytes`, `second_shape` and `flops` are what the tests break.
std::string Entry(const std::string& status, const std::string& bytes,
                  const std::string& second_shape, const std::string& flops = "4 * M") {
  return "ScaleOp:\n"
         "  family: elementwise\n"
         "  reference: none\n"
         "  formula: y = 2 x\n"
         "  source: a test\n"
         "  status: " +
         status +
         "\n"
         "  signature:\n"
         "    inputs:\n"
         "      x: {dtype: [float32], shape: '[M, 4]'}\n"
         "    outputs:\n"
         "      y: {dtype: same_as(x), shape: '(M, 4)'}\n"
         "  roofline: {flops: " +
         flops + ", bytes: '" + bytes +
         "'}\n"
         "  workloads:\n"
         "    - {label: one, inputs: {x: [8, 4]}, dtypes: [float32]}\n"
         "    - {label: two, inputs: {x: " +
         second_shape + "}, dtypes: [float32]}\n";
}

std::vector<Finding> Validate(const std::string& yaml, const ValidatorParts& parts) {
  const absl::StatusOr<Manifest> manifest = Manifest::FromYaml(yaml, "scale.yaml");
  EXPECT_TRUE(manifest.ok()) << manifest.status();
  if (!manifest.ok()) return {};
  return ValidateOp(manifest->ops().front(), parts);
}

auto At(int level, const std::string& text) {
  return AllOf(Field(&Finding::level, level), Field(&Finding::message, HasSubstr(text)));
}

TEST(ValidatorTest, AGoodSpecificationHasNoFinding) {
  EXPECT_THAT(Validate(Entry("spec-only", "32 * M", "[16, 4]"), {}), IsEmpty());
}

// `implemented` is a claim: a recipe and a reference must be there.
TEST(ValidatorTest, ImplementedNeedsRecipeAndReference) {
  const std::vector<Finding> findings =
      Validate(Entry("implemented", "32 * M", "[16, 4]"), BuiltinParts());
  EXPECT_THAT(findings, Contains(At(1, "no recipe")));
  EXPECT_THAT(findings, Contains(At(4, "no reference implementation")));
  EXPECT_THAT(findings, Contains(At(4, "no peer")));
}

// A misspelt marker builds without a word: validate names it.
TEST(ValidatorTest, MarkersOfUndeclaredOperatorsAreNamed) {
  const std::string_view recipes[] = {"GemmFwdOp", "GemFwdOp"};
  const std::string_view references[] = {"AdFwdOp", "AddFwdOp"};
  const std::vector<Finding> findings =
      ValidateMarkers(Manifest::BuiltinOps(), recipes, references);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].op, "GemFwdOp");
  EXPECT_EQ(findings[0].field, "TILEWRIGHT_RECIPE");
  EXPECT_EQ(findings[1].op, "AdFwdOp");
  EXPECT_EQ(findings[1].field, "TILEWRIGHT_REFERENCE");
  EXPECT_THAT(ValidateMarkers(Manifest::BuiltinOps(), BuiltinRecipeOps(), BuiltinReferenceOps()),
              IsEmpty());
  EXPECT_GE(BuiltinRecipeOps().size(), 133u);
  EXPECT_GE(BuiltinReferenceOps().size(), 133u);
}

// cuBLASLt or the PyTorch script, of whatever claims to be implemented.
TEST(ValidatorTest, ImplementedNeedsABenchmarkPeer) {
  ValidatorParts parts = BuiltinParts();
  parts.bench_peer = [](std::string_view) { return false; };
  for (const char* name : {"GemmFwdOp", "SoftmaxFwdOp"}) {
    const OpSpec& op = *Manifest::FindBuiltin(name);
    EXPECT_THAT(ValidateOp(op, BuiltinParts()), IsEmpty());
    const std::vector<Finding> findings = ValidateOp(op, parts);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_THAT(findings[0], At(4, "no peer"));
  }
  EXPECT_FALSE(BuiltinParts().bench_peer("FwdOp"));
}

TEST(ValidatorTest, AWorkloadThatBreaksTheShapeIsNamedWithItsLine) {
  const std::vector<Finding> findings = Validate(Entry("spec-only", "32 * M", "[16, 5]"), {});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_THAT(findings[0], At(2, "float32"));
  EXPECT_EQ(findings[0].line, 15);
  EXPECT_THAT(findings[0].ToString(), HasSubstr("scale.yaml:15: ScaleOp.workloads.two: "));
}

TEST(ValidatorTest, ARooflineThatIsNotPositiveIsFound) {
  EXPECT_THAT(Validate(Entry("spec-only", "M - M", "[16, 4]"), {}), Contains(At(4, "above 0")));
  EXPECT_THAT(Validate(Entry("spec-only", "32 * M", "[16, 4]", "0"), {}),
              Contains(At(4, "expected finite flops and bytes above 0, got 0 and 256")));
}

}  // namespace
}  // namespace tilewright
