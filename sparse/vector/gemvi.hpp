// Dense matrix times sparse vector (kernel catalogue L2-GEMVI).
#pragma once
#include "sparse/formats/dense.hpp"
#include "sparse/formats/sparse_vector.hpp"

namespace krill {

/// y = alpha op(A) x + beta y, known as GEMVI. x: A.cols(op), y: A.rows(op) entries; beta = 0 overwrites y, NaN
/// included. Entries of A that meet none of x are not read. Repeatable bitwise, for any number of host threads.
/// Asynchronous and capturable after a first run; allocates nothing but workspace.
///
/// Moves A.rows(op) (nnz + 1) values, and y once more where beta is not 0. Where lines of memory are columns of op(A)
/// these are read side by side; where they are its rows, entries of x that lie apart cost 32 bytes each. Indices are
/// trusted, as all of level 1 does. Raises ShapeMismatch, and InvalidArgument where y is A's or x's values.
template <class T>
void gemvi(Context&, Op, const std::type_identity_t<Scalar<T>>& alpha, const Dense<T>& A, const SparseVector<T>& x,
           const std::type_identity_t<Scalar<T>>& beta, Array<T>& y);

/// The same as kernels get it: pointers on the tag's side, any index base.
template <class T>
struct GemviCall {
  ScalarView<T> alpha;
  DenseView<const T> a;
  SparseVectorView<const T> x;
  ScalarView<T> beta;
  T* y;
};

// The kernels behind the door, for callers who own their memory, too.
template <class T>
void run_gemvi(const Host&, Op, const GemviCall<T>&);
template <class T>
void run_gemvi(const Cuda&, Op, const GemviCall<T>&);

}  // namespace krill
