#include "krill/sparse/inverse/sparse_inverse.hpp"

#include <fmt/format.h>

#include <limits>

#include "krill/sparse/convert/structure.hpp"
#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/core/made_for.hpp"
#include "krill/sparse/inverse/sparse_inverse_passes.hpp"
#include "krill/sparse/triangular/levels.hpp"

namespace krill {

template <class T, class Offset>
SparseInverse<T, Offset>::SparseInverse(Analysis, Context& ctx, const Csr<T, Offset>& A, InverseForm form,
                                        std::int32_t most_entries)
    : form_(form),
      on_cuda_(ctx.on_cuda()),
      a_nnz_(A.nnz()),
      matrix_(A.cols(), Array<Offset>(1), Array<std::int32_t>(), Array<T>()),
      outcomes_(A.rows(), "outcomes of rows") {
  require_size("sparse inverse: columns of the matrix", A.cols(), A.rows());
  if (most_entries < 1 || most_entries > most_inverse_entries)
    throw InvalidArgument(fmt::format("sparse inverse: rows of at most {} entries; from 1 to {} are possible",
                                      most_entries, most_inverse_entries));
  const std::int32_t rows = A.rows();
  Array<Offset> begins(rows, "begins of rows");
  Array<std::int32_t> classes(rows, "classes of rows");
  Array<InverseFacts> facts(1, "facts of an inverse");
  auto offsets = scanned<Offset>(ctx, rows, "inverse row_offsets", [&](const auto& where, Offset* counts) {
    run_pass(where, rows,
             CountInverse<Offset>{pattern(where, A), form == InverseForm::factored, most_entries, begins.write(where),
                                  counts, classes.write(where), facts.write(where)});
  });
  const InverseFacts found = facts.host()[0];
  first_missing_ = found.missing, longest_ = found.longest, shortened_ = found.shortened;
  const std::int64_t nnz = last_offset(ctx, offsets);
  Array<std::int32_t> columns(nnz, "inverse col_indices");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, rows,
             InverseColumns<Offset>{pattern(where, A), begins.read(where), offsets.read(where), columns.write(where)});
  });
  matrix_ = {rows, std::move(offsets), std::move(columns), Array<T>(nnz, "inverse")};
  if (!on_cuda_ || rows == 0) return;
  for (std::size_t c = 0; c < inverse_classes; ++c) class_offsets_[c + 1] = class_offsets_[c] + found.in_class[c];
  order_ = Array<std::int32_t>(rows, "rows by length");
  Array<std::int32_t> sorted(rows, "sorted classes");
  ctx.dispatch([&](const auto& where) {
    sort_by_depth(where, Steps{rows}, inverse_classes, classes.read(where), sorted.write(where), order_.write(where));
  });
}

template <class T, class Offset>
SparseInverse<T, Offset>::SparseInverse(Context& ctx, const Csr<T, Offset>& A, InverseForm form,
                                        std::int32_t most_entries)
    : SparseInverse(Analysis{}, ctx, A, form, most_entries) {
  update(ctx, A);
}

template <class T, class Offset>
SparseInverse<T, Offset> SparseInverse<T, Offset>::analyze(Context& ctx, const Csr<T, Offset>& A, InverseForm form,
                                                           std::int32_t most_entries) {
  return {Analysis{}, ctx, A, form, most_entries};
}

template <class T, class Offset>
void SparseInverse<T, Offset>::update(Context& ctx, const Csr<T, Offset>& A) {
  require_made_for(ctx, on_cuda_, "sparse inverse");
  require_size("sparse inverse: rows of the matrix", A.rows(), matrix_.rows());
  require_size("sparse inverse: entries of the matrix", A.nnz(), a_nnz_);
  ctx.dispatch([&](const auto& where) {
    InverseTask<kernel_t<T>, Offset> task;
    task.a = A.view(where);
    task.factored = form_ == InverseForm::factored;
    task.offsets = matrix_.row_offsets().read(where);
    task.columns = matrix_.col_indices().read(where);
    task.values = matrix_.values().write(where);
    task.outcomes = outcomes_.write(where);
    task.longest = longest_;
    if (order_.size()) task.order = order_.read(where);
    task.class_offsets = class_offsets_;
    solve_inverse(where, task);
    run_pass(where, A.rows(), FindBadInverses{outcomes_.read(where), bad_rows_.write(where)});
  });
}

template <class T, class Offset>
std::size_t SparseInverse<T, Offset>::bytes() const {
  return matrix_.bytes() + detail::bytes_of(outcomes_, order_);
}

template <class T, class Offset>
std::optional<std::int32_t> SparseInverse<T, Offset>::structural_zero() const {
  return row_or_none(first_missing_);
}

template <class T, class Offset>
std::optional<std::int32_t> SparseInverse<T, Offset>::singular() const {
  return row_or_none(bad_rows_.host()[singular_inverse]);
}

template <class T, class Offset>
std::optional<std::int32_t> SparseInverse<T, Offset>::not_finite() const {
  return row_or_none(bad_rows_.host()[not_finite_inverse]);
}

template <class T, class Offset>
std::optional<std::int32_t> first_not_hermitian(Context& ctx, const Csr<T, Offset>& A) {
  require_size("first_not_hermitian: columns of the matrix", A.cols(), A.rows());
  constexpr double eps = std::numeric_limits<real_t<T>>::epsilon();
  Array<LeastRow> first(1, "first row that is not Hermitian");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, A.rows(), FindNotHermitian<kernel_t<T>, Offset>{A.view(where), eps, first.write(where)});
  });
  return row_or_none(first.host()[0].row);
}

#define INSTANTIATE(T, Offset)             \
  template class SparseInverse<T, Offset>; \
  template std::optional<std::int32_t> first_not_hermitian(Context&, const Csr<T, Offset>&);
KRILL_FOR_SCALARS_AND_OFFSETS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
