// Division by a run-time divisor that is fixed for a launch, as a multiplication and a shift.
// Shared by host and device: the host makes it, a kernel parameter carries it. Includes nothing.
#ifndef TILEWRIGHT_DEVICE_FAST_DIVMOD_CUH_
#define TILEWRIGHT_DEVICE_FAST_DIVMOD_CUH_

namespace tilewright {

// Unsigned division after Granlund and Montgomery, "Division by invariant integers using
// multiplication" (1994), figure 4.1. `kWide` selects 64-bit dividends. Exact for dividends below
// 2^31 (2^63 if wide) and divisors of at least 1 in the same range.
template <bool kWide>
struct FastDivmod;

template <>
struct FastDivmod<false> {
  unsigned divisor;
  unsigned magic;
  unsigned shift;

#ifdef __CUDACC_RTC__
  __device__ __forceinline__ void operator()(unsigned n, unsigned* quotient,
                                             unsigned* remainder) const {
    *quotient = (__umulhi(n, magic) + n) >> shift;
    *remainder = n - *quotient * divisor;
  }
#endif
};

template <>
struct FastDivmod<true> {
  unsigned long long divisor;
  unsigned long long magic;
  unsigned long long shift;

#ifdef __CUDACC_RTC__
  __device__ __forceinline__ void operator()(unsigned long long n, unsigned long long* quotient,
                                             unsigned long long* remainder) const {
    *quotient = (__umul64hi(n, magic) + n) >> shift;
    *remainder = n - *quotient * divisor;
  }
#endif
};

#ifndef __CUDACC_RTC__
template <bool kWide>
constexpr FastDivmod<kWide> MakeFastDivmod(unsigned long long divisor) {
  int shift = 0;
  while (shift < 63 && (1ULL << shift) < divisor) ++shift;
  const unsigned __int128 one = 1;
  const int bits = kWide ? 64 : 32;
  const unsigned __int128 magic = (one << bits) * ((one << shift) - divisor) / divisor + 1;
  FastDivmod<kWide> result{};
  result.divisor = static_cast<decltype(result.divisor)>(divisor);
  result.magic = static_cast<decltype(result.magic)>(magic);
  result.shift = static_cast<decltype(result.shift)>(shift);
  return result;
}
#endif

}  // namespace tilewright

#endif  // TILEWRIGHT_DEVICE_FAST_DIVMOD_CUH_
