// The heat equation u_t = u_xx + u_yy on the unit square, zero on its edges, by alternating directions (Peaceman and
// Rachford 1955): each half step is implicit along the lines of one direction. Lines are tridiagonal systems that are
// solved where they lie, those along x one after the other, those along y interleaved.
//
// With r = dt / (2 h^2) and L the matrix (-1, 2, -1) of a direction, a step is
//   (1 + r Lx) v = f,   (1 + r Ly) u = 2 v - f,   f = 2 u - (2 v - f),
// where f = (1 - r Ly) u: a half step's explicit part is what the other's solution leaves, 2 v - f = (1 - r Lx) v.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <krill/solvers/loop.hpp>
#include <krill/sparse/banded/banded_plan.hpp>
#include <krill/sparse/vector/vector.hpp>
#include <numbers>
#include <string_view>

namespace {

/// The one matrix 1 + r L of all lines of a direction.
krill::Banded<double> implicit_part(std::int32_t n, double r) {
  krill::Banded<double> A(krill::BandLayout::single(n));
  for (const int k : {-1, 0, 1}) std::ranges::fill(A.band(k).edit(), k == 0 ? 1 + 2 * r : -r);
  return A;
}

class Heat {
 public:
  Heat(krill::Context& ctx, std::int32_t nx, std::int32_t ny, double r)
      : ctx_(ctx),
        x_(implicit_part(nx, r)),
        y_(implicit_part(ny, r)),
        along_x_(ctx, x_.layout(), krill::BandLayout::lines(nx, ny, 1, 0), 3, krill::BandedMethod::thomas),
        along_y_(ctx, y_.layout(), krill::BandLayout::lines(nx, ny, 1, 1), 3, krill::BandedMethod::thomas) {}

  /// From u and f to those a step later; nothing is allocated.
  void step(krill::Array<double>& u, krill::Array<double>& f) {
    along_x_.solve(ctx_, x_, f, u);
    axpby(ctx_, 2.0, u, -1.0, f);
    along_y_.solve(ctx_, y_, f, u);
    axpby(ctx_, 2.0, u, -1.0, f);
  }

 private:
  krill::Context& ctx_;
  krill::Banded<double> x_, y_;
  krill::BandedPlan<double> along_x_, along_y_;
};

}  // namespace

int main(int argc, char** argv) {
  constexpr std::int32_t nx = 500, ny = 300;
  constexpr int steps = 100;
  constexpr double r = 5;  // an explicit step would need r <= 1/8
  krill::Context ctx =
      argc > 1 && argv[1] == std::string_view("host") ? krill::Context::host() : krill::Context::automatic();

  // sin(pi x) sin(2 pi y) is an eigenvector of both directions: a step multiplies it by the quotient of their parts.
  const double px = std::numbers::pi / (nx + 1), py = 2 * std::numbers::pi / (ny + 1);
  const double lx = r * (2 - 2 * std::cos(px)), ly = r * (2 - 2 * std::cos(py));
  std::vector<double> mode(std::size_t{nx} * ny), explicit_part(mode.size());
  for (std::int32_t j = 0; j < ny; ++j)
    for (std::int32_t i = 0; i < nx; ++i) {
      const auto place = static_cast<std::size_t>(i + nx * j);
      mode[place] = std::sin(px * (i + 1)) * std::sin(py * (j + 1)), explicit_part[place] = (1 - ly) * mode[place];
    }
  krill::Array<double> u(mode), f(std::move(explicit_part));

  Heat heat(ctx, nx, ny, r);
  repeat(ctx, steps, [&] { heat.step(u, f); });  // on CUDA launches of one graph

  const double decay = std::pow((1 - lx) * (1 - ly) / ((1 + lx) * (1 + ly)), steps);
  double error = 0;
  for (std::size_t i = 0; i < mode.size(); ++i) error = std::max(error, std::abs(u.host()[i] - decay * mode[i]));
  fmt::print("{} steps of {} x {} points on {}: decayed to {:.6f}, error {:.1e}\n", steps, nx, ny,
             ctx.on_cuda() ? "CUDA" : "the host", decay, error);
  return error < 1e-11 ? 0 : 1;
}
