#include "bench/peers/peers.h"

#include <gtest/gtest.h>

#include "manifest/op_spec.h"

namespace tilewright {
namespace {

// Guards: every operator that claims to be implemented is measured beside another library, and no
// other name is taken for one.
TEST(BenchPeers, EveryOperatorHasOne) {
  int implemented = 0;
  for (const OpSpec& op : Manifest::BuiltinOps()) {
    if (op.status != OpStatus::kImplemented) continue;
    ++implemented;
    EXPECT_TRUE(HasBenchPeer(op.name)) << op.name;
  }
  EXPECT_GT(implemented, 100);
  EXPECT_FALSE(HasBenchPeer("NoFwdOp"));
  EXPECT_FALSE(HasBenchPeer("Op"));
  EXPECT_FALSE(HasTorchPeer("GemmFwdOp"));
}

}  // namespace
}  // namespace tilewright
