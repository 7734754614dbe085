#include "sparse/io/write_matrix_market.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <exception>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "sparse/convert/convert.hpp"
#include "sparse/core/error.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/io/atomic_file.hpp"
#include "sparse/io/tar_file.hpp"

namespace krill {
namespace {

/// Entries that one thread turns into text at a time: about 2 MB of it.
constexpr std::int64_t piece_entries = std::int64_t{1} << 16;

template <class Number>
void append_number(std::string& text, Number number) {
  char digits[32];  // the longest double takes 24
  text.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}
template <class T>
void append_value(std::string& text, T value) {
  if constexpr (is_complex<T>) {
    append_number(text, value.real());
    text += ' ';
    append_number(text, value.imag());
  } else {
    append_number(text, value);
  }
  text += '\n';
}
void append_place(std::string& text, std::int32_t row, std::int32_t col) {
  append_number(text, row + std::int64_t{1});
  text += ' ';
  append_number(text, col + std::int64_t{1});
}
template <class T>
void append_entry(std::string& text, std::int32_t row, std::int32_t col, T value) {
  append_place(text, row, col);
  text += ' ';
  append_value(text, value);
}

template <class T>
constexpr Field field_of = is_complex<T> ? Field::complex : Field::real;

std::string head(std::string_view format, Field field, Symmetry symmetry, const std::string& comment,
                 const std::string& sizes) {
  std::string text = fmt::format("%%MatrixMarket matrix {} {} {}\n", format, name(field), name(symmetry));
  for (std::string_view rest = comment; !rest.empty();) {
    const std::size_t size = std::min(rest.find_first_of("\r\n"), rest.size());
    text += fmt::format("% {}\n", rest.substr(0, size));
    rest.remove_prefix(std::min(size + 1, rest.size()));
  }
  return text + sizes + "\n";
}

/// Calls format(begin, end, text) for pieces of the entries [0, entries) in parallel and writes the texts in order: one
/// thread writes while the others format.
template <class F>
void write_file(const std::filesystem::path& path, const std::string& head, std::int64_t entries, F format) {
  AtomicFile file(path);
  file.write(head);
  std::exception_ptr failure;
#pragma omp parallel if (entries >= piece_entries)
  {
    std::string text;
#pragma omp for ordered schedule(dynamic)
    for (std::int64_t begin = 0; begin < entries; begin += piece_entries) {
      text.clear();
      format(begin, std::min(entries, begin + piece_entries), text);
#pragma omp ordered
      try {
        if (!failure) file.write(text);
      } catch (...) {
        failure = std::current_exception();
      }
    }
  }
  if (failure) std::rethrow_exception(failure);
  file.commit();
}

/// The entries of a matrix in their order, whatever its format.
template <class T, class Offset>
class CsrEntries {
 public:
  using Value = T;
  explicit CsrEntries(const Csr<T, Offset>& a)
      : rows(a.rows()),
        cols(a.cols()),
        nnz(a.nnz()),
        offsets_(a.row_offsets().host()),
        cols_(a.col_indices().host()),
        values_(a.values().host()) {}

  std::int64_t entries_before(std::int32_t row) const {
    return static_cast<std::int64_t>(offsets_[static_cast<std::size_t>(row)]);
  }
  /// Calls f(row, col, value) for entries [begin, end).
  template <class F>
  void for_each(std::int64_t begin, std::int64_t end, F f) const {
    auto row = std::upper_bound(offsets_.begin(), offsets_.end(), static_cast<Offset>(begin)) - offsets_.begin() - 1;
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      while (i >= static_cast<std::size_t>(offsets_[static_cast<std::size_t>(row) + 1])) ++row;
      f(static_cast<std::int32_t>(row), cols_[i], values_[i]);
    }
  }
  std::optional<T> find(std::int32_t row, std::int32_t col) const {
    const auto first = cols_.begin() + offsets_[static_cast<std::size_t>(row)],
               last = cols_.begin() + offsets_[static_cast<std::size_t>(row) + 1];
    const auto found = std::lower_bound(first, last, col);
    if (found == last || *found != col) return {};
    return values_[static_cast<std::size_t>(found - cols_.begin())];
  }

  std::int32_t rows, cols;
  std::int64_t nnz;

 private:
  std::span<const Offset> offsets_;
  std::span<const std::int32_t> cols_;
  std::span<const T> values_;
};

template <class T>
class CooEntries {
 public:
  using Value = T;
  explicit CooEntries(const Coo<T>& a)
      : rows(a.rows()),
        cols(a.cols()),
        nnz(a.nnz()),
        rows_(a.row_indices().host()),
        cols_(a.col_indices().host()),
        values_(a.values().host()) {}

  std::int64_t entries_before(std::int32_t row) const {
    return std::lower_bound(rows_.begin(), rows_.end(), row) - rows_.begin();
  }
  template <class F>
  void for_each(std::int64_t begin, std::int64_t end, F f) const {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
      f(rows_[i], cols_[i], values_[i]);
  }
  std::optional<T> find(std::int32_t row, std::int32_t col) const {
    const auto [first, last] = std::equal_range(rows_.begin(), rows_.end(), row);
    const auto col_first = cols_.begin() + (first - rows_.begin()), col_last = cols_.begin() + (last - rows_.begin());
    const auto found = std::lower_bound(col_first, col_last, col);
    if (found == col_last || *found != col) return {};
    return values_[static_cast<std::size_t>(found - cols_.begin())];
  }

  std::int32_t rows, cols;
  std::int64_t nnz;

 private:
  std::span<const std::int32_t> rows_, cols_;
  std::span<const T> values_;
};

template <class T, class Offset>
CsrEntries<T, Offset> entries_of(const Csr<T, Offset>& a) {
  return CsrEntries<T, Offset>(a);
}
template <class T>
CooEntries<T> entries_of(const Coo<T>& a) {
  return CooEntries<T>(a);
}

bool is_written(Symmetry symmetry, std::int32_t row, std::int32_t col) {
  return symmetry == Symmetry::general || row > col || (row == col && symmetry != Symmetry::skew_symmetric);
}

/// Raises InvalidArgument for the first entry that contradicts the symmetry; returns the number of those to be written.
template <class Entries>
std::int64_t check_and_count(const Entries& a, Symmetry symmetry) {
  if (symmetry == Symmetry::general) return a.nnz;
  if (a.rows != a.cols)
    throw ShapeMismatch(fmt::format("write_matrix_market: a {} matrix is {} x {}, as many rows as columns are needed",
                                    name(symmetry), a.rows, a.cols));
  const std::int64_t pieces = (a.nnz + piece_entries - 1) / piece_entries;
  std::int64_t written = 0, first_fault = a.nnz;
#pragma omp parallel for schedule(dynamic) reduction(+ : written) reduction(min : first_fault) if (pieces > 1)
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    std::int64_t index = piece * piece_entries;
    a.for_each(index, std::min(a.nnz, index + piece_entries), [&](std::int32_t row, std::int32_t col, auto value) {
      const auto mirror = a.find(col, row);
      if (!mirror || !(*mirror == mirror_value(symmetry, value))) first_fault = std::min(first_fault, index);
      written += is_written(symmetry, row, col);
      ++index;
    });
  }
  if (first_fault < a.nnz)
    a.for_each(first_fault, first_fault + 1, [&](std::int32_t row, std::int32_t col, auto) {
      throw InvalidArgument(
          fmt::format("write_matrix_market: entry ({}, {}), counted from 0, has no mirror image that "
                      "makes the matrix {}\n  write it as general",
                      row, col, name(symmetry)));
    });
  return written;
}

}  // namespace

template <class T>
void write_matrix_market(const std::filesystem::path& path, const AnyMatrix<T>& A, Symmetry symmetry,
                         const std::string& comment) {
  visit_entries(A, [&](const auto& matrix) {
    const auto a = entries_of(matrix);
    const std::int64_t written = check_and_count(a, symmetry);
    write_file(path,
               head("coordinate", field_of<T>, symmetry, comment, fmt::format("{} {} {}", a.rows, a.cols, written)),
               a.nnz, [&](std::int64_t begin, std::int64_t end, std::string& text) {
                 a.for_each(begin, end, [&](std::int32_t row, std::int32_t col, T value) {
                   if (is_written(symmetry, row, col)) append_entry(text, row, col, value);
                 });
               });
  });
}

template <class T>
void write_matrix_market(const std::filesystem::path& path, const Triplets<T>& a, const std::string& comment) {
  const Field field = a.field == Field::pattern ? a.field : field_of<T>;
  const std::string sizes =
      a.dense ? fmt::format("{} {}", a.rows, a.cols) : fmt::format("{} {} {}", a.rows, a.cols, a.value.size());
  write_file(path, head(a.dense ? "array" : "coordinate", field, a.symmetry, comment, sizes), std::ssize(a.value),
             [&](std::int64_t begin, std::int64_t end, std::string& text) {
               for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
                 if (!a.dense) append_place(text, a.row[i], a.col[i]);
                 if (field == Field::pattern) {
                   text += '\n';
                   continue;
                 }
                 if (!a.dense) text += ' ';
                 append_value(text, a.value[i]);
               }
             });
}

template <class T>
void write_batch(const std::filesystem::path& path, const AnyMatrix<T>& A, std::int32_t systems,
                 const std::string& comment) {
  visit_entries(A, [&](const auto& matrix) {
    const auto a = entries_of(matrix);
    require(a.rows == a.cols && systems > 0 && a.rows % systems == 0,
            fmt::format("write_batch: {} x {} is no matrix of {} square blocks of one size", a.rows, a.cols, systems));
    const std::int32_t size = a.rows / systems;
    const std::size_t digits = std::to_string(systems - 1).size();
    TarFile file(path);
    for (std::int32_t j = 0; j < systems; ++j) {
      const std::int32_t first = j * size;
      const std::int64_t begin = a.entries_before(first), end = a.entries_before(first + size);
      std::string text =
          head("coordinate", field_of<T>, Symmetry::general, comment, fmt::format("{} {} {}", size, size, end - begin));
      a.for_each(begin, end, [&](std::int32_t row, std::int32_t col, T value) {
        require(col >= first && col < first + size,
                fmt::format("write_batch: entry ({}, {}), counted from 0, lies between two systems", row, col));
        append_entry(text, row - first, col - first, value);
      });
      file.add(fmt::format("system_{:0{}}.mtx", j, digits), text);
    }
    file.commit();
  });
}

template <class T>
void write_vector(const std::filesystem::path& path, std::span<const T> values, std::int64_t cols,
                  const std::string& comment) {
  const std::int64_t rows = cols > 0 ? std::ssize(values) / cols : 0;
  require_size("write_vector: values", std::ssize(values), rows * cols);
  write_file(
      path, head("array", field_of<T>, Symmetry::general, comment, fmt::format("{} {}", rows, cols)),
      std::ssize(values), [&](std::int64_t begin, std::int64_t end, std::string& text) {
        for (const T value : values.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)))
          append_value(text, value);
      });
}

template <class T>
struct WriteMatrixMarketInstances {
  static constexpr std::tuple list{
      instance<void(const std::filesystem::path&, const AnyMatrix<T>&, Symmetry, const std::string&)>(
          write_matrix_market),
      instance<void(const std::filesystem::path&, const AnyMatrix<T>&, std::int32_t, const std::string&)>(write_batch),
      instance<void(const std::filesystem::path&, const Triplets<T>&, const std::string&)>(write_matrix_market),
      instance<void(const std::filesystem::path&, std::span<const T>, std::int64_t, const std::string&)>(write_vector)};
};
KRILL_INSTANTIATE(WriteMatrixMarketInstances);

}  // namespace krill
