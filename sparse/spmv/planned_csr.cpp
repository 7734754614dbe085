#include "sparse/spmv/planned_csr.hpp"

#include "sparse/convert/convert_passes.hpp"
#include "sparse/convert/sort.hpp"
#include "sparse/convert/to_format.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/overloaded.hpp"

namespace krill::detail {

template <class T, class Offset>
Transposed<T, Offset> Transposed<T, Offset>::of(Context& ctx, const Csr<T, Offset>& a, Op op) {
  Array<Offset> permutation;
  Csr<T, Offset> csr = transpose(ctx, a, op, &permutation);
  return {&a, op == Op::adjoint, std::move(permutation), std::move(csr)};
}

template <class T, class Offset>
void Transposed<T, Offset>::update(Context& ctx) {
  ctx.dispatch([&](const auto& where) {
    apply_permutation(where, csr.nnz(), from->values().read(where), permutation.read(where), csr.values().write(where),
                      conjugate);
  });
}

template <class T>
PlannedCsr<T>::PlannedCsr(Context& ctx, const AnyMatrix<T>& A, Op op) : A_(&A), op_(op) {
  std::visit([&](const auto& a) { make(ctx, a); }, A);
}

template <class T>
PlannedCsr<T>::PlannedCsr(Context& ctx, const Coo<T>& a) {
  make(ctx, a);
}

template <class T>
template <class Matrix>
void PlannedCsr<T>::make(Context& ctx, const Matrix& a) {
  if constexpr (is_csr<Matrix>)
    op_ == Op::none ? point_to(a) : make_transpose(ctx, a, op_);
  else if constexpr (std::is_same_v<Matrix, Csc<T>>)
    make_by_columns(ctx, a.transposed());
  else if constexpr (std::is_same_v<Matrix, Gebsc<T>>)
    make_by_block_columns(ctx, a.transposed());
  else if constexpr (std::is_same_v<Matrix, Coo<T>>)
    op_ == Op::none ? make_by_rows(ctx, a, a.col_indices(), a.values())
                    : keep(ctx, op_, to_csr<T, std::int64_t>(ctx, a));
  else if constexpr (std::is_same_v<Matrix, CooAos<T>>)
    op_ == Op::none ? make_from_pairs(ctx, a) : keep(ctx, op_, to_csr<T, std::int64_t>(ctx, a));
  else if constexpr (requires { to_csr_without_zeros(ctx, a); })
    keep(ctx, op_, to_csr_without_zeros(ctx, a));
  else
    keep(ctx, op_, to_csr<T, std::int64_t>(ctx, a));
}

/// A is stored as its transpose.
template <class T>
void PlannedCsr<T>::make_by_columns(Context& ctx, const Csr<T>& transposed) {
  if (op_ == Op::none) return make_transpose(ctx, transposed, Op::transpose);
  point_to(transposed);
  if (op_ == Op::transpose || !is_complex<T>) return;
  unconjugated_ = &transposed.values();
  conjugated_ = Array<T>(transposed.nnz(), "plan values");
  conjugate(ctx);
  values_ = &conjugated_;
}

template <class T>
void PlannedCsr<T>::conjugate(Context& ctx) {
  if constexpr (is_complex<T>)
    ctx.dispatch([&](const auto& where) {
      run_pass(where, conjugated_.size(), Conjugate<kernel_t<T>>{unconjugated_->read(where), conjugated_.write(where)});
    });
}

template <class T>
void PlannedCsr<T>::make_by_block_columns(Context& ctx, const Bsr<T>& transposed) {
  Csr<T, std::int64_t> csr = to_csr_without_zeros(ctx, transposed);
  if (op_ == Op::transpose) return keep(ctx, Op::none, std::move(csr));
  keep(ctx, op_, transpose(ctx, csr));
}

template <class T>
void PlannedCsr<T>::make_by_rows(Context& ctx, const Coo<T>& a, const Array<std::int32_t>& col_indices,
                                 const Array<T>& values) {
  own_offsets_ = Array<std::int64_t>(a.rows() + std::int64_t{1}, "plan row_offsets");
  ctx.dispatch([&](const auto& where) {
    compress_rows(where, a.rows(), a.nnz(), a.row_indices().read(where), own_offsets_.write(where));
  });
  rows_ = a.rows(), cols_ = a.cols();
  row_offsets_ = &own_offsets_, col_indices_ = &col_indices, values_ = &values;
}

template <class T>
void PlannedCsr<T>::make_from_pairs(Context& ctx, const CooAos<T>& a) {
  const Coo<T> split = to_coo(ctx, a);
  own_columns_ = copy_of(ctx, split.col_indices());
  make_by_rows(ctx, split, own_columns_, a.values());
}

template <class T>
template <class Offset>
void PlannedCsr<T>::make_transpose(Context& ctx, const Csr<T, Offset>& a, Op with) {
  point_to(own_.template emplace<Transposed<T, Offset>>(Transposed<T, Offset>::of(ctx, a, with)).csr);
}

template <class T>
void PlannedCsr<T>::keep(Context& ctx, Op op, Csr<T, std::int64_t> csr) {
  point_to(own_.template emplace<Csr<T, std::int64_t>>(op == Op::none ? std::move(csr) : transpose(ctx, csr, op)));
}

template <class T>
template <class Offset>
void PlannedCsr<T>::point_to(const Csr<T, Offset>& csr) {
  rows_ = csr.rows(), cols_ = csr.cols();
  row_offsets_ = &csr.row_offsets(), col_indices_ = &csr.col_indices(), values_ = &csr.values();
}

template <class T>
bool PlannedCsr<T>::update(Context& ctx) {
  if (std::holds_alternative<Csr<T, std::int64_t>>(own_)) {
    std::visit([&](const auto& a) { make(ctx, a); }, *A_);
    return true;
  }
  if (unconjugated_) conjugate(ctx);
  if (auto* transposed = std::get_if<Transposed<T, std::int32_t>>(&own_)) transposed->update(ctx);
  if (auto* transposed = std::get_if<Transposed<T, std::int64_t>>(&own_)) transposed->update(ctx);
  return false;
}

template <class T>
std::size_t PlannedCsr<T>::bytes() const {
  const std::size_t sum = bytes_of(own_offsets_, own_columns_, conjugated_);
  return sum + std::visit(Overloaded{[](std::monostate) { return std::size_t{0}; },
                                     [](const auto& made) { return made.bytes(); }},
                          own_);
}

KRILL_INSTANTIATE(PlannedCsr);

}  // namespace krill::detail
