// What the head of a matrix file says.
#pragma once
#include <cstdint>
#include <string_view>

namespace krill {

/// What the values of a file are. Integers are read as numbers, entries of a pattern as 1.
enum class Field { real, complex, integer, pattern };
std::string_view name(Field);

/// How the entries that a file leaves out follow from those that it has: a(j,i) = a(i,j), -a(i,j) or conj(a(i,j)).
enum class Symmetry { general, symmetric, skew_symmetric, hermitian };
std::string_view name(Symmetry);  ///< as in a Matrix Market banner: "skew-symmetric"

enum class FileFormat { matrix_market, harwell_boeing, rutherford_boeing, hypre_ij };
std::string_view name(FileFormat);  ///< "Matrix Market", "Harwell-Boeing", "Rutherford-Boeing", "hypre IJ"

struct MatrixKind {
  FileFormat format = FileFormat::matrix_market;
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
  bool dense = false;   ///< an array of all places, column by column
  bool vector = false;  ///< Matrix Market's object "vector", or an IJ vector: cols is 1
  std::int32_t rows = 0, cols = 0;
  std::int64_t stored_entries = 0;
};

}  // namespace krill
