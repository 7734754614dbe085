#include "apps/verify/references/sparse_inverse.hpp"

#include <algorithm>

#include "sparse/core/instantiate.hpp"

namespace krill::apps::verify {
namespace {

/// The columns of row i; of more than `most` those next to the diagonal, which is in their middle if it can be.
template <class T>
std::vector<std::int32_t> columns_of(const Rows<T>& A, std::int32_t i, bool up_to_diagonal, std::int32_t most) {
  std::vector<std::int32_t> columns;
  for (std::size_t k = A.begin(i); k < A.end(i); ++k)
    if (!up_to_diagonal || A.col[k] <= i) columns.push_back(A.col[k]);
  const auto count = static_cast<std::int32_t>(columns.size());
  if (count <= most) return columns;
  const auto diagonal = static_cast<std::int32_t>(std::ranges::lower_bound(columns, i) - columns.begin());
  const std::int32_t first = std::clamp(diagonal - most / 2, 0, count - most);
  return {columns.begin() + first, columns.begin() + first + most};
}

template <class T>
using DenseEquations = std::vector<BoundedVector<T>>;  // coefficients, then the right-hand side

/// A(J, J)^T and the unit vector of the diagonal. Hermitian: after A's lower triangle, real on the diagonal.
template <class T>
DenseEquations<T> equations_of(const Rows<T>& A, const std::vector<std::int32_t>& columns, std::int32_t i,
                               bool hermitian) {
  DenseEquations<T> e(columns.size());
  for (std::size_t t = 0; t < columns.size(); ++t) {
    for (std::size_t p = 0; p < columns.size(); ++p) {
      const bool mirrored = hermitian && columns[t] > columns[p];
      Bounded<T> a(mirrored ? A.at(columns[t], columns[p]) : A.at(columns[p], columns[t]));
      if constexpr (is_complex<T>)
        if (hermitian && t >= p) a.value.im = t == p ? 0 : -a.value.im;
      e[t].push_back(a);
    }
    e[t].push_back(Bounded<T>(T(columns[t] == i ? 1 : 0)));
  }
  return e;
}

/// How kernels compare candidates for a pivot.
long double size_of(long double a) { return std::fabs(a); }
long double size_of(const Complex<long double>& a) { return std::fabs(a.re) + std::fabs(a.im); }

template <class T>
BoundedVector<T> solved(DenseEquations<T> e, bool pivoting) {
  const std::size_t n = e.size();
  for (std::size_t k = 0; k < n; ++k) {
    const auto first = e.begin() + static_cast<std::ptrdiff_t>(k);
    if (pivoting)
      std::swap(*first, *std::max_element(first, e.end(), [&](const auto& x, const auto& y) {
        return size_of(x[k].value) < size_of(y[k].value);
      }));
    for (std::size_t t = k + 1; t < n; ++t) {
      const Bounded<T> multiple = quotient(e[t][k], e[k][k]);
      for (std::size_t p = k + 1; p <= n; ++p)
        e[t][p] = BoundedSum<T>().add(e[t][p]).subtract(multiple, e[k][p]).result();
    }
  }
  BoundedVector<T> x(n);
  for (std::size_t k = n; k-- > 0;) {
    BoundedSum<T> left;
    left.add(e[k][n]);
    for (std::size_t p = k + 1; p < n; ++p) left.subtract(e[k][p], x[p]);
    x[k] = quotient(left.result(), e[k][k]);
  }
  return x;
}

}  // namespace

template <class T>
Rows<Bounded<T>> sparse_inverse(const Rows<T>& A, InverseForm form, std::int32_t max_entries) {
  const bool factored = form == InverseForm::factored;
  Rows<Bounded<T>> inverse{A.rows, A.cols, {0}, {}, {}};
  for (std::int32_t i = 0; i < A.rows; ++i) {
    const std::vector<std::int32_t> columns = columns_of(A, i, factored, max_entries);
    BoundedVector<T> row = solved(equations_of(A, columns, i, factored), !factored);
    if (factored && !row.empty()) {
      const Bounded<T> scale = root(row.back());
      for (Bounded<T>& entry : row) entry = quotient(entry, scale);
    }
    inverse.col.insert(inverse.col.end(), columns.begin(), columns.end());
    inverse.value.insert(inverse.value.end(), row.begin(), row.end());
    inverse.offsets.push_back(inverse.col.size());
  }
  return inverse;
}

template <class T>
struct InverseInstances {
  static constexpr std::tuple list{
      instance<Rows<Bounded<T>>(const Rows<T>&, InverseForm, std::int32_t)>(sparse_inverse)};
};
KRILL_INSTANTIATE(InverseInstances);

}  // namespace krill::apps::verify
