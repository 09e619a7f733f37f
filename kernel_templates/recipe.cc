#include "kernel_templates/recipe.h"

#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr std::string_view kTypeAlias = "using ";
constexpr std::string_view kInteger = "int ";

// The last word of a declaration: "int kThreads" -> "kThreads".
std::string_view DeclaredName(std::string_view declaration) {
  return declaration.substr(declaration.rfind(' ') + 1);
}

}  // namespace

std::string KernelSpec::Source() const {
  std::string source;
  for (const auto& [declaration, value] : constants) {
    if (!declaration.starts_with(kInteger)) continue;
    source += Cat("#define CONFIG_", DeclaredName(declaration), " ", value, "\n");
  }
  source += Cat("#include \"", template_file, "\"\nstruct Config {\n");
  for (const auto& [declaration, value] : constants) {
    const bool alias = declaration.starts_with(kTypeAlias);
    source += Cat(alias ? "  " : "  static constexpr ", declaration, " = ", value, ";\n");
  }
  return source + "};\n";
}

std::string KernelSpec::Instantiation() const {
  std::string text = entry + "<";
  for (const auto& [declaration, value] : constants) {
    std::string_view shown = value;
    constexpr std::string_view kNamespace = "tilewright::";
    if (shown.starts_with(kNamespace)) shown.remove_prefix(kNamespace.size());
    if (text.back() != '<') text += ",";
    text += Cat(DeclaredName(declaration), "=", shown);
  }
  return text + ">";
}

absl::StatusOr<const Variant*> SelectVariant(const Recipe& recipe, const CallDesc& call,
                                             const DeviceProfile& device) {
  std::string reasons;
  for (const Variant* variant : recipe.variants()) {
    const absl::Status status = variant->Serves(call, device);
    if (status.ok()) return variant;
    reasons += Cat(reasons.empty() ? "" : "; ", variant->name(), ": ", status.message());
  }
  return FailedPrecondition("no kernel serves ", call.ToString(), " on ", device.name, " (",
                            device.arch, "): ", reasons);
}

const Variant* FindVariant(const Recipe& recipe, std::string_view name) {
  for (const Variant* variant : recipe.variants()) {
    if (variant->name() == name) return variant;
  }
  return nullptr;
}

}  // namespace tilewright
