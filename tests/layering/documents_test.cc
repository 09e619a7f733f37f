// Guards the documents: the tests, files and folders that they name exist.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace tilewright {
namespace {

namespace fs = std::filesystem;

std::string TextOf(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// The files of the tree that end so, build folders aside.
std::vector<fs::path> FilesEnding(const fs::path& root, const std::string& extension) {
  std::vector<fs::path> files;
  for (auto at = fs::recursive_directory_iterator(root); at != fs::end(at); ++at) {
    const std::string name = at->path().filename().string();
    if (at->is_directory() && (name == "build" || name[0] == '.')) at.disable_recursion_pending();
    if (at->is_regular_file() && at->path().extension() == extension) files.push_back(at->path());
  }
  return files;
}

// "Suite.Name" of every test.
std::set<std::string> TestsOf(const fs::path& root) {
  static const std::regex declaration(R"(^TEST(_F|_P)?\((\w+),\s*(\w+)\).*)");
  std::set<std::string> tests;
  for (const fs::path& file : FilesEnding(root / "tests", ".cc")) {
    std::istringstream text(TextOf(file));
    for (std::string line; std::getline(text, line);) {
      std::smatch match;
      if (line.starts_with("TEST") && std::regex_match(line, match, declaration)) {
        tests.insert(match[2].str() + "." + match[3].str());
      }
    }
  }
  return tests;
}

// Whether it is one of them; with a star at the end, the beginning of one.
bool IsTest(std::string name, const std::set<std::string>& tests) {
  if (!name.ends_with('*')) return tests.count(name) > 0;
  name.pop_back();
  const auto at = tests.lower_bound(name);
  return at != tests.end() && at->starts_with(name);
}

// What stands between backquotes and has the form of a test or of a path from the root, and is
// none.
std::vector<std::string> Unknown(const std::string& text, const fs::path& root,
                                 const std::set<std::string>& tests) {
  static const std::regex quoted("`([^`\n]+)`");
  static const std::regex test(R"((?:\w+/)?([A-Z]\w+\.(?:[A-Z]\w*\*?|\*)))");
  static const std::regex path(R"((\w+)/[\w./-]+)");
  std::vector<std::string> unknown;
  for (std::sregex_iterator at(text.begin(), text.end(), quoted), end; at != end; ++at) {
    const std::string name = (*at)[1];
    std::smatch match;
    if (std::regex_match(name, match, test)) {
      if (!IsTest(match[1], tests)) unknown.push_back(name);
    } else if (std::regex_match(name, match, path)) {
      const bool ours = match[1] != "build" && fs::is_directory(root / match[1].str());
      if (ours && !fs::exists(root / name)) unknown.push_back(name);
    }
  }
  return unknown;
}

TEST(DocumentsTest, NameWhatExists) {
  const fs::path root = TILEWRIGHT_SOURCE_DIR;
  const std::set<std::string> tests = TestsOf(root);
  EXPECT_GT(tests.size(), 500u);
  const std::vector<fs::path> documents = FilesEnding(root, ".md");
  EXPECT_GT(documents.size(), 5u);
  for (const fs::path& document : documents) {
    EXPECT_THAT(Unknown(TextOf(document), root, tests), testing::IsEmpty()) << document;
  }
}

// Guards the check itself.
TEST(DocumentsTest, SeesWhatDoesNot) {
  const std::string text =
      "`DocumentsTest.SeesWhatDoesNot`, `Rows/DocumentsTest.Sees*`, `DocumentsTest.*`, "
      "`DocumentsTest.Nothing`, `NoTest.*`, `README.md`, `tests/layering`, `tests/none.cc`, "
      "`build/none`, `n/m`";
  EXPECT_THAT(Unknown(text, TILEWRIGHT_SOURCE_DIR, {"DocumentsTest.SeesWhatDoesNot"}),
              testing::ElementsAre("DocumentsTest.Nothing", "NoTest.*", "tests/none.cc"));
}

}  // namespace
}  // namespace tilewright
