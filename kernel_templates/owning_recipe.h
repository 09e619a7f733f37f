// A recipe that owns its variants and names its problem fields once.
#ifndef TILEWRIGHT_KERNEL_TEMPLATES_OWNING_RECIPE_H_
#define TILEWRIGHT_KERNEL_TEMPLATES_OWNING_RECIPE_H_

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "kernel_templates/recipe.h"

namespace tilewright {

class OwningRecipe : public Recipe {
 public:
  std::span<const ProblemField> fields() const override { return fields_; }
  std::span<const Variant* const> variants() const override { return variants_; }

 protected:
  using Kind = ProblemField::Kind;

  explicit OwningRecipe(std::vector<ProblemField> fields) : fields_(std::move(fields)) {}
  // After those before it, in order of preference.
  void Add(std::unique_ptr<Variant> variant) {
    variants_.push_back(variant.get());
    owned_.push_back(std::move(variant));
  }

 private:
  std::vector<ProblemField> fields_;
  std::vector<std::unique_ptr<Variant>> owned_;
  std::vector<const Variant*> variants_;
};

}  // namespace tilewright

#endif  // TILEWRIGHT_KERNEL_TEMPLATES_OWNING_RECIPE_H_
