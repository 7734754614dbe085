#include "sparse/banded/banded_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sparse/banded/partition.hpp"
#include "sparse/banded/work.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/made_for.hpp"

namespace krill {

using namespace detail;
namespace {

void require_known(const BandLayout& layout, int diagonals, BandedMethod method) {
  require_layout("banded plan", layout);
  require(diagonals == 3 || diagonals == 5, fmt::format("banded plan: {} diagonals, 3 or 5 are expected", diagonals));
  const auto number = static_cast<std::size_t>(method);
  require(number < banded_method_names.size(), fmt::format("banded plan: there is no method {}", number));
}

void require_vectors(const BandLayout& matrices, const BandLayout& vectors) {
  require_layout("banded plan, vectors", vectors);
  require(matrices.rows == vectors.rows,
          fmt::format("banded plan: vectors of {} rows for matrices of {}", vectors.rows, matrices.rows));
  require(matrices.batch == vectors.batch || matrices.batch == 1,
          fmt::format("banded plan: {} vectors for {} matrices; as many are needed, or one matrix", vectors.batch,
                      matrices.batch));
}

/// On CUDA systems are divided among threads, unless they are so short that a thread has one as quickly, or there are
/// so many that each thread can have one. Of systems one after the other that pays for the shortest, as neighbors do
/// not read what lies beside it, and where dividing takes the most arithmetic.
bool partitioned(bool on_cuda, const BandLayout& vectors, int diagonals, BandedMethod method) {
  using Tuning = BandThreadTuning;
  if (vectors.batch < Tuning::min_systems) return on_cuda && vectors.rows > Tuning::undivided_rows;
  return on_cuda && !vectors.is_interleaved() && vectors.rows > Tuning::short_rows_apart &&
         (diagonals == 3 || method == BandedMethod::thomas);
}

template <class T>
std::int64_t workspace_entries(bool on_cuda, const BandLayout& layout, int diagonals, BandedMethod method) {
  if (partitioned(on_cuda, layout, diagonals, method))
    return partition_work(make_partition(layout, diagonals, sizeof(T)), layout.batch);
  const int above = entries_above(diagonals, method);
  if (on_cuda && kept_in_shared(layout.rows, above, sizeof(T))) return 0;
  return layout.unknowns() * (above + (on_cuda && !layout.is_interleaved() ? 1 : 0));
}

/// The transposed matrices. What is outside of a band's memory is outside of the matrix.
template <class T>
BandedView<const T> transposed(const BandedView<const T>& a) {
  const std::int64_t row = a.layout.row_stride;
  BandedView<const T> t{a.layout, nullptr, a.du - row, a.d, a.dl + row};
  if (a.ds) t.ds = a.dw - 2 * row, t.dw = a.ds + 2 * row;
  return t;
}

}  // namespace

template <class T>
BandedPlan<T>::BandedPlan(Context& ctx, const BandLayout& matrices, const BandLayout& vectors, int diagonals,
                          BandedMethod method, Op op)
    : layout_(matrices), vectors_(vectors), diagonals_(diagonals), method_(method), op_(op), on_cuda_(ctx.on_cuda()) {
  require_known(matrices, diagonals, method);
  require_vectors(matrices, vectors);
  workspace_ = Array<T>(workspace_entries<T>(on_cuda_, vectors, diagonals, method), "workspace of a banded solve");
  zero_rows_ = Array<std::int32_t>(std::vector<std::int32_t>(static_cast<std::size_t>(vectors.batch), no_row),
                                   "rows of zero pivots");
  ctx.dispatch([&](const auto& where) { workspace_.write(where), zero_rows_.update(where); });
}

template <class T>
HeldMemory BandedPlan<T>::memory(MemoryLedger& ledger, const BandLayout& vectors, int diagonals, BandedMethod method) {
  require_known(vectors, diagonals, method);
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
  require(A.layout() == of_A, "banded plan: the matrices have another layout than the plan was made for");
  require(A.diagonals() == diagonals_,
          fmt::format("banded plan: matrices of {} diagonals, it was made for {}", A.diagonals(), diagonals_));
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
    if constexpr (std::is_same_v<std::decay_t<decltype(where)>, Cuda>)
      if (partitioned(true, vectors_, diagonals_, method_))
        return run_partitioned(where, make_partition(vectors_, diagonals_, sizeof(T)), method_,
                               PartitionedSolve<kernel_t<T>>{a, conjugated, vectors_, from, to, workspace, zero_rows});
    BandedSolve<kernel_t<T>> all{a, conjugated, vectors_, from, to, vectors_.compact(), workspace, nullptr, zero_rows};
    if (on_cuda_ && !vectors_.is_interleaved()) {  // neighboring threads write next to each other
      all.compact = BandLayout::interleaved(vectors_.rows, vectors_.batch);
      all.rhs = workspace + vectors_.unknowns() * entries_above(diagonals_, method_);
    }
    run_banded(where, diagonals_, method_, all);
  });
}

template <class T>
std::optional<BandedZeroPivot> BandedPlan<T>::zero_pivot() const {
  const auto rows = zero_rows_.host();
  const auto found = std::find_if(rows.begin(), rows.end(), [](std::int32_t row) { return row != no_row; });
  if (found == rows.end()) return std::nullopt;
  return BandedZeroPivot{static_cast<std::int32_t>(found - rows.begin()), *found};
}

template <class T>
std::optional<std::int32_t> BandedPlan<T>::zero_pivot(std::int32_t system) const {
  require(0 <= system && system < vectors_.batch,
          fmt::format("banded plan: system {} of a batch of {}", system, vectors_.batch));
  return row_or_none(zero_rows_.host()[static_cast<std::size_t>(system)]);
}

KRILL_INSTANTIATE(BandedPlan);

}  // namespace krill
