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
  std::vector<std::int32_t> items(static_cast<std::size_t>(n));
  count_items_of_rows(host.host_tag(), factored, items.data());
  const AddItems<Offset> add{factored, items.data(), nullptr};
  ItemFacts facts;
  for (std::int32_t i = 0; i < n; ++i) facts += add.entry(i);
  const std::int32_t lanes = factor_lanes(facts, n, sizeof(T));
  ItemSizes sizes;
  sizes.slices = ceil_div(n, 32 / lanes);
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(sizes.slices)), published(lengths.size());
  const LaySlices<Offset> lay{factored,        schedule.order().host().data(), items.data(), lanes, lengths.data(),
                              published.data()};
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
