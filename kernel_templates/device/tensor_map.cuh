// The 128 opaque bytes of a TMA descriptor. Plain C++: host code that fills parameter structs
// includes this too.
#ifndef TILEWRIGHT_DEVICE_TENSOR_MAP_CUH_
#define TILEWRIGHT_DEVICE_TENSOR_MAP_CUH_

namespace tilewright {

struct alignas(64) TensorMap {
  unsigned char bytes[128];
};

}  // namespace tilewright

#endif  // TILEWRIGHT_DEVICE_TENSOR_MAP_CUH_
