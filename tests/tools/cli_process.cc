#include "tests/tools/cli_process.h"

#include <stdlib.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tilewright {
namespace {

std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string ReadFile(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

CliSandbox::CliSandbox() {
  std::string pattern = std::filesystem::temp_directory_path() / "tilewright-cli-XXXXXX";
  dir_ = mkdtemp(pattern.data());
}

CliSandbox::~CliSandbox() {
  std::error_code ignored;
  std::filesystem::remove_all(dir_, ignored);
}

std::string CliSandbox::Write(const std::string& name, const std::string& text) const {
  std::ofstream(Path(name)) << text;
  return Path(name);
}

CliResult CliSandbox::Run(const std::vector<std::string>& arguments,
                          const std::map<std::string, std::string>& environment,
                          const std::string& output) const {
  std::string command =
      "env -u TILEWRIGHT_CACHE -u TILEWRIGHT_STRICT -u TILEWRIGHT_TEMPLATES HOME=" + Quoted(dir_) +
      " XDG_CACHE_HOME=" + Quoted(Path("xdg"));
  for (const auto& [name, value] : environment) command += " " + name + "=" + Quoted(value);
  command += " " + Quoted(TILEWRIGHT_CLI_PATH);
  for (const std::string& argument : arguments) command += " " + Quoted(argument);
  command += " >" + (output.empty() ? Quoted(Path("stdout")) : output);
  command += " 2>" + Quoted(Path("stderr"));
  const int status = std::system(command.c_str());
  CliResult result;
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (output.empty()) result.out = ReadFile(Path("stdout"));
  result.err = ReadFile(Path("stderr"));
  return result;
}

}  // namespace tilewright
