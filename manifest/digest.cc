#include "manifest/digest.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cstdint>

namespace tilewright {

struct Digest::State {
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> hash{XXH3_createState()};
};

Digest::Digest() : state_(std::make_unique<State>()) { XXH3_128bits_reset(state_->hash.get()); }
Digest::~Digest() = default;
Digest::Digest(Digest&&) noexcept = default;
Digest& Digest::operator=(Digest&&) noexcept = default;

Digest& Digest::Add(std::string_view field) {
  std::array<unsigned char, 8> length{};
  for (size_t i = 0; i < length.size(); ++i) {
    length[i] = static_cast<unsigned char>(static_cast<uint64_t>(field.size()) >> (8 * i));
  }
  XXH3_128bits_update(state_->hash.get(), length.data(), length.size());
  XXH3_128bits_update(state_->hash.get(), field.data(), field.size());
  return *this;
}

std::string Digest::Hex() const {
  XXH128_canonical_t canonical{};
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state_->hash.get()));
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const unsigned char byte : canonical.digest) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

}  // namespace tilewright
