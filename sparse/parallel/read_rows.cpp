#include "sparse/parallel/read_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "sparse/core/instantiate.hpp"
#include "sparse/io/checksum.hpp"
#include "sparse/io/hypre_ij.hpp"
#include "sparse/io/input_file.hpp"
#include "sparse/io/matrix_market.hpp"
#include "sparse/parallel/distributed.hpp"
#include "sparse/parallel/exchange.hpp"

namespace krill {
namespace {

namespace fs = std::filesystem;

/// A file whose lines can be read apart from each other.
struct CoordinateFile {
  MatrixMarketHead head;
  std::size_t size = 0;  ///< in bytes
};

/// Nothing where it is none; what is wrong with it, reading it whole tells.
std::optional<CoordinateFile> coordinate_file(const fs::path& path) {
  constexpr std::size_t head_bytes = std::size_t{1} << 20;
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return {};
  CoordinateFile file{{}, static_cast<std::size_t>(fs::file_size(path))};
  InputFile text = read_bytes(path, 0, std::min(file.size, head_bytes));
  text.text.resize(text.view().rfind('\n') + 1);  // npos + 1 is 0
  if (!looks_like_matrix_market(text)) return {};
  try {
    file.head = parse_matrix_market_head(text);
  } catch (const ParseError&) {
    return {};
  }
  const MatrixKind& kind = file.head.kind;
  if (kind.dense || kind.vector || kind.rows != kind.cols) return {};
  return file;
}

/// By which files are told apart.
struct FileMark {
  std::size_t size = 0;
  std::uint64_t hash = 0;
  friend bool operator==(const FileMark&, const FileMark&) = default;
};

/// Of its first bytes, and of some from all over it.
FileMark mark_of(const fs::path& path, const CoordinateFile& file) {
  constexpr std::size_t places = 64, bytes = 4096;
  std::string hashes;
  for (std::size_t k = 0; k < places; ++k) {
    const std::size_t begin = file.size / places * k, end = std::min(file.size, begin + bytes);
    hashes += checksum(read_bytes(path, begin, end).view());
  }
  return {file.size, xxh64(hashes)};
}

/// Raises InvalidArgument where ranks have different ones.
void require_same(Team& team, const fs::path& path, const FileMark& mine) {
  const std::vector<FileMark> marks = gather_records(team, mine);
  const auto other = std::ranges::find_if(marks, [&](const FileMark& each) { return each != marks.front(); });
  if (other != marks.end())
    throw InvalidArgument(
        fmt::format("{}: rank {} has another file of this name than rank 0; all ranks have to read the same one",
                    path.string(), other - marks.begin()));
}

/// Where the first line begins that does so at `at` or later; the file's end where none does.
std::size_t line_from(const fs::path& path, std::size_t at, const CoordinateFile& file) {
  constexpr std::size_t step = std::size_t{1} << 16;
  if (at <= file.head.body) return file.head.body;
  for (std::size_t begin = at - 1; begin < file.size; begin += step) {
    const InputFile text = read_bytes(path, begin, std::min(file.size, begin + step));
    if (const std::size_t end = text.view().find('\n'); end != std::string_view::npos) return begin + end + 1;
  }
  return file.size;
}

/// This rank's share of the text, and where its entries begin: the first one has the head, too.
struct Share {
  InputFile lines;
  std::size_t body = 0;
};

Share read_share(Team& team, const fs::path& path, const CoordinateFile& file) {
  const auto ranks = static_cast<std::size_t>(team.size()), me = static_cast<std::size_t>(team.rank());
  const std::size_t body = file.head.body, bytes = file.size - body;
  const auto cut = [&](std::size_t r) {
    return r == ranks ? file.size : line_from(path, body + bytes / ranks * r + bytes % ranks * r / ranks, file);
  };
  const std::size_t begin = me == 0 ? 0 : cut(me), end = cut(me + 1);
  Share share{read_bytes(path, begin, end), me == 0 ? body : 0};
  const std::vector<std::int64_t> lines =
      gather_records(team, std::int64_t{std::ranges::count(share.lines.view(), '\n')});
  for (std::size_t r = 0; r < me; ++r) share.lines.lines_before += lines[r];
  return share;
}

/// Of all shares, from rank to rank.
std::string shared_checksum(Team& team, std::span<const InputFile> mine) {
  RunningChecksum sum;
  const auto pass_on = [&](std::span<const Team::Outgoing> out, std::span<const Team::Incoming> in) {
    team.start(out, in);
    team.finish();
  };
  const int me = team.rank();
  if (me > 0) {
    const Team::Incoming from{me - 1, &sum, sizeof sum};
    pass_on({}, {&from, 1});
  }
  for (const InputFile& text : mine) sum.add(text.view());
  if (me + 1 < team.size()) {
    const Team::Outgoing to{me + 1, &sum, sizeof sum};
    pass_on({&to, 1}, {});
  }
  return gather_records(team, sum).back().text();
}

template <class T>
struct ReadEntry {
  std::int32_t row, col;
  T value;
};

/// Entries to the owners of their rows and, where their mirror images follow from them, of their columns.
template <class T>
Triplets<T> send_to_owners(Team& team, const RowPartition& owners, Triplets<T> read) {
  std::vector<std::vector<ReadEntry<T>>> to(static_cast<std::size_t>(team.size()));
  for (std::size_t k = 0; k < read.row.size(); ++k) {
    const ReadEntry<T> entry{read.row[k], read.col[k], read.value[k]};
    const int owner = owners.owner(entry.row), other = owners.owner(entry.col);
    to[static_cast<std::size_t>(owner)].push_back(entry);
    if (read.symmetry != Symmetry::general && other != owner) to[static_cast<std::size_t>(other)].push_back(entry);
  }
  Buffer<std::int32_t>().swap(read.row), Buffer<std::int32_t>().swap(read.col), Buffer<T>().swap(read.value);
  for (const ReadEntry<T>& entry : exchange(team, std::move(to)))
    read.row.push_back(entry.row), read.col.push_back(entry.col), read.value.push_back(entry.value);
  return read;
}

/// Rows of all ranks, of about as many each.
RowPartition even_rows(std::int64_t rows, int ranks, std::int64_t unit) {
  const std::int64_t units = (rows + unit - 1) / unit;
  std::vector<std::int64_t> offsets;
  for (int r = 0; r <= ranks; ++r) offsets.push_back(std::min(rows, units * r / ranks * unit));
  return RowPartition(std::move(offsets));
}

/// By the cost of rows that lie in another partition, whose ranks begin at multiples of the unit, too.
template <class T, class Offset>
RowPartition by_cost(Team& team, const RowPartition& now, const Csr<T, Offset>& mine, std::int64_t unit) {
  const std::int64_t rows = now.rows();
  const auto unit_of = [&](std::int64_t row) { return (row + unit - 1) / unit; };
  std::vector<std::int64_t> begins, own;  // of ranks, in units; entries of each unit
  for (int r = 0; r <= team.size(); ++r) begins.push_back(r == team.size() ? unit_of(rows) : unit_of(now.begin(r)));
  const auto offsets = mine.row_offsets().host();
  for (std::int64_t row = 0; row < mine.rows(); row += unit) {
    const std::int64_t end = std::min<std::int64_t>(mine.rows(), row + unit);
    own.push_back(std::int64_t{offsets[static_cast<std::size_t>(end)]} -
                  std::int64_t{offsets[static_cast<std::size_t>(row)]});
  }
  const auto counts = gather_rows<std::int64_t>(team, RowPartition(std::move(begins)), own);
  std::vector<std::int64_t> before{0};
  for (const std::int64_t count : counts) before.push_back(before.back() + count);
  return RowPartition::by_cost(
      rows, [&](std::int64_t row) { return before[static_cast<std::size_t>(unit_of(row))]; }, team.size(), unit);
}

template <class T, class Offset>
Csr<T, Offset> csr_of(const std::vector<ReadEntry<T>>& entries, std::int64_t begin, std::int64_t rows,
                      std::int32_t cols) {
  std::vector<Offset> offsets(static_cast<std::size_t>(rows) + 1);
  Array<std::int32_t> columns(std::ssize(entries), "col_indices");
  Array<T> values(std::ssize(entries), "values");
  const auto to_columns = columns.edit();
  const auto to_values = values.edit();
  for (std::size_t k = 0; k < entries.size(); ++k) {
    ++offsets[static_cast<std::size_t>(entries[k].row - begin) + 1];
    to_columns[k] = entries[k].col, to_values[k] = entries[k].value;
  }
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  return {cols, Array<Offset>(std::move(offsets), "row_offsets"), std::move(columns), std::move(values)};
}

/// The rows of `to` that are this rank's, from those of `from`.
template <class T, class Offset>
AnyMatrix<T> move_rows(Team& team, const RowPartition& from, const RowPartition& to, Csr<T, Offset> mine) {
  const int me = team.rank();
  if (agree(team, from.begin(me) == to.begin(me) && from.end(me) == to.end(me))) return mine;
  const std::int32_t cols = mine.cols();
  std::vector<std::vector<ReadEntry<T>>> rows(static_cast<std::size_t>(team.size()));
  {
    const Csr<T, Offset> gone = std::move(mine);
    const RowSlice<T> slice = slice_rows(gone, 0, gone.rows());
    for (std::int64_t i = 0; i < slice.rows(); ++i) {
      const auto row = static_cast<std::int32_t>(from.begin(me) + i);
      auto& entries = rows[static_cast<std::size_t>(to.owner(row))];
      slice.for_entries(i, [&](std::int64_t column, const T& value) {
        entries.push_back({row, static_cast<std::int32_t>(column), value});
      });
    }
  }
  const std::vector<ReadEntry<T>> came = exchange(team, std::move(rows));
  if (std::ssize(came) > std::numeric_limits<std::int32_t>::max())
    return csr_of<T, std::int64_t>(came, to.begin(me), to.rows(me), cols);
  return csr_of<T, std::int32_t>(came, to.begin(me), to.rows(me), cols);
}

/// Entries of any rows that a rank has read, of a matrix of which all have read the rest.
template <class T>
struct ReadShare {
  MatrixKind kind;
  Triplets<T> entries;
  std::string checksum;
};

/// Its share of the lines.
template <class T>
ReadShare<T> read_lines(Team& team, const fs::path& path, const CoordinateFile& file) {
  const MatrixKind& kind = file.head.kind;
  const Share share = read_share(team, path, file);
  bool is_whole = true;
  Triplets<T> read = parse_matrix_market_lines<T>(share.lines, file.head, share.body, [&](std::int64_t mine) {
    struct Count {
      std::int64_t entries, bytes;
    };
    EntryCounts counts{0, 0, true};
    const auto all = gather_records(team, Count{mine, std::ssize(share.lines.text)});
    for (std::size_t r = 0; r < all.size(); ++r) {
      if (std::cmp_less(r, team.rank())) counts.before += all[r].entries;
      if (std::cmp_greater(r, team.rank()) && all[r].bytes > 0) counts.at_end = false;
      counts.all += all[r].entries;
    }
    // The last rank with bytes is the last one with lines.
    counts.at_end = counts.at_end && (!share.lines.text.empty() || team.rank() == 0);
    is_whole = counts.all == kind.stored_entries;
    return counts;
  });
  if (!agree(team, is_whole)) throw TeamFailure(path.string() + ": another rank says what is wrong with the file");
  return {kind, std::move(read), shared_checksum(team, {&share.lines, 1})};
}

/// Its share of the parts, whole ones.
template <class T>
ReadShare<T> read_parts(Team& team, const IjFiles& files) {
  const auto cut = [&](std::int64_t rank) { return static_cast<std::int32_t>(rank * files.count / team.size()); };
  const std::int32_t begin = cut(team.rank()), end = cut(team.rank() + 1);
  const std::vector<IjHead> mine = read_ij_heads(files, begin, end);
  const std::vector<IjHead> heads =
      exchange(team, std::vector<std::vector<IjHead>>(static_cast<std::size_t>(team.size()), mine));
  const IjLayout layout = join_ij_heads(files, heads);
  ReadShare<T> share{layout.kind, begin_ij_triplets<T>(files, layout), {}};
  std::vector<InputFile> texts;
  for (std::int32_t k = begin; k < end; ++k) {
    texts.push_back(read_input(files.part(k)).matrix);
    append_ij_part(texts.back(), files, heads[static_cast<std::size_t>(k)], layout, share.entries);
  }
  for (const std::int64_t count : gather_records(team, std::ssize(share.entries.value)))
    share.kind.stored_entries += count;
  share.checksum = shared_checksum(team, texts);
  return share;
}

}  // namespace

template <class T>
std::optional<RowsInput<T>> read_rows(Team& team, const fs::path& path, std::int64_t unit) {
  const auto file = coordinate_file(path);
  const auto parts = file ? std::nullopt : find_ij_files(path);
  require_same(team, path, file ? mark_of(path, *file) : FileMark{static_cast<std::size_t>(parts ? parts->count : 0)});
  if (!file && !parts) return {};
  auto [kind, read, sum] = file ? read_lines<T>(team, path, *file) : read_parts<T>(team, *parts);
  if (kind.vector || kind.rows != kind.cols) return {};
  read.name = path.string();
  const RowPartition even = even_rows(kind.rows, team.size(), unit);
  CanonicalReport mine;
  AnyMatrix<T> rows =
      assemble_rows(send_to_owners(team, even, std::move(read)), static_cast<std::int32_t>(even.begin(team.rank())),
                    static_cast<std::int32_t>(even.end(team.rank())), mine);
  CanonicalReport canonical;
  for (const CanonicalReport& each : gather_records(team, mine)) add_rows(canonical, each);
  canonical.stored_entries = kind.stored_entries, canonical.mirrored /= 2;
  return std::visit(
      [&]<class Matrix>(Matrix& csr) -> RowsInput<T> {
        if constexpr (is_csr<Matrix>) {
          RowPartition partition = by_cost(team, even, csr, unit);
          AnyMatrix<T> moved = move_rows(team, even, partition, std::move(csr));
          return {kind, std::move(moved), std::move(partition), canonical, std::move(sum)};
        } else {
          throw InvalidArgument("read rows: assembled rows are in CSR");
        }
      },
      rows);
}

template <class T>
struct ReadRowsInstances {
  static constexpr auto list =
      instance<std::optional<RowsInput<T>>(Team&, const std::filesystem::path&, std::int64_t)>(read_rows);
};
KRILL_INSTANTIATE(ReadRowsInstances);

}  // namespace krill
