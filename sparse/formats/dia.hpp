// Diagonals: DIA, and hacked DIA (HDIA), which stores each group of rows with the diagonals of its own.
#pragma once
#include "sparse/formats/shape.hpp"

namespace krill {

/// What kernels see. Hack h holds the rows h hack_rows to (h + 1) hack_rows - 1 and the diagonals hack_offsets[h] to
/// hack_offsets[h + 1] - 1; diagonal d holds the entries (i, i + offsets[d]), row i = h hack_rows + r at values[d
/// hack_rows + r]. Where hack_offsets is null, all rows are one hack with `diagonals` of them (DIA). Zeros, and what
/// lies outside the matrix, do not count as entries.
template <class T>
struct DiaView {
  using Value = std::remove_const_t<T>;

  std::int32_t rows = 0, cols = 0, hack_rows = 1;
  std::int64_t diagonals = 0;
  detail::as_const_as<T, std::int64_t>* hack_offsets = nullptr;
  detail::as_const_as<T, std::int32_t>* offsets = nullptr;  ///< column minus row
  T* values = nullptr;

  constexpr DiaView<const T> as_const() const {
    return {rows, cols, hack_rows, diagonals, hack_offsets, offsets, values};
  }
  constexpr std::int64_t first_diagonal(std::int32_t hack) const { return hack_offsets ? hack_offsets[hack] : 0; }
  constexpr std::int64_t end_diagonal(std::int32_t hack) const {
    return hack_offsets ? hack_offsets[hack + 1] : diagonals;
  }

  constexpr std::int32_t stored_rows() const { return rows; }
  constexpr std::int32_t row_of(std::int32_t s) const { return s; }
  template <class F>
  constexpr void for_entries(std::int32_t s, F&& f) const {
    const std::int32_t hack = s / hack_rows, r = s % hack_rows;
    for (std::int64_t d = first_diagonal(hack); d < end_diagonal(hack); ++d) {
      const std::int64_t col = std::int64_t{s} + offsets[d];
      const Value value = values[d * hack_rows + r];
      if (col >= 0 && col < cols && !(value == Value(0))) f(static_cast<std::int32_t>(col), value);
    }
  }
};

/// A matrix by diagonals, offsets ascending strictly in every hack. hack_rows = 0 means DIA: offsets[diagonals] and
/// values[diagonals rows]. Otherwise HDIA: hack_offsets[hacks + 1] counts diagonals, values[diagonals hack_rows], hacks
/// = ceil(rows / hack_rows); the missing rows of the last one are zeros.
template <class T>
class Dia : public MatrixShape {
 public:
  using Value = T;

  /// DIA. Sizes are checked here, the entries by validate(). `nnz` counts entries without filled-in zeros.
  /// Raises ShapeMismatch and InvalidArgument.
  Dia(std::int64_t rows, std::int64_t cols, std::int64_t nnz, Array<std::int32_t> offsets, Array<T> values);
  /// HDIA.
  Dia(std::int64_t rows, std::int64_t cols, std::int64_t nnz, std::int32_t hack_rows, Array<std::int64_t> hack_offsets,
      Array<std::int32_t> offsets, Array<T> values);

  /// 0 for DIA.
  std::int32_t hack_rows() const { return hack_rows_; }
  Format format() const { return hack_rows() ? Format::hdia : Format::dia; }
  std::int64_t diagonals() const { return offsets_.size(); }
  std::int64_t nnz() const { return nnz_; }
  std::size_t bytes() const { return detail::bytes_of(hack_offsets_, offsets_, values_); }

  const Array<std::int64_t>& hack_offsets() const { return hack_offsets_; }
  const Array<std::int32_t>& offsets() const { return offsets_; }
  const Array<T>& values() const { return values_; }
  Array<T>& values() { return values_; }

  template <class Where>
  DiaView<const kernel_t<T>> view(const Where& where) const {
    return {rows(),
            cols(),
            stride(),
            diagonals(),
            hack_rows_ ? hack_offsets_.read(where) : nullptr,
            offsets_.read(where),
            values_.read(where)};
  }

 private:
  /// Rows that a stored diagonal has room for.
  std::int32_t stride() const { return hack_rows_ ? hack_rows_ : rows() > 0 ? rows() : 1; }

  std::int32_t hack_rows_ = 0;
  std::int64_t nnz_;
  Array<std::int64_t> hack_offsets_;
  Array<std::int32_t> offsets_;
  Array<T> values_;
};

/// Raises InvalidArgument that names array, index and value unless hack offsets ascend from 0 to the number of
/// diagonals, offsets ascend strictly in every hack, each meets the matrix, what lies outside it is 0, and nnz is not
/// less than the entries that are not 0. O(values).
template <class T>
void validate(const Dia<T>&);

}  // namespace krill
