// Complex elements: storage and loading. Their arithmetic is that of two floats or doubles.
#ifndef TILEWRIGHT_DEVICE_COMPLEX_CUH_
#define TILEWRIGHT_DEVICE_COMPLEX_CUH_

#include "device/packet.cuh"

namespace tilewright {

struct complex64 {
  uint64_t bits;  // the real part in the low half
};
struct complex128 {
  uint64_t real_bits;
  uint64_t imaginary_bits;
};

template <class Real>
struct Complex {
  Real real;
  Real imaginary;
};

template <>
struct TypeTraits<complex64> {
  using Compute = Complex<float>;
  __device__ __forceinline__ static Compute ToCompute(complex64 value) {
    return {BitsToFloat(static_cast<uint32_t>(value.bits)),
            BitsToFloat(static_cast<uint32_t>(value.bits >> 32))};
  }
};
template <>
struct TypeTraits<complex128> {
  using Compute = Complex<double>;
  __device__ __forceinline__ static Compute ToCompute(complex128 value) {
    return {BitsToDouble(value.real_bits), BitsToDouble(value.imaginary_bits)};
  }
};

// A packet of one.
__device__ __forceinline__ void UnpackComplex128(const Packet<16>& packet,
                                                 Complex<double> (&values)[1]) {
  values[0] =
      TypeTraits<complex128>::ToCompute({PacketBits<8>(packet, 0), PacketBits<8>(packet, 1)});
}

}  // namespace tilewright

#endif  // TILEWRIGHT_DEVICE_COMPLEX_CUH_
