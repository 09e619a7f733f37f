// The only file that knows spdlog.
#include "runtime/logging.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <memory>
#include <string>

namespace tilewright {

namespace {

// Messages quote caches and templates, which may be anyone's: nothing in them steers a terminal.
std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f) {
      char code[5];
      std::snprintf(code, sizeof(code), "\\x%02x", byte);
      escaped += code;
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace

Logger StandardErrorLogger(LogLevel least) {
  // Not registered: two runtimes of one process do not share it.
  auto log = std::make_shared<spdlog::logger>("tilewright",
                                              std::make_shared<spdlog::sinks::stderr_sink_mt>());
  return [log = std::move(log), least](LogLevel level, std::string_view message) {
    if (level < least) return;
    constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::debug, spdlog::level::info,
                                                     spdlog::level::warn, spdlog::level::err};
    log->log(kLevels[static_cast<size_t>(level)], "{}", Escaped(message));
  };
}

}  // namespace tilewright
