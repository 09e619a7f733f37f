// Standard output and error with what is no plain text made visible.
#ifndef TILEWRIGHT_TOOLS_ESCAPED_OUTPUT_H_
#define TILEWRIGHT_TOOLS_ESCAPED_OUTPUT_H_

#include <ostream>
#include <streambuf>
#include <string>

namespace tilewright {

// Purpose: what is printed of caches, bundles and shape files, which may be anyone's, cannot steer
// a terminal: everything goes through EscapedLines(). A newline is the program's own, so a text
// from a file is Escaped() where it is printed.
class EscapedOutput : public std::streambuf {
 public:
  explicit EscapedOutput(std::ostream& stream) : stream_(stream), inner_(stream.rdbuf(this)) {}
  ~EscapedOutput() override {
    EscapedOutput::sync();
    stream_.rdbuf(inner_);
  }
  EscapedOutput(const EscapedOutput&) = delete;
  EscapedOutput& operator=(const EscapedOutput&) = delete;

 protected:
  int_type overflow(int_type next) override;
  std::streamsize xsputn(const char* text, std::streamsize count) override;
  int sync() override;

 private:
  std::ostream& stream_;
  std::streambuf* const inner_;
  std::string held_;  // the first bytes of a character
};

// Begins the terminal's line anew, past the stream, which would escape that.
void ClearLine();

}  // namespace tilewright

#endif  // TILEWRIGHT_TOOLS_ESCAPED_OUTPUT_H_
