#include "sparse/order/matching.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "sparse/core/instantiate.hpp"
#include "sparse/io/structural_rank.hpp"

namespace krill {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

/// Columns by their distance, the nearest first, each once.
class NearestFirst {
 public:
  explicit NearestFirst(const std::vector<double>& distances)
      : distances_(distances), place_(distances.size(), unmatched) {}

  bool empty() const { return heap_.empty(); }
  std::int32_t nearest() const { return heap_.front(); }
  /// Takes the column in, or moves it up where its distance has become less.
  void take(std::int32_t column) {
    if (place_[at(column)] == unmatched) {
      place_[at(column)] = static_cast<std::int32_t>(heap_.size());
      heap_.push_back(column);
    }
    rise(at(place_[at(column)]));
  }
  void pop() {
    const std::int32_t last = heap_.back();
    place_[at(heap_.front())] = unmatched;
    heap_.pop_back();
    if (heap_.empty()) return;
    put(0, last);
    sink(0);
  }
  void clear() {
    for (const std::int32_t column : heap_) place_[at(column)] = unmatched;
    heap_.clear();
  }

 private:
  double distance(std::size_t place) const { return distances_[at(heap_[place])]; }
  void put(std::size_t place, std::int32_t column) {
    heap_[place] = column;
    place_[at(column)] = static_cast<std::int32_t>(place);
  }
  void exchange(std::size_t a, std::size_t b) {
    const std::int32_t one = heap_[a];
    put(a, heap_[b]);
    put(b, one);
  }
  void rise(std::size_t place) {
    for (; place > 0 && distance(place) < distance((place - 1) / 2); place = (place - 1) / 2)
      exchange(place, (place - 1) / 2);
  }
  void sink(std::size_t place) {
    for (std::size_t child = 2 * place + 1; child < heap_.size(); place = child, child = 2 * place + 1) {
      if (child + 1 < heap_.size() && distance(child + 1) < distance(child)) ++child;
      if (!(distance(child) < distance(place))) return;
      exchange(place, child);
    }
  }

  const std::vector<double>& distances_;
  std::vector<std::int32_t> heap_, place_;
};

/// The assignment of least cost, row after row. u and v are the dual variables: u_i + v_j <= c_ij, = for pairs.
template <class Offset>
class Assignment {
 public:
  Assignment(const PatternView<Offset>& A, const std::vector<double>& costs, std::int64_t max_looks)
      : A_(A),
        costs_(costs),
        u(at(A.rows)),
        v(at(A.cols)),
        row_of(at(A.cols), unmatched),
        column_of_(at(A.rows), unmatched),
        distance_(at(A.cols), infinite),
        came_from_(at(A.cols)),
        near_(distance_),
        looks_left_(max_looks) {}

  /// Whether all rows were tried.
  bool run() {
    for (std::int32_t i = 0; i < A_.rows; ++i) take_what_costs_nothing(i);
    for (std::int32_t i = 0; i < A_.rows; ++i)
      if (column_of_[at(i)] == unmatched) take_what_a_neighbor_can_spare(i);
    for (std::int32_t i = 0; i < A_.rows && looks_left_ >= 0; ++i)
      if (column_of_[at(i)] == unmatched) follow_the_shortest_path(i);
    for (std::int32_t j = 0; j < A_.cols; ++j)  // rounding adds up in u, so pairs are made exact once more
      if (row_of[at(j)] != unmatched) u[at(row_of[at(j)])] = costs_[entry(row_of[at(j)], j)] - v[at(j)];
    return looks_left_ >= 0;
  }

 private:
  const PatternView<Offset>& A_;
  const std::vector<double>& costs_;

 public:
  std::vector<double> u, v;
  std::vector<std::int32_t> row_of;

 private:
  std::size_t begin(std::int32_t i) const { return static_cast<std::size_t>(A_.offsets[at(i)]); }
  std::size_t end(std::int32_t i) const { return static_cast<std::size_t>(A_.offsets[at(i) + 1]); }
  std::size_t entry(std::int32_t i, std::int32_t j) const {
    std::size_t k = begin(i);
    while (A_.columns[k] != j) ++k;
    return k;
  }
  /// c_ij - u_i - v_j, which rounding may leave a little below 0.
  double reduced_cost(std::int32_t i, std::size_t k) const {
    return std::max(0.0, costs_[k] - u[at(i)] - v[at(A_.columns[k])]);
  }
  void pair(std::int32_t i, std::int32_t j) { row_of[at(j)] = i, column_of_[at(i)] = j; }

  /// u_i = min_j c_ij, and the first column at that cost that nobody has. v is 0 still.
  void take_what_costs_nothing(std::int32_t i) {
    double least = infinite;
    for (std::size_t k = begin(i); k < end(i); ++k) least = std::min(least, costs_[k]);
    if (!(least < infinite)) return;
    u[at(i)] = least;
    for (std::size_t k = begin(i); k < end(i); ++k)
      if (costs_[k] == least && row_of[at(A_.columns[k])] == unmatched) return pair(i, A_.columns[k]);
  }
  /// A path of three entries that cost nothing: the column of another row, which has a free one beside.
  void take_what_a_neighbor_can_spare(std::int32_t i) {
    for (std::size_t k = begin(i); k < end(i); ++k) {
      if (costs_[k] != u[at(i)]) continue;
      const std::int32_t j = A_.columns[k], other = row_of[at(j)];
      if (other == unmatched) return pair(i, j);
      for (std::size_t m = begin(other); m < end(other); ++m)
        if (costs_[m] == u[at(other)] && row_of[at(A_.columns[m])] == unmatched) {
          pair(other, A_.columns[m]);
          return pair(i, j);
        }
    }
  }

  /// From the row to the free column at the least distance, where one can be reached.
  void follow_the_shortest_path(std::int32_t root) {
    double shortest = infinite, here = 0;
    std::int32_t target = unmatched;
    for (std::int32_t row = root;;) {
      looks_left_ -= static_cast<std::int64_t>(end(row) - begin(row));
      for (std::size_t k = begin(row); k < end(row); ++k) {
        const std::int32_t j = A_.columns[k];
        const double distance = here + reduced_cost(row, k);
        if (!(distance < shortest && distance < distance_[at(j)])) continue;
        if (distance_[at(j)] == infinite) touched_.push_back(j);
        distance_[at(j)] = distance, came_from_[at(j)] = row;
        if (row_of[at(j)] == unmatched)
          shortest = distance, target = j;
        else
          near_.take(j);
      }
      if (near_.empty() || !(distance_[at(near_.nearest())] < shortest) || looks_left_ < 0) break;
      const std::int32_t next = near_.nearest();
      near_.pop();
      done_.push_back(next);
      here = distance_[at(next)], row = row_of[at(next)];
    }
    if (target != unmatched && looks_left_ >= 0) {  // else the path may not be the shortest one
      for (const std::int32_t j : done_) {
        u[at(row_of[at(j)])] += shortest - distance_[at(j)];
        v[at(j)] -= shortest - distance_[at(j)];
      }
      u[at(root)] += shortest;
      for (std::int32_t j = target; j != unmatched;) {
        const std::int32_t row = came_from_[at(j)], left = column_of_[at(row)];
        pair(row, j);
        j = left;
      }
    }
    for (const std::int32_t j : touched_) distance_[at(j)] = infinite;
    touched_.clear(), done_.clear(), near_.clear();
  }

  std::vector<std::int32_t> column_of_;
  std::vector<double> distance_;
  std::vector<std::int32_t> came_from_, touched_, done_;  // touched: columns with a distance; done: with the final one
  NearestFirst near_;
  std::int64_t looks_left_;
};

/// log |a|, also where |a| overflows.
double log_modulus(std::complex<double> a) {
  const double size = std::abs(a);
  return std::isfinite(size) ? std::log(size) : std::log(std::abs(0.5 * a)) + std::log(2.0);
}

/// log max_k |a_kj| - log |a_ij| of each entry, infinite for a stored zero, and those logarithms of the maxima.
struct Costs {
  std::vector<double> of_entries, log_maxima;
};
template <class T, class Offset>
Costs costs_of(const Csr<T, Offset>& A) {
  const auto offsets = A.row_offsets().host();
  const auto cols = A.col_indices().host();
  const auto values = A.values().host();
  Costs costs{std::vector<double>(values.size()), std::vector<double>(at(A.cols()), -infinite)};
  for (std::int32_t i = 0; i < A.rows(); ++i)
    for (auto k = static_cast<std::size_t>(offsets[at(i)]); k < static_cast<std::size_t>(offsets[at(i) + 1]); ++k) {
      const std::complex<double> a(values[k]);
      if (!std::isfinite(a.real()) || !std::isfinite(a.imag()))
        throw InvalidArgument(
            fmt::format("matching: a({}, {}) is not finite (rows and columns count from 0); every entry must be finite",
                        i, cols[k]));
      const double log = log_modulus(a);
      costs.of_entries[k] = log;
      costs.log_maxima[at(cols[k])] = std::max(costs.log_maxima[at(cols[k])], log);
    }
  for (std::size_t k = 0; k < values.size(); ++k) {
    double& cost = costs.of_entries[k];
    cost = cost > -infinite ? costs.log_maxima[at(cols[k])] - cost : infinite;
  }
  return costs;
}

template <class T, class Offset>
PatternView<Offset> pattern_of(const Csr<T, Offset>& A) {
  return {A.rows(), A.cols(), A.row_offsets().host(), A.col_indices().host()};
}

/// The pattern without the stored zeros, which cost infinitely much.
template <class Offset>
struct EntriesThatCount {
  std::vector<Offset> offsets{0};
  std::vector<std::int32_t> columns;

  EntriesThatCount(const PatternView<Offset>& A, const std::vector<double>& costs) {
    for (std::int32_t i = 0; i < A.rows; ++i) {
      for (auto k = static_cast<std::size_t>(A.offsets[at(i)]); k < static_cast<std::size_t>(A.offsets[at(i) + 1]); ++k)
        if (costs[k] < infinite) columns.push_back(A.columns[k]);
      offsets.push_back(static_cast<Offset>(columns.size()));
    }
  }
  PatternView<Offset> view(std::int32_t cols) const {
    return {static_cast<std::int32_t>(offsets.size() - 1), cols, offsets, columns};
  }
};

/// Moves a constant from the factors of rows to those of columns, so that both reach as far from 1.
void balance(std::vector<double>& rows, std::vector<double>& cols) {
  if (rows.empty()) return;
  const auto [row_least, row_most] = std::ranges::minmax(rows);
  const auto [col_least, col_most] = std::ranges::minmax(cols);
  const double shift = 0.25 * (row_least + row_most - col_least - col_most);
  for (double& log : rows) log -= shift;
  for (double& log : cols) log += shift;
}

template <class R>
Array<R> factors_of(const std::vector<double>& logs, std::string_view what) {
  std::vector<R> factors(logs.size());
  for (std::size_t i = 0; i < logs.size(); ++i) {
    factors[i] = static_cast<R>(std::exp(logs[i]));
    if (!std::isnormal(factors[i]))
      throw InvalidArgument(
          fmt::format("matching: the factor of {} {} (counted from 0) would be {:.3g}, which {} "
                      "cannot hold; use precision float64, or matching none",
                      what, i, std::exp(logs[i]), std::is_same_v<R, float> ? "float32" : "float64"));
  }
  return Array<R>(std::move(factors), "matching factors");
}

}  // namespace

template <class T, class Offset>
ProductMatching maximum_product_matching(const Csr<T, Offset>& A, const MatchingWork& work) {
  require_size("matching: columns of the matrix", A.cols(), A.rows());
  Costs costs = costs_of(A);
  const PatternView<Offset> pattern = pattern_of(A);
  Assignment<Offset> assignment(pattern, costs.of_entries, std::max(work.in_all, work.an_entry * A.nnz()));
  ProductMatching found;
  found.has_greatest_product = assignment.run();
  found.row_of_column = std::move(assignment.row_of);
  if (!found.has_greatest_product) {
    const EntriesThatCount<Offset> entries(pattern, costs.of_entries);
    auto whole = maximum_matching(entries.view(A.cols()), found.row_of_column);
    if (!whole) throw InvalidArgument("matching: it takes too long for this matrix; use matching none");
    found.row_of_column = std::move(*whole);
  }
  found.rank = static_cast<std::int32_t>(A.cols() - std::ranges::count(found.row_of_column, unmatched));
  found.log_row_factors = std::move(assignment.u), found.log_col_factors = std::move(assignment.v);
  for (std::size_t j = 0; j < costs.log_maxima.size(); ++j)
    if (costs.log_maxima[j] > -infinite) found.log_col_factors[j] -= costs.log_maxima[j];
  balance(found.log_row_factors, found.log_col_factors);
  return found;
}

template <class T>
template <class Offset>
ProductMatching Matching<T>::find(const Csr<T, Offset>& A) {
  ProductMatching found = maximum_product_matching(A);
  if (found.rank == A.rows()) return found;
  const EntriesThatCount<Offset> entries(pattern_of(A), costs_of(A).of_entries);
  const auto s = structural_rank(entries.view(A.cols()));
  throw InvalidArgument(fmt::format(
      "matching: only {} of {} rows find a column of their own, so the matrix is singular whatever its "
      "values are{}; use matching none, or correct the matrix",
      found.rank, A.rows(), s && s->rank < A.rows() ? fmt::format(": {} (counted from 0)", deficiency_text(*s)) : ""));
}

template <class T>
Matching<T>::Matching(const Csr<T, std::int32_t>& A) : Matching(find(A)) {}
template <class T>
Matching<T>::Matching(const Csr<T, std::int64_t>& A) : Matching(find(A)) {}

template <class T>
Matching<T>::Matching(const ProductMatching& found)
    : scaling_(factors_of<real_t<T>>(found.log_row_factors, "row"),
               factors_of<real_t<T>>(found.log_col_factors, "column")),
      rows_(Array<std::int32_t>(found.row_of_column, "matching")),
      has_greatest_product_(found.has_greatest_product) {
  for (std::size_t j = 0; j < found.row_of_column.size(); ++j)
    moved_ += found.row_of_column[j] != static_cast<std::int32_t>(j);
}

template <class T>
HeldMemory Matching<T>::memory(MemoryLedger& ledger, const CsrSizes& A) {
  HeldMemory kept = ledger.hold<real_t<T>>(2 * std::int64_t{A.rows});
  kept += Ordering::memory(ledger, A.rows);
  return kept;
}

template <class T, class Offset>
Matched<T, Offset>::Matched(Context& ctx, const Csr<T, Offset>& A, const Matching<T>& matching)
    : scaled_(ctx, A, matching.scaling()),
      reordered_(Reordered<T, Offset>::of_rows(ctx, scaled_.matrix(), matching.rows())) {}

template <class T, class Offset>
HeldMemory Matched<T, Offset>::memory(MemoryLedger& ledger, const CsrSizes& A) {
  const HeldMemory scaled = Scaled<T, Offset>::memory(ledger, A);
  return Reordered<T, Offset>::memory(ledger, A);
}

template <class T, class Offset>
void Matched<T, Offset>::update(Context& ctx, const Csr<T, Offset>& A, const Matching<T>& matching) {
  scaled_.update(ctx, A, matching.scaling());
  reordered_.update(ctx, scaled_.matrix());
}

template <class T, class Offset>
struct MatchingInstances {
  static constexpr auto list =
      instance<ProductMatching(const Csr<T, Offset>&, const MatchingWork&)>(maximum_product_matching);
};
KRILL_INSTANTIATE(Matching);
KRILL_INSTANTIATE_WITH_OFFSETS(Matched);
KRILL_INSTANTIATE_WITH_OFFSETS(MatchingInstances);

}  // namespace krill
