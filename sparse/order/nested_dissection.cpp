#include <fmt/format.h>
#include <metis.h>

#include <limits>
#include <utility>
#include <vector>

#include "sparse/convert/convert.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/order/joined_pattern.hpp"
#include "sparse/order/ordering.hpp"

namespace krill {

template <class T, class Offset>
Ordering nested_dissection(Context& ctx, const Csr<T, Offset>& A) {
  require_size("nested dissection: columns of the matrix", A.cols(), A.rows());
  JoinedPattern pattern = join_pattern(ctx, A);
  if (std::ssize(pattern.neighbors) > std::numeric_limits<idx_t>::max())
    throw InvalidArgument(fmt::format(
        "nested dissection: the joined pattern has {} entries, more than METIS counts; use reverse Cuthill-McKee",
        pattern.neighbors.size()));
  const auto n = static_cast<std::size_t>(A.rows());
  std::vector<idx_t> order(n), inverse(n);
  if (pattern.neighbors.empty()) {  // METIS wants an edge
    for (std::size_t i = 0; i < n; ++i) order[i] = static_cast<idx_t>(i);
  } else {
    std::vector<idx_t> begins(pattern.begins.begin(), pattern.begins.end()),
        neighbors(pattern.neighbors.begin(), pattern.neighbors.end());
    pattern = {};
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    auto rows = static_cast<idx_t>(n);
    if (METIS_NodeND(&rows, begins.data(), neighbors.data(), nullptr, options, order.data(), inverse.data()) !=
        METIS_OK)
      throw OutOfMemory("nested dissection by METIS", (2 * n + neighbors.size()) * sizeof(idx_t), 0);
  }
  return Ordering(Array<std::int32_t>(std::vector<std::int32_t>(order.begin(), order.end()), "ordering"));
}

HeldMemory nested_dissection_memory(MemoryLedger& ledger, const CsrSizes& A) {
  { const HeldMemory transposed = transpose_memory(ledger, A); }
  return Ordering::memory(ledger, A.rows);
}

template <class T, class Offset>
struct NestedDissectionInstances {
  static constexpr auto list = instance<Ordering(Context&, const Csr<T, Offset>&)>(nested_dissection);
};
KRILL_INSTANTIATE_WITH_OFFSETS(NestedDissectionInstances);

}  // namespace krill
