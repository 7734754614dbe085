#include "sparse/parallel/distributed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sparse/convert/to_format.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/pass_host.hpp"

namespace krill {

using namespace detail;
namespace {

/// A matrix in CSR that grows row after row.
template <class T>
struct GrowingCsr {
  std::vector<std::int64_t> row_offsets{0};
  std::vector<std::int32_t> col_indices = {};
  std::vector<T> values = {};

  void add(std::int64_t column, const T& value) {
    col_indices.push_back(static_cast<std::int32_t>(column));
    values.push_back(value);
  }
  void end_row() { row_offsets.push_back(std::ssize(values)); }
  /// With 32-bit offsets where they can be.
  AnyMatrix<T> matrix(std::int64_t columns) && {
    const auto cols = static_cast<std::int32_t>(columns);
    if (std::ssize(values) > std::numeric_limits<std::int32_t>::max())
      return Csr<T, std::int64_t>(cols, Array(std::move(row_offsets)), Array(std::move(col_indices)),
                                  Array<T>(std::move(values)));
    return Csr<T>(cols, Array(std::vector<std::int32_t>(row_offsets.begin(), row_offsets.end())),
                  Array(std::move(col_indices)), Array<T>(std::move(values)));
  }
};

template <class T>
std::int64_t rows_of(const RowSlice<T>& slice) {
  return std::ssize(slice.row_offsets) - 1;
}

/// f(column, value) for the entries of row i.
template <class T, class F>
void for_entries(const RowSlice<T>& slice, std::int64_t i, F&& f) {
  for (auto k = static_cast<std::size_t>(slice.row_offsets[static_cast<std::size_t>(i)]);
       k < static_cast<std::size_t>(slice.row_offsets[static_cast<std::size_t>(i) + 1]); ++k)
    f(slice.columns[k], slice.values[k]);
}

/// The columns that others own, once each.
template <class T>
std::vector<std::int64_t> ghosts_of(Team& team, const RowPartition& partition, const RowSlice<T>& slice) {
  if (partition.ranks() != team.size())
    throw ShapeMismatch(
        fmt::format("distributed: the partition is for {} ranks, the team has {}", partition.ranks(), team.size()));
  if (rows_of(slice) != partition.rows(team.rank()))
    throw ShapeMismatch(fmt::format("distributed: rank {} brings {} rows, the partition gives it {}", team.rank(),
                                    rows_of(slice), partition.rows(team.rank())));
  const std::int64_t begin = partition.begin(team.rank()), end = partition.end(team.rank());
  std::vector<std::int64_t> ghosts;
  for (const std::int64_t column : slice.columns) {
    if (column < 0 || column >= partition.rows())
      throw InvalidArgument(
          fmt::format("distributed: column {} lies outside of the square matrix of {} rows", column, partition.rows()));
    if (column < begin || column >= end) ghosts.push_back(column);
  }
  std::ranges::sort(ghosts);
  ghosts.erase(std::ranges::unique(ghosts).begin(), ghosts.end());
  if (const std::int64_t all = end - begin + std::ssize(ghosts); all > std::numeric_limits<std::int32_t>::max())
    throw InvalidArgument(fmt::format(
        "distributed: {} rows and ghosts are rank {}'s, 2^31 - 1 are the most; take more ranks", all, team.rank()));
  return ghosts;
}

}  // namespace

template <class T, class Offset>
RowSlice<T> slice_rows(const Csr<T, Offset>& A, std::int64_t begin, std::int64_t end) {
  if (begin < 0 || end < begin || end > A.rows())
    throw InvalidArgument(fmt::format("slice_rows: rows {} to {} of a matrix that has {}", begin, end, A.rows()));
  const auto offsets = A.row_offsets().host().subspan(static_cast<std::size_t>(begin));
  const auto first = static_cast<std::size_t>(offsets[0]);
  const auto count = static_cast<std::size_t>(offsets[static_cast<std::size_t>(end - begin)]) - first;
  const auto columns = A.col_indices().host().subspan(first, count);
  const auto values = A.values().host().subspan(first, count);
  RowSlice<T> slice;
  slice.row_offsets.resize(static_cast<std::size_t>(end - begin) + 1);
  for (std::size_t i = 0; i < slice.row_offsets.size(); ++i)
    slice.row_offsets[i] = static_cast<std::int64_t>(offsets[i]) - static_cast<std::int64_t>(first);
  slice.columns.assign(columns.begin(), columns.end());
  slice.values.assign(values.begin(), values.end());
  return slice;
}

template <class T>
AnyMatrix<T> columns_of(const RowSlice<T>& slice, std::int64_t begin, std::int64_t end) {
  GrowingCsr<T> made;
  for (std::int64_t i = 0; i < rows_of(slice); ++i) {
    for_entries(slice, i, [&](std::int64_t column, const T& value) {
      if (column >= begin && column < end) made.add(column - begin, value);
    });
    made.end_row();
  }
  return std::move(made).matrix(end - begin);
}

template <class T>
AnyMatrix<T> in_places(const RowSlice<T>& slice, const HaloPlan& halo) {
  GrowingCsr<T> made;
  for (std::int64_t i = 0; i < rows_of(slice); ++i) {
    for_entries(slice, i, [&](std::int64_t column, const T& value) { made.add(halo.place(column), value); });
    made.end_row();
  }
  return std::move(made).matrix(halo.size());
}

template <class T>
Distributed<T>::Distributed(Context& ctx, Team& team, RowPartition partition, const RowSlice<T>& slice, Format format,
                            const FormatLayout& layout)
    : team_(team),
      partition_(std::move(partition)),
      halo_(team, partition_, ghosts_of(team, partition_, slice)),
      whole_(halo_.size(), "vector with ghosts"),
      packed_(halo_.sent(), "entries for other ranks") {
  if (ctx.on_cuda())
    throw InvalidArgument("distributed: a team of ranks multiplies on the host as yet: use backend: host");
  const Context::TeamScope alone(ctx, nullptr);
  const std::int64_t low = halo_.low(), high = low + halo_.own();
  const auto is_ghost = [&](std::int64_t place) { return place < low || place >= high; };
  GrowingCsr<T> interior, border;
  for (std::int64_t i = 0; i < rows(); ++i) {
    bool has_ghosts = false;
    for_entries(slice, i,
                [&](std::int64_t column, const T&) { has_ghosts = has_ghosts || is_ghost(halo_.place(column)); });
    if (has_ghosts) border_rows_.push_back(static_cast<std::int32_t>(i));
  }
  waits_ = 2 * std::ssize(border_rows_) > rows();
  std::size_t next = 0;  // of the border rows
  for (std::int64_t i = 0; i < rows(); ++i) {
    const bool is_border = next < border_rows_.size() && border_rows_[next] == i;
    GrowingCsr<T>& to = is_border && !waits_ ? border : interior;
    for_entries(slice, i, [&](std::int64_t column, const T& value) { to.add(halo_.place(column), value); });
    interior.end_row();
    if (!is_border) continue;
    ++next;
    if (!waits_) border.end_row();
  }
  part_ = {partition_.begin(team.rank()),
           rows(),
           std::ssize(slice.values),
           std::ssize(halo_.ghosts()),
           halo_.sent(),
           std::ssize(border_rows_),
           halo_.neighbors()};
  border_ = std::make_unique<const AnyMatrix<T>>(std::move(border).matrix(halo_.size()));
  AnyMatrix<T> made = std::move(interior).matrix(halo_.size());
  if (format != Format::automatic && format != Format::csr) made = to_format(ctx, std::move(made), format, layout);
  interior_ = std::make_unique<const AnyMatrix<T>>(std::move(made));
  plan_ = std::make_unique<const SpmvPlan<T>>(
      ctx, *interior_, Op::none, format == Format::automatic ? SpmvMethod::automatic : SpmvMethod::in_place);
}

template <class T>
std::size_t Distributed<T>::bytes() const {
  return bytes_of(whole_, packed_) + krill::bytes(*border_) + plan_->bytes() +
         border_rows_.size() * sizeof(border_rows_[0]);
}

template <class T>
void Distributed<T>::apply(Context& ctx, const Array<T>& x, Array<T>& y) const {
  require_size("distributed: x", x.size(), rows());
  require_size("distributed: y", y.size(), rows());
  require_disjoint("distributed: x and y", x, y);
  const Context::TeamScope over(ctx, &team_), alone(ctx, nullptr);  // the first refuses CUDA
  const Host& host = ctx.host_tag();
  if (host.skip.now()) return;
  kernel_t<T>* whole = whole_.update(host);
  const kernel_t<T>* own = x.read(host);
  for_each_index(host, rows(), [&](std::int64_t i) { whole[halo_.low() + i] = own[i]; });
  halo_.start(team_, whole, packed_.write(host));
  if (waits_) halo_.finish(team_);
  plan_->apply(ctx, T(1), whole_, T(0), y);
  if (waits_) return;
  halo_.finish(team_);
  std::visit(
      [&]<class Matrix>(const Matrix& border) {
        if constexpr (is_csr<Matrix>) {
          const auto a = border.view(host);
          kernel_t<T>* to = y.update(host);
          for_blocks(host, a.rows, 1024, a.nnz, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t b = begin; b < end; ++b) {
              kernel_t<T> sum{};
              a.for_entries(static_cast<std::int32_t>(b),
                            [&](std::int32_t column, const kernel_t<T>& value) { sum += value * whole[column]; });
              to[border_rows_[static_cast<std::size_t>(b)]] = sum;
            }
          });
        }
      },
      *border_);
}

template <class T>
std::vector<T> gather_rows(Team& team, const RowPartition& partition, std::span<const T> own) {
  require_size("gather_rows: rows of this rank", std::ssize(own), partition.rows(team.rank()));
  std::vector<T> all(static_cast<std::size_t>(partition.rows()));
  std::vector<Team::Outgoing> out;
  std::vector<Team::Incoming> in;
  for (int r = 0; r < team.size(); ++r) {
    if (r == team.rank()) continue;
    const auto count = static_cast<std::size_t>(partition.rows(r));
    if (!own.empty()) out.push_back({r, own.data(), own.size_bytes()});
    if (count > 0) in.push_back({r, all.data() + partition.begin(r), count * sizeof(T)});
  }
  team.start(out, in);
  std::ranges::copy(own, all.begin() + partition.begin(team.rank()));
  team.finish();
  return all;
}

template <class T>
struct DistributedInstances {
  static constexpr std::tuple list{
      instance<AnyMatrix<T>(const RowSlice<T>&, std::int64_t, std::int64_t)>(columns_of),
      instance<AnyMatrix<T>(const RowSlice<T>&, const HaloPlan&)>(in_places),
      instance<std::vector<T>(Team&, const RowPartition&, std::span<const T>)>(gather_rows)};
};
template <class T, class Offset>
struct SliceInstances {
  static constexpr auto list = instance<RowSlice<T>(const Csr<T, Offset>&, std::int64_t, std::int64_t)>(slice_rows);
};
KRILL_INSTANTIATE(Distributed);
KRILL_INSTANTIATE(DistributedInstances);
KRILL_INSTANTIATE_WITH_OFFSETS(SliceInstances);

}  // namespace krill
