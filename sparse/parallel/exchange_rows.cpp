#include "sparse/parallel/exchange_rows.hpp"

#include <numeric>
#include <span>

#include "sparse/core/instantiate.hpp"
#include "sparse/parallel/count_then_store.hpp"

namespace krill {

using namespace detail;
namespace {

/// So many rows: row i has count(i) entries, and for_entries(i, f) calls f(column, value) for them. work: all entries.
template <class T, class Count, class ForEntries>
HeldRows<T> held(const Host& host, std::int64_t work, std::int64_t rows, Count count, ForEntries for_entries) {
  HeldRows<T> made;
  made.offsets.resize(static_cast<std::size_t>(rows) + 1);
  const auto reserve = [&](std::int64_t entries) {
    made.columns.resize(static_cast<std::size_t>(entries));
    made.values.resize(static_cast<std::size_t>(entries));
  };
  count_then_store(host, work, rows, made.offsets.data(), count, reserve, [&](std::int64_t i, std::int64_t first) {
    auto k = static_cast<std::size_t>(first);
    for_entries(i, [&](std::int64_t column, const T& value) { made.columns[k] = column, made.values[k++] = value; });
  });
  return made;
}

/// Row row_of(k) of `from`, for k in [0, count).
template <class T, class RowOf>
HeldRows<T> chosen(const Host& host, const RowSlice<T>& from, std::int64_t count, RowOf row_of) {
  std::int64_t work = 0;
  for (std::int64_t k = 0; k < count; ++k) work += from.entries(row_of(k));
  return held<T>(
      host, work, count, [&](std::int64_t k) { return from.entries(row_of(k)); },
      [&](std::int64_t k, auto&& f) { from.for_entries(row_of(k), f); });
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

}  // namespace

template <class T>
HeldRows<T> import_rows(Context& ctx, Team& team, const RowSlice<T>& own, const HaloPlan& plan) {
  require_size("import_rows: rows of this rank", own.rows(), plan.own());
  const auto rows = plan.packed_rows();
  return exchanged(team, plan, HaloPlan::Way::to_ghosts, chosen(ctx.host_tag(), own, plan.sent(), [&](std::int64_t k) {
                     return std::int64_t{rows[static_cast<std::size_t>(k)]};
                   }));
}

template <class T>
HeldRows<T> export_rows(Context& ctx, Team& team, const RowSlice<T>& part, const HaloPlan& plan) {
  require_size("export_rows: rows of this rank and of its ghosts", part.rows(), plan.size());
  const HeldRows<T> in = exchanged(
      team, plan, HaloPlan::Way::to_owners,
      chosen(ctx.host_tag(), part, std::ssize(plan.ghosts()), [&](std::int64_t k) { return plan.place_of_ghost(k); }));
  const RowSlice<T> lists = in.slice();

  // Of each own row, the lists that came in, in the order of ranks, which is that of their columns: by counting.
  const auto rows = plan.packed_rows();
  std::vector<std::int64_t> first(static_cast<std::size_t>(plan.own()) + 2), order(rows.size());
  for (const std::int32_t row : rows) ++first[static_cast<std::size_t>(row) + 2];
  std::partial_sum(first.begin(), first.end(), first.begin());
  for (std::size_t k = 0; k < rows.size(); ++k)
    order[static_cast<std::size_t>(first[static_cast<std::size_t>(rows[k]) + 1]++)] = static_cast<std::int64_t>(k);
  const auto lists_of = [&](std::int64_t i) {
    const auto begin = static_cast<std::size_t>(first[static_cast<std::size_t>(i)]);
    return std::span(order).subspan(begin, static_cast<std::size_t>(first[static_cast<std::size_t>(i) + 1]) - begin);
  };
  const auto count = [&](std::int64_t i) {
    std::int64_t entries = part.entries(plan.low() + i);
    for (const std::int64_t k : lists_of(i)) entries += lists.entries(k);
    return entries;
  };
  const auto for_entries = [&](std::int64_t i, auto&& f) {
    const auto of_lists = [&](bool below) {
      for (const std::int64_t k : lists_of(i))
        lists.for_entries(k, [&](std::int64_t column, const T& value) {
          if ((column < plan.begin()) == below) f(column, value);
        });
    };
    of_lists(true);
    part.for_entries(plan.low() + i, f);
    of_lists(false);
  };
  return held<T>(ctx.host_tag(), part.nnz() + lists.nnz(), plan.own(), count, for_entries);
}

template <class T>
struct ExchangeRowsInstances {
  static constexpr std::tuple list{
      instance<HeldRows<T>(Context&, Team&, const RowSlice<T>&, const HaloPlan&)>(import_rows),
      instance<HeldRows<T>(Context&, Team&, const RowSlice<T>&, const HaloPlan&)>(export_rows)};
};
KRILL_INSTANTIATE(ExchangeRowsInstances);

}  // namespace krill
