// Guards the recipe of rotary position embedding: walks the bound parameters as the kernel does, in
// double precision on the host, and compares each output element with the reference.
#include "kernel_templates/rope/rope_recipe.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>

#include "manifest/op_spec.h"
#include "manifest/reference.h"
#include "tests/kernel_templates/bound_launch.h"
#include "tests/kernel_templates/memory_bound_cases.h"

namespace tilewright {
namespace {

// A call with its data in float32, and what the walk leaves in the output.
struct Subject {
  CallDesc call;
  std::vector<float> x;
  std::vector<int64_t> positions;
  std::vector<float> factors;
  std::vector<double> output;
  std::vector<int> writes;
};

// One launch, thread by thread.
class Walk {
 public:
  Walk(const Launch& launch, const KernelSpec& spec, Subject& subject)
      : p_(ParamsOf<RopeParams>(launch)), subject_(subject) {
    vector_ = ConstantOf(spec, "int kVector");
    group_ = ConstantOf(spec, "int kGroup");
    halves_ = ConstantOf(spec, "bool kHalves") != 0;
    same_columns_ = ConstantOf(spec, "bool kSameColumns") != 0;
    tokens_per_block_ = ConstantOf(spec, "int kThreads") / group_;
    pairs_ = halves_ || vector_ == 1 ? vector_ : vector_ / 2;
    packets_ = 2 * pairs_ / vector_;
    const int64_t places = int64_t{launch.grid[0]} * tokens_per_block_;
    EXPECT_GE(places, p_.tokens);
    EXPECT_LT(places - p_.tokens, tokens_per_block_);
    const bool table = ConstantOf(spec, "bool kTable") != 0;
    EXPECT_EQ(launch.dynamic_smem_bytes,
              table ? static_cast<uint32_t>(tokens_per_block_ * (p_.pairs | 1) * 2 * 4) : 0);
  }

  void Run() {
    for (int64_t token = 0; token < p_.tokens; ++token) {
      for (int thread = 0; thread < group_; ++thread) {
        for (int item = thread; item < p_.items; item += group_) Item(token, thread, item);
      }
    }
  }

 private:
  int Column(int index, int k) const {
    const int pair = index * pairs_;
    if (!same_columns_ && pair >= p_.pairs) return 2 * pair + k * vector_;
    return halves_ ? pair + k * p_.pairs : 2 * pair + k * vector_;
  }

  double Radians(int64_t token, int64_t place, int pair) const {
    const double position = subject_.positions.empty()
                                ? static_cast<double>(place)
                                : static_cast<double>(subject_.positions.at(
                                      static_cast<size_t>(token * p_.position_stride)));
    const double factor = subject_.factors.empty()
                              ? 1
                              : subject_.factors.at(static_cast<size_t>(pair * p_.factor_stride));
    const double step = subject_.factors.empty() ? std::ldexp(p_.steps[pair], -64)
                                                 : std::bit_cast<double>(p_.steps[pair]) / factor;
    return 2 * std::numbers::pi * step * position;
  }

  void Item(int64_t token, int thread, int item) {
    unsigned long long batch = 0, place = 0;
    p_.sequence(static_cast<unsigned long long>(token), &batch, &place);
    unsigned head = 0, index = 0, first_head = 0, first_index = 0;
    p_.head_items(static_cast<unsigned>(item), &head, &index);
    p_.head_items(static_cast<unsigned>(thread), &first_head, &first_index);
    if (same_columns_) {
      EXPECT_EQ(index, first_index);
    }
    const auto origin = [&](const long long(&stride)[3]) {
      return static_cast<int64_t>(batch) * stride[0] + static_cast<int64_t>(place) * stride[1] +
             static_cast<int64_t>(head) * stride[2];
    };
    const bool rotates = static_cast<int>(index) * pairs_ < p_.pairs;
    for (int i = 0; i < pairs_; ++i) {
      const bool two = packets_ == 2;
      const int first = Column(static_cast<int>(index), 0) + (two ? i : 2 * i);
      const int second = two ? Column(static_cast<int>(index), 1) + i : first + 1;
      const double a = At(origin(p_.input_stride) + first * p_.input_step);
      const double b = At(origin(p_.input_stride) + second * p_.input_step);
      const double angle = rotates ? Radians(token, static_cast<int64_t>(place),
                                             static_cast<int>(index) * pairs_ + i)
                                   : 0;
      const double scale = rotates ? p_.amplitude : 1.0;
      Put(origin(p_.output_stride) + first * p_.output_step,
          scale * (a * std::cos(angle) - b * std::sin(angle)));
      Put(origin(p_.output_stride) + second * p_.output_step,
          scale * (b * std::cos(angle) + a * std::sin(angle)));
    }
  }

  double At(int64_t offset) const { return subject_.x.at(static_cast<size_t>(offset)); }
  void Put(int64_t offset, double value) {
    subject_.output.at(static_cast<size_t>(offset)) = value;
    ++subject_.writes.at(static_cast<size_t>(offset));
  }

  RopeParams p_{};
  Subject& subject_;
  int vector_ = 1, group_ = 1, tokens_per_block_ = 1, pairs_ = 1, packets_ = 2;
  bool halves_ = true, same_columns_ = false;
};

void ExpectReference(const Subject& subject, const std::string& where) {
  const TensorDesc& desc = subject.call.operands.back().desc;
  std::vector<int64_t> elements(static_cast<size_t>(desc.elements()));
  for (size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<int64_t>(i);
  std::vector<RefScalar> values(elements.size());
  std::vector<HostOperand> inputs = {{subject.x.data()}};
  if (!subject.positions.empty()) inputs.push_back({subject.positions.data()});
  if (!subject.factors.empty()) inputs.push_back({subject.factors.data()});
  const ReferenceCall call{&subject.call, inputs};
  ASSERT_TRUE(BuiltinReference(subject.call.op->name)(call, 0, elements, values).ok());
  for (size_t i = 0; i < elements.size(); ++i) {
    EXPECT_EQ(subject.writes[i], 1) << where << " [" << i << "]";
    EXPECT_NEAR(subject.output[i], values[i].f, 1e-5) << where << " [" << i << "]";
  }
}

// Every variant's default, and every legal configuration of the vector one, over dense data.
void ExpectRotated(std::string_view op, std::vector<std::pair<std::string, Dims>> shapes,
                   std::vector<std::pair<std::string, ParamValue>> params = {}) {
  Workload workload;
  workload.input_shapes = std::move(shapes);
  workload.params = std::move(params);
  Subject subject;
  const auto call = WorkloadCall(*Manifest::FindBuiltin(op), workload, DType::kFloat32);
  ASSERT_TRUE(call.ok()) << call.status();
  subject.call = *call;
  const auto count = static_cast<size_t>(subject.call.operands.back().desc.elements());
  for (size_t i = 0; i < count; ++i) {
    subject.x.push_back(static_cast<float>(std::sin(1.0 + 0.7 * static_cast<double>(i))));
  }
  for (const auto& [name, shape] : workload.input_shapes) {
    for (int64_t i = 0; i < shape[0]; ++i) {
      if (name == "position_ids") subject.positions.push_back((i * 37 + 5) % 101);
      if (name == "rescale_factors") subject.factors.push_back(1.0f + 0.5f * static_cast<float>(i));
    }
  }
  const auto recipe = MakeBuiltinRecipe(op);
  ASSERT_NE(recipe, nullptr) << op;
  for (const Variant* variant : recipe->variants()) {
    if (!variant->Serves(subject.call, H200()).ok()) continue;
    EXPECT_TRUE(variant->Legal(subject.call, variant->Default(subject.call, H200()), H200()).ok());
    const TuningSpace space = variant->Space(subject.call, H200());
    for (int64_t i = 0; i < space.size(); ++i) {
      const Config config = space.At(i);
      if (!variant->Legal(subject.call, config, H200()).ok()) continue;
      const auto bound = variant->Bind(subject.call, config, H200());
      ASSERT_TRUE(bound.ok()) << bound.status();
      subject.output.assign(count, NAN);
      subject.writes.assign(count, 0);
      Walk(bound->launches.at(0), variant->Kernels(subject.call, config).at(0), subject).Run();
      ExpectReference(subject, std::string(op) + " " + config.ToJson());
    }
  }
}

TEST(RopeRecipe, RotatesEveryFormOnce) {
  for (const char* op : {"RopeNeoxFwdOp", "RopeNonNeoxFwdOp", "RopeLlama31FwdOp", "RopeYarnFwdOp",
                         "RopeLongRopeFwdOp"}) {
    ExpectRotated(op, {{"x", {9, 16}}});
    ExpectRotated(op, {{"x", {2, 5, 3, 32}}});
    ExpectRotated(op, {{"x", {1, 3, 2, 14}}});
  }
  ExpectRotated("RopeYarnFwdOp", {{"x", {5, 64}}}, {{"attn_factor", 1.25}});
  ExpectRotated("RopeLongRopeFwdOp", {{"x", {7, 16}}, {"rescale_factors", {8}}},
                {{"max_position_embeddings", 131072}});
}

TEST(RopeRecipe, CopiesTheColumnsThatDoNotRotate) {
  const ParamValue all;
  for (const ParamValue& rotary : {all, ParamValue(16), ParamValue(8), ParamValue(2)}) {
    ExpectRotated("RopeNeoxPositionIdsFwdOp", {{"x", {7, 3, 32}}, {"position_ids", {7}}},
                  {{"max_position", 128}, {"rotary_dim", rotary}});
  }
}

// Guards: vectors are no wider than what both tensors are aligned to and what rows are apart by.
TEST(RopeRecipe, VectorsAreAligned) {
  const OpSpec& op = *Manifest::FindBuiltin("RopeNeoxFwdOp");
  const auto recipe = MakeBuiltinRecipe(op.name);
  Workload workload;
  workload.input_shapes = {{"x", {2, 16, 4, 64}}};
  const CallDesc dense = *WorkloadCall(op, workload, DType::kFloat16);
  const auto vector = [&](const CallDesc& call) {
    const Variant& variant = **SelectVariant(*recipe, call, H200());
    return ConstantOf(variant.Kernels(call, variant.Default(call, H200()))[0], "int kVector");
  };
  EXPECT_EQ(vector(dense), 8);
  for (const size_t operand : {size_t{0}, size_t{1}}) {
    CallDesc call = dense;
    call.operands[operand].alignment = 8;
    EXPECT_EQ(vector(call), 4) << operand;
    call.operands[operand].alignment = 256;
    call.operands[operand].desc.strides = {int64_t{16} * 260, 260, 65, 1};
    EXPECT_EQ(vector(call), 1) << operand;
    call.operands[operand].desc.strides = {int64_t{16} * 264, 264, 66, 1};
    EXPECT_EQ(vector(call), 2) << operand;
  }
}

}  // namespace
}  // namespace tilewright
