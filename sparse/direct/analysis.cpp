#include "sparse/direct/analysis.hpp"

#include <fmt/format.h>

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "sparse/convert/convert.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/optional_libraries.hpp"
#include "sparse/order/ordering.hpp"

namespace krill {
namespace {

// When a pattern counts as nearly symmetric: the rule of UMFPACK (Davis 2004).
constexpr double min_share_of_mirrors = 0.5, min_share_of_diagonal = 0.9;
constexpr double max_roundings = 8;  // between an entry and its mirror image
constexpr double max_factor_entries = std::numeric_limits<std::int32_t>::max();
// Operations an entry of the factors: CHOLMOD from so many on, KLU up to so many.
constexpr double least_for_cholmod = 150, most_for_klu = 40;
constexpr double much_work = 1e4;          // operations a row, from which another ordering is tried
constexpr std::size_t panel_columns = 16;  // that Eigen's SparseLU has at a time, in dense vectors

/// What the choice of a method hangs on.
struct PatternFacts {
  std::int64_t off_diagonal = 0, mirrored = 0;
  std::int32_t diagonal = 0, positive = 0, negative = 0;  // entries that are not 0, and real ones by their sign
  std::optional<std::pair<std::int32_t, std::int32_t>> not_hermitian;

  bool is_nearly_symmetric(std::int32_t rows) const {
    return static_cast<double>(mirrored) >= min_share_of_mirrors * static_cast<double>(off_diagonal) &&
           diagonal >= min_share_of_diagonal * rows;
  }
};

template <class T, class Offset>
PatternFacts look_at(const Csr<T, Offset>& A) {
  PatternFacts facts;
  const auto offsets = A.row_offsets().host();
  const auto cols = A.col_indices().host();
  const auto values = A.values().host();
  const auto row = [&](std::int32_t i) {
    return cols.subspan(
        static_cast<std::size_t>(offsets[static_cast<std::size_t>(i)]),
        static_cast<std::size_t>(offsets[static_cast<std::size_t>(i) + 1] - offsets[static_cast<std::size_t>(i)]));
  };
  constexpr double tolerance = max_roundings * static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());
  for (std::int32_t i = 0; i < A.rows(); ++i)
    for (auto e = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i)]);
         e < static_cast<std::size_t>(offsets[static_cast<std::size_t>(i) + 1]); ++e) {
      const std::int32_t j = cols[e];
      const std::complex<double> value(values[e]);
      std::complex<double> mirror = 0;
      const auto other = row(j);
      const auto at = std::ranges::lower_bound(other, i);
      const bool is_there = at != other.end() && *at == i;
      if (is_there)
        mirror = std::complex<double>(
            values[static_cast<std::size_t>(offsets[static_cast<std::size_t>(j)] + (at - other.begin()))]);
      if (i != j) {
        ++facts.off_diagonal;
        if (is_there) ++facts.mirrored;
      } else if (value != 0.0) {
        ++facts.diagonal;
        if (value.real() > 0) ++facts.positive;
        if (value.real() < 0) ++facts.negative;
      }
      if (!facts.not_hermitian && std::abs(value - std::conj(mirror)) > tolerance * std::abs(value))
        facts.not_hermitian = {i, j};
    }
  return facts;
}

/// Column indices in sets, of which each begins to matter at the least of them.
struct ColumnSets {
  std::vector<std::int64_t> begins;  // of the sets of column k: begins[k] to begins[k + 1]
  std::vector<std::int32_t> cols;    // of all of them, one after the other
  std::vector<std::int32_t> rows;    // the sets that begin with column k
};

/// By the positions of rows and columns. symmetric: the union of the pattern and its transpose, above the diagonal.
template <class T, class Offset>
ColumnSets sets_of(const Csr<T, Offset>& A, const std::vector<std::int32_t>& position, bool symmetric) {
  const auto n = static_cast<std::size_t>(A.rows());
  const auto offsets = A.row_offsets().host();
  const auto cols = A.col_indices().host();
  ColumnSets sets{std::vector<std::int64_t>(n + 1), {}, std::vector<std::int32_t>(n)};
  // use(set, column) for all entries
  const auto for_entries = [&](const auto& use) {
    for (std::size_t i = 0; i < n; ++i) {
      const auto begin = static_cast<std::size_t>(offsets[i]), end = static_cast<std::size_t>(offsets[i + 1]);
      std::int32_t first = position[i];
      if (!symmetric && begin < end) {
        first = A.rows();
        for (std::size_t e = begin; e < end; ++e) first = std::min(first, position[static_cast<std::size_t>(cols[e])]);
      }
      for (std::size_t e = begin; e < end; ++e) {
        const std::int32_t col = position[static_cast<std::size_t>(cols[e])];
        symmetric ? use(std::min(first, col), std::max(first, col)) : use(first, col);
      }
    }
  };
  for_entries([&](std::int32_t set, std::int32_t) { ++sets.begins[static_cast<std::size_t>(set) + 1]; });
  for (std::size_t k = 0; k < n; ++k) sets.begins[k + 1] += sets.begins[k];
  sets.cols.resize(static_cast<std::size_t>(sets.begins[n]));
  std::vector<std::int64_t> next(sets.begins.begin(), sets.begins.end() - 1);
  for_entries([&](std::int32_t set, std::int32_t col) {
    sets.cols[static_cast<std::size_t>(next[static_cast<std::size_t>(set)]++)] = col;
  });
  for (std::size_t i = 0; i < n && !symmetric; ++i) {
    std::int32_t first = A.rows();
    for (auto e = static_cast<std::size_t>(offsets[i]); e < static_cast<std::size_t>(offsets[i + 1]); ++e)
      first = std::min(first, position[static_cast<std::size_t>(cols[e])]);
    if (first < A.rows()) ++sets.rows[static_cast<std::size_t>(first)];
  }
  return sets;
}

/// Eliminates column after column: the rows in which it is the first become one set, and without that column they join
/// the sets of the next one in it.
void count(const ColumnSets& sets, bool symmetric, DirectAnalysis& a) {
  const std::size_t n = sets.rows.size();
  std::vector<std::vector<std::int32_t>> open(
      n);  // what is left of eliminated sets, by the column that eliminated them
  std::vector<std::int32_t> first_child(n, -1), sibling(n, -1), waiting(n), stamp(n, -1);
  const double of_lu = a.method == DirectMethod::lu ? 2 : 1;
  for (std::size_t k = 0; k < n && a.entries <= max_factor_entries; ++k) {
    const auto mark = static_cast<std::int32_t>(k);
    std::vector<std::int32_t> left;
    std::int32_t rows = sets.rows[k];
    stamp[k] = mark;
    const auto join = [&](std::int32_t col) {
      auto& seen = stamp[static_cast<std::size_t>(col)];
      if (seen != mark) seen = mark, left.push_back(col);
    };
    for (auto e = static_cast<std::size_t>(sets.begins[k]); e < static_cast<std::size_t>(sets.begins[k + 1]); ++e)
      join(sets.cols[e]);
    for (std::int32_t child = first_child[k]; child >= 0; child = sibling[static_cast<std::size_t>(child)]) {
      auto& of_child = open[static_cast<std::size_t>(child)];
      std::ranges::for_each(of_child, join);
      rows += waiting[static_cast<std::size_t>(child)];
      std::vector<std::int32_t>().swap(of_child);
    }
    const auto columns = static_cast<double>(left.size());  // right of the diagonal
    const double below = symmetric ? columns : std::max(0, rows - 1);
    a.entries += 1 + columns + (of_lu - 1) * below;
    a.operations += of_lu * columns * below + below;
    if (left.empty()) continue;
    const auto parent = static_cast<std::size_t>(*std::ranges::min_element(left));
    sibling[k] = std::exchange(first_child[parent], mark);
    waiting[k] = std::max(0, rows - 1);
    open[k] = std::move(left);
  }
}

/// Which column comes when, by Eigen's COLAMD.
template <class T, class Offset>
std::vector<std::int32_t> column_order(const Csr<T, Offset>& A) {
  using ByRows = Eigen::SparseMatrix<signed char, Eigen::RowMajor, std::int32_t>;
  const auto offsets = A.row_offsets().host();
  const std::vector<std::int32_t> begins(offsets.begin(), offsets.end());
  const std::vector<signed char> values(static_cast<std::size_t>(A.nnz()), 1);
  const Eigen::SparseMatrix<signed char, Eigen::ColMajor, std::int32_t> pattern = Eigen::Map<const ByRows>(
      A.rows(), A.cols(), A.nnz(), begins.data(), A.col_indices().host().data(), values.data());
  Eigen::COLAMDOrdering<std::int32_t>::PermutationType place;
  Eigen::COLAMDOrdering<std::int32_t>()(pattern, place);
  std::vector<std::int32_t> order(static_cast<std::size_t>(A.cols()));
  for (std::int32_t j = 0; j < A.cols(); ++j) order[static_cast<std::size_t>(place.indices()[j])] = j;
  return order;
}

std::vector<std::int32_t> order_of(const Ordering& ordering) {
  const auto order = ordering.order().host();
  return {order.begin(), order.end()};
}

/// Puts the order into the analysis, and what it leads to.
template <class T, class Offset>
void count_in_order(const Csr<T, Offset>& A, std::vector<std::int32_t> order, DirectAnalysis& a) {
  std::vector<std::int32_t> position(order.size());
  for (std::size_t k = 0; k < order.size(); ++k)
    position[static_cast<std::size_t>(order[k])] = static_cast<std::int32_t>(k);
  a.order = std::move(order);
  a.entries = a.operations = 0;
  count(sets_of(A, position, !a.by_columns), !a.by_columns, a);
}

template <class T>
DirectLibrary library_for(const DirectAnalysis& a, DirectLibrary asked) {
  constexpr bool is_double = std::is_same_v<real_t<T>, double>;
  if (asked == DirectLibrary::suitesparse) {
    if (!with_suitesparse)
      throw InvalidArgument(
          "direct factorization: this build has no SuiteSparse; install libsuitesparse-dev (Debian, Ubuntu), "
          "suitesparse-devel (Fedora) or suitesparse (Arch) and configure the build anew, or use library: eigen");
    if (!is_double)
      throw InvalidArgument(
          "direct factorization: SuiteSparse computes in double precision alone; use library: eigen, or precision: "
          "float64");
  }
  if (asked != DirectLibrary::automatic) return asked;
  if (!with_suitesparse || !is_double || a.order.empty()) return DirectLibrary::eigen;
  const double work = a.operations / a.entries;
  const bool suits = a.method == DirectMethod::ldlt ? work >= least_for_cholmod : work <= most_for_klu;
  return suits ? DirectLibrary::suitesparse : DirectLibrary::eigen;
}

template <class T, class Offset>
DirectAnalysis analyze(Context& host, const Csr<T, Offset>& A, DirectMethod method, DirectLibrary library) {
  require_size("direct factorization: columns of the matrix", A.cols(), A.rows());
  constexpr std::int64_t max_entries = std::numeric_limits<std::int32_t>::max() / 3;  // of the orderings' workspace
  if (A.nnz() > max_entries)
    throw InvalidArgument(
        fmt::format("direct factorization: the matrix has {} entries, at most {} are possible; use an iterative solver",
                    A.nnz(), max_entries));
  const PatternFacts facts = look_at(A);
  const std::int32_t n = A.rows();
  if (method == DirectMethod::ldlt && facts.not_hermitian)
    throw InvalidArgument(
        fmt::format("direct factorization: ldlt needs a {} matrix, and a({}, {}) (counted from 0) is not the {} of its "
                    "mirror image; use method: lu",
                    is_complex<T> ? "Hermitian" : "symmetric", facts.not_hermitian->first, facts.not_hermitian->second,
                    is_complex<T> ? "conjugate" : "equal"));
  DirectAnalysis a;
  a.nnz = A.nnz();
  const bool one_sign = facts.positive == n || facts.negative == n;
  a.method = method != DirectMethod::automatic  ? method
             : one_sign && !facts.not_hermitian ? DirectMethod::ldlt
                                                : DirectMethod::lu;
  a.by_columns = a.method == DirectMethod::lu && !facts.is_nearly_symmetric(n);
  count_in_order(A, a.by_columns ? column_order(A) : order_of(approximate_minimum_degree(host, A)), a);
  if (with_metis && !a.by_columns && a.operations > much_work * n) {
    DirectAnalysis other = a;
    count_in_order(A, order_of(nested_dissection(host, A)), other);
    if (other.operations < a.operations) a = std::move(other);
  }
  a.library = library_for<T>(a, library);
  return a;
}

}  // namespace

void DirectAnalysis::require_possible() const {
  if (!(entries > max_factor_entries)) return;
  throw InvalidArgument(
      fmt::format("direct factorization: the factors of {} rows {} more than 2^31 - 1 entries, beyond what is "
                  "counted; use an iterative solver",
                  order.size(), by_columns ? "may have" : "have"));
}

template <class T>
std::size_t DirectAnalysis::kept_bytes() const {
  constexpr std::size_t entry = sizeof(T) + sizeof(std::int32_t);
  const std::size_t of_matrix = method == DirectMethod::lu ? static_cast<std::size_t>(nnz) * entry : 0;
  return static_cast<std::size_t>(entries) * entry + of_matrix +
         order.size() * 2 * (sizeof(std::int32_t) + sizeof(double));
}

template <class T>
std::size_t DirectAnalysis::bytes_meanwhile() const {
  constexpr std::size_t entry = sizeof(T) + sizeof(std::int32_t);
  const auto of_matrix = static_cast<std::size_t>(nnz) * entry;
  if (method == DirectMethod::ldlt) return of_matrix;  // its upper triangle, twice
  // the matrix, dense panels, and what was copied when the values of one factor last grew
  return of_matrix + order.size() * (panel_columns * (entry + sizeof(std::int32_t)) + sizeof(T)) +
         static_cast<std::size_t>(entries) / 2 * sizeof(T);
}

template <class T>
DirectAnalysis analyze_direct(Context& host, const AnyMatrix<T>& A, DirectMethod method, DirectLibrary library) {
  return with_csr(host, A, [&](const auto& csr) { return analyze(host, csr, method, library); });
}

template <class T>
struct DirectAnalysisInstances {
  static constexpr std::tuple list{
      instance<DirectAnalysis(Context&, const AnyMatrix<T>&, DirectMethod, DirectLibrary)>(analyze_direct),
      &DirectAnalysis::kept_bytes<T>, &DirectAnalysis::bytes_meanwhile<T>};
};
KRILL_INSTANTIATE(DirectAnalysisInstances);

}  // namespace krill
