// One predicate for what a row may hold: what may not be put is not served, checked, exported,
// merged or salvaged either, though its checksum be right.
#include "cache/bounds.h"

#include <gmock/gmock.h>

#include <functional>
#include <limits>

#include "cache/store.h"
#include "manifest/status.h"
#include "tests/cache/cache_fixture.h"
#include "tests/cache/test_cubin.h"

namespace tilewright {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// Puts one row, with the checksum that it should have, past all bounds.
using PutRow = std::function<absl::Status(Store&)>;

PutRow Kernel(const std::function<void(KernelRow&)>& change) {
  return [change](Store& store) {
    KernelRow row = TestKernel(7);
    change(row);
    return store.PutKernel(row, Conflict::kReplace).status();
  };
}
PutRow Winner(const std::function<void(WinnerRow&)>& change) {
  return [change](Store& store) {
    WinnerRow row = TestWinner(3);
    change(row);
    return store.PutWinner(row, Conflict::kReplace).status();
  };
}
PutRow Trial(const std::function<void(TrialRow&)>& change) {
  return [change](Store& store) {
    TrialRow row = TestTrial(5);
    change(row);
    return store.PutTrial(row, Conflict::kReplace).status();
  };
}

struct Flaw {
  const char* name;
  const char* told;
  PutRow put;
  bool adds_a_row = false;  // beside those that Fill() stored
};

void PutFlaw(const std::string& path, const PutRow& put) {
  auto store = Store::Open(path, Connection::Mode::kReadWrite, std::chrono::seconds(5));
  ASSERT_TRUE(store.ok()) << store.status();
  ASSERT_TRUE((*store)->db().Exec("PRAGMA ignore_check_constraints = 1").ok());
  const absl::Status written = (*store)->Write([&] { return put(**store); });
  ASSERT_TRUE(written.ok()) << written;
}

constexpr int kRows = kKernels + kWinners + kTrials;

class OutOfBounds : public testing::TestWithParam<Flaw> {};

TEST_P(OutOfBounds, IsNeitherServedNorPassedOn) {
  TempFolder folder;
  const std::string path = folder.File("k.db");
  const auto damaged = [&] {
    for (const std::string& name : folder.Names()) unlink(folder.File(name).c_str());
    MakeFile(path);
    PutFlaw(path, GetParam().put);
  };
  const int left = GetParam().adds_a_row ? kRows : kRows - 1;
  damaged();
  EXPECT_THAT(OpenCache(path)->Check().problems, ElementsAre(HasSubstr(GetParam().told)));
  EXPECT_THAT(OpenCache(path)->Check().problems, SizeIs(0)) << "it was deleted";

  damaged();
  const auto exported = OpenCache(path)->Export(folder.File("out.db"));
  ASSERT_TRUE(exported.ok()) << exported.status();
  EXPECT_THAT(exported->dropped, ElementsAre(HasSubstr(GetParam().told)));
  EXPECT_EQ(exported->kernels + exported->winners + exported->trials, left);

  damaged();
  const auto merged = OpenCache("")->Merge(path);
  ASSERT_TRUE(merged.ok()) << merged.status();
  EXPECT_THAT(merged->rejected, ElementsAre(HasSubstr(GetParam().told)));
  EXPECT_TRUE(merged->written.ok()) << merged->written;
  EXPECT_EQ(merged->kernels_added + merged->winners_added + merged->trials_added, left);
  const Served served = ReadAll(*OpenCache(path));
  EXPECT_EQ(served.kernels + served.winners + served.trials, left);

  damaged();
  WriteFileBytes(path, ReadFileBytes(path).replace(0, 16, 16, 'z'));
  const Served salvaged = ReadAll(*OpenCache(path));
  EXPECT_EQ(salvaged.kernels + salvaged.winners + salvaged.trials, left);
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

INSTANTIATE_TEST_SUITE_P(
    Rows, OutOfBounds,
    testing::Values(Flaw{"NegativeNumber", "a negative number",
                         Kernel([](auto& row) { row.spill_bytes = -1; })},
                    Flaw{"NegativeTime", "negative or not finite",
                         Winner([](auto& row) { row.median_us = -2; })},
                    Flaw{"Infinity", "negative or not finite",
                         Trial([](auto& row) { row.p90_us = kInfinity; })},
                    Flaw{"Nul", "a text with a NUL",
                         Winner([](auto& row) { row.device = std::string("a\0b", 3); })},
                    Flaw{"LongText", "more than 1 MiB",
                         Trial([](auto& row) { row.error.assign(kMaxTextBytes + 1, 'e'); })},
                    Flaw{"NoKey", "a key that is empty", Winner([](auto& row) { row.key = ""; }),
                         true},
                    Flaw{"LongKey", "longer than 512",
                         Kernel([](auto& row) { row.key.assign(kMaxKeyBytes + 1, 'k'); }), true},
                    Flaw{"NoElf", "no whole cubin", Kernel([](auto& row) { row.cubin = "bytes"; })},
                    Flaw{"NoCubin", "an empty cubin", Kernel([](auto& row) { row.cubin = ""; })},
                    Flaw{"OtherArch", "no whole cubin",
                         Kernel([](auto& row) { row.cubin = TestCubin(7, 400, 80); })},
                    Flaw{"HeaderOnly", "no whole cubin",
                         Kernel([](auto& row) { row.cubin.resize(kElfHeaderBytes - 1); })},
                    Flaw{"WinnerWithoutJson", "not JSON",
                         Winner([](auto& row) { row.config_json = "{tile:"; })},
                    Flaw{"TrialWithoutJson", "not JSON",
                         Trial([](auto& row) { row.config_json = "no"; }), true}),
    [](const auto& info) { return info.param.name; });

// Guards: an integer of more than 32 bits is not taken for its lower half, whose checksum the row
// has.
TEST(Bounds, WideIntegersAreNotTruncated) {
  for (const char* change :
       {"update kernels set regs = regs + 4294967296 where key = 'kernel-7'",
        "update winners set trials = trials - 4294967296 where key = 'problem-3'",
        "update trials set samples = samples + 8589934592 where rowid = 5",
        "update trials set regs = regs + 4294967296 where rowid = 5",
        "update kernels set smem = smem + 4294967296 where key = 'kernel-7'"}) {
    TempFolder folder;
    MakeFile(folder.File("k.db"));
    ASSERT_EQ(Shell(folder.File("k.db"), change), "");
    const auto merged = OpenCache("")->Merge(folder.File("k.db"));
    ASSERT_TRUE(merged.ok()) << merged.status();
    EXPECT_THAT(merged->rejected, SizeIs(1)) << change;
    EXPECT_THAT(OpenCache(folder.File("k.db"))->Check().problems, SizeIs(1)) << change;
    const Served served = ReadAll(*OpenCache(folder.File("k.db")));
    EXPECT_EQ(served.kernels + served.winners + served.trials, kRows - 1) << change;
  }
}

// Guards: a value of another type than its column's, as a file without STRICT may hold, is not
// converted until its checksum fits.
TEST(Bounds, OtherTypesAreNotConverted) {
  TempFolder folder;
  MakeFile(folder.File("k.db"));
  Shell(folder.File("k.db"),
        "pragma writable_schema = on; update sqlite_schema set sql = replace(sql, ' STRICT', '') "
        "where type = 'table'");
  Shell(folder.File("k.db"),
        "update kernels set flags = cast(flags as blob) where key = 'kernel-7'");
  Shell(folder.File("k.db"), "update winners set trials = 12.5 where key = 'problem-3'");
  auto cache = OpenCache(folder.File("k.db"));
  EXPECT_FALSE(cache->FindKernel("kernel-7").has_value());
  EXPECT_FALSE(cache->FindWinner("problem-3").has_value());
  const Served served = ReadAll(*cache);
  EXPECT_EQ(served.kernels + served.winners + served.trials, kRows - 2);
}

// Guards: a merge replaces a row whose head is whole and whose cubin is not.
TEST(Bounds, MergeHealsADamagedCubin) {
  TempFolder folder;
  MakeFile(folder.File("k.db"));
  MakeFile(folder.File("good.db"));
  Shell(folder.File("k.db"),
        "update kernel_bytes set bytes = zeroblob(length(bytes)) where key = 'kernel-7'");
  auto cache = OpenCache(folder.File("k.db"));
  ASSERT_TRUE(cache->Merge(folder.File("good.db")).ok());
  EXPECT_THAT(cache->Check().problems, SizeIs(0));
  EXPECT_EQ(ReadAll(*cache).kernels, kKernels);
}

}  // namespace
}  // namespace tilewright
