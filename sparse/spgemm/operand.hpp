// op(A) as sums and products of sparse matrices take it.
#pragma once
#include <fmt/format.h>

#include <optional>
#include <string>

#include "sparse/convert/convert.hpp"
#include "sparse/convert/sort.hpp"

namespace krill::detail {

/// op(A): A itself, or its transpose, which is kept and follows new values by a permutation.
template <class T, class Offset>
class Operand {
 public:
  Operand(Context& ctx, Op op, const Csr<T, Offset>& A)
      : rows_(A.rows()), cols_(A.cols()), nnz_(A.nnz()), adjoint_(op == Op::adjoint) {
    if (op != Op::none) turned_ = transpose(ctx, A, op, &permutation_);
  }

  /// op(A), for an A that was handed to the constructor or to update() last.
  const Csr<T, Offset>& of(const Csr<T, Offset>& A) const { return turned_ ? *turned_ : A; }

  /// Takes over new values of the same pattern. Raises ShapeMismatch in the name of `what`.
  void update(Context& ctx, const Csr<T, Offset>& A, const std::string& what) {
    require_size(what + ", rows", A.rows(), rows_);
    require_size(what + ", columns", A.cols(), cols_);
    require_size(what + ", entries", A.nnz(), nnz_);
    if (!turned_) return;
    ctx.dispatch([&](const auto& where) {
      apply_permutation(where, nnz_, A.values().read(where), permutation_.read(where), turned_->values().write(where),
                        adjoint_);
    });
  }

  /// Of the transpose and its permutation.
  std::size_t bytes() const { return turned_ ? turned_->bytes() + static_cast<std::size_t>(nnz_) * sizeof(Offset) : 0; }

 private:
  std::int32_t rows_, cols_;
  std::int64_t nnz_;
  bool adjoint_;
  std::optional<Csr<T, Offset>> turned_;
  Array<Offset> permutation_;  // entry k of the transpose is A's entry permutation_[k]
};

}  // namespace krill::detail
