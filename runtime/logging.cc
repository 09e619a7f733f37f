// The only file that knows spdlog.
#include "runtime/logging.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <string>
#include <utility>

#include "manifest/text.h"

namespace tilewright {

Logger StandardErrorLogger(LogLevel least) {
  // Not registered: two runtimes of one process do not share it.
  auto log = std::make_shared<spdlog::logger>("tilewright",
                                              std::make_shared<spdlog::sinks::stderr_sink_mt>());
  return [log = std::move(log), least](LogLevel level, std::string_view message) {
    if (level < least) return;
    // Messages quote caches and templates, which may be anyone's: nothing in them steers a
    // terminal.
    constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::debug, spdlog::level::info,
                                                     spdlog::level::warn, spdlog::level::err};
    log->log(kLevels[static_cast<size_t>(level)], "{}", EscapedLines(message));
  };
}

Logger Unthrowing(Logger logger) {
  return [logger = std::move(logger)](LogLevel level, std::string_view message) {
    try {
      logger(level, message);
    } catch (...) {  // an embedder may throw anything
    }
  };
}

}  // namespace tilewright
