// The references against the vectors that tests/golden/make_golden.py got from PyTorch.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "manifest/op_spec.h"
#include "manifest/reference.h"

namespace tilewright {
namespace {

using nlohmann::json;

// Bytes in the dense layout, or spread out so that every stride is larger than dense.
struct Buffer {
  Operand operand;
  std::vector<unsigned char> bytes;
};

std::vector<unsigned char> FromHex(const std::string& hex) {
  std::vector<unsigned char> bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<unsigned char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

Dims ShapeOf(const json& shape) {
  const auto values = shape.get<std::vector<int64_t>>();
  return Dims(std::span<const int64_t>(values));
}

Buffer Read(const json& tensor) {
  Buffer buffer;
  const DType dtype = ParseDType(tensor.at("dtype").get<std::string>()).value();
  buffer.operand.desc = TensorDesc::Contiguous(dtype, ShapeOf(tensor.at("shape")));
  buffer.bytes = FromHex(tensor.at("hex").get<std::string>());
  EXPECT_EQ(static_cast<int64_t>(buffer.bytes.size()),
            buffer.operand.desc.elements() * DTypeSize(dtype));
  return buffer;
}

// The same tensor with its axes stored in reverse order, two elements apart.
Buffer Spread(const Buffer& dense) {
  Buffer result = dense;
  TensorDesc& desc = result.operand.desc;
  int64_t stride = 2;
  for (int axis = 0; axis < desc.rank(); ++axis) {
    desc.strides[axis] = stride;
    stride *= std::max<int64_t>(desc.shape[axis], 1);
  }
  const auto size = static_cast<size_t>(DTypeSize(desc.dtype));
  result.bytes.assign(static_cast<size_t>(desc.Extent()->end), 0xff);
  for (int64_t i = 0; i < desc.elements(); ++i) {
    int64_t rest = i;
    int64_t offset = 0;
    for (int axis = desc.rank() - 1; axis >= 0; --axis) {
      offset += rest % desc.shape[axis] * desc.strides[axis];
      rest /= desc.shape[axis];
    }
    std::copy_n(dense.bytes.begin() + i * static_cast<int64_t>(size), size,
                result.bytes.begin() + offset * static_cast<int64_t>(size));
  }
  return result;
}

ParamValue ReadParam(const json& value) {
  if (value.is_null()) return {};
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_number_float()) return value.get<double>();
  return ShapeOf(value);
}

struct Case {
  OpSpec spec;
  CallDesc call;
  std::vector<Buffer> inputs;
  std::vector<Buffer> outputs;  // and then the mutated inputs after the call
};

void Load(const json& entry, bool spread, Case& result) {
  for (const json& tensor : entry.at("inputs")) {
    if (tensor.is_null()) {
      result.inputs.emplace_back().operand.present = false;
      result.call.operands.push_back(result.inputs.back().operand);
      continue;
    }
    result.inputs.push_back(spread ? Spread(Read(tensor)) : Read(tensor));
    result.call.operands.push_back(result.inputs.back().operand);
  }
  if (entry.contains("output")) result.outputs.push_back(Read(entry.at("output")));
  if (entry.contains("outputs")) {
    for (const json& tensor : entry.at("outputs")) result.outputs.push_back(Read(tensor));
  }
  const size_t mutated = entry.value("mutated", size_t{0});  // how many of them
  for (size_t i = 0; i + mutated < result.outputs.size(); ++i) {
    result.call.operands.push_back(result.outputs[i].operand);
  }
  result.spec.inputs.resize(result.inputs.size());
  result.spec.outputs.resize(result.outputs.size() - mutated);
  result.call.op = &result.spec;
  for (const json& param : entry.at("params")) result.call.params.push_back(ReadParam(param));
}

std::vector<RefScalar> RunReference(const ReferenceFunction& reference, const Case& test,
                                    size_t output, const std::vector<int64_t>& elements) {
  std::vector<HostOperand> inputs;
  for (const Buffer& buffer : test.inputs) inputs.push_back({buffer.bytes.data()});
  std::vector<RefScalar> values(elements.size());
  const ReferenceCall call{&test.call, inputs};
  const absl::Status status = reference(call, static_cast<int>(output), elements, values);
  EXPECT_TRUE(status.ok()) << status;
  return values;
}

// Half a step of rounding by the reference and as much again by PyTorch's float32 arithmetic.
double Allowed(DType dtype, double golden) {
  const double relative = dtype == DType::kFloat16    ? 0x1p-10
                          : dtype == DType::kBFloat16 ? 0x1p-7
                                                      : 4e-7;
  return relative * std::fabs(golden) + 1e-6;
}

void ExpectEqual(DType dtype, const RefScalar& value, const Buffer& golden, int64_t element,
                 const std::string& where) {
  if (!IsFloating(dtype)) {
    EXPECT_EQ(value.i, LoadAsInt(golden.bytes.data(), dtype, element)) << where;
    return;
  }
  double rounded = 0;
  StoreFromDouble(&rounded, dtype, 0, value.f);
  rounded = LoadAsDouble(&rounded, dtype, 0);
  const double expected = LoadAsDouble(golden.bytes.data(), dtype, element);
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(rounded)) << where << " got " << rounded;
  } else if (std::isinf(expected)) {
    EXPECT_EQ(rounded, expected) << where;
  } else {
    EXPECT_NEAR(rounded, expected, Allowed(dtype, expected)) << where;
  }
}

void ExpectOutput(const ReferenceFunction& reference, const Case& test, size_t output,
                  const std::string& where) {
  const Buffer& golden = test.outputs[output];
  const DType dtype = golden.operand.desc.dtype;
  std::vector<int64_t> elements(static_cast<size_t>(golden.operand.desc.elements()));
  std::iota(elements.begin(), elements.end(), int64_t{0});
  // Every second one first, backwards: values must land at their element's place.
  std::stable_partition(elements.rbegin(), elements.rend(), [](int64_t i) { return i % 2 == 0; });
  const std::vector<RefScalar> values = RunReference(reference, test, output, elements);
  for (size_t i = 0; i < elements.size(); ++i) {
    ExpectEqual(dtype, values[i], golden, elements[i],
                where + " " + std::string(DTypeName(dtype)) + " output " + std::to_string(output) +
                    " [" + std::to_string(elements[i]) + "]");
  }
}

class GoldenTest : public testing::TestWithParam<std::tuple<std::string, bool>> {};

// Guards: each reference equals PyTorch on every committed case, dense and strided, and asked for
// elements in any order.
TEST_P(GoldenTest, ReferenceEqualsPyTorch) {
  const auto& [op, spread] = GetParam();
  std::ifstream file(std::string(TILEWRIGHT_SOURCE_DIR) + "/tests/golden/" + op + ".json");
  const json document = json::parse(file);
  const ReferenceFunction reference = BuiltinReference(op);
  ASSERT_TRUE(reference);
  ASSERT_GE(document.at("cases").size(), 8);
  for (const json& entry : document.at("cases")) {
    Case test;
    Load(entry, spread, test);
    test.spec.params = Manifest::FindBuiltin(op)->params;
    for (size_t output = 0; output < test.outputs.size(); ++output) {
      const std::string where = op + " " + entry.at("case").get<std::string>();
      ExpectOutput(reference, test, output, where);
    }
  }
}

// The operators that have vectors.
std::vector<std::string> GoldenOps() {
  std::vector<std::string> ops;
  const auto folder = std::string(TILEWRIGHT_SOURCE_DIR) + "/tests/golden";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") ops.push_back(entry.path().stem().string());
  }
  std::sort(ops.begin(), ops.end());
  return ops;
}

INSTANTIATE_TEST_SUITE_P(AllOps, GoldenTest,
                         testing::Combine(testing::ValuesIn(GoldenOps()), testing::Bool()),
                         [](const auto& info) {
                           return std::get<0>(info.param) +
                                  (std::get<1>(info.param) ? "_strided" : "_dense");
                         });

// Guards: no operator that claims to be implemented is without vectors.
TEST(GoldenVectors, CoverEveryOperator) {
  const std::vector<std::string> ops = GoldenOps();
  int implemented = 0;
  for (const OpSpec& op : Manifest::BuiltinOps()) {
    if (op.status != OpStatus::kImplemented) continue;
    ++implemented;
    EXPECT_TRUE(std::binary_search(ops.begin(), ops.end(), op.name)) << op.name;
  }
  EXPECT_GT(implemented, 100);
}

// Guards: a fractional alpha with integers is refused, as PyTorch refuses it.
TEST(ReferenceTest, FractionalAlphaOfIntegersIsAnError) {
  Case test;
  test.spec.inputs.resize(2);
  test.spec.outputs.resize(1);
  test.call.op = &test.spec;
  const Operand operand{TensorDesc::Contiguous(DType::kInt32, {1})};
  test.call.operands = {operand, operand, operand};
  test.call.params = {ParamValue(0.5)};
  const int32_t one = 1;
  const HostOperand inputs[] = {{&one}, {&one}};
  const ReferenceCall call{&test.call, inputs};
  const int64_t element = 0;
  RefScalar value;
  EXPECT_EQ(BuiltinReference("AddFwdOp")(call, 0, {&element, 1}, {&value, 1}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(BuiltinReference("NoSuchOp"));
}

}  // namespace
}  // namespace tilewright
