#include "sparse/formats/dense.hpp"

#include <algorithm>

namespace krill::detail {

std::int64_t dense_leading_dimension(const MatrixShape& shape, Order order, std::int64_t asked) {
  const bool by_columns = order == Order::column_major;
  const std::int64_t least = by_columns ? shape.rows() : shape.cols(), lines = by_columns ? shape.cols() : shape.rows();
  constexpr std::int64_t max_entries = std::numeric_limits<std::int64_t>::max() / sizeof(std::complex<double>);
  if (asked == 0) return least;
  require_range("dense: leading_dimension", asked, least, max_entries / std::max<std::int64_t>(lines, 1));
  return asked;
}

}  // namespace krill::detail
