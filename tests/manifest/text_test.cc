// Text of unknown origin as it is shown: one line, no steering, no bytes that are no text.
#include "manifest/text.h"

#include <gtest/gtest.h>

namespace tilewright {
namespace {

// Guards: what is shown of a text stays on its line, in its order, and is UTF-8.
TEST(Text, IsEscaped) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"plain \xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x98\x80",
       "plain \xc3\xa9 \xe6\x97\xa5 \xf0\x9f\x98\x80"},
      {"a\nb\rc\td", "a\\nb\\rc\\td"},
      {"\x1b[31m\x7f", "\\u001b[31m\\u007f"},
      {"\xc2\x9b"
       "1m",
       "\\u009b1m"},
      {"abc\xe2\x80\xaegpj.exe", "abc\\u202egpj.exe"},
      {"\xe2\x81\xa6x\xe2\x81\xa9\xe2\x80\x8f\xd8\x9c", "\\u2066x\\u2069\\u200f\\u061c"},
      {"\xe2\x80\xa8", "\\u2028"},
      {"\xff\xc3(", "\\xff\\xc3("},
      {"\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80", "\\xc0\\xaf\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80"},
      {"cut \xe6\x97", "cut \\xe6\\x97"},
      {std::string_view("nul\0", 4), "nul\\u0000"}};
  for (const auto& [text, shown] : cases) EXPECT_EQ(Escaped(text), shown);
  EXPECT_EQ(EscapedLines("a\n\tb\r\xff"), "a\n\tb\\r\\xff");
}

// Guards: a text of any length is shown in bounds, whole characters of its start and its end.
TEST(Text, IsBrief) {
  EXPECT_EQ(Brief(std::string(kMostShown, 'a')), std::string(kMostShown, 'a'));
  EXPECT_EQ(Brief("begin" + std::string(400000, 'a') + "end"),
            "begin" + std::string(745, 'a') + " ... (399008 bytes left out) ... " +
                std::string(247, 'a') + "end");
  for (size_t before = 0; before < 8; ++before) {
    std::string text(before, 'a');
    for (int i = 0; i < 1000; ++i) text += "\xf0\x9f\x98\x80";
    const std::string shown = Brief(text);
    EXPECT_LT(shown.size(), kMostShown + 50);
    EXPECT_EQ(shown, Escaped(shown)) << before;
  }
  EXPECT_EQ(BriefLines("a\n\nb\n"), "a\n\nb\n");
  EXPECT_LT(BriefLines("a\n" + std::string(100000, 'b') + "\nc").size(), kMostShown + 50);
}

// Guards: a character that comes in parts is one, wherever it is cut.
TEST(Text, ComesInParts) {
  const std::string_view text = "\xf0\x9f\x98\x80\xe2\x80\xae";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    std::string shown;
    std::string rest(AppendEscapedLines(text.substr(0, cut), shown));
    rest += text.substr(cut);
    EXPECT_EQ(AppendEscapedLines(rest, shown), "");
    EXPECT_EQ(shown, "\xf0\x9f\x98\x80\\u202e") << cut;
  }
}

}  // namespace
}  // namespace tilewright
