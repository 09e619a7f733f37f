// Moving rows between stores: copy, merge, compare, collect garbage.
#ifndef TILEWRIGHT_CACHE_TRANSFER_H_
#define TILEWRIGHT_CACHE_TRANSFER_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cache/cache.h"
#include "cache/store.h"

namespace tilewright {

// Every row of `from` into `to`; to be called inside to.Write().
absl::Status CopyRows(Store& from, Store& to, Conflict conflict);

// The rows of another cache file; what is not fit is named in `rejected`.
struct ForeignRows {
  std::vector<WinnerRow> winners;
  std::vector<TrialRow> trials;
  std::vector<std::string> rejected;
};
// Kernels are handed to `take` one by one.
absl::StatusOr<ForeignRows> ReadForeign(Store& from,
                                        const std::function<absl::Status(KernelRow)>& take);

// Logical checksums by "table key", and a line for people that says what the row holds.
struct Summary {
  std::string sum;
  std::string text;
};
using Summaries = std::map<std::string, Summary>;
// Adds the rows whose names are not there yet.
absl::Status Summarize(Store& store, Summaries& summaries);
CacheDiff Compare(const Summaries& left, const Summaries& right);

// Deletes kernels until the pages in use hold at most `max_bytes`, in the order of Cache::Gc, never
// `keep_key`. Gives the space back to the filesystem.
absl::StatusOr<int64_t> CollectGarbage(Store& store, int64_t max_bytes, std::string_view keep_key);

}  // namespace tilewright

#endif  // TILEWRIGHT_CACHE_TRANSFER_H_
