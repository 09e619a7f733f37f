// The JSON that a command prints, and the texts inside it.
#ifndef TILEWRIGHT_TOOLS_JSON_TEXT_H_
#define TILEWRIGHT_TOOLS_JSON_TEXT_H_

#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

namespace tilewright {

// Paths and messages may hold bytes that are no UTF-8; JSON output stays JSON.
inline constexpr auto kReplaceBadText = nlohmann::ordered_json::error_handler_t::replace;

inline void PrintJson(const nlohmann::ordered_json& json) {
  std::cout << json.dump(2, ' ', false, kReplaceBadText) << "\n";
}

// The value where `text` is JSON, the text itself where it is not.
inline nlohmann::ordered_json JsonOfText(const std::string& text) {
  nlohmann::ordered_json parsed = nlohmann::ordered_json::parse(text, nullptr, false);
  return parsed.is_discarded() ? nlohmann::ordered_json(text) : parsed;
}

}  // namespace tilewright

#endif  // TILEWRIGHT_TOOLS_JSON_TEXT_H_
