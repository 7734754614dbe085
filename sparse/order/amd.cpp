#include <fmt/format.h>

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <limits>
#include <vector>

#include "sparse/core/instantiate.hpp"
#include "sparse/order/ordering.hpp"

namespace krill {

template <class T, class Offset>
Ordering approximate_minimum_degree(Context&, const Csr<T, Offset>& A) {
  require_size("approximate minimum degree: columns of the matrix", A.cols(), A.rows());
  // Entries are listed for both of their nodes, with a fifth as much room for what elimination adds.
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() / 3;
  if (A.nnz() > most)
    throw InvalidArgument(fmt::format(
        "approximate minimum degree: the matrix has {} entries, at most {} are possible; use reverse Cuthill-McKee",
        A.nnz(), most));
  // The pattern by columns of what may be the transpose: both have the same ordering.
  using Pattern = Eigen::SparseMatrix<signed char, Eigen::ColMajor, std::int32_t>;
  const auto offsets = A.row_offsets().host();
  const std::vector<std::int32_t> begins(offsets.begin(), offsets.end());
  const std::vector<signed char> values(static_cast<std::size_t>(A.nnz()), 1);
  const Pattern pattern = Eigen::Map<const Pattern>(A.rows(), A.cols(), A.nnz(), begins.data(),
                                                    A.col_indices().host().data(), values.data());
  Eigen::AMDOrdering<std::int32_t>::PermutationType permutation;
  Eigen::AMDOrdering<std::int32_t>()(pattern, permutation);
  const auto& order = permutation.indices();
  return Ordering(
      Array<std::int32_t>(std::vector<std::int32_t>(order.data(), order.data() + order.size()), "ordering"));
}

template <class T, class Offset>
struct AmdInstances {
  static constexpr auto list = instance<Ordering(Context&, const Csr<T, Offset>&)>(approximate_minimum_degree);
};
KRILL_INSTANTIATE_WITH_OFFSETS(AmdInstances);

}  // namespace krill
