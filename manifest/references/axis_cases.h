// Edge cases of operators that work along one axis.
#ifndef TILEWRIGHT_MANIFEST_REFERENCES_AXIS_CASES_H_
#define TILEWRIGHT_MANIFEST_REFERENCES_AXIS_CASES_H_

#include <span>
#include <vector>

#include "manifest/op_spec.h"

namespace tilewright {

struct AxisCase {
  const char* label;
  Dims x;
  ParamValue dim;
};

// Those that every such operator has, then `own`, as cases of inputs x and param dim.
std::vector<Workload> AxisCases(std::span<const AxisCase> own);

}  // namespace tilewright

#endif  // TILEWRIGHT_MANIFEST_REFERENCES_AXIS_CASES_H_
