// Every page of a cache file damaged in turn.
#include <gmock/gmock.h>
#include <unistd.h>

#include "cache/cache.h"
#include "manifest/status.h"
#include "tests/cache/cache_fixture.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;

// Any one page overwritten, with zeros or noise: right results, healed on the second run, and at
// most the kernels that had bytes there are lost. A page of file structure costs nothing at all.
TEST(DamagedPage, AnyPageHeals) {
  TempFolder folder;
  std::string path = folder.File("k.db");
  MakeFile(path);
  std::string intact = ReadFileBytes(path);
  size_t pages = intact.size() / 4096;
  std::string noise = TestKernel(3, 4096).cubin;
  for (size_t page = 0; page < pages; ++page) {
    for (const std::string& bytes : {std::string(4096, '\0'), noise}) {
      SCOPED_TRACE(Cat("page ", page));
      WriteFileBytes(path, std::string(intact).replace(page * 4096, 4096, bytes));
      LogLines log;
      Served first;
      {
        auto cache = OpenCache(path, &log);
        ASSERT_NE(cache, nullptr);
        first = ReadAll(*cache);
        (void)cache->Check();
        Fill(*cache);
      }
      auto cache = OpenCache(path);
      Served second = ReadAll(*cache);
      EXPECT_EQ(second.kernels, kKernels);
      EXPECT_EQ(second.winners, kWinners);
      EXPECT_EQ(second.trials, kTrials);
      EXPECT_THAT(cache->Check().problems, ElementsAre());
      // A page holds the heads of about ten kernels, or of so many winners or trials.
      EXPECT_GE(first.kernels, kKernels - 15);
      cache.reset();
      for (const std::string& name : folder.Names()) {
        if (name != "k.db") unlink(folder.File(name).c_str());
      }
    }
  }
}

}  // namespace
}  // namespace tilewright
