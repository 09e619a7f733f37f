#include "cache/page_scan.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include "cache/bounds.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr std::string_view kMagic("SQLite format 3\0", 16);
constexpr uint32_t kDefaultPageBytes = 4096;
constexpr size_t kFileHeaderBytes = 100;
constexpr size_t kWalHeaderBytes = 32;
constexpr size_t kFrameHeaderBytes = 24;
constexpr char kTableLeaf = 0x0d;

uint32_t BigEndian(std::string_view bytes, size_t at, size_t count) {
  uint32_t value = 0;
  for (size_t i = 0; i < count; ++i) {
    value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  }
  return value;
}

// SQLite's varint: up to nine bytes, the ninth with eight bits. nullopt past the end.
std::optional<uint64_t> TakeVarint(std::string_view bytes, size_t& at) {
  uint64_t value = 0;
  for (int i = 0; i < 9; ++i) {
    if (at >= bytes.size()) return std::nullopt;
    auto byte = static_cast<unsigned char>(bytes[at++]);
    if (i == 8) return value << 8 | byte;
    value = value << 7 | (byte & 0x7f);
    if (byte < 0x80) break;
  }
  return value;
}

bool IsPageSize(uint32_t bytes) {
  return bytes >= 512 && bytes <= 65536 && std::has_single_bit(bytes);
}

// The pages of a database file with its WAL laid over.
class Pages {
 public:
  Pages(const RawFile& db, const RawFile* wal) : db_(db), wal_(wal) {
    std::string header = db_.Read(0, kFileHeaderBytes);
    if (!header.empty() && std::string_view(header).substr(0, 16) == kMagic) {
      uint32_t bytes = BigEndian(header, 16, 2);
      if (bytes == 1) bytes = 65536;
      if (IsPageSize(bytes)) page_bytes_ = bytes;
    }
    if (wal_ != nullptr) IndexWal();
    count_ = static_cast<uint32_t>(db_.Bytes() / page_bytes_);
    for (const auto& [page, offset] : frames_) count_ = std::max(count_, page);
    uses_.resize(size_t{count_} + 1);
    is_free_.resize(size_t{count_} + 1);
    MarkFree();
  }

  uint32_t count() const { return count_; }
  uint32_t page_bytes() const { return page_bytes_; }
  bool IsFree(uint32_t page) const { return is_free_[page]; }
  // A page of a chain. One that many chains lead to, which only a hostile file has, ends them, so
  // that a scan takes no more time than a few readings of the file.
  std::string ReadOverflow(uint32_t page) {
    constexpr uint8_t kMostUses = 16;
    if (page > count_ || uses_[page] == kMostUses) return {};
    ++uses_[page];
    return Read(page);
  }
  std::string Read(uint32_t page) const {
    if (page == 0 || page > count_) return {};
    if (auto frame = frames_.find(page); frame != frames_.end()) {
      return wal_->Read(frame->second, page_bytes_);
    }
    return db_.Read(static_cast<int64_t>(page - 1) * page_bytes_, page_bytes_);
  }

 private:
  // The database's size in pages, which a header of SQLite's own making tells; else all.
  uint32_t DatabasePages(std::string_view header) const {
    if (committed_pages_ > 0) return committed_pages_;
    const bool is_known = BigEndian(header, 24, 4) == BigEndian(header, 92, 4);
    const uint32_t pages = BigEndian(header, 28, 4);
    return is_known && pages > 0 ? pages : count_;
  }

  // Walks the list of free pages: each trunk names its next and some leaves.
  void MarkFree() {
    const std::string first = Read(1);
    if (!first.starts_with(kMagic)) return;
    for (uint64_t page = uint64_t{DatabasePages(first)} + 1; page <= count_; ++page) {
      is_free_[page] = true;
    }
    uint32_t trunk = BigEndian(first, 32, 4);
    for (uint32_t walked = 0; trunk > 1 && trunk <= count_ && walked < count_; ++walked) {
      const std::string page = Read(trunk);
      if (page.empty()) return;
      is_free_[trunk] = true;
      const uint32_t leaves = BigEndian(page, 4, 4);
      if (leaves > page_bytes_ / 4 - 2) return;
      for (uint32_t i = 0; i < leaves; ++i) {
        const uint32_t leaf = BigEndian(page, 8 + size_t{4} * i, 4);
        if (leaf > 1 && leaf <= count_) is_free_[leaf] = true;
      }
      trunk = BigEndian(page, 0, 4);
    }
  }

  // The last committed frame of each page.
  void IndexWal() {
    std::string header = wal_->Read(0, kWalHeaderBytes);
    if (header.empty() || (BigEndian(header, 0, 4) & ~1U) != 0x377f0682) return;
    uint32_t bytes = BigEndian(header, 8, 4);
    if (!IsPageSize(bytes)) return;
    page_bytes_ = bytes;
    std::vector<std::pair<uint32_t, int64_t>> pending;
    int64_t at = kWalHeaderBytes;
    constexpr uint32_t kMostPages = 1U << 28;
    while (true) {
      std::string frame = wal_->Read(at, kFrameHeaderBytes);
      if (frame.empty() || frame.substr(8, 8) != header.substr(16, 8)) return;
      uint32_t page = BigEndian(frame, 0, 4);
      if (page < kMostPages)
        pending.emplace_back(page, at + static_cast<int64_t>(kFrameHeaderBytes));
      if (BigEndian(frame, 4, 4) != 0) {  // a commit
        committed_pages_ = BigEndian(frame, 4, 4);
        for (const auto& [committed, offset] : pending) frames_[committed] = offset;
        pending.clear();
      }
      at += static_cast<int64_t>(kFrameHeaderBytes + page_bytes_);
    }
  }

  const RawFile& db_;
  const RawFile* wal_;
  uint32_t page_bytes_ = kDefaultPageBytes;
  uint32_t count_ = 0;
  uint32_t committed_pages_ = 0;                  // of the database, by the WAL's last commit
  std::vector<uint8_t> uses_;                     // by page
  std::vector<bool> is_free_;                     // by page
  std::unordered_map<uint32_t, int64_t> frames_;  // page -> offset in the WAL
};

// The payload of the cell at `at`, its overflow chain followed; nullopt where any part is missing.
std::optional<std::string> CellPayload(Pages& pages, const std::string& page, size_t at) {
  auto total = TakeVarint(page, at);
  if (!total || !TakeVarint(page, at)) return std::nullopt;
  if (*total > static_cast<uint64_t>(kMaxCubinBytes + kMaxTextBytes)) return std::nullopt;
  uint64_t usable = pages.page_bytes();
  uint64_t local = *total;
  if (*total > usable - 35) {
    uint64_t least = (usable - 12) * 32 / 255 - 23;
    uint64_t fitted = least + (*total - least) % (usable - 4);
    local = fitted <= usable - 35 ? fitted : least;
  }
  bool spills = local < *total;
  if (at + local + (spills ? 4 : 0) > page.size()) return std::nullopt;
  std::string payload = page.substr(at, local);
  uint32_t next = spills ? BigEndian(page, at + local, 4) : 0;
  while (payload.size() < *total) {
    std::string more = pages.ReadOverflow(next);
    if (more.empty()) return std::nullopt;
    next = BigEndian(more, 0, 4);
    payload.append(more, 4, std::min<uint64_t>(usable - 4, *total - payload.size()));
  }
  return payload;
}

int64_t SignExtended(std::string_view bytes, size_t at, size_t count) {
  // NOLINTNEXTLINE(bugprone-signed-char-misuse): the first byte carries the sign.
  auto value = static_cast<int64_t>(static_cast<signed char>(bytes[at]));
  for (size_t i = 1; i < count; ++i) {
    value = static_cast<int64_t>(static_cast<uint64_t>(value) << 8 |
                                 static_cast<unsigned char>(bytes[at + i]));
  }
  return value;
}

// Bytes that a value of this serial type takes; nullopt for the reserved types.
std::optional<uint64_t> SerialBytes(uint64_t type) {
  static constexpr uint64_t kBytes[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};
  if (type < 10) return kBytes[type];
  if (type < 12) return std::nullopt;
  return (type - 12) / 2;
}

RecordValue SerialValue(uint64_t type, std::string_view bytes, size_t at, size_t count) {
  if (type == 0) return std::monostate();
  if (type == 8 || type == 9) return static_cast<int64_t>(type - 8);
  if (type == 7) return std::bit_cast<double>(SignExtended(bytes, at, 8));
  if (type < 7) return SignExtended(bytes, at, count);
  return std::string(bytes.substr(at, count));
}

}  // namespace

RawFile::RawFile(const std::string& path)
    : fd_(path.empty() ? -1 : open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

RawFile::~RawFile() {
  if (fd_ >= 0) close(fd_);
}

int64_t RawFile::Bytes() const {
  struct stat info {};
  return fd_ >= 0 && fstat(fd_, &info) == 0 ? info.st_size : 0;
}

std::string RawFile::Read(int64_t offset, size_t count) const {
  if (fd_ < 0) return {};
  std::string bytes(count, '\0');
  constexpr int kMostTries = 3;
  for (int i = 0; i < kMostTries; ++i) {
    const ssize_t got = pread(fd_, bytes.data(), count, offset);
    if (got == static_cast<ssize_t>(count)) return bytes;
    if (got >= 0) return {};  // past the end
    if (i + 1 == kMostTries) error_ = errno;
    std::this_thread::sleep_for(std::chrono::milliseconds(1 << i));
  }
  return {};
}

bool RawFile::CopyTo(const std::string& path) const {
  constexpr int64_t kChunk = 1 << 20;
  const int to = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (to < 0) return false;
  bool copied = is_open();
  for (int64_t at = 0, end = Bytes(); copied && at < end; at += kChunk) {
    const std::string chunk = Read(at, static_cast<size_t>(std::min(kChunk, end - at)));
    const ssize_t put = write(to, chunk.data(), chunk.size());
    copied = !chunk.empty() && put == static_cast<ssize_t>(chunk.size());
  }
  copied = close(to) == 0 && copied;
  if (!copied) unlink(path.c_str());
  return copied;
}

bool ParseRecord(std::string_view payload, std::vector<RecordValue>& values) {
  constexpr size_t kMostColumns = 32;
  values.clear();
  size_t type_at = 0;
  auto header_bytes = TakeVarint(payload, type_at);
  if (!header_bytes || *header_bytes > payload.size()) return false;
  size_t value_at = *header_bytes;
  while (type_at < *header_bytes) {
    auto type = TakeVarint(payload.substr(0, *header_bytes), type_at);
    if (!type || values.size() == kMostColumns) return false;
    auto count = SerialBytes(*type);
    if (!count || *count > payload.size() - value_at) return false;
    values.push_back(SerialValue(*type, payload, value_at, *count));
    value_at += *count;
  }
  return true;
}

absl::StatusOr<std::optional<int64_t>> ReadApplicationId(const std::string& path) {
  constexpr size_t kApplicationIdAt = 68;
  const RawFile file(path);
  if (!file.is_open()) return FailedPrecondition("cannot read ", path, ": ", strerror(errno));
  const std::string header = file.Read(0, kFileHeaderBytes);
  if (std::string_view(header).substr(0, kMagic.size()) != kMagic) return std::nullopt;
  return static_cast<int64_t>(static_cast<int32_t>(BigEndian(header, kApplicationIdAt, 4)));
}

bool SaysWal(const std::string& path) {
  constexpr size_t kReadVersionAt = 19;
  const std::string header = RawFile(path).Read(0, kFileHeaderBytes);
  return header.size() > kReadVersionAt && header[kReadVersionAt] == 2;
}

int64_t ScanRecords(const RawFile& db, const RawFile* wal, const std::function<void(Record)>& sink,
                    PageUse use) {
  Pages pages(db, wal);
  std::vector<RecordValue> values;
  int64_t read = 0;
  for (uint32_t number = 1; number <= pages.count(); ++number) {
    if (use != PageUse::kAny && pages.IsFree(number) != (use == PageUse::kFree)) continue;
    std::string page = pages.Read(number);
    size_t start = number == 1 ? kFileHeaderBytes : 0;
    if (page.empty() || page[start] != kTableLeaf) continue;
    ++read;
    const size_t cells = BigEndian(page, start + 3, 2);
    size_t bytes = 0;  // cells do not overlap, but in a hostile page
    for (size_t i = 0; i < cells && bytes <= 2 * page.size(); ++i) {
      size_t pointer_at = start + 8 + 2 * i;
      if (pointer_at + 2 > page.size()) break;
      size_t cell_at = BigEndian(page, pointer_at, 2);
      if (cell_at >= page.size()) continue;
      auto payload = CellPayload(pages, page, cell_at);
      if (!payload) continue;
      bytes += std::min(payload->size(), page.size() - cell_at);
      if (ParseRecord(*payload, values)) sink(values);
    }
  }
  return read;
}

}  // namespace tilewright
