#include "cache/salvage.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <unordered_map>
#include <utility>

#include "cache/page_scan.h"
#include "cache/place.h"
#include "cache/rows.h"
#include "cache/schema.h"
#include "manifest/status.h"
#include "manifest/text.h"

namespace tilewright {
namespace {

std::string NameOf(const KernelRow& row) { return Cat("kernel ", row.key); }
std::string NameOf(const WinnerRow& row) { return Cat("winner ", row.key); }
std::string NameOf(const TrialRow& row) {
  return Cat("trial ", row.problem_key, " ", row.config_json, " ", row.closure_digest);
}

// Collects the intact rows of a scan. A kernel is known by the checksum of its bytes, which may
// come later in the file, so kernels wait until the end.
class Salvager {
 public:
  explicit Salvager(Store& fresh) : fresh_(fresh) {}

  void Take(Record record) {
    if (!status_.ok() || TakeExact(record, /*leaves_trace=*/true)) return;
    // A table that somebody added a column to.
    static constexpr std::array<size_t, 4> kColumns = {18, 16, 15, 3};
    for (const size_t columns : kColumns) {
      if (record.size() > columns && TakeExact(record.first(columns), false)) return;
    }
  }

  // From now on rows come of older pages than those before.
  void TakeOlder() {
    ++age_;
    deferred_.clear();
  }
  // True where cubins of this age, or of any, came before their head, so that another scan would
  // find them a place.
  bool WantsSecondScan() const { return HasHeadOf(deferred_); }
  bool WantsLastScan() const { return HasHeadOf(unplaced_); }

  absl::StatusOr<Salvaged> Finish(const Inventory& inventory) {
    if (!status_.ok()) return status_;
    std::set<std::string> known(inventory.names.begin(), inventory.names.end());
    if (!inventory.is_whole) known.insert(traces_.begin(), traces_.end());
    Salvaged salvaged;
    salvaged.kept = kept_;
    salvaged.knows_all = inventory.is_whole;
    for (const std::string& name : known) {
      if (kept_names_.contains(name)) continue;
      const auto other = inventory.index_names.find(name);
      if (other == inventory.index_names.end()) {
        salvaged.lost.push_back(name);
      } else if (!kept_names_.contains(other->second)) {
        // The row is damaged, and so may be its name.
        salvaged.lost.push_back(Cat(other->second, " (its row says ", name, ")"));
      }
    }
    return salvaged;
  }

 private:
  using Keys = std::set<std::string, std::less<>>;

  bool HasHeadOf(const Keys& keys) const {
    return std::any_of(keys.begin(), keys.end(),
                       [&](const std::string& key) { return heads_.contains(key); });
  }

  // True where the record is a row, whole or damaged.
  bool TakeExact(Record record, bool leaves_trace) {
    if (auto bytes = DecodeBytes(record)) {
      const bool intact = BytesSum(bytes->key, bytes->bytes) == bytes->sum;
      if (leaves_trace) traces_.insert(Cat("kernel ", bytes->key));
      if (intact) Keep(std::move(*bytes));
      return intact || leaves_trace;
    }
    if (auto kernel = DecodeKernel(record)) {
      if (leaves_trace) traces_.insert(NameOf(kernel->row));
      heads_[kernel->row.key].push_back(std::move(*kernel));
      return true;
    }
    if (auto winner = DecodeWinner(record)) {
      return TakeWhole(*winner, leaves_trace,
                       [&](Conflict conflict) { return fresh_.PutWinner(winner->row, conflict); });
    }
    if (auto trial = DecodeTrial(record)) {
      return TakeWhole(*trial, leaves_trace,
                       [&](Conflict conflict) { return fresh_.PutTrial(trial->row, conflict); });
    }
    return false;
  }

  template <class Row, class Put>
  bool TakeWhole(const Stored<Row>& stored, bool leaves_trace, const Put& put) {
    const std::string name = NameOf(stored.row);
    if (leaves_trace) traces_.insert(name);
    if (!FlawOf(stored).empty()) return leaves_trace;
    // Their own times do not tell which was stored later: a winner that was imported may have been
    // measured before the one whose place it took.
    const auto [kept, is_new] = ages_.emplace(name, age_);
    if (is_new || kept->second == age_) Count(name, put(Conflict::kNewer));
    return true;
  }

  void Keep(BytesRow bytes) {
    auto heads = heads_.find(bytes.key);
    if (heads == heads_.end()) {
      deferred_.insert(bytes.key);
      unplaced_.insert(std::move(bytes.key));
      return;
    }
    for (const auto& head : heads->second) {
      if (!FlawOf(head, bytes.sum).empty()) continue;
      if (!FlawOfBytes(head.row, bytes.sum, bytes.bytes).empty()) continue;
      unplaced_.erase(bytes.key);
      KernelRow row = head.row;
      row.cubin = std::move(bytes.bytes);
      Count(NameOf(row), fresh_.PutKernel(row, Conflict::kKeep));
      return;
    }
  }
  void Count(const std::string& name, const absl::StatusOr<Outcome>& outcome) {
    if (!outcome.ok()) {
      if (!absl::IsInvalidArgument(outcome.status())) status_ = outcome.status();
      return;
    }
    kept_names_.insert(name);
    if (*outcome == Outcome::kAdded) ++kept_;
  }

  Store& fresh_;
  std::map<std::string, std::vector<Stored<KernelRow>>> heads_;
  int64_t kept_ = 0;
  std::set<std::string> traces_;  // names of rows, whole or not
  std::set<std::string> kept_names_;
  std::unordered_map<std::string, int> ages_;  // of intact rows, when they were first met
  int age_ = 0;
  Keys deferred_;  // of bytes of this age that were met before their head
  Keys unplaced_;  // of those of any age that have none yet
  absl::Status status_;
};

// The name by a statement's columns from `first` on.
std::string NameAt(const Statement& select, std::string_view kind, int first) {
  std::string name(kind);
  for (int i = first; i < select.columns(); ++i) name += Cat(" ", select.Text(i));
  return name;
}

// Adds the names that `query`, an index's rowids and keys, tells of; false where it broke off.
// `row` reads the row itself by its rowid: of the two either may be damaged.
bool ListNames(Connection& db, std::string_view kind, std::string_view query, std::string_view row,
               Inventory& inventory) {
  // Pages of a hostile file may be read again and again.
  constexpr size_t kMostNames = 1000000;
  constexpr size_t kMostBytes = 256 << 20;
  size_t bytes = 0;
  auto select = db.Prepare(query);
  auto at = db.Prepare(row);
  if (!select.ok() || !at.ok()) return false;
  while (inventory.names.size() < kMostNames && bytes < kMostBytes) {
    const absl::StatusOr<bool> found = select->Step();
    if (!found.ok()) return false;
    if (!*found) return true;
    const ResetGuard reset(*at);
    at->Bind(1, select->Int(0));
    const std::string index_name = NameAt(*select, kind, 1);
    std::string name = at->Step().value_or(false) ? NameAt(*at, kind, 0) : index_name;
    bytes += name.size() + index_name.size();
    if (name != index_name) inventory.index_names.emplace(name, index_name);
    inventory.names.push_back(std::move(name));
  }
  return false;
}

// The WAL of a process that died, which SQLite would read only with a -shm that it may not make.
bool HasLeftWal(const std::string& path) {
  return FileBytes(path + "-wal") > 0 && !IsWritable(path) &&
         access((path + "-shm").c_str(), R_OK) != 0;
}

// Where the file or the folder may not be written, nothing is left beside the file: a WAL would be,
// so that without one the file is read without locks.
absl::StatusOr<std::unique_ptr<Store>> OpenForReading(const std::string& path,
                                                      std::chrono::milliseconds busy_timeout) {
  using Mode = Connection::Mode;
  const bool is_open = IdOf(path + "-wal") != FileId{} && IdOf(path + "-shm") != FileId{};
  const bool has_journal = FileBytes(path + "-journal") > 0;
  if (is_open || has_journal || IsWritable(path) || !SaysWal(path)) {
    auto store = Store::Open(path, Mode::kReadOnly, busy_timeout);
    if (store.ok() || !absl::IsResourceExhausted(store.status())) return store;
    if (has_journal) {
      return ResourceExhausted("kernel cache: ", path,
                               ": a process died in the middle of a transaction, which is undone "
                               "when the cache is opened by one who may write it");
    }
  }
  return Store::Open(path, Mode::kImmutable, busy_timeout);
}

// The WAL of the file, which a repair that was cut off may have set aside already.
std::string WalOf(const std::string& path) {
  std::string wal = path + "-wal";
  const int n = SwapUnderWay(path);
  std::string saved = SetAsidePath(path, n) + "-wal";
  return n > 0 && FileBytes(wal) == 0 && FileBytes(saved) > 0 ? saved : wal;
}

// A copy in memory of the intact rows of the file and its WAL.
absl::StatusOr<ReadableFile> ReadIntoMemory(const std::string& path) {
  ReadableFile file;
  TW_ASSIGN_OR_RETURN(file.store, Store::OpenMemory());
  TW_ASSIGN_OR_RETURN(file.salvaged, Salvage(RawFile(path), RawFile(WalOf(path)),
                                             TakeInventory(path), *file.store));
  file.store->Freeze();
  return file;
}

}  // namespace

Inventory TakeInventory(const std::string& path) {
  constexpr auto kTimeout = std::chrono::milliseconds(200);
  Inventory inventory;
  // SQLite would delete the WAL beside an emptied file.
  if (FileBytes(path) == 0) return inventory;
  auto store = OpenForReading(path, kTimeout);
  if (!store.ok()) return inventory;
  // Each is answered by the index of the table's key alone.
  inventory.is_whole = true;
  struct Index {
    const char* kind;
    const char* keys;
    const char* row;
  };
  for (const auto& [kind, keys, row] : std::initializer_list<Index>{
           {"kernel", "SELECT rowid, key FROM kernels INDEXED BY sqlite_autoindex_kernels_1",
            "SELECT key FROM kernels WHERE rowid = ?"},
           {"winner", "SELECT rowid, key FROM winners INDEXED BY sqlite_autoindex_winners_1",
            "SELECT key FROM winners WHERE rowid = ?"},
           {"trial",
            "SELECT rowid, problem_key, config, closure FROM trials INDEXED BY "
            "sqlite_autoindex_trials_1",
            "SELECT problem_key, config, closure FROM trials WHERE rowid = ?"}}) {
    if (!ListNames((*store)->db(), kind, keys, row, inventory)) inventory.is_whole = false;
  }
  return inventory;
}

absl::StatusOr<Salvaged> Salvage(const RawFile& db, const RawFile& wal, const Inventory& inventory,
                                 Store& fresh) {
  Salvager salvager(fresh);
  Salvaged salvaged;
  TW_RETURN_IF_ERROR(fresh.Write([&]() -> absl::Status {
    auto sink = [&](Record record) { salvager.Take(record); };
    // Newest first: rows of the WAL stay where the file alone has older ones.
    std::vector<const RawFile*> overlays = {nullptr};
    if (wal.Bytes() > 0) overlays.insert(overlays.begin(), &wal);
    for (const RawFile* overlay : overlays) {
      for (const PageUse use : {PageUse::kUsed, PageUse::kFree}) {
        ScanRecords(db, overlay, sink, use);
        if (salvager.WantsSecondScan()) ScanRecords(db, overlay, sink, use);
        salvager.TakeOlder();
      }
    }
    if (salvager.WantsLastScan()) {
      for (const RawFile* overlay : overlays) ScanRecords(db, overlay, sink);
    }
    TW_ASSIGN_OR_RETURN(salvaged, salvager.Finish(inventory));
    return absl::OkStatus();
  }));
  return salvaged;
}

absl::StatusOr<ReadableFile> ReadSalvaged(const std::string& path, std::string_view reason) {
  TW_ASSIGN_OR_RETURN(ReadableFile file, ReadIntoMemory(path));
  if (file.salvaged.kept == 0) {
    return absl::DataLossError(Cat("kernel cache: ", path, " holds no readable row of a cache"));
  }
  file.damage = Cat("the file is damaged (", reason, "): ", file.salvaged.kept,
                    " rows were read from its intact pages", LostText(file.salvaged));
  return file;
}

absl::StatusOr<ReadableFile> OpenReadable(const std::string& path,
                                          std::chrono::milliseconds busy_timeout) {
  if (HasLeftWal(path)) {
    // The file alone lacks what was written last.
    TW_ASSIGN_OR_RETURN(ReadableFile file, ReadIntoMemory(path));
    if (file.salvaged.kept > 0) return file;
  }
  if (SwapUnderWay(path) > 0 && WalOf(path) != path + "-wal") {
    return ReadSalvaged(path, "a repair of it was cut off, or is under way");
  }
  FileState before = StateOf(path);
  auto store = OpenForReading(path, busy_timeout);
  for (int i = 1; i < kMostReadings && absl::IsDataLoss(store.status()); ++i) {
    if (!MayBeWrittenSince(path, before)) break;
    std::this_thread::sleep_for(kBetweenReadings);
    before = StateOf(path);
    store = OpenForReading(path, busy_timeout);
  }
  if (absl::IsDataLoss(store.status())) {
    return ReadSalvaged(path, std::string(store.status().message()));
  }
  if (!store.ok()) return store.status();
  ReadableFile file;
  file.store = std::move(store).value();
  return file;
}

// True where some row of the file is intact.
bool HoldsRows(const std::string& path) {
  bool found = false;
  const RawFile db(path);
  const RawFile wal(path + "-wal");
  ScanRecords(db, wal.Bytes() > 0 ? &wal : nullptr, [&](Record record) {
    if (found) return;
    if (auto bytes = DecodeBytes(record)) {
      found = BytesSum(bytes->key, bytes->bytes) == bytes->sum;
    } else if (auto winner = DecodeWinner(record)) {
      found = FlawOf(*winner).empty();
    } else if (auto trial = DecodeTrial(record)) {
      found = FlawOf(*trial).empty();
    }
  });
  return found;
}

std::string LostText(const Salvaged& salvaged) {
  const std::vector<std::string>& lost = salvaged.lost;
  constexpr size_t kMostNamed = 8;
  if (lost.empty()) return "";
  std::string text = Cat("; ", salvaged.knows_all ? "" : "at least ", lost.size(),
                         lost.size() == 1 ? " row is" : " rows are", " lost: ");
  for (size_t i = 0; i < std::min(lost.size(), kMostNamed); ++i) {
    text += Cat(i > 0 ? ", " : "", Escaped(lost[i]));
  }
  if (lost.size() > kMostNamed) text += Cat(" and ", lost.size() - kMostNamed, " more");
  return text;
}

}  // namespace tilewright
