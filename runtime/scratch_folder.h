// A folder for files that a tuning worker reads.
#ifndef TILEWRIGHT_RUNTIME_SCRATCH_FOLDER_H_
#define TILEWRIGHT_RUNTIME_SCRATCH_FOLDER_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace tilewright {

// In the system's folder for temporary files, of this user alone; deleted with the object.
// Move-only. A process that is killed leaves its folder behind: it is locked while its owner lives,
// and the next one to be made deletes those of this user that are not.
class ScratchFolder {
 public:
  // ResourceExhausted, with the path and the reason, where it cannot be made.
  static absl::StatusOr<ScratchFolder> Make();
  ScratchFolder() = default;
  ScratchFolder(ScratchFolder&& other) noexcept { *this = std::move(other); }
  ScratchFolder& operator=(ScratchFolder&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(lock_, other.lock_);
    return *this;
  }
  ~ScratchFolder();

  const std::string& path() const { return path_; }  // empty for none

 private:
  std::string path_;
  int lock_ = -1;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_SCRATCH_FOLDER_H_
