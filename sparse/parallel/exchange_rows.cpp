#include "sparse/parallel/exchange_rows.hpp"

#include <algorithm>
#include <numeric>

#include "sparse/core/instantiate.hpp"
#include "sparse/core/pass_host.hpp"

namespace krill {
namespace {

/// Adds a row.
template <class T>
void append(HeldRows<T>& rows, const RowSlice<T>& from, std::int64_t i) {
  from.for_entries(
      i, [&](std::int64_t column, const T& value) { rows.columns.push_back(column), rows.values.push_back(value); });
  rows.offsets.push_back(std::ssize(rows.columns));
}

/// 0, 1, ..., count: offsets of lists with an entry each.
std::vector<std::int64_t> ones(std::int64_t count) {
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(count) + 1);
  std::iota(offsets.begin(), offsets.end(), std::int64_t{0});
  return offsets;
}

/// The rows that come in for those that leave: lengths, then entries.
template <class T>
HeldRows<T> exchanged(Team& team, const HaloPlan& plan, HaloPlan::Way way, const HeldRows<T>& out) {
  const std::int64_t coming = way == HaloPlan::Way::to_ghosts ? std::ssize(plan.ghosts()) : plan.sent();
  const std::vector<std::int64_t> out_ones = ones(out.rows()), in_ones = ones(coming);
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(out.rows()));
  for (std::size_t k = 0; k < lengths.size(); ++k) lengths[k] = out.offsets[k + 1] - out.offsets[k];
  HeldRows<T> in;
  in.offsets.assign(static_cast<std::size_t>(coming) + 1, 0);
  const auto of_lengths = plan.list_messages(way, out_ones, lengths.data(), in_ones, in.offsets.data() + 1);
  team.start(of_lengths.out, of_lengths.in);
  team.finish();
  std::partial_sum(in.offsets.begin(), in.offsets.end(), in.offsets.begin());
  in.columns.resize(static_cast<std::size_t>(in.offsets.back()));
  in.values.resize(in.columns.size());
  auto all = plan.list_messages(way, out.offsets, out.columns.data(), in.offsets, in.columns.data());
  const auto of_values = plan.list_messages(way, out.offsets, out.values.data(), in.offsets, in.values.data());
  all.out.insert(all.out.end(), of_values.out.begin(), of_values.out.end());
  all.in.insert(all.in.end(), of_values.in.begin(), of_values.in.end());
  team.start(all.out, all.in);
  team.finish();
  return in;
}

/// So many rows, of which for_entries(i, f) calls f(column, value) for those of row i. By all threads: entries are
/// counted, then stored.
template <class T, class ForEntries>
HeldRows<T> held(Context& ctx, std::int64_t rows, ForEntries for_entries) {
  HeldRows<T> made;
  made.offsets.assign(static_cast<std::size_t>(rows) + 1, 0);
  for_each_index(ctx.host_tag(), rows, [&](std::int64_t i) {
    std::int64_t entries = 0;
    for_entries(i, [&](std::int64_t, const T&) { ++entries; });
    made.offsets[static_cast<std::size_t>(i) + 1] = entries;
  });
  std::partial_sum(made.offsets.begin(), made.offsets.end(), made.offsets.begin());
  made.columns.resize(static_cast<std::size_t>(made.offsets.back()));
  made.values.resize(made.columns.size());
  for_each_index(ctx.host_tag(), rows, [&](std::int64_t i) {
    auto k = static_cast<std::size_t>(made.offsets[static_cast<std::size_t>(i)]);
    for_entries(i, [&](std::int64_t column, const T& value) { made.columns[k] = column, made.values[k++] = value; });
  });
  return made;
}

}  // namespace

template <class T>
HeldRows<T> import_rows(Team& team, const RowSlice<T>& own, const HaloPlan& plan) {
  require_size("import_rows: rows of this rank", own.rows(), plan.own());
  HeldRows<T> out;
  for (const std::int32_t row : plan.packed_rows()) append(out, own, row);
  return exchanged(team, plan, HaloPlan::Way::to_ghosts, out);
}

template <class T>
HeldRows<T> export_rows(Context& ctx, Team& team, const RowSlice<T>& part, const HaloPlan& plan) {
  require_size("export_rows: rows of this rank and of its ghosts", part.rows(), plan.size());
  HeldRows<T> out;
  for (const std::int64_t row : plan.ghosts()) append(out, part, plan.place(row));
  const HeldRows<T> in = exchanged(team, plan, HaloPlan::Way::to_owners, out);
  const RowSlice<T> lists = in.slice();

  // Of each own row, the lists that came in, in the order of ranks: that of their columns.
  const auto own_rows = static_cast<std::size_t>(plan.own());
  std::vector<std::int64_t> first(own_rows + 1), order(plan.packed_rows().size());
  for (const std::int32_t row : plan.packed_rows()) ++first[static_cast<std::size_t>(row) + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::ranges::stable_sort(order, {}, [&](std::int64_t k) { return plan.packed_rows()[static_cast<std::size_t>(k)]; });
  const auto for_entries = [&](std::int64_t i, auto&& f) {
    const auto of_lists = [&](bool below) {
      for (auto k = first[static_cast<std::size_t>(i)]; k < first[static_cast<std::size_t>(i) + 1]; ++k)
        lists.for_entries(order[static_cast<std::size_t>(k)], [&](std::int64_t column, const T& value) {
          if ((column < plan.begin()) == below) f(column, value);
        });
    };
    of_lists(true);
    part.for_entries(plan.low() + i, f);
    of_lists(false);
  };
  return held<T>(ctx, plan.own(), for_entries);
}

template <class T, class Offset>
HeldRows<T> out_of_places(Context& ctx, const Csr<T, Offset>& A, std::int64_t begin, std::int64_t end,
                          const HaloPlan& plan) {
  const RowSlice<T> rows = slice_rows(A, begin, end);
  return held<T>(ctx, rows.rows(), [&](std::int64_t i, auto&& f) {
    rows.for_entries(i, [&](std::int64_t place, const T& value) { f(plan.row_at(place), value); });
  });
}

template <class T>
struct ExchangeRowsInstances {
  static constexpr std::tuple list{
      instance<HeldRows<T>(Team&, const RowSlice<T>&, const HaloPlan&)>(import_rows),
      instance<HeldRows<T>(Context&, Team&, const RowSlice<T>&, const HaloPlan&)>(export_rows)};
};
template <class T, class Offset>
struct OutOfPlacesInstances {
  static constexpr auto list =
      instance<HeldRows<T>(Context&, const Csr<T, Offset>&, std::int64_t, std::int64_t, const HaloPlan&)>(
          out_of_places);
};
KRILL_INSTANTIATE(ExchangeRowsInstances);
KRILL_INSTANTIATE_WITH_OFFSETS(OutOfPlacesInstances);

}  // namespace krill
