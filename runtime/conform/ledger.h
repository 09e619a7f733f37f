// The conformance ledger: the committed record of what passed on a GPU, and its check without one.
#ifndef TILEWRIGHT_RUNTIME_CONFORM_LEDGER_H_
#define TILEWRIGHT_RUNTIME_CONFORM_LEDGER_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tilewright {

enum class Verdict : uint8_t {
  kPass,
  kWrong,  // a value, a guard byte or an input differs
  kError,  // the call or the driver failed; `detail` has the text
};
std::string_view VerdictName(Verdict verdict);

// One configuration of one case on one device. Digests and instantiations list the kernels in
// launch order, comma-separated ("; " for instantiations); a call without work has none.
struct LedgerRow {
  std::string op;
  std::string case_name;  // "workload/llama-8b-prefill", "edge/primes+padded"
  std::string dtype;      // of the leading input
  std::string config;     // Config::ToJson()
  std::string device;     // DeviceProfile::Key()
  std::string choice;     // "default", "candidate", "served"
  Verdict verdict = Verdict::kError;
  double error = 0;       // largest, as a fraction of the tolerance; 1 is the limit
  std::string tolerance;  // "0.001+0.001*|x|"
  std::string checks;     // "call,integers,special,graph"
  std::string kernels;    // instantiations
  std::string closure_digest;
  std::string cubin_digest;
  std::string launch_digest;  // grids, parameters and pointer places of this very call
  std::string arch;           // "sm_90a"
  std::string driver;         // "13.0"
  std::string compiler;       // "nvrtc 13.0.88"
  std::string detail;         // why it is not a pass
};

// Rows by (op, case, dtype, config, device): one per key, in that order. A plain value.
class Ledger {
 public:
  // The text form: a header line, then one tab-separated line a row, sorted. InvalidArgument names
  // the line. An empty text is an empty ledger.
  static absl::StatusOr<Ledger> Parse(std::string_view text, std::string_view file);
  // NotFound where there is no such file.
  static absl::StatusOr<Ledger> Read(const std::string& path);
  // Every *.tsv file of a folder and those below it; an absent folder is an empty ledger.
  static absl::StatusOr<Ledger> ReadFolder(const std::string& folder);

  std::string ToText() const;
  // Replaces the file atomically.
  absl::Status Write(const std::string& path) const;

  // Replaces the row with the same key. Tabs and line breaks in fields become spaces.
  void Put(LedgerRow row);
  const LedgerRow* Find(std::string_view op, std::string_view case_name, std::string_view dtype,
                        std::string_view config, std::string_view device) const;
  std::vector<const LedgerRow*> rows() const;
  size_t size() const { return rows_.size(); }

 private:
  std::map<std::vector<std::string>, LedgerRow> rows_;
};

// "manifest/ledger/nvidia-h200/AddFwdOp.tsv" for the device "NVIDIA H200/132", under `root`. A file
// an operator: processes that each take some of the operators share a root.
std::string LedgerPath(std::string_view root, std::string_view device, std::string_view op);

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_CONFORM_LEDGER_H_
