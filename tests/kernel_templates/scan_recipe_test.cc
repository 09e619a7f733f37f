// Guards the scan recipe: which variant serves what, that a tile or chunks cover the axis,
// workspace, and that lengths share kernels.
#include "kernel_templates/scan/scan_recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "kernel_templates/scan/params.cuh"
#include "tests/kernel_templates/bound_launch.h"
#include "tests/kernel_templates/memory_bound_cases.h"

namespace tilewright {
namespace {

constexpr DType kHalf = DType::kBFloat16;

CallDesc Scan(DType dtype, const Dims& shape, int64_t axis) {
  const TensorDesc x = TensorDesc::Contiguous(dtype, shape);
  return CallOf({x, x}, {axis});
}

TEST(ScanRecipe, ChoosesTheVariantByLayout) {
  const auto recipe = MakeBuiltinRecipe("CumsumFwdOp");
  const auto chosen = [&](const CallDesc& call) {
    return std::string((*SelectVariant(*recipe, call, H200()))->name());
  };
  EXPECT_EQ(chosen(Scan(kHalf, {6, 128}, 1)), "rows");
  EXPECT_EQ(chosen(Scan(kHalf, {6, 128, 1}, 1)), "rows");
  EXPECT_EQ(chosen(Scan(kHalf, {}, 0)), "rows");
  EXPECT_EQ(chosen(Scan(kHalf, {6, 128, 8}, 1)), "columns");
  EXPECT_EQ(chosen(Scan(kHalf, {6, 128}, 0)), "columns");
  const TensorDesc gapped{kHalf, {6, 128}, {256, 2}};
  EXPECT_EQ(chosen(CallOf({gapped, gapped}, {1})), "portable");
}

TEST(ScanRecipe, CutsAnAxisIntoWholeTiles) {
  for (int64_t length : {1, 255, 256, 257, 100000, 1 << 24}) {
    for (int64_t wanted : {0, 1, 7, 528, 5000}) {
      const ScanChunks cut = CutScan(length, 256, wanted, 1024);
      EXPECT_EQ(cut.chunk % 256, 0);
      EXPECT_GE(cut.chunk * cut.chunks, length);
      EXPECT_LT(cut.chunk * (cut.chunks - 1), length);
      EXPECT_LE(cut.chunks, std::max<int64_t>(1, std::min<int64_t>(wanted, 1024)));
    }
  }
}

// Guards: what a config is legal for, its kernel computes: one tile holds the axis, or it loops.
TEST(ScanRecipe, LegalConfigsCoverTheAxis) {
  const auto recipe = MakeBuiltinRecipe("CumprodFwdOp");
  int legal = 0;
  for (int64_t length : {46, 4096, 32768, 131072}) {
    const CallDesc call = Scan(kHalf, {40, length}, 1);
    const Variant* rows = recipe->variants()[0];
    const TuningSpace space = rows->Space(call, H200());
    for (int64_t i = 0; i < space.size(); ++i) {
      const Config config = space.At(i);
      if (!rows->Legal(call, config, H200()).ok()) continue;
      ++legal;
      int64_t tile = 32;
      bool loop = false;
      const std::vector<KernelSpec> kernels = rows->Kernels(call, config);
      for (const auto& [name, value] : kernels[0].constants) {
        if (name == "int kWarps" || name == "int kPackets" || name == "int kVector" ||
            name == "int kCluster") {
          tile *= std::stoll(value);
        }
        if (name == "bool kLoop") loop = value == "true";
      }
      EXPECT_TRUE(loop || tile >= length) << config.ToJson();
      const auto bound = rows->Bind(call, config, H200());
      ASSERT_TRUE(bound.ok()) << bound.status();
      EXPECT_LE(bound->launches[0].block[0], 1024u);
      EXPECT_EQ(bound->launches.size(), bound->workspace_bytes > 0 ? 2u : 1u);
    }
  }
  EXPECT_GT(legal, 100);
}

TEST(ScanRecipe, DefaultsAreLegalOnEveryDevice) {
  for (const DeviceProfile& device : BuiltinDeviceProfiles()) {
    for (std::string_view op : {"CumsumFwdOp", "CumprodFwdOp"}) {
      const auto recipe = MakeBuiltinRecipe(op);
      for (DType dtype : {kHalf, DType::kFloat32}) {
        for (int64_t lines : {1, 3, 33, 300, 5000, 100000}) {
          for (int64_t length : {1, 2, 8, 255, 4096, 40000, 131072, 1000000}) {
            for (int64_t axis : {0, 1}) {
              const CallDesc call =
                  Scan(dtype, axis == 1 ? Dims{lines, length} : Dims{length, lines}, axis);
              const auto variant = SelectVariant(*recipe, call, device);
              ASSERT_TRUE(variant.ok()) << variant.status();
              const Config config = (*variant)->Default(call, device);
              EXPECT_EQ((*variant)->Legal(call, config, device), absl::OkStatus())
                  << device.name << " " << lines << "x" << length << " " << config.ToJson();
              EXPECT_TRUE((*variant)->Bind(call, config, device).ok());
            }
          }
        }
      }
    }
  }
}

// Guards: every column of every chunk has its thread, in whole blocks, whatever the configuration.
TEST(ScanRecipe, BlocksCoverTheColumns) {
  const auto recipe = MakeBuiltinRecipe("CumsumFwdOp");
  const Variant* columns = FindVariant(*recipe, "columns");
  for (const auto& [outer, inner] : {std::pair<int64_t, int64_t>{1, 40}, {3, 1000}, {2, 4099}}) {
    const CallDesc call = Scan(kHalf, {outer, 8192, inner}, 1);
    const TuningSpace space = columns->Space(call, H200());
    for (int64_t i = 0; i < space.size(); ++i) {
      const Config config = space.At(i);
      if (!columns->Legal(call, config, H200()).ok()) continue;
      const auto bound = columns->Bind(call, config, H200());
      ASSERT_TRUE(bound.ok()) << bound.status();
      const Launch& launch = bound->launches.back();
      const auto p = ParamsOf<ColumnScanParams>(launch);
      const int64_t width = 32 * config.Get("vector");
      EXPECT_EQ(p.inner * config.Get("vector"), inner) << config.ToJson();
      EXPECT_EQ(p.inner_blocks, (inner + width - 1) / width) << config.ToJson();
      EXPECT_EQ(launch.grid[0], outer * p.inner_blocks * p.chunks) << config.ToJson();
      EXPECT_GE(p.chunk * p.chunks, p.length) << config.ToJson();
    }
  }
}

// Guards: more columns than a grid counts are another variant's.
TEST(ScanRecipe, ColumnsBeyondTheGrid) {
  const auto recipe = MakeBuiltinRecipe("CumsumFwdOp");
  const Variant* columns = FindVariant(*recipe, "columns");
  EXPECT_EQ(columns->Serves(Scan(kHalf, {2, int64_t{1} << 35}, 0), H200()), absl::OkStatus());
  EXPECT_EQ(columns->Serves(Scan(kHalf, {2, int64_t{1} << 37}, 0), H200()).code(),
            absl::StatusCode::kFailedPrecondition);
}

// Guards: a lone long row is cut over the device, with a total for each chunk but the last.
TEST(ScanRecipe, LongRowsAreCut) {
  const auto recipe = MakeBuiltinRecipe("CumsumFwdOp");
  const CallDesc call = Scan(kHalf, {2, 1 << 22}, 1);
  const Variant* rows = recipe->variants()[0];
  const auto bound = rows->Bind(call, rows->Default(call, H200()), H200());
  ASSERT_TRUE(bound.ok()) << bound.status();
  ASSERT_EQ(bound->launches.size(), 2u);
  const auto p = ParamsOf<RowScanParams>(bound->launches[1]);
  EXPECT_GT(p.chunks, 100u);
  EXPECT_EQ(bound->workspace_bytes, 2 * (p.chunks - 1) * 4);
  EXPECT_EQ(bound->launches[0].kernel, 1);
  EXPECT_EQ(bound->launches[0].grid[0], 2 * (p.chunks - 1));
  EXPECT_EQ(bound->launches[1].grid[0], 2 * p.chunks);
}

TEST(ScanRecipe, FiveThousandLengthsShareKernels) {
  const auto recipe = MakeBuiltinRecipe("CumsumFwdOp");
  std::set<std::string> sources;
  for (int64_t i = 1; i <= 5000; ++i) {
    const int64_t length = i <= 2500 ? i : (i - 2500) * 100;
    for (const std::string& source :
         DefaultSources(*recipe, Scan(kHalf, {2048, length}, 1), H200())) {
      sources.insert(source);
    }
  }
  EXPECT_LE(sources.size(), 24u);
}

TEST(ScanRecipe, NothingToScanLaunchesNothing) {
  const auto recipe = MakeBuiltinRecipe("CumsumFwdOp");
  for (const CallDesc& call : {Scan(kHalf, {0, 64}, 1), Scan(kHalf, {64, 0}, 1),
                               Scan(kHalf, {0, 64}, 0), Scan(kHalf, {64, 0, 8}, 1)}) {
    for (const Variant* variant : recipe->variants()) {
      if (!variant->Serves(call, H200()).ok()) continue;
      const auto bound = variant->Bind(call, variant->Default(call, H200()), H200());
      ASSERT_TRUE(bound.ok()) << bound.status();
      EXPECT_TRUE(bound->launches.empty());
    }
  }
}

}  // namespace
}  // namespace tilewright
