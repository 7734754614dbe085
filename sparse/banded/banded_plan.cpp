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
  require(diagonals == 3 || method == BandedMethod::qr,
          fmt::format("banded plan: {} takes three diagonals; use qr for five", banded_method_names[number]));
}

/// On CUDA systems of three diagonals are divided among threads, of five not.
bool partitioned(bool on_cuda, int diagonals) { return on_cuda && diagonals == 3; }

template <class T>
std::int64_t workspace_entries(bool on_cuda, const BandLayout& layout, int diagonals, BandedMethod method) {
  return partitioned(on_cuda, diagonals) ? partition_work(make_partition(layout, sizeof(T)), layout.batch)
                                         : layout.unknowns() * entries_above(diagonals, method);
}

}  // namespace

template <class T>
BandedPlan<T>::BandedPlan(Context& ctx, const BandLayout& layout, int diagonals, BandedMethod method)
    : layout_(layout), diagonals_(diagonals), method_(method), on_cuda_(ctx.on_cuda()) {
  require_known(layout, diagonals, method);
  workspace_ = Array<T>(workspace_entries<T>(on_cuda_, layout, diagonals, method), "workspace of a banded solve");
  zero_rows_ = Array<std::int32_t>(std::vector<std::int32_t>(static_cast<std::size_t>(layout.batch), no_row),
                                   "rows of zero pivots");
  ctx.dispatch([&](const auto& where) { workspace_.write(where), zero_rows_.update(where); });
}

template <class T>
HeldMemory BandedPlan<T>::memory(MemoryLedger& ledger, const BandLayout& layout, int diagonals, BandedMethod method) {
  require_known(layout, diagonals, method);
  HeldMemory kept = ledger.hold<T>(workspace_entries<T>(ledger.on_cuda(), layout, diagonals, method));
  kept += ledger.hold<std::int32_t>(layout.batch);
  return kept;
}

template <class T>
Work BandedPlan<T>::work() const {
  return banded_work<T>(layout_, diagonals_, method_);
}

template <class T>
void BandedPlan<T>::solve(Context& ctx, const Banded<T>& A, const Array<T>& b, Array<T>& x) {
  require_made_for(ctx, on_cuda_, "banded plan");
  require(A.layout() == layout_, "banded plan: the matrices have another layout than the plan was made for");
  require(A.diagonals() == diagonals_,
          fmt::format("banded plan: matrices of {} diagonals, it was made for {}", A.diagonals(), diagonals_));
  require_size("banded plan: b", b.size(), layout_.extent());
  require_size("banded plan: x", x.size(), layout_.extent());
  for (int k = -diagonals_ / 2; k <= diagonals_ / 2; ++k)
    require_disjoint("banded plan: x and a band of the matrix", A.band(k), x);
  ctx.dispatch([&](const auto& where) {
    const auto a = A.view(where);
    const auto* from = b.read(where);
    auto* to = &b == &x || layout_.padded() ? x.update(where) : x.write(where);
    auto* const workspace = workspace_.write(where);
    auto* const zero_rows = zero_rows_.update(where);
    if constexpr (std::is_same_v<std::decay_t<decltype(where)>, Cuda>)
      if (partitioned(true, diagonals_))
        return run_partitioned(where, make_partition(layout_, sizeof(T)), method_,
                               PartitionedSolve<kernel_t<T>>{a, layout_, from, to, workspace, zero_rows});
    run_banded(where, diagonals_, method_,
               BandedSolve<kernel_t<T>>{a, from, to, layout_.compact(), workspace, zero_rows});
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
  require(0 <= system && system < layout_.batch,
          fmt::format("banded plan: system {} of a batch of {}", system, layout_.batch));
  return row_or_none(zero_rows_.host()[static_cast<std::size_t>(system)]);
}

KRILL_INSTANTIATE(BandedPlan);

}  // namespace krill
