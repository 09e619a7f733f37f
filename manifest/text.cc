#include "manifest/text.h"

#include <algorithm>
#include <cstdio>

namespace tilewright {
namespace {

bool IsLineBreakOrTab(uint32_t code) { return code == '\n' || code == '\t'; }

// Control characters, line and paragraph separators, and marks that reorder what stands beside
// them.
bool Steers(uint32_t code) {
  const auto within = [code](uint32_t first, uint32_t last) {
    return code >= first && code <= last;
  };
  return code < 0x20 || within(0x7f, 0x9f) || code == 0x061c || within(0x200e, 0x200f) ||
         within(0x2028, 0x202e) || within(0x2066, 0x2069);
}

void AppendEscape(uint32_t code, std::string& out) {
  switch (code) {
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      char text[16];
      std::snprintf(text, sizeof(text), "\\u%04x", code);
      out += text;
  }
}

void AppendBytes(std::string_view bytes, std::string& out) {
  for (const char byte : bytes) {
    char text[8];
    std::snprintf(text, sizeof(text), "\\x%02x", static_cast<unsigned char>(byte));
    out += text;
  }
}

// Stops at a cut-off character; returns what is left.
std::string_view Append(std::string_view text, bool keep_lines, std::string& out) {
  while (!text.empty()) {
    const Character next = FirstCharacter(text);
    if (next.kind == Character::Kind::kCut) break;
    const std::string_view bytes = text.substr(0, next.bytes);
    if (next.kind == Character::Kind::kInvalid) {
      AppendBytes(bytes, out);
    } else if (Steers(next.code) && !(keep_lines && IsLineBreakOrTab(next.code))) {
      AppendEscape(next.code, out);
    } else {
      out += bytes;
    }
    text.remove_prefix(next.bytes);
  }
  return text;
}

std::string AllEscaped(std::string_view text, bool keep_lines) {
  std::string out;
  out.reserve(text.size());
  AppendBytes(Append(text, keep_lines, out), out);
  return out;
}

}  // namespace

Character FirstCharacter(std::string_view text) {
  using Kind = Character::Kind;
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {Kind::kWhole, lead, 1};
  if (lead < 0xc2 || lead > 0xf4) return {};
  const size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  uint32_t code = lead & (0xffU >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if (i == text.size()) return {Kind::kCut, 0, text.size()};
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) return {};
    code = code << 6 | (next & 0x3fU);
    // Overlong forms, surrogates and codes beyond all planes are known by the second byte.
    if (i > 1) continue;
    const bool overlong = (lead == 0xe0 && next < 0xa0) || (lead == 0xf0 && next < 0x90);
    const bool none = (lead == 0xed && next > 0x9f) || (lead == 0xf4 && next > 0x8f);
    if (overlong || none) return {};
  }
  return {Kind::kWhole, code, length};
}

std::string Escaped(std::string_view text) { return AllEscaped(text, false); }
std::string EscapedLines(std::string_view text) { return AllEscaped(text, true); }

std::string Brief(std::string_view text) {
  if (text.size() <= kMostShown) return std::string(text);
  constexpr size_t kEnd = kMostShown / 4;
  // Whole characters: bytes of the form 10xxxxxx begin none.
  const auto is_inside = [&](size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
  };
  size_t begin = kMostShown - kEnd;
  while (begin > kMostShown / 2 && is_inside(begin)) --begin;
  size_t end = text.size() - kEnd;
  while (end + 1 < text.size() && is_inside(end)) ++end;
  std::string out(text.substr(0, begin));
  out += " ... (" + std::to_string(end - begin) + " bytes left out) ... ";
  return out.append(text.substr(end));
}

std::string BriefLines(std::string_view text) {
  std::string out;
  while (true) {
    const size_t end = std::min(text.find('\n'), text.size());
    out += Brief(text.substr(0, end));
    if (end == text.size()) return out;
    out += '\n';
    text.remove_prefix(end + 1);
  }
}

std::string_view AppendEscapedLines(std::string_view text, std::string& out) {
  return Append(text, true, out);
}

}  // namespace tilewright
