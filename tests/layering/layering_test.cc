// Guards the direction of includes and the one door per third-party dependency (CMakeLists.txt).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
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
  std::string word;  // in every line that the pattern matches
  std::string pattern;
  std::string folder;
  int max_files;
  std::string except;  // a file elsewhere that may, or empty
};

const std::vector<Door>& Doors() {
  static const std::vector<Door> doors = {
      {"yaml-cpp", "yaml-cpp", R"(#include\s*<yaml-cpp/)", "manifest/", 1, ""},
      {"SQLite", "sqlite3", R"(#include\s*<sqlite3\.h>)", "cache/", 0, ""},
      {"NVRTC", "nvrtc", R"(#include\s*<nvrtc\.h>)", "runtime/", 1, ""},
      // The excepted file measures the bare driver beside us.
      {"CUDA driver", "cuda", R"(#include\s*<cuda(_runtime|_runtime_api|Typedefs)?\.h>)",
       "runtime/driver/", 0, "bench/host/gpu_call_bench.cc"},
      {"CUPTI", "cupti", R"(#include\s*<cupti)", "runtime/measure/", 0, ""},
      {"spdlog", "spdlog", R"(#include\s*<spdlog/)", "runtime/", 1, ""},
      {"environment", "getenv", R"(\b(secure_)?getenv\s*\()", "runtime/", 1, ""},
      {"inline PTX", "asm", R"(\basm\s*(volatile)?\s*\()", "kernel_templates/device/", 0, ""}};
  return doors;
}

// The lines of `text` that contain `word`: a pattern over whole files takes seconds.
std::vector<std::string> LinesWith(const std::string& text, const std::string& word) {
  std::vector<std::string> lines;
  for (size_t at = text.find(word); at != std::string::npos;) {
    const size_t begin = at == 0 ? 0 : text.rfind('\n', at) + 1;
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(begin, end - begin));
    at = text.find(word, end);
  }
  return lines;
}

std::vector<std::string> IncludeFindings(const std::string& path, const std::string& text) {
  std::vector<std::string> findings;
  const auto allowed = AllowedFolders().find(path.substr(0, path.find('/')));
  if (allowed == AllowedFolders().end()) return findings;
  static const std::regex include(R"re(#include\s*"([a-z_]+)/[^"]*")re");
  for (const std::string& line : LinesWith(text, "#include")) {
    std::smatch match;
    if (!std::regex_search(line, match, include)) continue;
    const std::string folder = match[1];
    const bool layer = AllowedFolders().count(folder) > 0 || folder == "tools" ||
                       folder == "tests" || folder == "bench";
    if (layer && allowed->second.count(folder) == 0) {
      findings.push_back(path);
      findings.back()
          .append(" includes ")
          .append(folder)
          .append("/, which is above it or beside it");
    }
  }
  return findings;
}

std::vector<std::string> DoorFindings(const Door& door, const Tree& tree) {
  std::vector<std::string> findings;
  std::vector<std::string> users;
  const std::regex pattern(door.pattern);
  for (const auto& [path, text] : tree) {
    const std::vector<std::string> lines = LinesWith(text, door.word);
    const bool uses = std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
      return std::regex_search(line, pattern);
    });
    if (!uses || path == door.except) continue;
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

// A reference judges kernels, so no kernel may help to make it.
std::vector<std::string> ReferenceFindings(const Tree& tree) {
  std::vector<std::string> findings;
  for (const auto& [path, text] : tree) {
    if (path.rfind("manifest/references/", 0) != 0) continue;
    for (const std::string& line : LinesWith(text, "#include")) {
      if (line.find(".cuh") != std::string::npos) {
        findings.push_back(path + " is a reference and includes a template");
      }
    }
  }
  return findings;
}

// Device headers are self-contained: they include each other and nothing of the host.
std::vector<std::string> DeviceFindings(const Tree& tree) {
  std::vector<std::string> findings;
  for (const auto& [path, text] : tree) {
    if (path.rfind("kernel_templates/device/", 0) != 0 || path.find(".cuh") == std::string::npos) {
      continue;
    }
    for (const std::string& line : LinesWith(text, "#include")) {
      const bool device = line.find("\"device/") != std::string::npos;
      if (line.find('"') != std::string::npos && !device) {
        findings.push_back(path);
        findings.back().append(" is a device header and has ").append(line);
      }
    }
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
  for (std::string& finding : ReferenceFindings(tree)) findings.push_back(finding);
  for (std::string& finding : DeviceFindings(tree)) findings.push_back(finding);
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

// What `tests/fuzz/run --sources TARGET` prints.
std::set<std::string> FuzzSources(const std::string& target) {
  const std::string command =
      std::string(TILEWRIGHT_SOURCE_DIR "/tests/fuzz/run --sources ") + target;
  FILE* pipe = popen(command.c_str(), "r");
  std::string text;
  for (int c = fgetc(pipe); c != EOF; c = fgetc(pipe)) text += static_cast<char>(c);
  EXPECT_EQ(pclose(pipe), 0) << command;
  std::istringstream lines(text);
  return {std::istream_iterator<std::string>(lines), std::istream_iterator<std::string>()};
}

// The fuzz targets are linked without CMake, of a list of sources: each header that one of them
// includes must find its own source in the list.
TEST(LayeringTest, FuzzTargetsAreLinkedWhole) {
  const fs::path root = TILEWRIGHT_SOURCE_DIR;
  static const std::regex include(R"re(#include "([^"]*)\.h")re");
  int targets = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(root / "tests/fuzz")) {
    const std::string name = entry.path().filename();
    const size_t end = name.find("_main.cc");
    if (end == std::string::npos) continue;
    ++targets;
    const std::set<std::string> sources = FuzzSources(name.substr(0, end));
    EXPECT_THAT(sources, testing::Contains("tests/fuzz/" + name));
    for (const std::string& source : sources) {
      std::ostringstream text;
      text << std::ifstream(root / source).rdbuf();
      for (const std::string& line : LinesWith(text.str(), "#include")) {
        std::smatch match;
        if (!std::regex_search(line, match, include)) continue;
        const std::string beside = match[1].str() + ".cc";
        if (!fs::exists(root / beside)) continue;
        EXPECT_THAT(sources, testing::Contains(beside)) << "for " << source << " of " << name;
      }
    }
  }
  EXPECT_EQ(targets, 5);
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
      {"kernel_templates/norm/a.cuh", "asm volatile(\"bar.sync 0;\");\n"},
      {"kernel_templates/device/a.cuh", "#include \"norm/a.cuh\"\n#include \"device/b.cuh\"\n"},
      {"manifest/references/a.cc", "#include \"norm/a.cuh\"\n"}};
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
                                  "kernel_templates/device/",
                                  "manifest/references/a.cc is a reference and includes a template",
                                  "kernel_templates/device/a.cuh is a device header and has "
                                  "#include \"norm/a.cuh\""));
}

}  // namespace
}  // namespace tilewright
