// The scripts that the README names: each says what it is for, and does nothing it was not asked.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace tilewright {
namespace {

struct Ran {
  int code = -1;
  std::string out;  // and the errors
};

Ran RunScript(const std::string& name, const std::string& argument) {
  Ran ran;
  const std::string command =
      "'" TILEWRIGHT_SOURCE_DIR "/tools/" + name + "' " + argument + " 2>&1 </dev/null";
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return ran;
  std::array<char, 512> buffer;
  while (fgets(buffer.data(), static_cast<int>(buffer.size()), pipe) != nullptr) {
    ran.out += buffer.data();
  }
  const int status = pclose(pipe);
  ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

class ScriptsTest : public ::testing::TestWithParam<const char*> {};

// Guards: --help names the script and its arguments, exit code 0; nothing is installed or built.
TEST_P(ScriptsTest, Help) {
  const Ran ran = RunScript(GetParam(), "--help");
  EXPECT_EQ(ran.code, 0) << ran.out;
  EXPECT_NE(ran.out.find(std::string("tools/") + GetParam()), std::string::npos) << ran.out;
  EXPECT_EQ(ran.out.find("nstalling:"), std::string::npos) << ran.out;
}

// Guards: an argument that has no meaning is misuse, and is named.
TEST_P(ScriptsTest, UnknownArgument) {
  const Ran ran = RunScript(GetParam(), "--no-such-argument");
  EXPECT_EQ(ran.code, 2) << ran.out;
  EXPECT_NE(ran.out.find("'--no-such-argument'"), std::string::npos) << ran.out;
}

INSTANTIATE_TEST_SUITE_P(Tools, ScriptsTest,
                         ::testing::Values("quickstart", "test", "install_deps", "bundle"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace tilewright
