#include "tools/escaped_output.h"

#include <cstdio>
#include <iostream>
#include <utility>

#include "manifest/text.h"

namespace tilewright {

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
  held_.append(text, static_cast<size_t>(count));
  std::string escaped;
  held_ = std::string(AppendEscapedLines(held_, escaped));
  const auto size = static_cast<std::streamsize>(escaped.size());
  return inner_->sputn(escaped.data(), size) == size ? count : 0;
}

int EscapedOutput::sync() {
  const std::string rest = EscapedLines(std::exchange(held_, {}));
  inner_->sputn(rest.data(), static_cast<std::streamsize>(rest.size()));
  return inner_->pubsync();
}

}  // namespace tilewright
