// Matrices and vectors to Matrix Market files.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "sparse/formats/any_matrix.hpp"
#include "sparse/io/triplets.hpp"

namespace krill {

/// Writes A as coordinates, row by row. Numbers have the fewest digits that read back to the same bits. With a symmetry
/// other than general only the lower triangle is written (without the diagonal where skew-symmetric), and
/// InvalidArgument names the first entry whose mirror image is not exactly the one that the symmetry demands.
/// Every line of `comment` becomes a comment line below the banner.
/// The file is written under a temporary name and renamed at the end, so there is never half a file. Raises Error where
/// the file cannot be written. In parallel, a bounded piece of text at a time.
template <class T>
void write_matrix_market(const std::filesystem::path&, const AnyMatrix<T>& A, Symmetry = Symmetry::general,
                         const std::string& comment = {});

/// Writes the entries as they are stored, with their symmetry; patterns stay patterns, arrays stay arrays, integers
/// become real. Raises as above.
template <class T>
void write_matrix_market(const std::filesystem::path&, const Triplets<T>&, const std::string& comment = {});

/// The diagonal blocks of A, `systems` of one size, as a tar archive of general matrices, compressed as its name says
/// (tar_file.hpp): what read_batch() reads. Raises InvalidArgument where A has an entry outside of the blocks, or is
/// not square, or has no such blocks, and as above.
template <class T>
void write_batch(const std::filesystem::path&, const AnyMatrix<T>& A, std::int32_t systems,
                 const std::string& comment = {});

/// Writes dense columns as an array: rows x cols values, column by column. Raises ShapeMismatch where `values` has
/// another size, and as above.
template <class T>
void write_vector(const std::filesystem::path&, std::span<const T> values, std::int64_t cols = 1,
                  const std::string& comment = {});

}  // namespace krill
