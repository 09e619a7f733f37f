#include "cache/bounds.h"

#include <cctype>
#include <cmath>
#include <cstring>

#include "cache/row_columns.h"
#include "manifest/status.h"
#include "manifest/text.h"

namespace tilewright {
namespace {

struct BoundsVisitor {
  std::string_view flaw;
  void operator()(const std::string& text) {
    if (static_cast<int64_t>(text.size()) > kMaxTextBytes) flaw = "a text of more than 1 MiB";
    if (text.find('\0') != std::string::npos) flaw = "a text with a NUL";
  }
  void operator()(int64_t value) {
    if (value < 0) flaw = "a negative number";
  }
  void operator()(int value) { (*this)(static_cast<int64_t>(value)); }
  void operator()(double value) {
    if (!std::isfinite(value) || value < 0) flaw = "a number that is negative or not finite";
  }
  void operator()(TrialStatus) {}
};

template <class Row>
std::string_view FlawOfColumns(std::string_view key, const Row& row) {
  BoundsVisitor bounds;
  VisitColumns(row, bounds);
  if (key.empty() || static_cast<int64_t>(key.size()) > kMaxKeyBytes) {
    bounds.flaw = "a key that is empty or longer than 512 bytes";
  }
  return bounds.flaw;
}

absl::Status Verdict(std::string_view table, std::string_view key, std::string_view flaw) {
  if (flaw.empty()) return absl::OkStatus();
  return InvalidArgument("kernel cache: ", table, " ", Escaped(key.substr(0, 64)),
                         ": expected a row within bounds, got ", flaw);
}

template <class T>
T FieldAt(std::string_view bytes, uint64_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

// Whether the section table of an ELF file, and every section, ends within the file.
bool SectionsAreInside(std::string_view elf) {
  constexpr uint64_t kSectionBytes = 64;
  constexpr uint32_t kTypeNoBits = 8;
  const auto table = FieldAt<uint64_t>(elf, 40);
  const auto count = FieldAt<uint16_t>(elf, 60);
  if (count == 0) return true;
  if (FieldAt<uint16_t>(elf, 58) != kSectionBytes || table > elf.size() ||
      (elf.size() - table) / kSectionBytes < count) {
    return false;
  }
  for (uint64_t at = table; at < table + count * kSectionBytes; at += kSectionBytes) {
    const auto type = FieldAt<uint32_t>(elf, at + 4);
    const auto offset = FieldAt<uint64_t>(elf, at + 24);
    const auto size = FieldAt<uint64_t>(elf, at + 32);
    if (type == 0 || type == kTypeNoBits) continue;
    if (offset > elf.size() || size > elf.size() - offset) return false;
  }
  return true;
}

bool IsCubinFor(std::string_view cubin, std::string_view arch) {
  constexpr size_t kMachineAt = 18;
  constexpr size_t kAbiVersionAt = 8;
  constexpr size_t kFlagsAt = 48;
  constexpr uint16_t kMachineCuda = 190;
  constexpr std::string_view kMagic(
      "\x7f"
      "ELF",
      4);
  if (cubin.size() < 64 || cubin.substr(0, kMagic.size()) != kMagic) return false;
  uint16_t machine = 0;
  uint32_t flags = 0;
  std::memcpy(&machine, cubin.data() + kMachineAt, sizeof(machine));
  std::memcpy(&flags, cubin.data() + kFlagsAt, sizeof(flags));
  if (machine != kMachineCuda || !SectionsAreInside(cubin)) return false;
  // Up to ABI version 7 the architecture is the low byte of the flags, from 8 on the second one.
  uint32_t sm = cubin[kAbiVersionAt] >= 8 ? (flags >> 8) & 0xff : flags & 0xff;
  uint32_t expected = 0;
  for (char c : arch) {
    if (std::isdigit(static_cast<unsigned char>(c))) {
      expected = expected * 10 + static_cast<uint32_t>(c - '0');
    }
  }
  return sm == expected;
}

}  // namespace

std::string_view FlawOf(const KernelRow& row) { return FlawOfColumns(row.key, row); }
std::string_view FlawOf(const WinnerRow& row) { return FlawOfColumns(row.key, row); }
std::string_view FlawOf(const TrialRow& row) { return FlawOfColumns(row.problem_key, row); }

std::string_view FlawOfCubin(std::string_view cubin, std::string_view arch) {
  if (cubin.empty()) return "an empty cubin";
  if (static_cast<int64_t>(cubin.size()) > kMaxCubinBytes) return "a cubin of more than 64 MiB";
  if (IsCubinFor(cubin, arch)) return {};
  return "bytes that are no whole cubin for its architecture";
}

absl::Status CheckBounds(const KernelRow& row) {
  std::string_view flaw = FlawOf(row);
  if (flaw.empty()) flaw = FlawOfCubin(row.cubin, row.arch);
  return Verdict("kernel", row.key, flaw);
}
absl::Status CheckBounds(const WinnerRow& row) { return Verdict("winner", row.key, FlawOf(row)); }
absl::Status CheckBounds(const TrialRow& row) {
  return Verdict("trial", row.problem_key, FlawOf(row));
}

}  // namespace tilewright
