#include <algorithm>
#include <numeric>
#include <vector>

#include "sparse/convert/convert.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/order/joined_pattern.hpp"
#include "sparse/order/ordering.hpp"

namespace krill {
namespace {

/// The neighbors of each row, by rising degree, then by number.
class Graph {
 public:
  explicit Graph(JoinedPattern pattern) : pattern_(std::move(pattern)) {
    for (std::int32_t i = 0; i < size(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      std::stable_sort(pattern_.neighbors.begin() + pattern_.begins[at],
                       pattern_.neighbors.begin() + pattern_.begins[at + 1],
                       [&](std::int32_t a, std::int32_t b) { return degree(a) < degree(b); });
    }
  }

  std::int32_t size() const { return static_cast<std::int32_t>(pattern_.begins.size() - 1); }
  std::size_t degree(std::int32_t i) const { return neighbors(i).size(); }
  std::span<const std::int32_t> neighbors(std::int32_t i) const {
    const auto at = static_cast<std::size_t>(i);
    return {pattern_.neighbors.data() + pattern_.begins[at],
            static_cast<std::size_t>(pattern_.begins[at + 1] - pattern_.begins[at])};
  }

 private:
  JoinedPattern pattern_;
};

/// Searches in breadth, each with a mark of its own.
class Search {
 public:
  explicit Search(const Graph& graph) : graph_(graph), marks_(static_cast<std::size_t>(graph.size()), 0) {}

  /// The rows that are found from `start`, level by level; how many levels. `last` begins the last one.
  struct Levels {
    std::vector<std::int32_t> rows;
    int count = 0;
    std::size_t last = 0;
  };
  Levels from(std::int32_t start) {
    ++mark_;
    Levels found;
    found.rows.push_back(start);
    visit(start);
    for (std::size_t done = 0, end = 1; done < end; end = found.rows.size()) {
      found.last = done, ++found.count;
      for (; done < end; ++done)
        for (const std::int32_t next : graph_.neighbors(found.rows[done]))
          if (visit(next)) found.rows.push_back(next);
    }
    return found;
  }

 private:
  bool visit(std::int32_t row) { return std::exchange(marks_[static_cast<std::size_t>(row)], mark_) != mark_; }

  const Graph& graph_;
  std::vector<std::uint32_t> marks_;  // two searches a row at most: fewer than 2^32
  std::uint32_t mark_ = 0;
};

/// From an end of the component: of the last level, the row with fewest neighbors, as long as that goes deeper.
Search::Levels from_an_end(const Graph& graph, Search& search, std::int32_t start) {
  for (Search::Levels found = search.from(start);;) {
    const auto farthest =
        std::min_element(found.rows.begin() + static_cast<std::ptrdiff_t>(found.last), found.rows.end(),
                         [&](std::int32_t a, std::int32_t b) { return graph.degree(a) < graph.degree(b); });
    Search::Levels deeper = search.from(*farthest);
    if (deeper.count <= found.count) return found;
    found = std::move(deeper);
  }
}

}  // namespace

template <class T, class Offset>
Ordering reverse_cuthill_mckee(Context& ctx, const Csr<T, Offset>& A) {
  require_size("reverse Cuthill-McKee: columns of the matrix", A.cols(), A.rows());
  const Graph graph(join_pattern(ctx, A));
  Search search(graph);
  std::vector<std::int32_t> by_degree(static_cast<std::size_t>(graph.size())), order;
  std::iota(by_degree.begin(), by_degree.end(), 0);
  std::stable_sort(by_degree.begin(), by_degree.end(),
                   [&](std::int32_t a, std::int32_t b) { return graph.degree(a) < graph.degree(b); });
  std::vector<bool> placed(by_degree.size());
  order.reserve(by_degree.size());
  for (const std::int32_t start : by_degree) {
    if (placed[static_cast<std::size_t>(start)]) continue;
    for (const std::int32_t row : from_an_end(graph, search, start).rows) {
      placed[static_cast<std::size_t>(row)] = true;
      order.push_back(row);
    }
  }
  std::reverse(order.begin(), order.end());
  return Ordering(Array<std::int32_t>(std::move(order), "ordering"));
}

HeldMemory reverse_cuthill_mckee_memory(MemoryLedger& ledger, const CsrSizes& A) {
  { const HeldMemory transposed = transpose_memory(ledger, A); }
  return Ordering::memory(ledger, A.rows);
}

template <class T, class Offset>
struct RcmInstances {
  static constexpr auto list = instance<Ordering(Context&, const Csr<T, Offset>&)>(reverse_cuthill_mckee);
};
KRILL_INSTANTIATE_WITH_OFFSETS(RcmInstances);

}  // namespace krill
