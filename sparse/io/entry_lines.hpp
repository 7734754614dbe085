// Texts whose lines hold an entry each, "row column value": counted and parsed in parallel.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sparse/io/input_file.hpp"
#include "sparse/io/triplets.hpp"

namespace krill {

/// The numbers that rows, or columns, may have in a text, and that of the first one of the matrix.
struct NumberRange {
  std::int64_t first, last, zero;
};

/// What stands in a line.
struct EntryForm {
  MatrixKind kind;  ///< of a dense one no indices, of a vector no columns
  NumberRange rows, cols;
  bool comma = false;  ///< between real and imaginary part
};

enum class EntryProblem { none, no_index, index_out_of_range, no_number, no_whole_number, junk, diagonal };

/// What is wrong with an entry; the message is made of it later, out of the way of the loop that reads.
struct EntryFault {
  EntryProblem problem = EntryProblem::none;
  const char* at = nullptr;    ///< the token
  const char* what = nullptr;  ///< it should be: "row index"
  std::int64_t entry = 0;      ///< of those in these lines
};

/// What was found, what was expected, what to do.
using Explanation = std::array<std::string, 3>;

/// Of a token that is no index or no number; of others only what was found.
Explanation explain(const InputFile&, const EntryFault&);

/// The lines of a text from a place on. Blank ones, and those that begin with %, hold no entry. The text has to stay.
class EntryLines {
 public:
  /// Counts the entries.
  EntryLines(const InputFile&, std::size_t begin);

  std::int64_t count() const { return count_; }
  /// Where the line of an entry begins.
  const char* find(std::int64_t entry) const;

  /// Reads all entries to places from `first` on, which the triplets have. Repeatable. The first fault of the text, or
  /// none.
  template <class T>
  EntryFault parse(const EntryForm&, std::size_t first, Triplets<T>& out) const;

 private:
  /// Whole lines; `first` is the number of entries before them.
  struct Piece {
    const char *begin, *end;
    std::int64_t first = 0, entries = 0;
  };
  template <class T>
  class Parser;

  std::vector<Piece> pieces_;
  const char* end_;
  std::int64_t count_ = 0;
};

/// Raises InvalidArgument unless T can hold the values of the file: a complex file needs complex T.
template <class T>
void require_scalar_for(const MatrixKind&, const std::string& file);

/// Whether a diagonal entry cannot belong to a matrix of this symmetry.
template <class T>
bool contradicts_diagonal(Symmetry symmetry, T value) {
  if (symmetry == Symmetry::skew_symmetric) return value != T(0);
  if constexpr (is_complex<T>) return symmetry == Symmetry::hermitian && value.imag() != 0;
  return false;
}
/// The rule that it breaks: "0 on the diagonal of a skew-symmetric matrix".
constexpr std::string_view diagonal_rule(Symmetry symmetry) {
  return symmetry == Symmetry::skew_symmetric ? "0 on the diagonal of a skew-symmetric matrix"
                                              : "an imaginary part of 0 on the diagonal of a Hermitian matrix";
}

}  // namespace krill
