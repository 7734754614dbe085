// Square blocks along a diagonal: where they lie, and a row of their product.
#pragma once
#include "sparse/core/types.hpp"

namespace krill::detail {

/// Square blocks of `dim` rows along a diagonal, row i of them all in slices of 32 rows: in a slice column j of every
/// row, then column j + 1, so that the lanes of a warp, a row each, read neighbors.
struct BlockLayout {
  static constexpr std::int64_t slice = 32;
  std::int32_t dim = 1;

  constexpr std::int64_t blocks(std::int64_t rows) const { return (rows + dim - 1) / dim; }
  /// Rows with the last block padded to full size.
  constexpr std::int64_t padded_rows(std::int64_t rows) const { return blocks(rows) * dim; }
  constexpr std::int64_t size(std::int64_t rows) const { return (padded_rows(rows) + slice - 1) / slice * slice * dim; }
  /// Entry j of row i in its block.
  constexpr std::int64_t at(std::int64_t i, std::int32_t j) const { return (i / slice * dim + j) * slice + i % slice; }
  /// The first row of row i's block; rows fit 32 bits, which divide faster.
  constexpr std::int64_t first(std::int64_t i) const {
    const auto row = static_cast<std::uint32_t>(i), size = static_cast<std::uint32_t>(dim);
    return row / size * size;
  }
};

/// A row of D^-1 times r.
template <class T>
struct BlockProduct {
  std::int32_t rows;
  BlockLayout layout;
  const T *inverses, *r;

  constexpr T row(std::int64_t i) const {
    const std::int64_t first = layout.first(i), left = rows - first;
    const auto cols = static_cast<std::int32_t>(left < layout.dim ? left : layout.dim);
    const T* mine = inverses + layout.at(i, 0);
    T sum{};
    for (std::int32_t j = 0; j < cols; ++j) sum += mine[j * BlockLayout::slice] * r[first + j];
    return sum;
  }
  /// A row of D^-H times r.
  constexpr T row_of_adjoint(std::int64_t i) const {
    const std::int64_t first = layout.first(i);
    const auto column = static_cast<std::int32_t>(i - first);
    T sum{};
    for (std::int64_t j = first; j < first + layout.dim && j < rows; ++j)
      sum += conj(inverses[layout.at(j, column)]) * r[j];
    return sum;
  }
};

}  // namespace krill::detail
