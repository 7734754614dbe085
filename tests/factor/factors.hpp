// Factors as references see them.
#pragma once
#include "apps/verify/references/factorization.hpp"
#include "sparse/factor/incomplete.hpp"
#include "tests/support/references.hpp"

namespace krill::test {

inline constexpr Factorization both_kinds[] = {Factorization::ilu0, Factorization::ic0};

/// The factors' product is A wherever A has an entry, to the rounding of the terms of that entry; IC(0) leaves what
/// lies right of the diagonal as it is.
template <class T, class Offset>
void expect_factors(const Csr<T, Offset>& A, const Csr<T, Offset>& factor, Factorization kind) {
  const verify::Rows<T> a = verify::rows_of(A), f = verify::rows_of(factor);
  ASSERT_EQ(f.offsets, a.offsets);
  ASSERT_EQ(f.col, a.col);
  expect_met(verify::factor_equations<T>(a, f.value, kind));
}

}  // namespace krill::test
