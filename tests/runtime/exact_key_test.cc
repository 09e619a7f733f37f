// The key of an exact call: every fact of a call is in it, and its hash spreads.
#include "runtime/exact_key.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace tilewright {
namespace {

void* At(uintptr_t address) { return reinterpret_cast<void*>(address); }

struct Call {
  int op = 1;
  std::vector<Tensor> inputs;
  std::vector<NamedParam> params;
};

ExactKey KeyOf(const Call& call) {
  ExactKey key;
  const Tensor out = Tensor::Contiguous(At(4096), DType::kFloat32, {4});
  EXPECT_TRUE(key.Build(call.op, call.inputs, {&out, 1}, call.params));
  return key;
}

std::vector<uint64_t> WordsOf(const Call& call) {
  const ExactKey key = KeyOf(call);
  return {key.words().begin(), key.words().end()};
}

Call OneInput(const TensorDesc& desc, uintptr_t address = 4096, int device = 0) {
  return {1, {Tensor{At(address), device, desc}}, {}};
}

Call OneParam(std::string_view name, const ParamValue& value) {
  return {1, {}, {NamedParam{name, value}}};
}

// Guards: calls that differ in one fact have different keys, whatever the length of names, lists
// and shapes; a call made again has the same.
TEST(ExactKeyTest, EveryFactCounts) {
  std::vector<Call> calls = {{1, {}, {}}, {2, {}, {}}};
  Dims shape;
  for (int rank = 0; rank <= kMaxRank; ++rank) {
    const TensorDesc desc = TensorDesc::Contiguous(DType::kFloat32, shape);
    calls.push_back(OneInput(desc));
    calls.push_back(OneInput(desc, 4096 + 64));
    calls.push_back(OneInput(desc, 0));
    calls.push_back(OneInput(desc, 4096, 1));
    calls.push_back(OneInput(TensorDesc::Contiguous(DType::kBFloat16, shape)));
    for (int axis = 0; axis < rank; ++axis) {
      TensorDesc other = desc;
      ++other.shape[axis];
      calls.push_back(OneInput(other));
      other = desc;
      ++other.strides[axis];
      calls.push_back(OneInput(other));
    }
    calls.push_back(OneParam("p", shape));
    if (rank > 0) {
      Dims other = shape;
      ++other[rank - 1];
      calls.push_back(OneParam("p", other));
    }
    shape.push_back(3 + rank);
  }
  // Names of every length up to three words, each also with another first or last character.
  for (size_t size = 1; size <= 24; ++size) {
    std::string name(size, 'a');
    for (size_t i = 0; i < size; ++i) name[i] = static_cast<char>('a' + i);
    for (const size_t changed : {size_t{0}, size / 2, size - 1}) {
      static std::set<std::string> names;  // stay where they are
      std::string other = name;
      other[changed] = 'Z';
      calls.push_back(OneParam(*names.insert(other).first, 1));
      calls.push_back(OneParam(*names.insert(name).first, 1));
    }
  }
  for (const ParamValue& value : {ParamValue(), ParamValue(true), ParamValue(2), ParamValue(2.0),
                                  ParamValue(2.5), ParamValue(DType::kFloat16)}) {
    calls.push_back(OneParam("q", value));
  }
  std::set<std::vector<uint64_t>> keys;
  std::set<uint64_t> hashes;
  std::set<std::string> distinct;
  for (const Call& call : calls) {
    EXPECT_EQ(WordsOf(call), WordsOf(call));
    EXPECT_EQ(KeyOf(call).hash(), KeyOf(call).hash());
    std::string facts = std::to_string(call.op);
    for (const Tensor& x : call.inputs) {
      facts += "," + std::to_string(reinterpret_cast<uintptr_t>(x.data)) + "@" +
               std::to_string(x.device) + std::string(DTypeName(x.desc.dtype)) +
               x.desc.shape.ToString() + x.desc.strides.ToString();
    }
    for (const NamedParam& p : call.params) {
      facts += ";" + std::string(p.name) + "=" + std::to_string(static_cast<int>(p.value.kind())) +
               p.value.ToString();
    }
    distinct.insert(facts);
    keys.insert(WordsOf(call));
    hashes.insert(KeyOf(call).hash());
  }
  EXPECT_GE(distinct.size(), 200u);
  EXPECT_EQ(keys.size(), distinct.size());
  EXPECT_EQ(hashes.size(), distinct.size());
}

// Guards the table against sets that fill up while others stay empty: the low bits of the hash,
// which choose the set, are spread evenly over series as shapes come in, and so are the high ones.
TEST(ExactKeyTest, HashSpreadsOverSeries) {
  constexpr int kKeys = 1 << 15;
  constexpr int kSets = 1 << 10;
  const auto series = [](int which, int64_t i) {
    switch (which) {
      case 0:
        return OneInput(TensorDesc::Contiguous(DType::kFloat32, {i, 4096}));
      case 1:
        return OneInput(TensorDesc::Contiguous(DType::kFloat32, {64, 8 * i}));
      case 2:
        return OneInput(TensorDesc::Contiguous(DType::kFloat32, {i % 128, i / 128, 64, 1}));
      case 3:
        return OneInput(TensorDesc{DType::kFloat32, {64, 64}, {4096 * i, 1}});
      default:
        return OneParam("seed", i);
    }
  };
  for (int which = 0; which < 5; ++which) {
    std::vector<int> low(kSets), high(kSets);
    std::set<uint64_t> hashes;
    for (int i = 0; i < kKeys; ++i) {
      const uint64_t hash = KeyOf(series(which, i)).hash();
      hashes.insert(hash);
      ++low[hash % kSets];
      ++high[hash >> 54];
    }
    EXPECT_EQ(hashes.size(), size_t{kKeys}) << which;
    // 32 in the mean; a fair throw goes past 70 once in some million series.
    EXPECT_LT(*std::max_element(low.begin(), low.end()), 70) << which;
    EXPECT_LT(*std::max_element(high.begin(), high.end()), 70) << which;
  }
}

// Guards the bound: what does not fit is refused, never cut.
TEST(ExactKeyTest, RefusesWhatDoesNotFit) {
  ExactKey key;
  const Tensor x = Tensor::Contiguous(At(4096), DType::kFloat32, {1, 2, 3, 4, 5, 6, 7, 8});
  const std::vector<Tensor> many(kMaxOperands, x);
  EXPECT_FALSE(key.Build(1, many, {&x, 1}, {}));
  int fitting = 0;
  for (size_t count = 1; count <= many.size(); ++count) {
    fitting += key.Build(1, {many.data(), count}, {}, {}) ? 1 : 0;
  }
  EXPECT_EQ(fitting, 15);  // of 17 words each, and one of their own, in 256
  Tensor truncated = x;
  truncated.desc.shape.push_back(9);
  EXPECT_FALSE(key.Build(1, {&truncated, 1}, {}, {}));
  const std::string name(size_t{8} * 256, 'n');
  const NamedParam param{name, 1};
  EXPECT_FALSE(key.Build(1, {}, {}, {&param, 1}));
}

}  // namespace
}  // namespace tilewright
