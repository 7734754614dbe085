// How large the analysis of an IncompleteFactor will be on CUDA: counted on the host, before there is one.
#pragma once
#include "krill/sparse/formats/csr.hpp"

namespace krill {

struct ItemSizes {
  std::int64_t slices = 0;
  std::int64_t places = 0;    ///< of items, padding included
  std::int64_t shown = 0;     ///< entries that other rows wait for, padding included
  std::size_t row_bytes = 0;  ///< of what is kept for each row
};

/// O(items), on the host, by the passes that CUDA runs. A has to be square.
template <class T, class Offset>
ItemSizes count_items(Context& host, const Csr<T, Offset>& A, bool cholesky);

}  // namespace krill
