#include "sparse/core/pass_host.hpp"
#include "sparse/triangular/triangular_passes.hpp"

namespace krill::detail {

namespace {

/// A column of a dense matrix whose rows lie side by side, or `stride` apart.
template <class T, bool side_by_side>
struct Column {
  T* values;
  std::int64_t stride;

  T& operator[](std::int64_t row) const { return values[side_by_side ? row : row * stride]; }
};

/// The row at a place, once those that it needs stand in x.
template <class T, bool side_by_side>
void solve_place(const TriangleView<const T>& a, T factor, std::int64_t place, Column<const T, side_by_side> b,
                 Column<T, side_by_side> x) {
  const std::int32_t row = a.order[place];
  T sum = factor * b[row];
  for (std::int64_t at = a.begins[place], end = a.begins[place + 1]; at < end; ++at)
    sum -= a.values[at] * x[a.columns[at]];
  x[row] = a.inverses ? sum * a.inverses[place] : sum;
}

template <bool side_by_side, class T>
void solve_places(const TriangularSolve<T>& s, T factor, std::int64_t begin, std::int64_t end) {
  const auto column = [](const auto& of, std::int32_t j) {
    using Value = std::remove_reference_t<decltype(*of.values)>;
    return Column<Value, side_by_side>{&of.at(0, j), of.order == Order::column_major ? 1 : of.leading_dimension};
  };
  if (s.b.cols == 1) {
    const auto b = column(s.b, 0);
    const auto x = column(s.x, 0);
    for (std::int64_t place = begin; place < end; ++place) solve_place(s.a, factor, place, b, x);
    return;
  }
  for (std::int64_t place = begin; place < end; ++place)
    for (std::int32_t j = 0; j < s.b.cols; ++j) solve_place(s.a, factor, place, column(s.b, j), column(s.x, j));
}

}  // namespace

template <class T>
void run_solve(const Host& host, const TriangularSolve<T>& s, std::span<const std::int32_t> levels) {
  if (host.skip.now()) return;
  const T alpha = s.alpha();
  const bool side_by_side = s.b.order == Order::column_major && s.x.order == Order::column_major;
  const auto solve = [&](std::int64_t begin, std::int64_t end) {
    side_by_side ? solve_places<true>(s, alpha, begin, end) : solve_places<false>(s, alpha, begin, end);
  };
  if (levels.empty()) solve(0, s.a.rows);
  for (std::size_t l = 0; l + 1 < levels.size(); ++l) {
    const std::int64_t rows = levels[l + 1] - levels[l];
    for_blocks(host, rows, sum_block, rows,
               [&](std::int64_t begin, std::int64_t end) { solve(levels[l] + begin, levels[l] + end); });
  }
}

KRILL_INSTANTIATE_WITH_OFFSETS(TriangularPasses, Host);

}  // namespace krill::detail
