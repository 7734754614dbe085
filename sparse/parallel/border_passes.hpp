// The rows of a product that need ghosts, and the dots.
#pragma once
#include "sparse/core/pass.hpp"
#include "sparse/formats/sell.hpp"
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

/// Rows with ghosts, whole, in places of low ghosts, own rows and high ghosts.
template <class T>
struct Border {
  SellView<const T> a;
  const std::int32_t* rows;
  std::int32_t low, own;  ///< ghosts before own rows, and these
  const T* x;
  T* y;
  const T* ghosts = nullptr;

  /// y_i of border row b, which is row i; returns i.
  constexpr std::int32_t multiply(std::int64_t b) const {
    T sum{};
    a.for_entries(static_cast<std::int32_t>(b), [&](std::int32_t place, const T& value) { sum += value * at(place); });
    const std::int32_t i = rows[b];
    y[i] = sum;
    return i;
  }

 private:
  constexpr T at(std::int32_t place) const {
    const std::int32_t i = place - low;
    if (i >= 0 && i < own) return x[i];
    return ghosts[i < 0 ? place : place - own];
  }
};

/// Of every border row. A thread a row; reads the border and its ghosts once.
template <class T>
struct BorderRows {
  using Sum = NoSum;
  Border<T> border;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t b) const { return border.multiply(b), NoSum{}; }
};

/// The same with dots. An entry more than there are border rows is what the other rows have added up to, where that is
/// known before.
template <class T>
struct BorderRowsWithDots {
  using Sum = DotsSum<T>;
  Border<T> border;
  DotsView<T> dots;
  const wide_t<T>*first_of_others = nullptr, *second_of_others = nullptr;  ///< null where that dot is not wanted

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t b) const {
    if (b < border.a.rows) {
      const std::int32_t i = border.multiply(b);
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
      passes<Where, TakePlaces<T>, TakePlacesAndGhosts<T>, BorderRows<T>, BorderRowsWithDots<T>>;
};

}  // namespace krill::detail
