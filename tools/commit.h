// Which source this was built from.
#ifndef TILEWRIGHT_TOOLS_COMMIT_H_
#define TILEWRIGHT_TOOLS_COMMIT_H_

#include <string_view>

namespace tilewright {

// "1215122a0b3c", with "-dirty" where files differed from it; "unknown" where the source was in no
// git checkout. Written by the build.
std::string_view BuildCommit();

}  // namespace tilewright

#endif  // TILEWRIGHT_TOOLS_COMMIT_H_
