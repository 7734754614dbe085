#include <algorithm>
#include <numeric>

#include "tests/support/random.hpp"

namespace krill::test {

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

}  // namespace krill::test
