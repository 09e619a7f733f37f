// What the tuner and its worker process say to each other: one JSON object a line.
//
// The tuner asks (`cmd`), the worker answers each request once (`reply`); in between it may say
// which candidate it is about to run (`event`), so that a hang can be put down to one. The worker
// knows no recipe: candidates arrive as bound launches with the files of their cubins.
#ifndef TILEWRIGHT_RUNTIME_WORKER_WIRE_H_
#define TILEWRIGHT_RUNTIME_WORKER_WIRE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "autotune/evaluator.h"
#include "kernel_templates/launch.h"
#include "manifest/tensor_desc.h"

namespace tilewright {

struct WireOperand {
  TensorDesc desc;
  uint32_t alignment = 256;
  bool present = true;
  bool output = false;
  bool mutated = false;
  // How far a candidate may be from the portable template's result.
  double absolute = 0;
  double relative = 0;
  std::string data_file;  // bytes of the whole extent, from an input generator; empty: random
};

struct WireKernel {
  std::string name;  // support kernels: the instantiation
  std::string file;  // cubin
  std::string symbol;
  int64_t static_smem_bytes = 0;
};

struct WirePlan {
  std::vector<WireKernel> kernels;
  BoundCall bound;
};

struct OpenRequest {
  int device = 0;
  uint64_t seed = 0;
  std::vector<WireOperand> operands;  // inputs, then outputs
  std::vector<WireKernel> support;
  std::vector<std::string> cupti_dirs;
};
struct AdmitRequest {
  int id = 0;
  bool judge = false;  // its outputs are what the others are compared with
  bool check = true;   // false: it was admitted by an earlier worker; only loaded
  WirePlan plan;
};
struct MeasureRequest {
  std::vector<int> ids;
  int repeats = 0;
};

struct Request {
  enum class Kind : uint8_t { kOpen, kAdmit, kMeasure };
  Kind kind = Kind::kOpen;
  OpenRequest open;
  AdmitRequest admit;
  MeasureRequest measure;
};

// Answers. `fatal`: the worker's CUDA state is lost, it will answer nothing more of use.
struct Reply {
  bool started = false;  // no answer yet: candidate `id` is about to run
  int id = -1;           // the candidate that the answer or error is about; -1: none
  CandidateStatus status = CandidateStatus::kOk;
  std::string error;
  bool fatal = false;
  std::vector<std::vector<double>> samples_us;  // measure: one row for each id
  std::string method;                           // open, measure: how times are taken
  std::string note;                             // why not by CUPTI
};

std::string ToLine(const Request& request);  // without the newline
absl::StatusOr<Request> ParseRequest(std::string_view line);
std::string ToLine(const Reply& reply);
absl::StatusOr<Reply> ParseReply(std::string_view line);

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_WORKER_WIRE_H_
