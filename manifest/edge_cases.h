// Shapes and parameters at which kernels break: size 1, primes, tile boundaries, empty, many rows.
#ifndef TILEWRIGHT_MANIFEST_EDGE_CASES_H_
#define TILEWRIGHT_MANIFEST_EDGE_CASES_H_

#include <string_view>
#include <vector>

#include "manifest/op_spec.h"

namespace tilewright {

// The built-in edge cases of an op, for conformance; none for an op that has none. They are defined
// beside the op's reference in manifest/references/ as
//   TILEWRIGHT_EDGE_CASES(GemmFwdOp) { return {...}; }
// and found by the build-time generator through that marker. No dtypes: all that the leading input
// allows. The first case of a dtype is also run in every layout, so that it should be small.
std::vector<Workload> BuiltinEdgeCases(std::string_view op);

#define TILEWRIGHT_EDGE_CASES(op) std::vector<Workload> EdgeCases_##op()

}  // namespace tilewright

#endif  // TILEWRIGHT_MANIFEST_EDGE_CASES_H_
