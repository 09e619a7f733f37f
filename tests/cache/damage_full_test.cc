// Every page of a cache file damaged in turn.
#include <gmock/gmock.h>
#include <unistd.h>

#include "cache/cache.h"
#include "manifest/status.h"
#include "tests/cache/cache_fixture.h"
#include "tests/cache/test_cubin.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;

// How many rows have their head or a part of their bytes on a page. Indexes hold none.
int RowsOn(const std::string& path, size_t page) {
  std::string count = Shell(path, Cat("select case pagetype when 'overflow' then 1 else ncell end ",
                                      "from dbstat where pageno = ", page + 1,
                                      " and name in ('kernels', 'kernel_bytes', 'winners', ",
                                      "'trials') and pagetype <> 'internal'"));
  return count.empty() ? 0 : std::stoi(count);
}

// Any one page overwritten, with zeros or noise: right results, healed on the second run, and only
// the rows with bytes on that page are lost. A page of file structure costs nothing at all.
TEST(DamagedPage, AnyPageHeals) {
  TempFolder folder;
  std::string path = folder.File("k.db");
  MakeFile(path);
  std::string intact = ReadFileBytes(path);
  size_t pages = intact.size() / 4096;
  std::string noise = TestCubin(3, kElfHeaderBytes + 4096).substr(kElfHeaderBytes);
  for (size_t page = 0; page < pages; ++page) {
    for (const std::string& bytes : {std::string(4096, '\0'), noise}) {
      SCOPED_TRACE(Cat("page ", page));
      WriteFileBytes(path, intact);
      int rows_there = RowsOn(path, page);
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
      ExpectAll(*cache);
      EXPECT_THAT(cache->Check().problems, ElementsAre());
      int lost = kKernels + kWinners + kTrials - first.kernels - first.winners - first.trials;
      EXPECT_LE(lost, rows_there);
      cache.reset();
      for (const std::string& name : folder.Names()) {
        if (name != "k.db") unlink(folder.File(name).c_str());
      }
    }
  }
}

}  // namespace
}  // namespace tilewright
