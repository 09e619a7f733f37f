// Text of unknown origin: as UTF-8, and as it may be shown.
#ifndef TILEWRIGHT_MANIFEST_TEXT_H_
#define TILEWRIGHT_MANIFEST_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tilewright {

// A UTF-8 character (RFC 3629), or a byte that begins none.
struct Character {
  enum class Kind : uint8_t { kWhole, kCut, kInvalid };
  Kind kind = Kind::kInvalid;
  uint32_t code = 0;
  size_t bytes = 1;  // those of a cut one are the rest of the text
};
// At the start of `text`, which is not empty.
Character FirstCharacter(std::string_view text);

// For messages and tables: what would steer a terminal, begin a line, reorder a text or is no UTF-8
// is written as an escape, as in JSON: "\n", "\u202e"; a byte that is no UTF-8 as "\xff".
// Everything else is left as it is.
std::string Escaped(std::string_view text);
// The same, line breaks and tabs left as they are.
std::string EscapedLines(std::string_view text);

// For messages that repeat what somebody wrote, which may be of any length: of more than kMostShown
// bytes the start and the end, and how many are left out between them.
inline constexpr size_t kMostShown = 1000;
std::string Brief(std::string_view text);
// The same for each line.
std::string BriefLines(std::string_view text);

// Appends EscapedLines(text), but for a character that is cut off at its end; returns that one's
// bytes, for text that comes in parts.
std::string_view AppendEscapedLines(std::string_view text, std::string& out);

}  // namespace tilewright

#endif  // TILEWRIGHT_MANIFEST_TEXT_H_
