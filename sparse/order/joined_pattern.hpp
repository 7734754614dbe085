// The graph of a square matrix, for orderings.
#pragma once
#include <cstdint>
#include <vector>

#include "sparse/formats/csr.hpp"

namespace krill {

/// The pattern of A joined with its transpose's, without the diagonal: whom each row meets, by rising numbers.
struct JoinedPattern {
  std::vector<std::int64_t> begins;  ///< of row i: begins[i] to begins[i + 1]
  std::vector<std::int32_t> neighbors;
};

/// O(nnz). A is square.
template <class T, class Offset>
JoinedPattern join_pattern(Context&, const Csr<T, Offset>& A);

}  // namespace krill
