#include "cache/transfer.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "cache/rows.h"
#include "cache/winner_versions.h"
#include "manifest/status.h"
#include "manifest/text.h"

namespace tilewright {
namespace {

struct Victim {
  int rank = 0;  // 0: a loser of tuning, 1: of no winner, 2: a winner's
  int64_t used = 0;
  std::string key;
};

// Every kernel, the first to be deleted first.
absl::StatusOr<std::vector<Victim>> Victims(Store& store) {
  std::set<std::string, std::less<>> winning;
  std::set<std::string, std::less<>> tuned_ops;
  TW_RETURN_IF_ERROR(store.VisitWinners([&](const WinnerRow& row) {
    tuned_ops.insert(row.op);
    std::string_view keys = row.kernel_keys;
    while (!keys.empty()) {
      size_t comma = std::min(keys.find(','), keys.size());
      winning.emplace(keys.substr(0, comma));
      keys.remove_prefix(std::min(comma + 1, keys.size()));
    }
    return absl::OkStatus();
  }));
  std::vector<Victim> victims;
  TW_RETURN_IF_ERROR(store.VisitKernels(false, [&](KernelRow row, std::string_view) {
    const int rank = winning.contains(row.key) ? 2 : tuned_ops.contains(row.op) ? 0 : 1;
    victims.push_back({rank, row.last_used_unix, std::move(row.key)});
    return absl::OkStatus();
  }));
  std::sort(victims.begin(), victims.end(), [](const Victim& a, const Victim& b) {
    return std::tie(a.rank, a.used, a.key) < std::tie(b.rank, b.used, b.key);
  });
  return victims;
}

}  // namespace

absl::Status CopyRows(Store& from, Store& to, Conflict conflict) {
  TW_RETURN_IF_ERROR(from.VisitKernels(true, [&](const KernelRow& row, std::string_view) {
    return to.PutKernel(row, conflict).status();
  }));
  TW_RETURN_IF_ERROR(from.VisitWinners(
      [&](const WinnerRow& row) { return to.PutWinner(row, conflict).status(); }));
  return from.VisitTrials([&](const TrialRow& row) { return to.PutTrial(row, conflict).status(); });
}

absl::StatusOr<ForeignRows> ReadForeign(Store& from,
                                        const std::function<absl::Status(KernelRow)>& take) {
  ForeignRows rows;
  TW_RETURN_IF_ERROR(from.VisitKernels(
      true, [&](KernelRow row, std::string_view) { return take(std::move(row)); }));
  TW_RETURN_IF_ERROR(from.VisitWinners([&](WinnerRow row) {
    rows.winners.push_back(std::move(row));
    return absl::OkStatus();
  }));
  TW_RETURN_IF_ERROR(from.VisitTrials([&](TrialRow row) {
    rows.trials.push_back(std::move(row));
    return absl::OkStatus();
  }));
  rows.rejected = from.TakeDamage();
  return rows;
}

absl::Status Summarize(Store& store, Summaries& summaries) {
  // The bytes too: of two damaged cubins the stored checksums may well agree.
  TW_RETURN_IF_ERROR(store.VisitKernels(true, [&](const KernelRow& row,
                                                  std::string_view bytes_sum) {
    std::string name = Cat("kernels ", Escaped(row.key));
    std::string text = Escaped(
        Cat(row.op, " ", row.instantiation, " by ", row.compiler, ", digest ", row.cubin_digest));
    summaries.try_emplace(std::move(name), Summary{LogicalSum(row, bytes_sum), std::move(text)});
    return absl::OkStatus();
  }));
  TW_RETURN_IF_ERROR(store.VisitWinners([&](WinnerRow row) {
    // Whichever of a problem's versions is the latest in this store.
    row.key = ProblemOf(row);
    std::string name = Cat("winners ", Escaped(row.key), "@", VersionOf(row));
    std::string text = Escaped(Cat(row.op, " ", row.config_json, " ", row.median_us, " us"));
    summaries.try_emplace(std::move(name), Summary{LogicalSum(row), std::move(text)});
    return absl::OkStatus();
  }));
  return store.VisitTrials([&](const TrialRow& row) {
    std::string name =
        Escaped(Cat("trials ", row.problem_key, " ", row.config_json, " ", row.closure_digest));
    std::string text = Escaped(
        Cat(row.op, " ", TrialStatusName(row.status), " ", row.median_us, " us of ", row.samples));
    summaries.try_emplace(std::move(name), Summary{LogicalSum(row), std::move(text)});
    return absl::OkStatus();
  });
}

CacheDiff Compare(const Summaries& left, const Summaries& right) {
  CacheDiff diff;
  for (const auto& [name, summary] : left) {
    auto other = right.find(name);
    if (other == right.end()) {
      diff.only_left.push_back(Cat(name, ": ", summary.text));
    } else if (other->second.sum == summary.sum) {
      ++diff.alike;
    } else {
      diff.differing.push_back(Cat(name, ": ", summary.text, " | ", other->second.text));
    }
  }
  for (const auto& [name, summary] : right) {
    if (!left.contains(name)) diff.only_right.push_back(Cat(name, ": ", summary.text));
  }
  return diff;
}

absl::StatusOr<int64_t> CollectGarbage(Store& store, int64_t max_bytes, std::string_view keep_key) {
  TW_ASSIGN_OR_RETURN(std::vector<Victim> victims, Victims(store));
  int64_t deleted = 0;
  TW_RETURN_IF_ERROR(store.Write([&]() -> absl::Status {
    for (const Victim& victim : victims) {
      TW_ASSIGN_OR_RETURN(int64_t bytes, store.LiveBytes());
      if (bytes <= max_bytes) break;
      if (victim.key == keep_key) continue;
      TW_RETURN_IF_ERROR(store.DeleteKernel(victim.key));
      ++deleted;
    }
    return absl::OkStatus();
  }));
  if (deleted == 0) return 0;
  // Truncating the WAL can fail while others read; the space then comes back later.
  TW_RETURN_IF_ERROR(store.db().Exec("PRAGMA incremental_vacuum"));
  (void)store.db().Exec("PRAGMA wal_checkpoint(TRUNCATE)");
  return deleted;
}

}  // namespace tilewright
