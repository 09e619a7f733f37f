#include "manifest/nearest_name.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

#include "manifest/status.h"

namespace tilewright {
namespace {

// Longer ones are nobody's slip, and would cost time.
constexpr size_t kLongest = 64;
// Shorter ones begin too much.
constexpr size_t kShortestPart = 3;

std::string Plain(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c != '_' && c != '-')
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return plain;
}

// The optimal string alignment distance (Damerau-Levenshtein without edits of what was swapped).
size_t Edits(std::string_view a, std::string_view b) {
  std::vector<size_t> before;
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before = last;
    last = row;
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t wrong = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + wrong});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view NearestName(std::string_view name, std::span<const std::string_view> known) {
  if (name.size() > kLongest) return {};
  const std::string plain = Plain(name);
  std::string_view part_of;
  std::string_view nearest;
  size_t fewest = std::max<size_t>(1, plain.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    if (candidate.size() > kLongest) continue;
    const std::string other = Plain(candidate);
    const bool is_part =
        plain.size() >= kShortestPart && (other.starts_with(plain) || other.ends_with(plain));
    if (is_part && (part_of.empty() || candidate.size() < part_of.size())) part_of = candidate;
    const size_t edits = Edits(plain, other);
    // Of two as near, the longer: more is forgotten than added.
    const bool nearer = edits < fewest ||
                        (edits == fewest && !nearest.empty() && candidate.size() > nearest.size());
    if (nearer && edits < other.size()) {
      fewest = edits;
      nearest = candidate;
    }
  }
  const bool is_spelling = !nearest.empty() && fewest == 0;
  return is_spelling || part_of.empty() ? nearest : part_of;
}

std::string DidYouMean(std::string_view name, std::span<const std::string_view> known) {
  const std::string_view nearest = NearestName(name, known);
  return nearest.empty() ? std::string() : Cat("; did you mean '", nearest, "'?");
}

}  // namespace tilewright
