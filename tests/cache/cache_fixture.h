// Rows and folders for the tests of the cache.
#ifndef TILEWRIGHT_TESTS_CACHE_CACHE_FIXTURE_H_
#define TILEWRIGHT_TESTS_CACHE_CACHE_FIXTURE_H_

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cache/cache.h"

namespace tilewright {

// A folder of its own (0700), removed with all it holds.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }
  std::vector<std::string> Names() const;  // sorted

 private:
  std::string path_;
};

// Collects log lines; outlives the caches that use it.
struct LogLines {
  std::mutex mutex;
  std::vector<std::string> lines;
  CacheLog Sink();
  size_t Count(const std::string& part);
};

// Deterministic rows: `i` chooses key and content. A cubin is 6000 + i bytes unless told.
KernelRow TestKernel(int i, size_t cubin_bytes = 0);
WinnerRow TestWinner(int i);
TrialRow TestTrial(int i);

void ExpectSame(const KernelRow& expected, const KernelRow& got);
void ExpectSame(const WinnerRow& expected, const WinnerRow& got);

inline constexpr int kKernels = 40;
inline constexpr int kWinners = 20;
inline constexpr int kTrials = 80;
inline constexpr size_t kPage = 4096;  // of the files, in bytes
// Stores TestKernel(0 .. kKernels - 1) and so on.
void Fill(Cache& cache);
void MakeFile(const std::string& path);

struct Served {
  int kernels = 0;
  int winners = 0;
  int trials = 0;
};
// Looks everything up; fails the test where a served row is not the one that Fill() stored.
Served ReadAll(Cache& cache);
// Fails the test where ReadAll() does not find all of them.
void ExpectAll(Cache& cache);

// Opens, or fails the test and returns null.
std::unique_ptr<Cache> OpenCache(CacheOptions options);
std::unique_ptr<Cache> OpenCache(const std::string& path, LogLines* log = nullptr);

std::string ReadFileBytes(const std::string& path);
void WriteFileBytes(const std::string& path, const std::string& bytes);
// Runs SQL with the sqlite3 program, as a person would; its output.
std::string Shell(const std::string& path, const std::string& sql);

// The numbers, from 0, of a table's or index's leaf pages.
std::vector<size_t> LeavesOf(const std::string& path, const std::string& name);

// Runs `body` in a forked child, as `uid` where that is not -1; the child's exit status is what
// `body` returns, 200 where it was killed.
int InChild(const std::function<int()>& body, int uid = -1);

}  // namespace tilewright

#endif  // TILEWRIGHT_TESTS_CACHE_CACHE_FIXTURE_H_
