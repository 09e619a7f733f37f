// tilewright cache stats|check|gc|export|import|merge|diff
#include <CLI/CLI.hpp>
#include <charconv>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "manifest/status.h"
#include "manifest/text.h"
#include "tools/cli.h"
#include "tools/json_text.h"
#include "tools/message.h"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

struct CacheArgs {
  bool json = false;
  std::string max_bytes;
  std::string file;
  std::vector<std::string> files;
  std::string output;
};

int RunStats(const CliContext& context, const CacheArgs& args) {
  auto cache = OpenCache(context.runtime, CacheAccess::kExisting);
  if (!cache.ok()) return Fail(cache.status());
  const CacheStats stats = (*cache)->Stats();
  if (args.json) {
    PrintJson(Json{{"path", stats.path},
                   {"mode", stats.mode},
                   {"schema_version", stats.schema_version},
                   {"kernels", stats.kernels},
                   {"winners", stats.winners},
                   {"trials", stats.trials},
                   {"cubin_bytes", stats.cubin_bytes},
                   {"file_bytes", stats.file_bytes},
                   {"damaged_files", stats.damaged_files}});
    return kDone;
  }
  std::cout << "path         " << stats.path << "\nmode         " << stats.mode << "\nschema       "
            << stats.schema_version << "\nkernels      " << stats.kernels << " ("
            << HumanBytes(stats.cubin_bytes) << " of cubins)\nwinners      " << stats.winners
            << "\ntrials       " << stats.trials << "\nfile         "
            << HumanBytes(stats.file_bytes) << "\ndamaged      " << stats.damaged_files
            << " files set aside";
  if (stats.damaged_files > 0) std::cout << " as " << stats.path << ".corrupt-<n>";
  std::cout << "\n";
  return kDone;
}

void PrintCheck(const CheckReport& report, const CacheStats& after) {
  for (const std::string& problem : report.problems) std::cout << problem << "\n";
  std::cout << report.rows_checked << " of " << (report.found_all ? "" : "at least ")
            << report.rows_found << " rows are intact, " << report.problems.size() << " problems\n";
  if (report.rebuilt) std::cout << "the file was rebuilt from its intact rows\n";
  if (report.deleted > 0) {
    std::cout << report.deleted << " damaged rows were deleted, to be built anew\n";
  }
  if (!report.not_deleted.ok()) {
    std::cout << "damaged rows could not be deleted, and are not served: "
              << MessageOf(report.not_deleted) << "\n";
  }
  if (after.damaged_files > 0) {
    std::cout << after.damaged_files << " damaged files are kept as " << after.path
              << ".corrupt-<n>\n";
  }
}

// What a repair before the check lost: it is not in the file any more.
void AddDamageAtOpening(const CacheStats& opened, CheckReport& report) {
  std::vector<std::string> problems = {"file: " + opened.damage};
  for (const std::string& row : opened.lost) {
    problems.push_back("lost with the damaged file: " + Escaped(row));
  }
  report.problems.insert(report.problems.begin(), problems.begin(), problems.end());
  report.rows_found += opened.rows_lost;
  report.found_all = report.found_all && opened.knows_all_lost;
}

int RunCheck(const CliContext& context, const CacheArgs& args) {
  auto cache = OpenCache(context.runtime, CacheAccess::kExisting);
  if (!cache.ok()) return Fail(cache.status());
  // Asked first: a damaged file is rebuilt, or salvaged, when it is opened.
  const CacheStats before = (*cache)->Stats();
  const std::string& damage = before.damage;
  CheckReport report = (*cache)->Check();
  if (!damage.empty()) AddDamageAtOpening(before, report);
  const CacheStats after = (*cache)->Stats();
  if (args.json) {
    PrintJson(Json{{"rows_checked", report.rows_checked},
                   {"rows_found", report.rows_found},
                   {"found_all", report.found_all},
                   {"problems", report.problems},
                   {"deleted", report.deleted},
                   {"not_deleted", MessageOf(report.not_deleted)},
                   {"rebuilt", report.rebuilt || (!damage.empty() && after.mode != "read-only")},
                   {"damaged_files", after.damaged_files}});
  } else {
    PrintCheck(report, after);
  }
  return report.problems.empty() ? kDone : kFindings;
}

// "500000", "64k", "64kB", "1.5MB", "2G", powers of 1000; "64KiB", "1MiB", "2GiB", of 1024.
absl::StatusOr<int64_t> ParseBytes(const std::string& text) {
  double value = -1;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value, std::chars_format::general);
  const auto is_digit = [&](size_t i) {
    return i < text.size() && text[i] >= '0' && text[i] <= '9';
  };
  const bool is_number =
      parsed.ec == std::errc() && is_digit(0) && !(text[0] == '0' && is_digit(1));
  std::string unit(is_number ? parsed.ptr : end, end);
  if (!unit.empty() && (unit.back() == 'B' || unit.back() == 'b')) unit.pop_back();
  const bool binary = unit.size() == 2 && unit.back() == 'i';
  if (binary) unit.pop_back();
  const double step = binary ? 1024 : 1000;
  const double scale = unit.empty()                 ? 1
                       : unit == "k" || unit == "K" ? step
                       : unit == "M"                ? step * step
                       : unit == "G"                ? step * step * step
                                                    : 0;
  // A part of a byte is a slip, and would delete every kernel.
  const bool is_part = value > 0 && value * scale < 1;
  if (!is_number || scale == 0 || is_part || value * scale > 9e18) {
    return InvalidArgument("--max-bytes: expected a size such as 500MB or 1GiB, got '", text, "'");
  }
  return static_cast<int64_t>(value * scale);
}

int RunGc(const CliContext& context, const CacheArgs& args) {
  const absl::StatusOr<int64_t> max_bytes = ParseBytes(args.max_bytes);
  if (!max_bytes.ok()) return Fail(max_bytes.status());
  auto cache = OpenCache(context.runtime, CacheAccess::kExistingWritable);
  if (!cache.ok()) return Fail(cache.status());
  const absl::StatusOr<int64_t> deleted = (*cache)->Gc(*max_bytes);
  if (!deleted.ok()) return FailFinding(deleted.status());
  const int64_t file_bytes = (*cache)->Stats().file_bytes;
  if (args.json) {
    PrintJson(Json{{"kernels_deleted", *deleted}, {"file_bytes", file_bytes}});
  } else {
    std::cout << *deleted << " kernels deleted, the file holds " << HumanBytes(file_bytes);
    if (file_bytes > *max_bytes) {
      std::cout << ", more than --max-bytes: winners, trials and the file's own tables stay";
    }
    std::cout << "\n";
  }
  return (*cache)->Stats().lost.empty() ? kDone : kFindings;
}

int RunExport(const CliContext& context, const CacheArgs& args) {
  auto cache = OpenCache(context.runtime, CacheAccess::kExisting);
  if (!cache.ok()) return Fail(cache.status());
  const std::string damage = (*cache)->Stats().damage;
  absl::StatusOr<ExportReport> report = (*cache)->Export(args.file);
  if (!report.ok()) return Fail(report.status());
  if (!damage.empty()) report->dropped.insert(report->dropped.begin(), "file: " + damage);
  if (args.json) {
    PrintJson(Json{{"exported", args.file},
                   {"kernels", report->kernels},
                   {"winners", report->winners},
                   {"trials", report->trials},
                   {"dropped", report->dropped}});
  } else {
    std::cout << report->kernels << " kernels, " << report->winners << " winners and "
              << report->trials << " trials exported to " << args.file << "\n";
    for (const std::string& row : report->dropped) {
      std::cout << "  left out, damaged: " << row << "\n";
    }
  }
  return report->dropped.empty() ? kDone : kFindings;
}

// OK where `file` can be a cache. No file is no misuse, as for the cache itself.
absl::Status CheckForeign(const std::string& file) {
  std::error_code error;
  const bool is_file = std::filesystem::is_regular_file(file, error);
  if (is_file) return absl::OkStatus();
  return FailedPrecondition("no cache at ", file,
                            error ? Cat(": ", error.message()) : std::string());
}

// Tells what became of each file that was to be merged: as text at once, as JSON at the end.
class MergeOutput {
 public:
  explicit MergeOutput(bool json) : json_(json) {}

  void Refuse(const std::string& file, const absl::Status& status) {
    (void)FailFinding(status);
    reports_.push_back({{"file", file}, {"error", MessageOf(status)}});
    rejected_ = true;
  }

  void Tell(const std::string& file, const MergeReport& report) {
    rejected_ = rejected_ || !report.rejected.empty() || !report.written.ok();
    reports_.push_back({{"file", file},
                        {"kernels_added", report.kernels_added},
                        {"winners_added", report.winners_added},
                        {"winners_replaced", report.winners_replaced},
                        {"trials_added", report.trials_added},
                        {"rejected", report.rejected},
                        {"not_written", MessageOf(report.written)}});
    if (json_) return;
    std::cout << file << ": " << report.kernels_added << " kernels, " << report.winners_added
              << " winners and " << report.trials_added << " trials added, "
              << report.winners_replaced << " winners replaced\n";
    for (const std::string& row : report.rejected) std::cout << "  rejected " << row << "\n";
  }

  // `lost`: rows of the target, which was damaged.
  int End(const std::vector<std::string>& lost) const {
    if (json_) PrintJson(reports_);
    return rejected_ || !lost.empty() ? kFindings : kDone;
  }

 private:
  const bool json_;
  Json reports_ = Json::array();
  bool rejected_ = false;
};

// Merges files into the cache `target`, which is opened once there is something to put into it.
int MergeFiles(const std::string& target, const std::vector<std::string>& files, bool makes_one,
               bool json, std::unique_ptr<Cache>& cache) {
  MergeOutput output(json);
  for (const std::string& file : files) {
    if (cache == nullptr) {
      if (const absl::Status status = makes_one ? CheckIsCache(file) : absl::OkStatus();
          !status.ok()) {
        output.Refuse(file, status);
        continue;
      }
      absl::StatusOr<std::unique_ptr<Cache>> opened = OpenCacheFile(target, CacheAccess::kWritable);
      if (!opened.ok()) return Fail(opened.status());
      cache = *std::move(opened);
    }
    const absl::StatusOr<MergeReport> report = cache->Merge(file);
    if (!report.ok()) {
      output.Refuse(file, report.status());
      continue;
    }
    output.Tell(file, *report);
    if (!json && !report->written.ok()) return FailFinding(report->written);
  }
  return output.End(cache == nullptr ? std::vector<std::string>() : cache->Stats().lost);
}

// The same; a target that is made, and then takes no row, is removed. Rejected rows, and files that
// cannot be read, are findings, and what comes after them is merged all the same.
int MergeInto(const std::string& target, const std::vector<std::string>& files, bool json) {
  for (const std::string& file : files) {
    if (const absl::Status status = CheckForeign(file); !status.ok()) return Fail(status);
  }
  std::error_code error;
  const bool makes_one = !target.empty() && !std::filesystem::exists(target, error);
  std::unique_ptr<Cache> cache;
  const int code = MergeFiles(target, files, makes_one, json, cache);
  if (!makes_one || cache == nullptr || code == kDone) return code;
  cache.reset();
  RemoveEmptyCache(target);
  return code;
}

int RunDiff(const CliContext& context, const CacheArgs& args) {
  if (const absl::Status status = CheckForeign(args.file); !status.ok()) return Fail(status);
  auto cache = OpenCache(context.runtime, CacheAccess::kExisting);
  if (!cache.ok()) return Fail(cache.status());
  const absl::StatusOr<CacheDiff> diff = (*cache)->Diff(args.file);
  if (!diff.ok()) return FailFinding(diff.status());
  if (args.json) {
    PrintJson(Json{{"alike", diff->alike},
                   {"only_left", diff->only_left},
                   {"only_right", diff->only_right},
                   {"differing", diff->differing}});
  } else {
    for (const std::string& row : diff->only_left) std::cout << "< " << row << "\n";
    for (const std::string& row : diff->only_right) std::cout << "> " << row << "\n";
    for (const std::string& row : diff->differing) std::cout << "! " << row << "\n";
    std::cout << diff->alike << " rows alike, " << diff->only_left.size() << " only in the cache, "
              << diff->only_right.size() << " only in " << args.file << ", "
              << diff->differing.size() << " differ\n";
  }
  const bool same = diff->only_left.empty() && diff->only_right.empty() && diff->differing.empty();
  return same ? kDone : kFindings;
}

}  // namespace

void AddCacheCommands(CLI::App& app, CliContext& context) {
  auto args = std::make_shared<CacheArgs>();
  CLI::App* group = app.add_subcommand("cache", "Inspect and maintain the kernel cache");
  group->require_subcommand(0, 1);
  group->fallthrough();
  group->footer(kSharedHelp);
  const auto add = [&](const char* name, const char* description, std::function<int()> run) {
    CLI::App* command = AddCommand(*group, context, name, description, std::move(run));
    return command;
  };
  const CLI::Validator named(
      [](std::string& name) {
        return name.empty() ? "expected the name of a file" : std::string();
      },
      "");
  const auto json = [&](CLI::App* command) {
    command->add_flag("--json", args->json, "Print JSON");
    return command;
  };
  json(add("stats", "What the cache holds, in numbers",
           [&context, args] { return RunStats(context, *args); }));
  json(add(
      "check",
      "Verify every row, and the file; exit 1 if anything is bad. Damaged rows are deleted, to be "
      "built anew; a damaged file is rebuilt from its intact rows and kept as CACHE.corrupt-<n>",
      [&context, args] { return RunCheck(context, *args); }));
  json(add("gc",
           "Delete kernels until the file holds at most --max-bytes: losers of tuning first, then "
           "those that were not used for longest; winners and trials stay",
           [&context, args] { return RunGc(context, *args); }))
      ->add_option("--max-bytes", args->max_bytes, "Limit, such as 500MB or 1GiB")
      ->required();
  json(add("export",
           "Write a self-contained file that opens from a read-only folder; exit 1 if rows are "
           "damaged, which it then lacks",
           [&context, args] { return RunExport(context, *args); }))
      ->add_option("FILE", args->file, "File to write")
      ->required()
      ->check(named);
  json(add("import", "Add every valid row of FILE to the cache",
           [&context, args] {
             return MergeInto(context.runtime.cache_path, {args->file}, args->json);
           }))
      ->add_option("FILE", args->file, "Cache or export to read")
      ->required()
      ->check(named);
  CLI::App* merge = json(add("merge", "Merge caches, such as tuning shards, into --output",
                             [args] { return MergeInto(args->output, args->files, args->json); }));
  merge->add_option("FILES", args->files, "Caches to read")->required();
  merge->add_option("--output", args->output, "Cache to add to; made if absent")->required();
  json(add("diff", "Compare the cache (<) with FILE (>); exit 1 if they differ",
           [&context, args] { return RunDiff(context, *args); }))
      ->add_option("FILE", args->file, "Cache to compare with")
      ->required()
      ->check(named);
}

}  // namespace tilewright
