// How many bytes a kernel has to move: every operand once, whatever a cache may save or a bad access pattern may cost.
// The same figure counts for Krill and for its rivals.
#pragma once
#include <cstddef>
#include <cstdint>

#include "krill/sparse/formats/any_matrix.hpp"

namespace krill::apps::bench {

/// Bytes of the arrays of a format, padding included.
template <class T>
double matrix_bytes(const AnyMatrix<T>& A) {
  return static_cast<double>(std::visit([](const auto& a) { return a.bytes(); }, A));
}

/// y = alpha A x + beta y: the matrix, x and y once, y a second time where it is read for beta.
template <class T>
double spmv_bytes(double matrix, std::int64_t rows, std::int64_t cols, bool with_beta) {
  const auto vectors = static_cast<double>(cols) + (with_beta ? 2.0 : 1.0) * static_cast<double>(rows);
  return matrix + vectors * static_cast<double>(sizeof(T));
}

/// A solve with a triangle of so many entries beside its diagonal: entries and their columns, the diagonal, b and x.
template <class T>
double triangular_bytes(std::int64_t rows, double entries, std::int32_t columns) {
  return entries * static_cast<double>(sizeof(T) + sizeof(std::int32_t)) +
         static_cast<double>(rows) * (1 + 2 * columns) * static_cast<double>(sizeof(T));
}

/// An incomplete factorisation without fill: the matrix once, the factor's values once.
template <class T, class Offset>
double factor_bytes(std::int64_t rows, std::int64_t nnz) {
  return static_cast<double>(nnz) * static_cast<double>(2 * sizeof(T) + sizeof(std::int32_t)) +
         (static_cast<double>(rows) + 1) * static_cast<double>(sizeof(Offset));
}

/// Coloring: the pattern once, a color and a place for each row.
template <class Offset>
double color_bytes(std::int64_t rows, std::int64_t nnz) {
  return (static_cast<double>(rows) + 1) * static_cast<double>(sizeof(Offset)) +
         (static_cast<double>(nnz) + 2 * static_cast<double>(rows)) * static_cast<double>(sizeof(std::int32_t));
}

/// CSR to CSC: both read and written once.
template <class T, class Offset>
double csr2csc_bytes(std::int64_t rows, std::int64_t cols, std::int64_t nnz) {
  const auto entries = static_cast<double>(nnz) * static_cast<double>(sizeof(std::int32_t) + sizeof(T));
  return 2 * entries +
         (static_cast<double>(rows) + static_cast<double>(cols) + 2) * static_cast<double>(sizeof(Offset));
}

/// Row offsets to row indices, or back: both once. The columns and the values stay where they are.
template <class Offset>
double row_index_bytes(std::int64_t rows, std::int64_t nnz) {
  return (static_cast<double>(rows) + 1) * static_cast<double>(sizeof(Offset)) +
         static_cast<double>(nnz) * static_cast<double>(sizeof(std::int32_t));
}

}  // namespace krill::apps::bench
