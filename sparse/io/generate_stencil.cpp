// The families with one pattern everywhere on a grid: neighbors outside are Dirichlet boundary and left out.
#include <cmath>
#include <numbers>
#include <vector>

#include "sparse/core/counter_random.hpp"
#include "sparse/io/generate_grid.hpp"
#include "sparse/io/generate_rows.hpp"

namespace krill::detail {
namespace {

using Value = std::complex<double>;

/// Entries value(point, stencil point). `stencil` stands in ascending order of z, y, x.
template <class T, class Entry>
AnyMatrix<T> on_grid(std::string_view type, const ChooseRows& choose, const Grid& grid,
                     const std::vector<StencilPoint>& stencil, const Entry& value) {
  using K = kernel_t<T>;
  const std::int64_t rows = checked_rows(type, grid.nx, grid.ny, grid.nz);
  const auto first = [&](std::int64_t row) { return grid.neighbors_before(row, stencil); };
  return build_rows<T>(type, rows, choose, first, [&](std::int64_t i, std::int32_t* cols, K* values) {
    const auto at = grid.point(i);
    int length = 0;
    for (const StencilPoint& p : stencil) {
      if (!grid.has(at, p)) continue;
      cols[length] = static_cast<std::int32_t>(i + grid.step(p));
      values[length++] = scalar<K>(value(at, p));
    }
    return length;
  });
}

/// One stencil everywhere.
template <class T>
AnyMatrix<T> on_grid(std::string_view type, const ChooseRows& choose, const Grid& grid,
                     const std::vector<StencilPoint>& stencil) {
  return on_grid<T>(type, choose, grid, stencil, [](const Grid::Point&, const StencilPoint& p) { return p.value; });
}

/// The center and its neighbors along the first `dimensions` axes; before and after hold along every axis.
std::vector<StencilPoint> star(int dimensions, Value before, Value center, Value after) {
  std::vector<StencilPoint> points{{0, 0, 0, center}};
  for (int d = 0; d < dimensions; ++d) {
    const int x = d == 0, y = d == 1, z = d == 2;
    points.insert(points.begin(), {-x, -y, -z, before});
    points.push_back({x, y, z, after});
  }
  return points;
}

/// All neighbors with a difference of at most 1 along the first `dimensions` axes.
template <class F>
std::vector<StencilPoint> box(int dimensions, const F& value) {
  std::vector<StencilPoint> points;
  for (const StencilPoint& p : box_stencil(value))
    if (dimensions == 3 || p.dz == 0) points.push_back(p);
  return points;
}

/// Along each axis -u'' + c u', c = peclet h / sqrt(dimensions), times h^2.
std::vector<StencilPoint> convection_diffusion(int dimensions, int nx, double peclet, Convection scheme) {
  const double c = peclet / ((nx + 1.0) * std::sqrt(static_cast<double>(dimensions)));
  if (scheme == Convection::upwind) return star(dimensions, -1 - c, dimensions * (2 + c), -1);
  return star(dimensions, -1 - c / 2, 2.0 * dimensions, -1 + c / 2);
}

template <class Options>
std::vector<StencilPoint> helmholtz(int dimensions, const Options& o) {
  const double kh = o.wavenumber / (o.nx + 1.0);
  return star(dimensions, -1, 2.0 * dimensions - Value(1, -o.damping) * (kh * kh), -1);
}

/// With bilinear elements the stencil is a sum of products of the one-dimensional matrices: mass m, stiffness s, and
/// the derivative d of the trial function, -d that of the test function.
std::vector<StencilPoint> anisotropic(const Anisotropic2dOptions& o) {
  const double radians = o.angle * std::numbers::pi / 180, c = std::cos(radians), s = std::sin(radians);
  const double kxx = c * c + o.epsilon * s * s, kyy = s * s + o.epsilon * c * c, kxy = (1 - o.epsilon) * c * s;
  constexpr double mass[] = {1. / 6, 4. / 6, 1. / 6}, stiffness[] = {-1, 2, -1}, derivative[] = {-.5, 0, .5};
  return box(2, [&](int dx, int dy, int) -> Value {
    const int x = dx + 1, y = dy + 1;
    return kxx * stiffness[x] * mass[y] + kyy * mass[x] * stiffness[y] - 2 * kxy * derivative[x] * derivative[y];
  });
}

/// Coefficients that are constant in blocks.
class Jumps {
 public:
  explicit Jumps(const Jumps3dOptions& o) : random_(o.seed, 0), block_(o.block), powers_(1, 1.0) {
    for (int d = 0; d < o.decades; ++d) powers_.push_back(10 * powers_.back());  // exact: 10^15 has 50 bits
  }
  double at(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return powers_[static_cast<std::size_t>(
        random_.below(std::ssize(powers_), x / block_ + (y / block_ << 31), z / block_))];
  }

 private:
  CounterRandom random_;
  std::int64_t block_;
  std::vector<double> powers_;
};

}  // namespace

template <class T>
AnyMatrix<T> generate_matrix(const Poisson1dOptions& o, const ChooseRows& choose) {
  return on_grid<T>(o.type, choose, {o.nx, 1, 1}, star(1, -1, 2, -1));
}

template <class T>
AnyMatrix<T> generate_matrix(const Poisson2dOptions& o, const ChooseRows& choose) {
  const Grid grid{o.nx, extent(o.ny, o.nx), 1};
  if (o.stencil == Stencil2d::five) return on_grid<T>(o.type, choose, grid, star(2, -1, 4, -1));
  return on_grid<T>(o.type, choose, grid, box(2, [](int dx, int dy, int) -> Value {
                      const int steps = std::abs(dx) + std::abs(dy);
                      return steps == 0 ? 20 : steps == 1 ? -4 : -1;
                    }));
}

template <class T>
AnyMatrix<T> generate_matrix(const Poisson3dOptions& o, const ChooseRows& choose) {
  const Grid grid{o.nx, extent(o.ny, o.nx), extent(o.nz, o.nx)};
  if (o.stencil == Stencil3d::seven) return on_grid<T>(o.type, choose, grid, star(3, -1, 6, -1));
  return on_grid<T>(o.type, choose, grid,
                    box(3, [](int dx, int dy, int dz) -> Value { return dx || dy || dz ? -1 : 26; }));
}

template <class T>
AnyMatrix<T> generate_matrix(const ConvectionDiffusion2dOptions& o, const ChooseRows& choose) {
  return on_grid<T>(o.type, choose, {o.nx, extent(o.ny, o.nx), 1}, convection_diffusion(2, o.nx, o.peclet, o.scheme));
}

template <class T>
AnyMatrix<T> generate_matrix(const ConvectionDiffusion3dOptions& o, const ChooseRows& choose) {
  return on_grid<T>(o.type, choose, {o.nx, extent(o.ny, o.nx), extent(o.nz, o.nx)},
                    convection_diffusion(3, o.nx, o.peclet, o.scheme));
}

template <class T>
AnyMatrix<T> generate_matrix(const Anisotropic2dOptions& o, const ChooseRows& choose) {
  return on_grid<T>(o.type, choose, {o.nx, extent(o.ny, o.nx), 1}, anisotropic(o));
}

template <class T>
AnyMatrix<T> generate_matrix(const Anisotropic3dOptions& o, const ChooseRows& choose) {
  return on_grid<T>(o.type, choose, {o.nx, extent(o.ny, o.nx), extent(o.nz, o.nx)}, star(3, -1, 6, -1),
                    [&](const Grid::Point&, const StencilPoint& p) -> Value {
                      if (p.dx != 0) return -1;
                      return p.dy != 0 ? -o.epsilon_y : p.dz != 0 ? -o.epsilon_z : 2 * (1 + o.epsilon_y + o.epsilon_z);
                    });
}

template <class T>
AnyMatrix<T> generate_matrix(const Jumps3dOptions& o, const ChooseRows& choose) {
  const Grid grid{o.nx, extent(o.ny, o.nx), extent(o.nz, o.nx)};
  const auto stencil = star(3, -1, 6, -1);
  const Jumps jumps(o);
  return on_grid<T>(o.type, choose, grid, stencil, [&](const Grid::Point& at, const StencilPoint& p) -> Value {
    const double own = jumps.at(at.x, at.y, at.z);
    const auto coupling = [&](const StencilPoint& to) {
      if (!grid.has(at, to)) return own;
      const double other = jumps.at(at.x + to.dx, at.y + to.dy, at.z + to.dz);
      return own == other ? own : 2 * own * other / (own + other);
    };
    const auto is_center = [](const StencilPoint& to) { return to.dx == 0 && to.dy == 0 && to.dz == 0; };
    if (!is_center(p)) return -coupling(p);
    double sum = 0;
    for (const StencilPoint& to : stencil)
      if (!is_center(to)) sum += coupling(to);
    return sum;
  });
}

template <class T>
AnyMatrix<T> generate_matrix(const Helmholtz2dOptions& o, const ChooseRows& choose) {
  return on_grid<T>(o.type, choose, {o.nx, extent(o.ny, o.nx), 1}, helmholtz(2, o));
}

template <class T>
AnyMatrix<T> generate_matrix(const Helmholtz3dOptions& o, const ChooseRows& choose) {
  return on_grid<T>(o.type, choose, {o.nx, extent(o.ny, o.nx), extent(o.nz, o.nx)}, helmholtz(3, o));
}

template <class T>
struct GenerateStencilInstances {
  static constexpr std::tuple list{
      instance<AnyMatrix<T>(const Poisson1dOptions&, const ChooseRows&)>(generate_matrix),
      instance<AnyMatrix<T>(const Poisson2dOptions&, const ChooseRows&)>(generate_matrix),
      instance<AnyMatrix<T>(const Poisson3dOptions&, const ChooseRows&)>(generate_matrix),
      instance<AnyMatrix<T>(const ConvectionDiffusion2dOptions&, const ChooseRows&)>(generate_matrix),
      instance<AnyMatrix<T>(const ConvectionDiffusion3dOptions&, const ChooseRows&)>(generate_matrix),
      instance<AnyMatrix<T>(const Anisotropic2dOptions&, const ChooseRows&)>(generate_matrix),
      instance<AnyMatrix<T>(const Anisotropic3dOptions&, const ChooseRows&)>(generate_matrix),
      instance<AnyMatrix<T>(const Jumps3dOptions&, const ChooseRows&)>(generate_matrix),
      instance<AnyMatrix<T>(const Helmholtz2dOptions&, const ChooseRows&)>(generate_matrix),
      instance<AnyMatrix<T>(const Helmholtz3dOptions&, const ChooseRows&)>(generate_matrix)};
};
KRILL_INSTANTIATE(GenerateStencilInstances);

}  // namespace krill::detail
