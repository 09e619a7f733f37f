#include "manifest/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <exception>
#include <sstream>

#include "manifest/status.h"
#include "manifest/text.h"

namespace tilewright {
namespace {

constexpr size_t kMaxBytes = size_t{4} << 20;
constexpr size_t kMaxDepth = 32;

// Builds the tree from the parser's events. After the first error the rest is ignored.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::string_view file) : file_(file) {}

  const absl::Status& status() const { return status_; }
  YamlNode TakeRoot() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0) Fail(mark, "expected one document, got a second one");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    CheckPlain(mark, "?", anchor);
    Add(Make(YamlNode::Kind::kNull, mark));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    Fail(mark, "aliases are not allowed");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    CheckPlain(mark, tag, anchor);
    YamlNode node = Make(YamlNode::Kind::kScalar, mark);
    node.quoted = tag == "!";
    node.text = value;
    Add(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(YamlNode::Kind::kList, mark, tag, anchor);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(YamlNode::Kind::kMap, mark, tag, anchor);
  }
  void OnMapEnd() override { Close(); }

 private:
  // A list or map whose end is still to come. In a map, scalars are keys and values in turn.
  struct Level {
    YamlNode node;
    bool has_key = false;
    std::string key;
    int key_line = 0;
  };

  void Fail(const YAML::Mark& mark, std::string_view what) { FailAt(mark.line + 1, what); }
  void FailAt(int line, std::string_view what) {
    if (status_.ok()) status_ = InvalidArgument(file_, ":", line, ": ", Escaped(Brief(what)));
  }

  static YamlNode Make(YamlNode::Kind kind, const YAML::Mark& mark) {
    YamlNode node;
    node.kind = kind;
    node.line = mark.line + 1;
    return node;
  }

  void CheckPlain(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != 0) Fail(mark, "anchors are not allowed");
    if (!tag.empty() && tag != "?" && tag != "!") Fail(mark, "tags are not allowed");
  }

  void Open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    CheckPlain(mark, tag, anchor);
    if (open_.size() == kMaxDepth) Fail(mark, "nested more than 32 levels deep");
    if (status_.ok()) open_.push_back({Make(kind, mark), false, {}, 0});
  }

  void Close() {
    if (!status_.ok() || open_.empty()) return;
    YamlNode node = std::move(open_.back().node);
    open_.pop_back();
    Add(std::move(node));
  }

  void Add(YamlNode node) {
    if (!status_.ok()) return;
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Level& level = open_.back();
    if (level.node.kind == YamlNode::Kind::kList) {
      level.node.items.push_back(std::move(node));
    } else if (level.has_key) {
      node.line = level.key_line;  // where people look for it
      level.node.fields.push_back({std::move(level.key), std::move(node)});
      level.has_key = false;
    } else {
      TakeKey(level, node);
    }
  }

  void TakeKey(Level& level, YamlNode& key) {
    if (key.kind != YamlNode::Kind::kScalar) return FailAt(key.line, "a key must be a scalar");
    if (const YamlNode* first = level.node.Find(key.text)) {
      return FailAt(key.line,
                    Cat("duplicate key '", key.text, "'; the first is at line ", first->line));
    }
    level.key = std::move(key.text);
    level.key_line = key.line;
    level.has_key = true;
  }

  std::string_view file_;
  absl::Status status_;
  int documents_ = 0;
  std::vector<Level> open_;
  YamlNode root_;
};

}  // namespace

const YamlNode* YamlNode::Find(std::string_view key) const {
  for (const auto& [name, node] : fields) {
    if (name == key) return &node;
  }
  return nullptr;
}

std::string_view YamlKindName(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "nothing";
    case YamlNode::Kind::kScalar:
      return "a scalar";
    case YamlNode::Kind::kList:
      return "a list";
    case YamlNode::Kind::kMap:
      return "a map";
  }
  return "";
}

namespace {

// Offset of the first byte that is not part of a UTF-8 character, or npos.
size_t FirstNonUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const Character next = FirstCharacter(text.substr(i));
    if (next.kind != Character::Kind::kWhole) return i;
    i += next.bytes;
  }
  return std::string_view::npos;
}

int LineOf(std::string_view text, size_t offset) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(offset);
  return static_cast<int>(std::count(text.begin(), end, '\n')) + 1;
}

}  // namespace

absl::StatusOr<YamlNode> ParseYaml(std::string_view text, std::string_view file) {
  if (text.size() > kMaxBytes) {
    return InvalidArgument(file, ":1: ", text.size(), " bytes; at most ", kMaxBytes);
  }
  if (const size_t zero = text.find('\0'); zero != std::string_view::npos) {
    return InvalidArgument(file, ":", LineOf(text, zero), ": a zero byte; expected UTF-8 text");
  }
  if (const size_t bad = FirstNonUtf8(text); bad != std::string_view::npos) {
    return InvalidArgument(file, ":", LineOf(text, bad), ": byte ",
                           int{static_cast<unsigned char>(text[bad])}, "; expected UTF-8 text");
  }
  TreeBuilder builder(file);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (builder.status().ok() && parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    return InvalidArgument(file, ":", error.mark.line + 1, ": ", Escaped(Brief(error.msg)));
  } catch (const std::exception& error) {
    return InvalidArgument(file, ":1: ", Escaped(error.what()));
  }
  if (!builder.status().ok()) return builder.status();
  return builder.TakeRoot();
}

}  // namespace tilewright
