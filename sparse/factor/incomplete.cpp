#include "krill/sparse/factor/incomplete.hpp"

#include <algorithm>

#include "krill/sparse/convert/sort.hpp"
#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/core/made_for.hpp"
#include "krill/sparse/factor/incomplete_passes.hpp"

namespace krill {
namespace {

template <class Offset, class T>
Csr<T, Offset> entries_of(Context& ctx, const Bsr<T>& A) {
  require_size("incomplete factorisation: columns of a block", A.blocks().col_dim, A.blocks().row_dim);
  return to_csr<T, Offset>(ctx, A);
}

template <class T, class Offset>
LevelSchedule scheduled(Context& ctx, const Csr<T, Offset>& A) {
  require_size("incomplete factorisation: columns of the matrix", A.cols(), A.rows());
  if (!ctx.on_cuda()) return {ctx, A.rows(), Fill::lower};
  return {ctx, A.row_offsets(), A.col_indices(), Fill::lower};
}

}  // namespace

template <class T, class Offset>
IncompleteFactor<T, Offset>::IncompleteFactor(Analysis, Context& ctx, const Csr<T, Offset>& A, Factorization kind,
                                              std::optional<PivotBoost<T>> boost)
    : kind_(kind),
      boost_(boost),
      on_cuda_(ctx.on_cuda()),
      schedule_(scheduled(ctx, A)),
      matrix_(A.cols(), copy_of(ctx, A.row_offsets()), copy_of(ctx, A.col_indices()), Array<T>(A.nnz(), "factor")),
      diagonals_(A.rows(), "places of the diagonal") {
  require_lu(boost, kind);
  Array<LeastRow> missing(1, "first row without a diagonal");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, A.rows(), FindDiagonals<Offset>{pattern(where, A), diagonals_.write(where), missing.write(where)});
  });
  first_missing_ = missing.host()[0].row;
  if (on_cuda_ && A.rows() > 0) find_items(ctx);
}

template <class T, class Offset>
void IncompleteFactor<T, Offset>::find_items(Context& ctx) {
  const std::int32_t rows = matrix_.rows();
  const auto whole = [&](const auto& where) {
    return FactorPattern<Offset>{pattern(where, matrix_), diagonals_.read(where), kind_ == Factorization::ic0};
  };
  const std::int64_t nnz = matrix_.nnz();
  Array<std::int32_t> row_indices(nnz, "row_indices"), items_of_rows(rows, "items of rows");
  Array<std::uint8_t> counts(nnz, "items of entries");
  Array<ItemFacts> facts(1, "facts of items");
  ctx.dispatch([&](const auto& where) {
    expand_offsets(where, rows, nnz, matrix_.row_offsets().read(where), row_indices.write(where));
    run_pass(where, nnz, CountItems<Offset>{whole(where), row_indices.read(where), counts.write(where)});
    run_pass(where, rows,
             AddItems<Offset>{whole(where), schedule_.order().read(where), counts.read(where),
                              items_of_rows.write(where), facts.write(where)});
  });
  has_long_rows_ = facts.host()[0].long_rows > 0;
  lanes_ = factor_lanes(facts.host()[0], rows, sizeof(T));
  most_items_ = facts.host()[0].most;
  room_ = facts.host()[0].longest | 1;  // odd, so that rows lie in different banks
  const std::int64_t slices = detail::ceil_div(rows, 32 / lanes_);
  Array<std::int64_t> item_lengths(slices, "items of slices"), shown_lengths(slices, "shown by slices"),
      shown(slices + 1, "where slices show");
  slices_ = Array<std::int64_t>(slices + 1, "slices of items");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, slices,
             LaySlices<Offset>{whole(where), schedule_.order().read(where), items_of_rows.read(where), lanes_,
                               item_lengths.write(where), shown_lengths.write(where)});
    scan_counts(where, slices, item_lengths.read(where), slices_.write(where));
    scan_counts(where, slices, shown_lengths.read(where), shown.write(where));
  });
  const std::int64_t items = last_offset(ctx, slices_);
  shown_ = last_offset(ctx, shown);
  require_offsets_fit<Offset>(shown_);
  rows_ = Array<FactorRow<Offset>>(rows, "rows in order");
  gates_ = Array<Offset>(slices, "gates");
  positions_ = Array<Offset>(items, "positions of items");
  codes_ = Array<std::uint8_t>(items, "codes of items");
  ctx.dispatch([&](const auto& where) {
    const std::int32_t* level_offsets = schedule_.offsets().read(where);
    run_pass(where, slices,
             FillRows<Offset>{whole(where), schedule_.order().read(where), items_of_rows.read(where), level_offsets,
                              schedule_.levels(), lanes_, shown.read(where), rows_.write(where)});
    run_pass(where, slices,
             FindGates<Offset>{whole(where), rows_.read(where), level_offsets, schedule_.levels(), lanes_,
                               gates_.write(where)});
    run_pass(where, nnz,
             FillItems<Offset>{whole(where), row_indices.read(where), counts.read(where), rows_.read(where),
                               schedule_.places().read(where), lanes_, slices_.read(where), positions_.write(where),
                               codes_.write(where)});
  });
}

template <class T, class Offset>
IncompleteFactor<T, Offset> IncompleteFactor<T, Offset>::analyze(Context& ctx, const Csr<T, Offset>& A,
                                                                 Factorization kind,
                                                                 std::optional<PivotBoost<T>> boost) {
  return {Analysis{}, ctx, A, kind, boost};
}

template <class T, class Offset>
IncompleteFactor<T, Offset>::IncompleteFactor(Context& ctx, const Csr<T, Offset>& A, Factorization kind,
                                              std::optional<PivotBoost<T>> boost)
    : IncompleteFactor(Analysis{}, ctx, A, kind, boost) {
  update(ctx, A);
}

template <class T, class Offset>
IncompleteFactor<T, Offset>::IncompleteFactor(Context& ctx, const Bsr<T>& A, Factorization kind,
                                              std::optional<PivotBoost<T>> boost)
    : IncompleteFactor(ctx, entries_of<Offset>(ctx, A), kind, boost, A) {}

template <class T, class Offset>
IncompleteFactor<T, Offset>::IncompleteFactor(Context& ctx, const Csr<T, Offset>& entries, Factorization kind,
                                              std::optional<PivotBoost<T>> boost, const Bsr<T>& A)
    : IncompleteFactor(ctx, entries, kind, boost) {
  block_dim_ = A.blocks().row_dim;
  places_ = places_in_blocks(ctx, A, entries);
}

template <class T, class Offset>
void IncompleteFactor<T, Offset>::update(Context& ctx, const Csr<T, Offset>& A, double shift) {
  require_size("incomplete factorisation: entries of the matrix", A.nnz(), matrix_.nnz());
  run(ctx, A.values(), shift);
}

template <class T, class Offset>
void IncompleteFactor<T, Offset>::update(Context& ctx, const Bsr<T>& A, double shift) {
  require_size("incomplete factorisation: rows of the matrix", A.rows(), matrix_.rows());
  require_size("incomplete factorisation: columns of a block", A.blocks().row_dim, block_dim_);
  require_size("incomplete factorisation: entries of its blocks", places_.size(), matrix_.nnz());
  if (gathered_.size() != matrix_.nnz()) gathered_ = Array<T>(matrix_.nnz(), "values out of blocks");
  ctx.dispatch([&](const auto& where) {
    apply_permutation(where, matrix_.nnz(), A.values().read(where), places_.read(where), gathered_.write(where));
  });
  run(ctx, gathered_, shift);
}

template <class T, class Offset>
void IncompleteFactor<T, Offset>::store(Context& ctx, Bsr<T>& factor) const {
  require_size("incomplete factorisation: rows of the matrix", factor.rows(), matrix_.rows());
  require_size("incomplete factorisation: columns of a block", factor.blocks().row_dim, block_dim_);
  require_size("incomplete factorisation: entries of its blocks", places_.size(), matrix_.nnz());
  ctx.dispatch([&](const auto& where) {
    apply_inverse_permutation(where, matrix_.nnz(), matrix_.values().read(where), places_.read(where),
                              factor.values().update(where));
  });
}

template <class T, class Offset>
void IncompleteFactor<T, Offset>::run(Context& ctx, const Array<T>& values, double shift) {
  require_made_for(ctx, on_cuda_, "incomplete factor");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, pivot_events, ClearEvents{events_.write(where)});
    FactorTask<kernel_t<T>, Offset> task;
    task.p = {pattern(where, matrix_), diagonals_.read(where), kind_ == Factorization::ic0};
    task.values = values.read(where);
    task.to = matrix_.values().write(where);
    task.diagonal_factor = 1 + shift;
    if (on_cuda_)
      task.items = {lanes_,
                    room_,
                    most_items_,
                    shown_,
                    has_long_rows_,
                    rows_.read(where),
                    schedule_.places().read(where),
                    slices_.read(where),
                    gates_.read(where),
                    positions_.read(where),
                    codes_.read(where)};
    task.boost = for_kernels(boost_);
    task.events = events_.update(where);
    if (matrix_.rows()) run_factorization(where, task);
  });
}

template <class T, class Offset>
std::size_t IncompleteFactor<T, Offset>::bytes() const {
  return matrix_.bytes() + schedule_.bytes() +
         detail::bytes_of(diagonals_, places_, gathered_, rows_, slices_, gates_, positions_, codes_);
}

template <class T, class Offset>
std::optional<std::int32_t> IncompleteFactor<T, Offset>::structural_zero() const {
  return row_or_none(first_missing_, block_dim_);
}

template <class T, class Offset>
std::optional<std::int32_t> IncompleteFactor<T, Offset>::numerical_zero() const {
  return row_or_none(events_.host()[zero_pivot_event], block_dim_);
}

template <class T, class Offset>
std::optional<std::int32_t> IncompleteFactor<T, Offset>::zero_pivot() const {
  return row_or_none(std::min(first_missing_, events_.host()[zero_pivot_event]), block_dim_);
}

template <class T, class Offset>
std::optional<std::int32_t> IncompleteFactor<T, Offset>::not_finite() const {
  return row_or_none(events_.host()[bad_pivot_event], block_dim_);
}

template <class T, class Offset>
std::int32_t IncompleteFactor<T, Offset>::boosts() const {
  return events_.host()[boosted_pivots_event];
}

#define INSTANTIATE(T, Offset) template class IncompleteFactor<T, Offset>;
KRILL_FOR_SCALARS_AND_OFFSETS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
