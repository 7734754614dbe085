// Reads all input files: Matrix Market, Harwell-Boeing and Rutherford-Boeing, plain or compressed (gz, bz2, xz,
// zst), or in a tar archive of the SuiteSparse collection, and the parts that hypre writes (hypre_ij.hpp). The contents
// of a file decide what it is, not its name.
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

/// Reads the head of a matrix file only: enough to choose the scalar type before read_matrix. Heads of hypre's parts do
/// not say how many entries there are. Raises as read_matrix.
MatrixKind peek_matrix(const std::filesystem::path&);

/// Reads the matrix as it is stored; assemble() makes a CSR matrix of it. Real files widen to complex T; a complex file
/// read as real T raises InvalidArgument that says which precision to ask for. Values past the range of T become
/// infinite or 0; NaN and infinities are accepted (assemble counts them).
/// Raises ParseError with line and column, Error where the file cannot be read or unpacked, OutOfMemory before it
/// allocates more than there is. In parallel; needs the decompressed text and the entries in memory at once.
template <class T>
MatrixInput<T> read_matrix(const std::filesystem::path&);

/// Matrices of one size, one after the other along the diagonal of one.
template <class T>
struct BatchInput {
  MatrixKind kind;  ///< of the first
  AnyMatrix<T> matrix;
  std::int32_t systems = 0;
  CanonicalReport canonical;  ///< of all together; rows and columns are those of the whole
  std::string checksum;       ///< of the lines of their checksums
};

/// Reads the head of the first matrix of a batch. Raises as read_batch.
MatrixKind peek_batch(const std::filesystem::path&);

/// Reads a tar archive of square matrices of one size in canonical form, none with an entry more than two places from
/// its diagonal, in the order of the archive; files that are no matrices by their names are left out. NaN and
/// infinities are accepted. Raises as read_matrix, and InvalidArgument, which names the member, where it is of another
/// kind.
template <class T>
BatchInput<T> read_batch(const std::filesystem::path&);

/// Reads dense columns from a Matrix Market file: an array or coordinates, object matrix or vector; duplicates are
/// summed, symmetry is expanded. Or the parts of a vector that hypre wrote. Raises as read_matrix.
template <class T>
Columns<T> read_vector(const std::filesystem::path&);

}  // namespace krill
