#include "solvers/multigrid/small_levels.hpp"

#include "sparse/convert/lanes_of_rows.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/vector/vector.hpp"

namespace krill::detail {
namespace {

/// On an H200, levels of 12,600 and 1,100 rows take 63 us of a cycle in one kernel, and 54 in kernels of their own; one
/// of 5,300 rows with 320,000 entries 63 and 37: sixteen multiprocessors are too few for those.
struct Tuning {
  static constexpr std::int64_t max_rows = 10'000, max_entries = 60'000;
  static constexpr int entries_a_lane = 4;  ///< of a mean row. Not varied.
};

template <class Offset, class T>
const Csr<T, Offset>* csr_of(const AnyMatrix<T>* A) {
  return A ? std::get_if<Csr<T, Offset>>(A) : nullptr;
}
template <class T>
bool is_csr_matrix(const AnyMatrix<T>* A) {
  return csr_of<std::int32_t>(A) || csr_of<std::int64_t>(A);
}

template <class T>
bool is_small(const MultigridLevel<T>& level) {
  if (level.report.rows > Tuning::max_rows || level.report.entries > Tuning::max_entries) return false;
  if (level.dense) return true;
  if (!level.polynomial || !level.polynomial->takes_steps() || !is_csr_matrix(level.A.get())) return false;
  if (const auto* by_matrix = dynamic_cast<const MatrixTransfer<T>*>(level.transfer.get()))
    return is_csr_matrix(&by_matrix->prolongation()) && is_csr_matrix(&by_matrix->restriction());
  return level.transfer != nullptr;
}

template <class Offset, class T>
SmallLevel<kernel_t<T>, Offset> view_of(const Cuda& cuda, MultigridLevel<T>& level) {
  SmallLevel<kernel_t<T>, Offset> view;
  view.rows = static_cast<std::int32_t>(level.report.rows);
  view.b = level.b.update(cuda), view.x = level.x.write(cuda);
  if (level.dense) {
    view.dense = level.dense->inverse().read(cuda);
    return view;
  }
  const Csr<T, Offset>& A = *csr_of<Offset>(level.A.get());
  view.lanes = lanes_of_rows(A.nnz(), A.rows(), Tuning::entries_a_lane);
  view.a = A.view(cuda);
  const PolynomialSmoother<T>& smoother = *level.polynomial;
  view.degree = smoother.degree();
  view.inverse = smoother.inverse().read(cuda), view.factors = smoother.factors().read(cuda);
  const auto [r, next_r, d, next_d] = smoother.vectors(cuda);
  view.r = r, view.next_r = next_r, view.d = d, view.next_d = next_d;
  if (const auto* by_matrix = dynamic_cast<const MatrixTransfer<T>*>(level.transfer.get())) {
    view.p = csr_of<Offset>(&by_matrix->prolongation())->view(cuda);
    view.restriction = csr_of<Offset>(&by_matrix->restriction())->view(cuda);
    view.correction = std::real(by_matrix->factor());
  } else {
    const auto& by_aggregates = dynamic_cast<const AggregateTransfer<T>&>(*level.transfer);
    const Aggregates& aggregates = by_aggregates.aggregates();
    view.of_row = aggregates.of_row.read(cuda), view.offsets = aggregates.offsets.read(cuda);
    view.members = aggregates.rows.read(cuda);
    view.correction = static_cast<real_t<T>>(by_aggregates.factor());
  }
  return view;
}

}  // namespace

template <class T>
std::unique_ptr<SmallLevels<T>> SmallLevels<T>::of(Context& ctx, const MultigridLevels<T>& levels) {
  const bool has_cycles = ctx.dispatch([]<class Where>(const Where& where) {
    if constexpr (std::is_same_v<Where, Cuda>)
      return has_small_cycles<kernel_t<T>, std::int32_t>(where) && has_small_cycles<kernel_t<T>, std::int64_t>(where);
    return false;
  });
  if (!has_cycles || !levels.back()->dense) return nullptr;
  constexpr std::size_t most = SmallCycle<kernel_t<T>, std::int32_t>::max_levels;
  const std::size_t count = levels.size(), least = count > most ? count - most : 1;
  std::size_t first = count;
  while (first > least && is_small(*levels[first - 1])) --first;
  if (first + 1 >= count) return nullptr;  // none, or the last one alone
  return std::unique_ptr<SmallLevels>(new SmallLevels(levels, first));
}

template <class T>
void SmallLevels<T>::apply(Context& ctx) const {
  csr_of<std::int32_t>(levels_[first_]->A.get()) ? apply_in<std::int32_t>(ctx) : apply_in<std::int64_t>(ctx);
}

template <class T>
template <class Offset>
void SmallLevels<T>::apply_in(Context& ctx) const {
  ctx.dispatch([&]<class Where>(const Where& where) {
    if constexpr (std::is_same_v<Where, Cuda>) {
      SmallCycle<kernel_t<T>, Offset> cycle;
      for (std::size_t l = first_; l < levels_.size(); ++l)
        cycle.levels[cycle.count++] = view_of<Offset>(where, *levels_[l]);
      small_cycle(where, cycle);
    }
  });
}

KRILL_INSTANTIATE(SmallLevels);

}  // namespace krill::detail
