// Exit codes of commands on caches: 0 done, 1 findings, 2 misuse; and what they say of damage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cache/cache.h"
#include "cache/store.h"
#include "tests/cache/test_cubin.h"
#include "tests/tools/cli_process.h"

namespace tilewright {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr size_t kPage = 4096;
constexpr char kLine[] =
    R"({"op":"AddFwdOp","inputs":{"input":[64,128],"other":[128]},"dtype":"float32"})";

std::string Bytes(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}
void Write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}
void Spoil(const std::string& path, size_t page) {
  Write(path, Bytes(path).replace(page * kPage, kPage, kPage, '\x5a'));
}

// The first leaf, from 0, of a table or index of the closed file.
size_t LeafOf(const std::string& path, const std::string& name) {
  auto db = Connection::Open(path, Connection::Mode::kReadWrite, std::chrono::seconds(1));
  const auto page = db->QueryInt("SELECT rootpage FROM sqlite_schema WHERE name = '" + name + "'");
  EXPECT_TRUE(page.ok()) << page.status();
  return static_cast<size_t>(*page) - 1;
}

void Execute(const std::string& path, const std::string& sql) {
  auto db = Connection::Open(path, Connection::Mode::kReadWrite, std::chrono::seconds(1));
  ASSERT_TRUE(db.ok()) << db.status();
  ASSERT_TRUE(db->Exec(sql).ok());
}

// A cache with a kernel, a winner and a trial of no operator here.
void MakeCache(const std::string& path) {
  CacheOptions options;
  options.path = path;
  const auto cache = Cache::Open(options).value();
  KernelRow kernel;
  kernel.key = "kernel-1";
  kernel.arch = "sm_90a";
  kernel.cubin = TestCubin();
  ASSERT_TRUE(cache->PutKernel(kernel).ok());
  WinnerRow winner;
  winner.key = "problem-1";
  winner.op = "MyOwnOp";
  winner.problem_json = winner.config_json = "{}";
  winner.median_us = 1;
  ASSERT_TRUE(cache->PutWinner(winner).ok());
  TrialRow trial;
  trial.problem_key = "problem-1";
  trial.config_json = "{}";
  ASSERT_TRUE(cache->PutTrials({trial}).ok());
}

class CliExitTest : public testing::Test {
 protected:
  CliExitTest() : shapes_(sandbox_.Write("shapes.jsonl", kLine)) {}
  CliResult Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--cache", cache_});
    return sandbox_.Run(arguments);
  }
  CliResult Warm() { return Run({"warm", "--arch", "sm_90a", "--shapes", shapes_}); }
  CliResult Coverage() { return Run({"coverage", "--arch", "sm_90a", "--shapes", shapes_}); }

  CliSandbox sandbox_;
  const std::string shapes_;
  const std::string cache_ = sandbox_.Path("kernels.db");
};

// What a trigger keeps is not said to be deleted, by check or by gc.
TEST_F(CliExitTest, TriggersInTheFile) {
  MakeCache(cache_);
  Execute(cache_,
          "update winners set us = 2; create trigger a before delete on winners begin select "
          "raise(abort, 'kept'); end; create trigger b before delete on kernels begin select "
          "raise(abort, 'kept'); end");
  for (int i = 0; i < 2; ++i) {
    const CliResult check = Run({"cache", "check"});
    EXPECT_EQ(check.code, 1);
    EXPECT_THAT(check.out, HasSubstr("winners row problem-1: a checksum that is not its own"));
    EXPECT_THAT(check.out, HasSubstr("could not be deleted, and are not served: "));
    EXPECT_THAT(check.out, HasSubstr("kept"));
    EXPECT_THAT(check.out, Not(HasSubstr("were deleted")));
  }
  const CliResult gc = Run({"cache", "gc", "--max-bytes", "0"});
  EXPECT_EQ(gc.code, 1) << gc.out;
  EXPECT_THAT(gc.err, HasSubstr("kernels.db: nothing was deleted: "));
  EXPECT_THAT(gc.err, HasSubstr("kept"));
}

// An added column is a finding of check, and costs nothing.
TEST_F(CliExitTest, AddedColumn) {
  MakeCache(cache_);
  Execute(cache_, "alter table winners add column note text");
  const json check = json::parse(Run({"cache", "check", "--json"}).out);
  EXPECT_EQ(check["rows_checked"], 3);
  EXPECT_EQ(check["deleted"], 0);
  EXPECT_EQ(check["problems"].size(), 1u);
  EXPECT_EQ(json::parse(Run({"cache", "stats", "--json"}).out)["winners"], 1);
}

// A file that is cut off, damaged or no cache at all is a finding of import and diff.
TEST_F(CliExitTest, DamagedFilesOfOthers) {
  MakeCache(cache_);
  const std::string whole = Bytes(cache_);
  const std::string other = sandbox_.Path("other.db");
  for (const std::string& bytes :
       {whole.substr(0, 50), whole.substr(0, 1000), whole.substr(0, kPage), whole.substr(0, 20000),
        std::string(whole).replace(0, kPage, kPage, 'x'), std::string(100, 'x')}) {
    for (const char* command : {"import", "diff"}) {
      Write(other, bytes);
      const CliResult result = Run({"cache", command, other});
      EXPECT_EQ(result.code, 1) << command << " " << bytes.size() << result.out << result.err;
      EXPECT_TRUE(Bytes(other) == bytes);
    }
  }
  EXPECT_EQ(Run({"cache", "import"}).code, 2);
  EXPECT_EQ(Run({"cache", "export", cache_}).code, 2);
}

// Bytes that are no cubin are refused when they are imported.
TEST_F(CliExitTest, ImportRefusesWhatIsNoCubin) {
  MakeCache(cache_);
  const std::string bundle = sandbox_.Path("bundle.db");
  MakeCache(bundle);
  auto store = Store::Open(bundle, Connection::Mode::kReadWrite, std::chrono::seconds(1));
  ASSERT_TRUE(store.ok());
  KernelRow row;
  row.key = "kernel-2";
  row.arch = "sm_90a";
  row.cubin = "#!/bin/sh";
  ASSERT_TRUE(
      (*store)->Write([&] { return (*store)->PutKernel(row, Conflict::kReplace).status(); }).ok());
  store->reset();
  const CliResult result = Run({"cache", "import", bundle});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out,
              HasSubstr("rejected kernels row kernel-2: bytes that are no whole cubin"));
}

// No match is a finding; a start that several have is misuse.
TEST_F(CliExitTest, InspectTrials) {
  MakeCache(cache_);
  EXPECT_EQ(Run({"inspect", "--trials", "problem-1"}).code, 0);
  const CliResult none = Run({"inspect", "--trials", "problem-2"});
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.err, HasSubstr("no trials of a problem 'problem-2'"));
}

// Warming a cache that can only be read is done where nothing is missing, and fails before anything
// is compiled where something is.
TEST_F(CliExitTest, WarmOfAReadOnlyCache) {
  ASSERT_EQ(Warm().code, 0);
  const std::string exported = sandbox_.Path("seed.db");
  ASSERT_EQ(Run({"cache", "export", exported}).code, 0);
  const std::string folder = sandbox_.Path("places");
  std::filesystem::create_directory(folder);
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
  const std::string file = folder + "/kernels.db";
  std::filesystem::rename(exported, file);
  if (geteuid() != 0) {
    std::filesystem::permissions(folder, std::filesystem::perms(0500));
    std::filesystem::permissions(file, std::filesystem::perms(0400));
  } else if (system(("mount --bind -o ro " + folder + " " + folder +
                     " && mount -o remount,bind,ro " + folder)
                        .c_str()) != 0) {
    GTEST_SKIP() << "cannot make a folder that root cannot write";
  }
  const auto warm = [&](const std::string& shapes) {
    return sandbox_.Run({"--cache", file, "warm", "--arch", "sm_90a", "--shapes", shapes});
  };
  const CliResult complete = warm(shapes_);
  const CliResult lacking = warm(sandbox_.Write(
      "more.jsonl",
      R"({"op":"SoftmaxFwdOp","inputs":{"x":[32,1000]},"dtype":"bfloat16","params":{"dim":-1}})"));
  if (geteuid() == 0) {
    EXPECT_EQ(system(("umount " + folder).c_str()), 0);
  } else {
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
  }
  EXPECT_EQ(complete.code, 0) << complete.out << complete.err;
  EXPECT_THAT(complete.out, HasSubstr(" 0 compiled"));
  EXPECT_EQ(lacking.code, 1);
  EXPECT_THAT(lacking.err, HasSubstr("cannot be written (mode: read-only)"));
  EXPECT_THAT(lacking.out, Not(HasSubstr("compiled in")));
}

// What nobody reads is healed by warm too, and every row on a readable page kept; the next run is
// clean.
TEST_F(CliExitTest, WarmHealsWhatItDoesNotRead) {
  MakeCache(cache_);
  ASSERT_EQ(Warm().code, 0);
  const std::string whole = Bytes(cache_);
  for (const char* name : {"trials", "winners_by_op"}) {
    Write(cache_, whole);
    Spoil(cache_, LeafOf(cache_, name));
    const CliResult first = Warm();
    EXPECT_EQ(first.code, 0) << name << first.err;
    EXPECT_THAT(first.err, HasSubstr("was damaged (")) << name;
    if (std::string(name) == "trials") {
      EXPECT_THAT(first.err, HasSubstr("1 row is lost: trial problem-1")) << name;
    }
    const CliResult second = Warm();
    EXPECT_EQ(second.code, 0) << name;
    EXPECT_EQ(second.err, "") << name;
    EXPECT_EQ(Run({"cache", "check"}).code, 0) << name;
    EXPECT_EQ(json::parse(Run({"cache", "stats", "--json"}).out)["winners"], 1) << name;
  }
}

// A call that no kernel serves is a finding, and a name that means nothing is misuse, whichever
// command is asked.
TEST_F(CliExitTest, CallsThatCannotBeServed) {
  const std::string shapes = cache_ + ".jsonl";
  Write(shapes,
        R"({"op": "NegFwdOp", "inputs": {"input": [9007199254740992]}, "dtype": "float16"})");
  const std::vector<std::vector<std::string>> unserved = {
      {"explain", "NegFwdOp", "9007199254740992", "--arch", "sm_90a"},
      {"warm", "--arch", "sm_90a", "--shapes", shapes},
      {"coverage", "--arch", "sm_90a", "--shapes", shapes}};
  for (const auto& arguments : unserved) {
    const CliResult result = Run(arguments);
    EXPECT_EQ(result.code, 1) << arguments[0];
    EXPECT_THAT(result.err, HasSubstr(" CTAs, expected at most ")) << arguments[0];
  }
  const std::vector<std::vector<std::string>> unknown = {
      {"explain", "NoOp", "1"},
      {"warm", "--arch", "sm_90a", "--op", "NoOp"},
      {"coverage", "--device", "h200", "--op", "NoOp"},
      {"tune", "--op", "NoOp"},
      {"bench", "--op", "NoOp"},
      {"validate", "--op", "NoOp"},
      {"conform", "--op", "NoOp"}};
  for (const auto& arguments : unknown) {
    const CliResult result = Run(arguments);
    EXPECT_EQ(result.code, 2) << arguments[0];
    EXPECT_THAT(result.err, HasSubstr("no operator 'NoOp'")) << arguments[0];
  }
}

// A check of a file that was rebuilt, by it or when it was opened, counts what was kept beside what
// there was, and names what was lost.
TEST_F(CliExitTest, CheckCountsWhatARepairLost) {
  MakeCache(cache_);
  const std::string whole = Bytes(cache_);
  for (const char* table : {"winners", "trials"}) {
    Write(cache_, whole);
    Spoil(cache_, LeafOf(cache_, table));
    const CliResult check = Run({"cache", "check"});
    EXPECT_EQ(check.code, 1) << check.out << check.err;
    EXPECT_THAT(check.out, HasSubstr("\n2 of 3 rows are intact, ")) << table;
    EXPECT_THAT(check.out,
                HasSubstr(std::string("lost with the damaged file: ") +
                          (table == std::string("winners") ? "winner problem-1" : "trial ")));
    const json again = json::parse(Run({"cache", "check", "--json"}).out);
    EXPECT_EQ(again["rows_checked"], 2);
    EXPECT_EQ(again["rows_found"], 2);
  }
  Write(cache_, whole);
  Spoil(cache_, 0);
  const json kept = json::parse(Run({"cache", "check", "--json"}).out);
  EXPECT_EQ(kept["rows_checked"], 3);
  EXPECT_EQ(kept["rows_found"], 3);
  EXPECT_EQ(kept["rebuilt"], true);
}

// Coverage of a damaged cache: what the rebuilt file lacks is named, and a finding; where it lacks
// nothing, one line says what happened.
TEST_F(CliExitTest, CoverageOfADamagedCache) {
  ASSERT_EQ(Warm().code, 0);
  ASSERT_EQ(Coverage().code, 0);
  Spoil(cache_, 0);
  const CliResult kept = Coverage();
  EXPECT_EQ(kept.code, 0) << kept.out << kept.err;
  EXPECT_THAT(kept.err, HasSubstr("was damaged ("));

  CacheOptions options;
  options.path = cache_;
  {
    WinnerRow winner;
    winner.key = "problem-1";
    winner.op = "AddFwdOp";
    winner.problem_json = winner.config_json = "{}";
    ASSERT_TRUE(Cache::Open(options).value()->PutWinner(winner).ok());
  }
  Spoil(cache_, LeafOf(cache_, "winners"));
  const CliResult lost = Coverage();
  EXPECT_EQ(lost.code, 1) << lost.out << lost.err;
  EXPECT_THAT(lost.out, HasSubstr("LOST     damaged: winner problem-1"));
  EXPECT_THAT(lost.out, HasSubstr(" 0 missing"));
  EXPECT_THAT(lost.err, HasSubstr("1 row is lost: winner problem-1"));
  EXPECT_EQ(Coverage().code, 0) << "it was rebuilt";

  Spoil(cache_, LeafOf(cache_, "kernels"));
  const CliResult missing = Coverage();
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.out, HasSubstr("MISSING  "));
  EXPECT_THAT(missing.out, HasSubstr("LOST     damaged: kernel "));
}

}  // namespace
}  // namespace tilewright
