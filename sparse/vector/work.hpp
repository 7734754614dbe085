// Bytes and operations of sparse vectors with dense ones. What is moved of a dense vector are the entries that the
// sparse one has.
#pragma once
#include "sparse/core/work.hpp"
#include "sparse/formats/sparse_vector.hpp"

namespace krill {

/// An operation on the entries of x that moves so many values of each (axpby with beta = 1: 3, gather and scatter: 2,
/// rotate: 4, dot: 2), with so many multiplications and additions.
template <class T>
Work sparse_vector_work(const SparseVector<T>& x, int values, double multiply_adds = 0) {
  const auto entries = static_cast<double>(x.nnz());
  return {entries * static_cast<double>(sizeof(std::int32_t) + static_cast<std::size_t>(values) * sizeof(T)),
          multiply_add<T> * multiply_adds * entries};
}

/// y = op(A) x for a dense matrix: the columns of op(A) that x has, x, and y.
template <class T>
Work gemvi_work(std::int64_t rows, const SparseVector<T>& x) {
  const auto products = static_cast<double>(rows) * static_cast<double>(x.nnz());
  return {(products + static_cast<double>(rows)) * static_cast<double>(sizeof(T)) + static_cast<double>(x.bytes()),
          multiply_add<T> * products};
}

}  // namespace krill
