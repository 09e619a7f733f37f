// tilewright cache stats|check|gc|export|import|merge|diff
#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "manifest/status.h"
#include "tools/cli.h"
#include "tools/json_text.h"

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
    std::cout << Json{{"path", stats.path},
                      {"mode", stats.mode},
                      {"schema_version", stats.schema_version},
                      {"kernels", stats.kernels},
                      {"winners", stats.winners},
                      {"trials", stats.trials},
                      {"cubin_bytes", stats.cubin_bytes},
                      {"file_bytes", stats.file_bytes},
                      {"quarantined", stats.quarantined}}
                     .dump(2, ' ', false, kReplaceBadText)
              << "\n";
    return kDone;
  }
  std::cout << "path         " << stats.path << "\nmode         " << stats.mode << "\nschema       "
            << stats.schema_version << "\nkernels      " << stats.kernels << " ("
            << HumanBytes(stats.cubin_bytes) << " of cubins)\nwinners      " << stats.winners
            << "\ntrials       " << stats.trials << "\nfile         "
            << HumanBytes(stats.file_bytes) << "\nquarantined  " << stats.quarantined << "\n";
  return kDone;
}

int RunCheck(const CliContext& context, const CacheArgs& args) {
  auto cache = OpenCache(context.runtime, CacheAccess::kExisting);
  if (!cache.ok()) return Fail(cache.status());
  // Counted first: what was damaged is set aside or taken out when the file is opened.
  const int64_t quarantined = (*cache)->Stats().quarantined;
  CheckReport report = (*cache)->Check();
  if (quarantined > 0) {
    report.problems.insert(report.problems.begin(),
                           "file: it was damaged and was rebuilt from its intact rows");
  }
  if (args.json) {
    std::cout << Json{{"rows_checked", report.rows_checked}, {"problems", report.problems}}.dump(
                     2, ' ', false, kReplaceBadText)
              << "\n";
  } else {
    for (const std::string& problem : report.problems) std::cout << problem << "\n";
    std::cout << report.rows_checked << " rows checked, " << report.problems.size()
              << " problems\n";
  }
  return report.problems.empty() ? kDone : kFindings;
}

// "500000", "64k", "64kB", "1.5MB", "2G"; powers of 1000.
absl::StatusOr<int64_t> ParseBytes(const std::string& text) {
  size_t used = 0;
  double value = -1;
  try {
    value = std::stod(text, &used);
  } catch (const std::exception&) {
    value = -1;
  }
  std::string unit = text.substr(used);
  if (!unit.empty() && (unit.back() == 'B' || unit.back() == 'b')) unit.pop_back();
  const double scale = unit.empty()                 ? 1
                       : unit == "k" || unit == "K" ? 1e3
                       : unit == "M"                ? 1e6
                       : unit == "G"                ? 1e9
                                                    : 0;
  if (!(value >= 0) || scale == 0 || value * scale > 9e18) {
    return InvalidArgument("--max-bytes: expected a size such as 500MB, got '", text, "'");
  }
  return static_cast<int64_t>(value * scale);
}

int RunGc(const CliContext& context, const CacheArgs& args) {
  const absl::StatusOr<int64_t> max_bytes = ParseBytes(args.max_bytes);
  if (!max_bytes.ok()) return Fail(max_bytes.status());
  auto cache = OpenCache(context.runtime, CacheAccess::kExistingWritable);
  if (!cache.ok()) return Fail(cache.status());
  const absl::StatusOr<int64_t> deleted = (*cache)->Gc(*max_bytes);
  if (!deleted.ok()) return Fail(deleted.status());
  const int64_t file_bytes = (*cache)->Stats().file_bytes;
  if (args.json) {
    std::cout << Json{{"kernels_deleted", *deleted}, {"file_bytes", file_bytes}}.dump(
                     2, ' ', false, kReplaceBadText)
              << "\n";
  } else {
    std::cout << *deleted << " kernels deleted, the file holds " << HumanBytes(file_bytes) << "\n";
  }
  return kDone;
}

int RunExport(const CliContext& context, const CacheArgs& args) {
  auto cache = OpenCache(context.runtime, CacheAccess::kExisting);
  if (!cache.ok()) return Fail(cache.status());
  if (absl::Status status = (*cache)->Export(args.file); !status.ok()) return Fail(status);
  if (args.json) {
    std::cout << Json{{"exported", args.file}}.dump(2, ' ', false, kReplaceBadText) << "\n";
  } else {
    std::cout << "exported to " << args.file << "\n";
  }
  return kDone;
}

// OK where `file` can be a cache.
absl::Status CheckForeign(const std::string& file) {
  std::error_code error;
  const bool is_file = std::filesystem::is_regular_file(file, error);
  if (is_file) return absl::OkStatus();
  return NotFound("no cache at ", file, error ? Cat(": ", error.message()) : std::string());
}

// Merges files into `target`; rejected rows are findings.
int MergeInto(const std::string& target, const std::vector<std::string>& files, bool json) {
  for (const std::string& file : files) {
    if (const absl::Status status = CheckForeign(file); !status.ok()) return Fail(status);
  }
  auto cache = OpenCacheFile(target, CacheAccess::kWritable);
  if (!cache.ok()) return Fail(cache.status());
  Json reports = Json::array();
  bool rejected = false;
  for (const std::string& file : files) {
    const absl::StatusOr<MergeReport> report = (*cache)->Merge(file);
    if (!report.ok()) return Fail(report.status());
    rejected = rejected || !report->rejected.empty();
    reports.push_back({{"file", file},
                       {"kernels_added", report->kernels_added},
                       {"winners_added", report->winners_added},
                       {"winners_replaced", report->winners_replaced},
                       {"trials_added", report->trials_added},
                       {"rejected", report->rejected}});
    if (json) continue;
    std::cout << file << ": " << report->kernels_added << " kernels, " << report->winners_added
              << " winners and " << report->trials_added << " trials added, "
              << report->winners_replaced << " winners replaced\n";
    for (const std::string& row : report->rejected) std::cout << "  rejected " << row << "\n";
  }
  if (json) std::cout << reports.dump(2, ' ', false, kReplaceBadText) << "\n";
  return rejected ? kFindings : kDone;
}

int RunDiff(const CliContext& context, const CacheArgs& args) {
  if (const absl::Status status = CheckForeign(args.file); !status.ok()) return Fail(status);
  auto cache = OpenCache(context.runtime, CacheAccess::kExisting);
  if (!cache.ok()) return Fail(cache.status());
  const absl::StatusOr<CacheDiff> diff = (*cache)->Diff(args.file);
  if (!diff.ok()) return Fail(diff.status());
  if (args.json) {
    std::cout << Json{{"only_left", diff->only_left},
                      {"only_right", diff->only_right},
                      {"differing", diff->differing}}
                     .dump(2, ' ', false, kReplaceBadText)
              << "\n";
  } else {
    for (const std::string& row : diff->only_left) std::cout << "< " << row << "\n";
    for (const std::string& row : diff->only_right) std::cout << "> " << row << "\n";
    for (const std::string& row : diff->differing) std::cout << "! " << row << "\n";
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
  const auto add = [&](const char* name, const char* description, std::function<int()> run) {
    CLI::App* command = AddCommand(*group, context, name, description, std::move(run));
    return command;
  };
  const auto json = [&](CLI::App* command) {
    command->add_flag("--json", args->json, "Print JSON");
    return command;
  };
  json(add("stats", "What the cache holds, in numbers",
           [&context, args] { return RunStats(context, *args); }));
  json(add("check", "Verify every row's checksum; exit 1 if any is bad",
           [&context, args] { return RunCheck(context, *args); }));
  json(add("gc", "Delete kernels until the file holds at most --max-bytes",
           [&context, args] { return RunGc(context, *args); }))
      ->add_option("--max-bytes", args->max_bytes, "Limit, such as 500MB")
      ->required();
  json(add("export", "Write a self-contained file that opens from a read-only folder",
           [&context, args] { return RunExport(context, *args); }))
      ->add_option("FILE", args->file, "File to write")
      ->required();
  json(add("import", "Add every valid row of FILE to the cache",
           [&context, args] {
             return MergeInto(context.runtime.cache_path, {args->file}, args->json);
           }))
      ->add_option("FILE", args->file, "Cache or export to read")
      ->required();
  CLI::App* merge = json(add("merge", "Merge caches, such as tuning shards, into --output",
                             [args] { return MergeInto(args->output, args->files, args->json); }));
  merge->add_option("FILES", args->files, "Caches to read")->required();
  merge->add_option("--output", args->output, "Cache to add to; made if absent")->required();
  json(add("diff", "Compare the cache (<) with FILE (>); exit 1 if they differ",
           [&context, args] { return RunDiff(context, *args); }))
      ->add_option("FILE", args->file, "Cache to compare with")
      ->required();
}

}  // namespace tilewright
