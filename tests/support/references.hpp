// The references that tests share with `krill verify`, and what they say of results.
#pragma once
#include <gtest/gtest.h>

#include "apps/verify/references/entries.hpp"
#include "tests/support/oracle.hpp"

namespace krill::test {

namespace verify = apps::verify;

/// Each equation is met, but for what rounding may have left.
template <class T>
void expect_met(const verify::Equations<T>& equations) {
  for (std::size_t i = 0; i < equations.left.size(); ++i)
    ASSERT_LE(verify::modulus(equations.left[i] - equations.right[i].value), equations.right[i].error) << i;
}

/// Each result is its reference, but for what rounding may have done.
template <class T>
void expect_near(const std::vector<T>& found, const verify::BoundedVector<T>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_LE(verify::modulus(verify::exact(found[i]) - wanted[i].value), wanted[i].error) << i;
}

/// A number of a reference as Eigen computes with it.
inline Z to_z(long double a) { return static_cast<double>(a); }
inline Z to_z(const Complex<long double>& a) { return {static_cast<double>(a.re), static_cast<double>(a.im)}; }
inline Z to_z(const Z& a) { return a; }
template <class R>
Z to_z(const std::complex<R>& a) {
  return Z(a);
}
template <class T>
Z to_z(const verify::Bounded<T>& a) {
  return to_z(a.value);
}

template <class V>
Reference reference(const verify::Rows<V>& A) {
  Reference r{A.rows, A.cols, {}, A.col, {}};
  A.for_places([&](std::int32_t i, std::size_t k) { r.row.push_back(i), r.value.push_back(to_z(A.value[k])); });
  return r;
}

}  // namespace krill::test
