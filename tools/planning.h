// Which kernels a list of calls needs: shared by warm, coverage and explain.
#ifndef TILEWRIGHT_TOOLS_PLANNING_H_
#define TILEWRIGHT_TOOLS_PLANNING_H_

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "manifest/device_profile.h"
#include "runtime/keys.h"
#include "runtime/runtime.h"
#include "tools/shape_file.h"

namespace tilewright {

// Why a kernel is needed: what the call would run (a winner of its own, that of its nearest tuned
// neighbour, or the default), the portable fallback, a tuning candidate, or what tuning itself
// runs.
enum class Need : uint8_t { kWinner, kNeighbour, kDefault, kFallback, kCandidate, kSupport };
std::string_view NeedName(Need need);

struct NeededKernel {
  KernelKey key;
  KernelSpec spec;
  std::string op;
  Need need = Need::kDefault;
  std::string origin;  // of the first call that needs it
  int calls = 0;       // that need it
};

struct PlanOptions {
  bool candidates = false;  // also those that tuning would try
};

// Every kernel that `calls` need on any of `devices`, which share an architecture: once each, in
// order of first need. Compiles nothing.
absl::StatusOr<std::vector<NeededKernel>> PlanKernels(std::span<const NamedCall> calls,
                                                      std::span<const DeviceProfile> devices,
                                                      Runtime& runtime, const PlanOptions& options);

}  // namespace tilewright

#endif  // TILEWRIGHT_TOOLS_PLANNING_H_
