#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "kernel_templates/embedded.h"
#include "kernel_templates/recipe.h"
#include "manifest/edge_cases.h"
#include "manifest/reference.h"
#include "manifest/status.h"
#include "runtime/conform/call_identity.h"
#include "runtime/conform/cases.h"
#include "runtime/conform/compare.h"
#include "runtime/inputs.h"

namespace tilewright {
namespace {

// Those with kernels, whatever their status claims yet.
std::vector<const OpSpec*> OpsWithKernels() {
  std::vector<const OpSpec*> ops;
  for (const OpSpec& op : Manifest::BuiltinOps()) {
    if (MakeBuiltinRecipe(op.name) != nullptr) ops.push_back(&op);
  }
  return ops;
}

// Guards: every op has its workloads at every dtype, edge cases that keep the contract,
// distinct names, and a case with an empty output.
TEST(ConformCasesTest, EveryOpHasCases) {
  ASSERT_GE(OpsWithKernels().size(), 5);
  for (const OpSpec* op : OpsWithKernels()) {
    const auto cases = ConformCases(*op);
    ASSERT_TRUE(cases.ok()) << op->name << ": " << cases.status();
    std::set<std::string> names;
    size_t workloads = 0;
    size_t empty = 0;
    size_t views = 0;
    for (const ConformCase& entry : *cases) {
      EXPECT_TRUE(names.insert(entry.name + " " + std::string(DTypeName(entry.dtype))).second)
          << op->name << " " << entry.name;
      workloads += entry.is_workload ? 1 : 0;
      empty += entry.call.output(0).desc.elements() == 0 ? 1 : 0;
      views += entry.name.find('+') != std::string::npos ? 1 : 0;
    }
    size_t expected = 0;
    for (const Workload& workload : op->workloads) expected += workload.dtypes.size();
    EXPECT_EQ(workloads, expected) << op->name;
    const size_t dtypes = op->LeadingTensor().dtypes.size();
    // Without inputs it is the parameters that give the extents, and rules may keep them over 0.
    EXPECT_GE(empty, op->inputs.empty() ? 0 : dtypes) << op->name;
    EXPECT_EQ(views, 6 * dtypes) << op->name;
    EXPECT_GE(BuiltinEdgeCases(op->name).size(), 10) << op->name;
  }
}

std::vector<std::string> Families() {
  std::set<std::string> families;
  for (const OpSpec* op : OpsWithKernels()) families.insert(op->family);
  return {families.begin(), families.end()};
}

// One test a family, none of which takes long even with sanitizers.
class ConformFamilyTest : public testing::TestWithParam<std::string> {
 protected:
  std::vector<const OpSpec*> Ops() const {
    std::vector<const OpSpec*> ops = OpsWithKernels();
    std::erase_if(ops, [](const OpSpec* op) { return op->family != GetParam(); });
    return ops;
  }
};
INSTANTIATE_TEST_SUITE_P(, ConformFamilyTest, testing::ValuesIn(Families()),
                         [](const auto& info) { return info.param; });

// Elements of everything that the call reads and of its first output.
int64_t ElementsOf(const CallDesc& call) {
  int64_t elements = call.output(0).desc.elements();
  for (int i = 0; i < call.op->input_count(); ++i) {
    if (call.input(i).present) elements += call.input(i).desc.elements();
  }
  return elements;
}

// Guards: the reference answers every edge case that takes little data to make, and a third are
// such at least.
TEST_P(ConformFamilyTest, ReferencesAnswerEveryEdgeCase) {
  constexpr int64_t kLittle = 1 << 17;
  for (const OpSpec* op : Ops()) {
    const ReferenceFunction reference = BuiltinReference(op->name);
    ASSERT_TRUE(reference) << op->name;
    const auto cases = ConformCases(*op);
    ASSERT_TRUE(cases.ok());
    int little = 0;
    int edges = 0;
    for (const ConformCase& entry : *cases) {
      if (entry.is_workload) continue;
      ++edges;
      if (ElementsOf(entry.call) > kLittle) continue;
      ++little;
      const auto inputs = MakeInputs(entry.call, {.mode = InputMode::kSmallIntegers, .seed = 3});
      ASSERT_TRUE(inputs.ok());
      std::vector<HostOperand> data;
      for (const HostBuffer& buffer : *inputs) data.push_back({buffer.origin()});
      const Dims& shape = entry.call.output(0).desc.shape;
      const std::vector<int64_t> elements = SampleElements(shape, 16, 1);
      std::vector<RefScalar> values(elements.size());
      const absl::Status status = reference({&entry.call, data}, 0, elements, values);
      ASSERT_TRUE(status.ok()) << op->name << " " << entry.name << ": " << status;
    }
    EXPECT_GT(3 * little, edges) << op->name;
  }
}

// Leaves a pattern in the stack that the next call will use.
__attribute__((noinline)) void DirtyStack(unsigned char value) {
  volatile unsigned char bytes[16384];
  for (volatile unsigned char& byte : bytes) byte = value;
}

// Guards: binding a call is a function of the call: no parameter byte, padding included, comes from
// uninitialised memory; so launches can be compared by digest.
TEST_P(ConformFamilyTest, LaunchesAreReproducible) {
  const DeviceProfile device = BuiltinDeviceProfile("h200").value();
  const TemplateSet templates = TemplateSet::Builtin();
  std::map<std::string, std::string, std::less<>> digests;
  const auto digest = [&](std::string_view file) -> absl::StatusOr<std::string> {
    const auto known = digests.find(file);
    if (known != digests.end()) return known->second;
    TW_ASSIGN_OR_RETURN(std::string made, templates.ClosureDigest(file));
    return digests.emplace(file, std::move(made)).first->second;
  };
  for (const OpSpec* op : Ops()) {
    const std::unique_ptr<Recipe> recipe = MakeBuiltinRecipe(op->name);
    const auto cases = ConformCases(*op);
    ASSERT_TRUE(cases.ok());
    for (const ConformCase& entry : *cases) {
      for (const Variant* variant : recipe->variants()) {
        if (!variant->Serves(entry.call, device).ok()) continue;
        const Config config = variant->Default(entry.call, device);
        DirtyStack(0x11);
        const auto first = IdentifyCall(entry.call, *variant, config, device, digest);
        DirtyStack(0xee);
        const auto second = IdentifyCall(entry.call, *variant, config, device, digest);
        ASSERT_TRUE(first.ok()) << op->name << " " << entry.name << ": " << first.status();
        ASSERT_TRUE(second.ok());
        EXPECT_EQ(first->launch_digest, second->launch_digest) << op->name << " " << entry.name;
        EXPECT_EQ(first->instantiations, second->instantiations);
      }
    }
  }
}

// Guards: sampling takes all of small shapes; of large ones ends, tile boundaries and no repeats.
TEST(CompareTest, SamplesEndsAndBoundaries) {
  EXPECT_EQ(SampleElements({3, 5}, 100, 1).size(), 15);
  EXPECT_EQ(SampleElements({0, 5}, 100, 1).size(), 0);
  EXPECT_EQ(SampleElements({}, 100, 1).size(), 1);
  const Dims shape = {4096, 7168};
  const std::vector<int64_t> picked = SampleElements(shape, 4096, 7);
  const std::set<int64_t> set(picked.begin(), picked.end());
  EXPECT_EQ(set.size(), picked.size());
  EXPECT_EQ(picked.size(), 4096);
  for (const int64_t row : {0, 4095, 64, 63, 127, 128}) {
    for (const int64_t column : {0, 7167, 64, 63, 128}) {
      EXPECT_TRUE(set.contains(row * 7168 + column)) << row << " " << column;
    }
  }
  EXPECT_NE(SampleElements(shape, 4096, 8), picked);
  EXPECT_EQ(SampleElements({1, 100'000}, 4096, 1).size(), 4096);
  EXPECT_EQ(SampleElements({100'000, 1}, 4096, 1).size(), 4096);
  EXPECT_GT(SampleElements({100'000, 3}, 4096, 1).size(), 4000);
}

// Guards: the judgement of NaN, infinities, rounding, tolerance and exactness.
TEST(CompareTest, JudgesValues) {
  const auto judge = [](DType dtype, double got, double expected, bool exact) {
    double stored = 0;
    StoreFromDouble(&stored, dtype, 0, got);
    const int64_t element = 0;
    const RefScalar value{expected, static_cast<int64_t>(expected)};
    return CompareElements(TensorDesc::Contiguous(dtype, {1}), &stored, {&element, 1}, {&value, 1},
                           Tolerance{0.001, 0.01}, exact)
        .problem.empty();
  };
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(judge(DType::kFloat32, 1.0105, 1, false));
  EXPECT_FALSE(judge(DType::kFloat32, 1.0115, 1, false));
  EXPECT_FALSE(judge(DType::kFloat32, 1.0005, 1, true));
  EXPECT_TRUE(judge(DType::kFloat32, 1.5005, 1.5, true));
  EXPECT_TRUE(judge(DType::kFloat16, kNan, kNan, false));
  EXPECT_FALSE(judge(DType::kFloat16, kNan, 1, false));
  EXPECT_FALSE(judge(DType::kFloat16, 1, kNan, false));
  EXPECT_TRUE(judge(DType::kFloat16, kInf, kInf, false));
  EXPECT_FALSE(judge(DType::kFloat16, -kInf, kInf, false));
  EXPECT_TRUE(judge(DType::kFloat16, kInf, 1e6, false));
  EXPECT_FALSE(judge(DType::kFloat16, kInf, 100, false));
  EXPECT_TRUE(judge(DType::kFloat16, kInf, 65500, false));  // a rounding away from the largest
  EXPECT_FALSE(judge(DType::kFloat16, -kInf, 65500, false));
  EXPECT_TRUE(judge(DType::kFloat16, 65504, 65530, false));  // rounds to infinity
  EXPECT_FALSE(judge(DType::kFloat16, 60000, 65530, false));
  EXPECT_FALSE(judge(DType::kFloat16, 1, kInf, false));
  EXPECT_TRUE(judge(DType::kInt32, 7, 7, false));
  EXPECT_FALSE(judge(DType::kInt32, 8, 7, false));
}

// Guards: large terms that cancel leave the rounding of float32 sums, and no more is excused.
TEST(CompareTest, JudgesCancelledSumsByTheirTerms) {
  const auto judge = [](double got, double expected, double magnitude) {
    const auto stored = static_cast<float>(got);
    const int64_t element = 0;
    const RefScalar value{expected, 0, magnitude};
    return CompareElements(TensorDesc::Contiguous(DType::kFloat32, {1}), &stored, {&element, 1},
                           {&value, 1}, Tolerance{1e-5, 1e-5}, false)
        .problem.empty();
  };
  EXPECT_TRUE(judge(0, 7.5, 0x1p51));   // one unit in the last place of the terms is 2^27
  EXPECT_FALSE(judge(0, 7.5, 0x1p20));  // here it is 1/8
  EXPECT_FALSE(judge(1.001, 1, 16));
}

// Guards: elements that were never written are counted.
TEST(CompareTest, CountsPoison) {
  std::vector<unsigned char> bytes(20, 0xff);
  const TensorDesc desc = TensorDesc::Contiguous(DType::kFloat16, {10});
  EXPECT_EQ(CountPoisoned(desc, bytes.data(), 0xff), 10);
  bytes[4] = 0;
  bytes[7] = 1;
  EXPECT_EQ(CountPoisoned(desc, bytes.data(), 0xff), 8);
}

}  // namespace
}  // namespace tilewright
