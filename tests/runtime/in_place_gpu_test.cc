// Calls in place, on a GPU: wherever an operator may write over an input, the result is bit for bit
// that of a call with an output of its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "manifest/op_spec.h"
#include "runtime/conform/cases.h"
#include "runtime/inputs.h"
#include "tests/runtime/gpu_values_fixture.h"

namespace tilewright {
namespace {

class InPlaceGpuTest : public GpuValuesFixture {
 protected:
  // A small dense case in which the two operands are alike.
  static const ConformCase* FindCase(const std::vector<ConformCase>& cases, size_t written,
                                     size_t input) {
    for (const ConformCase& entry : cases) {
      const TensorDesc& to = entry.call.operands[written].desc;
      const TensorDesc& from = entry.call.operands[input].desc;
      const bool alike =
          to.dtype == from.dtype && to.shape == from.shape && to.strides == from.strides;
      const bool dense = !entry.is_workload && entry.name.find('+') == std::string::npos;
      if (alike && dense && to.elements() >= 64 && to.elements() <= 1 << 20) return &entry;
    }
    return nullptr;
  }

  void Upload(const HostBuffer& from, const Tensor& to) {
    if (from.bytes.empty()) return;
    ASSERT_TRUE(driver_->CopyToDevice(to.data, from.bytes.data(), from.bytes.size(), stream_).ok());
  }
  std::vector<std::byte> Download(const Tensor& from) {
    const auto size = static_cast<size_t>(from.desc.elements() * DTypeSize(from.desc.dtype));
    std::vector<std::byte> bytes(size);
    EXPECT_TRUE(driver_->CopyToHost(bytes.data(), from.data, size, stream_).ok());
    EXPECT_TRUE(driver_->SynchronizeStream(stream_).ok());
    return bytes;
  }

  void ExpectTheSame(const ConformCase& entry, size_t written, size_t input) {
    const OpSpec& op = *entry.call.op;
    const auto data = MakeInputs(entry.call, {.seed = 5});
    ASSERT_TRUE(data.ok()) << data.status();
    const auto inputs = static_cast<size_t>(op.input_count());
    std::vector<Tensor> tensors;
    for (const Operand& operand : entry.call.operands) {
      if (!operand.present) {
        tensors.push_back(Tensor::Absent());
        continue;
      }
      const int64_t bytes = operand.desc.elements() * DTypeSize(operand.desc.dtype);
      const auto memory = driver_->Alloc(static_cast<size_t>(std::max<int64_t>(bytes, 1)));
      ASSERT_TRUE(memory.ok()) << memory.status();
      tensors.push_back({*memory, 0, operand.desc});
    }
    const auto call = [&](const Tensor& output) {
      for (size_t i = 0; i < inputs; ++i) Upload((*data)[i], tensors[i]);
      std::vector<Tensor> outputs(tensors.begin() + static_cast<int>(inputs), tensors.end());
      outputs[written - inputs] = output;
      CallOptions options;
      options.stream = stream_;
      const absl::Status status =
          runtime_->Call(op.name, {tensors.data(), inputs}, outputs, entry.NamedParams(), options);
      EXPECT_TRUE(status.ok()) << entry.call.ToString() << ": " << status;
      return Download(output);
    };
    const std::vector<std::byte> apart = call(tensors[written]);
    EXPECT_EQ(call(tensors[input]), apart) << entry.name << " " << entry.call.ToString();
    for (const Tensor& tensor : tensors) {
      if (!tensor.is_absent()) {
        EXPECT_TRUE(driver_->Free(tensor.data).ok());
      }
    }
  }
};

TEST_F(InPlaceGpuTest, GivesWhatAnOutputOfItsOwnGets) {
  int pairs = 0;
  for (const OpSpec& op : Manifest::BuiltinOps()) {
    if (op.in_place.empty()) continue;
    const auto cases = ConformCases(op);
    ASSERT_TRUE(cases.ok()) << op.name << ": " << cases.status();
    const auto index_of = [](const auto& operands, std::string_view name) {
      const auto it = std::find_if(operands.begin(), operands.end(),
                                   [&](const auto& operand) { return operand.name == name; });
      return static_cast<size_t>(it - operands.begin());
    };
    for (const auto& [output, input] : op.in_place) {
      const size_t written = op.inputs.size() + index_of(op.outputs, output);
      const ConformCase* entry = FindCase(*cases, written, index_of(op.inputs, input));
      ASSERT_NE(entry, nullptr) << op.name << ": no case in which " << output << " fits " << input;
      ExpectTheSame(*entry, written, index_of(op.inputs, input));
      ++pairs;
    }
  }
  EXPECT_GE(pairs, 90);
}

}  // namespace
}  // namespace tilewright
