#include "sparse/io/triplets.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "sparse/core/error.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/io/host_memory.hpp"

namespace krill {
namespace {

/// A column, and whether the entry is the mirror image of a stored one, as one sortable number.
using SortKey = std::uint32_t;
constexpr SortKey key_of(std::int32_t col, bool mirrored) { return static_cast<SortKey>(col) << 1 | SortKey{mirrored}; }
constexpr std::int32_t col_of(SortKey key) { return static_cast<std::int32_t>(key >> 1); }

int threads_for(std::int64_t work) { return work < 32'768 ? 1 : omp_get_max_threads(); }

/// A dense array says nothing about a pattern: its zeros are no entries.
template <class T>
void drop_zeros(Triplets<T>& a) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < a.value.size(); ++i)
    if (a.value[i] != T(0)) a.row[kept] = a.row[i], a.col[kept] = a.col[i], a.value[kept++] = a.value[i];
  a.row.resize(kept), a.col.resize(kept), a.value.resize(kept);
}

struct Counted {
  std::int64_t expanded = 0;  ///< entries, those that follow from symmetry too
  bool canonical = false;     ///< no entry follows from another, and they stand as in CSR: (row, column) ascends
};

/// Of rows [begin, end). Raises unless every index lies in the matrix.
template <class T>
Counted check_and_count(const Triplets<T>& a, std::int32_t begin, std::int32_t end) {
  require_size(a.name + ": columns", std::ssize(a.col), std::ssize(a.row));
  require_size(a.name + ": values", std::ssize(a.value), std::ssize(a.row));
  if (a.symmetry != Symmetry::general && a.rows != a.cols)
    throw ShapeMismatch(fmt::format("{}: the matrix is {} and {} x {}, as many rows as columns are needed", a.name,
                                    name(a.symmetry), a.rows, a.cols));
  const std::int64_t n = std::ssize(a.row);
  const auto before = [&](std::size_t i, std::size_t j) {
    return a.row[i] != a.row[j] ? a.row[i] < a.row[j] : a.col[i] < a.col[j];
  };
  const bool general = a.symmetry == Symmetry::general;
  const auto is_here = [&](std::int32_t row) { return begin <= row && row < end; };
  std::int64_t expanded = 0, descents = 0, first_fault = n;
#pragma omp parallel for num_threads(threads_for(n)) reduction(+ : expanded, descents) reduction(min : first_fault)
  for (std::int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int32_t row = a.row[at], col = a.col[at];
    expanded += is_here(row) + (!general && row != col && is_here(col));
    descents += !is_here(row) || (i > 0 && !before(at - 1, at));
    if (row < 0 || row >= a.rows || col < 0 || col >= a.cols) first_fault = std::min(first_fault, i);
  }
  if (first_fault < n)
    throw InvalidArgument(fmt::format("{}: entry {} (from 0) lies at row {}, column {} of a {} x {} matrix (from 0)",
                                      a.name, first_fault, a.row[static_cast<std::size_t>(first_fault)],
                                      a.col[static_cast<std::size_t>(first_fault)], a.rows, a.cols));
  return {expanded, general && descents == 0};
}

struct BothTriangles {
  std::int32_t row, col;
};

template <class T, class Offset>
class Assembly {
 public:
  Assembly(Triplets<T> stored, std::int32_t begin, std::int32_t end, const Counted& counted, CanonicalReport& report)
      : stored_(std::move(stored)),
        canonical_(counted.canonical),
        begin_(begin),
        rows_(end - begin),
        cols_(stored_.cols),
        threads_(threads_for(counted.expanded)),
        report_(report),
        offset_array_(std::int64_t{rows_} + 1, "row_offsets"),
        col_array_(counted.expanded, "col_indices"),
        value_array_(counted.expanded, "values"),
        offsets_(offset_array_.edit()),
        cols_and_keys_(col_array_.edit()),
        values_(value_array_.edit()) {}

  Csr<T, Offset> run() {
    if (canonical_) {
      copy_canonical();
    } else {
      count_rows();
      scatter();
      canonicalize_rows();
      if (report_.duplicates + report_.mirrored > 0) close_gaps();
    }
    describe();
    return {cols_, std::move(offset_array_), std::move(col_array_), std::move(value_array_)};
  }

 private:
  /// Entries that stand as in CSR: a row begins where the index of the row changes.
  void copy_canonical() {
    const std::int64_t n = std::ssize(stored_.row);
#pragma omp parallel for num_threads(threads_) schedule(static)
    for (std::int64_t i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      for (std::int32_t row = i == 0 ? -1 : stored_.row[at - 1] - begin_; row < stored_.row[at] - begin_;)
        offsets_[static_cast<std::size_t>(++row)] = static_cast<Offset>(i);
      cols_and_keys_[at] = stored_.col[at];
      values_[at] = stored_.value[at];
    }
    std::fill(offsets_.begin() + (n == 0 ? 0 : stored_.row.back() - begin_ + 1), offsets_.end(),
              static_cast<Offset>(n));
    release_stored();
  }

  void release_stored() {
    Buffer<std::int32_t>().swap(stored_.row);
    Buffer<std::int32_t>().swap(stored_.col);
    Buffer<T>().swap(stored_.value);
  }

  /// Calls f(row, key, value) for every entry, with symmetry expanded, of the rows [begin, end), which count from
  /// begin_, in the order of the file. Each thread looks at all entries and takes those of its own rows: 4 bytes read
  /// an entry and thread, in return for the same order with any number of threads and no counters for each of them.
  template <class F>
  void for_entries_in(std::int32_t begin, std::int32_t end, F f) const {
    const bool expand = stored_.symmetry != Symmetry::general;
    for (std::size_t i = 0; i < stored_.row.size(); ++i) {
      const std::int32_t row = stored_.row[i] - begin_, col = stored_.col[i] - begin_;
      if (row >= begin && row < end) f(row, key_of(stored_.col[i], false), i, false);
      if (expand && row != col && col >= begin && col < end) f(col, key_of(stored_.row[i], true), i, true);
    }
  }

  void count_rows() {
    std::fill(offsets_.begin(), offsets_.end(), Offset{0});
#pragma omp parallel num_threads(threads_)
    {
      const std::int64_t thread = omp_get_thread_num(), team = omp_get_num_threads();
      for_entries_in(
          static_cast<std::int32_t>(rows_ * thread / team), static_cast<std::int32_t>(rows_ * (thread + 1) / team),
          [&](std::int32_t row, SortKey, std::size_t, bool) { ++offsets_[static_cast<std::size_t>(row) + 1]; });
    }
    std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
  }

  /// Puts every entry into its row. Afterwards offsets_[row] is where the row ended up to here, and is put right again.
  void scatter() {
    std::vector<std::int32_t> bounds;  // rows of the threads, with about as many entries each
    for (std::int64_t thread = 0; thread <= threads_; ++thread) {
      const auto share = static_cast<Offset>(std::ssize(values_) * thread / threads_);
      const auto row = std::lower_bound(offsets_.begin(), offsets_.end(), share) - offsets_.begin();
      bounds.push_back(thread == threads_ ? rows_ : static_cast<std::int32_t>(std::min<std::ptrdiff_t>(row, rows_)));
    }
    bounds.front() = 0;
#pragma omp parallel for num_threads(threads_) schedule(static, 1)
    for (std::size_t part = 0; part < bounds.size() - 1; ++part)
      for_entries_in(bounds[part], bounds[part + 1], [&](std::int32_t row, SortKey key, std::size_t i, bool mirrored) {
        const auto at = static_cast<std::size_t>(offsets_[static_cast<std::size_t>(row)]++);
        cols_and_keys_[at] = static_cast<std::int32_t>(key);
        values_[at] = mirrored ? mirror_value(stored_.symmetry, stored_.value[i]) : stored_.value[i];
      });
    std::copy_backward(offsets_.begin(), offsets_.end() - 1, offsets_.end());
    offsets_.front() = 0;
    release_stored();
  }

  struct RowResult {
    std::int64_t duplicates = 0, mirrored = 0;
    std::optional<BothTriangles> fault;
  };

  /// Sorts and sums each row where it stands; its entries then fill the front of its place.
  void canonicalize_rows() {
    lengths_.resize(static_cast<std::size_t>(rows_));
    std::int64_t duplicates = 0, mirrored = 0;
    std::optional<BothTriangles> fault;
#pragma omp parallel num_threads(threads_) reduction(+ : duplicates, mirrored)
    {
      std::vector<std::uint64_t> order;
      std::vector<T> copy;
#pragma omp for schedule(dynamic, 512)
      for (std::int32_t row = 0; row < rows_; ++row) {
        const RowResult result = canonicalize_row(row, order, copy);
        duplicates += result.duplicates, mirrored += result.mirrored;
        if (result.fault)
#pragma omp critical(krill_assemble_fault)
          if (!fault || row < fault->row) fault = result.fault;
      }
    }
    if (fault) raise_both_triangles(*fault);
    report_.duplicates = duplicates, report_.mirrored = mirrored;
  }

  RowResult canonicalize_row(std::int32_t row, std::vector<std::uint64_t>& order, std::vector<T>& copy) {
    const auto begin = static_cast<std::size_t>(offsets_[static_cast<std::size_t>(row)]),
               size = static_cast<std::size_t>(offsets_[static_cast<std::size_t>(row) + 1]) - begin;
    const auto keys = cols_and_keys_.subspan(begin, size);
    const auto values = values_.subspan(begin, size);
    lengths_[static_cast<std::size_t>(row)] = static_cast<std::int32_t>(size);
    const auto col = [&](std::size_t i) { return col_of(static_cast<SortKey>(keys[i])); };
    std::size_t ascending = 1;
    while (ascending < size && col(ascending - 1) < col(ascending)) ++ascending;
    if (ascending >= size) {
      for (std::int32_t& key : keys) key = col_of(static_cast<SortKey>(key));
      return {};
    }
    order.resize(size);
    for (std::size_t i = 0; i < size; ++i) order[i] = std::uint64_t{static_cast<SortKey>(keys[i])} << 32 | i;
    std::sort(order.begin(), order.end());
    copy.assign(values.begin(), values.end());
    return merge(row, order, copy, keys, values);
  }

  /// Entries of one column stand together in `order`, first the stored ones, then mirror images, each in the file's
  /// order: sums them.
  RowResult merge(std::int32_t row, std::span<const std::uint64_t> order, std::span<const T> from,
                  std::span<std::int32_t> keys, std::span<T> values) {
    RowResult result;
    std::size_t filled = 0;
    const auto key = [&](std::size_t i) { return static_cast<SortKey>(order[i] >> 32); };
    const auto sum_from = [&](std::size_t& i) {
      const SortKey of = key(i);
      T sum = from[order[i] & 0xffff'ffff];
      for (++i; i < order.size() && key(i) == of; ++i, ++result.duplicates) sum += from[order[i] & 0xffff'ffff];
      return sum;
    };
    for (std::size_t i = 0; i < order.size(); ++filled) {
      const std::int32_t col = col_of(key(i));
      values[filled] = sum_from(i);
      keys[filled] = col;
      if (i == order.size() || col_of(key(i)) != col) continue;
      ++result.mirrored;
      if (const T mirror = sum_from(i);
          (stored_.symmetry != Symmetry::hermitian || !(mirror == values[filled])) && !result.fault)
        result.fault = {begin_ + row, col};
    }
    lengths_[static_cast<std::size_t>(row)] = static_cast<std::int32_t>(filled);
    return result;
  }

  [[noreturn]] void raise_both_triangles(BothTriangles at) const {
    throw InvalidArgument(fmt::format(
        "{}: the matrix is {} and stores both entry ({}, {}) and its mirror image ({}, {}), counted from 1\n"
        "  expected one triangle: the other one follows from it\n"
        "  write general where both triangles are stored, or remove one of them",
        stored_.name, name(stored_.symmetry), at.row + 1, at.col + 1, at.col + 1, at.row + 1));
  }

  /// Copies the rows to arrays of the length that is left.
  void close_gaps() {
    Array<Offset> offset_array(std::int64_t{rows_} + 1, "row_offsets");
    const auto offsets = offset_array.edit();
    offsets[0] = 0;
    for (std::size_t row = 0; row < lengths_.size(); ++row)
      offsets[row + 1] = offsets[row] + static_cast<Offset>(lengths_[row]);
    Array<std::int32_t> col_array(std::int64_t{offsets.back()}, "col_indices");
    Array<T> value_array(std::int64_t{offsets.back()}, "values");
    const auto cols = col_array.edit();
    const auto values = value_array.edit();
#pragma omp parallel for num_threads(threads_)
    for (std::size_t row = 0; row < lengths_.size(); ++row) {
      std::copy_n(&cols_and_keys_[0] + offsets_[row], lengths_[row], cols.data() + offsets[row]);
      std::copy_n(&values_[0] + offsets_[row], lengths_[row], values.data() + offsets[row]);
    }
    offset_array_ = std::move(offset_array), col_array_ = std::move(col_array), value_array_ = std::move(value_array);
    offsets_ = offsets, cols_and_keys_ = cols, values_ = values;
  }

  /// Looks through the canonical matrix for what the report tells of it.
  void describe() {
    constexpr std::int32_t none = std::numeric_limits<std::int32_t>::max();
    const std::int32_t diagonal = std::min(stored_.rows, cols_);
    std::int64_t zeros = 0, missing = 0, non_finite = 0;
    std::int32_t first_missing = none, first_non_finite = none;
#pragma omp parallel for num_threads(threads_) schedule(static) reduction(+ : zeros, missing, non_finite) reduction(min : first_missing, first_non_finite)
    for (std::int32_t row = 0; row < rows_; ++row) {
      bool has_diagonal = begin_ + row >= diagonal;
      for (auto i = offsets_[static_cast<std::size_t>(row)]; i < offsets_[static_cast<std::size_t>(row) + 1]; ++i) {
        const T value = values_[static_cast<std::size_t>(i)];
        has_diagonal |= cols_and_keys_[static_cast<std::size_t>(i)] == begin_ + row;
        zeros += value == T(0);
        if (!is_finite_value(value)) ++non_finite, first_non_finite = std::min(first_non_finite, row);
      }
      if (!has_diagonal) ++missing, first_missing = std::min(first_missing, row);
    }
    report_.nnz = std::ssize(values_);
    report_.explicit_zeros = zeros, report_.missing_diagonal = missing, report_.non_finite = non_finite;
    if (missing > 0) report_.first_missing_diagonal = begin_ + first_missing;
    if (non_finite == 0) return;
    auto i = static_cast<std::size_t>(offsets_[static_cast<std::size_t>(first_non_finite)]);
    while (is_finite_value(values_[i])) ++i;
    report_.first_non_finite_row = begin_ + first_non_finite, report_.first_non_finite_col = cols_and_keys_[i];
  }
  static bool is_finite_value(T value) {
    if constexpr (is_complex<T>)
      return is_finite(value.real()) && is_finite(value.imag());
    else
      return is_finite(value);
  }

  Triplets<T> stored_;
  bool canonical_;                    // as they are stored
  std::int32_t begin_, rows_, cols_;  // first row that is assembled, and how many
  int threads_;
  CanonicalReport& report_;
  Array<Offset> offset_array_;
  Array<std::int32_t> col_array_;
  Array<T> value_array_;
  std::span<Offset> offsets_;
  std::span<std::int32_t> cols_and_keys_;  // keys until a row is canonical, then columns
  std::span<T> values_;
  Buffer<std::int32_t> lengths_;  // entries of the canonical rows
};

}  // namespace

template <class T>
AnyMatrix<T> assemble(Triplets<T> stored, CanonicalReport& report) {
  const std::int32_t rows = stored.rows;
  AnyMatrix<T> A = assemble_rows(std::move(stored), 0, rows, report);
  report.mirrored /= 2;
  return A;
}

template <class T>
AnyMatrix<T> assemble_rows(Triplets<T> stored, std::int32_t begin, std::int32_t end, CanonicalReport& report) {
  report = {};
  report.stored_entries = std::ssize(stored.row);
  Counted counted = check_and_count(stored, begin, end);
  if (stored.dense) {
    drop_zeros(stored);
    counted = check_and_count(stored, begin, end);
  }
  const std::int64_t expanded = report.expanded_entries = counted.expanded;
  const bool wide = expanded > std::numeric_limits<std::int32_t>::max();
  require_memory(stored.name + " as a CSR matrix",
                 (static_cast<std::size_t>(end - begin) + 1) * (wide ? 12 : 8) +
                     static_cast<std::size_t>(expanded) * (sizeof(std::int32_t) + sizeof(T)));
  if (wide) return Assembly<T, std::int64_t>(std::move(stored), begin, end, counted, report).run();
  return Assembly<T, std::int32_t>(std::move(stored), begin, end, counted, report).run();
}

void add_rows(CanonicalReport& all, const CanonicalReport& behind) {
  all.stored_entries += behind.stored_entries, all.expanded_entries += behind.expanded_entries;
  all.nnz += behind.nnz, all.duplicates += behind.duplicates, all.explicit_zeros += behind.explicit_zeros;
  all.mirrored += behind.mirrored, all.missing_diagonal += behind.missing_diagonal;
  all.non_finite += behind.non_finite;
  if (all.first_missing_diagonal < 0) all.first_missing_diagonal = behind.first_missing_diagonal;
  if (all.first_non_finite_row < 0)
    all.first_non_finite_row = behind.first_non_finite_row, all.first_non_finite_col = behind.first_non_finite_col;
}

template <class T>
struct TripletsInstances {
  static constexpr std::tuple list{
      instance<AnyMatrix<T>(Triplets<T>, CanonicalReport&)>(assemble),
      instance<AnyMatrix<T>(Triplets<T>, std::int32_t, std::int32_t, CanonicalReport&)>(assemble_rows)};
};
KRILL_INSTANTIATE(TripletsInstances);

}  // namespace krill
