#include "sparse/parallel/distributed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "sparse/convert/to_format.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/overloaded.hpp"
#include "sparse/core/pass_host.hpp"
#include "sparse/parallel/border_passes.hpp"

namespace krill {

using namespace detail;
namespace {

/// A matrix of `columns` columns from rows [0, count) of those that row_at(b) names: entries for which place(column) is
/// not negative, in that column. By all threads: entries are counted, then stored.
template <class Offset, class T, class RowAt, class Place>
Csr<T, Offset> taken_as(const Host& host, const RowSlice<T>& rows, std::int64_t count, std::int64_t columns,
                        RowAt row_at, Place place) {
  std::vector<Offset> offsets(static_cast<std::size_t>(count) + 1);
  for_each_index(host, count, [&](std::int64_t b) {
    Offset entries = 0;
    rows.for_entries(row_at(b), [&](std::int64_t column, const T&) { entries += place(column) >= 0; });
    offsets[static_cast<std::size_t>(b) + 1] = entries;
  });
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  Array<std::int32_t> to_columns(offsets.back());
  Array<T> to_values(offsets.back());
  std::int32_t* const out_columns = to_columns.write(host);
  auto* const out_values = reinterpret_cast<T*>(to_values.write(host));
  for_each_index(host, count, [&](std::int64_t b) {
    auto k = static_cast<std::size_t>(offsets[static_cast<std::size_t>(b)]);
    rows.for_entries(row_at(b), [&](std::int64_t column, const T& value) {
      const std::int64_t at = place(column);
      if (at < 0) return;
      out_columns[k] = static_cast<std::int32_t>(at);
      out_values[k++] = value;
    });
  });
  return Csr<T, Offset>(static_cast<std::int32_t>(columns), Array<Offset>(std::move(offsets)), std::move(to_columns),
                        std::move(to_values));
}

/// With 32-bit offsets where they can be.
template <class T, class RowAt, class Place>
AnyMatrix<T> taken(const Host& host, const RowSlice<T>& rows, std::int64_t count, std::int64_t columns, RowAt row_at,
                   Place place) {
  if (rows.nnz() > std::numeric_limits<std::int32_t>::max())
    return taken_as<std::int64_t>(host, rows, count, columns, row_at, place);
  return taken_as<std::int32_t>(host, rows, count, columns, row_at, place);
}
constexpr auto every_row = [](std::int64_t i) { return i; };

/// The columns that others own, once each.
template <class T>
std::vector<std::int64_t> ghosts_of(Team& team, const RowPartition& partition, const RowSlice<T>& slice) {
  if (partition.ranks() != team.size())
    throw ShapeMismatch(
        fmt::format("distributed: the partition is for {} ranks, the team has {}", partition.ranks(), team.size()));
  if (slice.rows() != partition.rows(team.rank()))
    throw ShapeMismatch(fmt::format("distributed: rank {} brings {} rows, the partition gives it {}", team.rank(),
                                    slice.rows(), partition.rows(team.rank())));
  const std::int64_t begin = partition.begin(team.rank()), end = partition.end(team.rank());
  std::vector<std::int64_t> ghosts;
  for (std::int64_t i = 0; i < slice.rows(); ++i)
    slice.for_entries(i, [&](std::int64_t column, const auto&) {
      if (column >= begin && column < end) return;
      if (column < 0 || column >= partition.rows())
        throw InvalidArgument(fmt::format("distributed: column {} lies outside of the square matrix of {} rows", column,
                                          partition.rows()));
      ghosts.push_back(column);
    });
  std::ranges::sort(ghosts);
  ghosts.erase(std::ranges::unique(ghosts).begin(), ghosts.end());
  if (const std::int64_t all = end - begin + std::ssize(ghosts); all > std::numeric_limits<std::int32_t>::max())
    throw InvalidArgument(fmt::format(
        "distributed: {} rows and ghosts are rank {}'s, 2^31 - 1 are the most; take more ranks", all, team.rank()));
  return ghosts;
}

void start_on(const Host&, Team& team, std::span<const Team::Outgoing> out, std::span<const Team::Incoming> in) {
  team.start(out, in);
}
[[maybe_unused]] void start_on(const Cuda& cuda, Team& team, std::span<const Team::Outgoing> out,
                               std::span<const Team::Incoming> in) {
  team.start_on(cuda, out, in);
}
void finish_on(const Host&, Team& team) { team.finish(); }
[[maybe_unused]] void finish_on(const Cuda& cuda, Team& team) { team.finish_on(cuda); }

}  // namespace

template <class T, class Offset>
RowSlice<T> slice_rows(const Csr<T, Offset>& A, std::int64_t begin, std::int64_t end) {
  if (begin < 0 || end < begin || end > A.rows())
    throw InvalidArgument(fmt::format("slice_rows: rows {} to {} of a matrix that has {}", begin, end, A.rows()));
  const auto offsets =
      A.row_offsets().host().subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin) + 1);
  return RowSlice<T>(offsets, A.col_indices().host(), A.values().host());
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
    std::vector<std::int64_t> ghosts;
    for (std::int64_t i = 0; i < rows.rows(); ++i) {
      const std::size_t before = ghosts.size();
      rows.for_entries(i, [&](std::int64_t column, const T&) {
        if (column < begin || column >= end) ghosts.push_back(column);
      });
      part.border_rows += ghosts.size() > before ? 1 : 0;
    }
    std::ranges::sort(ghosts);
    ghosts.erase(std::ranges::unique(ghosts).begin(), ghosts.end());
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
  return taken(ctx.host_tag(), rows, rows.rows(), end - begin, every_row, [&](std::int64_t column) {
    return column >= begin && column < end ? column - begin : std::int64_t{-1};
  });
}

template <class T>
AnyMatrix<T> in_places(Context& ctx, const RowSlice<T>& rows, const HaloPlan& halo) {
  for (std::int64_t i = 0; i < rows.rows(); ++i)
    rows.for_entries(i, [&](std::int64_t column, const T&) { halo.place(column); });  // raises, which no thread may
  return taken(ctx.host_tag(), rows, rows.rows(), halo.size(), every_row,
               [&](std::int64_t column) { return halo.place(column); });
}

template <class T>
Distributed<T>::Distributed(Context& ctx, Team& team, RowPartition partition, const RowSlice<T>& slice, Format format,
                            const FormatLayout& layout)
    : team_(team),
      partition_(std::move(partition)),
      halo_(team, partition_, ghosts_of(team, partition_, slice)),
      packed_rows_(std::vector(halo_.packed_rows().begin(), halo_.packed_rows().end()), "rows for other ranks"),
      ghosts_(std::ssize(halo_.ghosts()), "ghosts"),
      packed_(halo_.packs() ? halo_.sent() : 0, "entries for other ranks"),
      first_(1, "dot of rows without ghosts"),
      second_(1, "dot of rows without ghosts") {
  const Context::TeamScope alone(ctx, nullptr);
  const std::int64_t begin = partition_.begin(team.rank()), end = partition_.end(team.rank());
  const auto is_own = [&](std::int64_t column) { return column >= begin && column < end; };
  std::vector<std::int32_t> border_rows;
  for (std::int64_t i = 0; i < rows(); ++i) {
    bool has_ghosts = false;
    slice.for_entries(i, [&](std::int64_t column, const T&) { has_ghosts = has_ghosts || !is_own(column); });
    if (has_ghosts) border_rows.push_back(static_cast<std::int32_t>(i));
  }
  part_ = {
      begin, rows(), slice.nnz(), std::ssize(halo_.ghosts()), halo_.sent(), std::ssize(border_rows), halo_.neighbors()};
  border_ = std::make_unique<const AnyMatrix<T>>(taken(
      ctx.host_tag(), slice, std::ssize(border_rows), std::ssize(halo_.ghosts()),
      [&](std::int64_t b) { return std::int64_t{border_rows[static_cast<std::size_t>(b)]}; },
      [&](std::int64_t column) { return is_own(column) ? std::int64_t{-1} : halo_.ghost(column); }));
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
  const auto entries = static_cast<std::size_t>(ghosts_.size() + packed_.size());
  const auto rows = static_cast<std::size_t>(border_rows_.size() + packed_rows_.size());
  return plan_->bytes() + krill::bytes(*border_) + sizeof(T) * entries + sizeof(std::int32_t) * rows +
         sizeof(std::uint32_t) * static_cast<std::size_t>(is_border_.size());
}

template <class T>
void Distributed<T>::apply(Context& ctx, const Array<T>& x, Array<T>& y, const Dots<T>& dots) const {
  using K = kernel_t<T>;
  require_size("distributed: x", x.size(), rows());
  require_size("distributed: y", y.size(), rows());
  require_disjoint("distributed: x and y", x, y);
  require(!dots.left_out, "distributed: dots are of all rows");
  if (!ctx.on_cuda() && ctx.host_tag().skip.now()) return;  // as on all ranks
  ctx.dispatch([&](const auto& where) {
    const K* own = x.read(where);
    K* packed = halo_.packs() ? packed_.write(where) : nullptr;
    if (packed) run_pass(where, packed_.size(), TakePlaces<K>{packed_rows_.read(where), own, packed});
    const auto [out, in] = halo_.messages<K>(own, packed, ghosts_.write(where));
    start_on(where, team_, out, in);
  });

  // A border row takes part in dots once it is whole: what it was before may be much greater, and would cancel.
  Dots<T> of_others;
  if (dots.first) of_others.with_first = dots.with_first, of_others.first = &first_;
  if (dots.second) of_others.with_second = dots.with_second, of_others.second = &second_;
  of_others.left_out = &is_border_;
  {
    const Context::TeamScope alone(ctx, nullptr);
    plan_->apply(ctx, T(1), x, T(0), y, of_others);
  }

  const Context::TeamScope over(ctx, &team_);
  ctx.dispatch([&](const auto& where) {
    finish_on(where, team_);
    const auto partner = [&](const Array<T>* with) { return with ? with->read(where) : nullptr; };
    const auto result = [&](Array<wide_t<T>>* sum) { return sum ? sum->write(where) : nullptr; };
    const auto found = [&](const Array<wide_t<T>>* sum) { return sum ? sum->read(where) : nullptr; };
    const auto view = [&] {
      return DotsView<K>{partner(dots.with_first), result(dots.first), partner(dots.with_second), result(dots.second)};
    };
    std::visit(Overloaded{[&]<class Offset>(const Csr<T, Offset>& border) {
                            const Border<K, Offset> rows{border.view(where), border_rows_.read(where),
                                                         ghosts_.read(where), y.update(where)};
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
      instance<AnyMatrix<T>(Context&, const RowSlice<T>&, const HaloPlan&)>(in_places),
      instance<std::vector<T>(Team&, const RowPartition&, std::span<const T>)>(gather_rows),
      instance<void(Team&, const RowPartition&, std::span<T>)>(gather_other_rows)};
};
template <class T, class Offset>
struct SliceInstances {
  static constexpr std::tuple list{
      instance<RowSlice<T>(const Csr<T, Offset>&, std::int64_t, std::int64_t)>(slice_rows),
      instance<std::vector<SharedPart>(const Csr<T, Offset>&, const RowPartition&)>(shared_parts)};
};
KRILL_INSTANTIATE(Distributed);
template std::vector<std::int32_t> gather_rows(Team&, const RowPartition&, std::span<const std::int32_t>);
KRILL_INSTANTIATE(DistributedInstances);
KRILL_INSTANTIATE_WITH_OFFSETS(SliceInstances);

}  // namespace krill
