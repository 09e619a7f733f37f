// The build-time generator's parts: each writes one C++ file from the repository's inputs.
#ifndef TILEWRIGHT_TOOLS_GENERATOR_GENERATE_H_
#define TILEWRIGHT_TOOLS_GENERATOR_GENERATE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tilewright::generator {

// An input: its path relative to the repository's root, and its text.
struct Input {
  std::string path;
  std::string text;
};

// The table behind BuiltinReference(): every TILEWRIGHT_REFERENCE(op) at the start of a line.
absl::StatusOr<std::string> GenerateReferences(const std::vector<Input>& inputs);
// The table behind MakeBuiltinRecipe(): every TILEWRIGHT_RECIPE(op) at the start of a line.
absl::StatusOr<std::string> GenerateRecipes(const std::vector<Input>& inputs);
// The table behind BuiltinTemplates(): the text of every .cuh file.
absl::StatusOr<std::string> GenerateTemplates(const std::vector<Input>& inputs);

// `text` as C++ string literals, one a line of the text, safe for any bytes.
std::string CppString(std::string_view text);

}  // namespace tilewright::generator

#endif  // TILEWRIGHT_TOOLS_GENERATOR_GENERATE_H_
