// The size of the blocks that a preconditioner works with.
#pragma once
#include <string>

#include "sparse/formats/any_matrix.hpp"

namespace krill::detail {

struct BlockDim {
  std::int32_t dim = 1;
  std::string from = {};  ///< where it comes from, for a report
  double ms = 0;          ///< what finding and making the blocks took
};

/// `wanted` rows, where that is not 0. Else those of the blocks of A, where A is in BSR with square blocks of at most
/// `most` rows; else the 2 to 8 rows for which BSR takes the least memory, where those blocks are two thirds full; else
/// `otherwise`, and where that is 0 the 2 to 8 rows all the same.
template <class T>
BlockDim choose_block_dim(Context&, std::int32_t wanted, std::int32_t most, const AnyMatrix<T>& A,
                          std::int32_t otherwise = 0);

}  // namespace krill::detail
