#include "runtime/worker/operand_buffers.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "manifest/status.h"
#include "runtime/worker/support_kernels.h"

namespace tilewright {
namespace {

constexpr int64_t kGuardBytes = 16384;  // on each side of what a candidate writes
constexpr int64_t kSlackBytes = 1024;   // for the alignment of the data pointer
constexpr uint8_t kGuardPattern = 0xa5;
constexpr uint32_t kMaxSupportGrid = 4096;
constexpr double kUsableMemory = 0.9;  // of what is free

// NaN in every floating dtype; for the others a value that few kernels write.
uint8_t PoisonPattern(DType dtype) { return IsFloating(dtype) || IsComplex(dtype) ? 0xff : 0x5a; }

// Where in a 256-byte aligned buffer an extent starts, so that element (0, ..., 0), `origin` bytes
// into it, is aligned to `alignment` and to no more.
int64_t ExtentOffset(int64_t origin, uint32_t alignment) {
  const int64_t step = std::max<int64_t>(1, std::min<int64_t>(alignment, 256));
  const int64_t wanted = step == 256 ? 0 : step;
  const int64_t modulus = step == 256 ? 256 : 2 * step;
  int64_t start = kGuardBytes;
  while ((start + origin) % modulus != wanted) ++start;
  return start;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SupportLauncher>> SupportLauncher::Create(
    Driver& driver, int device, CudaStream stream, const std::vector<WireKernel>& kernels) {
  std::unique_ptr<SupportLauncher> launcher(new SupportLauncher(driver, stream));
  for (const WireKernel& wire : kernels) {
    TW_ASSIGN_OR_RETURN(launcher->kernels_[wire.name], WorkerKernel::Load(driver, device, wire));
  }
  TW_ASSIGN_OR_RETURN(launcher->result_, DeviceMemory::Allocate(driver, sizeof(CompareResult)));
  return launcher;
}

absl::Status SupportLauncher::Launch(const std::string& name, void* params, int64_t count) {
  const auto it = kernels_.find(name);
  if (it == kernels_.end()) return Internal("support kernel ", name, " was not sent");
  const int64_t blocks = (count + kSupportThreads - 1) / kSupportThreads;
  LaunchShape shape;
  shape.grid[0] = static_cast<uint32_t>(std::clamp<int64_t>(blocks, 1, kMaxSupportGrid));
  shape.block[0] = kSupportThreads;
  void* arguments[] = {params};
  return driver_.Launch(shape, it->second->handle(), stream_, arguments);
}

absl::Status SupportLauncher::FillRandom(DType dtype, void* data, int64_t bytes, uint64_t seed) {
  FillParams params{data, SupportElements(dtype, bytes), seed};
  if (params.count == 0) return absl::OkStatus();
  return Launch(FillSpec(dtype, false).Instantiation(), &params, params.count);
}

absl::StatusOr<SupportLauncher::Difference> SupportLauncher::Compare(DType dtype, const void* got,
                                                                     const void* expected,
                                                                     int64_t bytes, double absolute,
                                                                     double relative) {
  CompareResult result;
  auto* on_device = reinterpret_cast<CompareResult*>(result_.data());
  CompareParams params{got, expected, SupportElements(dtype, bytes), absolute, relative, on_device};
  if (params.count == 0) return Difference{};
  TW_RETURN_IF_ERROR(driver_.CopyToDevice(on_device, &result, sizeof(result), stream_));
  TW_RETURN_IF_ERROR(Launch(CompareSpec(dtype).Instantiation(), &params, params.count));
  TW_RETURN_IF_ERROR(driver_.CopyToHost(&result, on_device, sizeof(result), stream_));
  TW_RETURN_IF_ERROR(driver_.SynchronizeStream(stream_));
  return Difference{result.mismatches, result.first, result.max_absolute, result.max_relative};
}

absl::StatusOr<std::unique_ptr<OperandBuffers>> OperandBuffers::Create(
    Driver& driver, CudaStream stream, SupportLauncher& support,
    const std::vector<WireOperand>& operands, uint64_t seed, int64_t reserve_bytes) {
  std::unique_ptr<OperandBuffers> buffers(new OperandBuffers(driver, stream, support));
  for (const WireOperand& operand : operands) TW_RETURN_IF_ERROR(buffers->AddSlot(operand));
  TW_RETURN_IF_ERROR(buffers->ChooseSets(reserve_bytes));
  const int64_t guard_bytes = kGuardBytes + kSlackBytes;
  TW_ASSIGN_OR_RETURN(buffers->guard_, DeviceMemory::Allocate(driver, guard_bytes));
  TW_RETURN_IF_ERROR(driver.Fill8(buffers->guard_.data(), kGuardPattern,
                                  static_cast<size_t>(guard_bytes), stream));
  buffers->pointers_.resize(static_cast<size_t>(buffers->sets_));
  for (size_t i = 0; i < buffers->slots_.size(); ++i) {
    Slot& slot = buffers->slots_[i];
    const auto extent = slot.operand.desc.Extent();
    if (slot.operand.present) TW_RETURN_IF_ERROR(buffers->AllocateSlot(slot));
    for (int set = 0; set < buffers->sets_; ++set) {
      void* origin = slot.operand.present ? slot.extent(set) - extent->begin : nullptr;
      buffers->pointers_[static_cast<size_t>(set)].push_back(origin);
      if (!slot.operand.present || slot.operand.output) continue;
      TW_RETURN_IF_ERROR(buffers->FillInput(slot, static_cast<int>(i), set, seed));
    }
  }
  TW_RETURN_IF_ERROR(driver.SynchronizeStream(stream));
  return buffers;
}

absl::Status OperandBuffers::AddSlot(const WireOperand& operand) {
  Slot slot;
  slot.operand = operand;
  if (operand.present) {
    const auto extent = operand.desc.Extent();
    if (!extent.has_value()) {
      return ResourceExhausted("operand ", slots_.size(), ": the extent of ",
                               operand.desc.shape.ToString(), " overflows");
    }
    slot.bytes = extent->end - extent->begin;
    slot.offset = ExtentOffset(-extent->begin, operand.alignment);
  }
  slots_.push_back(std::move(slot));
  return absl::OkStatus();
}

// Two sets of inputs where they fit, else one.
absl::Status OperandBuffers::ChooseSets(int64_t reserve_bytes) {
  TW_ASSIGN_OR_RETURN(const MemoryInfo memory, driver_.Memory());
  const auto usable =
      static_cast<int64_t>(kUsableMemory * static_cast<double>(memory.free_bytes)) - reserve_bytes;
  int64_t needed = 0;
  for (sets_ = 2; sets_ >= 1; --sets_) {
    needed = 0;
    for (const Slot& slot : slots_) {
      const int64_t padded = slot.bytes + 2 * kGuardBytes + kSlackBytes;
      const int copies = slot.operand.mutated  ? 1 + 2 * sets_
                         : slot.operand.output ? 1 + sets_
                                               : sets_;
      if (slot.operand.present) needed += copies * padded;
    }
    if (needed <= usable) return absl::OkStatus();
  }
  return ResourceExhausted("tuning needs ", needed, " bytes of device memory; ", usable,
                           " are usable of ", memory.free_bytes, " free");
}

absl::Status OperandBuffers::AllocateSlot(Slot& slot) {
  const int64_t padded = slot.offset + slot.bytes + kGuardBytes;
  for (int set = 0; set < (slot.written() ? 1 : sets_); ++set) {
    TW_ASSIGN_OR_RETURN(slot.memory[set], DeviceMemory::Allocate(driver_, padded));
    TW_RETURN_IF_ERROR(driver_.Fill8(slot.memory[set].data(), kGuardPattern,
                                     static_cast<size_t>(padded), stream_));
  }
  for (int set = 0; set < sets_ && slot.written(); ++set) {
    TW_ASSIGN_OR_RETURN(slot.expected[set], DeviceMemory::Allocate(driver_, slot.bytes));
    if (!slot.operand.mutated) continue;
    TW_ASSIGN_OR_RETURN(slot.pristine[set], DeviceMemory::Allocate(driver_, slot.bytes));
  }
  return absl::OkStatus();
}

absl::Status OperandBuffers::FillInput(Slot& slot, int index, int set, uint64_t seed) {
  std::byte* const to = slot.operand.mutated ? slot.pristine[set].data() : slot.extent(set);
  if (slot.operand.data_file.empty()) {
    const uint64_t own = seed + 0x9e3779b97f4a7c15 * static_cast<uint64_t>(2 * index + set + 1);
    return support_.FillRandom(slot.operand.desc.dtype, to, slot.bytes, own);
  }
  TW_ASSIGN_OR_RETURN(const std::string data, ReadScratchFile(slot.operand.data_file));
  if (static_cast<int64_t>(data.size()) != slot.bytes) {
    return InvalidArgument("input file ", slot.operand.data_file, ": expected ", slot.bytes,
                           " bytes, got ", data.size());
  }
  TW_RETURN_IF_ERROR(driver_.CopyToDevice(to, data.data(), data.size(), stream_));
  return driver_.SynchronizeStream(stream_);
}

bool OperandBuffers::mutates() const {
  return std::any_of(slots_.begin(), slots_.end(),
                     [](const Slot& slot) { return slot.operand.mutated; });
}

absl::Status OperandBuffers::Restore(int set) {
  for (const Slot& slot : slots_) {
    if (!slot.operand.present || !slot.operand.mutated) continue;
    TW_RETURN_IF_ERROR(driver_.CopyOnDevice(slot.extent(set), slot.pristine[set].data(),
                                            static_cast<size_t>(slot.bytes), stream_));
  }
  return absl::OkStatus();
}

absl::Status OperandBuffers::Poison(int set) {
  TW_RETURN_IF_ERROR(Restore(set));
  for (const Slot& slot : slots_) {
    if (!slot.operand.present || !slot.operand.output) continue;
    const DeviceMemory& memory = slot.memory[0];
    TW_RETURN_IF_ERROR(
        driver_.Fill8(memory.data(), kGuardPattern, static_cast<size_t>(memory.bytes()), stream_));
    TW_RETURN_IF_ERROR(driver_.Fill8(slot.extent(set), PoisonPattern(slot.operand.desc.dtype),
                                     static_cast<size_t>(slot.bytes), stream_));
  }
  return absl::OkStatus();
}

absl::Status OperandBuffers::KeepExpected(int set) {
  for (const Slot& slot : slots_) {
    if (!slot.operand.present || !slot.written()) continue;
    TW_RETURN_IF_ERROR(driver_.CopyOnDevice(slot.expected[set].data(), slot.extent(set),
                                            static_cast<size_t>(slot.bytes), stream_));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> OperandBuffers::FindFault(int set) {
  for (size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (!slot.operand.present || !slot.written()) continue;
    const int index = static_cast<int>(i);
    TW_ASSIGN_OR_RETURN(std::string fault, FindGuardFault(slot, index));
    if (fault.empty()) {
      TW_ASSIGN_OR_RETURN(fault, FindSlotFault(slot, index, set));
    }
    if (!fault.empty()) return fault;
  }
  return std::string();
}

absl::StatusOr<std::string> OperandBuffers::FindSlotFault(const Slot& slot, int index, int set) {
  const WireOperand& operand = slot.operand;
  TW_ASSIGN_OR_RETURN(const auto difference, support_.Compare(operand.desc.dtype, slot.extent(set),
                                                              slot.expected[set].data(), slot.bytes,
                                                              operand.absolute, operand.relative));
  if (difference.mismatches == 0) return std::string();
  return Cat("operand ", index, ": ", difference.mismatches, " of ",
             SupportElements(operand.desc.dtype, slot.bytes),
             " elements differ from the portable template's, first at offset ", difference.first,
             "; largest error ", difference.max_absolute, " absolute, ", difference.max_relative,
             " relative; allowed ", operand.absolute, " + ", operand.relative, " * |expected|");
}

absl::StatusOr<std::string> OperandBuffers::FindGuardFault(const Slot& slot, int index) {
  const std::byte* const before = slot.memory[0].data();
  const std::byte* const after = slot.extent(0) + slot.bytes;
  const std::pair<const std::byte*, int64_t> zones[] = {{before, slot.offset},
                                                        {after, kGuardBytes}};
  for (const auto& [zone, bytes] : zones) {
    TW_ASSIGN_OR_RETURN(const auto difference,
                        support_.Compare(DType::kUint8, zone, guard_.data(), bytes, 0, 0));
    if (difference.mismatches > 0) {
      return Cat("operand ", index, ": ", difference.mismatches, " bytes written out of bounds, ",
                 zone == before ? "before its start" : "past its end");
    }
  }
  return std::string();
}

}  // namespace tilewright
