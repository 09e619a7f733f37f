// Where the runtime's messages go unless the embedder takes them.
#ifndef TILEWRIGHT_RUNTIME_LOGGING_H_
#define TILEWRIGHT_RUNTIME_LOGGING_H_

#include "runtime/runtime.h"

namespace tilewright {

// Standard error, from kInfo up.
// Messages below `least` are dropped.
Logger StandardErrorLogger(LogLevel least = LogLevel::kInfo);

// Calls `logger`, and drops the message where it throws: a log is no reason to lose a call, nor the
// thread that tunes.
Logger Unthrowing(Logger logger);

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_LOGGING_H_
