#include "tools/cli.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "manifest/status.h"
#include "manifest/text.h"
#include "tools/message.h"

namespace tilewright {

int Fail(const absl::Status& status) {
  // Misuse is told in the user's own words, which may be many.
  const bool is_misuse = absl::IsInvalidArgument(status) || absl::IsNotFound(status);
  const std::string message = MessageOf(status);
  std::cerr << "tilewright: " << (is_misuse ? BriefLines(message) : message) << "\n";
  return is_misuse ? kMisuse : kFindings;
}

int FailFinding(const absl::Status& status) {
  (void)Fail(status);
  return kFindings;
}

int Misuse(std::string_view message) {
  std::cerr << "tilewright: " << message << "\n";
  return kMisuse;
}

CLI::App* AddCommand(CLI::App& app, CliContext& context, const std::string& name,
                     const std::string& description, std::function<int()> run) {
  CLI::App* command = app.add_subcommand(name, description);
  command->fallthrough();
  command->footer(kSharedHelp);
  command->callback([&context, run = std::move(run)] { context.run = run; });
  return command;
}

namespace {

// Parses all of `text`; the parser behind the options would take 010 for 8, and NaN for in range.
template <class Number>
CLI::Validator Between(Number low, Number high, std::string_view kind) {
  const std::string name = Cat(kind, " in [", low, " - ", high, "]");
  return CLI::Validator(
      [low, high, name](const std::string& text) -> std::string {
        Number value{};
        const char* const end = text.data() + text.size();
        const auto [stopped, error] = std::from_chars(text.data(), end, value);
        const size_t digits = text.find_first_not_of('-');
        const bool octal = digits != std::string::npos && text[digits] == '0' &&
                           digits + 1 < text.size() && std::isdigit(text[digits + 1]) != 0;
        const bool good =
            error == std::errc() && stopped == end && !octal && value >= low && value <= high;
        return good ? "" : Cat("expected ", name, ", got '", text, "'");
      },
      name);
}

absl::Status CheckCachePath(const std::string& path, CacheAccess access) {
  if (path.empty()) {
    return InvalidArgument("no cache file: give --cache FILE or set TILEWRIGHT_CACHE");
  }
  if (access == CacheAccess::kExisting || access == CacheAccess::kExistingWritable) {
    std::error_code error;
    const bool exists = std::filesystem::exists(path, error);
    if (error) return FailedPrecondition("no cache at ", path, ": ", error.message());
    if (!exists) return FailedPrecondition("no cache at ", path, " (tilewright warm makes one)");
    if (IsEmptyFile(path)) return FailedPrecondition("no cache at ", path, ": the file is empty");
  }
  return absl::OkStatus();
}

// The reason is in the log.
absl::Status CheckCacheMode(Cache& cache, const std::string& path, CacheAccess access) {
  if (access != CacheAccess::kExisting) (void)PersistPatiently(cache);
  const std::string mode = cache.Stats().mode;
  if (access == CacheAccess::kExisting && mode == "memory") {
    return FailedPrecondition("the cache ", path, " cannot be read");
  }
  const bool reads = access == CacheAccess::kExisting || access == CacheAccess::kFilled;
  if (mode == "memory" || (mode == "read-only" && !reads)) {
    return FailedPrecondition("the cache ", path, " cannot be written (mode: ", mode, ")");
  }
  return absl::OkStatus();
}

}  // namespace

bool IsEmptyFile(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) > 0 || error) return false;
  const auto wal_bytes = fs::file_size(path + "-wal", error);
  return error || wal_bytes == 0;
}

CLI::Validator IntegerBetween(uint64_t low, uint64_t high) {
  return Between<uint64_t>(low, high, "INT");
}
CLI::Validator NumberBetween(double low, double high) {
  return Between<double>(low, high, "NUMBER");
}

absl::StatusOr<std::unique_ptr<Cache>> OpenCacheFile(const std::string& path, CacheAccess access) {
  TW_RETURN_IF_ERROR(CheckCachePath(path, access));
  CacheOptions options;
  options.path = path;
  options.log = [](std::string_view message) { std::cerr << "tilewright: " << message << "\n"; };
  TW_ASSIGN_OR_RETURN(std::unique_ptr<Cache> cache, Cache::Open(std::move(options)));
  TW_RETURN_IF_ERROR(CheckCacheMode(*cache, path, access));
  return cache;
}

absl::StatusOr<std::unique_ptr<Runtime>> OpenRuntime(const RuntimeOptions& options,
                                                     CacheAccess access) {
  TW_RETURN_IF_ERROR(CheckCachePath(options.cache_path, access));
  TW_ASSIGN_OR_RETURN(std::unique_ptr<Runtime> runtime, Runtime::Open(options));
  TW_RETURN_IF_ERROR(CheckCacheMode(runtime->cache(), options.cache_path, access));
  return runtime;
}

absl::StatusOr<std::unique_ptr<Cache>> OpenCache(const RuntimeOptions& options,
                                                 CacheAccess access) {
  return OpenCacheFile(options.cache_path, access);
}

absl::Status CheckOutputFile(const std::string& path) {
  constexpr std::string_view kDatabase("SQLite format 3\0", 16);
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (path.empty() || !fs::exists(status)) return absl::OkStatus();
  if (!fs::is_regular_file(status)) {
    return InvalidArgument("--output: expected a file, got ",
                           fs::is_directory(status) ? "the folder " : "the device or pipe ", path);
  }
  std::string head(kDatabase.size(), ' ');
  std::ifstream(path, std::ios::binary)
      .read(head.data(), static_cast<std::streamsize>(head.size()));
  if (head != kDatabase) return absl::OkStatus();
  return InvalidArgument("--output: refusing to replace the database ", path);
}

absl::Status WriteOutputFile(const std::string& path, std::string_view text) {
  TW_RETURN_IF_ERROR(CheckOutputFile(path));
  // A link stays one; what it leads to is replaced.
  std::error_code error;
  const std::filesystem::path resolved = std::filesystem::weakly_canonical(path, error);
  const std::string target = error ? path : resolved.string();
  const std::string temporary = Cat(target, ".", getpid(), ".tmp");
  std::ofstream file(temporary, std::ios::binary);
  file << text;
  file.close();
  if (file) std::filesystem::rename(temporary, target, error);
  if (file && !error) return absl::OkStatus();
  const std::string why = error ? error.message() : std::string(std::strerror(errno));
  std::filesystem::remove(temporary, error);
  return FailedPrecondition("cannot write ", path, ": ", why);
}

absl::Status PersistPatiently(Cache& cache) {
  // Of a gigabyte, a repair takes minutes.
  return cache.PersistedWithin(std::chrono::minutes(5));
}

int CodeOfStored(Cache& cache, int code) {
  const absl::Status stored = PersistPatiently(cache);
  return stored.ok() ? code : Fail(stored);
}

bool IsTerminal() { return isatty(STDOUT_FILENO) == 1; }

std::string HumanBytes(int64_t bytes) {
  static const char* const kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1000 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  std::ostringstream text;
  const int digits = unit == 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  text << std::fixed << std::setprecision(digits) << value << " " << kUnits[unit];
  return text.str();
}

}  // namespace tilewright
