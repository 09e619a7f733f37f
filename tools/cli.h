// What the CLI's commands share: global options, exit codes, and opening the cache.
#ifndef TILEWRIGHT_TOOLS_CLI_H_
#define TILEWRIGHT_TOOLS_CLI_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cache/cache.h"
#include "runtime/runtime.h"

namespace CLI {
class App;
class Validator;
}  // namespace CLI

namespace tilewright {

enum ExitCode : int { kDone = 0, kFindings = 1, kMisuse = 2 };

// The state of one CLI run. Commands add themselves to the parser and leave what to do in `run`.
struct CliContext {
  RuntimeOptions runtime;  // from the environment, then the command line
  // For commands that fill the cache, which strict mode tells users to run.
  RuntimeOptions Compiling() const {
    RuntimeOptions options = runtime;
    options.strict = false;
    return options;
  }
  std::function<int()> run;  // set by the command that was chosen; returns an exit code
};

// True for a file without bytes, of which opening it would make a cache. Beside a WAL that holds
// some it is a damaged cache.
bool IsEmptyFile(const std::string& path);

// Prints "tilewright: message" to standard error. InvalidArgument and NotFound are misuse, anything
// else is a finding.
int Fail(const absl::Status& status);
int Misuse(std::string_view message);
// The same for what is no misuse, whatever its code: the state of a file.
int FailFinding(const absl::Status& status);

// OK where all that was put is in the cache's file, which may be in repair by another process for a
// while: that is waited for, and then the file is in use.
absl::Status PersistPatiently(Cache& cache);

// `code`, or kFindings and why on standard error, where not all that was put is in the cache's
// file.
int CodeOfStored(Cache& cache, int code);

// What every command's help ends with.
inline constexpr char kSharedHelp[] =
    "Every command takes --cache FILE (else TILEWRIGHT_CACHE, else the XDG cache directory) and "
    "--verbose.\nExit codes: 0 done, 1 findings, or the work could not be done (such as without a "
    "cache file), 2 misuse.";

// A subcommand whose options may also stand before or after the global ones. `run` is called after
// parsing; it reads the option values that the command owns.
CLI::App* AddCommand(CLI::App& app, CliContext& context, const std::string& name,
                     const std::string& description, std::function<int()> run);

// Accepts a whole number in decimal, or a finite number, from `low` to `high`.
CLI::Validator IntegerBetween(uint64_t low, uint64_t high);
CLI::Validator NumberBetween(double low, double high);

// How a command opens the cache: kExisting fails where there is no file or it cannot be read;
// kWritable creates it, and fails where what is stored would not last; kExistingWritable does both;
// kFilled creates it, and takes one that can only be read as it is.
enum class CacheAccess : uint8_t { kExisting, kWritable, kExistingWritable, kFilled };
absl::StatusOr<std::unique_ptr<Cache>> OpenCache(const RuntimeOptions& options, CacheAccess access);
// The same for a file other than the configured cache.
absl::StatusOr<std::unique_ptr<Cache>> OpenCacheFile(const std::string& path, CacheAccess access);

// A runtime whose cache can be accessed so.
absl::StatusOr<std::unique_ptr<Runtime>> OpenRuntime(const RuntimeOptions& options,
                                                     CacheAccess access);

// OK where a command may write `path` anew, or where it is empty: InvalidArgument where it is a
// folder, a device or anything else but a regular file, or a database, such as a cache, whose
// content would be lost.
absl::Status CheckOutputFile(const std::string& path);
// Replaces `path` by `text`, whole or not at all. The errors of CheckOutputFile(), and
// FailedPrecondition where the folder cannot be written.
absl::Status WriteOutputFile(const std::string& path, std::string_view text);

// True where standard output is a terminal (progress may then rewrite its line).
bool IsTerminal();

// "2.1 MB": three significant digits, powers of 1000.
std::string HumanBytes(int64_t bytes);

void AddCacheCommands(CLI::App& app, CliContext& context);
void AddOpsCommand(CLI::App& app, CliContext& context);
void AddValidateCommand(CLI::App& app, CliContext& context);
void AddWarmCommand(CLI::App& app, CliContext& context);
void AddCoverageCommand(CLI::App& app, CliContext& context);
void AddTuneCommand(CLI::App& app, CliContext& context);
void AddInspectCommand(CLI::App& app, CliContext& context);
void AddExplainCommand(CLI::App& app, CliContext& context);
void AddConformCommand(CLI::App& app, CliContext& context);
void AddBenchCommand(CLI::App& app, CliContext& context);
void AddCalibrateCommand(CLI::App& app, CliContext& context);
void AddDoctorCommand(CLI::App& app, CliContext& context);

}  // namespace tilewright

#endif  // TILEWRIGHT_TOOLS_CLI_H_
