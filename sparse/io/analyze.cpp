#include "sparse/io/analyze.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sparse/convert/convert.hpp"
#include "sparse/core/huge_pages.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/pass_host.hpp"

namespace krill {
namespace {

constexpr double small = 0.01;               // a diagonal entry beside the others of its row and column
constexpr double rounding_of_values = 1e-8;  // of a symmetric matrix, over its greatest entry
constexpr std::int64_t block = 4096;         // rows, or entries, that one thread takes at a time
constexpr std::int64_t short_row = 32;       // entries; not varied

template <class K>
double magnitude(K a) {
  if constexpr (is_complex<K>)
    return std::hypot(double(a.re), double(a.im));
  else
    return std::abs(double(a));
}

/// Magnitudes of a run of entries.
struct Sizes {
  double least = std::numeric_limits<double>::infinity(), greatest = 0;  // of those that are finite and not 0
  std::int64_t zeros = 0, non_finite = 0;
};

template <class K>
Sizes sizes_of(const K* values, std::int64_t count) {
  constexpr double none = std::numeric_limits<double>::infinity();
  double least = none, greatest = 0;
  std::int64_t zeros = 0, non_finite = 0;
#pragma omp simd reduction(min : least) reduction(max : greatest) reduction(+ : zeros, non_finite)
  for (std::int64_t e = 0; e < count; ++e) {
    const bool finite = is_finite(values[e]);
    const double size = magnitude(values[e]), counted = finite ? size : 0, positive = counted > 0 ? counted : none;
    zeros += size == 0;
    non_finite += !finite;
    greatest = greatest > counted ? greatest : counted;
    least = least < positive ? least : positive;
  }
  return {least, greatest, zeros, non_finite};
}

template <class K>
std::complex<double> wide_complex(K a) {
  if constexpr (is_complex<K>)
    return {double(a.re), double(a.im)};
  else
    return double(a);
}

/// What a part of the matrix shows; parts are added in their order, so that "first" stays true.
struct Findings {
  MatrixFigures of;
  std::int64_t off_diagonal = 0, below = 0;  // entries; the latter below the diagonal
  std::int64_t mirrored = 0;                 // entries above the diagonal whose mirror is stored
  double squares = 0;                        // of magnitudes, scaled by a power of two
  std::optional<EntryPair> minor;            // the first |a_ij|^2 >= a_ii a_jj

  void add(const Findings& next);
};

template <class V>
void keep_first(std::optional<V>& mine, const std::optional<V>& next) {
  if (!mine) mine = next;
}
void keep_first(std::optional<EntryPair>& mine, const std::optional<EntryPair>& next) {
  if (next && (!mine || std::pair(next->row, next->col) < std::pair(mine->row, mine->col))) mine = next;
}

/// The lesser of two that are not 0.
void keep_least(double& mine, double next) {
  if (next > 0 && (mine == 0 || next < mine)) mine = next;
}

void Findings::add(const Findings& next) {
  const MatrixFigures& n = next.of;
  off_diagonal += next.off_diagonal, below += next.below, mirrored += next.mirrored, squares += next.squares;
  keep_first(minor, next.minor);
  keep_first(of.not_symmetric, n.not_symmetric);
  keep_first(of.not_skew, n.not_skew);
  keep_first(of.not_hermitian, n.not_hermitian);
  keep_first(of.far_from_hermitian, n.far_from_hermitian);
  keep_first(of.first_missing_diagonal, n.first_missing_diagonal);
  keep_first(of.first_zero_diagonal, n.first_zero_diagonal);
  if (!of.first_not_positive_diagonal) of.not_positive_diagonal = n.not_positive_diagonal;
  keep_first(of.first_not_positive_diagonal, n.first_not_positive_diagonal);
  of.nnz += n.nnz;
  keep_first(of.first_non_finite, n.first_non_finite);
  of.symmetry_error = std::max(of.symmetry_error, n.symmetry_error);
  of.hermitian_error = std::max(of.hermitian_error, n.hermitian_error);
  of.missing_diagonal += n.missing_diagonal, of.zero_diagonal += n.zero_diagonal;
  of.small_diagonal += n.small_diagonal;
  of.dominant_rows += n.dominant_rows, of.strictly_dominant_rows += n.strictly_dominant_rows;
  of.shortest_row = std::min(of.shortest_row, n.shortest_row);
  of.longest_row = std::max(of.longest_row, n.longest_row);
  of.empty_rows += n.empty_rows, of.empty_cols += n.empty_cols;
  of.lower_bandwidth = std::max(of.lower_bandwidth, n.lower_bandwidth);
  of.upper_bandwidth = std::max(of.upper_bandwidth, n.upper_bandwidth);
  of.stored_zeros += n.stored_zeros, of.non_finite += n.non_finite;
  of.negative_diagonal += n.negative_diagonal, of.null_rows += n.null_rows;
  of.greatest_diagonal = std::max(of.greatest_diagonal, n.greatest_diagonal);
  keep_least(of.min_magnitude, n.min_magnitude);
  keep_least(of.min_diagonal, n.min_diagonal);
  keep_least(of.min_row_norm, n.min_row_norm);
  of.greatest_magnitude = std::max(of.greatest_magnitude, n.greatest_magnitude);
  of.infinity_norm = std::max(of.infinity_norm, n.infinity_norm);
}

/// By all threads, so that new memory is not a thread's to fetch.
template <class V>
std::unique_ptr<V[]> filled(const Host& host, std::int64_t n, V value) {
  auto made = std::make_unique_for_overwrite<V[]>(static_cast<std::size_t>(n));
  host_memory::prefer_huge_pages(made.get(), static_cast<std::size_t>(n) * sizeof(V));
  for_blocks(host, n, block, n,
             [&](std::int64_t begin, std::int64_t end) { std::fill(made.get() + begin, made.get() + end, value); });
  return made;
}

template <class K, class Offset>
class Analysis {
  using Sum = wide_t<K>;

 public:
  /// shared: null where A is the whole matrix.
  Analysis(const Host& host, CsrView<const K, Offset> A, const AnalyzedRows* shared = nullptr)
      : host_(host),
        A_(A),
        shared_(shared),
        begin_(shared ? shared->begin : 0),
        end_(shared ? shared->end : A.rows),
        diagonal_(filled<double>(host, A.rows, 0)),
        linked_(filled<char>(host, A.rows, 0)) {}

  MatrixProperties run();

 private:
  bool square() const { return A_.rows == A_.cols; }
  std::int64_t all_rows() const { return shared_ ? shared_->rows : A_.rows; }
  /// A row's, or column's, in the whole matrix.
  std::int64_t number(std::int64_t i) const { return shared_ ? shared_->numbers[static_cast<std::size_t>(i)] : i; }
  std::span<char> linked() const { return {linked_.get(), static_cast<std::size_t>(A_.rows)}; }
  double diagonal(std::int64_t i) const { return diagonal_[static_cast<std::size_t>(i)]; }

  template <class F>
  Findings over_blocks(const F& look);
  template <class F>
  Findings over_rows(const F& look);
  void look_at_entries(std::int64_t begin, std::int64_t end, Findings&);
  void find_non_finite(std::int64_t begin, std::int64_t end, Findings&);
  Findings of_all(Findings) const;
  void look_at_columns(MatrixFigures&);
  void look_at_row(std::int64_t i, Findings&);
  void look_at_mirrors(std::int64_t i, const K* mine, Findings&);
  void look_below_diagonal(std::int64_t i, Findings&);
  void look_at_pair(std::int64_t i, std::int64_t entry, const K* mirror, Findings&);
  void look_at_minor(std::int64_t i, std::int64_t entry, const K* mirror, Findings&);
  void look_at_diagonal(std::int64_t i, const K* entry, double others, double greatest, Findings&);
  const K* find(std::int64_t row, std::int64_t col) const;
  EntryPair pair(std::int64_t i, std::int64_t entry, const K* mirror) const;
  bool linked_to_strict_rows() const;
  bool search_strict_rows() const;
  std::optional<StructuralRank> structure(const MatrixProperties&) const;
  std::int64_t constraint_rows(const MatrixProperties&) const;
  std::pair<Definiteness, std::string> judge(const MatrixFigures&, const std::optional<EntryPair>& minor) const;

  const Host& host_;
  const CsrView<const K, Offset> A_;
  const AnalyzedRows* const shared_;
  const std::int64_t begin_, end_;            // rows that are looked at
  const std::unique_ptr<double[]> diagonal_;  // real parts, 0 where missing
  const std::unique_ptr<char[]> linked_;      // rows that are strictly dominant, later those that lead to one
  bool all_finite_ = true;
  double greatest_ = 0, far_ = 0;  // of magnitudes; of differences from what rounding makes
  double to_share_ = 0;            // a power of two that brings the greatest magnitude near 1
};

/// look(begin, end, findings) for blocks of rows.
template <class K, class Offset>
template <class F>
Findings Analysis<K, Offset>::over_blocks(const F& look) {
  std::vector<Findings> parts(static_cast<std::size_t>((end_ - begin_ + block - 1) / block));
  for_blocks(host_, end_ - begin_, block, A_.nnz, [&](std::int64_t begin, std::int64_t end) {
    Findings& part = parts[static_cast<std::size_t>(begin / block)];
    part.of.shortest_row = std::numeric_limits<std::int64_t>::max();
    look(begin_ + begin, begin_ + end, part);
  });
  if (parts.empty()) return {};
  for (std::size_t p = 1; p < parts.size(); ++p) parts[0].add(parts[p]);
  return std::move(parts[0]);
}

/// Together with what the other ranks have found.
template <class K, class Offset>
Findings Analysis<K, Offset>::of_all(Findings mine) const {
  if (!shared_) return mine;
  if (begin_ == end_) mine.of.shortest_row = std::numeric_limits<std::int64_t>::max();
  std::vector<Findings> all = gather_records(shared_->team, mine);
  for (std::size_t r = 1; r < all.size(); ++r) all[0].add(all[r]);
  if (all_rows() == 0) all[0].of.shortest_row = 0;
  return all[0];
}

/// look(i, findings) for every row.
template <class K, class Offset>
template <class F>
Findings Analysis<K, Offset>::over_rows(const F& look) {
  return over_blocks([&](std::int64_t begin, std::int64_t end, Findings& part) {
    for (std::int64_t i = begin; i < end; ++i) look(i, part);
  });
}

/// Several threads may do so at once.
void raise_to(double& most, double value) {
  const std::atomic_ref shared(most);
  double now = shared.load(std::memory_order_relaxed);
  while (now < value && !shared.compare_exchange_weak(now, value, std::memory_order_relaxed)) {
  }
}

/// The entry at (row, col), or null. A short row is gone through: its branches are foreseen, those of a search are not.
template <class K, class Offset>
const K* Analysis<K, Offset>::find(std::int64_t row, std::int64_t col) const {
  const std::int32_t *begin = A_.col_indices + A_.row_offsets[row], *end = A_.col_indices + A_.row_offsets[row + 1];
  const std::int32_t* at = begin;
  if (end - begin > short_row)
    at = std::lower_bound(begin, end, static_cast<std::int32_t>(col));
  else
    while (at != end && *at < col) ++at;
  return at != end && *at == col ? A_.values + (at - A_.col_indices) : nullptr;
}

template <class K, class Offset>
EntryPair Analysis<K, Offset>::pair(std::int64_t i, std::int64_t entry, const K* mirror) const {
  return {static_cast<std::int32_t>(number(i)), static_cast<std::int32_t>(number(A_.col_indices[entry])),
          wide_complex(A_.values[entry]), mirror ? wide_complex(*mirror) : 0};
}

/// Magnitudes and the diagonal: what the second look needs of the whole matrix.
template <class K, class Offset>
void Analysis<K, Offset>::look_at_entries(std::int64_t begin, std::int64_t end, Findings& f) {
  MatrixFigures& p = f.of;
  const std::int64_t first = A_.row_offsets[begin];
  p.nnz = A_.row_offsets[end] - first;
  const Sizes sizes = sizes_of(A_.values + first, p.nnz);
  p.stored_zeros += sizes.zeros;
  p.non_finite += sizes.non_finite;
  p.greatest_magnitude = std::max(p.greatest_magnitude, sizes.greatest);
  if (sizes.greatest > 0) keep_least(p.min_magnitude, sizes.least);
  if (sizes.non_finite > 0) find_non_finite(begin, end, f);
  for (std::int64_t i = begin; i < end; ++i)
    if (const K* entry = find(i, i)) diagonal_[static_cast<std::size_t>(i)] = double(real(*entry));
}

template <class K, class Offset>
void Analysis<K, Offset>::find_non_finite(std::int64_t begin, std::int64_t end, Findings& f) {
  for (std::int64_t i = begin; i < end; ++i)
    for (std::int64_t e = A_.row_offsets[i]; e < A_.row_offsets[i + 1]; ++e)
      if (!is_finite(A_.values[e])) {
        f.of.first_non_finite = pair(i, e, square() ? find(A_.col_indices[e], i) : nullptr);
        return;
      }
}

template <class K, class Offset>
void Analysis<K, Offset>::look_at_row(std::int64_t i, Findings& f) {
  MatrixFigures& p = f.of;
  const std::int64_t begin = A_.row_offsets[i], end = A_.row_offsets[i + 1];
  p.shortest_row = std::min(p.shortest_row, end - begin);
  p.longest_row = std::max(p.longest_row, end - begin);
  if (begin == end)
    ++p.empty_rows;
  else {
    p.lower_bandwidth = std::max(p.lower_bandwidth, number(i) - number(A_.col_indices[begin]));
    p.upper_bandwidth = std::max(p.upper_bandwidth, number(A_.col_indices[end - 1]) - number(i));
  }
  const K* mine = nullptr;
  Sum signed_sum{};
  double sum = 0, others = 0, greatest = 0, squares = 0;
  for (std::int64_t e = begin; e < end; ++e) {
    const K a = A_.values[e];
    const bool on_diagonal = A_.col_indices[e] == i;
    if (on_diagonal) mine = A_.values + e;
    if (!all_finite_ && !is_finite(a)) continue;
    const double size = magnitude(a), share = size * to_share_, other = on_diagonal ? 0 : size;
    sum += size, signed_sum += wide(a), squares += share * share;
    others += other, greatest = std::max(greatest, other);
  }
  f.squares += squares;
  p.infinity_norm = std::max(p.infinity_norm, sum);
  keep_least(p.min_row_norm, sum);
  const double rounding = static_cast<double>(end - begin) * std::numeric_limits<real_t<K>>::epsilon() * sum;
  p.null_rows += magnitude(signed_sum) <= rounding;
  if (i < A_.cols) look_at_diagonal(i, mine, others, greatest, f);
  if (square()) look_at_mirrors(i, mine, f);
}

/// The mirrors of row i's entries from the diagonal on: below it, the mirror shows the same.
template <class K, class Offset>
void Analysis<K, Offset>::look_at_mirrors(std::int64_t i, const K* mine, Findings& f) {
  const std::int64_t begin = A_.row_offsets[i], end = A_.row_offsets[i + 1];
  std::int64_t e = begin;
  while (e < end && A_.col_indices[e] < i) ++e;
  f.below += e - begin;
  f.off_diagonal += end - begin - (mine != nullptr);
  if (mine) look_at_pair(i, e++, mine, f);
  const bool nothing_new = all_finite_ && f.of.not_skew;  // of an entry that is its own mirror image
  for (; e < end; ++e) {
    const K a = A_.values[e];
    const K* mirror = find(A_.col_indices[e], i);
    f.mirrored += mirror != nullptr;
    if (nothing_new && mirror && a == *mirror && a == conj(*mirror))
      look_at_minor(i, e, mirror, f);
    else
      look_at_pair(i, e, mirror, f);
  }
}

/// a > 0 and a^2 >= b c, by quotients where products could overflow or vanish.
bool reaches_product(double a, double b, double c) {
  constexpr double least = 1e-140, most = 1e140;
  const auto plain = [&](double v) { return least < v && v < most; };
  if (plain(a) && plain(b) && plain(c)) return a * a >= b * c;
  return a > 0 && a / b >= c / a;
}

/// The entries whose mirror no row above has shown, because it is not stored.
template <class K, class Offset>
void Analysis<K, Offset>::look_below_diagonal(std::int64_t i, Findings& f) {
  for (std::int64_t e = A_.row_offsets[i]; e < A_.row_offsets[i + 1] && A_.col_indices[e] < i; ++e)
    if (!find(A_.col_indices[e], i)) look_at_pair(i, e, nullptr, f);
}

template <class K, class Offset>
void Analysis<K, Offset>::look_at_pair(std::int64_t i, std::int64_t entry, const K* mirror, Findings& f) {
  MatrixFigures& p = f.of;
  const K a = A_.values[entry];
  const std::int32_t j = A_.col_indices[entry];
  const K b = mirror ? *mirror : K(0);
  if (i != j && !(a == b) && !p.not_symmetric) p.not_symmetric = pair(i, entry, mirror);
  if (!p.not_skew && !(a == -b)) p.not_skew = pair(i, entry, mirror);
  if (!p.not_hermitian && !(a == conj(b))) p.not_hermitian = pair(i, entry, mirror);
  if (!all_finite_ && (!is_finite(a) || !is_finite(b))) return;
  if (!(a == b)) p.symmetry_error = std::max(p.symmetry_error, magnitude(a - b));
  if (!(a == conj(b))) {
    const double error = magnitude(a - conj(b));
    p.hermitian_error = std::max(p.hermitian_error, error);
    if (error > far_ && !p.far_from_hermitian) p.far_from_hermitian = pair(i, entry, mirror);
  }
  if (i < j) look_at_minor(i, entry, mirror, f);
}

template <class K, class Offset>
void Analysis<K, Offset>::look_at_minor(std::int64_t i, std::int64_t entry, const K* mirror, Findings& f) {
  const double size = magnitude(A_.values[entry]), d_i = std::abs(diagonal(i)),
               d_j = std::abs(diagonal(A_.col_indices[entry]));
  const bool is_less = size < d_i && size < d_j;  // so of the squares
  if (!is_less && !f.minor && reaches_product(size, d_i, d_j)) f.minor = pair(i, entry, mirror);
}

template <class K, class Offset>
void Analysis<K, Offset>::look_at_diagonal(std::int64_t i, const K* entry, double others, double greatest,
                                           Findings& f) {
  MatrixFigures& p = f.of;
  const auto row = static_cast<std::int32_t>(number(i));
  if (!entry) {
    ++p.missing_diagonal;
    keep_first(p.first_missing_diagonal, {row});
  } else if (*entry == K(0)) {
    ++p.zero_diagonal;
    keep_first(p.first_zero_diagonal, {row});
  }
  const bool positive = entry && is_finite(*entry) && *entry == conj(*entry) && real(*entry) > 0;
  if (!positive && !p.first_not_positive_diagonal) {
    p.first_not_positive_diagonal = row;
    p.not_positive_diagonal = entry ? wide_complex(*entry) : 0;
  }
  const auto length = static_cast<double>(A_.row_offsets[i + 1] - A_.row_offsets[i]);
  const double size = entry ? magnitude(*entry) : 0;
  if (std::isfinite(size)) {
    keep_least(p.min_diagonal, size);
    p.greatest_diagonal = std::max(p.greatest_diagonal, size);
    p.negative_diagonal += size > 0 && real(*entry) < 0;
  }
  p.small_diagonal += size == 0 || size < small * greatest;
  const double slack = length * std::numeric_limits<real_t<K>>::epsilon() * others;
  linked_[static_cast<std::size_t>(i)] = size > others + slack;
  p.strictly_dominant_rows += size > others + slack;
  p.dominant_rows += size >= others - slack;
}

/// What columns tell, where they differ from rows.
template <class K, class Offset>
void Analysis<K, Offset>::look_at_columns(MatrixFigures& p) {
  const auto size_of = [&](std::int64_t e) { return is_finite(A_.values[e]) ? magnitude(A_.values[e]) : 0; };
  const auto maxima = filled<double>(host_, A_.cols, -1);  // of magnitudes; -1 without an entry
  for_each_index(host_, A_.rows, [&](std::int64_t i) {
    for (std::int64_t e = A_.row_offsets[i]; e < A_.row_offsets[i + 1]; ++e)
      raise_to(maxima[static_cast<std::size_t>(A_.col_indices[e])], size_of(e));
  });
  Findings beside_columns = over_rows([&](std::int64_t i, Findings& f) {
    if (i >= A_.cols) return;
    double size = 0, greatest = maxima[static_cast<std::size_t>(i)];
    for (std::int64_t e = A_.row_offsets[i]; e < A_.row_offsets[i + 1]; ++e)
      if (A_.col_indices[e] == i)
        size = magnitude(A_.values[e]);
      else
        greatest = std::max(greatest, size_of(e));
    f.of.small_diagonal += size == 0 || size < small * greatest;
  });
  std::atomic<std::int64_t> empty = 0;
  const std::int64_t first = shared_ ? begin_ : 0, columns = shared_ ? end_ - begin_ : A_.cols;
  for_blocks(host_, columns, block, columns, [&](std::int64_t begin, std::int64_t end) {
    empty += std::count(maxima.get() + first + begin, maxima.get() + first + end, -1);
  });
  beside_columns.of.empty_cols = empty;
  beside_columns = of_all(beside_columns);
  p.small_diagonal = beside_columns.of.small_diagonal, p.empty_cols = beside_columns.of.empty_cols;
}

/// Whether from every row a way of nonzero entries leads to a strictly dominant one (the pattern being symmetric). Then
/// a matrix with dominant rows only is not singular. Each block of rows is gone through forth and back a few times, by
/// all threads: on a grid that finds all, and what it leaves takes a search.
template <class K, class Offset>
bool Analysis<K, Offset>::linked_to_strict_rows() const {
  const auto state = [&](std::int64_t i) { return std::atomic_ref<char>(linked()[static_cast<std::size_t>(i)]); };
  const auto link = [&](std::int64_t i) {
    if (state(i).load(std::memory_order_relaxed)) return;
    for (std::int64_t e = A_.row_offsets[i]; e < A_.row_offsets[i + 1]; ++e)
      if (state(A_.col_indices[e]).load(std::memory_order_relaxed) && !(A_.values[e] == K(0)))
        return state(i).store(1, std::memory_order_relaxed);
  };
  const auto all = [&] {
    if (shared_) shared_->refresh_marks(linked());
    const bool mine = std::ranges::find(linked(), 0) == linked().end();
    return shared_ ? agree(shared_->team, mine) : mine;
  };
  for (int sweep = 0; sweep < 3 && !all(); ++sweep)
    for_blocks(host_, end_ - begin_, block, A_.nnz, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin_ + begin; i < begin_ + end; ++i) link(i);
      for (std::int64_t i = begin_ + end; i-- > begin_ + begin;) link(i);
    });
  return all() || search_strict_rows();
}

/// Where that has not linked all. Ranks search their rows, until none has found more from what others have found.
template <class K, class Offset>
bool Analysis<K, Offset>::search_strict_rows() const {
  const auto mark = [&](std::int64_t i) -> char& { return linked()[static_cast<std::size_t>(i)]; };
  std::vector<char> searched(static_cast<std::size_t>(A_.rows), 0);
  std::vector<std::int32_t> found;
  for (bool more = true; more;) {
    for (std::int32_t i = 0; i < A_.rows; ++i)
      if (mark(i) && !searched[static_cast<std::size_t>(i)]) found.push_back(i);
    more = !found.empty();
    for (std::size_t next = 0; next < found.size(); ++next) {
      searched[static_cast<std::size_t>(found[next])] = 1;
      for (std::int64_t e = A_.row_offsets[found[next]]; e < A_.row_offsets[found[next] + 1]; ++e) {
        const std::int32_t j = A_.col_indices[e];
        if (mark(j) || A_.values[e] == K(0)) continue;
        mark(j) = 1;
        found.push_back(j);
      }
    }
    found.clear();
    if (!shared_) break;
    shared_->refresh_marks(linked());
    more = !agree(shared_->team, !more);
  }
  const bool mine = std::find(linked().begin() + begin_, linked().begin() + end_, 0) == linked().begin() + end_;
  return shared_ ? agree(shared_->team, mine) : mine;
}

/// Without a search where the diagonal is full.
template <class K, class Offset>
std::optional<StructuralRank> Analysis<K, Offset>::structure(const MatrixProperties& p) const {
  if (!square() || p.non_finite > 0) return {};
  if (p.missing_diagonal + p.zero_diagonal == 0) return StructuralRank{static_cast<std::int32_t>(all_rows()), {}, {}};
  if (shared_) return {};
  const auto rows = static_cast<std::size_t>(A_.rows), entries = static_cast<std::size_t>(A_.nnz);
  if (p.stored_zeros == 0)
    return structural_rank(
        PatternView<Offset>{A_.rows, A_.cols, {A_.row_offsets, rows + 1}, {A_.col_indices, entries}});
  std::vector<Offset> offsets{0};
  std::vector<std::int32_t> columns;
  offsets.reserve(rows + 1), columns.reserve(entries);
  for (std::int32_t i = 0; i < A_.rows; ++i) {
    for (Offset e = A_.row_offsets[i]; e < A_.row_offsets[i + 1]; ++e)
      if (!(A_.values[e] == K(0))) columns.push_back(A_.col_indices[e]);
    offsets.push_back(static_cast<Offset>(columns.size()));
  }
  return structural_rank(PatternView<Offset>{A_.rows, A_.cols, offsets, columns});
}

template <class K, class Offset>
std::int64_t Analysis<K, Offset>::constraint_rows(const MatrixProperties& p) const {
  if (!p.symmetric_pattern || p.non_finite > 0 || p.positive_diagonal) return 0;
  if (p.negative_diagonal > 0 && p.hermitian_error > rounding_of_values) return 0;
  std::int64_t found = 0;
  bool fits = true;
  for (std::int64_t i = begin_; i < end_ && fits; ++i) {
    if (diagonal(i) > 0) continue;
    double among = 0, others = 0;
    for (Offset e = A_.row_offsets[i]; e < A_.row_offsets[i + 1]; ++e) {
      const std::int32_t j = A_.col_indices[e];
      if (j != i) (diagonal(j) > 0 ? others : among) += magnitude(A_.values[e]);
    }
    fits = others != 0 && among <= -diagonal(i);
    ++found;
  }
  if (shared_) {
    fits = agree(shared_->team, fits);
    std::int64_t all = 0;
    for (const std::int64_t each : gather_records(shared_->team, found)) all += each;
    found = all;
  }
  return fits && 2 * found <= all_rows() ? found : 0;
}

std::string text(std::complex<double> a, bool complex) {
  return complex ? fmt::format("{}{:+}i", a.real(), a.imag()) : fmt::format("{}", a.real());
}

template <class K, class Offset>
std::pair<Definiteness, std::string> Analysis<K, Offset>::judge(const MatrixFigures& p,
                                                                const std::optional<EntryPair>& minor) const {
  const auto shown = [](std::int32_t i, std::int32_t j, std::complex<double> a) {
    return fmt::format("a({}, {}) = {}", i, j, text(a, is_complex<K>));
  };
  if (const auto& at = p.first_non_finite)
    return {Definiteness::not_finite, "not finite: " + shown(at->row, at->col, at->value)};
  if (!square()) return {Definiteness::not_hermitian, fmt::format("not square: {} rows, {} columns", A_.rows, A_.cols)};
  if (const auto& at = p.not_hermitian)
    return {Definiteness::not_hermitian,
            fmt::format("not {}: {}, {}", is_complex<K> ? "Hermitian" : "symmetric", shown(at->row, at->col, at->value),
                        shown(at->col, at->row, at->mirror))};
  if (const auto& i = p.first_not_positive_diagonal)
    return {Definiteness::not_positive_definite, fmt::format("not positive definite: a({}, {}) = {} is not positive",
                                                             *i, *i, p.not_positive_diagonal.real())};
  if (const auto& at = minor)
    return {Definiteness::not_positive_definite,
            fmt::format("not positive definite: |a({0}, {1})|^2 >= a({0}, {0}) a({1}, {1})", at->row, at->col)};
  if (p.dominant_rows == all_rows() && linked_to_strict_rows())
    return {Definiteness::positive_definite, "positive definite by diagonal dominance"};
  return {Definiteness::possibly, "possibly positive definite"};
}

template <class K, class Offset>
MatrixProperties Analysis<K, Offset>::run() {
  const Findings entries =
      of_all(over_blocks([&](std::int64_t begin, std::int64_t end, Findings& f) { look_at_entries(begin, end, f); }));
  if (shared_) shared_->refresh_values({diagonal_.get(), static_cast<std::size_t>(A_.rows)});
  greatest_ = entries.of.greatest_magnitude, all_finite_ = entries.of.non_finite == 0;
  far_ = std::sqrt(static_cast<double>(std::numeric_limits<real_t<K>>::epsilon())) * greatest_;
  to_share_ = std::ldexp(1, -std::clamp(std::ilogb(greatest_ > 0 ? greatest_ : 1), -1000, 1000));
  Findings f = of_all(over_rows([&](std::int64_t i, Findings& part) { look_at_row(i, part); }));
  if (f.below > f.mirrored)
    f.add(of_all(over_rows([&](std::int64_t i, Findings& part) { look_below_diagonal(i, part); })));
  MatrixProperties p{f.of, {}, {}};
  p.stored_zeros = entries.of.stored_zeros;
  p.non_finite = entries.of.non_finite, p.first_non_finite = entries.of.first_non_finite;
  p.min_magnitude = entries.of.min_magnitude, p.greatest_magnitude = greatest_;

  p.rows = static_cast<std::int32_t>(all_rows()), p.cols = shared_ ? p.rows : A_.cols;
  p.nnz = entries.of.nnz, p.complex = is_complex<K>;
  p.mean_row = p.rows > 0 ? static_cast<double>(p.nnz) / p.rows : 0;
  p.frobenius_norm = std::sqrt(f.squares) / to_share_;
  const std::int64_t in_pairs = 2 * f.mirrored;
  p.pattern_symmetry = f.off_diagonal > 0 ? static_cast<double>(in_pairs) / static_cast<double>(f.off_diagonal) : 1;
  p.symmetric_pattern = square() && in_pairs == f.off_diagonal;
  p.symmetric = square() && !p.not_symmetric;
  p.skew = square() && !p.not_skew;
  p.hermitian = square() && !p.not_hermitian;
  p.empty_cols = p.empty_rows;
  if (!p.symmetric_pattern || !(p.symmetric || p.skew || p.hermitian)) look_at_columns(p);
  if (greatest_ > 0) p.symmetry_error /= greatest_, p.hermitian_error /= greatest_;
  p.positive_diagonal = square() && !p.first_not_positive_diagonal;
  std::tie(p.definiteness, p.definiteness_reason) = judge(p, f.minor);
  p.indefinite_pair = f.minor.has_value();
  p.structure = structure(p);
  p.constraint_rows = constraint_rows(p);
  return p;
}

template <class K, class Offset>
MatrixProperties analyze_view(const Host& host, CsrView<const K, Offset> A, const AnalyzedRows* shared = nullptr) {
  return Analysis<K, Offset>(host, A, shared).run();
}

/// By way of row offsets that are made here.
template <class K>
MatrixProperties analyze_view(const Host& host, CooView<const K> A) {
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(A.rows) + 1);
  for_each_index(host, A.rows + std::int64_t{1}, [&](std::int64_t i) {
    offsets[static_cast<std::size_t>(i)] = std::lower_bound(A.row_indices, A.row_indices + A.nnz, i) - A.row_indices;
  });
  return analyze_view(host,
                      CsrView<const K, std::int64_t>{A.rows, A.cols, A.nnz, offsets.data(), A.col_indices, A.values});
}

}  // namespace

template <class T>
MatrixProperties analyze(const Host& host, const AnyMatrix<T>& A) {
  return visit_entries(A, [&](const auto& a) { return analyze_view(host, a.view(Host{})); });
}

template <class T>
MatrixProperties analyze(const Host& host, const AnyMatrix<T>& A, const AnalyzedRows& shared) {
  return visit_entries(A, [&]<class Matrix>(const Matrix& a) -> MatrixProperties {
    if constexpr (is_csr<Matrix>)
      return analyze_view(host, a.view(Host{}), &shared);
    else
      throw InvalidArgument("analyze: rows of several ranks have to be in CSR form");
  });
}

template <class T>
struct AnalyzeInstances {
  static constexpr std::tuple list{
      instance<MatrixProperties(const Host&, const AnyMatrix<T>&)>(analyze),
      instance<MatrixProperties(const Host&, const AnyMatrix<T>&, const AnalyzedRows&)>(analyze)};
};
KRILL_INSTANTIATE(AnalyzeInstances);

}  // namespace krill
