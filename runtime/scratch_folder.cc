#include "runtime/scratch_folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "manifest/status.h"
#include "manifest/text.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

constexpr char kPrefix[] = "tilewright-tune-";
constexpr int64_t kLeastAgeSeconds = 60;  // a new one may not be locked yet

int OpenFolder(const std::string& path) {
  return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

// Deletes `path` where it is this user's, not new, and nobody alive holds it.
void DeleteAbandoned(const std::string& path) {
  const int folder = OpenFolder(path);
  if (folder < 0) return;
  struct stat info {};
  const bool is_old = fstat(folder, &info) == 0 && info.st_uid == geteuid() &&
                      info.st_mtime + kLeastAgeSeconds < time(nullptr);
  if (is_old && flock(folder, LOCK_EX | LOCK_NB) == 0) {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  close(folder);
}

void DeleteAbandonedIn(const fs::path& base) {
  std::error_code error;
  fs::directory_iterator entry(base, fs::directory_options::skip_permission_denied, error);
  for (const fs::directory_iterator end; !error && entry != end; entry.increment(error)) {
    if (entry->path().filename().string().starts_with(kPrefix)) DeleteAbandoned(entry->path());
  }
}

}  // namespace

absl::StatusOr<ScratchFolder> ScratchFolder::Make() {
  std::error_code error;
  fs::path base = fs::temp_directory_path(error);
  if (error) base = "/tmp";
  DeleteAbandonedIn(base);
  std::string path = base / (std::string(kPrefix) + "XXXXXX");
  // The worker is told of its files in JSON.
  if (Escaped(path) != path) {
    return ResourceExhausted("tuning cannot use the folder for temporary files (TMPDIR), ",
                             Escaped(base.string()), ": its name is no plain text");
  }
  if (mkdtemp(path.data()) == nullptr) {
    return ResourceExhausted("cannot make a folder for tuning like ", path, ": ",
                             std::strerror(errno));
  }
  ScratchFolder folder;
  folder.path_ = path;
  folder.lock_ = OpenFolder(path);
  if (folder.lock_ >= 0) (void)flock(folder.lock_, LOCK_EX | LOCK_NB);
  return folder;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
  if (lock_ >= 0) close(lock_);
}

}  // namespace tilewright
