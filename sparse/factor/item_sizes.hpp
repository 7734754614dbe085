// The size of the analysis of an IncompleteFactor on CUDA, counted on the host before the factor is made.
#pragma once
#include "sparse/triangular/levels.hpp"

namespace krill::detail {

struct ItemSizes {
  std::int64_t slices = 0;
  std::int64_t places = 0;     ///< of items, padding included
  std::int64_t published = 0;  ///< entries that other rows wait for, padding included
};

/// O(items), on the host, by the passes that CUDA runs, with the schedule of A's lower triangle. A has to be square.
template <class T, class Offset>
ItemSizes count_items(Context& host, const Csr<T, Offset>& A, const LevelSchedule&, bool cholesky);

}  // namespace krill::detail
