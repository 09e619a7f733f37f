#include "cache/cubin_digest.h"

#include <algorithm>

#include "manifest/digest.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

// ELF layout (System V gABI, 64-bit).
constexpr size_t kHeaderBytes = 64;
constexpr size_t kSectionBytes = 64;
constexpr uint16_t kMachineCuda = 190;
constexpr uint32_t kTypeNoBits = 8;

// Sections whose bytes say what the kernels do.
bool IsDigested(std::string_view name) {
  for (std::string_view prefix : {".text.", ".rel.text.", ".rela.text.", ".nv.constant", ".nv.info",
                                  ".nv.global", ".nv.shared"}) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

}  // namespace

namespace elf {

std::string_view NameAt(std::string_view table, uint32_t offset) {
  if (offset >= table.size()) return {};
  const size_t end = table.find('\0', offset);
  if (end == std::string_view::npos) return {};
  return table.substr(offset, end - offset);
}

absl::StatusOr<std::vector<Section>> ReadSections(std::string_view bytes) {
  constexpr std::string_view kMagic(
      "\x7f"
      "ELF\x02\x01",
      6);
  if (bytes.size() < kHeaderBytes || bytes.substr(0, kMagic.size()) != kMagic ||
      Load<uint16_t>(bytes, 18) != kMachineCuda) {
    return InvalidArgument("cubin: not a 64-bit CUDA ELF file (", bytes.size(), " bytes)");
  }
  const uint64_t table = *Load<uint64_t>(bytes, 40);
  const uint16_t entry_bytes = *Load<uint16_t>(bytes, 58);
  const uint16_t count = *Load<uint16_t>(bytes, 60);
  const uint16_t names_index = *Load<uint16_t>(bytes, 62);
  if (entry_bytes != kSectionBytes || table > bytes.size() ||
      (bytes.size() - table) / kSectionBytes < count || names_index >= count) {
    return InvalidArgument("cubin: section table at ", table, " with ", count,
                           " entries passes the end of ", bytes.size(), " bytes");
  }
  std::vector<Section> sections(count);
  std::vector<uint32_t> name_offsets(count);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t at = table + i * kSectionBytes;
    Section& section = sections[i];
    name_offsets[i] = *Load<uint32_t>(bytes, at);
    section.type = *Load<uint32_t>(bytes, at + 4);
    const uint64_t offset = *Load<uint64_t>(bytes, at + 24);
    section.size = *Load<uint64_t>(bytes, at + 32);
    section.link = *Load<uint32_t>(bytes, at + 40);
    section.info = *Load<uint32_t>(bytes, at + 44);
    if (section.type == 0 || section.type == kTypeNoBits) continue;
    if (offset > bytes.size() || section.size > bytes.size() - offset) {
      return InvalidArgument("cubin: section ", i, " of ", section.size, " bytes at ", offset,
                             " passes the end of ", bytes.size(), " bytes");
    }
    section.data = bytes.substr(offset, section.size);
  }
  for (size_t i = 0; i < count; ++i) {
    sections[i].name = NameAt(sections[names_index].data, name_offsets[i]);
  }
  return sections;
}

}  // namespace elf

absl::StatusOr<std::string> CubinDigest(std::string_view bytes) {
  TW_ASSIGN_OR_RETURN(std::vector<elf::Section> sections, elf::ReadSections(bytes));
  std::erase_if(sections, [](const elf::Section& section) { return !IsDigested(section.name); });
  std::stable_sort(sections.begin(), sections.end(),
                   [](const elf::Section& a, const elf::Section& b) { return a.name < b.name; });
  Digest digest;
  for (const elf::Section& section : sections) {
    digest.Add(section.name).Add(Cat(section.size)).Add(section.data);
  }
  return digest.Hex();
}

}  // namespace tilewright
