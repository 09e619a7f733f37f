// tilewright-generate MODE ROOT LIST OUTPUT: writes the C++ file OUTPUT from the inputs that LIST
// names, one path a line. Run by the build, never by a user.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "manifest/status.h"
#include "tools/generator/generate.h"

namespace tilewright::generator {
namespace {

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return NotFound("cannot read ", path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

absl::StatusOr<std::vector<Input>> ReadInputs(const std::string& root, const std::string& list) {
  std::ifstream file(list);
  if (!file) return NotFound("cannot read ", list);
  std::vector<Input> inputs;
  for (std::string path; std::getline(file, path);) {
    if (path.empty()) continue;
    TW_ASSIGN_OR_RETURN(std::string text, ReadFile(path));
    if (path.starts_with(root + "/")) path.erase(0, root.size() + 1);
    inputs.push_back({std::move(path), std::move(text)});
  }
  return inputs;
}

absl::StatusOr<std::string> Generate(const std::string& mode, const std::vector<Input>& inputs) {
  if (mode == "ops") return GenerateOps(inputs);
  if (mode == "wrappers") return GenerateWrappers(inputs);
  if (mode == "references") return GenerateReferences(inputs);
  if (mode == "recipes") return GenerateRecipes(inputs);
  if (mode == "peers") return GeneratePeers(inputs);
  if (mode == "templates") return GenerateTemplates(inputs);
  return InvalidArgument("unknown mode '", mode, "'");
}

absl::Status Run(const std::string& mode, const std::string& root, const std::string& list,
                 const std::string& output) {
  TW_ASSIGN_OR_RETURN(const std::vector<Input> inputs, ReadInputs(root, list));
  TW_ASSIGN_OR_RETURN(const std::string text, Generate(mode, inputs));
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(output).parent_path(), error);
  std::ofstream file(output, std::ios::binary);
  file << text;
  file.close();
  return file ? absl::OkStatus() : Internal("cannot write ", output);
}

}  // namespace
}  // namespace tilewright::generator

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: tilewright-generate MODE ROOT LIST OUTPUT\n";
    return 2;
  }
  const absl::Status status = tilewright::generator::Run(argv[1], argv[2], argv[3], argv[4]);
  if (!status.ok()) std::cerr << "tilewright-generate: " << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
