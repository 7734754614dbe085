// Which approximate inverse a matrix gets.
#pragma once
#include "solvers/precond/isai.hpp"
#include "sparse/core/team.hpp"
#include "sparse/inverse/sparse_inverse.hpp"

namespace krill::detail {

/// The form that the options name. For automatic: factored where A is Hermitian with a positive diagonal, which takes
/// O(nnz log(longest row)) to find out; where a team has a part of A each, in these rows on all ranks.
template <class T, class Offset>
InverseForm inverse_form(Context& ctx, const IsaiOptions& o, const Csr<T, Offset>& A, RowRange rows = {},
                         Team* team = nullptr) {
  if (o.form != IsaiForm::automatic) return o.form == IsaiForm::factored ? InverseForm::factored : InverseForm::general;
  require_size("isai: columns of the square matrix", A.cols(), A.rows());
  const bool hermitian = !first_not_hermitian(ctx, A, rows);
  return (team ? agree(*team, hermitian) : hermitian) ? InverseForm::factored : InverseForm::general;
}

}  // namespace krill::detail
