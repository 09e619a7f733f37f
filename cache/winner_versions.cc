#include "cache/winner_versions.h"

#include <algorithm>

#include "cache/rows.h"
#include "manifest/status.h"

namespace tilewright {

std::string VersionOf(std::string_view closure_digest, std::string_view space_digest) {
  return BytesSum(closure_digest, space_digest).substr(0, 16);
}

std::string VersionOf(const WinnerRow& row) {
  return VersionOf(row.closure_digest, row.space_digest);
}

std::string VersionedKey(std::string_view problem_key, std::string_view version) {
  return Cat(problem_key, "@", version);
}

std::string ProblemOf(const WinnerRow& row) {
  const std::string ending = VersionedKey("", VersionOf(row));
  std::string_view key = row.key;
  if (key.ends_with(ending)) key.remove_suffix(ending.size());
  return std::string(key);
}

void ArrangeVersions(std::string_view problem_key, std::vector<WinnerRow>& rows) {
  std::sort(rows.begin(), rows.end(), [](const WinnerRow& a, const WinnerRow& b) {
    if (a.tuned_unix != b.tuned_unix) return a.tuned_unix > b.tuned_unix;
    return VersionOf(a) < VersionOf(b);
  });
  if (rows.size() > kMostVersions) rows.resize(kMostVersions);
  for (WinnerRow& row : rows) {
    row.key =
        &row == rows.data() ? std::string(problem_key) : VersionedKey(problem_key, VersionOf(row));
  }
}

}  // namespace tilewright
