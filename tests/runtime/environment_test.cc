// Users and homes as containers and batch systems have them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "cache/cache.h"
#include "tests/runtime/runtime_fixture.h"

namespace tilewright {
namespace {

constexpr int kNobodyKnown = 12345;  // has no passwd entry

class EnvironmentTest : public RuntimeFixture {
 protected:
  // Serves a call in a child with no home, as another user where this one is root; the step that
  // failed, 0 for none.
  int ServeInChild(const char* cache_home, const std::string& mode) {
    const pid_t child = fork();
    if (child == 0) _exit(Serve(cache_home, mode));
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 200;
  }
  int Serve(const char* cache_home, const std::string& mode) {
    for (const char* name : {"HOME", "XDG_CACHE_HOME", "TILEWRIGHT_CACHE"}) unsetenv(name);
    if (cache_home != nullptr) setenv("XDG_CACHE_HOME", cache_home, 1);
    if (geteuid() == 0 && (setgid(kNobodyKnown) != 0 || setuid(kNobodyKnown) != 0)) return 1;
    RuntimeOptions options = RuntimeOptions::FromEnvironment();
    if (options.cache_path.empty() != (cache_home == nullptr)) return 2;
    options.driver = driver_;
    options.compiler = compiler_;
    auto opened = Runtime::Open(std::move(options));
    if (!opened.ok()) return 3;
    runtime_ = *std::move(opened);
    if (!runtime_->Register(ScaleAndSumOps()).ok()) return 4;
    if (!Scale(8).ok() || !Scale(8).ok()) return 5;
    if (runtime_->Counters().compiles != 1) return 6;
    return runtime_->cache().Stats().mode == mode ? 0 : 7;
  }
};

// Guards: without a home, and for a user that has no passwd entry, the cache is in memory, and
// calls are served.
TEST_F(EnvironmentTest, NoHomeAndNoPasswdEntry) { EXPECT_EQ(ServeInChild(nullptr, "memory"), 0); }

// Guards: a cache home of one's own is used, whoever one is.
TEST_F(EnvironmentTest, CacheHomeOfAnUnknownUser) {
  char folder[] = "/tmp/tilewright-home-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  if (geteuid() == 0) {
    ASSERT_EQ(chown(folder, kNobodyKnown, kNobodyKnown), 0);
  }
  EXPECT_EQ(ServeInChild(folder, "wal"), 0);
  struct stat info {};
  EXPECT_EQ(stat((std::string(folder) + "/tilewright/kernels.db").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  std::filesystem::remove_all(folder);
}

// Guards: a home that is not there and cannot be made costs the cache, not the call.
TEST_F(EnvironmentTest, HomeThatCannotBeMade) {
  EXPECT_EQ(ServeInChild("/proc/nowhere/cache", "memory"), 0);
}

// Guards: strict mode is not switched on, nor off, by a word of no meaning.
TEST_F(EnvironmentTest, StrictHasSixValues) {
  const auto read = [](const char* value) {
    setenv("TILEWRIGHT_STRICT", value, 1);
    RuntimeOptions options = RuntimeOptions::FromEnvironment();
    unsetenv("TILEWRIGHT_STRICT");
    options.cache_path.clear();
    return options;
  };
  for (const char* on : {"1", "true", "on"}) {
    EXPECT_TRUE(read(on).strict) << on;
    EXPECT_EQ(Runtime::Open(read(on)).status(), absl::OkStatus()) << on;
  }
  for (const char* off : {"", "0", "false", "off"}) {
    EXPECT_FALSE(read(off).strict) << off;
    EXPECT_EQ(Runtime::Open(read(off)).status(), absl::OkStatus()) << off;
  }
  for (const char* bad : {"no", "TRUE", "2", " 1"}) {
    const absl::Status status = Runtime::Open(read(bad)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << bad;
    EXPECT_EQ(status.message(), std::string("TILEWRIGHT_STRICT: expected 0, 1, true, false, on or "
                                            "off, got '") +
                                    bad + "'" +
                                    (bad == std::string("TRUE") ? "; did you mean 'true'?" : ""));
  }
}

}  // namespace
}  // namespace tilewright
