#include "bench/peers/peers.h"

#include <gtest/gtest.h>

#include "manifest/op_spec.h"

namespace tilewright {
namespace {

// Guards: every operator of the manifest is measured beside another library, and no other name is
// taken for one.
TEST(BenchPeers, EveryOperatorHasOne) {
  const std::vector<std::string_view>& names = Manifest::BuiltinNames();
  ASSERT_GT(names.size(), 100u);
  for (std::string_view op : names) EXPECT_TRUE(HasBenchPeer(op)) << op;
  EXPECT_FALSE(HasBenchPeer("NoFwdOp"));
  EXPECT_FALSE(HasBenchPeer("Op"));
  EXPECT_FALSE(HasTorchPeer("GemmFwdOp"));
}

}  // namespace
}  // namespace tilewright
