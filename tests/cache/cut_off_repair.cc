#include "tests/cache/cut_off_repair.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "cache/cache.h"
#include "cache/repair.h"
#include "tests/cache/cache_fixture.h"

namespace tilewright {

namespace {
constexpr int kKilled = 77;
}  // namespace

void MakeDamagedWithWal(const std::string& path) {
  TempFolder folder;
  const std::string source = folder.File("source.db");
  {
    auto cache = OpenCache(source);
    for (int i = 0; i < kKernels; ++i) ASSERT_TRUE(cache->PutKernel(TestKernel(i)).ok());
  }
  const std::vector<size_t> leaves = LeavesOf(source, "sqlite_autoindex_kernels_1");
  ASSERT_FALSE(leaves.empty());
  auto cache = OpenCache(source);
  for (int i = 0; i < kWinners; ++i) ASSERT_TRUE(cache->PutWinner(TestWinner(i)).ok());
  WriteFileBytes(path, ReadFileBytes(source).replace(leaves[0] * kPage, kPage, kPage, '\x5a'));
  WriteFileBytes(path + "-wal", ReadFileBytes(source + "-wal"));
  WriteFileBytes(path + ".lock", "");
}

bool RepairAndDie(const std::string& path, int kill_at) {
  const int exit_status = InChild([&] {
    int step = 0;
    const auto repaired = Repair(path, std::chrono::milliseconds(100), [&] {
      if (++step == kill_at) _exit(kKilled);
    });
    return repaired.ok() ? 0 : 1;
  });
  EXPECT_TRUE(exit_status == 0 || exit_status == kKilled) << exit_status;
  return exit_status == kKilled;
}

}  // namespace tilewright
