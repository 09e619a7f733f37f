// Edge cases of the pooling operators.
#include <span>
#include <utility>

#include "manifest/edge_cases.h"
#include "manifest/op_spec.h"

namespace tilewright {
namespace {

struct Problem {
  const char* label;
  Dims input;
  Dims kernel;
  Dims stride;
  Dims padding = {0};
  bool ceil_mode = false;
  Dims dilation = {1};                // max only
  bool count_include_pad = true;      // average only
  ParamValue divisor = ParamValue();  // average over two and three axes only
};

enum class Kind { kAverage, kMax };

std::vector<Workload> CasesOf(std::span<const Problem> problems, Kind kind) {
  std::vector<Workload> cases;
  for (const Problem& problem : problems) {
    const bool dilated = !(problem.dilation == Dims{1});
    const bool divided = !problem.count_include_pad || !problem.divisor.is_null();
    if (kind == Kind::kAverage ? dilated : divided) continue;
    Workload& entry = cases.emplace_back();
    entry.label = problem.label;
    entry.input_shapes = {{"input", problem.input}};
    entry.params = {{"kernel_size", problem.kernel},
                    {"padding", problem.padding},
                    {"ceil_mode", problem.ceil_mode}};
    if (problem.stride.rank() > 0) entry.params.push_back({"stride", problem.stride});
    if (kind == Kind::kMax) {
      entry.params.push_back({"dilation", problem.dilation});
      continue;
    }
    entry.params.push_back({"count_include_pad", problem.count_include_pad});
    if (problem.input.rank() > 3) entry.params.push_back({"divisor_override", problem.divisor});
  }
  return cases;
}

std::vector<Workload> OneAxis(Kind kind) {
  const Problem problems[] = {
      {"primes", {3, 5, 23}, {3}, {2}, {1}},
      {"one", {1, 1, 1}, {1}, {}},
      {"window-of-all", {4, 3, 128}, {128}, {1}},
      {"window-of-many", {2, 3, 1000}, {331}, {97}, {100}},
      {"stride-null", {2, 8, 64}, {2}, {}},
      {"gaps", {2, 8, 1024}, {2}, {5}},
      {"overlap", {2, 8, 1024}, {7}, {1}, {3}},
      {"ceil", {2, 8, 33}, {4}, {3}, {0}, true},
      {"ceil-past-end", {2, 8, 2}, {3}, {2}, {0}, true},
      {"ceil-padded", {2, 8, 30}, {4}, {4}, {2}, true},
      {"exclude-pad", {2, 8, 30}, {5}, {2}, {2}, true, {1}, false},
      {"dilated", {2, 8, 64}, {3}, {1}, {1}, false, {4}},
      {"dilated-past-all", {2, 3, 1}, {2}, {1}, {1}, false, {2}},
      {"long", {1, 1, 100003}, {7}, {3}, {2}},
      {"many-planes", {70001, 1, 4}, {2}, {2}},
      {"no-planes", {0, 3, 8}, {2}, {2}},
  };
  return CasesOf(problems, kind);
}

std::vector<Workload> TwoAxes(Kind kind) {
  const Problem problems[] = {
      {"primes", {2, 3, 11, 13}, {3, 3}, {2, 2}, {1, 1}},
      {"one", {1, 1, 1, 1}, {1}, {}},
      {"padding-after-end", {1, 2, 4, 4}, {1, 2}, {2}, {0, 1}, true},
      {"ceil-7x7", {1, 1, 7, 7}, {2}, {3}, {0}, true},
      {"exclude-pad", {2, 3, 9, 10}, {3, 4}, {2, 3}, {1, 2}, true, {1}, false},
      {"divisor", {2, 3, 9, 10}, {3, 4}, {2, 3}, {1, 2}, true, {1}, false, 7},
      {"divisor-negative", {2, 3, 8, 8}, {2}, {2}, {0}, false, {1}, true, -3},
      {"global", {3, 5, 7, 7}, {7}, {1}},
      {"wide-window", {2, 2, 40, 70}, {20, 33}, {7, 9}, {10, 16}},
      {"tall-window", {2, 2, 100, 16}, {50, 1}, {25, 1}},
      {"row", {2, 2, 1, 64}, {1, 3}, {1, 2}, {0, 1}},
      {"column", {2, 2, 64, 1}, {3, 1}, {2, 1}, {1, 0}},
      {"aligned", {2, 4, 16, 64}, {3}, {1}, {1}},
      {"aligned-odd-stride", {2, 4, 16, 96}, {3}, {3}},
      {"dilated", {2, 3, 17, 19}, {3, 2}, {2, 1}, {1, 1}, true, {2, 5}},
      {"dilated-aligned", {2, 3, 16, 64}, {3}, {2}, {1}, false, {2}},
      {"many-planes", {66000, 1, 2, 2}, {2}, {2}},
      {"no-planes", {0, 3, 8, 8}, {2}, {2}},
  };
  return CasesOf(problems, kind);
}

std::vector<Workload> ThreeAxes(Kind kind) {
  const Problem problems[] = {
      {"primes", {2, 3, 5, 7, 11}, {2, 3, 3}, {2, 2, 2}, {1, 1, 1}},
      {"one", {1, 1, 1, 1, 1}, {1}, {}},
      {"ceil", {1, 3, 5, 6, 7}, {2, 3, 2}, {2, 2, 3}, {0, 1, 1}, true},
      {"exclude-pad", {1, 3, 5, 6, 7}, {3}, {2}, {1}, true, {1}, false},
      {"divisor", {1, 3, 5, 6, 7}, {3}, {2}, {1}, true, {1}, true, 5},
      {"global", {2, 3, 4, 5, 6}, {4, 5, 6}, {1}},
      {"large-window", {1, 2, 12, 20, 30}, {7, 9, 11}, {3, 4, 5}, {3, 4, 5}},
      {"aligned", {2, 3, 4, 8, 32}, {2}, {2}},
      {"dilated", {1, 2, 9, 10, 16}, {2, 3, 2}, {1, 2, 2}, {1, 1, 0}, false, {3, 2, 2}},
      {"many-planes", {33000, 2, 1, 2, 2}, {1, 2, 2}, {1, 2, 2}},
      {"long-rows", {1, 2, 3, 4, 97}, {2}, {1}},
      {"shared-planes", {2, 3, 9, 8, 32}, {3}, {2}, {1}, true},
      {"shared-planes-dense", {1, 2, 8, 5, 13}, {3, 2, 3}, {1, 1, 2}, {1, 0, 1}},
      {"shared-planes-dilated",
       {1, 2, 7, 9, 24},
       {4, 2, 2},
       {3, 1, 2},
       {2, 1, 0},
       false,
       {1, 2, 2}},
      {"shared-planes-many", {2, 40, 6, 70, 96}, {2, 3, 3}, {1, 1, 1}, {1}},
      {"no-planes", {0, 2, 4, 4, 4}, {2}, {2}},
  };
  return CasesOf(problems, kind);
}

std::vector<Workload> Adaptive() {
  struct AdaptiveProblem {
    const char* label;
    Dims input;
    ParamValue size;
  };
  const AdaptiveProblem problems[] = {{"primes", {2, 3, 11, 13}, Dims{3, 5}},
                                      {"one", {1, 1, 1, 1}, 1},
                                      {"global", {3, 5, 7, 9}, 1},
                                      {"global-large", {2, 3, 150, 130}, Dims{1, 1}},
                                      {"null", {2, 3, 5, 7}, ParamValue()},
                                      {"own-extent", {2, 3, 5, 70}, Dims{-1, 7}},
                                      {"larger", {2, 3, 3, 5}, Dims{7, 4}},
                                      {"whole", {2, 3, 16, 16}, 4},
                                      {"rows", {2, 2, 64, 3}, Dims{1, 3}},
                                      {"columns", {2, 2, 3, 300}, Dims{3, 2}},
                                      {"many-planes", {66000, 1, 2, 3}, Dims{1, 2}},
                                      {"no-planes", {0, 3, 8, 8}, 2}};
  std::vector<Workload> cases;
  for (const AdaptiveProblem& problem : problems) {
    Workload& entry = cases.emplace_back();
    entry.label = problem.label;
    entry.input_shapes = {{"input", problem.input}};
    entry.params = {{"output_size", problem.size}};
  }
  return cases;
}

}  // namespace

TILEWRIGHT_EDGE_CASES(AvgPool1dFwdOp) { return OneAxis(Kind::kAverage); }
TILEWRIGHT_EDGE_CASES(AvgPool2dFwdOp) { return TwoAxes(Kind::kAverage); }
TILEWRIGHT_EDGE_CASES(AvgPool3dFwdOp) { return ThreeAxes(Kind::kAverage); }
TILEWRIGHT_EDGE_CASES(MaxPool1dFwdOp) { return OneAxis(Kind::kMax); }
TILEWRIGHT_EDGE_CASES(MaxPool2dFwdOp) { return TwoAxes(Kind::kMax); }
TILEWRIGHT_EDGE_CASES(MaxPool3dFwdOp) { return ThreeAxes(Kind::kMax); }
TILEWRIGHT_EDGE_CASES(MaxPool1dIndicesFwdOp) { return OneAxis(Kind::kMax); }
TILEWRIGHT_EDGE_CASES(MaxPool2dIndicesFwdOp) { return TwoAxes(Kind::kMax); }
TILEWRIGHT_EDGE_CASES(MaxPool3dIndicesFwdOp) { return ThreeAxes(Kind::kMax); }
TILEWRIGHT_EDGE_CASES(AdaptiveAvgPool2dFwdOp) { return Adaptive(); }
TILEWRIGHT_EDGE_CASES(AdaptiveMaxPool2dFwdOp) { return Adaptive(); }
TILEWRIGHT_EDGE_CASES(AdaptiveMaxPool2dIndicesFwdOp) { return Adaptive(); }

}  // namespace tilewright
