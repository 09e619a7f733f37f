#include "cache/place.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr mode_t kFileMode = 0600;
constexpr mode_t kFolderMode = 0700;

absl::Status CannotUse(std::string_view what, const std::string& path, int error) {
  return ResourceExhausted("kernel cache: cannot ", what, " ", path, ": ", strerror(error));
}

absl::Status MakeFolders(const std::string& folder) {
  struct stat info {};
  if (stat(folder.c_str(), &info) == 0) return absl::OkStatus();
  std::string parent = FolderOf(folder);
  if (parent != folder) TW_RETURN_IF_ERROR(MakeFolders(parent));
  if (mkdir(folder.c_str(), kFolderMode) != 0 && errno != EEXIST) {
    return CannotUse("make folder", folder, errno);
  }
  return absl::OkStatus();
}

std::string_view KindOf(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return "a regular file";
    case S_IFDIR:
      return "a directory";
    case S_IFIFO:
      return "a fifo";
    case S_IFSOCK:
      return "a socket";
    case S_IFCHR:
    case S_IFBLK:
      return "a device";
    default:
      return "no file";
  }
}

bool IsTrusted(uid_t owner) { return owner == 0 || owner == geteuid(); }

// Of a link both count: who made it, and whose file it leads to.
absl::Status RefuseStrangersFile(const std::string& path, const std::string& file) {
  for (const auto status_of : {&lstat, &stat}) {
    struct stat info {};
    if (status_of(file.c_str(), &info) != 0 || IsTrusted(info.st_uid)) continue;
    return FailedPrecondition("kernel cache: refusing ", path, ": the file ", file,
                              " belongs to user ", info.st_uid, ", expected ", geteuid(),
                              " or root");
  }
  return absl::OkStatus();
}

}  // namespace

std::string FolderOf(const std::string& path) {
  size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

absl::Status PrepareFolder(const std::string& path) {
  std::string folder = FolderOf(path);
  TW_RETURN_IF_ERROR(MakeFolders(folder));
  struct stat info {};
  if (stat(folder.c_str(), &info) != 0) return CannotUse("use folder", folder, errno);
  if (!IsTrusted(info.st_uid)) {
    return FailedPrecondition("kernel cache: refusing ", path, ": its folder belongs to user ",
                              info.st_uid, ", expected ", geteuid(),
                              " or root; choose a folder of your own");
  }
  if ((info.st_mode & S_IWOTH) != 0 && (info.st_mode & S_ISVTX) == 0) {
    return FailedPrecondition(
        "kernel cache: refusing ", path,
        ": its folder is writable by everybody; expected mode 0700 (chmod o-w)");
  }
  // In a folder of everybody, such as /tmp, SQLite's companions may have been put there by anyone
  // too.
  for (const char* suffix : {"", "-wal", "-shm", "-journal", ".lock"}) {
    TW_RETURN_IF_ERROR(RefuseStrangersFile(path, path + suffix));
  }
  return absl::OkStatus();
}

absl::Status RefuseIrregular(const std::string& path) {
  struct stat info {};
  // What SQLite would say of a link to nothing comes too late: the lock file would be there.
  const bool is_there = stat(path.c_str(), &info) == 0;
  if (!is_there && lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode)) {
    return FailedPrecondition("kernel cache: refusing ", path,
                              ": expected a regular file, got a symbolic link that leads to none");
  }
  if (!is_there || S_ISREG(info.st_mode)) return absl::OkStatus();
  return FailedPrecondition("kernel cache: refusing ", path, ": expected a regular file, got ",
                            KindOf(info.st_mode));
}

bool FolderIsWritable(const std::string& path) {
  return faccessat(AT_FDCWD, FolderOf(path).c_str(), W_OK | X_OK, AT_EACCESS) == 0;
}

bool FileMayBeWritten(const std::string& path) {
  return IdOf(path) == FileId{} || faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0;
}

bool IsWritable(const std::string& path) {
  return FolderIsWritable(path) && FileMayBeWritten(path);
}

bool IsNetworkFilesystem(const std::string& path, const CacheEnv& env) {
  // nfs, smb, cifs, smb2, fuse, lustre, gpfs, afs, ceph, 9p, beegfs, coda, ocfs2, gfs2, panfs
  static constexpr std::array<uint32_t, 15> kTypes = {
      0x6969,     0x517b,     0xff534d42, 0xfe534d42, 0x65735546,
      0x0bd00bd0, 0x47504653, 0x5346414f, 0x00c36400, 0x01021997,
      0x19830326, 0x73757245, 0x7461636f, 0x01161970, 0xaad7aaea};
  std::string folder = FolderOf(path);
  int64_t type = 0;
  if (env.filesystem_type) {
    type = env.filesystem_type(folder);
  } else {
    struct statfs info {};
    if (statfs(folder.c_str(), &info) == 0) type = info.f_type;
  }
  return std::find(kTypes.begin(), kTypes.end(), static_cast<uint32_t>(type)) != kTypes.end();
}

absl::Status CreateFile(const std::string& path) {
  int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kFileMode);
  // Only a file that is new is opened, and so closed, here: closing a descriptor of a database that
  // this process has open elsewhere would drop its locks.
  if (fd >= 0) {
    close(fd);
    return absl::OkStatus();
  }
  return errno == EEXIST ? absl::OkStatus() : CannotUse("make", path, errno);
}

FileId IdOf(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return {};
  return {info.st_dev, info.st_ino};
}

int64_t FileBytes(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 ? info.st_size : 0;
}

FileState StateOf(const std::string& path) {
  FileState state;
  const auto nanoseconds = [](const timespec& time) {
    return int64_t{time.tv_sec} * 1000000000 + time.tv_nsec;
  };
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  state.taken_ns = nanoseconds(now);
  state.wal_bytes = FileBytes(path + "-wal");
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return state;
  state.id = {info.st_dev, info.st_ino};
  state.bytes = info.st_size;
  state.written_ns = nanoseconds(info.st_mtim);
  return state;
}

bool MayBeWrittenSince(const std::string& path, const FileState& state) {
  constexpr int64_t kTicks = 100000000;
  const FileState now = StateOf(path);
  return now.id != state.id || now.bytes != state.bytes || now.wal_bytes != state.wal_bytes ||
         now.written_ns != state.written_ns ||
         (state.written_ns <= state.taken_ns && state.taken_ns < state.written_ns + kTicks);
}

absl::StatusOr<ByteLock> ByteLock::Open(const std::string& path) {
  ByteLock lock;
  lock.fd_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kFileMode);
  if (lock.fd_ < 0) return CannotUse("open lock file", path, errno);
  return lock;
}

ByteLock::ByteLock(ByteLock&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      offset_(std::exchange(other.offset_, -1)),
      owner_(other.owner_) {}

ByteLock& ByteLock::operator=(ByteLock&& other) noexcept {
  if (this != &other) {
    Release();
    fd_ = std::exchange(other.fd_, -1);
    offset_ = std::exchange(other.offset_, -1);
    owner_ = other.owner_;
  }
  return *this;
}

ByteLock::~ByteLock() { Release(); }

void ByteLock::Release() {
  if (fd_ < 0) return;
  // A forked child shares the description: it closes its copy and leaves the lock to its owner.
  if (offset_ >= 0 && owner_ == getpid()) {
    struct flock range {};
    range.l_type = F_UNLCK;
    range.l_whence = SEEK_SET;
    range.l_start = offset_;
    range.l_len = 1;
    fcntl(fd_, F_OFD_SETLK, &range);
    if (offset_ == kOpenLockOffset) flock(fd_, LOCK_UN);
  }
  close(fd_);
  fd_ = -1;
  offset_ = -1;
}

absl::StatusOr<bool> ByteLock::TryLock(int64_t offset) {
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = offset;
  range.l_len = 1;
  if (fcntl(fd_, F_OFD_SETLK, &range) == 0) {
    offset_ = offset;
    owner_ = getpid();
    return true;
  }
  if (errno == EAGAIN || errno == EACCES || errno == EINTR) return false;
  const bool unknown = errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP;
  if (unknown && offset == kOpenLockOffset) {
    if (flock(fd_, LOCK_EX | LOCK_NB) == 0) {
      offset_ = offset;
      owner_ = getpid();
      return true;
    }
    if (errno == EWOULDBLOCK) return false;
  }
  return ResourceExhausted("kernel cache: this filesystem has no file locks: ", strerror(errno));
}

absl::Status ByteLock::LockWithin(int64_t offset, std::chrono::milliseconds timeout) {
  auto deadline = std::chrono::steady_clock::now() + timeout;
  auto pause = std::chrono::microseconds(200);
  while (true) {
    TW_ASSIGN_OR_RETURN(bool locked, TryLock(offset));
    if (locked) return absl::OkStatus();
    if (std::chrono::steady_clock::now() >= deadline) {
      return absl::UnavailableError("kernel cache: another process holds the lock file");
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(5000));
  }
}

std::string SetAsidePath(const std::string& path, int n) { return Cat(path, ".corrupt-", n); }
std::string SwapPath(const std::string& path, int n) { return Cat(path, ".swap-", n); }

int SwapUnderWay(const std::string& path) {
  for (int n = 1; n <= kMostSetAside; ++n) {
    if (IdOf(SwapPath(path, n)) != FileId{}) return n;
  }
  return 0;
}

bool HasOtherNames(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0 || info.st_nlink == 1) return false;
  nlink_t known = 1;
  for (int n = 1; n <= kMostSetAside; ++n) {
    if (IdOf(SetAsidePath(path, n)) == IdOf(path)) ++known;
  }
  return info.st_nlink > known;
}

FolderLock::FolderLock(const std::string& path, std::chrono::milliseconds timeout)
    : fd_(open(FolderOf(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (fd_ >= 0 && flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

FolderLock::~FolderLock() {
  if (fd_ >= 0) close(fd_);
}

int64_t CompileLockOffset(std::string_view key) {
  return 1 + static_cast<int64_t>(XXH3_64bits(key.data(), key.size()) >> 2);
}

std::string LockPath(const std::string& path) { return path + ".lock"; }

}  // namespace tilewright
