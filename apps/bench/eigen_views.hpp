// Krill's own arrays, as Eigen sees them.
#pragma once
#include <Eigen/Sparse>

#include "sparse/formats/csr.hpp"

namespace krill::apps::bench {

template <class T>
using RowMajor = Eigen::SparseMatrix<T, Eigen::RowMajor, std::int32_t>;
template <class T>
using EigenVector = Eigen::Matrix<T, Eigen::Dynamic, 1>;

template <class T>
Eigen::Map<const RowMajor<T>> mapped(const Csr<T>& A) {
  return {A.rows(),
          A.cols(),
          A.nnz(),
          A.row_offsets().host().data(),
          A.col_indices().host().data(),
          A.values().host().data()};
}

}  // namespace krill::apps::bench
