// Typed reading of a YAML tree, with errors that name file, line, operator and field.
#ifndef TILEWRIGHT_MANIFEST_YAML_FIELDS_H_
#define TILEWRIGHT_MANIFEST_YAML_FIELDS_H_

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/expr.h"
#include "manifest/op_spec.h"
#include "manifest/status.h"
#include "manifest/text.h"
#include "manifest/yaml_tree.h"

namespace tilewright {

// One place in a document: a node and how it is called. Does not own the node.
class YamlField {
 public:
  YamlField(std::string_view file, std::string path, const YamlNode& node)
      : file_(file), path_(std::move(path)), node_(&node) {}

  const YamlNode& node() const { return *node_; }
  const std::string& path() const { return path_; }
  int line() const { return node_->line; }

  template <class... Parts>
  absl::Status Error(const Parts&... parts) const {
    return InvalidArgument(file_, ":", node_->line, ": ",
                           Escaped(Brief(Cat(path_, ": ", parts...))));
  }

  // Each child of a map ("a.b") or list ("a[0]"); an error where the node is neither that nor null.
  absl::StatusOr<std::vector<std::pair<std::string, YamlField>>> Map() const;
  absl::StatusOr<std::vector<YamlField>> List() const;
  // A map whose keys are all in `known`.
  absl::StatusOr<std::vector<std::pair<std::string, YamlField>>> Map(
      std::initializer_list<std::string_view> known) const;

  absl::StatusOr<std::string> String() const;
  absl::StatusOr<bool> Bool() const;
  absl::StatusOr<int64_t> Int() const;
  absl::StatusOr<double> Float() const;  // ints too
  absl::StatusOr<DType> DTypeName() const;
  absl::StatusOr<std::vector<DType>> DTypes() const;  // one name, or a list of them
  absl::StatusOr<std::vector<std::string>> Strings() const;
  absl::StatusOr<Dims> Shape() const;  // a list of ints
  absl::StatusOr<Expr> Expression() const;
  // What the scalar or list looks like: null, bool, int, float, list of ints, dtype name.
  absl::StatusOr<ParamValue> Value() const;

 private:
  absl::Status Expected(std::string_view what) const;

  std::string_view file_;
  std::string path_;
  const YamlNode* node_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_MANIFEST_YAML_FIELDS_H_
