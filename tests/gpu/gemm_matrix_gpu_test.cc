// Guards matrix products at every tail, layout and configuration: results of small integers are
// compared bit for bit with a plain kernel's, with the memory around the output.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <set>
#include <string>

#include "tests/gpu/gemm_checker.h"

namespace tilewright {
namespace {

using ::testing::IsEmpty;

class GemmMatrixGpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto checker = GemmChecker::Open();
    if (absl::IsFailedPrecondition(checker.status())) GTEST_SKIP() << checker.status();
    ASSERT_TRUE(checker.ok()) << checker.status();
    checker_ = *std::move(checker);
  }

  bool Takes(const Variant& variant, const CallDesc& call, const Config& config) const {
    return checker_->builder().Takes(variant, call, config);
  }

  // Builds all points, then runs those of each case.
  using Plan = GemmPlan;
  void Run(const Plan& plan) {
    const absl::Status built = checker_->builder().Build(PointsOf(plan));
    ASSERT_TRUE(built.ok()) << built;
    int64_t unsettled = 0;
    for (const auto& [gemm, configs] : plan) {
      absl::Status status = checker_->Prepare(gemm);
      ASSERT_TRUE(status.ok()) << gemm.ToString() << " " << status;
      for (const Config& config : configs) {
        status = checker_->Check(config);
        ASSERT_TRUE(status.ok()) << gemm.ToString() << " " << config.ToJson() << " " << status;
        if (++unsettled > 3000) {
          Settle();
          unsettled = 0;
        }
      }
    }
    Settle();
    RecordProperty("checks", static_cast<int>(checker_->checks()));
  }
  void Settle() {
    auto lines = checker_->Settle();
    ASSERT_TRUE(lines.ok()) << lines.status();
    if (lines->size() > 20) lines->resize(20);
    EXPECT_THAT(*lines, IsEmpty());
  }

  std::vector<Config> Chosen(const CallDesc& call) { return checker_->builder().Defaults(call); }

  // `count` legal points of the space, drawn anew each run.
  std::vector<Config> Draw(const Variant& variant, const CallDesc& call, int count) {
    std::vector<Config> drawn;
    if (!variant.Serves(call, checker_->device()).ok()) return drawn;
    const TuningSpace space = variant.Space(call, checker_->device());
    std::uniform_int_distribution<int64_t> any(0, space.size() - 1);
    for (int tries = 0; tries < 5000 && static_cast<int>(drawn.size()) < count; ++tries) {
      Config config = space.At(any(random_));
      if (Takes(variant, call, config)) drawn.push_back(std::move(config));
    }
    return drawn;
  }

  // EveryExtent() on the defaults and three of a pool of random configurations, drawn from the
  // spaces of the first shapes that have one.
  void RunMatrix(bool trans_a, bool trans_b, int64_t pad) {
    Plan plan;
    std::map<std::string, std::vector<Config>> pools;
    size_t turn = 0;
    for (const GemmCase& gemm : EveryExtent(trans_a, trans_b, pad)) {
      const CallDesc call = gemm.Call();
      std::vector<Config> configs = Chosen(call);
      ++turn;
      for (const Variant* variant : checker_->builder().variants()) {
        std::vector<Config>& pool =
            pools[std::string(variant->name()) + (gemm.m <= 128 ? "s" : "")];
        if (pool.size() < 8) {
          for (Config& config : Draw(*variant, call, 1)) pool.push_back(std::move(config));
        }
        int taken = 0;
        for (size_t i = 0; i < pool.size() && taken < 3; ++i) {
          const Config& config = pool[(turn + i) % pool.size()];
          if (!Takes(*variant, call, config)) continue;
          configs.push_back(config);
          ++taken;
        }
      }
      plan.emplace_back(gemm, std::move(configs));
    }
    Run(plan);
  }

  std::unique_ptr<GemmChecker> checker_;
  std::mt19937_64 random_{std::random_device{}()};
};

TEST_F(GemmMatrixGpuTest, EveryExtentNn) { RunMatrix(false, false, 0); }
TEST_F(GemmMatrixGpuTest, EveryExtentNt) { RunMatrix(false, true, 0); }
TEST_F(GemmMatrixGpuTest, EveryExtentTn) { RunMatrix(true, false, 0); }
TEST_F(GemmMatrixGpuTest, EveryExtentTt) { RunMatrix(true, true, 0); }
TEST_F(GemmMatrixGpuTest, EveryExtentNnPadded) { RunMatrix(false, false, 8); }
TEST_F(GemmMatrixGpuTest, EveryExtentNtPadded) { RunMatrix(false, true, 8); }
TEST_F(GemmMatrixGpuTest, EveryExtentTnPadded) { RunMatrix(true, false, 8); }
TEST_F(GemmMatrixGpuTest, EveryExtentTtPadded) { RunMatrix(true, true, 8); }

// Every legal candidate of forty shapes that between them cover each tail; in parts, so that a run
// can be cut short. With TILEWRIGHT_GEMM_CHECK_CACHE they share kernels, which
// tilewright_gemm_prebuild compiles ahead.
constexpr int kParts = 8;
class GemmCandidatesGpuTest : public GemmMatrixGpuTest,
                              public ::testing::WithParamInterface<int> {};

TEST_P(GemmCandidatesGpuTest, EveryLegalCandidate) {
  Run(checker_->builder().EveryLegalCandidate(GetParam(), kParts));
}
INSTANTIATE_TEST_SUITE_P(Part, GemmCandidatesGpuTest, ::testing::Range(0, kParts));

// Batches, shared and column-major operands, on the defaults and six random configurations.
TEST_F(GemmMatrixGpuTest, Batches) {
  Plan plan;
  int64_t turn = 0;
  for (const auto& [m, n, k] : {std::array<int64_t, 3>{1, 136, 72},
                                {7, 65, 40},
                                {16, 200, 264},
                                {63, 127, 65},
                                {128, 128, 128},
                                {129, 257, 65},
                                {300, 72, 200}}) {
    for (int layout = 0; layout < 64; ++layout) {
      const GemmCase gemm{.batches = 2 + turn++ % 4,
                          .m = m,
                          .n = n,
                          .k = k,
                          .trans_a = (layout & 1) != 0,
                          .trans_b = (layout & 2) != 0,
                          .trans_d = (layout & 4) != 0,
                          .pad = (layout & 8) != 0 ? 0 : 8,
                          .shared_a = (layout & 16) != 0,
                          .shared_b = (layout & 32) != 0};
      const CallDesc call = gemm.Call();
      std::vector<Config> configs = Chosen(call);
      if (layout < 16 && turn % 3 == 0) {
        for (const Variant* variant : checker_->builder().variants()) {
          for (Config& config : Draw(*variant, call, 2)) configs.push_back(std::move(config));
        }
      }
      plan.emplace_back(gemm, std::move(configs));
    }
  }
  Run(plan);
}

// Float32 output, bias and activation, alone and together, in every variant and epilogue.
TEST_F(GemmMatrixGpuTest, Epilogues) {
  Plan plan;
  int64_t turn = 0;
  for (const auto& [m, n, k] : {std::array<int64_t, 3>{1, 136, 72},
                                {5, 65, 40},
                                {16, 200, 264},
                                {48, 127, 1000},
                                {129, 257, 65},
                                {300, 520, 200}}) {
    for (int option = 0; option < 16; ++option) {
      GemmCase gemm{.m = m, .n = n, .k = k, .pad = 8};
      gemm.dtype = gemm.out_dtype = turn++ % 2 == 0 ? DType::kBFloat16 : DType::kFloat16;
      if ((option & 1) != 0) gemm.out_dtype = DType::kFloat32;
      gemm.bias = (option & 2) != 0;
      gemm.activation = static_cast<GemmEpilogue::Activation>(option / 4);
      gemm.trans_d = turn % 5 == 0;
      gemm.batches = turn % 7 == 0 ? 3 : 1;
      const CallDesc call = gemm.Call();
      std::vector<Config> configs = Chosen(call);
      if (turn % 2 == 0) {
        for (const Variant* variant : checker_->builder().variants()) {
          for (Config& config : Draw(*variant, call, 1)) configs.push_back(std::move(config));
        }
      }
      plan.emplace_back(gemm, std::move(configs));
    }
  }
  Run(plan);
}

// With nothing to sum the result is zero, or the bias.
TEST_F(GemmMatrixGpuTest, NoK) {
  Plan plan;
  for (int64_t m : {1, 8, 64, 200}) {
    for (bool bias : {false, true}) {
      const GemmCase gemm{.m = m, .n = 72, .k = 0, .bias = bias};
      plan.emplace_back(gemm, Chosen(gemm.Call()));
    }
  }
  Run(plan);
}

// Captured splits of K, replayed with new inputs: within a cluster by two graphs on two streams at
// once, and through a workspace.
TEST_F(GemmMatrixGpuTest, SplitGraphReplays) {
  const GemmCase gemm{.m = 40, .n = 520, .k = 2056, .pad = 8};
  const CallDesc call = gemm.Call();
  const Variant& wgmma = *checker_->builder().variants()[1];
  if (!wgmma.Serves(call, checker_->device()).ok()) GTEST_SKIP() << "needs wgmma";
  Config split = wgmma.Default(call, checker_->device());
  Config tail = split;
  for (auto& [name, value] : split.values) value = name == "split" ? 4 : name == "tail" ? 0 : value;
  for (auto& [name, value] : tail.values) value = name == "split" || name == "tail" ? 1 : value;
  ASSERT_TRUE(Takes(wgmma, call, split)) << wgmma.Legal(call, split, checker_->device());
  ASSERT_TRUE(Takes(wgmma, call, tail)) << wgmma.Legal(call, tail, checker_->device());
  ASSERT_TRUE(checker_->Prepare(gemm).ok());
  Driver& driver = checker_->driver();
  const CudaStream stream = checker_->stream();
  const CudaStream other = driver.CreateStream().value();
  ASSERT_TRUE(checker_->Check(split).ok());
  ASSERT_TRUE(checker_->Check(tail).ok());
  const CudaGraphExec first = checker_->Capture(split, stream).value();
  const CudaGraphExec second = checker_->Capture(split, other).value();
  const CudaGraphExec third = checker_->Capture(tail, stream).value();
  for (uint32_t round = 0; round < 100; ++round) {
    ASSERT_TRUE(checker_->Prepare(gemm, round + 2).ok());
    ASSERT_TRUE(driver.SynchronizeStream(stream).ok());
    ASSERT_TRUE(driver.LaunchGraph(first, stream).ok());
    ASSERT_TRUE(driver.LaunchGraph(second, other).ok());  // the same values to the same place
    ASSERT_TRUE(driver.SynchronizeStream(other).ok());
    ASSERT_TRUE(checker_->Compare("split, round " + std::to_string(round)).ok());
    ASSERT_TRUE(checker_->Prepare(gemm, round + 200).ok());
    ASSERT_TRUE(driver.LaunchGraph(third, stream).ok());
    ASSERT_TRUE(checker_->Compare("tail, round " + std::to_string(round)).ok());
  }
  Settle();
  for (const CudaGraphExec exec : {first, second, third}) {
    EXPECT_TRUE(driver.DestroyGraphExec(exec).ok());
  }
  EXPECT_TRUE(driver.DestroyStream(other).ok());
}

}  // namespace
}  // namespace tilewright
