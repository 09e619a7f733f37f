// Guards the direction of includes and the one door per third-party dependency (CMakeLists.txt).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace tilewright {
namespace {

namespace fs = std::filesystem;
using Tree = std::map<std::string, std::string>;  // path relative to the root -> text

// Which folders the files of a folder may include.
const std::map<std::string, std::set<std::string>>& AllowedFolders() {
  static const std::map<std::string, std::set<std::string>> allowed = {
      {"manifest", {"manifest"}},
      {"autotune", {"autotune", "manifest"}},
      {"cache", {"cache", "manifest"}},
      {"kernel_templates", {"kernel_templates", "autotune", "manifest"}},
      {"runtime", {"runtime", "kernel_templates", "autotune", "cache", "manifest"}}};
  return allowed;
}

// What only the files under `folder` may contain, and in how many files at most (0: any number).
struct Door {
  std::string name;
  std::string pattern;
  std::string folder;
  int max_files;
};

const std::vector<Door>& Doors() {
  static const std::vector<Door> doors = {
      {"yaml-cpp", R"(#include\s*<yaml-cpp/)", "manifest/", 1},
      {"SQLite", R"(#include\s*<sqlite3\.h>)", "cache/", 0},
      {"NVRTC", R"(#include\s*<nvrtc\.h>)", "runtime/", 1},
      {"CUDA driver", R"(#include\s*<cuda(_runtime|_runtime_api|Typedefs)?\.h>)", "runtime/driver/",
       0},
      {"CUPTI", R"(#include\s*<cupti)", "runtime/measure/", 0},
      {"spdlog", R"(#include\s*<spdlog/)", "runtime/", 1},
      {"environment", R"(\b(secure_)?getenv\s*\()", "runtime/", 1},
      {"inline PTX", R"(\basm\s*(volatile)?\s*\()", "kernel_templates/device/", 0}};
  return doors;
}

std::vector<std::string> IncludeFindings(const std::string& path, const std::string& text) {
  std::vector<std::string> findings;
  const auto allowed = AllowedFolders().find(path.substr(0, path.find('/')));
  if (allowed == AllowedFolders().end()) return findings;
  static const std::regex include(R"re(#include\s*"([a-z_]+)/[^"]*")re");
  for (std::sregex_iterator it(text.begin(), text.end(), include), end; it != end; ++it) {
    const std::string folder = (*it)[1];
    const bool layer = AllowedFolders().count(folder) > 0 || folder == "tools" ||
                       folder == "tests" || folder == "bench";
    if (layer && allowed->second.count(folder) == 0) {
      findings.push_back(path + " includes " + folder + "/, which is above it or beside it");
    }
  }
  return findings;
}

std::vector<std::string> DoorFindings(const Door& door, const Tree& tree) {
  std::vector<std::string> findings;
  std::vector<std::string> users;
  const std::regex pattern(door.pattern);
  for (const auto& [path, text] : tree) {
    if (!std::regex_search(text, pattern)) continue;
    users.push_back(path);
    if (path.rfind(door.folder, 0) != 0) {
      findings.push_back(path + " uses " + door.name + ", which belongs to " + door.folder);
    }
  }
  if (door.max_files > 0 && static_cast<int>(users.size()) > door.max_files) {
    std::string message = door.name + " has more than one door:";
    for (const std::string& user : users) message += " " + user;
    findings.push_back(message);
  }
  return findings;
}

std::vector<std::string> Findings(const Tree& tree) {
  std::vector<std::string> findings;
  for (const auto& [path, text] : tree) {
    for (std::string& finding : IncludeFindings(path, text)) findings.push_back(finding);
  }
  for (const Door& door : Doors()) {
    for (std::string& finding : DoorFindings(door, tree)) findings.push_back(finding);
  }
  return findings;
}

Tree ProductTree() {
  Tree tree;
  const fs::path root = TILEWRIGHT_SOURCE_DIR;
  for (const char* folder :
       {"manifest", "autotune", "cache", "kernel_templates", "runtime", "tools", "bench"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string extension = entry.path().extension();
      if (extension != ".h" && extension != ".cc" && extension != ".cuh") continue;
      std::ostringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      tree[fs::relative(entry.path(), root)] = text.str();
    }
  }
  return tree;
}

// The tree as it is has no finding.
TEST(LayeringTest, TreeFollowsTheLayers) {
  const Tree tree = ProductTree();
  ASSERT_GT(tree.size(), 20u);
  EXPECT_THAT(Findings(tree), testing::IsEmpty());
}

// The check itself sees each kind of breach.
TEST(LayeringTest, SeesPlantedBreaches) {
  const Tree tree = {
      {"manifest/a.cc", "#include \"runtime/runtime.h\"\n"},
      {"autotune/a.cc", "#include \"cache/cache.h\"\n"},
      {"cache/a.cc", "#include \"autotune/config.h\"\n#include \"manifest/status.h\"\n"},
      {"manifest/x.cc", "#include <yaml-cpp/yaml.h>\n"},
      {"manifest/y.cc", "#include <yaml-cpp/yaml.h>\n"},
      {"runtime/a.cc", "#include <sqlite3.h>\nconst char* v = std::getenv(\"X\");\n"},
      {"runtime/b.cc", "#include <cuda.h>\n"},
      {"tools/a.cc", "const char* v = getenv(\"X\");\n"},
      {"kernel_templates/norm/a.cuh", "asm volatile(\"bar.sync 0;\");\n"}};
  EXPECT_THAT(Findings(tree), testing::UnorderedElementsAre(
                                  "manifest/a.cc includes runtime/, which is above it or beside it",
                                  "autotune/a.cc includes cache/, which is above it or beside it",
                                  "cache/a.cc includes autotune/, which is above it or beside it",
                                  "yaml-cpp has more than one door: manifest/x.cc manifest/y.cc",
                                  "runtime/a.cc uses SQLite, which belongs to cache/",
                                  "runtime/b.cc uses CUDA driver, which belongs to runtime/driver/",
                                  "tools/a.cc uses environment, which belongs to runtime/",
                                  "environment has more than one door: runtime/a.cc tools/a.cc",
                                  "kernel_templates/norm/a.cuh uses inline PTX, which belongs to "
                                  "kernel_templates/device/"));
}

}  // namespace
}  // namespace tilewright
