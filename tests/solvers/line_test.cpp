// Solves with tridiagonal parts of a matrix: of all of it, and of the lines of a grid.
#include "solvers/pcg.hpp"
#include "solvers/system/solve.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/io/generate.hpp"
#include "tests/solvers/applied.hpp"

namespace krill::test {
namespace {

using LinePreconditioner = OnBackendAndScalar;

/// Rounding of an elimination of dominant rows against that of a product: k = 100 roundings of three entries each, over
/// the least of a product's.
constexpr double of_elimination = 100;

TEST_P(LinePreconditioner, tridiagonal_solves_with_three_diagonals) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const std::int32_t n : {1, 2, 5, 64, 131, 300}) {
      const AnyMatrix<T> A(random_dominant<T>(1, n, 12));
      const auto r = random_vector<T>(2, n);
      const auto M = made<T>(ctx, TridiagonalOptions{}, A);
      const DenseZ three = part(dense(reference(std::get<Csr<T>>(A))),
                                [](std::int64_t i, std::int64_t j) { return std::abs(i - j) <= 1; });
      expect_solves(three, three, applied(ctx, *M, r), r, of_elimination);
      EXPECT_GT(M->report().bytes, 0u);
    }
  });
}

/// Pivots that are 0 unless rows change places.
TEST_P(LinePreconditioner, tridiagonal_pivots) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const AnyMatrix<T> A(Csr<T>(4, Array<std::int32_t>{0, 2, 5, 8, 10},
                                Array<std::int32_t>{0, 1, 0, 1, 2, 1, 2, 3, 2, 3},
                                Array<T>{0, 2, 1, 3, 1, 1, 4, 1, 2, 5}));
    const std::vector<T> r{4, 10, 18, 26};
    const auto z = applied(ctx, *made<T>(ctx, TridiagonalOptions{}, A), r);
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_LE(std::abs(z[i] - T(static_cast<real_t<T>>(i + 1))), 4 * 130 * epsilon<T>());
  });
}

TEST_P(LinePreconditioner, lines_of_a_grid_in_any_direction) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const std::int64_t n[] = {6, 5, 4}, step[] = {1, 6, 30};
    ConvectionDiffusion3dOptions grid;
    grid.nx = 6, grid.ny = 5, grid.nz = 4;
    const AnyMatrix<T> A = generate<T>(grid);
    const DenseZ whole = dense(reference(std::get<Csr<T>>(A)));
    const auto r = random_vector<T>(2, 120);
    const auto line = [&](int d) {
      return part(whole, [&](std::int64_t i, std::int64_t j) {
        return (j - i) % step[d] == 0 && i / (step[d] * n[d]) == j / (step[d] * n[d]);
      });
    };
    const auto with = [&](LineDirection direction) {
      const LineOptions options{.nx = 6, .ny = 5, .nz = 4, .direction = direction};
      return applied(ctx, *made<T>(ctx, options, A), r);
    };
    std::vector<T> sum(r.size());
    for (int d = 0; d < 3; ++d) {
      const auto z = with(static_cast<LineDirection>(static_cast<int>(LineDirection::x) + d));
      expect_solves(line(d), line(d), z, r, of_elimination);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += z[i];
    }
    const auto all = with(LineDirection::all);
    for (std::size_t i = 0; i < sum.size(); ++i)
      EXPECT_LE(std::abs(all[i] - sum[i]), 8 * epsilon<T>() * std::abs(sum[i]));
  });
}

TEST_P(LinePreconditioner, takes_the_direction_of_the_strongest_couplings) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const auto& [angle, direction] : {std::pair{0.0, "x"}, std::pair{90.0, "y"}}) {
      Anisotropic2dOptions grid;
      grid.nx = 12, grid.ny = 9, grid.angle = angle;
      const AnyMatrix<T> A = generate<T>(grid);
      const auto report = made<T>(ctx, LineOptions{.nx = 12, .ny = 9}, A)->report();
      EXPECT_EQ(fact<std::string>(report, "direction"), direction);
      EXPECT_EQ(fact<std::int64_t>(report, "rows_per_line"), angle == 0 ? 12 : 9);
      EXPECT_EQ(fact<std::int64_t>(report, "lines"), angle == 0 ? 9 : 12);
      const double share = fact<double>(report, "share_of_couplings");
      EXPECT_GT(share, 0.3);
      EXPECT_LT(share, 1);
    }
  });
}

TEST_P(LinePreconditioner, takes_new_values) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    ConvectionDiffusion3dOptions grid;
    grid.nx = 6, grid.ny = 5, grid.nz = 4;
    const AnyMatrix<T> A = generate<T>(grid);
    grid.peclet *= 0.5;
    const AnyMatrix<T> B = generate<T>(grid);
    const auto r = random_vector<T>(2, 120);
    for (const PreconditionerOptions& options :
         {PreconditionerOptions(TridiagonalOptions{}),
          PreconditionerOptions(LineOptions{.nx = 6, .ny = 5, .nz = 4, .direction = LineDirection::y})}) {
      const auto M = made<T>(ctx, options, A);
      EXPECT_NE(applied(ctx, *M, r), applied(ctx, *made<T>(ctx, options, B), r));
      M->update(ctx, B);
      EXPECT_EQ(applied(ctx, *M, r), applied(ctx, *made<T>(ctx, options, B), r));
    }
  });
}

/// A tridiagonal matrix is its own tridiagonal part, and a system that it is strong in one direction takes few
/// iterations whatever its size.
TEST_P(LinePreconditioner, solves_what_it_is_for) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto iterations = [&](const GeneratorOptions& grid, const PreconditionerOptions& options, double relative) {
      const AnyMatrix<T> A = generate<T>(grid);
      const Array<T> b(random_vector<T>(3, rows(A)));
      Array<T> x(std::vector<T>(static_cast<std::size_t>(rows(A))));
      PcgOptions pcg;
      pcg.stop.relative = relative;
      const SystemReport report = krill::solve(ctx, A, b, x, {.solver = pcg, .preconditioner = options});
      EXPECT_EQ(report.result.reason, Reason::converged);
      return report.result.iterations;
    };
    const double relative = 100 * static_cast<double>(epsilon<T>());
    EXPECT_LE(iterations(RandomSpdOptions{}, TridiagonalOptions{}, 1e-3), 100);
    EXPECT_LE(iterations(Poisson1dOptions{200}, TridiagonalOptions{}, std::max(1e-3, relative)), 2);
    Anisotropic2dOptions grid;
    grid.angle = 0;
    int former = 0;
    for (const int n : {32, 64}) {
      grid.nx = n;
      const int with_lines = iterations(grid, LineOptions{.nx = n, .ny = n}, 1e-4);
      EXPECT_LE(with_lines, 20);
      EXPECT_GE(iterations(grid, JacobiOptions{}, 1e-4), 3 * with_lines);
      EXPECT_LE(with_lines, former == 0 ? with_lines : former + 3);
      former = with_lines;
    }
  });
}

TEST_P(LinePreconditioner, refuses_what_has_no_lines) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const AnyMatrix<T> A = generate<T>(Poisson2dOptions{6, 4});
    const auto refused = [&](const PreconditionerOptions& options, const AnyMatrix<T>& matrix) {
      return complaint<InvalidArgument>([&] { made<T>(ctx, options, matrix); });
    };
    EXPECT_EQ(refused(LineOptions{}, A),
              "preconditioner line: the points of the grid are not known; set nx, and ny and nz where it has them");
    EXPECT_EQ(
        refused(LineOptions{.nx = 6, .ny = 5}, A),
        "preconditioner line: 6 x 5 x 1 points are 30, and the matrix has 24 rows; set nx, ny and nz to the points "
        "of its grid");
    EXPECT_EQ(refused(LineOptions{.nx = 24, .direction = LineDirection::x}, A),
              "preconditioner line: banded: a(0, 6) (counted from 0) lies outside of 3 diagonals; the grid is another, "
              "or its points are coupled with more than their neighbors: check nx, ny, nz and direction");
    constexpr auto no_pivot =
        "preconditioner tridiagonal: there is a pivot of 0 in row {} (rows count from 0): the part of A is singular; "
        "use another preconditioner";
    const AnyMatrix<T> singular(
        Csr<T>(3, Array<std::int32_t>{0, 2, 4, 5}, Array<std::int32_t>{0, 1, 0, 1, 2}, Array<T>{1, 1, 1, 1, 1}));
    // Which of the two rows has the pivot depends on the order in which they are eliminated.
    const std::string of_rows = refused(TridiagonalOptions{}, singular);
    EXPECT_TRUE(of_rows == fmt::format(no_pivot, 0) || of_rows == fmt::format(no_pivot, 1)) << of_rows;
    // Positive definite, but not without the corners.
    const AnyMatrix<T> definite(Csr<T>(3, Array<std::int32_t>{0, 3, 6, 9},
                                       Array<std::int32_t>{0, 1, 2, 0, 1, 2, 0, 1, 2},
                                       Array<T>{10, 9, 9, 9, 10, 9, 9, 9, 10}));
    const Array<T> b{1, 2, 3};
    Array<T> x(std::vector<T>(3));
    const auto solved_by = [&](const SolverOptions& solver) {
      return krill::solve(ctx, definite, b, x, {.solver = solver, .preconditioner = TridiagonalOptions{}});
    };
    EXPECT_EQ(
        complaint<InvalidArgument>([&] { solved_by(PcgOptions{}); }),
        "preconditioner tridiagonal: there is a pivot that is not positive in row 2 (rows count from 0): the part "
        "of A is not positive definite; use preconditioner jacobi, or solver gmres");
    GmresOptions gmres;
    gmres.stop.relative = 1e-3;
    EXPECT_EQ(solved_by(gmres).result.reason, Reason::converged);
    EXPECT_EQ(complaint<InvalidArgument>([&] {
                Array<T> y(std::vector<T>(24));
                krill::solve(ctx, A, Array<T>(std::vector<T>(24, T(1))), y,
                             {.preconditioner = LineOptions{.nx = 6, .ny = 4}, .ordering = RcmOrdering{}});
              }),
              "A: preconditioner line takes rows for points, or nodes, in their order: use ordering: {type: none} and "
              "matching: {type: none}");
  });
}

INSTANTIATE_TEST_SUITE_P(, LinePreconditioner, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
