#include "tools/escaped_output.h"

#include <cstdio>
#include <iostream>
#include <utility>

namespace tilewright {
namespace {

constexpr unsigned char kC1Lead = 0xc2;  // in UTF-8, of U+0080 to U+00BF

}  // namespace

void ClearLine() {
  std::cout.flush();
  std::fputs("\r\033[K", stdout);
  std::fflush(stdout);
}

EscapedOutput::int_type EscapedOutput::overflow(int_type next) {
  if (traits_type::eq_int_type(next, traits_type::eof())) return traits_type::not_eof(next);
  const char byte = traits_type::to_char_type(next);
  return xsputn(&byte, 1) == 1 ? next : traits_type::eof();
}

std::streamsize EscapedOutput::xsputn(const char* text, std::streamsize count) {
  std::string escaped;
  for (std::streamsize i = 0; i < count; ++i) Append(static_cast<unsigned char>(text[i]), escaped);
  const auto size = static_cast<std::streamsize>(escaped.size());
  return inner_->sputn(escaped.data(), size) == size ? count : 0;
}

int EscapedOutput::sync() {
  if (std::exchange(held_, false)) inner_->sputc(static_cast<char>(kC1Lead));
  return inner_->pubsync();
}

void EscapedOutput::Append(unsigned char byte, std::string& escaped) {
  bool shown = (byte >= 0x20 && byte != 0x7f) || byte == '\n' || byte == '\t';
  if (std::exchange(held_, false)) {
    const bool is_c1 = byte >= 0x80 && byte < 0xa0;
    if (!is_c1) escaped += static_cast<char>(kC1Lead);
    shown = shown && !is_c1;
  }
  if (byte == kC1Lead) {
    held_ = true;
  } else if (shown) {
    escaped += static_cast<char>(byte);
  } else {
    char code[7];
    std::snprintf(code, sizeof(code), "\\u%04x", byte);
    escaped += code;
  }
}

}  // namespace tilewright
