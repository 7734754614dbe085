// Matrices and vectors as hypre's HYPRE_IJMatrixPrint and HYPRE_IJVectorPrint write them, a file for each process:
// NAME.00000, NAME.00001, ... The first line of a matrix' part is "ilower iupper jlower jupper", its rows and its share
// of the columns, and then each line is "i j value", "i j real , imaginary" or, of a pattern, "i j"; of a vector's
// "jlower jupper" and "j value". Sources: hypre's reference manual, and what these functions of hypre 2.x write.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sparse/io/input_file.hpp"
#include "sparse/io/triplets.hpp"

namespace krill {

/// The files of one matrix or vector.
struct IjFiles {
  std::string name;  ///< without their numbers
  std::int32_t count = 0;

  std::filesystem::path part(std::int32_t number) const;
};

/// The files that a name stands for: that of the first one, "A.00000", or where there is no file of that name what
/// stands before the point, "A". Nothing where it is a file of another kind, or none. Reads the first lines of that
/// file and the names in its folder. Raises Error where one is missing between others, and for the name of another one.
std::optional<IjFiles> find_ij_files(const std::filesystem::path&);

/// The first line of a part; a range without entries ends at first - 1.
struct IjHead {
  std::int64_t first_row = 0, last_row = -1, first_col = 0, last_col = -1;  ///< as the file counts
  bool vector = false;
  bool has_entries = false;
  Field field = Field::real;  ///< of the first entry
};

/// Reads the first line, and looks at the second one. Raises ParseError.
IjHead parse_ij_head(const InputFile&);

/// Heads of the parts [begin, end), from the files.
std::vector<IjHead> read_ij_heads(const IjFiles&, std::int32_t begin, std::int32_t end);

/// What the heads of all parts say together.
struct IjLayout {
  MatrixKind kind;                          ///< stored_entries is not known
  std::int64_t row_zero = 0, col_zero = 0;  ///< numbers of the first row and column: 0, or 1
};

/// Raises ParseError where heads leave gaps or overlap, do not begin at 0 or 1, or are of a matrix and of a vector.
IjLayout join_ij_heads(const IjFiles&, std::span<const IjHead>);

/// Appends the entries of a part. T is real only where the parts are (InvalidArgument). In parallel; repeatable. Raises
/// ParseError, also where an entry is outside of the rows of the head, and where a vector's part has not each of its
/// rows once; OutOfMemory. hypre keeps the last one of entries that stand in a part several times; here they are
/// duplicates as in any file, which assemble() adds.
template <class T>
void append_ij_part(const InputFile&, const IjFiles&, const IjHead&, const IjLayout&, Triplets<T>& to);

/// No entries yet, of a matrix or vector of this layout.
template <class T>
Triplets<T> begin_ij_triplets(const IjFiles& files, const IjLayout& layout) {
  return {files.name, layout.kind.rows, layout.kind.cols, {}, {}, {}, Symmetry::general, layout.kind.field, false};
}

}  // namespace krill
