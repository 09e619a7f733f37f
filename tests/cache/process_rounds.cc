#include "tests/cache/process_rounds.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include "manifest/status.h"
#include "tests/cache/cache_fixture.h"

namespace tilewright {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;

constexpr int kProcesses = 16;

struct Pipe {
  int read_end = -1;
  int write_end = -1;
  Pipe() {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    read_end = ends[0];
    write_end = ends[1];
  }
  ~Pipe() {
    close(read_end);
    close(write_end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void Put(char c) const { EXPECT_EQ(write(write_end, &c, 1), 1); }
  char Get() const {
    char c = 0;
    EXPECT_EQ(read(read_end, &c, 1), 1);
    return c;
  }
};

// The body of one of the processes that start together; its exit code.
int UseOnce(const std::string& path, int id, const Pipe& compiles) {
  LogLines log;
  CacheOptions options;
  options.path = path;
  options.busy_timeout = milliseconds(60000);  // the machine may be busy; a hang still shows
  options.log = log.Sink();
  auto opened = Cache::Open(options);
  if (!opened.ok()) return 1;
  Cache& cache = **opened;
  auto lock = cache.LockCompile("kernel-0", milliseconds(60000));
  if (!lock.ok()) return 2;
  if (*lock != nullptr) {
    compiles.Put('c');
    std::this_thread::sleep_for(milliseconds(3));
    if (!cache.PutKernel(TestKernel(0)).ok()) return 3;
    lock->reset();
  }
  auto found = cache.FindKernel("kernel-0");
  if (!found || found->cubin != TestKernel(0).cubin) return 4;
  if (!cache.PutKernel(TestKernel(100 + id)).ok()) return 5;
  if (!cache.PutWinner(TestWinner(id)).ok()) return 6;
  if (cache.Stats().mode != "wal") return 7;
  if (!log.lines.empty()) {
    fprintf(stderr, "%s\n", log.lines[0].c_str());
    return 8;
  }
  return 0;
}

void StartTogetherOnce() {
  TempFolder folder;
  std::string path = folder.File("sub/k.db");
  Pipe barrier;
  Pipe compiles;
  std::vector<pid_t> children;
  for (int id = 0; id < kProcesses; ++id) {
    pid_t child = fork();
    if (child == 0) {
      close(barrier.write_end);
      char go = 0;
      (void)!read(barrier.read_end, &go, 1);  // returns when the parent closes its end
      _exit(UseOnce(path, id, compiles));
    }
    children.push_back(child);
  }
  close(barrier.write_end);
  barrier.write_end = -1;
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  compiles.Put('.');
  EXPECT_EQ(compiles.Get(), 'c');
  EXPECT_EQ(compiles.Get(), '.');  // no second compile
  EXPECT_EQ(Shell(path,
                  "pragma integrity_check; select count(*) from kernels; select count(*) "
                  "from winners"),
            "ok\n17\n16\n");
}

// Holds the lock of kernel-0 and stores rows, telling each, until it is killed.
void OwnAndStore(const std::string& path, const Pipe& told) {
  auto cache = OpenCache(path);
  auto lock = cache->LockCompile("kernel-0", milliseconds(60000));
  told.Put(lock.ok() && *lock != nullptr ? 'o' : 'x');
  for (int i = 1; i < 100; ++i) {
    if (!cache->PutKernel(TestKernel(i)).ok()) _exit(1);
    told.Put('k');
  }
  pause();
}

// Waits for kernel-0; exit code 0 where it took over.
int TakeOver(const std::string& path, const Pipe& told) {
  auto cache = OpenCache(path);
  told.Put('w');
  auto lock = cache->LockCompile("kernel-0", milliseconds(60000));
  return lock.ok() && *lock != nullptr && cache->PutKernel(TestKernel(0)).ok() ? 0 : 1;
}

void KillOwnerOnce(std::mt19937& random) {
  TempFolder folder;
  std::string path = folder.File("k.db");
  Pipe told;
  Pipe waiting;
  pid_t owner = fork();
  if (owner == 0) OwnAndStore(path, told);
  ASSERT_EQ(told.Get(), 'o');
  pid_t waiter = fork();
  if (waiter == 0) _exit(TakeOver(path, waiting));
  ASSERT_EQ(waiting.Get(), 'w');
  std::this_thread::sleep_for(std::chrono::microseconds(random() % 20000));
  kill(owner, SIGKILL);
  auto killed = std::chrono::steady_clock::now();
  int status = 0;
  waitpid(owner, &status, 0);
  waitpid(waiter, &status, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - killed, std::chrono::seconds(2));
  EXPECT_EQ(status, 0);
  told.Put('.');
  int acknowledged = 0;
  while (told.Get() == 'k') ++acknowledged;
  {
    auto cache = OpenCache(path);
    for (int i = 0; i <= acknowledged; ++i) {
      auto row = cache->FindKernel(Cat("kernel-", i));
      ASSERT_TRUE(row.has_value()) << i << " of " << acknowledged;
      ExpectSame(TestKernel(i), *row);
    }
    EXPECT_THAT(cache->Check().problems, ElementsAre());
  }
  EXPECT_THAT(folder.Names(), ElementsAre("k.db", "k.db.lock"));
}

}  // namespace

void RunStartTogether(int rounds) {
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    StartTogetherOnce();
  }
}

void RunKillOwner(int rounds) {
  std::mt19937 random(20240607);
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(round);
    KillOwnerOnce(random);
  }
}

}  // namespace tilewright
