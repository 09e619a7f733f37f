#include "cache/prefer.h"

#include <cctype>
#include <tuple>

#include "cache/rows.h"

namespace tilewright {
namespace {

bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// The digit run at the start of `text`, without leading zeros; taken off `text`.
std::string_view TakeNumber(std::string_view& text) {
  size_t end = 0;
  while (end < text.size() && IsDigit(text[end])) ++end;
  std::string_view number = text.substr(0, end);
  text.remove_prefix(end);
  while (number.size() > 1 && number[0] == '0') number.remove_prefix(1);
  return number;
}

}  // namespace

int CompareVersions(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    if (IsDigit(a[0]) && IsDigit(b[0])) {
      std::string_view left = TakeNumber(a);
      std::string_view right = TakeNumber(b);
      if (left.size() != right.size()) return left.size() < right.size() ? -1 : 1;
      if (int order = left.compare(right); order != 0) return order;
    } else {
      if (a[0] != b[0]) return a[0] < b[0] ? -1 : 1;
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return static_cast<int>(!a.empty()) - static_cast<int>(!b.empty());
}

bool IsBetter(const KernelRow& a, std::string_view a_bytes_sum, const KernelRow& b,
              std::string_view b_bytes_sum) {
  if (int order = CompareVersions(a.compiler, b.compiler); order != 0) return order > 0;
  // Created and last use are merged apart.
  return std::make_tuple(a.compile_ms, LogicalSum(a, a_bytes_sum)) <
         std::make_tuple(b.compile_ms, LogicalSum(b, b_bytes_sum));
}

bool IsBetter(const WinnerRow& a, const WinnerRow& b) {
  return std::make_tuple(a.median_us, std::string_view(a.config_json), LogicalSum(a),
                         a.tuned_unix) <
         std::make_tuple(b.median_us, std::string_view(b.config_json), LogicalSum(b), b.tuned_unix);
}

bool IsBetter(const TrialRow& a, const TrialRow& b) {
  return std::make_tuple(a.status, -a.samples, a.median_us, LogicalSum(a), a.measured_unix) <
         std::make_tuple(b.status, -b.samples, b.median_us, LogicalSum(b), b.measured_unix);
}

}  // namespace tilewright
