#include <algorithm>
#include <map>
#include <set>

#include "manifest/status.h"
#include "tools/generator/generate.h"

namespace tilewright::generator {
namespace {

// Ops named by `marker`(op) at the start of a line, with the file that has it.
absl::StatusOr<std::map<std::string, std::string>> FindMarkers(const std::vector<Input>& inputs,
                                                               std::string_view marker) {
  std::map<std::string, std::string> ops;
  for (const Input& input : inputs) {
    for (size_t at = input.text.find(marker); at != std::string::npos;
         at = input.text.find(marker, at + 1)) {
      if (at != 0 && input.text[at - 1] != '\n') continue;
      const size_t open = at + marker.size();
      const size_t close = input.text.find(')', open);
      if (open >= input.text.size() || input.text[open] != '(' || close == std::string::npos) {
        return InvalidArgument(input.path, ": ", marker, " is not followed by (Op)");
      }
      const std::string op = input.text.substr(open + 1, close - open - 1);
      const auto [found, inserted] = ops.emplace(op, input.path);
      if (!inserted) {
        return InvalidArgument(input.path, ": ", marker, "(", op, ") is also in ", found->second);
      }
    }
  }
  return ops;
}

std::string RooflineTable(const std::map<std::string, std::string>& formulas) {
  std::string out = "\n";
  for (const auto& [formula, path] : formulas) {
    out += Cat("TILEWRIGHT_ROOFLINE(", formula, ")(const CallDesc&);  // ", path, "\n");
  }
  out += "\nRooflineFormula BuiltinRoofline([[maybe_unused]] std::string_view formula) {\n";
  for (const auto& [formula, path] : formulas) {
    out += Cat("  if (formula == \"", formula, "\") return Roofline_", formula, ";\n");
  }
  return out + "  return {};\n}\n";
}

// `std::vector<std::string_view> name()`, the markers' operators.
std::string MarkerList(std::string_view name, const std::map<std::string, std::string>& ops) {
  std::string out = Cat("\nstd::vector<std::string_view> ", name, "() {\n  return {\n");
  for (const auto& [op, path] : ops) out += Cat("      \"", op, "\",\n");
  return out + "  };\n}\n";
}

}  // namespace

std::string CppString(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n\"\n    \"";
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x7f || c == '?') {
      // Octal escapes are three digits at most, so that a following digit is never swallowed.
      out += '\\';
      out += static_cast<char>('0' + (byte >> 6));
      out += static_cast<char>('0' + ((byte >> 3) & 7));
      out += static_cast<char>('0' + (byte & 7));
    } else {
      out += c;
    }
  }
  return out + '"';
}

absl::StatusOr<std::string> GenerateReferences(const std::vector<Input>& inputs) {
  TW_ASSIGN_OR_RETURN(const auto ops, FindMarkers(inputs, "TILEWRIGHT_REFERENCE"));
  TW_ASSIGN_OR_RETURN(const auto cases, FindMarkers(inputs, "TILEWRIGHT_EDGE_CASES"));
  TW_ASSIGN_OR_RETURN(const auto values, FindMarkers(inputs, "TILEWRIGHT_INPUTS"));
  TW_ASSIGN_OR_RETURN(const auto formulas, FindMarkers(inputs, "TILEWRIGHT_ROOFLINE"));
  std::string out = Cat(kNotice,
                        "#include \"manifest/edge_cases.h\"\n"
                        "#include \"manifest/input_values.h\"\n"
                        "#include \"manifest/reference.h\"\n\n"
                        "namespace tilewright {\n\n");
  for (const auto& [op, path] : ops) {
    out += Cat("absl::Status Reference_", op,
               "(const ReferenceCall&, int, std::span<const int64_t>,\n"
               "    std::span<RefScalar>);  // ",
               path, "\n");
  }
  out += "\nReferenceFunction BuiltinReference(std::string_view op) {\n";
  for (const auto& [op, path] : ops) {
    out += Cat("  if (op == \"", op, "\") return Reference_", op, ";\n");
  }
  out += ops.empty() ? "  (void)op;\n" : "";
  out += Cat("  return {};\n}\n", MarkerList("BuiltinReferenceOps", ops), "\n");
  for (const auto& [op, path] : values) {
    out += Cat("TILEWRIGHT_INPUTS(", op, ")(const InputRequest&);  // ", path, "\n");
  }
  out += "\nInputFunction BuiltinInputs(std::string_view op) {\n";
  for (const auto& [op, path] : values) {
    out += Cat("  if (op == \"", op, "\") return Inputs_", op, ";\n");
  }
  out += values.empty() ? "  (void)op;\n" : "";
  out += "  return {};\n}\n\n";
  for (const auto& [op, path] : cases) {
    out += Cat("TILEWRIGHT_EDGE_CASES(", op, ");  // ", path, "\n");
  }
  out += "\nstd::vector<Workload> BuiltinEdgeCases(std::string_view op) {\n";
  for (const auto& [op, path] : cases) {
    out += Cat("  if (op == \"", op, "\") return EdgeCases_", op, "();\n");
  }
  out += cases.empty() ? "  (void)op;\n" : "";
  return out + "  return {};\n}\n" + RooflineTable(formulas) + "\n}  // namespace tilewright\n";
}

absl::StatusOr<std::string> GeneratePeers(const std::vector<Input>& inputs) {
  constexpr std::string_view kEnd = "Op\"";
  std::set<std::string> ops;
  for (const Input& input : inputs) {
    for (size_t at = input.text.find(kEnd); at != std::string::npos;
         at = input.text.find(kEnd, at + 1)) {
      const size_t quote = input.text.rfind('"', at);
      if (quote == std::string::npos) continue;
      ops.insert(input.text.substr(quote + 1, at + kEnd.size() - quote - 2));
    }
  }
  if (ops.empty()) return InvalidArgument("no operator is named in the peers' script");
  std::string out = Cat(kNotice, "#include \"bench/peers/peers.h\"\n\nnamespace tilewright {\n\n",
                        "bool HasTorchPeer(std::string_view op) {\n");
  for (const std::string& op : ops) out += Cat("  if (op == ", CppString(op), ") return true;\n");
  return out + "  return false;\n}\n\n}  // namespace tilewright\n";
}

absl::StatusOr<std::string> GenerateRecipes(const std::vector<Input>& inputs) {
  TW_ASSIGN_OR_RETURN(const auto ops, FindMarkers(inputs, "TILEWRIGHT_RECIPE"));
  std::string out =
      Cat(kNotice, "#include \"kernel_templates/recipe.h\"\n\nnamespace tilewright {\n\n");
  for (const auto& [op, path] : ops) out += Cat("TILEWRIGHT_RECIPE(", op, ");  // ", path, "\n");
  out += "\nstd::unique_ptr<Recipe> MakeBuiltinRecipe(std::string_view op) {\n";
  for (const auto& [op, path] : ops) {
    out += Cat("  if (op == \"", op, "\") return MakeRecipe_", op, "();\n");
  }
  out += ops.empty() ? "  (void)op;\n" : "";
  return Cat(out, "  return nullptr;\n}\n", MarkerList("BuiltinRecipeOps", ops),
             "\n}  // namespace tilewright\n");
}

absl::StatusOr<std::string> GenerateTemplates(const std::vector<Input>& inputs) {
  constexpr std::string_view kRoot = "kernel_templates/";
  std::map<std::string, std::string_view> files;
  for (const Input& input : inputs) {
    if (!input.path.starts_with(kRoot)) return InvalidArgument(input.path, ": not under ", kRoot);
    files.emplace(input.path.substr(kRoot.size()), input.text);
  }
  std::string out = Cat(kNotice,
                        "#include <array>\n\n#include \"kernel_templates/embedded.h\"\n\n"
                        "namespace tilewright {\nnamespace {\n\n"
                        "constexpr std::array<EmbeddedFile, ",
                        files.size(), "> kFiles = {{\n");
  for (const auto& [path, text] : files) {
    out += Cat("    {\"", path, "\",\n    ", CppString(text), "},\n");
  }
  return out +
         "}};\n\n}  // namespace\n\nEmbeddedFiles BuiltinTemplates() {\n"
         "  return {kFiles.data(), kFiles.data() + kFiles.size()};\n}\n\n"
         "}  // namespace tilewright\n";
}

}  // namespace tilewright::generator
