#include "sparse/parallel/analyze_rows.hpp"

#include <algorithm>
#include <numeric>

#include "sparse/core/instantiate.hpp"
#include "sparse/parallel/exchange.hpp"

namespace krill {
namespace {

/// An entry of a rank's rows in a column that is another one's row.
template <class T>
struct ForeignEntry {
  std::int64_t row, column;
  T value;
};

/// Those of other ranks in columns of this one's rows, in the order of rows.
template <class T>
std::vector<ForeignEntry<T>> exchange_mirrors(Team& team, const RowPartition& partition, const RowSlice<T>& own,
                                              std::vector<std::int64_t>& foreign_columns) {
  const std::int64_t begin = partition.begin(team.rank()), end = partition.end(team.rank());
  std::vector<std::vector<ForeignEntry<T>>> to(static_cast<std::size_t>(team.size()));
  for (std::int64_t i = 0; i < own.rows(); ++i)
    own.for_entries(i, [&](std::int64_t column, const T& value) {
      if (column >= begin && column < end) return;
      to[static_cast<std::size_t>(partition.owner(column))].push_back({begin + i, column, value});
      foreign_columns.push_back(column);
    });
  return exchange(team, std::move(to));
}

/// The rows that a rank looks at, in the places of its vectors.
template <class T>
Csr<T, std::int64_t> looked_at(const HaloPlan& halo, const RowSlice<T>& own,
                               const std::vector<ForeignEntry<T>>& mirrors) {
  const auto size = static_cast<std::size_t>(halo.size());
  std::vector<std::int64_t> offsets(size + 1);
  for (const auto& entry : mirrors) ++offsets[static_cast<std::size_t>(halo.place(entry.row)) + 1];
  for (std::int64_t i = 0; i < own.rows(); ++i)
    own.for_entries(i, [&](std::int64_t, const T&) { ++offsets[static_cast<std::size_t>(halo.low() + i) + 1]; });
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  Array<std::int32_t> columns(offsets.back(), "columns");
  Array<T> values(offsets.back(), "values");
  const auto to_columns = columns.edit();
  const auto to_values = values.edit();
  std::size_t at = 0;
  const auto put = [&](std::int64_t column, const T& value) {
    to_columns[at] = static_cast<std::int32_t>(halo.place(column));
    to_values[at++] = value;
  };
  auto mirror = mirrors.begin();
  const auto put_mirrors = [&](bool low) {
    for (; mirror != mirrors.end() && (!low || halo.place(mirror->row) < halo.low()); ++mirror)
      put(mirror->column, mirror->value);
  };
  put_mirrors(true);
  for (std::int64_t i = 0; i < own.rows(); ++i) own.for_entries(i, put);
  put_mirrors(false);
  return {static_cast<std::int32_t>(size), Array<std::int64_t>(std::move(offsets)), std::move(columns),
          std::move(values)};
}

}  // namespace

template <class T>
MatrixProperties analyze_rows(Context& ctx, Team& team, const RowPartition& partition, const RowSlice<T>& own) {
  require_size("analyze: own rows", own.rows(), partition.rows(team.rank()));
  std::vector<std::int64_t> ghosts;
  const auto mirrors = exchange_mirrors(team, partition, own, ghosts);
  for (const auto& entry : mirrors) ghosts.push_back(entry.row);
  std::ranges::sort(ghosts);
  ghosts.erase(std::ranges::unique(ghosts).begin(), ghosts.end());
  const HaloPlan halo(team, partition, std::move(ghosts));
  std::vector<std::int64_t> numbers(halo.ghosts().begin(), halo.ghosts().begin() + halo.low());
  for (std::int64_t i = 0; i < halo.own(); ++i) numbers.push_back(partition.begin(team.rank()) + i);
  numbers.insert(numbers.end(), halo.ghosts().begin() + halo.low(), halo.ghosts().end());
  const AnalyzedRows shared{team,
                            partition.rows(),
                            halo.low(),
                            halo.low() + halo.own(),
                            numbers,
                            [&](std::span<double> values) { bring_ghosts(team, halo, values); },
                            [&](std::span<char> marks) { bring_ghosts(team, halo, marks); }};
  const AnyMatrix<T> rows = looked_at(halo, own, mirrors);
  return analyze(Host{ctx.threads(), {}, nullptr}, rows, shared);
}

template <class T>
struct AnalyzeRowsInstances {
  static constexpr auto list =
      instance<MatrixProperties(Context&, Team&, const RowPartition&, const RowSlice<T>&)>(analyze_rows);
};
KRILL_INSTANTIATE(AnalyzeRowsInstances);

}  // namespace krill
