#include "sparse/factor/threshold.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "sparse/convert/convert.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/factor/boost.hpp"

namespace krill {

using namespace detail;
namespace {

constexpr std::size_t place(std::int64_t i) { return static_cast<std::size_t>(i); }

template <class T>
double modulus(T a) {
  if constexpr (is_complex<T>)
    return std::hypot(static_cast<double>(a.re), static_cast<double>(a.im));
  else
    return std::fabs(static_cast<double>(a));
}

/// The 2-norm of numbers that come one after the other, which may be as large or small as there are.
class Norm {
 public:
  void add(double modulus) {
    if (!(modulus > 0)) return;
    if (modulus > greatest_) {
      sum_ *= (greatest_ / modulus) * (greatest_ / modulus);
      greatest_ = modulus;
    }
    sum_ += (modulus / greatest_) * (modulus / greatest_);
  }
  double value() const { return greatest_ * std::sqrt(sum_); }

 private:
  double greatest_ = 0, sum_ = 0;
};

template <class T>
struct Remnant {
  std::int32_t col;
  T value;
};

/// Rows of a growing matrix.
template <class T>
struct GrowingRows {
  std::vector<std::int64_t> begins{0};
  std::vector<std::int32_t> cols;
  std::vector<T> values;

  std::int64_t entries() const { return std::ssize(cols); }
  void add(std::int32_t col, T value) { cols.push_back(col), values.push_back(value); }
  void end_row() { begins.push_back(entries()); }
};

/// A row that elimination is at, entry by column.
template <class T>
class SparseRow {
 public:
  explicit SparseRow(std::int32_t n) : values_(place(n)), row_of_(place(n), -1) {}

  void begin(std::int32_t i) { row_ = i; }
  /// Whether the row had no such entry, which is 0 then.
  bool touch(std::int32_t col) {
    if (row_of_[place(col)] == row_) return false;
    row_of_[place(col)] = row_, values_[place(col)] = T{};
    return true;
  }
  T& operator[](std::int32_t col) { return values_[place(col)]; }

 private:
  std::vector<T> values_;
  std::vector<std::int32_t> row_of_;
  std::int32_t row_ = -1;
};

/// Which column of A stands where, while pivots move them.
class ColumnOrder {
 public:
  explicit ColumnOrder(std::int32_t n) : columns_(place(n)), places_(place(n)) {
    std::iota(columns_.begin(), columns_.end(), 0);
    std::iota(places_.begin(), places_.end(), 0);
  }

  const std::vector<std::int32_t>& columns() const { return columns_; }
  std::int32_t column_at(std::int32_t at) const { return columns_[place(at)]; }
  std::int32_t place_of(std::int32_t column) const { return places_[place(column)]; }
  void exchange(std::int32_t at, std::int32_t other) {
    std::swap(columns_[place(at)], columns_[place(other)]);
    for (const std::int32_t moved : {at, other}) places_[place(columns_[place(moved)])] = moved;
  }
  std::int32_t moved() const {
    std::int32_t count = 0;
    for (std::size_t at = 0; at < columns_.size(); ++at) count += place(columns_[at]) != at;
    return count;
  }

 private:
  std::vector<std::int32_t> columns_, places_;
};

/// Leaves the `count` largest entries, of equal ones the left one, in the order of columns. dropped(entry) is told of
/// the others.
template <class T, class F>
void keep_largest(std::vector<Remnant<T>>& row, std::int32_t count, F&& dropped) {
  if (std::ssize(row) > count) {
    const auto end = row.begin() + count;
    std::nth_element(row.begin(), end, row.end(), [](const Remnant<T>& a, const Remnant<T>& b) {
      const double of_a = modulus(a.value), of_b = modulus(b.value);
      return of_a != of_b ? of_a > of_b : a.col < b.col;
    });
    std::sort(end, row.end(), [](const Remnant<T>& a, const Remnant<T>& b) { return a.col < b.col; });
    std::for_each(end, row.end(), dropped);
    row.erase(end, row.end());
  }
  std::ranges::sort(row, {}, &Remnant<T>::col);
}

/// What both factorizations share: the task, and what becomes of pivots.
template <class T, class Offset>
struct Dropping {
  CsrView<const T, Offset> a;
  DropOptions options;
  Boost<T> boost = {};
  real_t<T> diagonal_factor = 1;
  std::int64_t max_entries = 0;
  std::optional<std::int32_t> zero = {}, not_finite = {};
  std::int32_t boosts = 0;

  static void note(std::optional<std::int32_t>& first, std::int32_t row) {
    if (!first) first = row;
  }
  T lu_pivot(std::int32_t i, T left) {
    if (boost.changes(left)) return ++boosts, boost.changed(left);
    if (!is_finite(left)) note(not_finite, i);
    if (left == T(0)) note(zero, i);
    return left;
  }
  T cholesky_pivot(std::int32_t i, real_t<T> left) {
    if (!is_finite(left)) note(not_finite, i);
    if (!(left > real_t<T>(0))) note(zero, i);
    return T(std::sqrt(left));
  }
  bool is_small(T value, double tolerance) const { return value == T(0) || modulus(value) < tolerance; }
};

/// Exchanges the column of the diagonal of row i for that of the largest entry right of it, where the tolerance of
/// pivoting has it so.
template <class T, class Offset>
void choose_pivot(const Dropping<T, Offset>& f, std::int32_t i, SparseRow<T>& row, std::vector<std::int32_t>& right,
                  ColumnOrder& order) {
  const std::int32_t diagonal = order.column_at(i);
  std::int32_t best = diagonal;
  double greatest = 0;
  for (const std::int32_t col : right) {
    const double size = modulus(row[col]);
    if (size > greatest || (size == greatest && order.place_of(col) < order.place_of(best)))
      best = col, greatest = size;
  }
  if (!(greatest * f.options.pivoting > modulus(row[diagonal]))) return;
  std::ranges::replace(right, best, diagonal);
  order.exchange(i, order.place_of(best));
}

/// Columns of U, which are A's while pivots move, as they stand in the end.
template <class T>
void move_columns(GrowingRows<T>& factor, const std::vector<std::int64_t>& diagonals, const ColumnOrder& order) {
  std::vector<Remnant<T>> upper;
  for (std::size_t i = 0; i < diagonals.size(); ++i) {
    upper.clear();
    for (std::int64_t u = diagonals[i]; u < factor.begins[i + 1]; ++u)
      upper.push_back({order.place_of(factor.cols[place(u)]), factor.values[place(u)]});
    std::ranges::sort(upper, {}, &Remnant<T>::col);
    for (std::size_t u = 0; u < upper.size(); ++u)
      factor.cols[place(diagonals[i]) + u] = upper[u].col, factor.values[place(diagonals[i]) + u] = upper[u].value;
  }
}

/// L without its diagonal, and U, in one, of A's columns as `order` comes to have them; ends early beyond max_entries.
template <class T, class Offset>
GrowingRows<T> eliminate_lu(Dropping<T, Offset>& f, ColumnOrder& order) {
  GrowingRows<T> factor;                // of U's entries the columns of A
  std::vector<std::int64_t> diagonals;  // in the factor
  SparseRow<T> row(f.a.rows);           // by columns of A
  std::vector<std::int32_t> to_left;    // places of columns left of the diagonal as a heap, the least on top
  std::vector<std::int32_t> right;      // columns
  std::vector<Remnant<T>> lower, upper;
  const auto nothing = [](const Remnant<T>&) {};
  for (std::int32_t i = 0; i < f.a.rows && factor.entries() <= f.max_entries; ++i) {
    row.begin(i), right.clear(), lower.clear(), upper.clear();
    row.touch(order.column_at(i));
    Norm norm;
    const auto add_column = [&](std::int32_t col) {
      if (!row.touch(col)) return;
      const std::int32_t at = order.place_of(col);
      if (at > i) return right.push_back(col);
      to_left.push_back(at);
      std::push_heap(to_left.begin(), to_left.end(), std::greater());
    };
    f.a.for_entries(i, [&](std::int32_t col, T value) {
      add_column(col);
      row[col] = col == i ? scaled(value, f.diagonal_factor) : value;
      norm.add(modulus(value));
    });
    const double tolerance = f.options.tolerance * norm.value();
    while (!to_left.empty()) {
      const std::int32_t k = to_left.front();
      std::pop_heap(to_left.begin(), to_left.end(), std::greater());
      to_left.pop_back();
      const T left = row[order.column_at(k)];
      if (f.is_small(left, tolerance)) continue;
      const T multiplier = left / factor.values[place(diagonals[place(k)])];
      lower.push_back({k, multiplier});
      for (std::int64_t u = diagonals[place(k)] + 1; u < factor.begins[place(k) + 1]; ++u) {
        const std::int32_t col = factor.cols[place(u)];
        add_column(col);
        row[col] -= multiplier * factor.values[place(u)];
      }
    }
    if (f.options.pivoting > 0) choose_pivot(f, i, row, right, order);
    for (const std::int32_t col : right)
      if (!f.is_small(row[col], tolerance)) upper.push_back({order.place_of(col), row[col]});
    keep_largest(lower, f.options.max_row_entries, nothing);
    keep_largest(upper, f.options.max_row_entries, nothing);
    for (const Remnant<T>& e : lower) factor.add(e.col, e.value);
    diagonals.push_back(factor.entries());
    factor.add(order.column_at(i), f.lu_pivot(i, row[order.column_at(i)]));
    for (const Remnant<T>& e : upper) factor.add(order.column_at(e.col), e.value);
    factor.end_row();
  }
  if (f.options.pivoting > 0) move_columns(factor, diagonals, order);
  return factor;
}

/// The rows from the diagonal on of the Hermitian matrix whose lower triangle is a.
template <class T, class Offset>
GrowingRows<T> upper_triangle(const CsrView<const T, Offset>& a) {
  GrowingRows<T> upper;
  upper.begins.assign(place(a.rows) + 1, 0);
  const auto for_lower = [&](auto&& f) {
    for (std::int32_t i = 0; i < a.rows; ++i)
      a.for_entries(i, [&](std::int32_t j, T value) {
        if (j <= i) f(i, j, value);
      });
  };
  for_lower([&](std::int32_t, std::int32_t j, T) { ++upper.begins[place(j) + 1]; });
  for (std::size_t j = 1; j < upper.begins.size(); ++j) upper.begins[j] += upper.begins[j - 1];
  upper.cols.resize(place(upper.begins.back())), upper.values.resize(upper.cols.size());
  std::vector<std::int64_t> next(upper.begins.begin(), upper.begins.end() - 1);
  for_lower([&](std::int32_t i, std::int32_t j, T value) {
    const std::size_t at = place(next[place(j)]++);
    upper.cols[at] = i, upper.values[at] = conj(value);
  });
  return upper;
}

/// U of U^H U; ends early beyond max_entries.
template <class T, class Offset>
GrowingRows<T> eliminate_cholesky(Dropping<T, Offset>& f) {
  using R = real_t<T>;
  const std::int32_t n = f.a.rows;
  const GrowingRows<T> a = upper_triangle(f.a);
  GrowingRows<T> factor;
  std::vector<R> left(place(n));  // on the diagonal
  for (std::int32_t k = 0; k < n; ++k)
    for (std::int64_t e = a.begins[place(k)]; e < a.begins[place(k) + 1]; ++e)
      if (a.cols[place(e)] == k) left[place(k)] = real(a.values[place(e)]) * f.diagonal_factor;
  std::vector<std::vector<std::int32_t>> rows_at(place(n));  // whose next entry stands in that column
  std::vector<std::int64_t> next(place(n));                  // of each row, that entry
  SparseRow<T> row(n);
  std::vector<std::int32_t> right, above;
  std::vector<Remnant<T>> kept;
  for (std::int32_t k = 0; k < n && factor.entries() <= f.max_entries; ++k) {
    row.begin(k), right.clear(), kept.clear();
    const auto add_column = [&](std::int32_t col) {
      if (row.touch(col)) right.push_back(col);
    };
    Norm norm;
    for (std::int64_t e = a.begins[place(k)]; e < a.begins[place(k) + 1]; ++e) {
      norm.add(modulus(a.values[place(e)]));
      if (a.cols[place(e)] == k) continue;
      add_column(a.cols[place(e)]);
      row[a.cols[place(e)]] = a.values[place(e)];
    }
    above.swap(rows_at[place(k)]);
    std::ranges::sort(above);
    for (const std::int32_t i : above) {
      const std::int64_t at = next[place(i)]++, end = factor.begins[place(i) + 1];
      if (at + 1 < end) rows_at[place(factor.cols[place(at) + 1])].push_back(i);
      const T multiplier = conj(factor.values[place(at)]);
      for (std::int64_t u = at + 1; u < end; ++u) {
        const std::int32_t col = factor.cols[place(u)];
        add_column(col);
        row[col] -= multiplier * factor.values[place(u)];
      }
    }
    std::vector<std::int32_t>().swap(above);
    const double tolerance = f.options.tolerance * norm.value();
    const auto dropped = [&](const Remnant<T>& e) {
      R &mine = left[place(k)], &other = left[place(e.col)];
      if (!f.options.compensates || !(mine > 0) || !(other > 0) || e.value == T(0)) return;
      const auto size = static_cast<R>(modulus(e.value));
      const R ratio = std::sqrt(mine / other);
      mine += size * ratio, other += size / ratio;
    };
    std::ranges::sort(right);
    for (const std::int32_t col : right)
      f.is_small(row[col], tolerance) ? dropped({col, row[col]}) : kept.push_back({col, row[col]});
    keep_largest(kept, f.options.max_row_entries, dropped);
    const T pivot = f.cholesky_pivot(k, left[place(k)]);
    factor.add(k, pivot);
    next[place(k)] = factor.entries();
    for (const Remnant<T>& e : kept) {
      const T value = e.value / pivot;
      factor.add(e.col, value);
      left[place(e.col)] -= static_cast<R>(squared(value));
    }
    factor.end_row();
    if (!kept.empty()) rows_at[place(kept.front().col)].push_back(k);
  }
  return factor;
}

/// The rows as they are, or their conjugates transposed, into arrays of a matrix in CSR.
template <class T, class Offset>
void store(const GrowingRows<T>& rows, bool adjoint, Offset* offsets, std::int32_t* cols, T* values) {
  const std::size_t n = rows.begins.size() - 1;
  if (!adjoint) {
    for (std::size_t i = 0; i <= n; ++i) offsets[i] = static_cast<Offset>(rows.begins[i]);
    std::ranges::copy(rows.cols, cols);
    std::ranges::copy(rows.values, values);
    return;
  }
  std::fill_n(offsets, n + 1, Offset{0});
  for (const std::int32_t col : rows.cols) ++offsets[place(col) + 1];
  for (std::size_t j = 0; j < n; ++j) offsets[j + 1] += offsets[j];
  std::vector<Offset> next(offsets, offsets + n);
  for (std::size_t k = 0; k < n; ++k)
    for (std::int64_t e = rows.begins[k]; e < rows.begins[k + 1]; ++e) {
      const Offset at = next[place(rows.cols[place(e)])]++;
      cols[at] = static_cast<std::int32_t>(k), values[at] = conj(rows.values[place(e)]);
    }
}

}  // namespace

template <class T, class Offset>
ThresholdFactor<T, Offset>::ThresholdFactor(std::int32_t cols, Factorization kind, const DropOptions& options,
                                            const FillRoom& room, std::optional<PivotBoost<T>> boost)
    : kind_(kind),
      options_(options),
      room_(room),
      boost_(std::move(boost)),
      matrix_(cols, Array<Offset>{0}, Array<std::int32_t>(), Array<T>()) {}

template <class T, class Offset>
ThresholdFactor<T, Offset> ThresholdFactor<T, Offset>::analyze(Context&, const Csr<T, Offset>& A, Factorization kind,
                                                               const DropOptions& options, const FillRoom& room,
                                                               std::optional<PivotBoost<T>> boost) {
  require_size("threshold factorization: columns of the matrix", A.cols(), A.rows());
  require(options.max_row_entries >= 0,
          fmt::format("threshold factorization: {} entries a row, 0 or more are needed", options.max_row_entries));
  require(options.tolerance >= 0 && options.tolerance <= 1,
          fmt::format("threshold factorization: the tolerance is {}, 0 to 1 is needed", options.tolerance));
  require(options.pivoting >= 0 && options.pivoting <= 1,
          fmt::format("threshold factorization: pivoting is {}, 0 to 1 is needed", options.pivoting));
  require(options.pivoting == 0 || kind == Factorization::ilu0,
          "threshold factorization: pivoting is for ILUT, it would end the symmetry that ICT needs");
  require_lu(boost, kind);
  return {A.cols(), kind, options, room, std::move(boost)};
}

template <class T, class Offset>
void ThresholdFactor<T, Offset>::update(Context& ctx, const Csr<T, Offset>& A, double shift) {
  require_size("threshold factorization: columns of the matrix", A.cols(), matrix_.cols());
  require_size("threshold factorization: rows of the matrix", A.rows(), matrix_.cols());
  using K = kernel_t<T>;
  const Host& host = ctx.host_tag();
  const bool lu = kind_ == Factorization::ilu0;
  Dropping<K, Offset> task{A.view(host), options_, for_kernels(boost_), static_cast<real_t<T>>(1 + shift),
                           room_.max_entries()};
  ColumnOrder order(lu ? A.cols() : 0);
  const GrowingRows<K> made = lu ? eliminate_lu(task, order) : eliminate_cholesky(task);
  const std::int64_t entries = made.entries();
  if (entries > room_.max_entries())
    throw OutOfMemory("a factor with that many entries a row (fewer, or a larger tolerance, leave less)",
                      place(entries) * room_.bytes_an_entry, room_.free, room_.device);
  require_offsets_fit<Offset>(entries);
  Array<Offset> offsets(A.rows() + 1, "row_offsets");
  Array<std::int32_t> cols(entries, "col_indices");
  Array<T> values(entries, "factor");
  store(made, !lu, offsets.write(host), cols.write(host), values.write(host));
  matrix_ = Csr<T, Offset>(A.cols(), std::move(offsets), std::move(cols), std::move(values));
  moved_ = order.moved();
  columns_ = Array<std::int32_t>(moved_ > 0 ? A.cols() : 0, "columns of a factor");
  if (moved_ > 0) std::ranges::copy(order.columns(), columns_.write(host));
  zero_ = task.zero, not_finite_ = task.not_finite, boosts_ = task.boosts;
  std::int64_t of_a = 0;
  for (std::int32_t i = 0; i < A.rows(); ++i) task.a.for_entries(i, [&](std::int32_t j, K) { of_a += lu || j <= i; });
  fill_ratio_ = of_a > 0 ? static_cast<double>(entries) / static_cast<double>(of_a) : 1;
}

KRILL_INSTANTIATE_WITH_OFFSETS(ThresholdFactor);

}  // namespace krill
