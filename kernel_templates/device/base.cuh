// Fixed-width types, minimal traits and integer arithmetic: what a standard header would give, at
// no compile time. Includes nothing.
#ifndef TILEWRIGHT_DEVICE_BASE_CUH_
#define TILEWRIGHT_DEVICE_BASE_CUH_

namespace tilewright {

using int8_t = signed char;
using uint8_t = unsigned char;
using int16_t = short;
using uint16_t = unsigned short;
using int32_t = int;
using uint32_t = unsigned int;
using int64_t = long long;
using uint64_t = unsigned long long;

static_assert(sizeof(int16_t) == 2 && sizeof(int32_t) == 4 && sizeof(int64_t) == 8);

template <class A, class B>
inline constexpr bool kIsSame = false;
template <class A>
inline constexpr bool kIsSame<A, A> = true;

template <class T>
inline constexpr bool kIsInteger =
    kIsSame<T, int8_t> || kIsSame<T, uint8_t> || kIsSame<T, int16_t> || kIsSame<T, uint16_t> ||
    kIsSame<T, int32_t> || kIsSame<T, uint32_t> || kIsSame<T, int64_t> || kIsSame<T, uint64_t>;

template <bool kCondition, class A, class B>
struct ConditionalType {
  using Type = A;
};
template <class A, class B>
struct ConditionalType<false, A, B> {
  using Type = B;
};
template <bool kCondition, class A, class B>
using Conditional = typename ConditionalType<kCondition, A, B>::Type;

// A compile-time int as a value, so that a lambda can take one.
template <int kValue>
struct IntConstant {
  static constexpr int value = kValue;
  constexpr operator int() const { return kValue; }
};

// Calls f(IntConstant<0>{}), ..., f(IntConstant<kCount - 1>{}): a loop whose index is a constant.
template <int kCount, int kFirst = 0, class F>
__device__ __forceinline__ void StaticFor(F&& f) {
  if constexpr (kFirst < kCount) {
    f(IntConstant<kFirst>{});
    StaticFor<kCount, kFirst + 1>(f);
  }
}

template <class T>
__host__ __device__ constexpr T CeilDiv(T a, T b) {
  return (a + b - 1) / b;
}
template <class T>
__host__ __device__ constexpr T Min(T a, T b) {
  return a < b ? a : b;
}
template <class T>
__host__ __device__ constexpr T Max(T a, T b) {
  return a < b ? b : a;
}
__host__ __device__ constexpr bool IsPowerOfTwo(int value) {
  return value > 0 && (value & (value - 1)) == 0;
}

}  // namespace tilewright

#endif  // TILEWRIGHT_DEVICE_BASE_CUH_
