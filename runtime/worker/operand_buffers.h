// The operands of the call being tuned, in device memory: random inputs, poisoned outputs between
// guard zones, and the results that candidates are compared with.
#ifndef TILEWRIGHT_RUNTIME_WORKER_OPERAND_BUFFERS_H_
#define TILEWRIGHT_RUNTIME_WORKER_OPERAND_BUFFERS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/driver/device_memory.h"
#include "runtime/driver/driver.h"
#include "runtime/worker/candidate.h"
#include "runtime/worker/wire.h"

namespace tilewright {

// Fill and compare on the device with the support kernels.
class SupportLauncher {
 public:
  static absl::StatusOr<std::unique_ptr<SupportLauncher>> Create(
      Driver& driver, int device, CudaStream stream, const std::vector<WireKernel>& kernels);

  absl::Status FillRandom(DType dtype, void* data, int64_t bytes, uint64_t seed);
  struct Difference {
    uint64_t mismatches = 0;
    uint64_t first = 0;  // element
    double max_absolute = 0;
    double max_relative = 0;
  };
  // Synchronises the stream.
  absl::StatusOr<Difference> Compare(DType dtype, const void* got, const void* expected,
                                     int64_t bytes, double absolute, double relative);

 private:
  SupportLauncher(Driver& driver, CudaStream stream) : driver_(driver), stream_(stream) {}
  absl::Status Launch(const std::string& name, void* params, int64_t count);

  Driver& driver_;
  const CudaStream stream_;
  std::map<std::string, std::shared_ptr<const WorkerKernel>> kernels_;
  DeviceMemory result_;
};

// Inputs come in one or two sets, which samples rotate through; outputs and the working copies of
// mutated inputs are shared. Needs a current context; not thread-safe.
class OperandBuffers {
 public:
  // ResourceExhausted where the operands do not fit beside the rest of the device's users.
  static absl::StatusOr<std::unique_ptr<OperandBuffers>> Create(
      Driver& driver, CudaStream stream, SupportLauncher& support,
      const std::vector<WireOperand>& operands, uint64_t seed, int64_t reserve_bytes);

  int sets() const { return sets_; }
  bool mutates() const;
  std::span<void* const> Pointers(int set) const { return pointers_[static_cast<size_t>(set)]; }

  // Copies the pristine data of a set into its mutated inputs. Asynchronous.
  absl::Status Restore(int set);
  // Restores, and fills outputs with what no kernel writes. Asynchronous.
  absl::Status Poison(int set);
  // Takes the present outputs as right for the set. Asynchronous.
  absl::Status KeepExpected(int set);
  // What is wrong with the present outputs; empty where nothing is.
  absl::StatusOr<std::string> FindFault(int set);

 private:
  struct Slot {
    WireOperand operand;
    DeviceMemory memory[2];    // an input's data by set; memory[0] alone where it is written
    DeviceMemory pristine[2];  // of a mutated input
    DeviceMemory expected[2];  // of an output or a mutated input
    int64_t offset = 0;        // of the extent in `memory`
    int64_t bytes = 0;         // of the extent
    bool written() const { return operand.output || operand.mutated; }
    std::byte* extent(int set) const { return memory[written() ? 0 : set].data() + offset; }
  };

  OperandBuffers(Driver& driver, CudaStream stream, SupportLauncher& support)
      : driver_(driver), stream_(stream), support_(support) {}
  absl::Status AddSlot(const WireOperand& operand);
  absl::Status ChooseSets(int64_t reserve_bytes);
  absl::Status AllocateSlot(Slot& slot);
  absl::Status FillInput(Slot& slot, int index, int set, uint64_t seed);
  absl::StatusOr<std::string> FindSlotFault(const Slot& slot, int index, int set);
  absl::StatusOr<std::string> FindGuardFault(const Slot& slot, int index);

  Driver& driver_;
  const CudaStream stream_;
  SupportLauncher& support_;
  int sets_ = 2;
  std::vector<Slot> slots_;
  DeviceMemory guard_;                        // what guard zones must look like
  std::vector<std::vector<void*>> pointers_;  // [set][operand]
};

}  // namespace tilewright

#endif  // TILEWRIGHT_RUNTIME_WORKER_OPERAND_BUFFERS_H_
