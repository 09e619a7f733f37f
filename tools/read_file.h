// Reading a file whole that a user named, which may be endless.
#ifndef TILEWRIGHT_TOOLS_READ_FILE_H_
#define TILEWRIGHT_TOOLS_READ_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace tilewright {

// More than any shape file, manifest or table of results needs.
inline constexpr int64_t kMostInputBytes = int64_t{64} << 20;

// NotFound where it cannot be read, InvalidArgument, having read no more, beyond `most` bytes. Both
// name the file; `what` is what it was to be: "shape file".
absl::StatusOr<std::string> ReadBounded(const std::string& path, std::string_view what,
                                        int64_t most = kMostInputBytes);

}  // namespace tilewright

#endif  // TILEWRIGHT_TOOLS_READ_FILE_H_
