// SELL with slices of 32 rows whose columns and values are coded in as few bytes as they need, without loss. An
// automatic SpmvPlan may multiply with it.
#pragma once
#include <string>
#include <vector>

#include "sparse/formats/csr.hpp"
#include "sparse/spmv/product.hpp"

namespace krill::detail {

/// How columns are coded: 4 bytes each; 2 bytes each above the least column of a slice's place; or one byte a row that
/// names one of at most 256 patterns of column minus row.
enum class ColumnCode : std::uint8_t { absolute, delta16, pattern };
/// How values are coded: as they are; in single precision, where that is exact; one byte each that names one of at most
/// 256 values; or with the columns, the byte of a row naming one of at most 256 patterns of columns and values.
enum class ValueCode : std::uint8_t { full, narrow, dictionary, pattern };

/// float for double and so on, itself where there is nothing narrower.
template <class T>
struct Narrow {
  using Type = T;
};
template <>
struct Narrow<double> {
  using Type = float;
};
template <>
struct Narrow<Complex<double>> {
  using Type = Complex<float>;
};
template <class T>
using narrow_t = typename Narrow<T>::Type;

inline constexpr std::int32_t packed_slice = 32;
inline constexpr int max_words = 256;             ///< patterns, or values of a dictionary
inline constexpr int max_pattern_columns = 4096;  ///< of all patterns: what is kept in shared memory
inline constexpr int max_pattern_values = 1024;   ///< the same where they have values, too
inline constexpr std::uint16_t no_delta = 65'535;

/// What kernels see. Entry k of row r of slice s has place slice_offsets[s] + 32 k + r.
template <class T>
struct PackedView {
  using Value = std::remove_const_t<T>;

  std::int32_t rows = 0, cols = 0;
  ColumnCode column_code = ColumnCode::absolute;
  ValueCode value_code = ValueCode::full;
  const std::int64_t* slice_offsets = nullptr;
  const std::int32_t* columns = nullptr;   ///< absolute: of each place, -1 where there is none
  const std::uint16_t* deltas = nullptr;   ///< delta16: of each place
  const std::int32_t* bases = nullptr;     ///< delta16: of each 32 places
  const std::uint8_t* patterns = nullptr;  ///< pattern: of each row
  const std::int32_t* lengths = nullptr;   ///< pattern: entries of each
  const std::int32_t* table = nullptr;     ///< pattern: pattern_width columns minus row of each, zeros behind them
  const Value* pattern_values = nullptr;   ///< values by pattern: those of the table's places
  std::int32_t pattern_width = 0, pattern_count = 0;
  const T* values = nullptr;                       ///< full: of each place
  const narrow_t<Value>* narrow_values = nullptr;  ///< narrow: of each place
  const std::uint8_t* words = nullptr;             ///< dictionary: of each place
  const Value* dictionary = nullptr;               ///< dictionary: max_words
  std::int32_t uniform_width = 0;                  ///< of all slices, where they have one: slice_offsets is not read

  constexpr std::int64_t first_place(std::int64_t slice) const {
    return uniform_width ? slice * packed_slice * uniform_width : slice_offsets[slice];
  }
  constexpr std::int32_t width_of(std::int64_t slice) const {
    if (uniform_width) return uniform_width;
    return static_cast<std::int32_t>((slice_offsets[slice + 1] - slice_offsets[slice]) / packed_slice);
  }
};

/// What rows are alike in: their entries' columns minus row, and perhaps values.
template <class T>
struct RowPatterns {
  std::int32_t width = 0, count = 0;
  Array<std::uint8_t> of_rows{0, "packed row patterns"};
  Array<std::int32_t> lengths{0, "packed pattern lengths"}, columns{0, "packed patterns"};
  Array<T> values{0, "packed pattern values"};
  Array<std::int32_t> example{0, "pattern examples"};  ///< a row of each; no product reads them

  std::size_t bytes() const { return bytes_of(of_rows, lengths, columns, values); }
};

/// A matrix in that form, made from one in CSR.
template <class T>
class Packed {
 public:
  /// The sizes of A in coded form, found without making the coded arrays.
  struct Sizes {
    ColumnCode columns = ColumnCode::absolute;
    ValueCode values = ValueCode::full;
    std::int64_t places = 0;  ///< padding included
    std::size_t bytes = 0;    ///< of all arrays
  };

  /// Looks at A: a few passes over its columns and values, and a few waits.
  Packed(Context&, const Csr<T, std::int32_t>& A, std::int64_t longest_row);
  Packed(Context&, const Csr<T, std::int64_t>& A, std::int64_t longest_row);
  /// `A` whose values are `scale` times those of another one, rounded, and come by pattern there: filled.
  Packed(Context&, const Packed<wide_t<T>>& A, double scale);

  const Sizes& sizes() const { return sizes_; }
  /// A text: "columns by 27 row patterns, values by a dictionary of 2".
  std::string description() const;

  /// Makes the arrays, of the A that was looked at. O(places).
  template <class Offset>
  void fill(Context&, const Csr<T, Offset>& A);
  /// New values of the same pattern; they may take another code than the old ones, with new arrays then. O(nnz).
  template <class Offset>
  void update(Context&, const Csr<T, Offset>& A);

  template <class Where>
  PackedView<const kernel_t<T>> view(const Where& where) const;

 private:
  template <class>
  friend class Packed;
  template <class Offset>
  void look_at(Context&, const Csr<T, Offset>& A);
  template <class Offset>
  void make_slices(Context&, const Csr<T, Offset>& A);
  /// Whether few patterns of columns, and of values where asked, serve all rows; they are kept then.
  template <class Entry, class Offset>
  bool find_patterns(Context&, const Csr<T, Offset>& A);
  /// The columns, and values where asked, of the rows that stand for patterns; whether all rows agree with theirs.
  template <class Entry, class Offset>
  static bool fill_patterns(Context&, const Csr<T, Offset>& A, RowPatterns<T>&);
  template <class Offset>
  void look_at_columns(Context&, const Csr<T, Offset>& A);
  template <class Offset>
  void look_at_values(Context&, const Csr<T, Offset>& A);
  template <class Offset>
  void fill_values(Context&, const Csr<T, Offset>& A);

  std::int32_t rows_, cols_, uniform_width_ = 0;
  RowPatterns<T> patterns_;
  std::vector<std::uint64_t> value_words_;  ///< the different values, where they are few; ascending
  std::size_t column_bytes_ = 0;
  std::int64_t longest_ = 0;  ///< row
  Sizes sizes_;
  Array<std::int64_t> slice_offsets_{0, "packed slice_offsets"};
  Array<std::int32_t> columns_{0, "packed columns"}, bases_{0, "packed bases"};
  Array<std::uint16_t> deltas_{0, "packed deltas"};
  Array<std::uint8_t> words_{0, "packed words"};
  Array<T> values_{0, "packed values"}, dictionary_{0, "packed dictionary"};
  Array<narrow_t<kernel_t<T>>> narrow_values_{0, "packed narrow values"};
};

template <class T>
void run_product(const Host&, const Product<PackedView<const T>>&);
template <class T>
void run_product(const Cuda&, const Product<PackedView<const T>>&);

}  // namespace krill::detail
