// A 128-bit content digest (XXH3) over a sequence of fields.
#ifndef TILEWRIGHT_MANIFEST_DIGEST_H_
#define TILEWRIGHT_MANIFEST_DIGEST_H_

#include <memory>
#include <string>
#include <string_view>

namespace tilewright {

// Each field is length-prefixed, so that ("ab", "c") and ("a", "bc") differ. Not thread-safe.
class Digest {
 public:
  Digest();
  ~Digest();
  Digest(Digest&&) noexcept;
  Digest& operator=(Digest&&) noexcept;

  Digest& Add(std::string_view field);
  std::string Hex() const;  // 32 lower-case digits

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_MANIFEST_DIGEST_H_
