// The key of one exact call: everything a launch depends on, except for the pointers themselves.
#ifndef TILEWRIGHT_RUNTIME_EXACT_KEY_H_
#define TILEWRIGHT_RUNTIME_EXACT_KEY_H_

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "manifest/param_value.h"
#include "runtime/tensor.h"

namespace tilewright {

inline constexpr int kMaxOperands = 24;

// Words on the stack: op and counts, then each operand (dtype, rank, device, alignment class, null
// or absent; shape; strides), then each parameter as given. Build() leaves unused words untouched.
class ExactKey {
 public:
  // What stands for a null pointer: an error of its own in a call; in Prepare the best alignment.
  enum class Null : uint8_t { kDistinct, kAligned };

  // False where the call does not fit, which only a malformed or a huge one does not. Part of its
  // caller, as every step of a hit.
  [[gnu::always_inline]] bool Build(int op, std::span<const Tensor> inputs,
                                    std::span<const Tensor> outputs,
                                    std::span<const NamedParam> params,
                                    Null null_means = Null::kDistinct) {
    size_ = 0;
    if (inputs.size() + outputs.size() > kMaxOperands) return false;
    Push(static_cast<uint64_t>(op) | inputs.size() << 32 | outputs.size() << 40 |
         params.size() << 48);
    for (const Tensor& tensor : inputs) {
      if (!Add(tensor, null_means)) return false;
    }
    for (const Tensor& tensor : outputs) {
      if (!Add(tensor, null_means)) return false;
    }
    for (const NamedParam& param : params) {
      if (!Add(param)) return false;
    }
    hash_ = Hash();
    return true;
  }

  uint64_t hash() const { return hash_; }
  std::span<const uint64_t> words() const { return {words_.data(), size_}; }

 private:
  // Products of pairs, which do not wait for each other; after wyhash and XXH3, short enough to
  // stay in the instruction cache. Whoever looks up compares the words, too.
  uint64_t Hash() {
    constexpr uint64_t kStep = 0x9e3779b97f4a7c15;
    words_[size_] = 0;  // of an odd number the partner of the last
    uint64_t secret = kStep ^ size_;
    uint64_t sum = 0;
    for (size_t i = 0; i < size_; i += 2) {
      const auto product = static_cast<unsigned __int128>(words_[i] ^ secret) *
                           (words_[i + 1] ^ std::rotl(secret, 32));
      sum += static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
      secret += kStep;
    }
    sum = (sum ^ sum >> 29) * kStep;
    return sum ^ sum >> 32;
  }

  static constexpr size_t kMaxWords = 256;
  static constexpr uint64_t kNullClass = 15;

  void Push(uint64_t word) { words_[size_++] = word; }

  // Copies a fixed number of values, of which those past the rank are overwritten or left unused.
  void Push(const Dims& dims) {
    constexpr int kUsual = 4;
    std::memcpy(&words_[size_], dims.begin(), kUsual * sizeof(uint64_t));
    if (dims.rank() > kUsual) {
      std::memcpy(&words_[size_ + kUsual], dims.begin() + kUsual,
                  (kMaxRank - kUsual) * sizeof(uint64_t));
    }
    size_ += static_cast<size_t>(dims.rank());
  }

  static uint64_t FirstWord(std::string_view text) {
    uint64_t word;
    std::memcpy(&word, text.data(), sizeof(word));
    return word;
  }
  // Of fewer characters than a word has.
  static uint64_t ShortWord(std::string_view text) {
    if (text.size() >= sizeof(uint32_t)) {
      uint32_t first, last;  // which overlap
      std::memcpy(&first, text.data(), sizeof(first));
      std::memcpy(&last, text.data() + text.size() - sizeof(last), sizeof(last));
      return uint64_t{last} << 32 | first;
    }
    uint64_t word = 0;
    for (char c : text) word = word << 8 | static_cast<unsigned char>(c);
    return word;
  }

  bool Add(const Tensor& tensor, Null null_means) {
    const int rank = tensor.desc.shape.rank();
    const int stride_rank = tensor.desc.strides.rank();
    if (size_ + 1 + size_t{2} * kMaxRank > kMaxWords) return false;
    if (tensor.desc.shape.truncated() || tensor.desc.strides.truncated()) return false;
    const auto address = reinterpret_cast<uintptr_t>(tensor.data);
    uint64_t alignment = static_cast<uint64_t>(std::countr_zero(address | 256));
    if (address == 0 && null_means == Null::kDistinct) alignment = kNullClass;
    Push(static_cast<uint64_t>(tensor.desc.dtype) | static_cast<uint64_t>(rank) << 8 |
         static_cast<uint64_t>(stride_rank) << 16 | alignment << 24 |
         static_cast<uint64_t>(static_cast<uint32_t>(tensor.device)) << 32);
    Push(tensor.desc.shape);
    Push(tensor.desc.strides);
    return true;
  }

  bool Add(const NamedParam& param) {
    const size_t name_words = (param.name.size() + 7) / 8;
    if (size_ + 2 + name_words + kMaxRank > kMaxWords) return false;
    const ParamValue& value = param.value;
    const bool is_list = value.kind() == ParamValue::Kind::kIntList;
    if (is_list && value.as_list().truncated()) return false;
    Push(static_cast<uint64_t>(value.kind()) | param.name.size() << 8 |
         static_cast<uint64_t>(is_list ? value.as_list().rank() : 0) << 48);
    std::string_view name = param.name;
    for (; name.size() >= sizeof(uint64_t); name.remove_prefix(sizeof(uint64_t))) {
      Push(FirstWord(name));
    }
    if (!name.empty()) Push(ShortWord(name));
    if (is_list) {
      Push(value.as_list());
    } else if (value.kind() == ParamValue::Kind::kFloat) {
      Push(std::bit_cast<uint64_t>(value.as_float()));
    } else {
      Push(static_cast<uint64_t>(value.as_int()));
    }
    return true;
  }

  // Uninitialised on purpose: clearing 2 KiB would be a good part of a hit.
  std::array<uint64_t, kMaxWords + 1> words_;
  size_t size_ = 0;
  uint64_t hash_ = 0;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_EXACT_KEY_H_
