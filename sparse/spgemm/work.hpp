// Bytes and operations of sums and products of sparse matrices.
#pragma once
#include "sparse/core/work.hpp"
#include "sparse/formats/csr.hpp"

namespace krill {

/// C = A + B: the matrices once.
template <class T, class Offset>
Work spgeam_work(const Csr<T, Offset>& A, const Csr<T, Offset>& B, const Csr<T, Offset>& C) {
  return {static_cast<double>(A.bytes() + B.bytes() + C.bytes()), multiply_add<T> * static_cast<double>(C.nnz())};
}

/// C = A B: the matrices once. A multiplication and an addition for each entry of a row of B that an entry of A names.
/// O(nnz(A)), on the host.
template <class T, class Offset>
Work spgemm_work(const Csr<T, Offset>& A, const Csr<T, Offset>& B, const Csr<T, Offset>& C) {
  const auto offsets = B.row_offsets().host();
  double products = 0;
  for (const std::int32_t k : A.col_indices().host())
    products += static_cast<double>(offsets[static_cast<std::size_t>(k) + 1] - offsets[static_cast<std::size_t>(k)]);
  return {static_cast<double>(A.bytes() + B.bytes() + C.bytes()), multiply_add<T> * products};
}

/// C = R A P: the matrices once, and what lies between them not at all. Operations are not counted.
template <class T, class Offset>
Work triple_product_work(const Csr<T, Offset>& R, const Csr<T, Offset>& A, const Csr<T, Offset>& P,
                         const Csr<T, Offset>& C) {
  return {static_cast<double>(R.bytes() + A.bytes() + P.bytes() + C.bytes()), 0};
}

}  // namespace krill
