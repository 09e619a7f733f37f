// The text of the embedded templates.
#ifndef TILEWRIGHT_KERNEL_TEMPLATES_EMBEDDED_H_
#define TILEWRIGHT_KERNEL_TEMPLATES_EMBEDDED_H_

#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace tilewright {

struct EmbeddedFile {
  std::string_view path;  // "device/base.cuh"
  std::string_view text;
};
// Sorted by path. Generated at build time from every .cuh under kernel_templates/.
struct EmbeddedFiles {
  const EmbeddedFile* begin;
  const EmbeddedFile* end;
};
EmbeddedFiles BuiltinTemplates();

// A set of template texts by path: the built-in ones, an embedder's, or a directory of a kernel
// author's that overrides them. Immutable after set-up.
class TemplateSet {
 public:
  static TemplateSet Builtin();
  // Files under `directory` replace or add to those already here; NotFound where there are none.
  absl::Status OverrideFrom(const std::string& directory);
  void Add(std::string path, std::string text);

  // Null if there is none.
  const std::string* Find(std::string_view path) const;

  // A template and every file it includes (transitively, `#include "path"` relative to
  // kernel_templates/), by path. NotFound names the missing file and the one that includes it.
  absl::StatusOr<std::map<std::string, std::string>> Closure(std::string_view path) const;
  // Hex digest over the closure's paths and texts.
  absl::StatusOr<std::string> ClosureDigest(std::string_view path) const;

 private:
  std::map<std::string, std::string, std::less<>> files_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_KERNEL_TEMPLATES_EMBEDDED_H_
