// Guards the dense matrix product's recipe: which variant serves what, keys, legality, geometry and
// how few kernels a range of m needs. Host only.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <set>
#include <tuple>
#include <vector>

#include "kernel_templates/gemm/params.cuh"
#include "kernel_templates/gemm/problem.h"
#include "kernel_templates/gemm/wgmma_config.h"
#include "kernel_templates/recipe.h"

namespace tilewright {
namespace {

DeviceProfile H200() {
  DeviceProfile device;
  device.name = "NVIDIA H200";
  device.arch = "sm_90a";
  device.compute_major = 9;
  device.sm_count = 132;
  device.smem_per_block_bytes = 232448;
  device.bandwidth_gbps = 4280;
  device.tensor_tflops_16bit = 800;
  return device;
}

struct Shape {
  int64_t m, n, k;
  bool trans_a = false;
  bool trans_b = true;
};

// a [b, m, k] and b [b, k, n] as BmmFwdOp takes them.
CallDesc BatchCall(int64_t b, int64_t m, int64_t n, int64_t k) {
  CallDesc call;
  for (const Dims& shape : {Dims{b, m, k}, Dims{b, k, n}, Dims{b, m, n}}) {
    call.operands.push_back({TensorDesc::Contiguous(DType::kBFloat16, shape), 256, true});
  }
  return call;
}

CallDesc Call(const Shape& s, DType dtype = DType::kBFloat16) {
  CallDesc call;
  const auto add = [&](int64_t rows, int64_t cols) {
    call.operands.push_back({TensorDesc::Contiguous(dtype, Dims{rows, cols}), 256, true});
  };
  s.trans_a ? add(s.k, s.m) : add(s.m, s.k);
  s.trans_b ? add(s.n, s.k) : add(s.k, s.n);
  add(s.m, s.n);
  call.params.push_back(ParamValue(s.trans_a));
  call.params.push_back(ParamValue(s.trans_b));
  return call;
}

class GemmRecipeTest : public testing::Test {
 protected:
  std::string Served(const CallDesc& call) const {
    const auto variant = SelectVariant(*recipe_, call, device_);
    return variant.ok() ? std::string((*variant)->name()) : variant.status().ToString();
  }
  const Variant& Get(std::string_view name) const { return *FindVariant(*recipe_, name); }

  const std::unique_ptr<Recipe> recipe_ = MakeBuiltinRecipe("GemmFwdOp");
  const DeviceProfile device_ = H200();
};

// Guards the portable variants' grids: as many blocks as tiles of the output, and no more.
TEST_F(GemmRecipeTest, BlocksCoverTheOutput) {
  const CallDesc row = Call({5, 4099, 512});
  const Config gemv = Get("gemv").Default(row, device_);
  const int64_t rows = gemv.Get("warps") / gemv.Get("split") * gemv.Get("row_tiles") * 16;
  const Launch of_row = Get("gemv").Bind(row, gemv, device_)->launches[0];
  EXPECT_EQ(of_row.grid[0], (4099 + rows - 1) / rows);
  const CallDesc odd = Call({130, 257, 65});
  const Config mma = Get("mma").Default(odd, device_);
  const int64_t tile_m = mma.Get("tile_m"), tile_n = mma.Get("tile_n");
  const Launch of_odd = Get("mma").Bind(odd, mma, device_)->launches[0];
  EXPECT_EQ(of_odd.grid[0], (130 + tile_m - 1) / tile_m * ((257 + tile_n - 1) / tile_n));
}

// Small m, aligned and everything else go where they belong, on Hopper and elsewhere.
TEST_F(GemmRecipeTest, EachProblemGoesToItsVariant) {
  EXPECT_EQ(Served(Call({1, 1024, 4096})), "gemv");
  EXPECT_EQ(Served(Call({1, 4096, 4096})), "wgmma");  // enough weights to stream by TMA
  EXPECT_EQ(Served(Call({2, 4097, 4096})), "gemv");   // whose output TMA cannot write
  EXPECT_EQ(Served(Call({16, 4096, 4096})), "wgmma");
  EXPECT_EQ(Served(Call({4096, 4096, 4096, true, false})), "wgmma");
  EXPECT_EQ(Served(Call({4096, 4096, 4095})), "mma");  // rows of 4095 elements: not 16 bytes apart
  EXPECT_EQ(Served(Call({4096, 4097, 4096})), "mma");  // nor rows of the output
  EXPECT_EQ(Served(Call({64, 64, 0})), "mma");
  CallDesc shifted = Call({256, 256, 256});
  shifted.operands[1].alignment = 8;
  EXPECT_EQ(Served(shifted), "mma");
  CallDesc strided = Call({256, 256, 256});
  strided.operands[0].desc.strides = Dims{512, 2};
  EXPECT_EQ(Served(strided), "mma");
  DeviceProfile ampere = H200();
  ampere.arch = "sm_80";
  ampere.compute_major = 8;
  const auto variant = SelectVariant(*recipe_, Call({4096, 4096, 4096}), ampere);
  ASSERT_TRUE(variant.ok());
  EXPECT_EQ((*variant)->name(), "mma");
}

// A padded leading stride is still wgmma's; an output that nobody can have is nobody's launch.
TEST_F(GemmRecipeTest, LeadingStridesAndEmptyOutputs) {
  CallDesc padded = Call({256, 250, 100});
  padded.operands[0].desc.strides = Dims{104, 1};
  padded.operands[1].desc.strides = Dims{136, 1};
  padded.operands[2].desc.strides = Dims{256, 1};
  EXPECT_EQ(Served(padded), "wgmma");
  for (const Variant* variant : recipe_->variants()) {
    const CallDesc empty = Call({0, 256, 64});
    if (!variant->Serves(empty, device_).ok()) continue;
    const auto bound = variant->Bind(empty, variant->Default(empty, device_), device_);
    ASSERT_TRUE(bound.ok()) << bound.status();
    EXPECT_TRUE(bound->launches.empty()) << variant->name();
  }
}

// Batches and layouts by strides: which operand is contiguous along what, and what can be folded.
TEST(ReadBmmTest, LayoutsByStrides) {
  GemmProblem problem = ReadBmm(BatchCall(3, 64, 72, 40));
  EXPECT_EQ(problem.batches, 3);
  EXPECT_EQ(problem.AccessA(), OperandAccess::kKMajor);
  EXPECT_EQ(problem.AccessB(), OperandAccess::kMnMajor);
  EXPECT_TRUE(problem.OutputPieces());
  CallDesc call = BatchCall(3, 64, 72, 40);
  call.operands[1].desc.strides = Dims{int64_t{40} * 72, 1, 40};
  EXPECT_EQ(ReadBmm(call).AccessB(), OperandAccess::kKMajor);
  // A column-major output is the product of the transposes.
  call.operands[2].desc.strides = Dims{int64_t{64} * 72, 1, 64};
  problem = ReadBmm(call);
  EXPECT_EQ(problem.m, 72);
  EXPECT_EQ(problem.n, 64);
  EXPECT_EQ(problem.a.operand, 1);
  EXPECT_EQ(problem.b.operand, 0);
  EXPECT_TRUE(problem.OutputPieces());
  // Heads interleaved with rows: batches closer together than rows.
  call = BatchCall(4, 64, 72, 40);
  call.operands[0].desc.strides = Dims{40, 160, 1};
  problem = ReadBmm(call);
  EXPECT_EQ(problem.AccessA(), OperandAccess::kKMajor);
  EXPECT_EQ(problem.a.batch_stride, 40);
  // Of batches that the copy engine cannot tell apart, none are pieces.
  call.operands[0].desc.strides = Dims{64 * 40 + 4, 40, 1};
  EXPECT_EQ(ReadBmm(call).AccessA(), OperandAccess::kKStrided);
  call.operands[0].desc.strides = Dims{int64_t{-64} * 40, 40, 1};
  EXPECT_EQ(ReadBmm(call).AccessA(), OperandAccess::kKStrided);
}

// One b for every batch: a product of all rows, if those follow one another.
TEST(ReadBmmTest, SharedOperands) {
  CallDesc call = BatchCall(5, 64, 72, 40);
  call.operands[1].desc.strides = Dims{0, 72, 1};
  GemmProblem problem = ReadBmm(call);
  EXPECT_EQ(problem.batches, 1);
  EXPECT_EQ(problem.m, 320);
  call.operands[0].desc.strides = Dims{int64_t{64} * 48, 40, 1};
  problem = ReadBmm(call);
  EXPECT_EQ(problem.batches, 5);
  const DeviceProfile device = H200();
  const std::unique_ptr<Recipe> recipe = MakeBuiltinRecipe("BmmFwdOp");
  const Variant& wgmma = *FindVariant(*recipe, "wgmma");
  const auto bound = wgmma.Bind(call, wgmma.Default(call, device), device);
  ASSERT_TRUE(bound.ok()) << bound.status();
  const Launch& launch = bound->launches[0];
  WgmmaGemmParams params;
  std::memcpy(&params, launch.params.data(), sizeof(params));
  for (const TensorMapSlot& map : launch.tensor_maps) {
    EXPECT_EQ(map.dims[2], map.operand == 1 ? 1u : 5u);
  }
  EXPECT_EQ(params.rows_batch_step + params.cols_batch_step, 1);
}

// Batches are tiles like any other; every variant that serves binds its default.
TEST(ReadBmmTest, BatchesAreTiles) {
  const DeviceProfile device = H200();
  const std::unique_ptr<Recipe> recipe = MakeBuiltinRecipe("BmmFwdOp");
  for (const auto& [b, m, n, k] :
       {std::array<int64_t, 4>{64, 128, 2048, 128}, {128, 512, 512, 2048}, {70001, 8, 8, 16}}) {
    const CallDesc call = BatchCall(b, m, n, k);
    for (const Variant* variant : recipe->variants()) {
      if (!variant->Serves(call, device).ok()) continue;
      const Config config = variant->Default(call, device);
      ASSERT_TRUE(variant->Legal(call, config, device).ok()) << config.ToJson();
      const auto bound = variant->Bind(call, config, device);
      ASSERT_TRUE(bound.ok()) << bound.status();
      if (variant->name() != "wgmma") continue;
      WgmmaGemmParams params;
      std::memcpy(&params, bound->launches[0].params.data(), sizeof(params));
      EXPECT_EQ(params.walk.tiles % b, 0);
      EXPECT_GE(params.walk.tiles, b);
      EXPECT_EQ(bound->launches[0].tensor_maps[0].dims[2], static_cast<uint64_t>(b));
    }
  }
}

// Equal fields must mean equal defaults and kernels: that is what lets a bucket share a winner.
TEST_F(GemmRecipeTest, DefaultsFollowTheFields) {
  for (int64_t m : {3, 17, 70, 97, 129, 700, 3000, 5000}) {
    const Shape low{m, 2112, 7168};
    const Shape high{BucketM(m), 2112, 7168};
    ASSERT_EQ(recipe_->Describe(Call(low)), recipe_->Describe(Call(high)));
    for (const Variant* variant : recipe_->variants()) {
      if (!variant->Serves(Call(low), device_).ok()) continue;
      EXPECT_EQ(variant->Default(Call(low), device_), variant->Default(Call(high), device_))
          << variant->name() << " m=" << m;
    }
  }
}

TEST(BucketMTest, BoundsAreTightAndMonotone) {
  int64_t previous = 0;
  for (int64_t m = 1; m <= 20000; ++m) {
    const int64_t bucket = BucketM(m);
    ASSERT_GE(bucket, m);
    ASSERT_GE(bucket, previous);
    if (m > 16) {
      ASSERT_LE(bucket, m + m / 2 + 1);
    }
    ASSERT_EQ(BucketM(bucket), bucket);
    previous = bucket;
  }
}

// A thousand values of m must not mean a thousand kernels.
TEST_F(GemmRecipeTest, FewKernelsServeEveryM) {
  for (const auto& [n, k] : {std::pair<int64_t, int64_t>{4096, 7168},
                             {7168, 2048},
                             {2112, 7168},
                             {7168, 16384},
                             {24576, 1536},
                             {1024, 1024},
                             {128, 128}}) {
    for (bool trans_b : {true, false}) {
      std::set<std::string> kernels;
      for (int64_t i = 0; i < 1000; ++i) {
        const int64_t m = i < 500 ? i + 1 : 500 + (i - 499) * 16;
        const CallDesc call = Call({m, n, k, false, trans_b});
        const auto variant = SelectVariant(*recipe_, call, device_);
        ASSERT_TRUE(variant.ok()) << variant.status();
        for (const auto& spec : (*variant)->Kernels(call, (*variant)->Default(call, device_))) {
          kernels.insert(spec.Instantiation());
        }
      }
      EXPECT_LE(kernels.size(), 12u) << "n=" << n << " k=" << k << " trans_b=" << trans_b;
    }
  }
}

// Parts of K fill the SMs where tiles of few tokens leave most of them idle; half of them do
// without.
TEST_F(GemmRecipeTest, FewRowsSplitKWhereTilesAreFew) {
  struct Expected {
    int64_t m, n, k, tokens, split;
  };
  for (const auto& [m, n, k, tokens, split] :
       {Expected{8, 4096, 7168, 8, 1}, Expected{16, 4096, 7168, 32, 1},
        Expected{64, 4096, 7168, 64, 1}, Expected{96, 4096, 7168, 96, 2},
        Expected{32, 2112, 7168, 32, 3}, Expected{64, 2112, 7168, 96, 3},
        Expected{96, 2112, 7168, 96, 3}, Expected{128, 2112, 7168, 128, 3},
        Expected{64, 7168, 16384, 64, 1}, Expected{64, 7168, 2048, 64, 1}}) {
    const CallDesc call = Call({m, n, k});
    const Config config = FindVariant(*recipe_, "wgmma")->Default(call, device_);
    EXPECT_EQ(config.Get("tile_cols", 0), tokens) << m << "x" << n << "x" << k;
    EXPECT_EQ(config.Get("split", 0), split) << m << "x" << n << "x" << k;
  }
}

// The default is always legal where the variant serves, so an untuned call always runs.
TEST_F(GemmRecipeTest, DefaultsAreLegal) {
  for (int64_t m : {1, 7, 8, 16, 40, 63, 129, 513, 4096}) {
    for (int64_t n : {1, 8, 24, 129, 1000, 4096, 7168}) {
      for (int64_t k : {1, 8, 64, 1000, 16384}) {
        for (int layout = 0; layout < 4; ++layout) {
          const CallDesc call = Call({m, n, k, (layout & 1) != 0, (layout & 2) != 0});
          for (const Variant* variant : recipe_->variants()) {
            if (!variant->Serves(call, device_).ok()) continue;
            const Config config = variant->Default(call, device_);
            EXPECT_TRUE(variant->Legal(call, config, device_).ok())
                << variant->name() << config.ToJson() << variant->Legal(call, config, device_);
            EXPECT_GT(variant->PredictUs(call, config, device_), 0);
          }
        }
      }
    }
  }
}

// Every legal point binds to a geometry the device takes: shared memory, threads, cluster, boxes.
TEST_F(GemmRecipeTest, LegalPointsFitTheDevice) {
  for (const Shape& shape : {Shape{4, 4096, 4096}, Shape{96, 2112, 7168}, Shape{4096, 2112, 7168},
                             Shape{300, 520, 200, true, false}}) {
    const CallDesc call = Call(shape);
    for (const Variant* variant : recipe_->variants()) {
      if (!variant->Serves(call, device_).ok()) continue;
      const TuningSpace space = variant->Space(call, device_);
      int64_t legal = 0;
      for (int64_t i = 0; i < space.size(); ++i) {
        const Config config = space.At(i);
        if (!variant->Legal(call, config, device_).ok()) continue;
        ++legal;
        const auto bound = variant->Bind(call, config, device_);
        ASSERT_TRUE(bound.ok()) << bound.status();
        const Launch& launch = bound->launches[0];
        EXPECT_LE(launch.dynamic_smem_bytes, 232448u) << config.ToJson();
        EXPECT_LE(launch.block[0], 1024u);
        EXPECT_LE(launch.cluster[0], 8u);
        EXPECT_EQ(launch.grid[0] % launch.cluster[0], 0u) << config.ToJson();
        for (const TensorMapSlot& map : launch.tensor_maps) {
          EXPECT_EQ(map.box[0] * 2, 128u);
          EXPECT_LE(map.box[1], 256u);
          EXPECT_EQ(map.strides_bytes[0] % 16, 0u);
          EXPECT_EQ(map.strides_bytes[1] % 16, 0u);
        }
      }
      EXPECT_GT(legal, 0) << variant->name();
    }
  }
}

// Weights that one row of tiles reads once need not stay in L2; those that several read do. A
// product of one batch has no batch stride to tell it by.
TEST_F(GemmRecipeTest, OnlyWhatIsReadOnceIsStreamed) {
  const auto params = [&](const Recipe& recipe, const CallDesc& call) {
    const Variant& wgmma = *FindVariant(recipe, "wgmma");
    const auto bound = wgmma.Bind(call, wgmma.Default(call, device_), device_);
    WgmmaGemmParams params{};
    if (bound.ok()) {
      std::memcpy(&params, bound->launches[0].params.data(), sizeof(params));
    } else {
      ADD_FAILURE() << bound.status();
    }
    return params;
  };
  const WgmmaGemmParams few = params(*recipe_, Call({16, 4096, 7168}));
  EXPECT_TRUE(few.stream_rows);
  EXPECT_FALSE(few.stream_cols);
  const WgmmaGemmParams many = params(*recipe_, Call({4096, 4096, 7168}));
  EXPECT_FALSE(many.stream_rows);
  EXPECT_FALSE(many.stream_cols);
  CallDesc shared = BatchCall(64, 16, 4096, 7168);
  shared.operands[0].desc.strides = Dims{0, 7168, 1};
  const std::unique_ptr<Recipe> bmm = MakeBuiltinRecipe("BmmFwdOp");
  const WgmmaGemmParams batches = params(*bmm, shared);
  EXPECT_EQ(batches.rows_batch_step + batches.cols_batch_step, 1);
  EXPECT_FALSE(batches.stream_rows && batches.rows_batch_step == 0);
  EXPECT_FALSE(batches.stream_cols && batches.cols_batch_step == 0);
}

// The tuner can find what an untuned call gets.
TEST_F(GemmRecipeTest, DefaultsLieInTheirSpaces) {
  for (int64_t m : {1, 2, 4, 8, 16, 24, 48, 64, 96, 128, 192, 512, 4096}) {
    for (bool trans_a : {false, true}) {
      const CallDesc call = Call({m, 7168, 2048, trans_a, true});
      for (const Variant* variant : recipe_->variants()) {
        if (!variant->Serves(call, device_).ok()) continue;
        const Config config = variant->Default(call, device_);
        const TuningSpace space = variant->Space(call, device_);
        ASSERT_EQ(config.values.size(), space.axes.size());
        for (size_t i = 0; i < space.axes.size(); ++i) {
          EXPECT_EQ(config.values[i].first, space.axes[i].name);
          EXPECT_THAT(space.axes[i].values, testing::Contains(config.values[i].second))
              << variant->name() << " m=" << m << " " << config.ToJson();
        }
      }
    }
  }
}

// Every output tile belongs to exactly one step of the walk, in groups of row tiles.
TEST(TileWalkTest, VisitsEveryTileOnce) {
  for (int64_t rows : {1, 3, 16, 33}) {
    for (int64_t cols : {1, 12, 17}) {
      for (int64_t batches : {1, 3}) {
        for (int64_t group : {1, 4, 8, 16}) {
          const TileWalk walk = MakeTileWalk(rows, cols, batches, group);
          ASSERT_EQ(walk.tiles, rows * cols * batches);
          std::set<std::tuple<int, int, int>> seen;
          for (int i = 0; i < walk.tiles; ++i) {
            const TileCoord tile = walk.At(i);
            ASSERT_LT(tile.row, rows);
            ASSERT_LT(tile.col, cols);
            ASSERT_LT(tile.batch, batches);
            if (i < rows * cols) {
              ASSERT_EQ(tile.batch, 0);
            }
            if (i < std::min(rows, group) * cols) {
              ASSERT_LT(tile.row, group);
            }
            seen.emplace(tile.batch, tile.row, tile.col);
          }
          EXPECT_EQ(seen.size(), static_cast<size_t>(walk.tiles)) << rows << "x" << cols;
        }
      }
    }
  }
}

// 2112 columns are 12 tiles of 176: 264 tiles of 192 rows, two full waves of 132 SMs.
TEST_F(GemmRecipeTest, TilesFillTheLastWave) {
  const CallDesc call = Call({4096, 2112, 7168});
  const auto bound = Get("wgmma").Bind(call, Get("wgmma").Default(call, device_), device_);
  ASSERT_TRUE(bound.ok());
  WgmmaGemmParams params;
  ASSERT_EQ(bound->launches[0].params.size(), sizeof(params));
  std::memcpy(&params, bound->launches[0].params.data(), sizeof(params));
  EXPECT_EQ(params.walk.tiles, 264);
  EXPECT_EQ(bound->launches[0].grid[0], 132u);
}

// 1600 columns of 4096 rows are two waves of 208 columns; 2112 fit a usual size best.
TEST_F(GemmRecipeTest, SpaceOffersBalancedColumns) {
  const auto columns = [&](int64_t n) {
    const TuningSpace space = Get("wgmma").Space(Call({4096, n, 2048}), device_);
    for (const auto& axis : space.axes) {
      if (axis.name == "tile_cols") return axis.values;
    }
    return std::vector<int64_t>();
  };
  EXPECT_THAT(columns(1600), testing::Contains(208));
  EXPECT_THAT(columns(2112), testing::ElementsAre(64, 128, 160, 176, 192, 256));
}

// What a config that cannot run says.
TEST_F(GemmRecipeTest, IllegalPointsSayWhy) {
  const CallDesc call = Call({4096, 4096, 4096});
  Config config = Get("wgmma").Default(call, device_);
  for (auto& [name, value] : config.values) {
    if (name == "stages") value = 16;
  }
  const absl::Status status = Get("wgmma").Legal(call, config, device_);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("bytes of shared memory, has 232448"), std::string::npos)
      << status;
}

// A tile that holds 200 tokens serves those, not the rest of their bucket.
TEST_F(GemmRecipeTest, TilesOfFewTokensServeNoMore) {
  Config config = Get("wgmma").Default(Call({128, 2112, 7168}), device_);
  for (auto& [name, value] : config.values) {
    if (name == "tile_cols") value = 200;
    if (name == "stages") value = 6;
  }
  EXPECT_TRUE(Get("wgmma").Legal(Call({200, 2112, 7168}), config, device_).ok());
  const absl::Status status = Get("wgmma").Legal(Call({250, 2112, 7168}), config, device_);
  EXPECT_EQ(status.message(), "tile_cols = 200 of 250 tokens");
}

// Swapped operands: the weights' map comes first, the output's box spans the tokens.
TEST_F(GemmRecipeTest, SmallMSwapsOperands) {
  const CallDesc call = Call({16, 4096, 7168});
  const auto bound = Get("wgmma").Bind(call, Get("wgmma").Default(call, device_), device_);
  ASSERT_TRUE(bound.ok());
  const Launch& launch = bound->launches[0];
  EXPECT_EQ(launch.tensor_maps[0].operand, 1);
  EXPECT_EQ(launch.tensor_maps[0].dims[1], 4096u);
  EXPECT_EQ(launch.tensor_maps[1].operand, 0);
  EXPECT_EQ(launch.tensor_maps[1].dims[1], 16u);
  EXPECT_EQ(launch.tensor_maps[2].dims[0], 4096u);
  EXPECT_EQ(launch.tensor_maps[2].box[1], 32u);
  WgmmaGemmParams params;
  ASSERT_EQ(launch.params.size(), sizeof(params));
  std::memcpy(&params, launch.params.data(), sizeof(params));
  EXPECT_EQ(params.rows, 4096);
  EXPECT_EQ(params.cols, 16);
  EXPECT_EQ(params.k_tiles, 112);
}

// A GPU of few SMs may not hold one wide cluster.
TEST_F(GemmRecipeTest, SplitsArePredictedOnASmallGpu) {
  DeviceProfile device = device_;
  device.sm_count = 16;
  const CallDesc call = Call({16, 4096, 7168});
  for (const int64_t split : {4, 5, 8}) {
    Config config = Get("wgmma").Default(call, device);
    for (auto& [name, value] : config.values) value = name == "split" ? split : value;
    const double us = Get("wgmma").PredictUs(call, config, device);
    EXPECT_GT(us, 0) << split;
    EXPECT_TRUE(std::isfinite(us)) << split;
  }
}

// A split's sums have room of their own where it is to be had.
TEST(WgmmaConfigTest, SumsLieBesideTheStagesWhereTheyFit) {
  WgmmaConfig c{.tile_rows = 64, .tile_cols = 32, .stages = 10, .math_groups = 1, .swap = true};
  EXPECT_FALSE(c.own_slots());
  // The stages, two barriers each and one more, and what aligns them.
  const int64_t whole = c.stages * c.StageBytes() + int64_t{8} * 21 + 127;
  c.split = 2;
  EXPECT_TRUE(c.own_slots());
  EXPECT_EQ(c.SlotBytes(), 64 * 32 * 4);
  EXPECT_EQ(c.SmemBytes(), whole / 128 * 128 + c.SlotBytes());
  c.tile_cols = 128, c.stages = 8, c.split = 3;  // 18 slots for 16 shares
  EXPECT_EQ(c.SlotBytes(), 18 * 64 * 8 * 4);
  EXPECT_FALSE(c.own_slots());
  EXPECT_LE(c.SmemBytes(), 232448);
}

}  // namespace
}  // namespace tilewright
