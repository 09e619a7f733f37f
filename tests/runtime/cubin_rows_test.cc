// Rows of a cache whose bytes are not the cubin that they name: none is loaded.
#include <gtest/gtest.h>

#include "cache/cache.h"
#include "tests/cache/test_cubin.h"
#include "tests/runtime/runtime_fixture.h"

namespace tilewright {
namespace {

using CubinRowsTest = RuntimeFixture;

// Guards: bytes that have a cubin's header and no kernel, and a cubin of another digest, are built
// anew and replaced; an intact row is used as it is.
TEST_F(CubinRowsTest, WhatIsNotItsCubinIsBuiltAnew) {
  Open();
  MakeCurrent();
  ASSERT_TRUE(Scale(8).ok());
  const std::string key = ExplainScale(8).kernels[0].key;
  const KernelRow intact = runtime_->cache().FindKernel(key).value();
  std::vector<std::pair<KernelRow, int64_t>> rows = {{intact, 0}, {intact, 1}, {intact, 1}};
  rows[1].first.cubin = TestCubin();
  rows[2].first.cubin_digest = "of other code";
  for (const auto& [row, compiles] : rows) {
    Open();
    MakeCurrent();
    ASSERT_TRUE(runtime_->cache().PutKernel(row).ok());
    ASSERT_TRUE(Scale(8).ok());
    EXPECT_EQ(runtime_->Counters().compiles, compiles) << row.cubin_digest;
    EXPECT_TRUE(runtime_->cache().FindKernel(key)->cubin == intact.cubin);
    EXPECT_EQ(runtime_->cache().FindKernel(key)->cubin_digest, intact.cubin_digest);
  }
}

}  // namespace
}  // namespace tilewright
