// Bytes and operations of products with a dense matrix.
#pragma once
#include "sparse/spmv/work.hpp"

namespace krill {

/// C = A B: the matrix, B and C once.
template <class T>
Work spmm_work(const AnyMatrix<T>& A, std::int64_t columns) {
  const auto k = static_cast<double>(columns);
  return {matrix_bytes(A) + k * static_cast<double>(rows(A) + cols(A)) * static_cast<double>(sizeof(T)),
          multiply_add<T> * k * static_cast<double>(nnz(A))};
}

/// The dots of lines of so many entries at the places of C, whose values are written alone.
template <class T>
Work sddmm_work(const AnyMatrix<T>& C, std::int64_t inner) {
  const auto k = static_cast<double>(inner);
  return {matrix_bytes(C) + k * static_cast<double>(rows(C) + cols(C)) * static_cast<double>(sizeof(T)),
          multiply_add<T> * k * static_cast<double>(nnz(C))};
}

}  // namespace krill
