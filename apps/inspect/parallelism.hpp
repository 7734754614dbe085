// How much of a triangular solve can go on at once, in the orders that a case can ask for.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "sparse/formats/csr.hpp"

namespace krill::apps {

/// The levels of one order: rows of one level do not wait for each other, and levels follow each other.
struct OrderLevels {
  std::string_view order;             ///< as `ordering` names it: none, rcm, color
  std::int32_t lower = 0, upper = 0;  ///< levels of the triangles
  std::int32_t widest = 0;            ///< rows of the widest level of the lower triangle
  std::int32_t colors = 0;            ///< 0 unless the order is by color

  double mean_rows(std::int32_t rows) const { return lower > 0 ? static_cast<double>(rows) / lower : 0; }
};

/// In natural, reverse Cuthill-McKee and color order. A is square. O(nnz) each, with a sort of the entries.
template <class T, class Offset>
std::vector<OrderLevels> levels_by_order(Context&, const Csr<T, Offset>& A);

}  // namespace krill::apps
