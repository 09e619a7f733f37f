// Division by a run-time divisor that is fixed for a launch, as a multiplication and a shift.
// Shared by host and device: the host makes it, a kernel parameter carries it. Includes nothing.
#ifndef TILEWRIGHT_DEVICE_FAST_DIVMOD_CUH_
#define TILEWRIGHT_DEVICE_FAST_DIVMOD_CUH_

#ifdef __CUDACC_RTC__
#define TILEWRIGHT_HOST_DEVICE __device__ __forceinline__
#else
#define TILEWRIGHT_HOST_DEVICE inline
#endif

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

  TILEWRIGHT_HOST_DEVICE void operator()(unsigned n, unsigned* quotient,
                                         unsigned* remainder) const {
#ifdef __CUDACC_RTC__
    const unsigned high = __umulhi(n, magic);
#else
    const unsigned high = static_cast<unsigned>(static_cast<unsigned long long>(n) * magic >> 32);
#endif
    *quotient = (high + n) >> shift;
    *remainder = n - *quotient * divisor;
  }
};

template <>
struct FastDivmod<true> {
  unsigned long long divisor;
  unsigned long long magic;
  unsigned long long shift;

  TILEWRIGHT_HOST_DEVICE void operator()(unsigned long long n, unsigned long long* quotient,
                                         unsigned long long* remainder) const {
#ifdef __CUDACC_RTC__
    const unsigned long long high = __umul64hi(n, magic);
#else
    const unsigned long long high =
        static_cast<unsigned long long>(static_cast<unsigned __int128>(n) * magic >> 64);
#endif
    *quotient = (high + n) >> shift;
    *remainder = n - *quotient * divisor;
  }
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
