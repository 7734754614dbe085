// Which entries of a matrix couple their rows strongly.
#pragma once
#include "sparse/formats/csr.hpp"

namespace krill {

/// The graph of strong off-diagonal entries: structurally symmetric, no diagonal, columns sorted.
template <class Offset>
struct StrongGraph {
  Array<Offset> row_offsets;
  Array<std::int32_t> col_indices;

  std::int32_t rows() const { return static_cast<std::int32_t>(row_offsets.size() - 1); }
  std::int64_t nnz() const { return col_indices.size(); }
};

}  // namespace krill
