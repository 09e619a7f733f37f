// The recipe of rotary position embedding. An operator states how its columns pair, what its
// positions are and how fast each pair turns.
#ifndef TILEWRIGHT_KERNEL_TEMPLATES_ROPE_ROPE_RECIPE_H_
#define TILEWRIGHT_KERNEL_TEMPLATES_ROPE_ROPE_RECIPE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "kernel_templates/recipe.h"
#include "kernel_templates/rope/params.cuh"

namespace tilewright {

// How the pairs of a head turn.
struct RopeTurns {
  std::array<double, kRopeMostPairs> radians{};  // of each pair per position
  double amplitude = 1;                          // of cosine and sine
};

// Operand 0 is x: (position, column), (token, head, column) or (batch, position, head, column). The
// last operand is the output, of the same shape.
struct RopeOperator {
  void (*turns)(const CallDesc& call, int pairs, RopeTurns* turns) = nullptr;
  bool halves = true;  // column c pairs with column c + pairs; else 2 p with 2 p + 1
  int positions = -1;  // operand of the tokens' positions; -1: their places
  int factors = -1;    // optional operand that divides the frequencies; -1: none
  int rotated = -1;    // param of the number of rotated columns, null for all; -1: all
};

std::unique_ptr<Recipe> MakeRopeRecipe(const RopeOperator& op);

}  // namespace tilewright

#endif  // TILEWRIGHT_KERNEL_TEMPLATES_ROPE_ROPE_RECIPE_H_
