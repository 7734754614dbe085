// The judge of sums and products of sparse matrices: entries in long double, found by nothing but their indices.
#pragma once
#include <gtest/gtest.h>

#include <complex>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "sparse/formats/csr.hpp"

namespace krill::test {

using LongComplex = std::complex<long double>;

/// An entry, the sum of its terms' moduli and their number, which bound its rounding.
struct Sum {
  LongComplex value{};
  long double moduli = 0;
  int terms = 0;

  void add(LongComplex term) { value += term, moduli += std::abs(term), ++terms; }
};

/// By row and column.
using Sums = std::map<std::pair<std::int32_t, std::int32_t>, Sum>;

/// use(row, column, value) for the entries of op(A).
template <class T, class Offset, class Use>
void for_entries_of(Op op, const Csr<T, Offset>& A, Use&& use) {
  const auto offsets = A.row_offsets().host();
  for (std::int32_t i = 0; i < A.rows(); ++i)
    for (auto k = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i)]);
         k < static_cast<std::size_t>(offsets[static_cast<std::size_t>(i) + 1]); ++k) {
      const std::int32_t j = A.col_indices().host()[k];
      const LongComplex value(A.values().host()[k]);
      op == Op::none ? use(i, j, value) : use(j, i, op == Op::adjoint ? std::conj(value) : value);
    }
}

template <class T, class Offset>
void add_to(Sums& sums, Op op, T factor, const Csr<T, Offset>& A) {
  for_entries_of(op, A, [&](std::int32_t i, std::int32_t j, LongComplex value) {
    sums[{i, j}].add(LongComplex(factor) * value);
  });
}

/// C has these entries and no others, sorted, to within what rounding of T may do: each term is rounded three times,
/// twice as much in complex arithmetic, and the sum once a term.
template <class T, class Offset>
void expect_entries(const Sums& expected, const Csr<T, Offset>& C, const std::string& what) {
  ASSERT_NO_THROW(validate(C)) << what;
  ASSERT_EQ(C.nnz(), std::ssize(expected)) << what;
  auto next = expected.begin();
  for_entries_of(Op::none, C, [&](std::int32_t i, std::int32_t j, LongComplex value) {
    const auto& [place, sum] = *next++;
    ASSERT_EQ(place, std::pair(i, j)) << what;
    const long double bound =
        (sum.terms + 6) * static_cast<long double>(std::numeric_limits<real_t<T>>::epsilon()) * sum.moduli;
    ASSERT_LE(std::abs(value - sum.value), bound) << what << ", entry " << i << ", " << j;
  });
}

}  // namespace krill::test
