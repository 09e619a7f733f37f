// Guards the division that kernels do by multiplication: exact at every boundary of its range.
#include "kernel_templates/device/fast_divmod.cuh"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace tilewright {
namespace {

template <bool kWide, class Index>
void ExpectExact(Index divisor, Index n) {
  Index quotient = 0;
  Index remainder = 0;
  MakeFastDivmod<kWide>(divisor)(n, &quotient, &remainder);
  EXPECT_EQ(quotient, n / divisor) << n << " / " << divisor;
  EXPECT_EQ(remainder, n % divisor) << n << " % " << divisor;
}

template <bool kWide, class Index>
void CheckRange(Index largest) {
  std::mt19937_64 random(7);
  std::vector<Index> divisors = {1, 2, 3, 5, 7, 49, 641, 3136, 65535, 65537, largest - 1, largest};
  for (int i = 0; i < 200; ++i) {
    divisors.push_back(static_cast<Index>(random() % (largest >> (random() % 30)) + 1));
  }
  for (Index divisor : divisors) {
    for (Index n :
         {Index{0}, Index{1}, divisor - 1, divisor, largest / divisor * divisor,
          largest / divisor * divisor - 1, largest, static_cast<Index>(random() % largest)}) {
      ExpectExact<kWide>(divisor, n);
    }
  }
}

TEST(FastDivmod, IsExactBelowTwoToThe31) { CheckRange<false, unsigned>((1u << 31) - 1); }
TEST(FastDivmod, WideIsExactBelowTwoToThe63) {
  CheckRange<true, unsigned long long>((1ULL << 63) - 1);
}

}  // namespace
}  // namespace tilewright
