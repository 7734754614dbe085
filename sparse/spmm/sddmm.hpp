// Products of dense matrices at the places of a sparse one (kernel catalogue GEN-SDDMM).
#pragma once
#include "sparse/core/half.hpp"
#include "sparse/formats/any_matrix.hpp"
#include "sparse/formats/dense.hpp"

namespace krill {

namespace detail {
template <class T>
struct DotScalar {
  using Type = T;
};
template <>
struct DotScalar<Half> {
  using Type = float;
};
template <>
struct DotScalar<BFloat16> {
  using Type = float;
};
template <>
struct DotScalar<Complex<Half>> {
  using Type = std::complex<float>;
};
}  // namespace detail

/// What sddmm computes in: float of Half and BFloat16, std::complex<float> of Complex<Half>, else T itself.
template <class T>
using dot_scalar_t = typename detail::DotScalar<T>::Type;

/// C = alpha (op_a(A) op_b(B)) at the places of C + beta C, known as SDDMM. op_a(A) is C.rows() x k, op_b(B) is
/// k x C.cols(), either order each. Every stored place counts, whatever its value; columns need no order. beta = 0
/// overwrites C, NaN included. T is a scalar, or Half, BFloat16 or Complex<Half>, which are widened exactly and rounded
/// once, with 32-bit offsets. Repeatable bitwise. Asynchronous and capturable; allocates nothing.
///
/// Fastest where lines of memory are rows of op_a(A) and columns of op_b(B), whole 16 bytes each: then it reads C once,
/// a row of op_a(A) once for its entries, and a column of op_b(B) for every entry, from the caches as far as they go.
/// Raises ShapeMismatch, and InvalidArgument where C's values are those of A or B.
template <class T, class Offset>
void sddmm(Context&, Op op_a, Op op_b, const std::type_identity_t<Scalar<dot_scalar_t<T>>>& alpha, const Dense<T>& A,
           const Dense<T>& B, const std::type_identity_t<Scalar<dot_scalar_t<T>>>& beta, Csr<T, Offset>& C);

namespace detail {

/// What kernels get: pointers on the tag's side; a and b are op(A) and op(B).
template <class T, class Offset>
struct EntryDots {
  using Sum = kernel_t<dot_scalar_t<T>>;

  ScalarView<Sum> alpha;
  DenseView<const T> a, b;
  bool conjugate_a, conjugate_b;
  ScalarView<Sum> beta;
  std::int32_t rows;
  std::int64_t nnz;
  const Offset* row_offsets;
  const std::int32_t* col_indices;
  T* values;

  /// The row of an entry, which is one of [low, high); by bisection.
  constexpr std::int32_t row_of(Offset entry, std::int32_t low, std::int32_t high) const {
    while (high - low > 1) {
      const std::int32_t middle = low + (high - low) / 2;
      if (row_offsets[middle] <= entry)
        low = middle;
      else
        high = middle;
    }
    return low;
  }
  /// An entry of op_a(A) times one of op_b(B), as they are stored.
  constexpr Sum term(T of_a, T of_b) const {
    return conj_if(conjugate_a, static_cast<Sum>(of_a)) * conj_if(conjugate_b, static_cast<Sum>(of_b));
  }
  constexpr void put(Offset entry, Sum sum) const {
    Sum result = alpha() * sum;
    if (const Sum factor = beta(); !(factor == Sum(0))) result += factor * static_cast<Sum>(values[entry]);
    values[entry] = static_cast<T>(result);
  }
};

/// The dots of a part of the inner dimension: that many from `first` on.
template <class T, class Offset>
EntryDots<T, Offset> inner_part(EntryDots<T, Offset> p, std::int32_t first, std::int32_t count) {
  p.a.values += p.a.order == Order::row_major ? first : first * p.a.leading_dimension;
  p.b.values += p.b.order == Order::row_major ? first * p.b.leading_dimension : first;
  p.a.cols = p.b.rows = count;
  return p;
}

template <class T, class Offset>
void run_entry_dots(const Host&, const EntryDots<T, Offset>&);
template <class T, class Offset>
void run_entry_dots(const Cuda&, const EntryDots<T, Offset>&);

template <class T, class Offset, class Where>
struct EntryDotsKernels {
  static constexpr auto list = instance<void(const Where&, const EntryDots<kernel_t<T>, Offset>&)>(run_entry_dots);
};

}  // namespace detail
}  // namespace krill
