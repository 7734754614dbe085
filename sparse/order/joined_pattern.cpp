#include "sparse/order/joined_pattern.hpp"

#include <algorithm>
#include <iterator>
#include <span>

#include "sparse/convert/convert.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill {
namespace {

template <class T, class Offset>
std::span<const std::int32_t> columns_of(const Csr<T, Offset>& A, std::size_t row) {
  const auto offsets = A.row_offsets().host();
  const auto begin = static_cast<std::size_t>(offsets[row]), end = static_cast<std::size_t>(offsets[row + 1]);
  return A.col_indices().host().subspan(begin, end - begin);
}

}  // namespace

template <class T, class Offset>
JoinedPattern join_pattern(Context& ctx, const Csr<T, Offset>& A) {
  const Csr<T, Offset> transposed = transpose(ctx, A);
  const auto rows = static_cast<std::size_t>(A.rows());
  JoinedPattern joined;
  joined.begins.reserve(rows + 1);
  joined.begins.push_back(0);
  auto& neighbors = joined.neighbors;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto mine = columns_of(A, i), theirs = columns_of(transposed, i);
    std::set_union(mine.begin(), mine.end(), theirs.begin(), theirs.end(), std::back_inserter(neighbors));
    neighbors.erase(
        std::remove(neighbors.begin() + joined.begins.back(), neighbors.end(), static_cast<std::int32_t>(i)),
        neighbors.end());
    joined.begins.push_back(std::ssize(neighbors));
  }
  return joined;
}

template <class T, class Offset>
struct JoinedPatternInstances {
  static constexpr auto list = instance<JoinedPattern(Context&, const Csr<T, Offset>&)>(join_pattern);
};
KRILL_INSTANTIATE_WITH_OFFSETS(JoinedPatternInstances);

}  // namespace krill
