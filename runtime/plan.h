// A resolved problem: what every call of it runs with.
#ifndef TILEWRIGHT_RUNTIME_PLAN_H_
#define TILEWRIGHT_RUNTIME_PLAN_H_

#include <atomic>
#include <memory>
#include <string>

#include "absl/container/inlined_vector.h"
#include "autotune/config.h"
#include "kernel_templates/recipe.h"
#include "runtime/device_table.h"
#include "runtime/kernel_loader.h"
#include "runtime/keys.h"
#include "runtime/runtime.h"

namespace tilewright {

// Set once, by whoever; a copy of the object is a new one, and not set.
class OneWayFlag {
 public:
  OneWayFlag() = default;
  OneWayFlag(const OneWayFlag&) {}
  OneWayFlag& operator=(const OneWayFlag&) = delete;
  void Set() const { set_.store(true); }
  bool IsSet() const { return set_.load(); }

 private:
  mutable std::atomic<bool> set_{false};
};

// Immutable but for the flag. Holds its kernels loaded.
struct Plan {
  ProblemKey problem;
  const VisibleDevice* device = nullptr;
  const Variant* variant = nullptr;
  Config config;
  Quality quality = Quality::kDefault;
  Source source = Source::kLoaded;
  std::string neighbour_json;  // for kNeighbour
  // One for each of Variant::Kernels(), in its order.
  absl::InlinedVector<std::shared_ptr<const LoadedKernel>, 2> kernels;
  // The plan table has let go of it: no exact call is to hold it any longer.
  OneWayFlag given_up;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_PLAN_H_
