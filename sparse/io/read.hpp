// Reads all input files: Matrix Market, Harwell-Boeing and Rutherford-Boeing, plain or compressed (gz, bz2, xz,
// zst), or in a tar archive of the SuiteSparse collection. The contents of a file decide what it is, not its name.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "sparse/io/triplets.hpp"

namespace krill {

template <class T>
struct MatrixInput {
  MatrixKind kind;
  Triplets<T> matrix;
  std::optional<Columns<T>> rhs;  ///< NAME_b.mtx of an archive, or those inside a Harwell-Boeing file
  std::string rhs_name;           ///< where they stood; empty without
  std::string checksum;           ///< "xxh64:" and 16 hexadecimal digits, over the decompressed bytes of the matrix
  std::int64_t bytes = 0;         ///< decompressed bytes of the matrix
};

/// Reads the head of a matrix file only: enough to choose the scalar type before read_matrix. Raises as read_matrix.
MatrixKind peek_matrix(const std::filesystem::path&);

/// Reads the matrix as it is stored; assemble() makes a CSR matrix of it. Real files widen to complex T; a complex file
/// read as real T raises InvalidArgument that says which precision to ask for. Values past the range of T become
/// infinite or 0; NaN and infinities are accepted (assemble counts them).
/// Raises ParseError with line and column, Error where the file cannot be read or unpacked, OutOfMemory before it
/// allocates more than there is. In parallel; needs the decompressed text and the entries in memory at once.
template <class T>
MatrixInput<T> read_matrix(const std::filesystem::path&);

/// Reads dense columns from a Matrix Market file: an array or coordinates, object matrix or vector; duplicates are
/// summed, symmetry is expanded. Raises as read_matrix.
template <class T>
Columns<T> read_vector(const std::filesystem::path&);

}  // namespace krill
