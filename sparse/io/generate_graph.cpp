// The random families. All but one are weighted graphs: an edge (i, j) gives the entries w and conj(w) at (i, j) and
// (j, i), and the diagonal is the sum of |w| over the row and something more.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <span>
#include <vector>

#include "sparse/core/counter_random.hpp"
#include "sparse/io/generate_rows.hpp"

namespace krill::detail {
namespace {

// What random numbers are for.
enum Purpose { partner, strength, presence, ground, resistor };

struct Edge {
  std::int64_t a, b;
};
constexpr Edge no_edge{0, 0};

/// The neighbors of every node, ascending, each once, and no node its own.
class Graph {
 public:
  /// Of the edges edge(e), e < edges; those from a node to itself are left out. The order in which threads enter them
  /// is lost when the lists are sorted.
  template <class F>
  Graph(const Host& host, std::int64_t nodes, std::int64_t edges, const F& edge)
      : begin_(static_cast<std::size_t>(nodes + 1)), before_(begin_.size()) {
    count(host, edges, edge);
    for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
    neighbors_.resize(static_cast<std::size_t>(begin_.back()));
    enter(host, edges, edge);
    sort(host);
  }

  std::int64_t nodes() const { return std::ssize(before_) - 1; }
  std::span<const std::int32_t> neighbors(std::int64_t i) const {
    const auto at = static_cast<std::size_t>(i);
    return {neighbors_.data() + begin_[at], static_cast<std::size_t>(before_[at + 1] - before_[at])};
  }
  /// The neighbors of all nodes before i, counted.
  std::int64_t neighbors_before(std::int64_t i) const { return before_[static_cast<std::size_t>(i)]; }

  /// Bytes that the constructor takes.
  static std::int64_t bytes(std::int64_t nodes, std::int64_t edges) { return 16 * (nodes + 1) + 8 * edges; }

 private:
  std::int64_t next(std::int64_t& counter) { return std::atomic_ref(counter).fetch_add(1, std::memory_order_relaxed); }

  template <class F>
  void count(const Host& host, std::int64_t edges, const F& edge) {
    for_each_index(host, edges, [&](std::int64_t e) {
      const auto [a, b] = edge(e);
      if (a != b) next(begin_[static_cast<std::size_t>(a + 1)]), next(begin_[static_cast<std::size_t>(b + 1)]);
    });
  }

  template <class F>
  void enter(const Host& host, std::int64_t edges, const F& edge) {
    before_ = begin_;  // where the next neighbor goes, for now
    for_each_index(host, edges, [&](std::int64_t e) {
      const auto [a, b] = edge(e);
      if (a == b) return;
      neighbors_[static_cast<std::size_t>(next(before_[static_cast<std::size_t>(a)]))] = static_cast<std::int32_t>(b);
      neighbors_[static_cast<std::size_t>(next(before_[static_cast<std::size_t>(b)]))] = static_cast<std::int32_t>(a);
    });
  }

  void sort(const Host& host) {
    const std::int64_t nodes = this->nodes();
    for_blocks(host, nodes, 1024, std::ssize(neighbors_), [&](std::int64_t first, std::int64_t last) {
      for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) {
        const auto begin = neighbors_.begin() + begin_[i], end = neighbors_.begin() + begin_[i + 1];
        std::sort(begin, end);
        before_[i] = std::unique(begin, end) - begin;
      }
    });
    before_.back() = 0;
    std::exclusive_scan(before_.begin(), before_.end(), before_.begin(), std::int64_t{0});
  }

  std::vector<std::int64_t> begin_;   // of a node's list
  std::vector<std::int64_t> before_;  // neighbors of the nodes before, without repetitions
  std::vector<std::int32_t> neighbors_;
};

/// |a| without the range or the cost of std::hypot: weights are near 1.
template <class K>
double magnitude(K a) {
  return std::sqrt(squared(a));
}

/// Off the diagonal weight(low, high), conjugated below it; on it the sum of magnitudes and excess(i).
template <class T, class Weight, class Excess>
AnyMatrix<T> weighted(std::string_view type, const ChooseRows& choose, const Graph& graph, const Weight& weight,
                      const Excess& excess) {
  using K = kernel_t<T>;
  const auto first = [&](std::int64_t row) { return graph.neighbors_before(row) + row; };
  return build_rows<T>(type, graph.nodes(), choose, first, [&](std::int64_t i, std::int32_t* cols, K* values) {
    int length = 0, diagonal = 0;
    double sum = 0;
    for (const std::int32_t j : graph.neighbors(i)) {
      if (j > i && diagonal == length) ++length;
      if (j < i) ++diagonal;
      cols[length] = j;
      values[length] = j < i ? conj(weight(j, i)) : weight(i, j);
      sum += magnitude(values[length++]);
    }
    cols[diagonal] = static_cast<std::int32_t>(i);
    values[diagonal] = scalar<K>(sum + excess(i));
    return std::max(length, diagonal + 1);
  });
}

/// A graph whose matrix, and the graph itself, were found to fit.
template <class T, class F>
Graph checked_graph(std::string_view type, std::int64_t nodes, std::int64_t edges, const F& edge) {
  require_matrix_memory(type, nodes, nodes + 2 * edges, sizeof(T), Graph::bytes(nodes, edges));
  return Graph(all_threads(), nodes, edges, edge);
}

/// Preferential attachment without memory: the ends of edge e are positions 2 e (the new node) and 2 e + 1 (a copy of a
/// random older position; where that is a copy as well, its original is found by drawing again what it drew).
std::int64_t attached_to(const CounterRandom& random, std::int64_t edge, std::int64_t edges_per_node) {
  while (edge >= edges_per_node) {
    const std::int64_t older = edge / edges_per_node * edges_per_node;
    const std::int64_t position = random.below(2 * older, edge);
    edge = position / 2;
    if (position % 2 == 0) return edge / edges_per_node;
  }
  return 0;
}

/// Ohms: one of the E12 series, then a power of ten.
double resistance(const CounterRandom& random, std::int64_t a, std::int64_t b, int decades) {
  constexpr std::array series{1.0, 1.2, 1.5, 1.8, 2.2, 2.7, 3.3, 3.9, 4.7, 5.6, 6.8, 8.2};
  const std::int64_t drawn = random.below(std::ssize(series) * decades, a, b);
  double ohms = series[static_cast<std::size_t>(drawn) % series.size()];
  for (auto power = drawn / std::ssize(series); power > 0; --power) ohms *= 10;
  return ohms;
}

}  // namespace

template <class T>
AnyMatrix<T> generate_matrix(const RandomSpdOptions& o, const ChooseRows& choose) {
  const CounterRandom partners(o.seed, partner), strengths(o.seed, strength);
  const std::int64_t edges = static_cast<std::int64_t>(o.rows) * (o.row_entries - 1) / 2;
  const Graph graph = checked_graph<T>(o.type, o.rows, edges, [&](std::int64_t e) {
    return Edge{e % o.rows, partners.below(o.rows, e)};
  });
  return weighted<T>(
      o.type, choose, graph, [&](std::int64_t i, std::int64_t j) { return strengths.symmetric<kernel_t<T>>(i, j); },
      [&](std::int64_t) { return o.shift; });
}

template <class T>
AnyMatrix<T> generate_matrix(const RandomDominantOptions& o, const ChooseRows& choose) {
  using K = kernel_t<T>;
  const CounterRandom columns(o.seed, partner), strengths(o.seed, strength);
  const std::int64_t rows = o.rows, others = rows - 1, parts = std::min<std::int64_t>(o.row_entries - 1, others);
  const auto first = [&](std::int64_t row) { return row * (parts + 1); };
  return build_rows<T>(o.type, rows, choose, first, [&](std::int64_t i, std::int32_t* cols, K* values) {
    std::int64_t length = 0, diagonal = 0;
    double sum = 0;
    for (std::int64_t part = 0; part < parts; ++part) {  // part of the row without its diagonal
      const std::int64_t begin = part * others / parts, end = (part + 1) * others / parts;
      std::int64_t col = begin + columns.below(end - begin, i, part);
      col += col >= i;
      if (col > i && diagonal == length) ++length;
      if (col < i) ++diagonal;
      cols[length] = static_cast<std::int32_t>(col);
      values[length] = strengths.symmetric<K>(i, col);
      sum += magnitude(values[length++]);
    }
    cols[diagonal] = static_cast<std::int32_t>(i);
    values[diagonal] = scalar<K>(sum > 0 ? o.dominance * sum : 1);
    return parts + 1;
  });
}

template <class T>
AnyMatrix<T> generate_matrix(const BandedBatchOptions& o, const ChooseRows& choose) {
  using K = kernel_t<T>;
  const CounterRandom strengths(o.seed, strength);
  const std::int64_t rows = o.rows, far = o.diagonals == DiagonalCount::three ? 1 : 2;
  const std::int64_t all = static_cast<std::int64_t>(o.systems) * rows;
  if (all > std::numeric_limits<std::int32_t>::max())
    throw InvalidArgument(fmt::format("{}: {} systems of {} rows are {} rows, at most {} are possible", o.type,
                                      o.systems, rows, all, std::numeric_limits<std::int32_t>::max()));
  // Entries of the first i rows of a system: row k has one for each column from k - far to k + far that there is.
  const auto before = [&](std::int64_t i) {
    std::int64_t entries = i;
    for (std::int64_t k = 1; k <= std::min(far, rows - 1); ++k)
      entries += std::max<std::int64_t>(0, i - k) + std::min(i, rows - k);
    return entries;
  };
  const std::int64_t of_system = before(rows);
  const auto first = [&](std::int64_t row) { return row / rows * of_system + before(row % rows); };
  return build_rows<T>(o.type, all, choose, first, [&](std::int64_t row, std::int32_t* cols, K* values) {
    const std::int64_t i = row % rows, begin = std::max<std::int64_t>(0, i - far), end = std::min(rows, i + far + 1);
    double sum = 0;
    for (std::int64_t k = begin; k < end; ++k) {
      cols[k - begin] = static_cast<std::int32_t>(row - i + k);
      values[k - begin] = strengths.symmetric<K>(row, k - i);
      if (k != i) sum += magnitude(values[k - begin]);
    }
    values[i - begin] = scalar<K>(sum > 0 ? o.dominance * sum : 1);
    return end - begin;
  });
}

template <class T>
AnyMatrix<T> generate_matrix(const PowerLawLaplacianOptions& o, const ChooseRows& choose) {
  const CounterRandom random(o.seed, partner);
  const std::int64_t edges = static_cast<std::int64_t>(o.rows) * o.edges_per_node;
  const Graph graph = checked_graph<T>(o.type, o.rows, edges, [&](std::int64_t e) {
    return Edge{e / o.edges_per_node, attached_to(random, e, o.edges_per_node)};
  });
  return weighted<T>(
      o.type, choose, graph, [](std::int64_t, std::int64_t) { return kernel_t<T>(-1); },
      [&](std::int64_t) { return o.shift; });
}

template <class T>
AnyMatrix<T> generate_matrix(const ResistorNetworkOptions& o, const ChooseRows& choose) {
  using K = kernel_t<T>;
  const std::int64_t nx = o.nx, nodes = checked_rows(o.type, nx, extent(o.ny, o.nx));
  const CounterRandom partners(o.seed, partner), far(o.seed, presence), grounds(o.seed, ground),
      resistors(o.seed, resistor);
  const Graph graph = checked_graph<T>(o.type, nodes, 3 * nodes, [&](std::int64_t e) {
    const std::int64_t node = e / 3;
    if (e % 3 == 0) return node % nx + 1 < nx ? Edge{node, node + 1} : no_edge;
    if (e % 3 == 1) return node + nx < nodes ? Edge{node, node + nx} : no_edge;
    return far.unit(node) < o.far ? Edge{node, partners.below(nodes, node)} : no_edge;
  });
  return weighted<T>(
      o.type, choose, graph,
      [&](std::int64_t i, std::int64_t j) { return scalar<K>(-1 / resistance(resistors, i, j, o.decades)); },
      [&](std::int64_t i) {
        const bool grounded = i == 0 || grounds.unit(i) < o.grounded;
        return grounded ? 1 / resistance(resistors, i, i, o.decades) : 0.0;
      });
}

template <class T>
struct GenerateGraphInstances {
  static constexpr std::tuple list{
      instance<AnyMatrix<T>(const RandomSpdOptions&, const ChooseRows&)>(generate_matrix),
      instance<AnyMatrix<T>(const RandomDominantOptions&, const ChooseRows&)>(generate_matrix),
      instance<AnyMatrix<T>(const BandedBatchOptions&, const ChooseRows&)>(generate_matrix),
      instance<AnyMatrix<T>(const PowerLawLaplacianOptions&, const ChooseRows&)>(generate_matrix),
      instance<AnyMatrix<T>(const ResistorNetworkOptions&, const ChooseRows&)>(generate_matrix)};
};
KRILL_INSTANTIATE(GenerateGraphInstances);

}  // namespace krill::detail
