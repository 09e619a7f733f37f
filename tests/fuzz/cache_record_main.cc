// libFuzzer target: raw SQLite records as rows of the cache.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "cache/bounds.h"
#include "cache/page_scan.h"
#include "cache/rows.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tilewright;
  std::vector<RecordValue> values;
  if (!ParseRecord({reinterpret_cast<const char*>(data), size}, values)) return 0;
  if (auto kernel = DecodeKernel(values)) (void)FlawOf(*kernel, kernel->sum);
  if (auto winner = DecodeWinner(values)) (void)FlawOf(*winner);
  if (auto trial = DecodeTrial(values)) (void)FlawOf(*trial);
  if (auto bytes = DecodeBytes(values)) (void)FlawOfCubin(bytes->bytes, "sm_90a");
  return 0;
}
