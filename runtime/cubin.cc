#include "runtime/cubin.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "cache/cubin_digest.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

using elf::Load;
using elf::NameAt;
using elf::ReadSections;
using elf::Section;

// ELF layout (System V gABI, 64-bit).
constexpr size_t kSymbolBytes = 24;
constexpr uint32_t kTypeSymbolTable = 2;
constexpr uint32_t kTypeNoBits = 8;
constexpr uint8_t kSymbolFunction = 2;
constexpr uint8_t kOtherEntry = 0x10;

// Attributes of .nv.info sections: a format byte, an attribute byte and 16 bits that are the value
// or, for kFormatSized, the size of the payload that follows.
constexpr uint8_t kFormatSized = 4;
constexpr uint8_t kAttrMaxThreads = 0x05;
constexpr uint8_t kAttrFrameSize = 0x11;
constexpr uint8_t kAttrParamSize = 0x19;
constexpr uint8_t kAttrRegisterCount = 0x2f;
constexpr uint8_t kAttrAnnotations = 0x55;
constexpr uint32_t kAnnotationSpill = 1;

// Bytes of shared memory at the start of each block that sm_90 and up reserve for the system; the
// sections of kernels include them where .nv.shared.reserved.0 exists.
constexpr int64_t kReservedSmemBytes = 1024;

// Calls visit(attribute, format, value, payload) for each attribute; stops at a malformed one.
template <class Visit>
void ForEachAttribute(std::string_view data, Visit visit) {
  while (data.size() >= 4) {
    const auto format = static_cast<uint8_t>(data[0]);
    const auto attribute = static_cast<uint8_t>(data[1]);
    const uint16_t value = *Load<uint16_t>(data, 2);
    data.remove_prefix(4);
    std::string_view payload;
    if (format == kFormatSized) {
      if (value > data.size()) return;
      payload = data.substr(0, value);
      data.remove_prefix(value);
    }
    visit(attribute, value, payload);
  }
}

// Adds up the bytes that the annotated spill instructions move. The opcode is in the low 12 bits of
// a 128-bit instruction (sm_70 and up), the access width in bits 73 to 75.
void CountSpills(std::string_view annotations, std::string_view code, CubinKernel& kernel) {
  constexpr uint64_t kStoreLocal = 0x387;
  constexpr uint64_t kLoadLocal = 0x983;
  constexpr int kWidthBytes[8] = {1, 1, 2, 2, 4, 8, 16, 0};
  for (uint64_t at = 0; at + 8 <= annotations.size(); at += 8) {
    if (*Load<uint32_t>(annotations, at) != kAnnotationSpill) continue;
    const uint64_t offset = *Load<uint32_t>(annotations, at + 4);
    const std::optional<uint64_t> low = Load<uint64_t>(code, offset);
    const std::optional<uint64_t> high = Load<uint64_t>(code, offset + 8);
    if (!low.has_value() || !high.has_value()) continue;
    const int bytes = kWidthBytes[(*high >> 9) & 7];
    if ((*low & 0xfff) == kStoreLocal) kernel.spill_store_bytes += bytes;
    if ((*low & 0xfff) == kLoadLocal) kernel.spill_load_bytes += bytes;
  }
}

using SectionsByName = std::map<std::string_view, const Section*>;

const Section* FindSection(const SectionsByName& by_name, const std::string& name) {
  const auto it = by_name.find(name);
  return it == by_name.end() ? nullptr : it->second;
}

// Threads of a block whose three extents are in `payload`, at most the 1024 that hardware has.
int ThreadsOf(std::string_view payload) {
  uint64_t threads = 1;
  for (uint64_t at = 0; at < 12; at += 4) {
    const uint64_t extent = std::min(Load<uint32_t>(payload, at).value_or(1), uint32_t{1024});
    threads = std::min(threads * std::max(extent, uint64_t{1}), uint64_t{1024});
  }
  return static_cast<int>(threads);
}

// What the kernel's own sections say.
void ReadKernelSections(const SectionsByName& by_name, CubinKernel& kernel) {
  const Section* code = FindSection(by_name, ".text." + kernel.name);
  if (code != nullptr) {
    kernel.code_bytes = static_cast<int64_t>(code->data.size());
    kernel.registers = static_cast<int>(code->info >> 24);  // older ELF ABI; else .nv.info has it
  }
  const Section* shared = FindSection(by_name, ".nv.shared." + kernel.name);
  if (shared != nullptr && shared->type == kTypeNoBits) {
    const bool reserved = FindSection(by_name, ".nv.shared.reserved.0") != nullptr;
    const int64_t bytes = static_cast<int64_t>(std::min<uint64_t>(shared->size, UINT32_MAX));
    kernel.static_smem_bytes = std::max<int64_t>(0, bytes - (reserved ? kReservedSmemBytes : 0));
  }
  const Section* info = FindSection(by_name, ".nv.info." + kernel.name);
  if (info == nullptr) return;
  ForEachAttribute(info->data, [&](uint8_t attribute, uint16_t value, std::string_view payload) {
    if (attribute == kAttrParamSize) kernel.param_bytes = value;
    if (attribute == kAttrMaxThreads) kernel.max_threads = ThreadsOf(payload);
    if (attribute == kAttrAnnotations && code != nullptr) {
      CountSpills(payload, code->data, kernel);
    }
  });
}

// Registers and frames, which the file-wide .nv.info lists by symbol.
void ReadSymbolAttributes(const Section& info, const std::map<uint32_t, size_t>& kernel_of_symbol,
                          std::vector<CubinKernel>& kernels) {
  ForEachAttribute(info.data, [&](uint8_t attribute, uint16_t, std::string_view payload) {
    if (payload.size() < 8) return;
    const auto it = kernel_of_symbol.find(*Load<uint32_t>(payload, 0));
    if (it == kernel_of_symbol.end()) return;
    const uint32_t value = *Load<uint32_t>(payload, 4);
    CubinKernel& kernel = kernels[it->second];
    if (attribute == kAttrRegisterCount) kernel.registers = static_cast<int>(value & 0xffff);
    if (attribute == kAttrFrameSize) kernel.stack_bytes = value;
  });
}

}  // namespace

const CubinKernel* CubinInfo::Find(std::string_view kernel) const {
  for (const CubinKernel& candidate : kernels) {
    if (candidate.name == kernel) return &candidate;
  }
  return nullptr;
}

absl::StatusOr<CubinInfo> ReadCubin(std::string_view bytes) {
  TW_ASSIGN_OR_RETURN(const std::vector<Section> sections, ReadSections(bytes));
  SectionsByName by_name;
  for (const Section& section : sections) by_name.emplace(section.name, &section);
  const Section* symbols = FindSection(by_name, ".symtab");
  if (symbols == nullptr || symbols->type != kTypeSymbolTable || symbols->link >= sections.size()) {
    return InvalidArgument("cubin: no symbol table");
  }
  CubinInfo result;
  std::map<uint32_t, size_t> kernel_of_symbol;
  const std::string_view names = sections[symbols->link].data;
  for (uint64_t at = 0; at + kSymbolBytes <= symbols->data.size(); at += kSymbolBytes) {
    const std::string_view symbol = symbols->data.substr(at, kSymbolBytes);
    const bool is_function = (static_cast<uint8_t>(symbol[4]) & 15) == kSymbolFunction;
    if (!is_function || (static_cast<uint8_t>(symbol[5]) & kOtherEntry) == 0) continue;
    const std::string_view name = NameAt(names, *Load<uint32_t>(symbol, 0));
    if (name.empty() || FindSection(by_name, ".text." + std::string(name)) == nullptr) {
      return InvalidArgument("cubin: kernel symbol ", at / kSymbolBytes, " has no code");
    }
    kernel_of_symbol[static_cast<uint32_t>(at / kSymbolBytes)] = result.kernels.size();
    result.kernels.push_back({.name = std::string(name)});
    ReadKernelSections(by_name, result.kernels.back());
  }
  if (const Section* info = FindSection(by_name, ".nv.info"); info != nullptr) {
    ReadSymbolAttributes(*info, kernel_of_symbol, result.kernels);
  }
  return result;
}

}  // namespace tilewright
