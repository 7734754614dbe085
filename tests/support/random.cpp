#include "tests/support/random.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "sparse/core/instantiate.hpp"

namespace krill::test {
namespace {

template <class T, class Offset>
Csr<T, Offset> from_rows(std::int32_t cols, const std::vector<std::map<std::int32_t, T>>& rows) {
  std::vector<Offset> offsets{0};
  std::vector<std::int32_t> columns;
  std::vector<T> values;
  for (const auto& row : rows) {
    for (const auto& [col, value] : row) columns.push_back(col), values.push_back(value);
    offsets.push_back(static_cast<Offset>(columns.size()));
  }
  return {cols, Array(std::move(offsets)), Array(std::move(columns)), Array(std::move(values))};
}

template <class T>
T conjugate(T a) {
  if constexpr (is_complex<T>)
    return std::conj(a);
  else
    return a;
}

/// Sets the diagonal so that every row is strictly dominant.
template <class T>
void dominate(std::vector<std::map<std::int32_t, T>>& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    double sum = 0;
    for (const auto& [col, value] : rows[i]) sum += col == static_cast<std::int32_t>(i) ? 0 : std::abs(value);
    rows[i][static_cast<std::int32_t>(i)] = T(static_cast<real_t<T>>(1.02 * sum + 0.1));
  }
}

}  // namespace

template <class T>
T random_scalar(std::mt19937_64& engine) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  if constexpr (is_complex<T>) {
    const double re = uniform(engine);
    return T(static_cast<real_t<T>>(re), static_cast<real_t<T>>(uniform(engine)));
  } else {
    return static_cast<T>(uniform(engine));
  }
}

template <class T>
std::vector<T> random_vector(std::uint64_t seed, std::int64_t n) {
  std::mt19937_64 engine(seed);
  std::vector<T> v(static_cast<std::size_t>(n));
  for (T& value : v) value = random_scalar<T>(engine);
  return v;
}

template <class T, class Offset>
Csr<T, Offset> random_csr(std::uint64_t seed, const Shape& shape) {
  std::mt19937_64 engine(seed);
  std::vector<Offset> offsets{0};
  std::vector<std::int32_t> columns;
  std::vector<std::int32_t> last_row(static_cast<std::size_t>(shape.cols), -1);  // that has a column
  for (std::int32_t i = 0; i < shape.rows; ++i) {
    const std::int32_t length = std::min(shape.row_length(i, engine), shape.cols);
    const std::size_t end = columns.size() + static_cast<std::size_t>(length);
    for (std::int32_t j = 0; j < shape.cols && length == shape.cols; ++j) columns.push_back(j);
    while (columns.size() < end) {
      const auto j = static_cast<std::int32_t>(engine() % static_cast<std::uint64_t>(shape.cols));
      if (std::exchange(last_row[static_cast<std::size_t>(j)], i) != i) columns.push_back(j);
    }
    std::sort(columns.end() - length, columns.end());
    offsets.push_back(static_cast<Offset>(end));
  }
  std::vector<T> values(columns.size());
  for (T& value : values) value = random_scalar<T>(engine);
  return {shape.cols, Array(std::move(offsets)), Array(std::move(columns)), Array(std::move(values))};
}

template <class T>
Csr<T> random_hpd(std::uint64_t seed, std::int32_t n, std::int32_t row_length) {
  std::mt19937_64 engine(seed);
  std::vector<std::map<std::int32_t, T>> rows(static_cast<std::size_t>(n));
  for (std::int32_t i = 0; i < n; ++i)
    for (std::int32_t k = 0; k < row_length / 2; ++k) {
      const auto j = static_cast<std::int32_t>(engine() % static_cast<std::uint64_t>(n));
      if (j == i) continue;
      const T value = random_scalar<T>(engine);
      rows[static_cast<std::size_t>(i)][j] = value;
      rows[static_cast<std::size_t>(j)][i] = conjugate(value);
    }
  dominate(rows);
  return from_rows<T, std::int32_t>(n, rows);
}

template <class T>
Csr<T> random_dominant(std::uint64_t seed, std::int32_t n, std::int32_t row_length) {
  std::mt19937_64 engine(seed);
  std::vector<std::map<std::int32_t, T>> rows(static_cast<std::size_t>(n));
  for (auto& row : rows)
    for (std::int32_t k = 0; k + 1 < row_length; ++k)
      row[static_cast<std::int32_t>(engine() % static_cast<std::uint64_t>(n))] = random_scalar<T>(engine);
  dominate(rows);
  return from_rows<T, std::int32_t>(n, rows);
}

template <class T>
Csr<T> poisson2d(std::int32_t n) {
  std::vector<std::map<std::int32_t, T>> rows(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
  for (std::int32_t y = 0; y < n; ++y)
    for (std::int32_t x = 0; x < n; ++x) {
      const std::int32_t i = y * n + x;
      auto& row = rows[static_cast<std::size_t>(i)];
      row[i] = T(4);
      if (x > 0) row[i - 1] = T(-1);
      if (x + 1 < n) row[i + 1] = T(-1);
      if (y > 0) row[i - n] = T(-1);
      if (y + 1 < n) row[i + n] = T(-1);
    }
  return from_rows<T, std::int32_t>(n * n, rows);
}

template <class T>
struct RandomInstances {
  static constexpr std::tuple list{instance<T(std::mt19937_64&)>(random_scalar),
                                   instance<std::vector<T>(std::uint64_t, std::int64_t)>(random_vector),
                                   instance<Csr<T, std::int32_t>(std::uint64_t, const Shape&)>(random_csr),
                                   instance<Csr<T, std::int64_t>(std::uint64_t, const Shape&)>(random_csr),
                                   instance<Csr<T>(std::uint64_t, std::int32_t, std::int32_t)>(random_hpd),
                                   instance<Csr<T>(std::uint64_t, std::int32_t, std::int32_t)>(random_dominant),
                                   instance<Csr<T>(std::int32_t)>(poisson2d)};
};
KRILL_INSTANTIATE(RandomInstances);

}  // namespace krill::test
