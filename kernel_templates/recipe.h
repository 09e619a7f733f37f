// A recipe: which templates serve an operator's problems, with which constants and geometry.
//
// A recipe is a pure function from a call to keys, kernels and launches: no CUDA call, no I/O, no
// state. So the CLI can list, and build, every kernel that a list of shapes needs on a machine
// without a GPU.
#ifndef TILEWRIGHT_KERNEL_TEMPLATES_RECIPE_H_
#define TILEWRIGHT_KERNEL_TEMPLATES_RECIPE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "autotune/config.h"
#include "kernel_templates/launch.h"
#include "manifest/call_desc.h"
#include "manifest/device_profile.h"

namespace tilewright {

// One instantiation of a kernel template. The generated translation unit is
//   #include "<template_file>"
//   struct Config { <each constant> };
// and the kernel is `entry<Config>`; its lowered name is taken from NVRTC.
struct KernelSpec {
  std::string template_file;  // "norm/rms_norm.cuh", relative to kernel_templates/
  std::string entry;          // "tilewright::RmsNormKernel"
  // Declaration and value, in order: {"int kThreads", "256"} becomes
  // `static constexpr int kThreads = 256;`, {"using Element", "tilewright::bf16"} a type alias. An
  // int is also the macro CONFIG_kThreads, which a template may ask what it need not parse.
  std::vector<std::pair<std::string, std::string>> constants;

  std::string Source() const;         // the translation unit
  std::string Instantiation() const;  // "tilewright::RmsNormKernel<kThreads=256,Element=bf16>"
};

// The part of a problem key that the recipe chooses: one value per Recipe::fields() entry. Exact
// dims appear as they are, bucketed dims as their bucket's upper bound, classes as small codes.
using ProblemFields = absl::InlinedVector<int64_t, 16>;

struct ProblemField {
  enum class Kind : uint8_t { kExact, kBucket, kClass };
  std::string name;
  Kind kind = Kind::kExact;
};

// One family of kernels that can serve an operator (for GEMM: "wgmma", "mma", "gemv").
// Immutable, thread-safe.
class Variant {
 public:
  virtual ~Variant() = default;
  virtual std::string_view name() const = 0;

  // OK, or FailedPrecondition saying why not (architecture, alignment, layout, dtype).
  virtual absl::Status Serves(const CallDesc& call, const DeviceProfile& device) const = 0;

  // The space to tune over, before legality. Depends on the problem fields only.
  virtual TuningSpace Space(const CallDesc& call, const DeviceProfile& device) const = 0;

  // OK, or why this config cannot run this very call (shared memory, registers, divisibility).
  virtual absl::Status Legal(const CallDesc& call, const Config& config,
                             const DeviceProfile& device) const = 0;

  // Modelled kernel time in microseconds, for ranking candidates.
  virtual double PredictUs(const CallDesc& call, const Config& config,
                           const DeviceProfile& device) const = 0;

  // The untuned choice; always legal when Serves() is OK.
  virtual Config Default(const CallDesc& call, const DeviceProfile& device) const = 0;

  // The kernels a config needs; a function of the problem fields and the config.
  virtual std::vector<KernelSpec> Kernels(const CallDesc& call, const Config& config) const = 0;

  // Geometry and parameters of this very call.
  virtual absl::StatusOr<BoundCall> Bind(const CallDesc& call, const Config& config,
                                         const DeviceProfile& device) const = 0;
};

// Everything the service knows of how one operator computes. Immutable, thread-safe.
class Recipe {
 public:
  virtual ~Recipe() = default;

  // Names and kinds of the values that Describe() returns.
  virtual std::span<const ProblemField> fields() const = 0;

  // The problem fields of a call. Two calls with equal fields share winners and kernels.
  virtual ProblemFields Describe(const CallDesc& call) const = 0;

  // In order of preference; the last one is portable and judges the others when tuning.
  virtual std::span<const Variant* const> variants() const = 0;
};

// Built-in recipes are defined in *_recipe.cc files under kernel_templates/ as
//   TILEWRIGHT_RECIPE(GemmFwdOp) { return std::make_unique<GemmRecipe>(); }
// and found by the build-time generator through that marker. An embedder registers a Recipe object
// of its own through the same interface.
#define TILEWRIGHT_RECIPE(op) std::unique_ptr<::tilewright::Recipe> MakeRecipe_##op()

// Null if the op has no recipe.
std::unique_ptr<Recipe> MakeBuiltinRecipe(std::string_view op);

// The operators that have a marker, declared or not: a misspelt one shows here.
std::vector<std::string_view> BuiltinRecipeOps();

// The first variant that serves the call; FailedPrecondition listing each variant's reason.
absl::StatusOr<const Variant*> SelectVariant(const Recipe& recipe, const CallDesc& call,
                                             const DeviceProfile& device);
const Variant* FindVariant(const Recipe& recipe, std::string_view name);

}  // namespace tilewright

#endif  // TILEWRIGHT_KERNEL_TEMPLATES_RECIPE_H_
