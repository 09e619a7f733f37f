// Runs the built CLI as a user would.
#ifndef TILEWRIGHT_TESTS_TOOLS_CLI_PROCESS_H_
#define TILEWRIGHT_TESTS_TOOLS_CLI_PROCESS_H_

#include <map>
#include <string>
#include <vector>

namespace tilewright {

struct CliResult {
  int code = -1;
  std::string out;
  std::string err;
};

// A folder of its own, deleted at the end; HOME and XDG_CACHE_HOME point into it.
class CliSandbox {
 public:
  CliSandbox();
  ~CliSandbox();
  CliSandbox(const CliSandbox&) = delete;
  CliSandbox& operator=(const CliSandbox&) = delete;

  const std::string& dir() const { return dir_; }
  std::string Path(const std::string& name) const { return dir_ + "/" + name; }
  std::string Write(const std::string& name, const std::string& text) const;
  // TILEWRIGHT_* variables are unset except those in `environment`. `output` is where standard
  // output goes instead of into the result, as the shell's ">" takes it.
  CliResult Run(const std::vector<std::string>& arguments,
                const std::map<std::string, std::string>& environment = {},
                const std::string& output = "") const;

 private:
  std::string dir_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_TESTS_TOOLS_CLI_PROCESS_H_
