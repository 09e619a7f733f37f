#include "tools/read_file.h"

#include <algorithm>
#include <fstream>

#include "manifest/status.h"

namespace tilewright {

absl::StatusOr<std::string> ReadBounded(const std::string& path, std::string_view what,
                                        int64_t most) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  constexpr int64_t kStep = int64_t{1} << 20;
  while (file && static_cast<int64_t>(text.size()) <= most) {
    const size_t had = text.size();
    text.resize(had + static_cast<size_t>(kStep));
    file.read(text.data() + had, kStep);
    text.resize(had + static_cast<size_t>(file.gcount()));
  }
  if (static_cast<int64_t>(text.size()) > most) {
    return InvalidArgument("the ", what, " ", path, ": expected at most ", most, " bytes");
  }
  // A folder opens, and cannot be read.
  if (!file.eof()) return NotFound("cannot read the ", what, " ", path);
  return text;
}

}  // namespace tilewright
