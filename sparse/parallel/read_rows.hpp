// Matrix files that several ranks read together, so that none of them ever has the whole matrix.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "sparse/io/triplets.hpp"
#include "sparse/parallel/row_partition.hpp"

namespace krill {

template <class T>
struct RowsInput {
  MatrixKind kind;
  AnyMatrix<T> rows;  ///< this rank's, in CSR, in columns of the whole matrix
  RowPartition partition;
  CanonicalReport canonical;  ///< of the whole matrix
  std::string checksum;       ///< as read_matrix() has it, of the bytes that ranks have read
};

/// Reads a plain Matrix Market file of coordinates, with as many rows as columns, each rank a share of the bytes, or
/// the parts of a matrix that hypre wrote, each rank a share of the files; entries go to the ranks that own their rows.
/// The rows are those of read_matrix() and assemble(), to the bit, in the partition that RowPartition::by_cost() makes
/// of the whole matrix. Nothing where the file is of another kind, or packed, which cannot be cut. All ranks take part.
/// Two times the rank's rows and its share of the text in memory, and 16 bytes an entry; ranks go through the checksum
/// one after the other. Raises as read_matrix() and assemble(), with line numbers of the whole file, TeamFailure, and
/// InvalidArgument where a rank has a file of another size or head, or with other bytes in one of 64 places, or another
/// number of parts.
template <class T>
std::optional<RowsInput<T>> read_rows(Team&, const std::filesystem::path&, std::int64_t unit);

}  // namespace krill
