// The built-in operators as the generator writes them; read through Manifest.
#ifndef TILEWRIGHT_MANIFEST_BUILTIN_TABLE_H_
#define TILEWRIGHT_MANIFEST_BUILTIN_TABLE_H_

#include <array>
#include <span>
#include <string_view>

#include "manifest/op_spec.h"

namespace tilewright {

struct BuiltinOp {
  std::string_view name;
  void (*fill)(OpSpec& op);
};

// Generated at build time from manifest/*.yaml.
std::span<const BuiltinOp> BuiltinTable();

}  // namespace tilewright

#endif  // TILEWRIGHT_MANIFEST_BUILTIN_TABLE_H_
