#include "sparse/parallel/distributed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sparse/convert/to_format.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/overloaded.hpp"
#include "sparse/core/pass_host.hpp"
#include "sparse/core/row_range.hpp"
#include "sparse/parallel/border_passes.hpp"
#include "sparse/parallel/count_then_store.hpp"

namespace krill {

using namespace detail;
namespace {

/// A matrix of `columns` columns of so many rows: of row b, the entries for which place(column) is not negative, in
/// that column. for_entries(b, f) calls f(column, value) for those of row b, kept(b) is how many stay. work: all
/// entries.
template <class T, class Offset, class Kept, class ForEntries, class Place>
Csr<T, Offset> taken_as(const Host& host, std::int64_t work, std::int64_t rows, std::int64_t columns, Kept kept,
                        ForEntries for_entries, Place place) {
  Array<Offset> offsets(rows + 1, "row_offsets");
  Array<std::int32_t> to_columns;
  Array<T> to_values;
  std::int32_t* out_columns = nullptr;
  T* out_values = nullptr;
  const auto reserve = [&](std::int64_t entries) {
    to_columns = Array<std::int32_t>(entries, "col_indices");
    to_values = Array<T>(entries, "values");
    out_columns = to_columns.write(host);
    out_values = reinterpret_cast<T*>(to_values.write(host));
  };
  count_then_store(host, work, rows, offsets.write(host), kept, reserve, [&](std::int64_t b, Offset first) {
    auto* to_column = out_columns + first;
    auto* to_value = out_values + first;
    for_entries(b, [&](std::int64_t column, const T& value) {
      const std::int64_t at = place(column);
      if (at < 0) return;
      *to_column++ = static_cast<std::int32_t>(at);
      *to_value++ = value;
    });
  });
  return Csr<T, Offset>(static_cast<std::int32_t>(columns), std::move(offsets), std::move(to_columns),
                        std::move(to_values));
}

/// With 32-bit offsets where they can be. max_nnz: the rows have no more entries.
template <class T, class Kept, class ForEntries, class Place>
AnyMatrix<T> taken(const Host& host, std::int64_t max_nnz, std::int64_t rows, std::int64_t columns, Kept kept,
                   ForEntries for_entries, Place place) {
  if (max_nnz > std::numeric_limits<std::int32_t>::max())
    return taken_as<T, std::int64_t>(host, max_nnz, rows, columns, kept, for_entries, place);
  return taken_as<T, std::int32_t>(host, max_nnz, rows, columns, kept, for_entries, place);
}

/// Where nothing is known of the rows, those that stay are counted.
template <class T, class ForEntries, class Place>
AnyMatrix<T> taken(const Host& host, std::int64_t max_nnz, std::int64_t rows, std::int64_t columns,
                   ForEntries for_entries, Place place) {
  const auto kept = [&](std::int64_t b) {
    std::int64_t entries = 0;
    for_entries(b, [&](std::int64_t column, const T&) { entries += place(column) >= 0; });
    return entries;
  };
  return taken<T>(host, max_nnz, rows, columns, kept, for_entries, place);
}

/// Row i of some.
template <class T>
struct OneRow {
  const RowSlice<T>& rows;
  std::int64_t i;
};

/// Where columns [begin, end) all have a place: rows that lie in them, as most do, stay whole. row_of(b): OneRow.
template <class T, class RowOf, class Place>
AnyMatrix<T> taken_around(const Host& host, std::int64_t max_nnz, std::int64_t rows, std::int64_t columns,
                          const RowRange& known, RowOf row_of, Place place) {
  const auto kept = [&](std::int64_t b) {
    const OneRow<T> row = row_of(b);
    std::int64_t entries = row.rows.entries(row.i);
    if (!row.rows.lies_in(row.i, known.begin, known.end))
      row.rows.for_entries(row.i, [&](std::int64_t column, const T&) { entries -= place(column) < 0; });
    return entries;
  };
  const auto for_entries = [&](std::int64_t b, auto&& f) {
    const OneRow<T> row = row_of(b);
    row.rows.for_entries(row.i, f);
  };
  return taken<T>(host, max_nnz, rows, columns, kept, for_entries, place);
}

/// What append(begin, end, list) adds to a list for each block of [0, n), in their order. By all threads.
template <class Value, class Append>
std::vector<Value> listed(const Host& host, std::int64_t n, Append append) {
  std::vector<std::vector<Value>> of_blocks(static_cast<std::size_t>((n + sum_block - 1) / sum_block));
  for_blocks(host, n, sum_block, n, [&](std::int64_t begin, std::int64_t end) {
    append(begin, end, of_blocks[static_cast<std::size_t>(begin / sum_block)]);
  });
  std::vector<Value> all;
  for (const std::vector<Value>& block : of_blocks) all.insert(all.end(), block.begin(), block.end());
  return all;
}

/// The rows with entries outside of columns [begin, end), ascending.
template <class T>
std::vector<std::int32_t> border_rows_of(const Host& host, const RowSlice<T>& slice, std::int64_t begin,
                                         std::int64_t end) {
  return listed<std::int32_t>(host, slice.rows(), [&](std::int64_t first, std::int64_t last, auto& rows) {
    for (std::int64_t i = first; i < last; ++i)
      if (!slice.lies_in(i, begin, end)) rows.push_back(static_cast<std::int32_t>(i));
  });
}

template <class Value>
void sort_once(std::vector<Value>& values) {
  std::ranges::sort(values);
  values.erase(std::ranges::unique(values).begin(), values.end());
}

/// The columns of border rows outside of [begin, end): ascending, each once.
template <class T>
std::vector<std::int64_t> columns_outside(const Host& host, const RowSlice<T>& slice,
                                          const std::vector<std::int32_t>& border_rows, std::int64_t begin,
                                          std::int64_t end) {
  auto columns =
      listed<std::int64_t>(host, std::ssize(border_rows), [&](std::int64_t first, std::int64_t last, auto& mine) {
        for (std::int64_t b = first; b < last; ++b)
          slice.for_entries(border_rows[static_cast<std::size_t>(b)], [&](std::int64_t column, const T&) {
            if (column < begin || column >= end) mine.push_back(column);
          });
        sort_once(mine);
      });
  sort_once(columns);
  return columns;
}

/// The most neighboring ones of so many rows that are not listed. listed: ascending.
RowRange longest_gap(const std::vector<std::int32_t>& listed, std::int64_t rows) {
  RowRange longest{0, 0};
  std::int64_t begin = 0;
  const auto end_at = [&](std::int64_t end) {
    if (end - begin > longest.end - longest.begin) longest = {begin, end};
    begin = end + 1;
  };
  for (const std::int32_t row : listed) end_at(row);
  end_at(rows);
  return longest;
}

/// Raises where an entry has been left out: threads do not. `entries`: those of `rows` that are in what was made of
/// them.
template <class T>
void require_all(const RowSlice<T>& rows, std::int64_t entries, const HaloPlan& halo) {
  if (entries == rows.nnz()) return;
  for (std::int64_t i = 0; i < rows.rows(); ++i)
    rows.for_entries(i, [&](std::int64_t column, const T&) { halo.place(column); });
}

}  // namespace

template <class T>
std::vector<std::int64_t> ghost_columns(Team& team, const RowPartition& partition, const RowSlice<T>& slice,
                                        const Host& host) {
  if (partition.ranks() != team.size())
    throw ShapeMismatch(
        fmt::format("distributed: the partition is for {} ranks, the team has {}", partition.ranks(), team.size()));
  if (slice.rows() != partition.rows(team.rank()))
    throw ShapeMismatch(fmt::format("distributed: rank {} brings {} rows, the partition gives it {}", team.rank(),
                                    slice.rows(), partition.rows(team.rank())));
  const std::int64_t begin = partition.begin(team.rank()), end = partition.end(team.rank());
  std::vector<std::int64_t> ghosts = columns_outside(host, slice, border_rows_of(host, slice, begin, end), begin, end);
  const auto beyond =
      !ghosts.empty() && ghosts.front() < 0 ? ghosts.begin() : std::ranges::lower_bound(ghosts, partition.rows());
  if (beyond != ghosts.end())
    throw InvalidArgument(
        fmt::format("distributed: column {} lies outside of the square matrix of {} rows", *beyond, partition.rows()));
  if (const std::int64_t all = end - begin + std::ssize(ghosts); all > std::numeric_limits<std::int32_t>::max())
    throw InvalidArgument(fmt::format(
        "distributed: {} rows and ghosts are rank {}'s, 2^31 - 1 are the most; take more ranks", all, team.rank()));
  return ghosts;
}

template <class T, class Offset>
RowSlice<T> slice_rows(const Csr<T, Offset>& A, std::int64_t begin, std::int64_t end, const HaloPlan* places) {
  if (begin < 0 || end < begin || end > A.rows())
    throw InvalidArgument(fmt::format("slice_rows: rows {} to {} of a matrix that has {}", begin, end, A.rows()));
  if (places) require_size("slice_rows: places of the plan", places->size(), A.cols());
  const auto offsets =
      A.row_offsets().host().subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin) + 1);
  return RowSlice<T>(offsets, A.col_indices().host(), A.values().host(), places);
}

template <class T, class Offset>
std::vector<SharedPart> shared_parts(const Csr<T, Offset>& A, const RowPartition& partition) {
  require_size("shared parts: rows of the partition", partition.rows(), A.rows());
  const auto ranks = static_cast<std::size_t>(partition.ranks());
  std::vector<SharedPart> parts(ranks);
  std::vector<std::int64_t> senders(ranks), receivers(ranks);  // of each rank's messages
  for (int r = 0; r < partition.ranks(); ++r) {
    const std::int64_t begin = partition.begin(r), end = partition.end(r);
    const RowSlice<T> rows = slice_rows(A, begin, end);
    SharedPart& part = parts[static_cast<std::size_t>(r)];
    part.first_row = begin, part.rows = end - begin, part.nnz = rows.nnz();
    const std::vector<std::int32_t> border_rows = border_rows_of(Host{}, rows, begin, end);
    const std::vector<std::int64_t> ghosts = columns_outside(Host{}, rows, border_rows, begin, end);
    part.border_rows = std::ssize(border_rows);
    for (const std::int32_t i : border_rows)
      rows.for_entries(i, [&](std::int64_t column, const T&) { part.border_nnz += column < begin || column >= end; });
    part.ghosts = std::ssize(ghosts);
    int last = -1;
    for (const std::int64_t row : ghosts) {
      const int owner = partition.owner(row);
      ++parts[static_cast<std::size_t>(owner)].sent;
      if (owner != last) ++senders[static_cast<std::size_t>(r)], ++receivers[static_cast<std::size_t>(owner)];
      last = owner;
    }
  }
  for (std::size_t r = 0; r < ranks; ++r) parts[r].neighbors = static_cast<int>(std::max(senders[r], receivers[r]));
  return parts;
}

template <class T>
AnyMatrix<T> columns_of(Context& ctx, const RowSlice<T>& rows, std::int64_t begin, std::int64_t end) {
  return taken_around<T>(
      ctx.host_tag(), rows.nnz(), rows.rows(), end - begin, {begin, end},
      [&](std::int64_t i) {
        return OneRow<T>{rows, i};
      },
      [=](std::int64_t column) { return column >= begin && column < end ? column - begin : std::int64_t{-1}; });
}

template <class T>
AnyMatrix<T> in_places(Context& ctx, const RowSlice<T>& rows, const HaloPlan& halo) {
  AnyMatrix<T> made = taken_around<T>(
      ctx.host_tag(), rows.nnz(), rows.rows(), halo.size(), {halo.begin(), halo.begin() + halo.own()},
      [&](std::int64_t i) {
        return OneRow<T>{rows, i};
      },
      [&](std::int64_t column) { return halo.place_or_none(column); });
  require_all(rows, nnz(made), halo);
  return made;
}

template <class T>
AnyMatrix<T> in_places(Context& ctx, const RowSlice<T>& own, const RowSlice<T>& ghosts, const HaloPlan& halo) {
  require_size("in places: own rows", own.rows(), halo.own());
  require_size("in places: rows of ghosts", ghosts.rows(), std::ssize(halo.ghosts()));
  const std::int64_t low = halo.low(), end = low + halo.own();
  AnyMatrix<T> made = taken_around<T>(
      ctx.host_tag(), own.nnz() + ghosts.nnz(), halo.size(), halo.size(), {halo.begin(), halo.begin() + halo.own()},
      [&](std::int64_t at) {
        if (at >= low && at < end) return OneRow<T>{own, at - low};
        return OneRow<T>{ghosts, at < low ? at : at - halo.own()};
      },
      [&](std::int64_t column) { return halo.place_or_none(column); });
  with_csr(ctx, made, [&](const auto& csr) {
    const auto offsets = csr.row_offsets().host();
    require_all(own, offsets[static_cast<std::size_t>(end)] - offsets[static_cast<std::size_t>(low)], halo);
  });
  return made;
}

template <class T>
Distributed<T>::Distributed(Context& ctx, Team& team, RowPartition partition, const RowSlice<T>& slice, Format format,
                            const FormatLayout& layout)
    : team_(team),
      partition_(std::move(partition)),
      halo_(team, HaloPlan(team, partition_, ghost_columns(team, partition_, slice, ctx.host_tag()))),
      first_(1, "dot of rows without ghosts"),
      second_(1, "dot of rows without ghosts") {
  const Context::TeamScope alone(ctx, nullptr);
  const std::int64_t begin = partition_.begin(team.rank()), end = partition_.end(team.rank());
  std::vector<std::int32_t> border_rows = border_rows_of(ctx.host_tag(), slice, begin, end);
  const HaloPlan& plan = halo();
  border_ = std::make_unique<const AnyMatrix<T>>(taken<T>(
      ctx.host_tag(), slice.nnz(), std::ssize(border_rows), std::ssize(plan.ghosts()),
      [&](std::int64_t b, auto&& f) { slice.for_entries(border_rows[static_cast<std::size_t>(b)], f); },
      [&](std::int64_t column) { return column >= begin && column < end ? std::int64_t{-1} : plan.ghost(column); }));
  part_ = {.first_row = begin,
           .rows = rows(),
           .nnz = slice.nnz(),
           .ghosts = std::ssize(plan.ghosts()),
           .sent = plan.sent(),
           .border_rows = std::ssize(border_rows),
           .border_nnz = nnz(*border_),
           .neighbors = plan.neighbors()};
  inside_ = longest_gap(border_rows, rows());
  std::vector<std::uint32_t> is_border(static_cast<std::size_t>((rows() + 31) / 32));
  for (const std::int32_t i : border_rows) is_border[static_cast<std::size_t>(i / 32)] |= std::uint32_t{1} << (i % 32);
  is_border_ = Array(std::move(is_border), "which rows have ghosts");
  border_rows_ = Array(std::move(border_rows), "border rows");
  AnyMatrix<T> made = columns_of(ctx, slice, begin, end);
  if (format != Format::automatic && format != Format::csr) made = to_format(ctx, std::move(made), format, layout);
  block_ = std::make_unique<const AnyMatrix<T>>(std::move(made));
  plan_ = std::make_unique<const SpmvPlan<T>>(
      ctx, *block_, Op::none, format == Format::automatic ? SpmvMethod::automatic : SpmvMethod::in_place);
}

template <class T>
std::size_t Distributed<T>::bytes() const {
  return plan_->bytes() + krill::bytes(*border_) + halo_.bytes() + bytes_of(border_rows_, is_border_);
}

template <class T>
void Distributed<T>::apply(Context& ctx, const Array<T>& x, Array<T>& y, const Dots<T>& dots) const {
  using K = kernel_t<T>;
  require_size("distributed: x", x.size(), rows());
  require_size("distributed: y", y.size(), rows());
  require_disjoint("distributed: x and y", x, y);
  require(!dots.left_out, "distributed: dots are of all rows");
  halo_.start(ctx, x);

  // A border row takes part in dots once it is whole: what it was before may be much greater, and would cancel.
  Dots<T> of_others;
  if (dots.first) of_others.with_first = dots.with_first, of_others.first = &first_;
  if (dots.second) of_others.with_second = dots.with_second, of_others.second = &second_;
  of_others.left_out = &is_border_, of_others.kept = inside_;
  {
    const Context::TeamScope alone(ctx, nullptr);
    plan_->apply(ctx, T(1), x, T(0), y, of_others);
  }

  halo_.finish(ctx);
  const Context::TeamScope over(ctx, &team_);
  ctx.dispatch([&](const auto& where) {
    const auto partner = [&](const Array<T>* with) { return with ? with->read(where) : nullptr; };
    const auto result = [&](Array<wide_t<T>>* sum) { return sum ? sum->write(where) : nullptr; };
    const auto found = [&](const Array<wide_t<T>>* sum) { return sum ? sum->read(where) : nullptr; };
    const auto view = [&] {
      return DotsView<K>{partner(dots.with_first), result(dots.first), partner(dots.with_second), result(dots.second)};
    };
    std::visit(Overloaded{[&]<class Offset>(const Csr<T, Offset>& border) {
                            const Border<K, Offset> rows{border.view(where), border_rows_.read(where),
                                                         halo_.ghosts().read(where), y.update(where)};
                            if (dots.first || dots.second)
                              run_pass(where, border.rows() + std::int64_t{1},
                                       AddGhostsWithDots<K, Offset>{rows, view(), found(of_others.first),
                                                                    found(of_others.second)});
                            else if (border.rows() > 0)
                              run_pass(where, border.rows(), AddGhosts<K, Offset>{rows});
                          },
                          [](const auto&) {}},
               *border_);
  });
}

template <class T>
void gather_other_rows(Team& team, const RowPartition& partition, std::span<T> all) {
  require_size("gather_other_rows: rows of all ranks", std::ssize(all), partition.rows());
  const auto bytes_of_rank = [&](int r) { return static_cast<std::size_t>(partition.rows(r)) * sizeof(T); };
  std::vector<Team::Outgoing> out;
  std::vector<Team::Incoming> in;
  for (int r = 0; r < team.size(); ++r) {
    if (r == team.rank()) continue;
    if (const std::size_t bytes = bytes_of_rank(team.rank()); bytes > 0)
      out.push_back({r, all.data() + partition.begin(team.rank()), bytes});
    if (const std::size_t bytes = bytes_of_rank(r); bytes > 0)
      in.push_back({r, all.data() + partition.begin(r), bytes});
  }
  team.start(out, in);
  team.finish();
}

template <class T>
std::vector<T> gather_rows(Team& team, const RowPartition& partition, std::span<const T> own) {
  require_size("gather_rows: rows of this rank", std::ssize(own), partition.rows(team.rank()));
  std::vector<T> all(static_cast<std::size_t>(partition.rows()));
  std::ranges::copy(own, all.begin() + partition.begin(team.rank()));
  gather_other_rows(team, partition, std::span<T>(all));
  return all;
}

template <class T>
struct DistributedInstances {
  static constexpr std::tuple list{
      instance<AnyMatrix<T>(Context&, const RowSlice<T>&, std::int64_t, std::int64_t)>(columns_of),
      instance<std::vector<std::int64_t>(Team&, const RowPartition&, const RowSlice<T>&, const Host&)>(ghost_columns),
      instance<AnyMatrix<T>(Context&, const RowSlice<T>&, const HaloPlan&)>(in_places),
      instance<AnyMatrix<T>(Context&, const RowSlice<T>&, const RowSlice<T>&, const HaloPlan&)>(in_places),
      instance<std::vector<T>(Team&, const RowPartition&, std::span<const T>)>(gather_rows),
      instance<void(Team&, const RowPartition&, std::span<T>)>(gather_other_rows)};
};
template <class T, class Offset>
struct SliceInstances {
  static constexpr std::tuple list{
      instance<RowSlice<T>(const Csr<T, Offset>&, std::int64_t, std::int64_t, const HaloPlan*)>(slice_rows),
      instance<std::vector<SharedPart>(const Csr<T, Offset>&, const RowPartition&)>(shared_parts)};
};
KRILL_INSTANTIATE(Distributed);
template std::vector<std::int32_t> gather_rows(Team&, const RowPartition&, std::span<const std::int32_t>);
template std::vector<std::int64_t> gather_rows(Team&, const RowPartition&, std::span<const std::int64_t>);
KRILL_INSTANTIATE(DistributedInstances);
KRILL_INSTANTIATE_WITH_OFFSETS(SliceInstances);

}  // namespace krill
