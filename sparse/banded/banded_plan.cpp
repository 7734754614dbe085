#include "sparse/banded/banded_plan.hpp"

#include <fmt/format.h>

#include "sparse/banded/division.hpp"
#include "sparse/banded/partition.hpp"
#include "sparse/banded/plan_parts.hpp"
#include "sparse/banded/row_passes.hpp"
#include "sparse/banded/weak_rows.hpp"
#include "sparse/banded/work.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/made_for.hpp"

namespace krill {

using namespace detail;
void detail::require_banded_solve(std::string_view what, const BandLayout& matrices, const BandLayout& vectors,
                                  int diagonals, BandedMethod method) {
  require_layout(what, matrices);
  require(diagonals == 3 || diagonals == 5, fmt::format("{}: {} diagonals, 3 or 5 are expected", what, diagonals));
  const auto number = static_cast<std::size_t>(method);
  require(number < banded_method_names.size(), fmt::format("{}: there is no method {}", what, number));
  require_layout(fmt::format("{}, vectors", what), vectors);
  require(matrices.rows == vectors.rows,
          fmt::format("{}: vectors of {} rows for matrices of {}", what, vectors.rows, matrices.rows));
  require(matrices.batch == vectors.batch || matrices.batch == 1,
          fmt::format("{}: {} vectors for {} matrices; as many are needed, or one matrix", what, vectors.batch,
                      matrices.batch));
}

namespace {

template <class T>
std::int64_t workspace_entries(bool on_cuda, const BandLayout& layout, int diagonals, BandedMethod method) {
  const BandDivision division = division_of(on_cuda, layout, diagonals, method);
  if (layout.rows == 1) return 0;
  if (division == BandDivision::chunks)
    return partition_work(make_partition(layout, diagonals, sizeof(T)), layout.batch);
  const int above = entries_above(diagonals, method);
  const BandEnds ends = ends_of(division, layout.rows, diagonals);
  if (on_cuda && kept_in_shared(ends.count(ends.number - 1), above, sizeof(T))) return 0;
  return layout.unknowns() * (above + (on_cuda && !layout.is_interleaved() ? 1 : 0));
}

}  // namespace

template <class T>
BandedPlan<T>::BandedPlan(Context& ctx, const BandLayout& matrices, const BandLayout& vectors, int diagonals,
                          BandedMethod method, Op op)
    : layout_(matrices),
      vectors_(vectors),
      diagonals_(diagonals),
      method_(method == BandedMethod::automatic ? BandedMethod::lu : method),
      op_(op),
      on_cuda_(ctx.on_cuda()) {
  require_banded_solve("banded plan", matrices, vectors, diagonals, method);
  workspace_ = Array<T>(workspace_entries<T>(on_cuda_, vectors, diagonals, method_), "workspace of a banded solve");
  zero_rows_ = Array<std::int32_t>(std::vector<std::int32_t>(static_cast<std::size_t>(vectors.batch), no_row),
                                   "rows of zero pivots");
  ctx.dispatch([&](const auto& where) { workspace_.write(where), zero_rows_.update(where); });
}

template <class T>
BandedPlan<T>::BandedPlan(Context& ctx, const Banded<T>& A, BandedMethod method, Op op)
    : BandedPlan(ctx, A.layout(), A.diagonals(), method == BandedMethod::automatic ? method_for(ctx, A) : method, op) {}

template <class T>
HeldMemory BandedPlan<T>::memory(MemoryLedger& ledger, const BandLayout& vectors, int diagonals, BandedMethod method) {
  require_banded_solve("banded plan", vectors, vectors, diagonals, method);
  HeldMemory kept = ledger.hold<T>(workspace_entries<T>(ledger.on_cuda(), vectors, diagonals, method));
  kept += ledger.hold<std::int32_t>(vectors.batch);
  return kept;
}

template <class T>
Work BandedPlan<T>::work() const {
  return banded_work<T>(layout_, vectors_, diagonals_, method_);
}

template <class T>
void BandedPlan<T>::solve(Context& ctx, const Banded<T>& A, const Array<T>& b, Array<T>& x) {
  require_size("banded plan: b", b.size(), vectors_.extent());
  require_size("banded plan: x", x.size(), vectors_.extent());
  run(ctx, layout_, A, b, x);
}

template <class T>
void BandedPlan<T>::solve(Context& ctx, const Banded<T>& A, const Dense<T>& B, Dense<T>& X) {
  require(columns_of(B) == vectors_ && columns_of(X) == vectors_,
          "banded plan: B or X has another layout than the vectors that the plan was made for");
  run(ctx, layout_, A, B.values(), X.values());
}

template <class T>
void BandedPlan<T>::run(Context& ctx, const BandLayout& of_A, const Banded<T>& A, const Array<T>& b, Array<T>& x) {
  require_made_for(ctx, on_cuda_, "banded plan");
  require_same_matrices("banded plan", A, of_A, diagonals_);
  for (int k = -diagonals_ / 2; k <= diagonals_ / 2; ++k)
    require_disjoint("banded plan: x and a band of the matrix", A.band(k), x);
  ctx.dispatch([&](const auto& where) {
    auto a = A.view(where);
    a.layout = layout_;
    if (layout_.batch < vectors_.batch) a.layout = {layout_.rows, vectors_.batch, layout_.row_stride, 0};
    if (op_ != Op::none) a = transposed(a);
    const bool conjugated = op_ == Op::adjoint;
    const auto* from = b.read(where);
    const bool keeps_some = vectors_.unknowns() < x.size();
    auto* to = &b == &x || keeps_some ? x.update(where) : x.write(where);
    auto* const workspace = workspace_.write(where);
    auto* const zero_rows = zero_rows_.update(where);
    if (vectors_.rows == 1)
      return run_pass(where, vectors_.batch,
                      DivideByDiagonal<kernel_t<T>>{a.layout, vectors_, a.d, conjugated, from, to, zero_rows});
    const BandDivision division = division_of(on_cuda_, vectors_, diagonals_, method_);
    if constexpr (std::is_same_v<std::decay_t<decltype(where)>, Cuda>)
      if (division == BandDivision::chunks)
        return run_partitioned(where, make_partition(vectors_, diagonals_, sizeof(T)), method_,
                               PartitionedSolve<kernel_t<T>>{a, conjugated, vectors_, from, to, workspace, zero_rows});
    BandedSolve<kernel_t<T>> all{a,         conjugated,
                                 vectors_,  from,
                                 to,        vectors_.compact(),
                                 workspace, nullptr,
                                 zero_rows, ends_of(division, vectors_.rows, diagonals_)};
    if (on_cuda_ && !vectors_.is_interleaved()) {  // neighboring threads write next to each other
      all.compact = BandLayout::interleaved(vectors_.rows, vectors_.batch);
      all.rhs = workspace + vectors_.unknowns() * entries_above(diagonals_, method_);
    }
    run_banded(where, diagonals_, method_, all);
  });
}

template <class T>
std::optional<BandedZeroPivot> BandedPlan<T>::zero_pivot() const {
  return first_zero_pivot(zero_rows_);
}

template <class T>
std::optional<std::int32_t> BandedPlan<T>::zero_pivot(std::int32_t system) const {
  require(0 <= system && system < vectors_.batch,
          fmt::format("banded plan: system {} of a batch of {}", system, vectors_.batch));
  return row_or_none(zero_rows_.host()[static_cast<std::size_t>(system)]);
}

KRILL_INSTANTIATE(BandedPlan);

}  // namespace krill
