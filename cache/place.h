// Where a cache may live: folders, owners, filesystems, and the lock file beside the database.
#ifndef TILEWRIGHT_CACHE_PLACE_H_
#define TILEWRIGHT_CACHE_PLACE_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cache/cache.h"

namespace tilewright {

// Makes the file's folder (0700 where it is new). FailedPrecondition: the folder, or a file that is
// there, belongs to another user than this one and root, or others can write the folder.
// ResourceExhausted: it cannot be made.
absl::Status PrepareFolder(const std::string& path);

// FailedPrecondition, naming what it is, where `path` leads to something else than a regular file:
// a fifo would block who opens it, and SQLite would put files beside a device; a link may lead to
// nothing. OK where nothing is.
absl::Status RefuseIrregular(const std::string& path);

std::string FolderOf(const std::string& path);
bool FolderIsWritable(const std::string& path);
// By permissions: the file, where there is one; and its folder too.
bool FileMayBeWritten(const std::string& path);
bool IsWritable(const std::string& path);
// NFS, SMB, FUSE and their like, where a WAL's shared memory does not work.
bool IsNetworkFilesystem(const std::string& path, const CacheEnv& env);

// Creates an empty file (0600) unless one is there.
absl::Status CreateFile(const std::string& path);

// Device and inode, to notice that a file was replaced under an open connection. Zeros: no file.
struct FileId {
  uint64_t device = 0;
  uint64_t inode = 0;
  friend bool operator==(const FileId&, const FileId&) = default;
};
FileId IdOf(const std::string& path);
int64_t FileBytes(const std::string& path);  // 0 where there is none

// What tells that somebody writes a database that is read without locks.
struct FileState {
  FileId id;
  int64_t bytes = 0;
  int64_t wal_bytes = 0;
  int64_t written_ns = 0;  // Unix time of the last write
  int64_t taken_ns = 0;    // when this was looked at
};
FileState StateOf(const std::string& path);
// False where the file is as it was when `state` was taken. Writes that are closer to each other
// than the clock of the filesystem ticks count as one, so one that was shortly before is doubted.
bool MayBeWrittenSince(const std::string& path, const FileState& state);

// A lock on one byte of a file, exclusive between processes and between threads (an open file
// description lock; where the system has none, the open lock is one of flock, and the others fail):
// the kernel releases it when the owner dies. Movable; not thread-safe.
class ByteLock {
 public:
  ByteLock() = default;
  // Opens, and makes (0600), the lock file; takes nothing yet.
  static absl::StatusOr<ByteLock> Open(const std::string& path);
  ByteLock(ByteLock&& other) noexcept;
  ByteLock& operator=(ByteLock&& other) noexcept;
  ~ByteLock();

  absl::StatusOr<bool> TryLock(int64_t offset);
  // Polls; Unavailable after `timeout`.
  absl::Status LockWithin(int64_t offset, std::chrono::milliseconds timeout);

 private:
  void Release();

  int fd_ = -1;
  int64_t offset_ = -1;  // -1: not held
  int owner_ = 0;        // process that holds it; a forked child must not release it
};

// Byte 0 guards opening, migration and repair; a kernel's byte is from 1 on.
inline constexpr int64_t kOpenLockOffset = 0;
int64_t CompileLockOffset(std::string_view key);
// Where a repair puts the damaged file, and the new one while it takes that one's place.
inline constexpr int kMostSetAside = 8;  // the oldest makes room
std::string SetAsidePath(const std::string& path, int n);
std::string SwapPath(const std::string& path, int n);
// The number of a repair that is changing names, or was cut off in it; 0 where there is none.
int SwapUnderWay(const std::string& path);
// True where the file has a name more than `path` and those under which a repair put it aside.
// SQLite keeps one WAL a name, so that who writes to one does not see what was written to another.
bool HasOtherNames(const std::string& path);

// What keeps others who take it from the folder of `path` while it lives, and leaves nothing there.
// Without one where the system has no such lock, or somebody holds it for `timeout`.
class FolderLock {
 public:
  FolderLock(const std::string& path, std::chrono::milliseconds timeout);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int fd_ = -1;
};

std::string LockPath(const std::string& path);

}  // namespace tilewright

#endif  // TILEWRIGHT_CACHE_PLACE_H_
