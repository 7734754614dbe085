// Bytes and operations of products.
#pragma once
#include <cstddef>
#include <cstdint>

#include "sparse/core/work.hpp"
#include "sparse/formats/any_matrix.hpp"

namespace krill {

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

/// y = A x, and a dot with y where that is wanted.
template <class T>
double spmv_flops(std::int64_t rows, std::int64_t nnz, bool with_dot) {
  return multiply_add<T> * (static_cast<double>(nnz) + (with_dot ? static_cast<double>(rows) : 0.0));
}

}  // namespace krill
