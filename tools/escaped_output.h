// Standard output and error with control characters made visible.
#ifndef TILEWRIGHT_TOOLS_ESCAPED_OUTPUT_H_
#define TILEWRIGHT_TOOLS_ESCAPED_OUTPUT_H_

#include <ostream>
#include <streambuf>
#include <string>

namespace tilewright {

// Purpose: what is printed of caches, bundles and shape files, which may be anyone's, cannot steer
// a terminal. Control characters but newline and tab, C1 ones included, come out as "\u001b", which
// JSON takes too.
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
  void Append(unsigned char byte, std::string& escaped);

  std::ostream& stream_;
  std::streambuf* const inner_;
  bool held_ = false;  // the first byte of what may become a C1 character
};

// Begins the terminal's line anew, past the stream, which would escape that.
void ClearLine();

}  // namespace tilewright

#endif  // TILEWRIGHT_TOOLS_ESCAPED_OUTPUT_H_
