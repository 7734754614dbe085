// What a product adds to that of a rank's own columns: its ghosts, and the dots.
#pragma once
#include "sparse/core/pass.hpp"
#include "sparse/formats/csr.hpp"
#include "sparse/spmv/product.hpp"

namespace krill::detail {

/// to[i] = from[places[i]].
template <class T>
struct TakePlaces {
  using Sum = NoSum;
  const std::int32_t* places;
  const T* from;
  T* to;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const { return to[i] = from[places[i]], NoSum{}; }
};

/// The same where `from` has `count` entries, and places from there on are those of ghosts.
template <class T>
struct TakePlacesAndGhosts {
  using Sum = NoSum;
  const std::int32_t* places;
  std::int64_t count;
  const T *from, *ghosts;
  T* to;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    const std::int32_t place = places[i];
    to[i] = place < count ? from[place] : ghosts[place - count];
    return {};
  }
};

/// Rows with ghosts, and their entries in columns of ghosts.
template <class T, class Offset>
struct Border {
  CsrView<const T, Offset> a;
  const std::int32_t* rows;
  const T* ghosts;
  T* y;

  /// y_i grows by what ghosts add to border row b, which is row i; returns i.
  constexpr std::int32_t add(std::int64_t b) const {
    T sum{};
    a.for_entries(static_cast<std::int32_t>(b),
                  [&](std::int32_t column, const T& value) { sum += value * ghosts[column]; });
    const std::int32_t i = rows[b];
    y[i] += sum;
    return i;
  }
};

/// Of every border row. A thread a row; reads the border and its ghosts once.
template <class T, class Offset>
struct AddGhosts {
  using Sum = NoSum;
  Border<T, Offset> border;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t b) const { return border.add(b), NoSum{}; }
};

/// The same, and the dots of all rows, for one entry more than there are border rows: that is what the other rows add
/// up to.
template <class T, class Offset>
struct AddGhostsWithDots {
  using Sum = typename DotsView<T>::Sum;
  Border<T, Offset> border;
  DotsView<T> dots;
  const wide_t<T>*first_of_others, *second_of_others;  ///< null where that dot is not wanted

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t b) const {
    if (b < border.a.rows) {
      const std::int32_t i = border.add(b);
      return dots.row(i, border.y, border.y[i]);
    }
    Sum others;
    if (first_of_others) others.first = *first_of_others;
    if (second_of_others) others.second = *second_of_others;
    return others;
  }
  constexpr void finish(const Sum& sum) const { dots.finish(sum); }
};

template <class Value, class Where, class T = kernel_t<Value>>
struct BorderPasses {
  static constexpr auto list =
      passes<Where, TakePlaces<T>, TakePlacesAndGhosts<T>, AddGhosts<T, std::int32_t>, AddGhosts<T, std::int64_t>,
             AddGhostsWithDots<T, std::int32_t>, AddGhostsWithDots<T, std::int64_t>>;
};

}  // namespace krill::detail
