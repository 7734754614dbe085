#include "sparse/parallel/row_partition.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sparse/core/error.hpp"

namespace krill {

RowPartition::RowPartition(std::vector<std::int64_t> offsets) : offsets_(std::move(offsets)) {
  if (offsets_.size() < 2)
    throw InvalidArgument(
        fmt::format("row partition: {} offsets; one more than ranks are needed, 2 at least", offsets_.size()));
  if (offsets_.front() != 0)
    throw InvalidArgument(fmt::format("row partition: rank 0 begins at row {}; 0 is needed", offsets_.front()));
  for (std::size_t r = 1; r < offsets_.size(); ++r)
    if (offsets_[r] < offsets_[r - 1])
      throw InvalidArgument(fmt::format("row partition: rank {} ends at row {}, before it begins at {}", r - 1,
                                        offsets_[r], offsets_[r - 1]));
}

template <class Offset>
RowPartition RowPartition::by_cost(std::span<const Offset> row_offsets, int ranks, std::int64_t unit) {
  require(!row_offsets.empty(), "row partition: row_offsets is empty, rows + 1 entries are needed");
  const auto entries_before = [&](std::int64_t row) {
    return std::int64_t{row_offsets[static_cast<std::size_t>(row)]} - std::int64_t{row_offsets.front()};
  };
  return by_cost(std::ssize(row_offsets) - 1, entries_before, ranks, unit);
}

RowPartition RowPartition::by_cost(std::int64_t rows, const std::function<std::int64_t(std::int64_t)>& entries_before,
                                   int ranks, std::int64_t unit) {
  require(ranks > 0 && unit > 0, "row partition: one rank and a unit of one row are the least");
  const auto cost_before = [&](std::int64_t row) { return bytes_an_entry * entries_before(row) + bytes_a_row * row; };
  const std::int64_t all = cost_before(rows), units = (rows + unit - 1) / unit;
  std::vector<std::int64_t> offsets{0};
  for (int r = 1; r < ranks; ++r) {
    const std::int64_t wanted = all / ranks * r + all % ranks * r / ranks;
    std::int64_t low = 0, high = units;  // the first unit that begins at that cost, or later
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (cost_before(std::min(rows, middle * unit)) < wanted)
        low = middle + 1;
      else
        high = middle;
    }
    const auto begin_of = [&](std::int64_t u) { return std::min(rows, u * unit); };
    const bool former_is_nearer =
        low > 0 && wanted - cost_before(begin_of(low - 1)) < cost_before(begin_of(low)) - wanted;
    offsets.push_back(std::max(offsets.back(), begin_of(former_is_nearer ? low - 1 : low)));
  }
  offsets.push_back(rows);
  return RowPartition(std::move(offsets));
}

int RowPartition::owner(std::int64_t row) const {
  if (row < 0 || row >= rows())
    throw InvalidArgument(fmt::format("row partition: row {} has no owner: there are {} rows", row, rows()));
  return static_cast<int>(std::ranges::upper_bound(offsets_, row) - offsets_.begin()) - 1;
}

template RowPartition RowPartition::by_cost(std::span<const std::int32_t>, int, std::int64_t);
template RowPartition RowPartition::by_cost(std::span<const std::int64_t>, int, std::int64_t);

}  // namespace krill
