// Slow flow on a staggered grid: velocities on the faces of cells, pressures in their middles (Harlow and Welch 1965).
#include <array>

#include "sparse/core/instantiate.hpp"
#include "sparse/io/generate_grid.hpp"
#include "sparse/io/generate_rows.hpp"

namespace krill::detail {
namespace {

constexpr std::array<StencilPoint, 5> star{
    {{0, -1, 0, {}}, {-1, 0, 0, {}}, {0, 0, 0, {}}, {1, 0, 0, {}}, {0, 1, 0, {}}}};
constexpr std::array<StencilPoint, 2> sides{{{0, 0, 0, {}}, {1, 0, 0, {}}}};
constexpr std::array<StencilPoint, 4> around{{{-1, 0, 0, {}}, {0, 0, 0, {}}, {0, -1, 0, {}}, {0, 1, 0, {}}}};

/// Unknowns: u on the right face of each cell, v on its upper one but for the uppermost cells, p of each cell.
class Channel {
 public:
  Channel(std::int64_t nx, std::int64_t ny, double reaction)
      : cells_{nx, ny, 1}, upper_{nx, ny - 1, 1}, u_(nx * ny), v_(nx * (ny - 1)), reaction_(reaction) {}

  /// Entries of the rows before row i.
  std::int64_t entries_before(std::int64_t i) const {
    if (i <= u_) return cells_.neighbors_before(i, star) + cells_.neighbors_before(i, sides);
    const std::int64_t of_v = std::min(i - u_, v_);
    std::int64_t sum = entries_before(u_) + (v_ > 0 ? upper_.neighbors_before(of_v, star) + 2 * of_v : 0);
    if (i > u_ + v_) sum += cells_.neighbors_before(i - u_ - v_, around);
    return sum;
  }

  /// add(column, value) for the entries of row i, columns ascending.
  template <class Add>
  void row(std::int64_t i, const Add& add) const {
    if (i < u_) return u_row(i, add);
    if (i < u_ + v_) return v_row(i - u_, add);
    const std::int64_t cell = i - u_ - v_;
    const Grid::Point at = cells_.point(cell);
    if (at.x > 0) add(cell - 1, 1);
    add(cell, -1);
    if (at.y > 0) add(u_ + cell - cells_.nx, 1);
    if (at.y + 1 < cells_.ny) add(u_ + cell, -1);
  }

 private:
  /// Half a cell where the flow leaves: beyond it lies no pressure.
  template <class Add>
  void u_row(std::int64_t i, const Add& add) const {
    const Grid::Point at = cells_.point(i);
    const bool leaves = at.x + 1 == cells_.nx, lowest = at.y == 0, uppermost = at.y + 1 == cells_.ny;
    const double part = leaves ? 0.5 : 1, along_y = 2 + (lowest ? 1 : 0) + (uppermost ? 1 : 0);
    if (!lowest) add(i - cells_.nx, -part);
    if (at.x > 0) add(i - 1, -1);
    add(i, (leaves ? 1 : 2) + part * (along_y + reaction_));
    if (!leaves) add(i + 1, -1);
    if (!uppermost) add(i + cells_.nx, -part);
    add(u_ + v_ + i, -1);
    if (!leaves) add(u_ + v_ + i + 1, 1);
  }
  template <class Add>
  void v_row(std::int64_t i, const Add& add) const {
    const Grid::Point at = upper_.point(i);
    const bool leaves = at.x + 1 == upper_.nx;
    if (at.y > 0) add(u_ + i - upper_.nx, -1);
    if (at.x > 0) add(u_ + i - 1, -1);
    add(u_ + i, 2 + (at.x > 0 ? 1 : 2) + (leaves ? 0 : 1) + reaction_);
    if (!leaves) add(u_ + i + 1, -1);
    if (at.y + 1 < upper_.ny) add(u_ + i + upper_.nx, -1);
    add(u_ + v_ + i, -1);
    add(u_ + v_ + i + upper_.nx, 1);
  }

  Grid cells_, upper_;
  std::int64_t u_, v_;
  double reaction_;
};

}  // namespace

template <class T>
AnyMatrix<T> generate_matrix(const Stokes2dOptions& o, const ChooseRows& choose) {
  using K = kernel_t<T>;
  const std::int64_t nx = o.nx, ny = extent(o.ny, o.nx), rows = checked_rows(o.type, nx, ny, 1, 3) - nx;
  const Channel channel(nx, ny, o.reaction);
  const auto first = [&](std::int64_t row) { return channel.entries_before(row); };
  return build_rows<T>(o.type, rows, choose, first, [&](std::int64_t row, std::int32_t* cols, K* values) {
    int length = 0;
    channel.row(row, [&](std::int64_t col, double value) {
      cols[length] = static_cast<std::int32_t>(col);
      values[length++] = scalar<K>(value);
    });
    return length;
  });
}

template <class T>
struct GenerateStokesInstances {
  static constexpr auto list = instance<AnyMatrix<T>(const Stokes2dOptions&, const ChooseRows&)>(generate_matrix);
};
KRILL_INSTANTIATE(GenerateStokesInstances);

}  // namespace krill::detail
