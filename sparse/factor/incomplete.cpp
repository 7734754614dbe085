#include "krill/sparse/factor/incomplete.hpp"

#include <algorithm>

#include "krill/sparse/convert/sort.hpp"
#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/factor/incomplete_passes.hpp"

namespace krill {
namespace {

/// Rows that a warp takes together on CUDA, a team of lanes each; none of a team's lanes has two entries.
std::int32_t rows_together(std::int32_t longest) { return longest <= 8 ? 4 : longest <= 16 ? 2 : 1; }
constexpr std::int32_t most_lanes = 32;

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
      diagonals_(A.rows(), "places of the diagonal"),
      mixed_(0, "mixed rows") {
  if (boost && kind == Factorization::ic0)
    throw InvalidArgument("incomplete factorisation: a boost of pivots is for ILU(0); shift the diagonal for IC(0)");
  Array<RowFacts> facts(1, "facts of rows");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, A.rows(),
             FindDiagonals<Offset>{pattern(where, A), kind == Factorization::ic0, diagonals_.write(where),
                                   facts.write(where)});
  });
  first_missing_ = facts.host()[0].missing, longest_ = facts.host()[0].longest;
  const std::int32_t together = rows_together(longest_);
  mixed_ = Array<std::uint8_t>(on_cuda_ ? detail::ceil_div(A.rows(), together) : 0, "mixed rows");
  ctx.dispatch([&](const auto& where) {
    if (on_cuda_)
      run_pass(where, mixed_.size(),
               FindMixed<Offset>{pattern(where, A), diagonals_.read(where), schedule_.order().read(where),
                                 schedule_.places().read(where), together, mixed_.write(where)});
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
  if (ctx.on_cuda() != on_cuda_)
    throw InvalidArgument(std::string("incomplete factor: it was made for ") +
                          (on_cuda_ ? "CUDA, make another one for the host" : "the host, make another one for CUDA"));
  ctx.dispatch([&](const auto& where) {
    run_pass(where, pivot_events, ClearEvents{events_.write(where)});
    FactorTask<kernel_t<T>, Offset> task;
    task.a = {matrix_.rows(),
              matrix_.cols(),
              matrix_.nnz(),
              matrix_.row_offsets().read(where),
              matrix_.col_indices().read(where),
              values.read(where)};
    task.to = matrix_.values().write(where);
    task.diagonals = diagonals_.read(where);
    task.order = schedule_.order().read(where);
    if (mixed_.size()) task.mixed = mixed_.read(where);
    task.rows_together = rows_together(longest_);
    task.has_long_rows = longest_ > most_lanes;
    task.diagonal_factor = 1 + shift;
    task.cholesky = kind_ == Factorization::ic0;
    if (boost_) {
      task.boosted = true, task.tolerance = boost_->tolerance;
      task.boost = std::bit_cast<kernel_t<T>>(boost_->value);
    }
    task.events = events_.update(where);
    if (matrix_.rows()) run_factorization(where, task);
  });
}

template <class T, class Offset>
std::size_t IncompleteFactor<T, Offset>::bytes() const {
  return matrix_.bytes() + schedule_.bytes() + detail::bytes_of(diagonals_, mixed_, places_, gathered_);
}

template <class T, class Offset>
std::optional<std::int32_t> IncompleteFactor<T, Offset>::found(std::int32_t row) const {
  return row == no_row ? std::nullopt : std::optional<std::int32_t>(row / block_dim_);
}

template <class T, class Offset>
std::optional<std::int32_t> IncompleteFactor<T, Offset>::structural_zero() const {
  return found(first_missing_);
}

template <class T, class Offset>
std::optional<std::int32_t> IncompleteFactor<T, Offset>::numerical_zero() const {
  return found(events_.host()[zero_pivot_event]);
}

template <class T, class Offset>
std::optional<std::int32_t> IncompleteFactor<T, Offset>::zero_pivot() const {
  return found(std::min(first_missing_, events_.host()[zero_pivot_event]));
}

template <class T, class Offset>
std::optional<std::int32_t> IncompleteFactor<T, Offset>::not_finite() const {
  return found(events_.host()[bad_pivot_event]);
}

template <class T, class Offset>
std::int32_t IncompleteFactor<T, Offset>::boosts() const {
  return events_.host()[boosted_pivots_event];
}

#define INSTANTIATE(T, Offset) template class IncompleteFactor<T, Offset>;
KRILL_FOR_SCALARS_AND_OFFSETS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
