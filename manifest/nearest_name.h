// The name that a misspelt one was meant to be.
#ifndef TILEWRIGHT_MANIFEST_NEAREST_NAME_H_
#define TILEWRIGHT_MANIFEST_NEAREST_NAME_H_

#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tilewright {

// That of `known` which `name` begins or ends, the shortest; else the one with the fewest edits
// (a character that is missing, too many, wrong, or swapped with the next) away, at most one in
// three, the longer of two. Case, "_" and "-" make no difference. Empty where nothing is near.
std::string_view NearestName(std::string_view name, std::span<const std::string_view> known);

// "; did you mean 'GemmFwdOp'?", or empty: what ends a message on an unknown name.
std::string DidYouMean(std::string_view name, std::span<const std::string_view> known);

// The names of operators, tensors or parameters, or of what pointers lead to.
template <class Specs>
std::vector<std::string_view> NamesOf(const Specs& specs) {
  std::vector<std::string_view> names;
  for (const auto& spec : specs) {
    if constexpr (std::is_pointer_v<std::remove_cvref_t<decltype(spec)>>) {
      names.push_back(spec->name);
    } else {
      names.push_back(spec.name);
    }
  }
  return names;
}

}  // namespace tilewright

#endif  // TILEWRIGHT_MANIFEST_NEAREST_NAME_H_
