// Colorings: rows of one color do not meet.
#pragma once
#include "apps/verify/references/rows.hpp"

namespace krill::apps::verify {

/// The entries off the diagonal between two rows of one color, which there should be none of.
template <class V>
std::vector<Entry<V>> clashes(const Rows<V>& A, std::span<const std::int32_t> colors) {
  std::vector<Entry<V>> found;
  A.for_places([&](std::int32_t i, std::size_t k) {
    const std::int32_t j = A.col[k];
    if (i != j && colors[as_size(i)] == colors[as_size(j)]) found.push_back({i, j, A.value[k]});
  });
  return found;
}

}  // namespace krill::apps::verify
