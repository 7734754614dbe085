// What plans and factors of banded matrices share.
#pragma once
#include <fmt/format.h>

#include <algorithm>

#include "sparse/banded/banded_plan.hpp"
#include "sparse/core/first_row.hpp"

namespace krill::detail {

/// Raises InvalidArgument unless solves with them are possible.
void require_banded_solve(std::string_view what, const BandLayout& matrices, const BandLayout& vectors, int diagonals,
                          BandedMethod);

template <class T>
void require_same_matrices(std::string_view what, const Banded<T>& A, const BandLayout& layout, int diagonals) {
  require(A.layout() == layout, fmt::format("{}: the matrices have another layout than the {} was made for", what,
                                            what.substr(what.find(' ') + 1)));
  require(A.diagonals() == diagonals,
          fmt::format("{}: matrices of {} diagonals, it was made for {}", what, A.diagonals(), diagonals));
}

/// The transposed matrices. What is outside of a band's memory is outside of the matrix.
template <class T>
BandedView<const T> transposed(const BandedView<const T>& a) {
  const std::int64_t row = a.layout.row_stride;
  BandedView<const T> t{a.layout, nullptr, a.du - row, a.d, a.dl + row};
  if (a.ds) t.ds = a.dw - 2 * row, t.dw = a.ds + 2 * row;
  return t;
}

/// The first system that names a row. Waits.
inline std::optional<BandedZeroPivot> first_zero_pivot(const Array<std::int32_t>& zero_rows) {
  const auto rows = zero_rows.host();
  const auto found = std::find_if(rows.begin(), rows.end(), [](std::int32_t row) { return row != no_row; });
  if (found == rows.end()) return std::nullopt;
  return BandedZeroPivot{static_cast<std::int32_t>(found - rows.begin()), *found};
}

}  // namespace krill::detail
