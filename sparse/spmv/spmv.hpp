// Sparse matrix times dense vector.
#pragma once
#include <type_traits>

#include "krill/sparse/formats/any_matrix.hpp"

namespace krill {

/// Dot products to take while y is computed: at most two, each into an array of one entry.
/// first = with_first^H y, second = with_second^H y. x and y themselves may be partners; null means none.
template <class T>
struct Dots {
  const Array<T>* with_first = nullptr;
  Array<wide_t<T>>* first = nullptr;
  const Array<T>* with_second = nullptr;
  Array<wide_t<T>>* second = nullptr;
};

/// y = alpha op(A) x + beta y, and the dots of the new y. x: A.cols(op) entries, y and the partners: A.rows(op).
/// y must be neither x nor a partner's array other than itself; beta = 0 overwrites y, NaN included.
/// Repeatable bitwise. Asynchronous and capturable after a first run; allocates nothing but workspace.
/// op none moves nnz (sizeof T + 4) + rows (sizeof Offset + sizeof T) bytes plus one read of x. The other two transpose
/// A in the workspace first (about ten times that): where such a product is wanted often, keep transpose(ctx, A, op).
/// Raises ShapeMismatch and InvalidArgument.
template <class T, class Offset>
void spmv(Context&, Op, const std::type_identity_t<Scalar<T>>& alpha, const Csr<T, Offset>& A, const Array<T>& x,
          const std::type_identity_t<Scalar<T>>& beta, Array<T>& y, const std::type_identity_t<Dots<T>>& = {});

/// The same with A in coordinates: its row offsets are made in the workspace (4 more bytes an entry).
template <class T>
void spmv(Context&, Op, const std::type_identity_t<Scalar<T>>& alpha, const Coo<T>& A, const Array<T>& x,
          const std::type_identity_t<Scalar<T>>& beta, Array<T>& y, const std::type_identity_t<Dots<T>>& = {});

/// The same with a format chosen at run time.
template <class T>
void spmv(Context&, Op, const std::type_identity_t<Scalar<T>>& alpha, const AnyMatrix<T>& A, const Array<T>& x,
          const std::type_identity_t<Scalar<T>>& beta, Array<T>& y, const std::type_identity_t<Dots<T>>& = {});

/// What the kernels get of Dots: pointers on the tag's side; results that are null are not wanted.
template <class T>
struct DotsView {
  const T* with_first = nullptr;
  wide_t<T>* first = nullptr;
  const T* with_second = nullptr;
  wide_t<T>* second = nullptr;

  constexpr bool wanted() const { return first || second; }

  /// What rows add up to.
  struct Sum {
    wide_t<T> first{}, second{};
    constexpr Sum& operator+=(const Sum& other) { return first += other.first, second += other.second, *this; }
  };
  /// The part of row i, whose y is known already.
  constexpr Sum row(std::int64_t i, const T* y, T y_i) const {
    Sum part;
    if (first) part.first = conj(wide(with_first == y ? y_i : with_first[i])) * wide(y_i);
    if (second) part.second = conj(wide(with_second == y ? y_i : with_second[i])) * wide(y_i);
    return part;
  }
  constexpr void finish(const Sum& sum) const {
    if (first) *first = sum.first;
    if (second) *second = sum.second;
  }
};

/// y = alpha A x + beta y, as the kernels get it.
template <class T, class Offset>
struct CsrProduct {
  ScalarView<T> alpha;
  CsrView<const T, Offset> a;
  const T* x;
  ScalarView<T> beta;
  T* y;
  DotsView<T> dots;

  /// Books the sum of row i; what the row adds to the dots.
  constexpr typename DotsView<T>::Sum store(std::int64_t i, T sum) const {
    T result = alpha() * sum;
    if (const T factor = beta(); !(factor == T(0))) result += factor * y[i];
    y[i] = result;
    return dots.row(i, y, result);
  }
};

// The kernels behind the doors, for callers who own their memory too: pointers on the tag's side, any index base.
template <class T, class Offset>
void csr_spmv(const Host&, const CsrProduct<T, Offset>&);
template <class T, class Offset>
void csr_spmv(const Cuda&, const CsrProduct<T, Offset>&);

}  // namespace krill
