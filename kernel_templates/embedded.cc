#include "kernel_templates/embedded.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "manifest/digest.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

// The paths of `#include "..."` directives, in order. `#include <...>` is not ours.
std::vector<std::string> IncludedPaths(std::string_view text) {
  std::vector<std::string> paths;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const auto skip_blanks = [&line] {
      while (!line.empty() && (line[0] == ' ' || line[0] == '\t')) line.remove_prefix(1);
    };
    skip_blanks();
    if (!line.starts_with('#')) continue;
    line.remove_prefix(1);
    skip_blanks();
    if (!line.starts_with("include")) continue;
    line.remove_prefix(std::string_view("include").size());
    skip_blanks();
    if (!line.starts_with('"')) continue;
    line.remove_prefix(1);
    const size_t quote = line.find('"');
    if (quote != std::string_view::npos) paths.emplace_back(line.substr(0, quote));
  }
  return paths;
}

}  // namespace

TemplateSet TemplateSet::Builtin() {
  TemplateSet set;
  const EmbeddedFiles files = BuiltinTemplates();
  for (const EmbeddedFile* file = files.begin; file != files.end; ++file) {
    set.Add(std::string(file->path), std::string(file->text));
  }
  return set;
}

void TemplateSet::Add(std::string path, std::string text) {
  files_.insert_or_assign(std::move(path), std::move(text));
}

absl::Status TemplateSet::OverrideFrom(const std::string& directory) {
  std::error_code error;
  fs::recursive_directory_iterator entries(directory, error);
  if (error) return NotFound("template directory ", directory, ": ", error.message());
  bool found = false;
  for (const fs::recursive_directory_iterator end; entries != end; entries.increment(error)) {
    if (error) return Internal("template directory ", directory, ": ", error.message());
    if (entries->path().extension() != ".cuh" || !entries->is_regular_file(error)) continue;
    std::ifstream file(entries->path(), std::ios::binary);
    if (!file) return NotFound("cannot read template ", entries->path().string());
    found = true;
    Add(entries->path().lexically_relative(directory).generic_string(),
        std::string(std::istreambuf_iterator<char>(file), {}));
  }
  if (error) return Internal("template directory ", directory, ": ", error.message());
  if (!found) {
    return NotFound("template directory ", directory, ": expected .cuh files below it, got none");
  }
  return absl::OkStatus();
}

const std::string* TemplateSet::Find(std::string_view path) const {
  const auto found = files_.find(path);
  return found == files_.end() ? nullptr : &found->second;
}

absl::StatusOr<std::map<std::string, std::string>> TemplateSet::Closure(
    std::string_view path) const {
  const std::string* root = Find(path);
  if (root == nullptr) return NotFound("no template '", path, "'");
  std::map<std::string, std::string> closure{{std::string(path), *root}};
  std::vector<std::string> pending{std::string(path)};
  while (!pending.empty()) {
    const std::string from = std::move(pending.back());
    pending.pop_back();
    for (std::string& included : IncludedPaths(closure.at(from))) {
      if (closure.contains(included)) continue;
      const std::string* text = Find(included);
      if (text == nullptr) {
        return NotFound("template '", from, "' includes '", included, "', which does not exist");
      }
      closure.emplace(included, *text);
      pending.push_back(std::move(included));
    }
  }
  return closure;
}

absl::StatusOr<std::string> TemplateSet::ClosureDigest(std::string_view path) const {
  TW_ASSIGN_OR_RETURN(const auto closure, Closure(path));
  Digest digest;
  for (const auto& [name, text] : closure) digest.Add(name).Add(text);
  return digest.Hex();
}

}  // namespace tilewright
