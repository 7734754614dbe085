// A box of grid points and the constant stencils on it.
#pragma once
#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <span>

namespace krill::detail {

/// An entry of a stencil: the neighbor at (x + dx, y + dy, z + dz).
struct StencilPoint {
  int dx, dy, dz;
  std::complex<double> value;
};

/// Points (x, y, z), numbered x first.
struct Grid {
  std::int64_t nx, ny, nz;

  struct Point {
    std::int64_t x, y, z;
  };
  Point point(std::int64_t i) const { return {i % nx, i / nx % ny, i / (nx * ny)}; }
  std::int64_t step(const StencilPoint& p) const { return p.dx + nx * (p.dy + ny * p.dz); }
  bool has(const Point& at, const StencilPoint& p) const {
    const auto inside = [](std::int64_t i, std::int64_t n) { return 0 <= i && i < n; };
    return inside(at.x + p.dx, nx) && inside(at.y + p.dy, ny) && inside(at.z + p.dz, nz);
  }

  /// The number of neighbors inside the grid that the points before point i have in all. The points from which an
  /// offset (dx, dy, dz) stays inside form a box, and a formula gives how many of these come before i. O(stencil).
  std::int64_t neighbors_before(std::int64_t i, std::span<const StencilPoint> stencil) const {
    struct Span {
      std::int64_t begin, end;
      Span(std::int64_t n, int d) : begin(std::min<std::int64_t>(n, d < 0 ? -d : 0)), end(n - (d > 0 ? d : 0)) {
        end = std::max(begin, end);
      }
      std::int64_t size() const { return end - begin; }
      std::int64_t before(std::int64_t at) const { return std::clamp(at, begin, end) - begin; }
      bool has(std::int64_t at) const { return begin <= at && at < end; }
    };
    const Point at = point(i);
    std::int64_t sum = 0;
    for (const StencilPoint& p : stencil) {
      const Span x(nx, p.dx), y(ny, p.dy), z(nz, p.dz);
      sum += z.before(at.z) * y.size() * x.size();
      if (z.has(at.z)) sum += y.before(at.y) * x.size();
      if (z.has(at.z) && y.has(at.y)) sum += x.before(at.x);
    }
    return sum;
  }
};

/// The 27 offsets of at most 1 along each axis with value(dx, dy, dz), in ascending order of the neighbors' numbers.
template <class Value>
auto box_stencil(const Value& value) {
  std::array<StencilPoint, 27> stencil;
  for (int k = 0; k < 27; ++k) {
    const int dx = k % 3 - 1, dy = k / 3 % 3 - 1, dz = k / 9 - 1;
    stencil[static_cast<std::size_t>(k)] = {dx, dy, dz, value(dx, dy, dz)};
  }
  return stencil;
}

}  // namespace krill::detail
