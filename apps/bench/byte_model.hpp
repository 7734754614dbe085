// How many bytes a kernel has to move: every operand once, whatever a cache may save or a bad access pattern may cost.
// The same figure counts for Krill and for its rivals. Beside it, what a kernel computes, in floating-point operations.
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

/// PCG without preconditioner, an iteration: q = A p, then x += alpha p, r -= alpha q and p = r + beta p; dots in the
/// passes that have their operands.
template <class T>
double pcg_bytes(double matrix, std::int64_t rows) {
  return matrix + 11 * static_cast<double>(rows) * static_cast<double>(sizeof(T));
}

/// BiCGStab without preconditioner, an iteration: two products, and the updates of p, s, x and r.
template <class T>
double bicgstab_bytes(double matrix, std::int64_t rows) {
  return 2 * matrix + 20 * static_cast<double>(rows) * static_cast<double>(sizeof(T));
}

/// All of a GMRES solve without preconditioner: step j of a cycle multiplies, makes w orthogonal to j vectors (once,
/// which reads them twice) and normalizes it; a cycle begins with the residual and ends with the update of x.
template <class T>
double gmres_bytes(double matrix, std::int64_t rows, int iterations, int restart) {
  double vectors = 0, products = 0;
  for (int done = 0; done < iterations; done += restart) {
    const double steps = iterations - done < restart ? iterations - done : restart;
    products += steps + 1;
    vectors += steps * (steps + 1) + 7 * steps + (steps + 2) + 3;
  }
  return products * matrix + vectors * static_cast<double>(rows) * static_cast<double>(sizeof(T));
}

/// A multiplication and an addition.
template <class T>
inline constexpr double multiply_add = is_complex<T> ? 8 : 2;

/// y = A x, and a dot with y where that is wanted.
template <class T>
double spmv_flops(std::int64_t rows, std::int64_t nnz, bool with_dot) {
  return multiply_add<T> * (static_cast<double>(nnz) + (with_dot ? static_cast<double>(rows) : 0.0));
}

/// Triangular solves; a division counts as one multiplication and addition.
template <class T>
double triangular_flops(std::int64_t rows, double entries, std::int32_t columns) {
  return multiply_add<T> * columns * (entries + static_cast<double>(rows));
}

/// Iterations of PCG: the product, two dots, three updates.
template <class T>
double pcg_flops(std::int64_t rows, std::int64_t nnz) {
  return multiply_add<T> * (static_cast<double>(nnz) + 5 * static_cast<double>(rows));
}

/// Of BiCGStab: two products, four dots, six updates.
template <class T>
double bicgstab_flops(std::int64_t rows, std::int64_t nnz) {
  return multiply_add<T> * (2 * static_cast<double>(nnz) + 10 * static_cast<double>(rows));
}

/// A GMRES solve, as gmres_bytes() counts it.
template <class T>
double gmres_flops(std::int64_t rows, std::int64_t nnz, int iterations, int restart) {
  double products = 0, vectors = 0;
  for (int done = 0; done < iterations; done += restart) {
    const double steps = iterations - done < restart ? iterations - done : restart;
    products += steps + 1;
    vectors += steps * (steps + 1) + 2 * steps + steps + 1;
  }
  return multiply_add<T> * (products * static_cast<double>(nnz) + vectors * static_cast<double>(rows));
}

}  // namespace krill::apps::bench
