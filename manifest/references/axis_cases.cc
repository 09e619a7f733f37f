#include "manifest/references/axis_cases.h"

namespace tilewright {

std::vector<Workload> AxisCases(std::span<const AxisCase> own) {
  const AxisCase common[] = {{"primes", {5, 67}, 1},
                             {"primes-outer", {67, 5}, 0},
                             {"one", {1, 1}, 1},
                             {"extent-one", {64, 1}, 1},
                             {"row-of-46", {9, 46}, 1},
                             {"plus-one", {3, 4097}, 1},
                             {"minus-one", {3, 1023}, 1},
                             {"very-long", {2, 131073}, 1},
                             {"rank-8", {2, 3, 2, 5, 1, 2, 3, 2}, 3},
                             {"long-outer", {2, 4099, 33}, 1},
                             {"many-lines", {70001, 3}, 1},
                             {"many-lines-outer", {3, 70001}, 0},
                             {"no-lines", {0, 5}, 1},
                             {"empty-axis", {5, 0}, 1}};
  std::vector<Workload> cases;
  for (const std::span<const AxisCase> some : {std::span<const AxisCase>(common), own}) {
    for (const AxisCase& problem : some) {
      Workload& entry = cases.emplace_back();
      entry.label = problem.label;
      entry.input_shapes = {{"x", problem.x}};
      entry.params = {{"dim", problem.dim}};
    }
  }
  return cases;
}

}  // namespace tilewright
