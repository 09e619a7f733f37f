// libFuzzer target: any file as a bundle to merge, and as a cache to open. Whatever comes in must
// pass its checksum, and the cache that took it must be sound.
#include <stdlib.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "cache/cache.h"
#include "tests/cache/test_cubin.h"

namespace {

// One folder for the process; libFuzzer runs inputs one after the other.
const std::string& Folder() {
  static const std::string folder = [] {
    std::string pattern = "/dev/shm/tilewright_fuzz_XXXXXX";
    return std::string(mkdtemp(pattern.data()));
  }();
  return folder;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tilewright;
  std::string path = Folder() + "/bundle.db";
  for (const char* tail : {"", "-wal", "-shm", "-journal", ".lock", ".corrupt-1"}) {
    unlink((path + tail).c_str());
  }
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  auto memory = Cache::Open({});
  if (!memory.ok()) abort();
  (void)(*memory)->Merge(path).ok();
  if (!(*memory)->Check().problems.empty()) abort();
  CacheOptions options;
  options.path = path;
  auto opened = Cache::Open(options);
  if (!opened.ok()) {
    if (opened.status().code() != absl::StatusCode::kFailedPrecondition) abort();
    return 0;
  }
  KernelRow row;
  row.key = "kernel-1";
  row.arch = "sm_90a";
  row.cubin = TestCubin();
  if (!(*opened)->PutKernel(row).ok()) abort();
  auto found = (*opened)->FindKernel("kernel-1");
  if (!found || found->cubin != row.cubin) abort();
  (void)(*opened)->AllWinners();
  return 0;
}
