// The passes between the precision of a solve and that of its preconditioner.
#pragma once
#include "sparse/convert/convert_passes.hpp"

namespace krill::detail {

/// to_k = from_k in single precision, and the first that overflows there. Over the entries.
template <class High, class Low>
struct LowerValues {
  using Sum = FirstIndex;
  const High* from;
  Low* to;
  FirstIndex* overflow;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t k) const {
    const High value = from[k];
    const Low lower = Low(value);
    to[k] = lower;
    return is_finite(value) && !is_finite(lower) ? Sum{k} : Sum{};
  }
  constexpr void finish(const Sum& sum) const { *overflow = sum; }
};

/// to = from.
template <class From, class To>
struct ConvertVector {
  using Sum = NoSum;
  const From* from;
  To* to;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const { return to[i] = To(from[i]), NoSum{}; }
};

/// z = low, rz = Re r'z.
template <class Low, class High>
struct RaiseDot {
  using Sum = double;
  const Low* low;
  const High* r;
  High* z;
  double* rz;

  constexpr bool begin() const { return true; }
  constexpr double entry(std::int64_t i) const {
    const High value = High(low[i]);
    z[i] = value;
    return real(conj(r[i]) * value);
  }
  constexpr void finish(double sum) const { *rz = sum; }
};

/// What is compiled for each backend.
template <class High, class Low, class Where>
struct LowerPrecisionPasses {
  static constexpr auto list =
      passes<Where, LowerValues<High, Low>, ConvertVector<High, Low>, ConvertVector<Low, High>, RaiseDot<Low, High>>;
};

}  // namespace krill::detail
