// Matchings of rows to columns, and what proves that no other one has a greater product.
#pragma once
#include <algorithm>
#include <cmath>

#include "apps/verify/references/rows.hpp"

namespace krill::apps::verify {

/// log (r_i |a_ij| c_j) of the entries that are not 0. With 0 for all pairs of a matching and nothing above 0 among the
/// rest, no matching of as many rows has a greater product (Duff and Koster 2001).
struct Certificate {
  std::vector<long double> of_pairs, of_rest;
  long double greatest = 0;  ///< of the moduli of the logarithms that these are made of
};

template <class V>
Certificate certificate(const Rows<V>& A, std::span<const std::int32_t> row_of_column,
                        std::span<const double> log_row_factors, std::span<const double> log_col_factors) {
  Certificate c;
  A.for_places([&](std::int32_t i, std::size_t k) {
    const std::size_t j = as_size(A.col[k]);
    const long double size = modulus(exact(A.value[k]));
    if (size == 0) return;
    const long double log = std::log(size), row = log_row_factors[as_size(i)], col = log_col_factors[j];
    c.greatest = std::max({c.greatest, std::abs(log), std::abs(row), std::abs(col)});
    (row_of_column[j] == i ? c.of_pairs : c.of_rest).push_back(log + row + col);
  });
  return c;
}

}  // namespace krill::apps::verify
