// Float8 attention on a GPU: chosen inputs, whose results are exact.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/runtime/attention_gpu_fixture.h"

namespace tilewright {
namespace {

using Float8AttentionGpuTest = AttentionGpuFixture;

// Three sequences whose queries each see one key only, of random signs: all others' exponentials
// are zero, so that every output is a value, exactly, whatever the order of sums.
struct OneHot {
  static constexpr int64_t kHeads = 4, kKeyHeads = 2, kDim = 128;
  std::vector<double> q_starts = {0, 33, 33, 300}, kv_starts = {0, 97, 130, 527};
  std::vector<double> q, k, v, expected;

  OneHot() {
    std::mt19937 random(7);
    const auto rows = static_cast<size_t>(kv_starts.back()) * kKeyHeads;
    for (size_t i = 0; i < rows * kDim; ++i) {
      k.push_back(random() % 2 == 0 ? 1 : -1);
      v.push_back(static_cast<double>(random() % 17) - 8);
    }
    for (int b = 0; b < 3; ++b) {
      const auto keys = static_cast<unsigned>(kv_starts[b + 1] - kv_starts[b]);
      const auto queries = static_cast<int>(q_starts[b + 1] - q_starts[b]);
      for (int i = 0; i < queries; ++i) {
        for (int64_t h = 0; h < kHeads; ++h) {
          const auto row = static_cast<int64_t>(kv_starts[b]) + random() % keys;
          const auto at = static_cast<size_t>((row * kKeyHeads + h / 2) * kDim);
          for (size_t d = 0; d < kDim; ++d) {
            q.push_back(2 * k[at + d]);
            expected.push_back(v[at + d]);
          }
        }
      }
    }
  }
};

// Guards the order of keys in transposed float8 values and in the weights' registers, bit for bit:
// on the float8 kernel, and, where rows are not aligned to 16 bytes, on widened operands and on the
// plain kernel.
TEST_F(Float8AttentionGpuTest, LayoutIsExact) {
  const OneHot data;
  const int64_t t_q = 300, t_kv = 527;
  const Tensor q_starts = Place(kIndex, {4}, data.q_starts);
  const Tensor kv_starts = Place(kIndex, {4}, data.kv_starts);
  const Tensor one = Place(kFloat, {3, 2}, std::vector<double>(6, 1.0));
  for (const DType out : {kHalf, kBrain}) {
    for (const auto& [shift, variant] :
         {std::pair<int, std::string>{0, "float8"}, {8, "wgmma"}, {1, "mma"}}) {
      const Tensor q = Place(kNarrow, {t_q, 4, 128}, data.q, shift);
      const Tensor k = Place(kNarrow, {t_kv, 2, 128}, data.k, shift);
      const Tensor v = Place(kNarrow, {t_kv, 2, 128}, data.v, shift);
      const Tensor o = Blank(out, {t_q, 4, 128});
      const std::vector<NamedParam> params = {{"max_seqlen_q", int64_t{267}},
                                              {"max_seqlen_kv", int64_t{397}},
                                              {"is_causal", false},
                                              {"sm_scale", 4.0},
                                              {"dtype", out}};
      const std::vector<Tensor> inputs = {q, k, v, q_starts, kv_starts, one, one, one};
      const std::string_view op = "GroupedQueryAttentionPrefillFwdOp";
      EXPECT_EQ(Variant(op, inputs, o, params), variant);
      EXPECT_EQ(Call(op, inputs, {o}, params), data.expected) << shift;
    }
  }
}

// Guards sums over all keys of float8 tiles, tails included: the mean of integers, exactly.
TEST_F(Float8AttentionGpuTest, MeanIsExact) {
  std::mt19937 random(3);
  const int64_t t_kv = 256 + 16;
  std::vector<double> v;
  for (int64_t i = 0; i < t_kv * 128; ++i) v.push_back(static_cast<double>(random() % 17) - 8);
  std::vector<double> expected;
  for (int row = 0; row < 2; ++row) {
    const int first = row == 0 ? 0 : 256, last = row == 0 ? 256 : 272;
    for (size_t d = 0; d < 128; ++d) {
      double sum = 0;
      for (int j = first; j < last; ++j) sum += v[static_cast<size_t>(j) * 128 + d];
      expected.push_back(sum / (last - first));
    }
  }
  const Tensor q = Place(kNarrow, {2, 1, 128}, std::vector<double>(256, 0.0));
  const Tensor k = Place(kNarrow, {t_kv, 1, 128}, v);
  const Tensor values = Place(kNarrow, {t_kv, 1, 128}, v);
  const Tensor q_starts = Place(kIndex, {3}, {0, 1, 2});
  const Tensor kv_starts = Place(kIndex, {3}, {0, 256, 272});
  const Tensor one = Place(kFloat, {2, 1}, {1, 1});
  const Tensor o = Blank(kHalf, {2, 1, 128});
  EXPECT_EQ(Call("GroupedQueryAttentionPrefillFwdOp",
                 {q, k, values, q_starts, kv_starts, one, one, one}, {o},
                 {{"max_seqlen_q", int64_t{1}},
                  {"max_seqlen_kv", int64_t{256}},
                  {"is_causal", false},
                  {"dtype", kHalf}}),
            expected);
}

// Guards maxima of float8 rows found by comparing as integers: even rows, all of whose scores are
// negative, and odd ones, all positive, see one key each.
TEST_F(Float8AttentionGpuTest, NegativeScores) {
  const int64_t t_q = 200, t_kv = 700, even_key = 411, odd_key = 650;
  std::mt19937 random(5);
  std::vector<double> q, k, v, expected;
  for (int64_t j = 0; j < t_kv; ++j) {
    k.insert(k.end(), 128, j == even_key ? -0.5 : j == odd_key ? -2.0 : -1.0);
    for (int d = 0; d < 128; ++d) v.push_back(static_cast<double>(random() % 17) - 8);
  }
  for (int64_t i = 0; i < t_q; ++i) {
    q.insert(q.end(), 128, i % 2 == 0 ? 1.0 : -1.0);
    const auto seen = v.begin() + (i % 2 == 0 ? even_key : odd_key) * 128;
    expected.insert(expected.end(), seen, seen + 128);
  }
  const std::vector<Tensor> inputs = {Place(kNarrow, {t_q, 1, 128}, q),
                                      Place(kNarrow, {t_kv, 1, 128}, k),
                                      Place(kNarrow, {t_kv, 1, 128}, v),
                                      Place(kIndex, {2}, {0, static_cast<double>(t_q)}),
                                      Place(kIndex, {2}, {0, static_cast<double>(t_kv)}),
                                      Place(kFloat, {1, 1}, {1}),
                                      Place(kFloat, {1, 1}, {1}),
                                      Place(kFloat, {1, 1}, {1})};
  const Tensor o = Blank(kHalf, {t_q, 1, 128});
  const std::vector<NamedParam> params = {{"max_seqlen_q", t_q},
                                          {"max_seqlen_kv", t_kv},
                                          {"is_causal", false},
                                          {"sm_scale", 1.0},
                                          {"dtype", kHalf}};
  const std::string_view op = "GroupedQueryAttentionPrefillFwdOp";
  EXPECT_EQ(Variant(op, inputs, o, params), "float8");
  EXPECT_EQ(Call(op, inputs, {o}, params), expected);
}

}  // namespace
}  // namespace tilewright
