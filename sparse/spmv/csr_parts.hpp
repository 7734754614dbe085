// How products with a matrix in CSR are balanced on a device: what is too much for one block falls into parts.
#pragma once
#include "krill/sparse/spmv/product.hpp"

namespace krill {

inline constexpr int csr_row_block = 256;                 ///< rows that one block takes at a time
inline constexpr std::int32_t csr_part_entries = 28'672;  ///< entries of 256 rows beyond which they fall into parts

/// A piece of work: part `part` of the `parts` that the entries of a row block fall into; its sums go to place `slot`.
struct CsrItem {
  std::int32_t row_block, part, parts, slot;
};

/// The pieces of a matrix, on the device. Null items mean one piece for every row block.
struct CsrParts {
  const CsrItem* items = nullptr;
  const std::int64_t* count = nullptr;  ///< of items
  void* sums = nullptr;                 ///< csr_row_block of a slot
  unsigned* arrived = nullptr;          ///< one a row block, zero between products
};

template <class T, class Offset>
void run_product(const Cuda&, const Product<CsrView<const T, Offset>>&, const CsrParts&);

}  // namespace krill
