#include "tests/support/random.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

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

const std::vector<Shape>& nasty_shapes() {
  using Engine = std::mt19937_64;
  static const std::vector<Shape> shapes{
      {"no rows", 0, 5, [](std::int32_t, Engine&) { return 0; }},
      {"no columns", 5, 0, [](std::int32_t, Engine&) { return 0; }},
      {"no entries", 7, 9, [](std::int32_t, Engine&) { return 0; }},
      {"one entry", 1, 1, [](std::int32_t, Engine&) { return 1; }},
      {"one row", 1, 5000, [](std::int32_t, Engine&) { return 3000; }},
      {"one column", 3000, 1, [](std::int32_t row, Engine&) { return row % 2; }},
      {"short rows", 1000, 900, [](std::int32_t, Engine& e) { return static_cast<std::int32_t>(e() % 8); }},
      {"every other row empty", 999, 1001, [](std::int32_t row, Engine&) { return row % 2 ? 5 : 0; }},
      {"a dense row", 700, 6000, [](std::int32_t row, Engine&) { return row == 300 ? 6000 : 2; }},
      {"last row long", 513, 5000, [](std::int32_t row, Engine&) { return row == 512 ? 4999 : 1; }},
      {"long rows", 64, 700, [](std::int32_t, Engine& e) { return 100 + static_cast<std::int32_t>(e() % 500); }},
      {"rows at the limit of a segment", 600, 300, [](std::int32_t row, Engine&) { return 60 + row % 9; }},
      {"long stretches of empty rows", 3000, 300, [](std::int32_t row, Engine&) { return row % 1000 == 999 ? 40 : 0; }},
      {"many rows", 40000, 40000, [](std::int32_t, Engine& e) { return static_cast<std::int32_t>(e() % 5); }},
  };
  return shapes;
}

std::vector<Shape> square_shapes() {
  std::vector<Shape> shapes;
  for (Shape shape : nasty_shapes()) {
    if (shape.rows == 1 && shape.cols > 1) continue;  // 5000 rows like that one are too many
    shape.rows = shape.cols = std::max(shape.rows, shape.cols);
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

std::vector<std::int32_t> shuffled(std::uint64_t seed, std::int32_t n) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 engine(seed);
  std::shuffle(order.begin(), order.end(), engine);
  return order;
}

template <class T, class Offset>
Csr<T, Offset> random_csr(std::uint64_t seed, const Shape& shape) {
  std::mt19937_64 engine(seed);
  std::vector<std::map<std::int32_t, T>> rows(static_cast<std::size_t>(shape.rows));
  for (std::int32_t i = 0; i < shape.rows; ++i) {
    const std::int32_t length = std::min(shape.row_length(i, engine), shape.cols);
    auto& row = rows[static_cast<std::size_t>(i)];
    if (length == shape.cols)
      for (std::int32_t j = 0; j < shape.cols; ++j) row[j] = random_scalar<T>(engine);
    while (static_cast<std::int32_t>(row.size()) < length)
      row[static_cast<std::int32_t>(engine() % static_cast<std::uint64_t>(shape.cols))] = random_scalar<T>(engine);
  }
  return from_rows<T, Offset>(shape.cols, rows);
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
  static constexpr std::tuple list{instance<Csr<T, std::int32_t>(std::uint64_t, const Shape&)>(random_csr),
                                   instance<Csr<T, std::int64_t>(std::uint64_t, const Shape&)>(random_csr),
                                   instance<Csr<T>(std::uint64_t, std::int32_t, std::int32_t)>(random_hpd),
                                   instance<Csr<T>(std::uint64_t, std::int32_t, std::int32_t)>(random_dominant),
                                   instance<Csr<T>(std::int32_t)>(poisson2d)};
};
KRILL_INSTANTIATE(RandomInstances);

}  // namespace krill::test
