// The key of one exact call: everything a launch depends on, except for the pointers themselves.
#ifndef TILEWRIGHT_RUNTIME_EXACT_KEY_H_
#define TILEWRIGHT_RUNTIME_EXACT_KEY_H_

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

#define XXH_INLINE_ALL
#include <xxhash.h>

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

  // False where the call does not fit, which only a malformed or a huge one does not.
  bool Build(int op, std::span<const Tensor> inputs, std::span<const Tensor> outputs,
             std::span<const NamedParam> params, Null null_means = Null::kDistinct) {
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
    hash_ = XXH3_64bits(words_.data(), size_ * sizeof(uint64_t));
    return true;
  }

  uint64_t hash() const { return hash_; }
  std::span<const uint64_t> words() const { return {words_.data(), size_}; }

 private:
  static constexpr size_t kMaxWords = 256;
  static constexpr uint64_t kNullClass = 15;

  void Push(uint64_t word) { words_[size_++] = word; }

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
    for (int i = 0; i < rank; ++i) Push(static_cast<uint64_t>(tensor.desc.shape[i]));
    for (int i = 0; i < stride_rank; ++i) Push(static_cast<uint64_t>(tensor.desc.strides[i]));
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
    if (name_words > 0) {
      words_[size_ + name_words - 1] = 0;
      std::memcpy(&words_[size_], param.name.data(), param.name.size());
      size_ += name_words;
    }
    if (is_list) {
      for (int64_t entry : value.as_list()) Push(static_cast<uint64_t>(entry));
    } else if (value.kind() == ParamValue::Kind::kFloat) {
      Push(std::bit_cast<uint64_t>(value.as_float()));
    } else {
      Push(static_cast<uint64_t>(value.as_int()));
    }
    return true;
  }

  // Uninitialised on purpose: clearing 2 KiB would be a good part of a hit.
  std::array<uint64_t, kMaxWords> words_;
  size_t size_ = 0;
  uint64_t hash_ = 0;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_EXACT_KEY_H_
