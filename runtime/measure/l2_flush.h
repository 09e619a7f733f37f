// Empties a device's L2 cache of what an earlier kernel left in it.
#ifndef TILEWRIGHT_RUNTIME_MEASURE_L2_FLUSH_H_
#define TILEWRIGHT_RUNTIME_MEASURE_L2_FLUSH_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "runtime/driver/driver.h"

namespace tilewright {

// Fills a buffer several times as large as the cache, as published figures are measured: what is
// timed next finds the cache full of lines that it has to write back. Or reads it, which leaves the
// cache clean. Needs a current context for as long as it lives; `driver` outlives it.
class L2Flush {
 public:
  static absl::StatusOr<std::unique_ptr<L2Flush>> Create(Driver& driver, int device,
                                                         CudaStream stream, int64_t l2_bytes,
                                                         bool clean);
  ~L2Flush();

  absl::Status Enqueue(CudaStream stream);
  int kernels() const { return kernel_ == nullptr ? 0 : 1; }  // that Enqueue() launches

 private:
  explicit L2Flush(Driver& driver) : driver_(driver) {}

  Driver& driver_;
  CudaLibrary library_ = nullptr;  // null: fills
  CudaKernel kernel_ = nullptr;
  void* buffer_ = nullptr;
  uint64_t pieces_ = 0;  // of 16 bytes
  LaunchShape shape_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_MEASURE_L2_FLUSH_H_
