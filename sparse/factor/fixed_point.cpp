#include "sparse/factor/fixed_point.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sparse/core/instantiate.hpp"
#include "sparse/core/made_for.hpp"
#include "sparse/factor/fixed_point_passes.hpp"
#include "sparse/triangular/layout_sizes.hpp"

namespace krill {

using namespace detail;
namespace {

template <class T, class Offset>
void require_square(const Csr<T, Offset>& A) {
  require_size("factorization by sweeps: columns of the matrix", A.cols(), A.rows());
}

/// Offsets of what each row of `a` has up to its diagonal.
template <class T, class Offset>
Array<Offset> part_offsets(Context& ctx, const Csr<T, Offset>& a, bool with_diagonal, const char* name) {
  return scanned<Offset>(ctx, a.rows(), name, [&](const auto& where, Offset* counts) {
    run_pass(where, a.rows(), CountPart<Offset>{pattern(where, a), with_diagonal, counts});
  });
}

}  // namespace

template <class T, class Offset>
FixedPointFactor<T, Offset>::FixedPointFactor(Analysis, Context& ctx, const Csr<T, Offset>& A, Factorization kind,
                                              std::int32_t sweeps, std::optional<PivotBoost<T>> boost)
    : kind_(kind),
      sweeps_(sweeps),
      boost_(boost),
      on_cuda_(ctx.on_cuda()),
      matrix_((require_square(A), A.cols()), copy_of(ctx, A.row_offsets()), copy_of(ctx, A.col_indices()),
              Array<T>(A.nnz(), "factor")) {
  if (sweeps < 1)
    throw InvalidArgument(fmt::format("factorization by sweeps: {} sweeps, 1 or more are needed", sweeps));
  require_lu(boost, kind);
  const bool lu = kind == Factorization::ilu0;
  Array<Offset> diagonals(A.rows(), "places of the diagonal");
  Array<FirstRow> missing(1, "first row without a diagonal");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, A.rows(), FindDiagonals<Offset>{pattern(where, A), diagonals.write(where), missing.write(where)});
  });
  first_missing_ = missing.host()[0].row;

  Array<Offset> permutation(0, "permutation");
  std::optional<Csr<T, Offset>> turned;
  if (lu) turned = transpose(ctx, A, Op::transpose, &permutation);
  left_ = part_offsets(ctx, A, !lu, "rows of L");
  lower_ = last_offset(ctx, left_);
  if (lu) right_ = part_offsets(ctx, *turned, true, "columns of U");
  const std::int64_t count = lower_ + (lu ? last_offset(ctx, right_) : 0);
  rows_ = Array<std::int32_t>(count, "rows of entries");
  cols_ = Array<std::int32_t>(count, "columns of entries");
  sources_ = Array<Offset>(count, "places of entries");
  ctx.dispatch([&](const auto& where) {
    std::int32_t *rows = rows_.write(where), *cols = cols_.write(where);
    Offset* sources = sources_.write(where);
    run_pass(where, A.rows(), FillPart<Offset>{pattern(where, A), nullptr, left_.read(where), rows, cols, sources});
    if (lu)
      run_pass(where, A.rows(),
               FillPart<Offset>{pattern(where, *turned), permutation.read(where), right_.read(where), rows + lower_,
                                cols + lower_, sources + lower_});
  });
}

template <class T, class Offset>
HeldMemory FixedPointFactor<T, Offset>::memory(MemoryLedger& ledger, const Csr<T, Offset>& A, Factorization kind) {
  const bool lu = kind == Factorization::ilu0;
  HeldMemory kept = csr_memory(ledger, A);
  const std::int64_t count = count_entries(A, Fill::lower) + A.rows() + (lu ? count_entries(A, Fill::upper) : 0);
  {
    const HeldMemory diagonals = ledger.hold<Offset>(A.rows());
    const HeldMemory turned = lu ? transpose_memory(ledger, CsrSizes::of(A), true) : HeldMemory();
    for (int part = 0; part < (lu ? 2 : 1); ++part) kept += ledger.hold<Offset>(A.rows() + std::int64_t{1});
    kept += ledger.hold<std::int32_t>(2 * count);
    kept += ledger.hold<Offset>(count);
  }
  const std::size_t values = static_cast<std::size_t>(count) * sizeof(T);
  ledger.scratch({values, values, values});
  return kept;
}

template <class T, class Offset>
FixedPointFactor<T, Offset> FixedPointFactor<T, Offset>::analyze(Context& ctx, const Csr<T, Offset>& A,
                                                                 Factorization kind, std::int32_t sweeps,
                                                                 std::optional<PivotBoost<T>> boost) {
  return {Analysis{}, ctx, A, kind, sweeps, boost};
}

template <class T, class Offset>
FixedPointFactor<T, Offset>::FixedPointFactor(Context& ctx, const Csr<T, Offset>& A, Factorization kind,
                                              std::int32_t sweeps, std::optional<PivotBoost<T>> boost)
    : FixedPointFactor(Analysis{}, ctx, A, kind, sweeps, boost) {
  update(ctx, A);
}

template <class T, class Offset>
void FixedPointFactor<T, Offset>::require_like(const Context& ctx, const Csr<T, Offset>& A) const {
  require_size("factorization by sweeps: entries of the matrix", A.nnz(), matrix_.nnz());
  require_made_for(ctx, on_cuda_, "factor by sweeps");
}

template <class T, class Offset>
template <class Where>
Unknowns<Offset> FixedPointFactor<T, Offset>::unknowns(const Where& where) const {
  const bool cholesky = kind_ == Factorization::ic0;
  const std::int32_t *rows = rows_.read(where), *cols = cols_.read(where);
  const Offset* left = left_.read(where);
  return {rows_.size(),
          static_cast<Offset>(lower_),
          static_cast<Offset>(cholesky ? 0 : lower_),
          cholesky,
          left,
          cholesky ? left : right_.read(where),
          rows,
          cols,
          cholesky ? cols : rows,
          sources_.read(where)};
}

template <class T, class Offset>
void FixedPointFactor<T, Offset>::update(Context& ctx, const Csr<T, Offset>& A, double shift) {
  sweep(ctx, A, nullptr, shift);
}

template <class T, class Offset>
void FixedPointFactor<T, Offset>::refine(Context& ctx, const Csr<T, Offset>& A, const Array<T>& from, double shift) {
  require_size("factorization by sweeps: values to begin with", from.size(), matrix_.nnz());
  sweep(ctx, A, &from, shift);
}

template <class T, class Offset>
void FixedPointFactor<T, Offset>::sweep(Context& ctx, const Csr<T, Offset>& A, const Array<T>* begin, double shift) {
  require_like(ctx, A);
  ctx.dispatch([&](const auto& where) {
    using K = kernel_t<T>;
    const Unknowns<Offset> all = unknowns(where);
    const auto n = static_cast<std::size_t>(all.count);
    Frame frame(where);
    K *a = frame.take<K>(n), *from = frame.take<K>(n), *to = frame.take<K>(n);
    const Boost<K> boost = for_kernels(boost_);
    const K* values = A.values().read(where);
    if (begin)
      run_pass(where, all.count, GatherFactor<K, Offset>{all, values, begin->read(where), 1 + shift, a, from});
    else
      run_pass(where, all.count, FirstGuess<K, Offset>{all, values, 1 + shift, boost, a, from});
    for (std::int32_t sweep = 0; sweep < sweeps_; ++sweep) {
      run_pass(where, all.count, FactorSweep<K, Offset>{all, boost, a, from, to});
      std::swap(from, to);
    }
    K* factor = matrix_.values().write(where);
    if (all.cholesky) run_pass(where, matrix_.nnz(), CopyEntries<K>{values, factor});
    run_pass(where, all.count, StoreFactor<K, Offset>{all, boost, a, from, factor, events_.write(where)});
  });
}

template <class T, class Offset>
double FixedPointFactor<T, Offset>::residual_norm(Context& ctx, const Csr<T, Offset>& A, double shift) const {
  require_like(ctx, A);
  Array<double> sum(1, "squared norm");
  ctx.dispatch([&](const auto& where) {
    using K = kernel_t<T>;
    const Unknowns<Offset> all = unknowns(where);
    const auto n = static_cast<std::size_t>(all.count);
    Frame frame(where);
    K *a = frame.take<K>(n), *v = frame.take<K>(n);
    run_pass(where, all.count,
             GatherFactor<K, Offset>{all, A.values().read(where), matrix_.values().read(where), 1 + shift, a, v});
    run_pass(where, all.count, FactorResidual<K, Offset>{all, a, v, sum.write(where)});
  });
  return std::sqrt(sum.host()[0]);
}

template <class T, class Offset>
std::size_t FixedPointFactor<T, Offset>::bytes() const {
  return matrix_.bytes() + detail::bytes_of(left_, right_, rows_, cols_, sources_);
}

template <class T, class Offset>
std::optional<std::int32_t> FixedPointFactor<T, Offset>::structural_zero() const {
  return row_or_none(first_missing_);
}

template <class T, class Offset>
std::optional<std::int32_t> FixedPointFactor<T, Offset>::numerical_zero() const {
  return row_or_none(events_.host()[zero_pivot_event]);
}

template <class T, class Offset>
std::optional<std::int32_t> FixedPointFactor<T, Offset>::zero_pivot() const {
  return row_or_none(std::min(first_missing_, events_.host()[zero_pivot_event]));
}

template <class T, class Offset>
std::optional<std::int32_t> FixedPointFactor<T, Offset>::not_finite() const {
  return row_or_none(events_.host()[bad_pivot_event]);
}

template <class T, class Offset>
std::int32_t FixedPointFactor<T, Offset>::boosts() const {
  return events_.host()[boosted_pivots_event];
}

KRILL_INSTANTIATE_WITH_OFFSETS(FixedPointFactor);

}  // namespace krill
