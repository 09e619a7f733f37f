#include "runtime/conform/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <set>

#include "manifest/float_format.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kExactBelow = 0x1p24;
constexpr int64_t kTile = 64;
// Rounding of a float32 accumulation, as a fraction of the sum of its terms' magnitudes: eight
// units in the last place, as tensor cores cut off rather than round.
constexpr double kSumRounding = 0x1p-20;

// `want` of [0, extent): the ends, tile boundaries, random ones.
std::vector<int64_t> PickIndices(int64_t extent, int64_t want, std::mt19937_64& random) {
  std::set<int64_t> picked;
  if (want >= extent) {
    for (int64_t i = 0; i < extent; ++i) picked.insert(i);
    return {picked.begin(), picked.end()};
  }
  std::uniform_int_distribution<int64_t> any(0, extent - 1);
  const int64_t last_tile = (extent - 1) / kTile * kTile;
  const int64_t some_tile = any(random) / kTile * kTile;
  for (const int64_t i : {int64_t{0}, extent - 1, extent - 2, last_tile, last_tile - 1, kTile,
                          kTile - 1, 2 * kTile, 2 * kTile - 1, some_tile, some_tile - 1}) {
    if (i >= 0 && i < extent && static_cast<int64_t>(picked.size()) < want) picked.insert(i);
  }
  while (static_cast<int64_t>(picked.size()) < want) picked.insert(any(random));
  return {picked.begin(), picked.end()};
}

std::string PositionText(const Dims& shape, int64_t linear) {
  Dims at = shape;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    at[axis] = linear % shape[axis];
    linear /= shape[axis];
  }
  return at.ToString();
}

int64_t OffsetAt(const TensorDesc& desc, int64_t linear) {
  int64_t offset = 0;
  for (int axis = desc.rank() - 1; axis >= 0; --axis) {
    offset += linear % desc.shape[axis] * desc.strides[axis];
    linear /= desc.shape[axis];
  }
  return offset;
}

// The distance of `got` from `exact` as a fraction of the tolerance.
double FloatError(DType dtype, double got, const RefScalar& expected, const Tolerance& tolerance,
                  bool exact_integers) {
  const double exact = expected.f;
  double rounded = 0;
  StoreFromDouble(&rounded, dtype, 0, exact);
  rounded = LoadAsDouble(&rounded, dtype, 0);
  if (std::isnan(rounded)) return std::isnan(got) ? 0 : kInf;
  if (std::isnan(got)) return kInf;
  if (got == rounded) return 0;
  if (std::isinf(got) || std::isinf(rounded)) {
    // Overflow may fall on either side of the largest number when the value is that close to it.
    const double largest = LargestFinite(dtype);
    const bool near = !std::isinf(exact) && std::signbit(got) == std::signbit(exact) &&
                      std::fabs(exact) >= largest * (1 - tolerance.relative) &&
                      std::fabs(exact) <= largest * (1 + 2 * tolerance.relative) &&
                      std::fabs(got) >= largest * (1 - 2 * tolerance.relative);
    return near ? 1 : kInf;
  }
  const bool exactly = exact_integers && !expected.inexact;
  if (exactly && exact == std::trunc(exact) && std::fabs(exact) < kExactBelow) return kInf;
  double allowed = tolerance.absolute + tolerance.relative * std::fabs(exact);
  if (std::isfinite(expected.magnitude)) allowed += kSumRounding * expected.magnitude;
  if (std::isfinite(expected.slack)) allowed += expected.slack;
  return allowed > 0 ? std::fabs(got - rounded) / allowed : kInf;
}

}  // namespace

std::vector<int64_t> SampleElements(const Dims& shape, int64_t limit, uint64_t seed) {
  const int64_t total = shape.Product().value_or(0);
  std::vector<int64_t> elements;
  if (total <= 4 * limit) {
    for (int64_t i = 0; i < total; ++i) elements.push_back(i);
    return elements;
  }
  std::mt19937_64 random(seed);
  const int64_t columns = shape[shape.rank() - 1];
  const int64_t rows = total / columns;
  const int64_t side = std::max<int64_t>(1, static_cast<int64_t>(std::sqrt(limit)));
  const int64_t want_columns = std::min(columns, std::max(side, (limit + rows - 1) / rows));
  const int64_t want_rows = std::min(rows, std::max<int64_t>(1, limit / want_columns));
  const std::vector<int64_t> picked_columns = PickIndices(columns, want_columns, random);
  for (const int64_t row : PickIndices(rows, want_rows, random)) {
    for (const int64_t column : picked_columns) elements.push_back(row * columns + column);
  }
  return elements;
}

void Agreement::Merge(const Agreement& other) {
  error = std::max(error, other.error);
  if (problem.empty()) problem = other.problem;
}

Agreement CompareElements(const TensorDesc& desc, const void* origin,
                          std::span<const int64_t> elements, std::span<const RefScalar> values,
                          const Tolerance& tolerance, bool exact_integers) {
  Agreement agreement;
  int64_t beyond = 0;
  std::string first;
  for (size_t i = 0; i < elements.size(); ++i) {
    const int64_t offset = OffsetAt(desc, elements[i]);
    double error = 0;
    std::string texts;
    if (IsFloating(desc.dtype)) {
      const double got = LoadAsDouble(origin, desc.dtype, offset);
      error = FloatError(desc.dtype, got, values[i], tolerance, exact_integers);
      if (error > 1 && first.empty()) texts = Cat("expected ", values[i].f, ", got ", got);
    } else {
      const int64_t got = LoadAsInt(origin, desc.dtype, offset);
      error = got == values[i].i ? 0 : kInf;
      if (error > 1 && first.empty()) texts = Cat("expected ", values[i].i, ", got ", got);
    }
    agreement.error = std::max(agreement.error, error);
    if (error <= 1) continue;
    ++beyond;
    if (first.empty()) first = Cat("at ", PositionText(desc.shape, elements[i]), ": ", texts);
  }
  if (beyond > 0) {
    agreement.problem =
        Cat(beyond, " of ", elements.size(), " checked elements are wrong; ", first);
  }
  return agreement;
}

namespace {

// How many of `count` words have `poison` in every byte.
template <class Word>
int64_t CountWords(const void* data, int64_t count, uint8_t poison) {
  Word pattern;
  std::memset(&pattern, poison, sizeof(pattern));
  const auto* bytes = static_cast<const unsigned char*>(data);
  int64_t found = 0;
  for (int64_t i = 0; i < count; ++i) {
    Word word;
    std::memcpy(&word, bytes + i * int64_t{sizeof(Word)}, sizeof(Word));
    found += word == pattern ? 1 : 0;
  }
  return found;
}

}  // namespace

int64_t CountPoisoned(const TensorDesc& desc, const void* origin, uint8_t poison) {
  switch (DTypeSize(desc.dtype)) {
    case 1:
      return CountWords<uint8_t>(origin, desc.elements(), poison);
    case 2:
      return CountWords<uint16_t>(origin, desc.elements(), poison);
    case 4:
      return CountWords<uint32_t>(origin, desc.elements(), poison);
    case 8:
      return CountWords<uint64_t>(origin, desc.elements(), poison);
    default:
      return CountWords<unsigned __int128>(origin, desc.elements(), poison);
  }
}

}  // namespace tilewright
