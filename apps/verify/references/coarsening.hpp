// What strong graphs, aggregates, prolongators and coarse matrices have to be. Matrices are given by their arrays, by
// rows with columns ascending; `wrong_` answers with what is wrong first, or nothing.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>

#include "apps/verify/references/rows.hpp"
#include "sparse/formats/dense.hpp"

namespace krill::apps::verify {

/// A graph, or a matrix whose values nobody looks at.
template <class Offset>
struct EdgeLists {
  std::span<const Offset> offsets;
  std::span<const std::int32_t> cols;

  std::int32_t size() const { return static_cast<std::int32_t>(offsets.size()) - 1; }
  std::size_t begin(std::int32_t i) const { return static_cast<std::size_t>(offsets[as_size(i)]); }
  std::size_t end(std::int32_t i) const { return static_cast<std::size_t>(offsets[as_size(i) + 1]); }
  std::span<const std::int32_t> neighbors(std::int32_t i) const { return cols.subspan(begin(i), end(i) - begin(i)); }
  bool has_edge(std::int32_t i, std::int32_t j) const { return std::ranges::binary_search(neighbors(i), j); }
};

/// Disjoint sets of rows.
struct DisjointRows {
  std::int32_t count;
  std::span<const std::int32_t> of_row, offsets, rows;

  std::span<const std::int32_t> members(std::int32_t set) const {
    const auto begin = as_size(offsets[as_size(set)]), end = as_size(offsets[as_size(set) + 1]);
    return rows.subspan(begin, end - begin);
  }
};

/// Of a strong graph: an edge without a strong entry, or a strong entry without edges both ways. A row is measured by
/// its greatest entry beside the diagonal, or by the diagonal. Rounding may decide on what is as large as the
/// threshold; `rounding` is that of |a_ij|.
template <class T, class Offset, class GraphOffset>
std::string wrong_graph(const EdgeLists<Offset>& a, std::span<const T> values, const EdgeLists<GraphOffset>& graph,
                        double threshold, double rounding, bool by_diagonal = false) {
  if (graph.size() != a.size()) return fmt::format("the graph has {} rows", graph.size());
  const auto size_at = [&](std::size_t k) { return static_cast<double>(modulus(exact(values[k]))); };
  std::vector<double> greatest(as_size(a.size()));
  for (std::int32_t i = 0; i < a.size(); ++i)
    for (std::size_t k = a.begin(i); k < a.end(i); ++k)
      if ((a.cols[k] == i) == by_diagonal) greatest[as_size(i)] = std::max(greatest[as_size(i)], size_at(k));
  const auto least = [&](std::int32_t i, std::int32_t j) {
    return threshold * std::sqrt(greatest[as_size(i)]) * std::sqrt(greatest[as_size(j)]);
  };
  const auto size_of = [&](std::int32_t i, std::int32_t j) {
    const auto row = a.neighbors(i);
    const auto found = std::ranges::lower_bound(row, j);
    return found != row.end() && *found == j ? size_at(a.begin(i) + static_cast<std::size_t>(found - row.begin()))
                                             : 0.0;
  };
  for (std::int32_t i = 0; i < a.size(); ++i) {
    for (std::size_t k = a.begin(i); k < a.end(i); ++k) {
      const std::int32_t j = a.cols[k];
      if (i != j && size_at(k) > least(i, j) * (1 + rounding) && !(graph.has_edge(i, j) && graph.has_edge(j, i)))
        return fmt::format("rows {} and {} have no edge", i, j);
    }
    for (const std::int32_t j : graph.neighbors(i))
      if (i == j || std::max(size_of(i, j), size_of(j, i)) < least(i, j) * (1 - rounding))
        return fmt::format("rows {} and {} have an edge", i, j);
  }
  return {};
}

/// The Frobenius norms of blocks of dim x dim entries, where one is stored, times -1 beside the diagonal. Kernels add
/// squares in double precision.
template <class T>
Rows<Bounded<real_t<T>>> block_norms(const Rows<T>& A, std::int32_t dim) {
  Rows<Bounded<real_t<T>>> norms{A.rows / dim, A.cols / dim, {0}, {}, {}};
  for (std::int32_t node = 0; node < norms.rows; ++node) {
    std::map<std::int32_t, long double> squares;
    for (std::int32_t i = node * dim; i < (node + 1) * dim; ++i)
      for (std::size_t k = A.begin(i); k < A.end(i); ++k) {
        const long double size = modulus(exact(A.value[k]));
        squares[A.col[k] / dim] += size * size;
      }
    for (const auto& [col, sum] : squares) {
      const long double norm = std::sqrt(sum), rounding = gamma<real_t<T>>(8) + gamma<double>(4 * dim * dim);
      norms.col.push_back(col), norms.value.emplace_back(col == node ? norm : -norm, rounding * norm);
    }
    norms.offsets.push_back(norms.col.size());
  }
  return norms;
}

/// Of aggregates: lists that say something else than `of_row`, or one that the edges of a graph do not hold together.
template <class Offset>
std::string wrong_aggregates(const EdgeLists<Offset>& graph, const DisjointRows& found) {
  std::size_t k = 0;
  for (std::int32_t set = 0; set < found.count; ++set)
    for (const std::int32_t row : found.members(set)) {
      ++k;
      if (found.of_row[as_size(row)] != set) return fmt::format("row {} is listed in aggregate {}", row, set);
    }
  std::vector<std::int32_t> parents(found.of_row.size());
  std::iota(parents.begin(), parents.end(), 0);
  const auto parent_of = [&](std::int32_t row) {
    while (parents[as_size(row)] != row) row = parents[as_size(row)] = parents[as_size(parents[as_size(row)])];
    return row;
  };
  std::size_t in_some = 0, joined = 0;  // rows; unions of two sets of them
  for (std::int32_t i = 0; i < graph.size(); ++i) {
    const std::int32_t own = found.of_row[as_size(i)];
    if (own < -1 || own >= found.count) return fmt::format("row {} is in aggregate {}", i, own);
    if (own < 0) continue;
    ++in_some;
    for (const std::int32_t j : graph.neighbors(i)) {
      if (found.of_row[as_size(j)] != own) continue;
      const std::int32_t one = parent_of(i), other = parent_of(j);
      if (one == other) continue;
      parents[as_size(one)] = other;
      ++joined;
    }
  }
  if (in_some != k) return fmt::format("{} rows are in aggregates, {} are listed", in_some, k);
  if (in_some - joined != as_size(found.count))
    return fmt::format("{} aggregates fall into {} parts", found.count, in_some - joined);
  return {};
}

/// Of aggregates around roots of a maximal independent set at distance two: a row with a neighbor that is in none, an
/// aggregate without a row whose neighbors are all its own, as a root's are, or a row further than two edges from such
/// rows.
template <class Offset>
std::string wrong_roots(const EdgeLists<Offset>& graph, const DisjointRows& found) {
  std::vector<int> distance(as_size(graph.size()), 3);  // to a row that may be the root of the same aggregate
  std::vector<bool> rooted(as_size(found.count));
  for (std::int32_t i = 0; i < graph.size(); ++i) {
    const std::int32_t own = found.of_row[as_size(i)];
    if (own < 0 && !graph.neighbors(i).empty()) return fmt::format("row {} has neighbors and is in no aggregate", i);
    if (own < 0) continue;
    const auto is_own = [&](std::int32_t j) { return found.of_row[as_size(j)] == own; };
    if (std::ranges::all_of(graph.neighbors(i), is_own)) distance[as_size(i)] = 0, rooted[as_size(own)] = true;
  }
  for (std::int32_t set = 0; set < found.count; ++set)
    if (!rooted[as_size(set)]) return fmt::format("aggregate {} has no row that may be its root", set);
  for (const int step : {1, 2})
    for (std::int32_t i = 0; i < graph.size(); ++i)
      for (const std::int32_t j : graph.neighbors(i))
        if (distance[as_size(j)] == step - 1 && found.of_row[as_size(i)] == found.of_row[as_size(j)])
          distance[as_size(i)] = std::min(distance[as_size(i)], step);
  for (std::int32_t i = 0; i < graph.size(); ++i)
    if (found.of_row[as_size(i)] >= 0 && distance[as_size(i)] > 2)
      return fmt::format("row {} is more than two edges from what may be a root", i);
  return {};
}

/// P = (I - omega / lambda D_F^-1 A_F) P0 in the pattern of the graph of nodes, block_dim rows each: by the rows of P0
/// that A's strong entries and those inside of nodes lead to. What weak entries take from the candidates b, the row's
/// aggregate makes of its own rows R of coarse_b: s R = the sum of a_ij b_j, which counts s p0_i^H / |p0_i|^2 on the
/// diagonal. Dropped where that would take it below a tenth of itself; `undecided` rows are as near to that as
/// rounding.
template <class T, class Offset>
struct SmoothedReference {
  std::vector<std::map<std::int32_t, Bounded<T>>> rows;
  std::vector<bool> undecided;

  SmoothedReference(const Rows<T>& A, const EdgeLists<Offset>& strong, std::int32_t block_dim, const Rows<T>& P0,
                    const DenseView<const T>& b, const DenseView<const T>& coarse_b, const Bounded<T>& factor)
      : rows(as_size(A.rows)), undecided(as_size(A.rows)) {
    const std::int32_t columns = b.cols;
    for (std::int32_t i = 0; i < A.rows; ++i) {
      const auto is_strong = [&](std::int32_t j) {
        return i / block_dim == j / block_dim || strong.has_edge(i / block_dim, j / block_dim);
      };
      const Bounded<T> own(A.at(i, i));
      std::map<std::int32_t, BoundedSum<T>> sums;
      std::vector<BoundedSum<T>> weak(as_size(columns));
      for (std::size_t k = A.begin(i); k < A.end(i); ++k)
        if (const std::int32_t j = A.col[k]; is_strong(j))
          for (std::size_t l = P0.begin(j); l < P0.end(j); ++l)
            sums[P0.col[l]].add(Bounded<T>(A.value[k]), Bounded<T>(P0.value[l]));
        else
          for (std::int32_t c = 0; c < columns; ++c)
            weak[as_size(c)].add(Bounded<T>(A.value[k]), Bounded<T>(b.at(j, c)));
      Bounded<T> diagonal = own;
      if (P0.begin(i) < P0.end(i)) {
        const std::int32_t first = P0.col[P0.begin(i)];
        const BoundedVector<T> s = solved(weak, coarse_b, first);
        const Bounded<T> all = BoundedSum<T>().add(own).add(nearest(s, P0, i)).result();
        const long double kept = modulus(own.value) > 0 ? real_part(all.value / own.value) : 0;
        undecided[as_size(i)] = std::fabs(kept - 0.1L) < 1e-3L;
        if (kept >= 0.1L) {
          diagonal = all;
          for (std::int32_t c = 0; c < columns; ++c) sums[first + c].add(s[as_size(c)]);
        }
      }
      const bool divides = modulus(diagonal.value) > 0;
      for (const auto& [col, value] : sums) {
        BoundedSum<T> entry;
        entry.add(Bounded<T>(P0.at(i, col)));
        if (divides) entry.subtract(quotient(times(factor, value.result()), diagonal), Bounded<T>(T(1)));
        rows[as_size(i)][col] = entry.result(6);
      }
    }
  }

 private:
  /// s with s R = the sums, by forward substitution; 0 where R has 0 on its diagonal.
  static BoundedVector<T> solved(const std::vector<BoundedSum<T>>& sums, const DenseView<const T>& coarse_b,
                                 std::int32_t first) {
    BoundedVector<T> s(sums.size());
    for (std::int32_t j = 0; j < coarse_b.cols; ++j) {
      BoundedSum<T> left = sums[as_size(j)];
      for (std::int32_t k = 0; k < j; ++k) left.subtract(s[as_size(k)], Bounded<T>(coarse_b.at(first + k, j)));
      const T pivot = coarse_b.at(first + j, j);
      if (pivot != T(0)) s[as_size(j)] = quotient(left.result(), Bounded<T>(pivot));
    }
    return s;
  }
  /// s p0_i^H / |p0_i|^2.
  static Bounded<T> nearest(const BoundedVector<T>& s, const Rows<T>& P0, std::int32_t i) {
    BoundedSum<T> dot, square;
    for (std::size_t k = P0.begin(i), j = 0; k < P0.end(i); ++k, ++j) {
      const Bounded<T> entry(P0.value[k]);
      dot.add(s[j], conjugated(entry)), square.add(entry, conjugated(entry));
    }
    const Bounded<T> divisor = square.result();
    return modulus(divisor.value) > 0 ? quotient(dot.result(), divisor) : Bounded<T>();
  }
  static long double real_part(const Exact<T>& z) {
    if constexpr (is_complex<T>)
      return z.re;
    else
      return z;
  }
};

/// left^H A right, entry by entry; `left` may be `right`.
template <class T>
std::map<std::pair<std::int32_t, std::int32_t>, Bounded<T>> triple_product(const Rows<T>& left, const Rows<T>& A,
                                                                           const Rows<T>& right) {
  std::map<std::pair<std::int32_t, std::int32_t>, BoundedSum<T>> sums;
  for (std::int32_t i = 0; i < A.rows; ++i) {
    std::map<std::int32_t, BoundedSum<T>> row;  // of A right
    for (std::size_t k = A.begin(i); k < A.end(i); ++k)
      for (std::size_t l = right.begin(A.col[k]); l < right.end(A.col[k]); ++l)
        row[right.col[l]].add(Bounded<T>(A.value[k]), Bounded<T>(right.value[l]));
    for (std::size_t k = left.begin(i); k < left.end(i); ++k)
      for (const auto& [col, sum] : row)
        sums[{left.col[k], col}].add(conjugated(Bounded<T>(left.value[k])), sum.result());
  }
  std::map<std::pair<std::int32_t, std::int32_t>, Bounded<T>> product;
  for (const auto& [place, sum] : sums) product[place] = sum.result();
  return product;
}

}  // namespace krill::apps::verify
