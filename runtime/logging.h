// Where the runtime's messages go unless the embedder takes them.
#ifndef TILEWRIGHT_RUNTIME_LOGGING_H_
#define TILEWRIGHT_RUNTIME_LOGGING_H_

#include "runtime/runtime.h"

namespace tilewright {

// Standard error, from kInfo up.
// Messages below `least` are dropped.
Logger StandardErrorLogger(LogLevel least = LogLevel::kInfo);

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_LOGGING_H_
