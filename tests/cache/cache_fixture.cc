#include "tests/cache/cache_fixture.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "manifest/status.h"
#include "tests/cache/test_cubin.h"

namespace tilewright {

TempFolder::TempFolder() {
  // In memory where that is to be had: most of a test's time would be waiting for fsync.
  std::string root = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  std::string pattern = root + "/tilewright_cache_XXXXXX";
  EXPECT_NE(mkdtemp(pattern.data()), nullptr);
  path_ = pattern;
}
TempFolder::~TempFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}
std::vector<std::string> TempFolder::Names() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

CacheLog LogLines::Sink() {
  return [this](std::string_view line) {
    std::lock_guard<std::mutex> lock(mutex);
    lines.emplace_back(line);
  };
}
size_t LogLines::Count(const std::string& part) {
  std::lock_guard<std::mutex> lock(mutex);
  return static_cast<size_t>(
      std::count_if(lines.begin(), lines.end(),
                    [&](const std::string& line) { return line.find(part) != std::string::npos; }));
}

KernelRow TestKernel(int i, size_t cubin_bytes) {
  KernelRow row;
  row.key = Cat("kernel-", i);
  row.op = i % 2 == 0 ? "GemmFwdOp" : "RmsNormFwdOp";
  row.template_file = "gemm/wgmma.cuh";
  row.instantiation = Cat("tilewright::GemmKernel<kTileM=", i, ">");
  row.lowered_name = Cat("_ZN10tilewright10GemmKernelI", i, "E");
  row.arch = "sm_90a";
  row.compiler = "nvrtc 13.0.88";
  row.flags = "-std=c++20";
  row.closure_digest = "c105ed";
  row.cubin_digest = Cat("d", i);
  row.registers = 168;
  row.static_smem_bytes = 1024;
  row.spill_bytes = 0;
  row.compile_ms = 31.25 + i;
  row.created_unix = 1700000000 + i;
  row.last_used_unix = 1700000000 + i;
  row.cubin = TestCubin(static_cast<unsigned>(i),
                        cubin_bytes != 0 ? cubin_bytes : 6000 + static_cast<size_t>(i));
  return row;
}

WinnerRow TestWinner(int i) {
  WinnerRow row;
  row.key = Cat("problem-", i);
  row.op = "GemmFwdOp";
  row.dtypes = "bfloat16,bfloat16->bfloat16";
  row.problem_json = Cat(R"({"M":)", 128 * (i + 1), R"(,"N":7168,"K":2048})");
  row.device = "NVIDIA H200/132";
  row.config_json = Cat(R"({"variant":"wgmma","tile_m":)", 64 * (i + 1), "}");
  row.kernel_keys = Cat("kernel-", 2 * i);
  row.median_us = 8.125 + i;
  row.sol_us = 6.5;
  row.efficiency = 6.5 / (8.125 + i);
  row.trials = 12;
  row.closure_digest = "c105ed";
  row.space_digest = "5bace";
  row.version = "0.1.0";
  row.tuned_unix = 1700000000 + i;
  return row;
}

TrialRow TestTrial(int i) {
  TrialRow row;
  row.problem_key = Cat("problem-", i / 4);
  row.op = "GemmFwdOp";
  row.device = "NVIDIA H200/132";
  row.config_json = Cat(R"({"variant":"wgmma","tile_m":)", 16 * (i + 1), "}");
  row.closure_digest = "c105ed";
  row.status = i % 4 == 3 ? TrialStatus::kWrong : TrialStatus::kOk;
  row.samples = 25;
  row.median_us = 9.5 + i;
  row.p10_us = 9.25 + i;
  row.p90_us = 9.75 + i;
  row.registers = 128;
  row.error = i % 4 == 3 ? "output 17 is 2, expected 1" : "";
  row.measured_unix = 1700000000 + i;
  return row;
}

void ExpectSame(const KernelRow& expected, const KernelRow& got) {
  EXPECT_EQ(got.key, expected.key);
  EXPECT_EQ(got.op, expected.op);
  EXPECT_EQ(got.template_file, expected.template_file);
  EXPECT_EQ(got.instantiation, expected.instantiation);
  EXPECT_EQ(got.lowered_name, expected.lowered_name);
  EXPECT_EQ(got.arch, expected.arch);
  EXPECT_EQ(got.compiler, expected.compiler);
  EXPECT_EQ(got.flags, expected.flags);
  EXPECT_EQ(got.closure_digest, expected.closure_digest);
  EXPECT_EQ(got.cubin_digest, expected.cubin_digest);
  EXPECT_EQ(got.registers, expected.registers);
  EXPECT_EQ(got.static_smem_bytes, expected.static_smem_bytes);
  EXPECT_EQ(got.spill_bytes, expected.spill_bytes);
  EXPECT_EQ(got.compile_ms, expected.compile_ms);
  EXPECT_EQ(got.compile_log, expected.compile_log);
  EXPECT_EQ(got.created_unix, expected.created_unix);
  EXPECT_TRUE(got.cubin == expected.cubin) << "cubin of " << expected.key << " differs";
}

void ExpectSame(const WinnerRow& expected, const WinnerRow& got) {
  EXPECT_EQ(got.key, expected.key);
  EXPECT_EQ(got.op, expected.op);
  EXPECT_EQ(got.dtypes, expected.dtypes);
  EXPECT_EQ(got.problem_json, expected.problem_json);
  EXPECT_EQ(got.device, expected.device);
  EXPECT_EQ(got.config_json, expected.config_json);
  EXPECT_EQ(got.kernel_keys, expected.kernel_keys);
  EXPECT_EQ(got.median_us, expected.median_us);
  EXPECT_EQ(got.sol_us, expected.sol_us);
  EXPECT_EQ(got.efficiency, expected.efficiency);
  EXPECT_EQ(got.trials, expected.trials);
  EXPECT_EQ(got.closure_digest, expected.closure_digest);
  EXPECT_EQ(got.space_digest, expected.space_digest);
  EXPECT_EQ(got.version, expected.version);
  EXPECT_EQ(got.tuned_unix, expected.tuned_unix);
}

void Fill(Cache& cache) {
  for (int i = 0; i < kKernels; ++i) ASSERT_TRUE(cache.PutKernel(TestKernel(i)).ok());
  std::vector<TrialRow> trials;
  for (int i = 0; i < kWinners; ++i) ASSERT_TRUE(cache.PutWinner(TestWinner(i)).ok());
  for (int i = 0; i < kTrials; ++i) trials.push_back(TestTrial(i));
  ASSERT_TRUE(cache.PutTrials(trials).ok());
}

void MakeFile(const std::string& path) {
  auto cache = OpenCache(path);
  Fill(*cache);
}

Served ReadAll(Cache& cache) {
  Served served;
  for (int i = 0; i < kKernels; ++i) {
    if (auto row = cache.FindKernel(Cat("kernel-", i))) {
      ExpectSame(TestKernel(i), *row);
      ++served.kernels;
    }
  }
  for (int i = 0; i < kWinners; ++i) {
    if (auto row = cache.FindWinner(Cat("problem-", i))) {
      ExpectSame(TestWinner(i), *row);
      ++served.winners;
    }
    for (const TrialRow& row : cache.Trials(Cat("problem-", i))) {
      EXPECT_EQ(row.samples, 25);
      ++served.trials;
    }
  }
  return served;
}

void ExpectAll(Cache& cache) {
  const Served served = ReadAll(cache);
  EXPECT_EQ(served.kernels, kKernels);
  EXPECT_EQ(served.winners, kWinners);
  EXPECT_EQ(served.trials, kTrials);
}

std::unique_ptr<Cache> OpenCache(CacheOptions options) {
  auto cache = Cache::Open(std::move(options));
  EXPECT_TRUE(cache.ok()) << cache.status();
  return cache.ok() ? std::move(cache).value() : nullptr;
}

std::unique_ptr<Cache> OpenCache(const std::string& path, LogLines* log) {
  CacheOptions options;
  options.path = path;
  if (log != nullptr) options.log = log->Sink();
  return OpenCache(std::move(options));
}

std::string ReadFileBytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}
void WriteFileBytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string Shell(const std::string& path, const std::string& sql) {
  FILE* pipe = popen(Cat("sqlite3 -bail '", path, "' \"", sql, "\" 2>&1").c_str(), "r");
  std::string output;
  char chunk[4096];
  for (size_t got = 0; (got = fread(chunk, 1, sizeof(chunk), pipe)) > 0;) output.append(chunk, got);
  pclose(pipe);
  return output;
}

std::vector<size_t> LeavesOf(const std::string& path, const std::string& name) {
  const std::string numbers =
      Shell(path, Cat("select pageno from dbstat where name = '", name, "' and pagetype = 'leaf'"));
  std::vector<size_t> pages;
  for (size_t at = 0; at < numbers.size(); at = numbers.find('\n', at) + 1) {
    pages.push_back(std::stoul(numbers.substr(at)) - 1);
  }
  return pages;
}

int InChild(const std::function<int()>& body, int uid) {
  pid_t child = fork();
  if (child == 0) {
    if (uid >= 0 &&
        (setgid(static_cast<gid_t>(uid)) != 0 || setuid(static_cast<uid_t>(uid)) != 0)) {
      _exit(199);
    }
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 200;
}

}  // namespace tilewright
