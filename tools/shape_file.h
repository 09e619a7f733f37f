// Calls that a user writes down: lines of a shape file, or arguments of the command line.
#ifndef TILEWRIGHT_TOOLS_SHAPE_FILE_H_
#define TILEWRIGHT_TOOLS_SHAPE_FILE_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "manifest/call_desc.h"
#include "manifest/op_spec.h"

namespace tilewright {

// A call and where it comes from, for messages: "shapes.jsonl:3" or "GemmFwdOp square-1k-nn".
struct NamedCall {
  std::string origin;
  CallDesc call;
};

// Reads a shape file. Each line is a JSON object,
//   {"op": "GemmFwdOp", "inputs": {"a": [128, 7168], "b": [2112, 7168]}, "dtype": "bfloat16",
//    "params": {"trans_b": true}}
// where "dtype" is that of the leading input, or of the first output of an operator without inputs.
// The others follow the manifest, save those that "dtypes": {"position_ids": "int32"} names.
// In "params", "inf", "-inf" and "nan" are numbers that JSON lacks.
// "dtypes" and "params" may be absent; empty lines and lines that start with # are skipped.
// InvalidArgument reads "file:line: what", a line for each bad one, of 20 at most; NotFound where
// the file cannot be read.
absl::StatusOr<std::vector<NamedCall>> ReadShapeFile(const std::string& path,
                                                     std::span<const OpSpec* const> ops);
absl::StatusOr<std::vector<NamedCall>> ParseShapeFile(std::string_view text, std::string_view name,
                                                      std::span<const OpSpec* const> ops);

// A call from arguments such as "a=128x7168", or "128x7168" for the next input in the entry's order
// (rank 0: "a=()"; with a dtype of its own: "position_ids=2048:int32"), and "trans_b=true"
// ("value=-inf"). An empty dtype is that of the entry's first workload.
absl::StatusOr<CallDesc> ParseCallArguments(const OpSpec& op,
                                            const std::vector<std::string>& shapes,
                                            std::string_view dtype,
                                            const std::vector<std::string>& params);

// Every workload of the op at every dtype it names.
absl::StatusOr<std::vector<NamedCall>> WorkloadCalls(const OpSpec& op);

}  // namespace tilewright

#endif  // TILEWRIGHT_TOOLS_SHAPE_FILE_H_
