#include "apps/verify/references/entries.hpp"

#include <string>
#include <type_traits>

#include "sparse/core/error.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill::apps::verify {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw InvalidArgument("the arrays are not as the format has them: " + what);
}
void require(bool holds, const char* what) {
  if (!holds) refuse(what);
}

/// Collects the entries of a matrix.
template <class T>
class Reader {
 public:
  Reader(std::int32_t rows, std::int32_t cols) : rows_(rows), cols_(cols) {}

  bool is_inside(std::int64_t row, std::int64_t col) const {
    return row >= 0 && row < rows_ && col >= 0 && col < cols_;
  }
  void take(std::int64_t row, std::int64_t col, const T& value) {
    if (!is_inside(row, col))
      refuse("entry (" + std::to_string(row) + ", " + std::to_string(col) + ") lies outside of the matrix");
    entries_.push_back({static_cast<std::int32_t>(row), static_cast<std::int32_t>(col), value});
  }
  std::int64_t count() const { return std::ssize(entries_); }
  std::vector<Entry<T>> result() && { return std::move(entries_); }

 private:
  std::int32_t rows_, cols_;
  std::vector<Entry<T>> entries_;
};

/// Raises unless what it is shown ascends strictly.
class Ascending {
 public:
  void next(std::int64_t index) {
    if (index <= last_) refuse("index " + std::to_string(index) + " does not ascend");
    last_ = index;
  }

 private:
  std::int64_t last_ = std::numeric_limits<std::int64_t>::min();
};

/// use(s, k) for the places k = offsets[s] to offsets[s + 1] - 1 of every s.
template <class Offset, class F>
void for_ranges(std::span<const Offset> offsets, std::size_t places, F&& use) {
  require(!offsets.empty() && offsets.front() == 0, "offsets do not begin with 0");
  require(static_cast<std::size_t>(offsets.back()) == places, "offsets do not end with the number of places");
  for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
    require(offsets[s] <= offsets[s + 1] && offsets[s + 1] <= offsets.back(), "offsets fall");
    for (Offset k = offsets[s]; k < offsets[s + 1]; ++k) use(s, static_cast<std::size_t>(k));
  }
}

/// Compressed rows, or columns where turned: one offset more than rows, columns that ascend in each.
template <class T, class Offset>
void read_compressed(Reader<T>& reader, std::span<const Offset> offsets, std::span<const std::int32_t> indices,
                     std::span<const T> values, bool turned) {
  std::vector<Ascending> order(offsets.size());
  for_ranges(offsets, values.size(), [&](std::size_t s, std::size_t k) {
    const auto major = static_cast<std::int64_t>(s);
    order[s].next(indices[k]);
    reader.take(turned ? indices[k] : major, turned ? major : indices[k], values[k]);
  });
}

template <class T, class Offset>
void read(Reader<T>& reader, const Csr<T, Offset>& A) {
  read_compressed<T, Offset>(reader, A.row_offsets().host(), A.col_indices().host(), A.values().host(), false);
}
template <class T>
void read(Reader<T>& reader, const Csc<T>& A) {
  read_compressed<T, std::int32_t>(reader, A.col_offsets().host(), A.row_indices().host(), A.values().host(), true);
}

/// Row and column of every entry, sorted by row, then by column.
template <class T>
void read(Reader<T>& reader, const Coo<T>& A) {
  const auto row = A.row_indices().host(), col = A.col_indices().host();
  const auto values = A.values().host();
  Ascending order;
  for (std::size_t k = 0; k < row.size(); ++k) {
    order.next(std::int64_t{row[k]} * A.cols() + col[k]);
    reader.take(row[k], col[k], values[k]);
  }
}
template <class T>
void read(Reader<T>& reader, const CooAos<T>& A) {
  const auto pairs = A.indices().host();
  const auto values = A.values().host();
  Ascending order;
  for (std::size_t k = 0; k < values.size(); ++k) {
    order.next(std::int64_t{pairs[2 * k]} * A.cols() + pairs[2 * k + 1]);
    reader.take(pairs[2 * k], pairs[2 * k + 1], values[k]);
  }
}

/// Block k at block (I, J): entry (i, j) of it by rows or by columns. What sticks out of the matrix is none.
template <class T>
void read_block(Reader<T>& reader, const Blocking& blocks, std::span<const T> values, std::size_t k, std::int64_t I,
                std::int64_t J) {
  const auto height = as_size(blocks.row_dim), width = as_size(blocks.col_dim);
  for (std::size_t i = 0; i < height; ++i)
    for (std::size_t j = 0; j < width; ++j) {
      const std::int64_t row = I * blocks.row_dim + static_cast<std::int64_t>(i),
                         col = J * blocks.col_dim + static_cast<std::int64_t>(j);
      const std::size_t inside = blocks.order == BlockOrder::row_major ? i * width + j : i + j * height;
      if (reader.is_inside(row, col)) reader.take(row, col, values[k * height * width + inside]);
    }
}

template <class T>
void read(Reader<T>& reader, const Bsr<T>& A) {
  const auto block_cols = A.col_indices().host();
  const std::span<const T> values = A.values().host();
  std::vector<Ascending> order(A.row_offsets().host().size());
  for_ranges(A.row_offsets().host(), block_cols.size(), [&](std::size_t I, std::size_t k) {
    order[I].next(block_cols[k]);
    read_block<T>(reader, A.blocks(), values, k, static_cast<std::int64_t>(I), block_cols[k]);
  });
}
template <class T>
void read(Reader<T>& reader, const Bsrx<T>& A) {
  const auto begins = A.row_begins().host(), ends = A.row_ends().host(), block_cols = A.col_indices().host();
  const std::span<const T> values = A.values().host();
  for (std::size_t I = 0; I < begins.size(); ++I) {
    require(begins[I] >= 0 && begins[I] <= ends[I] && as_size(ends[I]) <= block_cols.size(),
            "a block row lies outside of the stored blocks");
    Ascending order;
    for (std::size_t k = as_size(begins[I]); k < as_size(ends[I]); ++k) {
      order.next(block_cols[k]);
      read_block<T>(reader, A.blocks(), values, k, static_cast<std::int64_t>(I), block_cols[k]);
    }
  }
}
template <class T>
void read(Reader<T>& reader, const Gebsc<T>& A) {
  const auto block_rows = A.row_indices().host();
  const std::span<const T> values = A.values().host();
  std::vector<Ascending> order(A.col_offsets().host().size());
  for_ranges(A.col_offsets().host(), block_rows.size(), [&](std::size_t J, std::size_t k) {
    order[J].next(block_rows[k]);
    read_block<T>(reader, A.blocks(), values, k, block_rows[k], static_cast<std::int64_t>(J));
  });
}

/// A row of width places, the first at `place`, the next ones at a distance of `stride`: entries in ascending columns,
/// then padding, of column -1 and value 0.
template <class T>
void read_padded(Reader<T>& reader, std::int64_t row, std::size_t place, std::size_t width, std::size_t stride,
                 std::span<const std::int32_t> cols, std::span<const T> values) {
  Ascending order;
  bool ended = false;
  for (std::size_t k = 0; k < width; ++k, place += stride) {
    if (cols[place] == -1) {
      require(values[place] == T(0), "padding has a value");
      ended = true;
      continue;
    }
    require(!ended, "padding stands before an entry");
    order.next(cols[place]);
    reader.take(row, cols[place], values[place]);
  }
}

template <class T>
void read(Reader<T>& reader, const Ell<T>& A) {
  const auto rows = as_size(A.rows());
  for (std::size_t i = 0; i < rows; ++i)
    read_padded<T>(reader, static_cast<std::int64_t>(i), i, static_cast<std::size_t>(A.width()), rows,
                   A.col_indices().host(), A.values().host());
  require(reader.count() == A.nnz(), "nnz is not the number of entries");
}
template <class T>
void read(Reader<T>& reader, const Sell<T>& A) {
  const auto slices = A.slice_offsets().host();
  const auto row_permutation = A.row_permutation().host();
  const auto height = as_size(A.slice_rows()), rows = as_size(A.rows());
  std::vector<bool> seen(rows);
  for (std::size_t t = 0; t < (slices.size() - 1) * height; ++t) {
    const auto begin = static_cast<std::size_t>(slices[t / height]),
               end = static_cast<std::size_t>(slices[t / height + 1]);
    require(begin <= end && (end - begin) % height == 0 && end <= A.values().host().size(),
            "a slice does not hold whole columns of places");
    std::int64_t row = -1;  // of the places that the last slice has beyond the last row
    if (t < rows) {
      row = row_permutation.empty() ? static_cast<std::int64_t>(t) : row_permutation[t];
      require(row >= 0 && row < A.rows() && !seen[static_cast<std::size_t>(row)], "the permutation is none");
      seen[static_cast<std::size_t>(row)] = true;
    }
    read_padded<T>(reader, row, begin + t % height, (end - begin) / height, height, A.col_indices().host(),
                   A.values().host());
  }
  require(reader.count() == A.nnz(), "nnz is not the number of entries");
}
template <class T>
void read(Reader<T>& reader, const Hyb<T>& A) {
  read(reader, A.ell());
  read(reader, A.coo());
}

/// Diagonal d of the rows first to first + height - 1: row first + r at values[d height + r], zeros being no entries.
template <class T>
void read_diagonal(Reader<T>& reader, std::size_t d, std::int64_t first, std::int64_t height, std::int64_t offset,
                   std::span<const T> values) {
  for (std::int64_t r = 0; r < height; ++r) {
    const T value = values[d * static_cast<std::size_t>(height) + static_cast<std::size_t>(r)];
    if (value != T(0)) reader.take(first + r, first + r + offset, value);
  }
}
template <class T>
void read(Reader<T>& reader, const Dia<T>& A) {
  const auto offsets = A.offsets().host();
  if (A.hack_rows() == 0) {
    Ascending order;
    for (std::size_t d = 0; d < offsets.size(); ++d) {
      order.next(offsets[d]);
      read_diagonal<T>(reader, d, 0, A.rows(), offsets[d], A.values().host());
    }
    return;
  }
  std::vector<Ascending> order(A.hack_offsets().host().size());
  for_ranges(A.hack_offsets().host(), offsets.size(), [&](std::size_t hack, std::size_t d) {
    order[hack].next(offsets[d]);
    read_diagonal<T>(reader, d, static_cast<std::int64_t>(hack) * A.hack_rows(), A.hack_rows(), offsets[d],
                     A.values().host());
  });
}

/// Rows run through the blocks: place c of row i belongs to block c / block_dim of its block row.
template <class T>
void read(Reader<T>& reader, const BlockedEll<T>& A) {
  const auto block_cols = A.col_indices().host();
  const auto values = A.values().host();
  const auto dim = as_size(A.block_dim()), places = static_cast<std::size_t>(A.ell_cols()),
             width = (places + dim - 1) / dim;
  for (std::size_t i = 0; i < as_size(A.rows()); ++i)
    for (std::size_t c = 0; c < places; ++c) {
      const std::int32_t J = block_cols[i / dim * width + c / dim];
      const std::int64_t col = std::int64_t{J} * A.block_dim() + static_cast<std::int64_t>(c % dim);
      if (J != -1 && col < A.cols()) reader.take(static_cast<std::int64_t>(i), col, values[i * places + c]);
    }
  for (std::size_t I = 0; width > 0 && I < block_cols.size() / width; ++I) {
    Ascending order;
    bool ended = false;
    for (std::size_t k = I * width; k < (I + 1) * width; ++k) {
      require(!ended || block_cols[k] == -1, "padding stands before a block");
      ended = block_cols[k] == -1;
      if (!ended) order.next(block_cols[k]);
    }
  }
}

template <class T>
void sort_and_filter(std::vector<Entry<T>>& entries, bool without_zeros) {
  if (without_zeros) std::erase_if(entries, [](const Entry<T>& e) { return e.value == T(0); });
  const auto earlier = [](const Entry<T>& a, const Entry<T>& b) {
    return a.row != b.row ? a.row < b.row : a.col < b.col;
  };
  if (!std::ranges::is_sorted(entries, earlier)) std::ranges::sort(entries, earlier);
}

}  // namespace

template <class T>
std::vector<Entry<T>> entries_of(const AnyMatrix<T>& A, bool without_zeros) {
  Reader<T> reader(rows(A), cols(A));
  std::visit([&](const auto& a) { read(reader, a); }, A);
  std::vector<Entry<T>> entries = std::move(reader).result();
  sort_and_filter(entries, without_zeros);
  return entries;
}
template <class T>
std::vector<Entry<T>> entries_of(const Rows<T>& A, bool without_zeros) {
  std::vector<Entry<T>> entries;
  A.for_places([&](std::int32_t i, std::size_t k) { entries.push_back({i, A.col[k], A.value[k]}); });
  sort_and_filter(entries, without_zeros);
  return entries;
}

template <class T>
Rows<T> rows_of(const AnyMatrix<T>& A) {
  Rows<T> r{rows(A), cols(A), std::vector<std::size_t>(as_size(rows(A)) + 1), {}, {}};
  for (const Entry<T>& e : entries_of(A, false)) {
    ++r.offsets[as_size(e.row) + 1];
    r.col.push_back(e.col), r.value.push_back(e.value);
  }
  for (std::size_t i = 0; i < as_size(r.rows); ++i) r.offsets[i + 1] += r.offsets[i];
  return r;
}
template <class T, class Offset>
Rows<T> rows_of(const Csr<T, Offset>& A) {
  Rows<T> r{A.rows(), A.cols(), {}, {}, {}};
  r.offsets.assign(A.row_offsets().host().begin(), A.row_offsets().host().end());
  r.col.assign(A.col_indices().host().begin(), A.col_indices().host().end());
  r.value.assign(A.values().host().begin(), A.values().host().end());
  return r;
}

template <class T>
struct EntryInstances {
  static constexpr std::tuple list{instance<std::vector<Entry<T>>(const AnyMatrix<T>&, bool)>(entries_of),
                                   instance<std::vector<Entry<T>>(const Rows<T>&, bool)>(entries_of),
                                   instance<Rows<T>(const AnyMatrix<T>&)>(rows_of),
                                   instance<Rows<T>(const Csr<T, std::int32_t>&)>(rows_of),
                                   instance<Rows<T>(const Csr<T, std::int64_t>&)>(rows_of)};
};
KRILL_INSTANTIATE(EntryInstances);

}  // namespace krill::apps::verify
