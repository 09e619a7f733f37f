// The text of a status, for messages of our own.
#ifndef TILEWRIGHT_TOOLS_MESSAGE_H_
#define TILEWRIGHT_TOOLS_MESSAGE_H_

#include <string>

#include "absl/status/status.h"

namespace tilewright {

inline std::string MessageOf(const absl::Status& status) {
  return std::string(status.message().data(), status.message().size());
}

}  // namespace tilewright

#endif  // TILEWRIGHT_TOOLS_MESSAGE_H_
