#include "sparse/factor/item_sizes.hpp"

#include <vector>

#include "sparse/core/instantiate.hpp"
#include "sparse/factor/incomplete_passes.hpp"

namespace krill::detail {

template <class T, class Offset>
ItemSizes count_items(Context& host, const Csr<T, Offset>& A, const LevelSchedule& schedule, bool cholesky) {
  const std::int32_t n = A.rows();
  const auto a = detail::pattern(host.host_tag(), A);
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
  sizes.slices = ceil_div(n, 32 / lanes);
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(sizes.slices)), published(lengths.size());
  const LaySlices<Offset> lay{factored, order, items.data(), lanes, lengths.data(), published.data()};
  for (std::int64_t slice = 0; slice < sizes.slices; ++slice) lay.entry(slice);
  for (const std::int64_t length : lengths) sizes.places += length;
  for (const std::int64_t length : published) sizes.published += length;
  return sizes;
}

template <class T, class Offset>
struct ItemSizesInstances {
  static constexpr auto list =
      instance<ItemSizes(Context&, const Csr<T, Offset>&, const LevelSchedule&, bool)>(count_items);
};
KRILL_INSTANTIATE_WITH_OFFSETS(ItemSizesInstances);

}  // namespace krill::detail
