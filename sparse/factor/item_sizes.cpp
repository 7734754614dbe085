#include "krill/sparse/factor/item_sizes.hpp"

#include <vector>

#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/factor/incomplete_passes.hpp"
#include "krill/sparse/triangular/levels.hpp"

namespace krill {

template <class T, class Offset>
ItemSizes count_items(Context& host, const Csr<T, Offset>& A, bool cholesky) {
  const LevelSchedule schedule(host, A.row_offsets(), A.col_indices(), Fill::lower);
  const std::int32_t n = A.rows();
  const auto a = krill::pattern(host.host_tag(), A);
  std::vector<Offset> diagonals(static_cast<std::size_t>(n));
  const FindDiagonals<Offset> find{a, diagonals.data(), nullptr};
  for (std::int32_t i = 0; i < n; ++i) find.entry(i);
  const FactorPattern<Offset> factored{a, diagonals.data(), cholesky};
  std::vector<std::int32_t> row_of(static_cast<std::size_t>(A.nnz())), items(static_cast<std::size_t>(n));
  std::vector<std::uint8_t> counts(static_cast<std::size_t>(A.nnz()));
  for (std::int32_t i = 0; i < n; ++i)
    for (Offset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) row_of[static_cast<std::size_t>(k)] = i;
  const CountItems<Offset> count{factored, row_of.data(), counts.data()};
#pragma omp parallel for if (A.nnz() > 100'000)
  for (std::int64_t k = 0; k < A.nnz(); ++k) count.entry(k);
  const std::int32_t* order = schedule.order().host().data();
  const AddItems<Offset> add{factored, order, counts.data(), items.data(), nullptr};
  ItemFacts facts;
  for (std::int32_t place = 0; place < n; ++place) facts += add.entry(place);
  const std::int32_t lanes = factor_lanes(facts, n, sizeof(T));
  ItemSizes sizes;
  sizes.slices = detail::ceil_div(n, 32 / lanes);
  sizes.row_bytes = sizeof(FactorRow<Offset>);
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(sizes.slices)), shown(lengths.size());
  const LaySlices<Offset> lay{factored, order, items.data(), lanes, lengths.data(), shown.data()};
  for (std::int64_t slice = 0; slice < sizes.slices; ++slice) lay.entry(slice);
  for (const std::int64_t length : lengths) sizes.places += length;
  for (const std::int64_t length : shown) sizes.shown += length;
  return sizes;
}

#define INSTANTIATE(T, Offset) template ItemSizes count_items(Context&, const Csr<T, Offset>&, bool);
KRILL_FOR_SCALARS_AND_OFFSETS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
