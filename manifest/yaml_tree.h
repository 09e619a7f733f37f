// A YAML document as a plain tree with line numbers. The one door to yaml-cpp.
#ifndef TILEWRIGHT_MANIFEST_YAML_TREE_H_
#define TILEWRIGHT_MANIFEST_YAML_TREE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tilewright {

struct YamlMapEntry;

struct YamlNode {
  enum class Kind : uint8_t { kNull, kScalar, kList, kMap };
  Kind kind = Kind::kNull;
  int line = 0;
  bool quoted = false;  // scalars: written in quotes, so a string whatever it looks like
  std::string text;     // scalars
  std::vector<YamlNode> items;
  std::vector<YamlMapEntry> fields;  // maps, in order; keys are unique

  const YamlNode* Find(std::string_view key) const;
};

struct YamlMapEntry {
  std::string key;
  YamlNode node;
};

// "a map", "a list", ...: for messages.
std::string_view YamlKindName(const YamlNode& node);

// Reads one document of at most 4 MiB and 32 levels. InvalidArgument, as "file:line: what", for
// what is no YAML and for what no manifest needs: duplicate keys at any level, keys that are not
// scalars, anchors, aliases, tags, several documents.
absl::StatusOr<YamlNode> ParseYaml(std::string_view text, std::string_view file);

}  // namespace tilewright

#endif  // TILEWRIGHT_MANIFEST_YAML_TREE_H_
