// Which approximate inverse a matrix gets.
#pragma once
#include "solvers/precond/isai.hpp"
#include "sparse/inverse/sparse_inverse.hpp"

namespace krill::detail {

/// The form that the options name. For automatic: factored where A is Hermitian with a positive diagonal, which takes
/// O(nnz log(longest row)) to find out.
template <class T, class Offset>
InverseForm inverse_form(Context& ctx, const IsaiOptions& o, const Csr<T, Offset>& A) {
  if (o.form != IsaiForm::automatic) return o.form == IsaiForm::factored ? InverseForm::factored : InverseForm::general;
  require_size("isai: columns of the square matrix", A.cols(), A.rows());
  return first_not_hermitian(ctx, A) ? InverseForm::general : InverseForm::factored;
}

}  // namespace krill::detail
