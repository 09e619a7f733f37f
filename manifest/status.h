// Status helpers: early-return macros and message building.
//
// Every error message names the op, the argument, what was expected and what was got. The factories
// below concatenate their arguments (strings of any kind, integers, floats) into the message.
#ifndef TILEWRIGHT_MANIFEST_STATUS_H_
#define TILEWRIGHT_MANIFEST_STATUS_H_

#include <sstream>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tilewright {

// Concatenates printable values.
template <class... Parts>
std::string Cat(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

template <class... Parts>
absl::Status InvalidArgument(const Parts&... parts) {
  return absl::InvalidArgumentError(Cat(parts...));
}
template <class... Parts>
absl::Status NotFound(const Parts&... parts) {
  return absl::NotFoundError(Cat(parts...));
}
template <class... Parts>
absl::Status FailedPrecondition(const Parts&... parts) {
  return absl::FailedPreconditionError(Cat(parts...));
}
template <class... Parts>
absl::Status ResourceExhausted(const Parts&... parts) {
  return absl::ResourceExhaustedError(Cat(parts...));
}
template <class... Parts>
absl::Status Internal(const Parts&... parts) {
  return absl::InternalError(Cat(parts...));
}

}  // namespace tilewright

#define TW_STATUS_CONCAT_INNER_(a, b) a##b
#define TW_STATUS_CONCAT_(a, b) TW_STATUS_CONCAT_INNER_(a, b)

#define TW_RETURN_IF_ERROR(expr)                                            \
  do {                                                                      \
    if (absl::Status tw_status = (expr); !tw_status.ok()) return tw_status; \
  } while (false)

// TW_ASSIGN_OR_RETURN(auto value, Function());
#define TW_ASSIGN_OR_RETURN(lhs, expr) \
  TW_ASSIGN_OR_RETURN_IMPL_(TW_STATUS_CONCAT_(tw_statusor_, __LINE__), lhs, expr)
#define TW_ASSIGN_OR_RETURN_IMPL_(statusor, lhs, expr) \
  auto statusor = (expr);                              \
  if (!statusor.ok()) return statusor.status();        \
  lhs = std::move(statusor).value()

#endif  // TILEWRIGHT_MANIFEST_STATUS_H_
