// The built-in operators, built one by one as they are asked for: a process that calls three
// operators does not pay for two hundred.
#include <memory>
#include <mutex>

#include "manifest/builtin_table.h"
#include "manifest/op_spec.h"

namespace tilewright {
namespace {

class BuiltinSpecs {
 public:
  BuiltinSpecs() : ops_(BuiltinTable().size()), filled_(new std::once_flag[BuiltinTable().size()]) {
    for (const BuiltinOp& op : BuiltinTable()) names_.push_back(op.name);
  }

  const OpSpec* Find(std::string_view name) {
    for (size_t i = 0; i < names_.size(); ++i) {
      if (names_[i] == name) return &At(i);
    }
    return nullptr;
  }
  const std::vector<OpSpec>& All() {
    for (size_t i = 0; i < names_.size(); ++i) At(i);
    return ops_;
  }
  const std::vector<std::string_view>& names() const { return names_; }

 private:
  const OpSpec& At(size_t i) {
    std::call_once(filled_[i], BuiltinTable()[i].fill, ops_[i]);
    return ops_[i];
  }

  std::vector<OpSpec> ops_;  // never resized: callers keep pointers
  std::unique_ptr<std::once_flag[]> filled_;
  std::vector<std::string_view> names_;
};

BuiltinSpecs& Specs() {
  static BuiltinSpecs specs;
  return specs;
}

}  // namespace

const std::vector<OpSpec>& Manifest::BuiltinOps() { return Specs().All(); }

const OpSpec* Manifest::FindBuiltin(std::string_view name) { return Specs().Find(name); }

const std::vector<std::string_view>& Manifest::BuiltinNames() { return Specs().names(); }

}  // namespace tilewright
