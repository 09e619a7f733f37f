// Attention at which kernels go wrong, on a GPU: chosen inputs, results known by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "tests/runtime/attention_gpu_fixture.h"

namespace tilewright {
namespace {

using ::testing::Each;

using AttentionValuesGpuTest = AttentionGpuFixture;

// A paged cache of one sequence and one head: shuffled pages, NaN in slots without a token, -1 in
// entries without a page. Values are the tokens' numbers.
struct Pages {
  int64_t page_size, pages;
  std::vector<double> table, slots;

  Pages(int64_t page_size, int64_t pages, int64_t tokens, int64_t dim)
      : page_size(page_size), pages(pages) {
    const int64_t used = (tokens + page_size - 1) / page_size;
    slots.assign(static_cast<size_t>(pages * page_size * dim), NAN);
    for (int64_t page = 0; page < pages; ++page) {
      const int64_t place = (page * 5 + 3) % pages;
      table.push_back(page < used ? static_cast<double>(place) : -1);
      for (int64_t token = page * page_size; token < std::min((page + 1) * page_size, tokens);
           ++token) {
        const int64_t slot = place * page_size + token % page_size;
        std::fill_n(slots.begin() + slot * dim, dim, static_cast<double>(token));
      }
    }
  }
};

// Guards: pages of any size whole, no lane beyond the length in the sum. Equal scores give the mean
// of the first `tokens` numbers.
TEST_F(AttentionValuesGpuTest, PagedDecodeSeesEachTokenOnce) {
  for (const int64_t page_size : {16, 48, 100, 192, 256}) {
    for (const int64_t tokens : {0, 1, 15, 100, 193, 301}) {
      if (tokens > 7 * page_size) continue;
      const Pages pages(page_size, 7, tokens, 64);
      const Tensor q = Place(kHalf, {1, 2, 64}, std::vector<double>(128, 0.0));
      const Tensor k = Place(kHalf, {7 * page_size, 1, 64}, pages.slots);
      const Tensor v = Place(kHalf, {7 * page_size, 1, 64}, pages.slots);
      const Tensor length = Place(kIndex, {1}, {static_cast<double>(tokens)});
      const Tensor table = Place(kIndex, {1, 7}, pages.table);
      const Tensor o = Blank(kHalf, {1, 2, 64});
      const double mean = tokens == 0 ? 0.0 : static_cast<double>(tokens - 1) / 2;
      EXPECT_THAT(Call("GroupedQueryAttentionDecodePagedWithKVCacheFwdOp", {q, k, v, length, table},
                       {o}, {{"page_size", page_size}}),
                  Each(::testing::DoubleNear(mean, mean * 0.001 + 1e-6)))
          << page_size << " " << tokens;
    }
  }
}

// Guards: lengths are read from the device, so that a captured call serves other ones.
TEST_F(AttentionValuesGpuTest, ReplayTakesNewLengths) {
  constexpr int64_t kSlots = int64_t{31} * 48;
  const Pages pages(48, 31, 1400, 64);
  const Tensor q = Place(kHalf, {1, 2, 64}, std::vector<double>(128, 0.0));
  const Tensor k = Place(kHalf, {kSlots, 1, 64}, pages.slots);
  const Tensor v = Place(kHalf, {kSlots, 1, 64}, pages.slots);
  const Tensor length = Place(kIndex, {1}, {1400});
  const Tensor table = Place(kIndex, {1, 31}, pages.table);
  const Tensor o = Blank(kHalf, {1, 2, 64});
  const std::string_view op = "GroupedQueryAttentionDecodePagedWithKVCacheFwdOp";
  const std::vector<Tensor> inputs = {q, k, v, length, table};
  const std::vector<NamedParam> params = {{"page_size", int64_t{48}}};
  Call(op, inputs, {o}, params);
  CallOptions options;
  options.stream = stream_;
  ASSERT_TRUE(driver_->BeginCapture(stream_, CaptureMode::kThreadLocal).ok());
  const absl::Status called = runtime_->Call(op, inputs, {&o, 1}, params, options);
  const auto graph = driver_->EndCapture(stream_);
  ASSERT_TRUE(called.ok()) << called;
  ASSERT_TRUE(graph.ok()) << graph.status();
  const auto replay = driver_->Instantiate(*graph);
  ASSERT_TRUE(replay.ok()) << replay.status();
  for (const int64_t tokens : {1, 47, 49, 0, 1000, 1400, 129}) {
    Change(length, {static_cast<double>(tokens)});
    Change(o, std::vector<double>(128, NAN));
    ASSERT_TRUE(driver_->LaunchGraph(*replay, stream_).ok());
    const double mean = tokens == 0 ? 0.0 : static_cast<double>(tokens - 1) / 2;
    EXPECT_THAT(Read(o), Each(::testing::DoubleNear(mean, mean * 0.001 + 1e-6))) << tokens;
  }
  EXPECT_TRUE(driver_->DestroyGraphExec(*replay).ok());
  EXPECT_TRUE(driver_->DestroyGraph(*graph).ok());
}

// Guards: a batch beyond 65535 is no y or z of a grid.
TEST_F(AttentionValuesGpuTest, DecodesABatchOf65537) {
  const int64_t batch = 65537, tokens = 3, dim = 8;
  std::vector<double> values, expected;
  for (int64_t b = 0; b < batch; ++b) {
    values.insert(values.end(), tokens * dim, static_cast<double>(b % 2039));
    expected.insert(expected.end(), dim, static_cast<double>(b % 2039));
  }
  const Tensor q = Place(kHalf, {batch, 1, dim}, std::vector<double>(expected.size(), 0.0));
  const Tensor k = Place(kHalf, {batch, tokens, 1, dim}, std::vector<double>(values.size(), 1.0));
  const Tensor v = Place(kHalf, {batch, tokens, 1, dim}, values);
  const Tensor o = Blank(kHalf, {batch, 1, dim});
  EXPECT_TRUE(Call("GroupedQueryAttentionDecodeWithKVCacheFwdOp", {q, k, v}, {o}, {}) == expected);
}

// Guards: sequences times heads beyond 65535 are no y or z of a grid either. One key, or three
// equal ones: the output is the value.
TEST_F(AttentionValuesGpuTest, HeadsBeyond65535) {
  const auto values = [](int64_t rows, int64_t copies, int64_t heads, int64_t dim) {
    std::vector<double> result;
    for (int64_t row = 0; row < rows * copies; ++row) {
      for (int64_t head = 0; head < heads; ++head) {
        const int64_t value = (row / copies * heads + head) % 2039;
        result.insert(result.end(), static_cast<size_t>(dim), static_cast<double>(value));
      }
    }
    return result;
  };
  const Dims one = {10923, 1, 6, 64};  // 65,538 heads of one token
  const std::vector<double> expected = values(10923, 1, 6, 64);
  const Tensor zeros = Place(kHalf, one, std::vector<double>(expected.size(), 0.0));
  const Tensor lse = Blank(kFloat, {10923, 6, 1});
  EXPECT_TRUE(Call("MultiHeadAttentionFwdOp", {zeros, zeros, Place(kHalf, one, expected)},
                   {Blank(kHalf, one), lse}, {{"is_causal", true}}) == expected);
  EXPECT_THAT(Read(lse), Each(0.0));

  const Dims query = {2048, 1, 32, 8}, cached = {2048, 3, 32, 8};  // 65,536 heads
  const std::vector<double> decoded = values(2048, 1, 32, 8);
  const Tensor q = Place(kHalf, query, std::vector<double>(decoded.size(), 0.0));
  const Tensor k = Place(kHalf, cached, std::vector<double>(3 * decoded.size(), 1.0));
  const Tensor v = Place(kHalf, cached, values(2048, 3, 32, 8));
  EXPECT_TRUE(Call("MultiHeadAttentionDecodeWithKVCacheFwdOp", {q, k, v}, {Blank(kHalf, query)},
                   {}) == decoded);
}

// Guards what is appended to a float8 cache: halves go to even and nothing passes 448.
TEST_F(AttentionValuesGpuTest, AppendedValuesSaturate) {
  const Dims one = {1, 1, 8}, pages = {16, 1, 8};
  const std::vector<double> added = {300, 272, 304, 465, 1000, -465, -1000, 448};
  const std::vector<double> kept = {288, 256, 320, 448, 448, -448, -448, 448};
  const std::vector<double> zeros(size_t{16} * 8, 0.0);
  const Tensor k_pages = Place(kNarrow, pages, zeros), v_pages = Place(kNarrow, pages, zeros);
  const Tensor unit = Place(kFloat, {1}, {1});
  const std::vector<double> got =
      Call("GroupedQueryAttentionPrefillPagedWithKVCacheFwdOp",
           {Place(kHalf, one, std::vector<double>(8, 0.0)), Place(kHalf, one, added),
            Place(kHalf, one, added), k_pages, v_pages, unit, unit, Place(kIndex, {2}, {0, 1}),
            Place(kIndex, {1}, {2}), Place(kIndex, {1, 1}, {0})},
           {Blank(kHalf, one)},
           {{"page_size", int64_t{16}}, {"max_seqlen_q", int64_t{1}}, {"cache_dtype", kNarrow}});
  std::vector<double> expected = zeros;
  std::copy(kept.begin(), kept.end(), &expected[2 * kept.size()]);  // behind two cached tokens
  EXPECT_EQ(Read(k_pages), expected);
  EXPECT_EQ(Read(v_pages), expected);
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], kept[i] / 3, 0.1) << i;
}

// Guards: a masked key never leaks, however low the visible one scores.
TEST_F(AttentionValuesGpuTest, LowScoreBesideAMaskedKey) {
  const int64_t rows = 160, dim = 64;
  std::vector<double> q(static_cast<size_t>(rows * dim), 0.0), k = q, v;
  q[0] = 200;
  k[0] = -800;  // scores of row 0: -160000 / 8 of key 0, the only visible one, and 0
  for (int64_t i = 0; i < rows * dim; ++i) v.push_back(i < dim ? 3 : 100);
  const Tensor o = Blank(kHalf, {1, rows, 1, dim});
  const Tensor lse = Blank(kFloat, {1, 1, rows});
  const Dims shape = {1, rows, 1, dim};
  std::vector<double> got =
      Call("MultiHeadAttentionFwdOp",
           {Place(kHalf, shape, q), Place(kHalf, shape, k), Place(kHalf, shape, v)}, {o, lse},
           {{"is_causal", true}});
  got.resize(static_cast<size_t>(dim));
  EXPECT_THAT(got, Each(3.0));
  EXPECT_NEAR(Read(lse)[0], -20000.0, 0.1);
}

// Guards: queries without a visible key give zeros, others their mean (causal, aligned at the ends,
// more queries than keys; and a sequence without keys).
TEST_F(AttentionValuesGpuTest, QueriesThatSeeNothing) {
  const int64_t t_q = 200, dim = 64;  // 150 queries of 40 keys, 50 queries of none
  std::vector<double> v;
  for (int64_t key = 0; key < 40; ++key) v.insert(v.end(), dim, static_cast<double>(key));
  const Tensor q = Place(kBrain, {t_q, 1, dim}, std::vector<double>(t_q * dim, 1.0));
  const Tensor k = Place(kBrain, {40, 1, dim}, std::vector<double>(v.size(), 1.0));
  const Tensor one = Place(kFloat, {2, 1}, {1, 1});
  const std::vector<double> got =
      Call("GroupedQueryAttentionPrefillFwdOp",
           {q, k, Place(kBrain, {40, 1, dim}, v), Place(kIndex, {3}, {0, 150, 200}),
            Place(kIndex, {3}, {0, 40, 40}), one, one, one},
           {Blank(kBrain, {t_q, 1, dim})},
           {{"max_seqlen_q", int64_t{150}},
            {"max_seqlen_kv", int64_t{40}},
            {"is_causal", true},
            {"dtype", kBrain}});
  for (int64_t row = 0; row < t_q; ++row) {
    const bool sees = row >= 110 && row < 150;
    const double mean = sees ? static_cast<double>(row - 110) / 2 : 0.0;
    for (int64_t d = 0; d < dim; ++d) {
      ASSERT_NEAR(got[static_cast<size_t>(row * dim + d)], mean, mean * 0.01) << row;
    }
  }
}

// Guards: zeros of sequences without keys do not meet the loads of the next tile where both lie in
// one place. Every CTA takes several tiles of either kind; others see the first key's value, nearly
// alone.
TEST_F(AttentionValuesGpuTest, SequencesWithoutKeysBetweenOthers) {
  const int64_t sequences = 40, rows = 64, keys = 176, heads = 16;
  const int64_t t_q = sequences * rows, t_k = sequences / 2 * keys;
  std::vector<double> q_starts, k_starts;
  for (int64_t i = 0; i <= sequences; ++i) {
    q_starts.push_back(static_cast<double>(i * rows));
    k_starts.push_back(static_cast<double>(i / 2 * keys));
  }
  const Tensor one =
      Place(kFloat, {sequences, 1}, std::vector<double>(static_cast<size_t>(sequences), 1.0));
  for (const auto& [dim, causal] :
       {std::pair<int64_t, bool>{128, false}, {256, false}, {256, true}}) {
    std::vector<double> k, v;
    for (int64_t key = 0; key < t_k; ++key) {
      k.insert(k.end(), static_cast<size_t>(dim), key % keys == 0 ? 1.0 : -1.0);
      v.insert(v.end(), static_cast<size_t>(dim), key % keys == 0 ? 2.0 : 5.0);
    }
    const Dims q_shape = {t_q, heads, dim}, k_shape = {t_k, 1, dim};
    const std::vector<double> q(static_cast<size_t>(t_q * heads * dim), 1.0);
    const std::vector<Tensor> inputs = {Place(kBrain, q_shape, q),
                                        Place(kBrain, k_shape, k),
                                        Place(kBrain, k_shape, v),
                                        Place(kIndex, {sequences + 1}, q_starts),
                                        Place(kIndex, {sequences + 1}, k_starts),
                                        one,
                                        one,
                                        one};
    const std::vector<NamedParam> params = {
        {"max_seqlen_q", rows}, {"max_seqlen_kv", keys}, {"is_causal", causal}, {"dtype", kBrain}};
    const Tensor o = Blank(kBrain, q_shape);
    ASSERT_EQ(Variant("GroupedQueryAttentionPrefillFwdOp", inputs, o, params), "wgmma");
    const std::vector<double> got = Call("GroupedQueryAttentionPrefillFwdOp", inputs, {o}, params);
    for (size_t i = 0; i < got.size(); ++i) {
      const int64_t row = static_cast<int64_t>(i) / (heads * dim);
      ASSERT_EQ(got[i], row / rows % 2 == 0 ? 0.0 : 2.0) << "row " << row << " of dim " << dim;
    }
  }
}

// Guards windows with either bound, not causal, and eight query heads of two key heads: key j is
// visible if i - left <= j <= i + right.
TEST_F(AttentionValuesGpuTest, WindowsOfEitherBound) {
  const int64_t rows = 512, dim = 64;
  std::vector<double> v;
  for (int64_t row = 0; row < 2 * rows; ++row) v.insert(v.end(), 2 * dim, static_cast<double>(row));
  for (double& value : v) value = std::fmod(value, 512.0) / 4;  // the row, exact in 16 bits
  const Tensor q = Place(kHalf, {2, rows, 8, dim}, std::vector<double>(2 * rows * 8 * dim, 0.0));
  const Tensor k = Place(kHalf, {2, rows, 2, dim}, std::vector<double>(v.size(), 1.0));
  const Tensor values = Place(kHalf, {2, rows, 2, dim}, v);
  for (const auto& [left, right] : {std::pair<int64_t, int64_t>{64, 64}, {-1, 64}, {64, -1}}) {
    const Tensor o = Blank(kHalf, {2, rows, 8, dim});
    const std::vector<double> got =
        Call("GroupedQueryAttentionSlidingWindowFwdOp", {q, k, values}, {o},
             {{"is_causal", false}, {"window_size_left", left}, {"window_size_right", right}});
    for (size_t i = 0; i < got.size(); ++i) {
      const auto row = static_cast<int64_t>(i) / (8 * dim) % rows;
      const int64_t first = left < 0 ? 0 : std::max<int64_t>(0, row - left);
      const int64_t last = right < 0 ? rows - 1 : std::min(rows - 1, row + right);
      const double mean = static_cast<double>(first + last) / 8;
      ASSERT_NEAR(got[i], mean, mean * 0.001 + 1e-6) << left << " " << right << " row " << row;
    }
  }
}

}  // namespace
}  // namespace tilewright
