#include "apps/inspect/graph.hpp"

#include <algorithm>
#include <vector>

namespace krill::apps {
namespace {

/// Sets of rows, each named by one of its rows.
class Sets {
 public:
  explicit Sets(std::int32_t rows) : above_(static_cast<std::size_t>(rows)) {
    for (std::int32_t i = 0; i < rows; ++i) above(i) = i;
  }
  std::int32_t name(std::int32_t i) {
    while (above(i) != i) i = above(i) = above(above(i));
    return i;
  }
  void join(std::int32_t i, std::int32_t j) {
    const std::int32_t a = name(i), b = name(j);
    above(std::max(a, b)) = std::min(a, b);
  }

 private:
  std::int32_t& above(std::int32_t i) { return above_[static_cast<std::size_t>(i)]; }
  std::vector<std::int32_t> above_;
};

}  // namespace

template <class Offset>
Components components(const PatternView<Offset>& A) {
  Sets sets(A.rows);
  for (std::int32_t i = 0; i < A.rows; ++i)
    for (const std::int32_t j : A.row(i)) sets.join(i, j);
  std::vector<std::int32_t> sizes(static_cast<std::size_t>(A.rows));
  for (std::int32_t i = 0; i < A.rows; ++i) ++sizes[static_cast<std::size_t>(sets.name(i))];
  Components found;
  found.count = static_cast<std::int32_t>(std::ranges::count_if(sizes, [](std::int32_t size) { return size > 0; }));
  found.single = static_cast<std::int32_t>(std::ranges::count(sizes, 1));
  if (A.rows == 0) return found;
  const auto largest = std::ranges::max_element(sizes);
  found.largest = *largest;
  const auto name = static_cast<std::int32_t>(largest - sizes.begin());
  for (std::int32_t i = 0; i < A.rows && !found.first_outside; ++i)
    if (sets.name(i) != name) found.first_outside = i;
  return found;
}

template Components components(const PatternView<std::int32_t>&);
template Components components(const PatternView<std::int64_t>&);

}  // namespace krill::apps
