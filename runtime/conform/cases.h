// What conformance runs of an operator: its workloads and its edge cases.
#ifndef TILEWRIGHT_RUNTIME_CONFORM_CASES_H_
#define TILEWRIGHT_RUNTIME_CONFORM_CASES_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "manifest/op_spec.h"

namespace tilewright {

struct ConformCase {
  std::string name;  // "workload/llama-8b-prefill", "edge/primes+padded"
  DType dtype = DType::kFloat32;
  bool is_workload = false;
  CallDesc call;  // layouts applied; refers to the op's spec
  std::vector<std::pair<std::string, ParamValue>> params;  // as given, before normalisation

  std::vector<NamedParam> NamedParams() const;  // views into `params`
};

// The workloads at each of their dtypes, then the edge cases at each of theirs (no dtypes: all that
// the leading input allows). The first edge case is also run in every layout: "+misaligned" (each
// operand one element past an aligned address), "+padded" (rows apart), "+gapped" (every stride
// doubled), "+transposed" (axes stored in reverse order), "+expanded" (the first axis of every
// input of stride 0).
absl::StatusOr<std::vector<ConformCase>> ConformCases(const OpSpec& op);

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_CONFORM_CASES_H_
