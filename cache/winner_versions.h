// Winners of one problem that were measured with different templates or spaces. Their times are not
// comparable, and each is the winner for the library that measured it: so they are kept side by
// side, under keys of their own.
#ifndef TILEWRIGHT_CACHE_WINNER_VERSIONS_H_
#define TILEWRIGHT_CACHE_WINNER_VERSIONS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cache/cache.h"

namespace tilewright {

// Of one problem, the latest: a kernel author makes one with every edit.
inline constexpr size_t kMostVersions = 8;

// What was measured with, in 16 hex digits.
std::string VersionOf(std::string_view closure_digest, std::string_view space_digest);
std::string VersionOf(const WinnerRow& row);

// A row's key in the file is its problem's, where it is the problem's latest version, else this.
std::string VersionedKey(std::string_view problem_key, std::string_view version);
// The problem's key, by the row's key in the file.
std::string ProblemOf(const WinnerRow& row);

// Orders rows of one problem, one a version, the latest first; takes off those beyond
// kMostVersions; and gives each its key in the file.
void ArrangeVersions(std::string_view problem_key, std::vector<WinnerRow>& rows);

}  // namespace tilewright

#endif  // TILEWRIGHT_CACHE_WINNER_VERSIONS_H_
