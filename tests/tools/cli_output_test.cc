// Guards where the CLI writes what it measured and prints.
#include "tools/cli.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cache/cache.h"
#include "tests/tools/cli_process.h"

namespace tilewright {
namespace {

using testing::HasSubstr;

// Guards: results are not written over a cache, and nothing is measured before that is known.
TEST(CliOutputTest, ReplacesNoCache) {
  const CliSandbox sandbox;
  const std::string cache = sandbox.Path("kernels.db");
  CacheOptions options;
  options.path = cache;
  ASSERT_TRUE(Cache::Open(options).ok());
  for (const char* command : {"bench", "calibrate"}) {
    const CliResult result = sandbox.Run({"--cache", cache, command, "--output", cache});
    EXPECT_EQ(result.code, 2) << command;
    EXPECT_THAT(result.err, HasSubstr("refusing to replace the database " + cache)) << command;
    EXPECT_EQ(sandbox.Run({command, "--output", sandbox.dir()}).code, 2) << command;
  }
  EXPECT_EQ(sandbox.Run({"--cache", cache, "cache", "check"}).code, 0);
}

// Guards: results go to regular files only, so that no command blocks on a pipe that nobody reads.
TEST(CliOutputTest, IsARegularFile) {
  const CliSandbox sandbox;
  const std::string pipe = sandbox.Path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const char* command : {"bench", "calibrate"}) {
    for (const std::string& path : {pipe, std::string("/dev/null")}) {
      const CliResult result = sandbox.Run({command, "--output", path});
      EXPECT_EQ(result.code, 2) << command << path;
      EXPECT_THAT(result.err, HasSubstr("expected a file, got the device or pipe " + path));
    }
  }
}

// Guards: a file is replaced whole, through a link too, and nothing else is left beside it; where
// that cannot be, the old text stays.
TEST(CliOutputTest, IsWrittenWholeOrNotAtAll) {
  const CliSandbox sandbox;
  const std::string file = sandbox.Write("rows.csv", "old\n");
  const std::string link = sandbox.Path("link.csv");
  std::filesystem::create_symlink(file, link);
  ASSERT_TRUE(WriteOutputFile(link, "new\n").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  EXPECT_EQ(text.str(), "new\n");
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(sandbox.dir())) {
    files += entry.path().filename().string().find("csv") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(files, 2u);
  const absl::Status nowhere = WriteOutputFile(sandbox.Path("none/rows.csv"), "text");
  EXPECT_EQ(nowhere.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(nowhere.message()), HasSubstr("cannot write " + sandbox.Path("none")));
}

// Guards: lost output is not "done", and a closed stream is not taken for the cache file.
TEST(CliOutputTest, LostTextIsAFinding) {
  const CliSandbox sandbox;
  for (const std::string output : {"/dev/full", "&-"}) {
    const CliResult result = sandbox.Run({"ops"}, {}, output);
    EXPECT_EQ(result.code, 1) << output;
    EXPECT_THAT(result.err, HasSubstr("cannot write to standard output")) << output;
  }
}

}  // namespace
}  // namespace tilewright
