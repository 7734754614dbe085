// Saddle points, block by block, against dense blocks.
#include <algorithm>
#include <set>

#include "solvers/system/solve.hpp"
#include "sparse/io/generate.hpp"
#include "tests/solvers/applied.hpp"

namespace krill::test {
namespace {

using SchurPreconditioner = OnBackendAndScalar;
using SchurFacts = OnBackend;

/// [H G^H; G -C] in an order of its own, H Hermitian positive definite, C diagonal.
template <class T>
struct SaddlePoint {
  Csr<T> A;
  std::vector<bool> is_constraint;
};

template <class T>
SaddlePoint<T> saddle_point(std::int32_t n, std::int32_t constraints, double c, bool diagonal_h = false) {
  const std::int32_t all = n + constraints;
  const std::vector<std::int32_t> place = shuffled(11, all);
  std::vector<std::vector<T>> a(static_cast<std::size_t>(all), std::vector<T>(static_cast<std::size_t>(all)));
  const auto at = [&](std::int32_t i, std::int32_t j) -> T& {
    return a[static_cast<std::size_t>(place[static_cast<std::size_t>(i)])]
            [static_cast<std::size_t>(place[static_cast<std::size_t>(j)])];
  };
  const Csr<T> H = random_hpd<T>(21, n, 5);
  for (std::int32_t i = 0; i < n; ++i)
    for (auto e = static_cast<std::size_t>(H.row_offsets().host()[static_cast<std::size_t>(i)]);
         e < static_cast<std::size_t>(H.row_offsets().host()[static_cast<std::size_t>(i) + 1]); ++e)
      if (const std::int32_t j = H.col_indices().host()[e]; j == i || !diagonal_h) at(i, j) = H.values().host()[e];
  const std::vector<T> values = random_vector<T>(22, std::int64_t{n} * constraints);
  for (std::int32_t k = 0; k < constraints; ++k) {
    for (std::int32_t j = 0; j < n; ++j) {
      const T value = values[static_cast<std::size_t>(k * n + j)];
      if (!diagonal_h && (j + 7 * k) % 9 > 1) continue;
      at(n + k, j) = value;
      if constexpr (is_complex<T>)
        at(j, n + k) = std::conj(value);
      else
        at(j, n + k) = value;
    }
    at(n + k, n + k) = T(static_cast<real_t<T>>(-c));
  }
  std::vector<std::int32_t> offsets{0}, cols;
  std::vector<T> entries;
  std::vector<bool> is_constraint(static_cast<std::size_t>(all));
  for (std::int32_t i = 0; i < all; ++i) {
    const std::vector<T>& row = a[static_cast<std::size_t>(i)];
    for (std::int32_t j = 0; j < all; ++j)
      if (row[static_cast<std::size_t>(j)] != T(0))
        cols.push_back(j), entries.push_back(row[static_cast<std::size_t>(j)]);
    offsets.push_back(static_cast<std::int32_t>(cols.size()));
  }
  for (std::int32_t k = n; k < all; ++k)
    is_constraint[static_cast<std::size_t>(place[static_cast<std::size_t>(k)])] = true;
  return {Csr<T>(all, Array<std::int32_t>(offsets), Array<std::int32_t>(cols), Array<T>(entries)), is_constraint};
}

SchurOptions schur(SchurForm form, BlockInverse block = BlockInverse::automatic,
                   BlockInverse complement = BlockInverse::automatic) {
  SchurOptions options;
  options.form = form, options.block = block, options.complement = complement;
  return options;
}
SchurOptions by_diagonals(SchurForm form) { return schur(form, BlockInverse::jacobi, BlockInverse::jacobi); }

/// The blocks as dense matrices of full size, zero elsewhere.
struct DenseBlocks {
  DenseZ h, f, g, c;

  DenseBlocks(const DenseZ& A, const std::vector<bool>& is_constraint)
      : h(block(A, is_constraint, false, false)),
        f(block(A, is_constraint, false, true)),
        g(block(A, is_constraint, true, false)),
        c(sum(block(A, is_constraint, true, true), -1, DenseZ{A.n})) {}
  static DenseZ block(const DenseZ& A, const std::vector<bool>& is_constraint, bool row, bool col) {
    return part(A, [&](std::int64_t i, std::int64_t j) {
      return is_constraint[static_cast<std::size_t>(i)] == row && is_constraint[static_cast<std::size_t>(j)] == col;
    });
  }
};
DenseZ diagonal_of(const DenseZ& A) {
  return part(A, [](std::int64_t i, std::int64_t j) { return i == j; });
}
/// Of a diagonal matrix, zeros left as they are.
DenseZ inverse_diagonal(DenseZ D) {
  for (std::int64_t i = 0; i < D.n; ++i)
    if (D(i, i) != 0.0) D(i, i) = 1.0 / D(i, i);
  return D;
}

/// With diagonals in the place of both blocks, M is [D 0; G -diag(S)]. An entry of S adds up a few products, all of one
/// sign, of three roundings each; 20 of them in all.
TEST_P(SchurPreconditioner, is_block_triangular) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const double c : {0.0, 0.5}) {
      const SaddlePoint<T> saddle = saddle_point<T>(60, 20, c);
      const AnyMatrix<T> A(saddle.A.clone());
      const auto r = random_vector<T>(3, 80);
      const auto z = applied(ctx, *made<T>(ctx, by_diagonals(SchurForm::diagonal), A), r);
      const DenseBlocks blocks(dense(reference(saddle.A)), saddle.is_constraint);
      const DenseZ d = diagonal_of(blocks.h),
                   s = diagonal_of(sum(blocks.g * inverse_diagonal(d) * blocks.f, 1, blocks.c));
      const DenseZ M = sum(s, -1, sum(d, 1, blocks.g));
      expect_solves(M, absolute(M), z, r, 20);
    }
  });
}

/// z2 = diag(S)^-1 E diag(S)^-1 (G z1 - r2), E = G D^-1 H D^-1 F. Each factor's entries add up fewer than 20 numbers,
/// five times in a row: 100 roundings of what the moduli make.
TEST_P(SchurPreconditioner, least_squares_solves_with_the_complement_twice) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const SaddlePoint<T> saddle = saddle_point<T>(60, 20, 0);
    const AnyMatrix<T> A(saddle.A.clone());
    const auto r = random_vector<T>(3, 80);
    const auto z = applied(ctx, *made<T>(ctx, by_diagonals(SchurForm::least_squares), A), r);
    const DenseBlocks blocks(dense(reference(saddle.A)), saddle.is_constraint);
    const DenseZ d = inverse_diagonal(diagonal_of(blocks.h)),
                 s = inverse_diagonal(diagonal_of(blocks.g * d * blocks.f));
    const auto chain = [&](const auto& of) {
      const DenseZ g = of(blocks.g), inner = of(s) * g * of(d) * of(blocks.h) * of(d) * of(blocks.f) * of(s);
      return std::pair(inner * g * of(d), inner);
    };
    const auto [to_first, to_second] = chain([](const DenseZ& m) { return m; });
    const auto [size_of_first, size_of_second] = chain([](const DenseZ& m) { return absolute(m); });
    for (std::int64_t i = 0; i < 80; ++i) {
      Z wanted = 0;
      double size = 0;
      for (std::int64_t j = 0; j < 80; ++j) {
        const Z entry(r[static_cast<std::size_t>(j)]);
        wanted += to_first(i, j) * entry - to_second(i, j) * entry;
        size += std::abs(size_of_first(i, j) + size_of_second(i, j)) * std::abs(entry);
        if (i == j && !saddle.is_constraint[static_cast<std::size_t>(i)])
          wanted += d(i, i) * entry, size += std::abs(d(i, i) * entry);
      }
      EXPECT_LE(std::abs(Z(z[static_cast<std::size_t>(i)]) - wanted), 100 * epsilon<T>() * size) << i;
    }
  });
}

/// With a diagonal H and a full S both inverses are exact, and (A M^-1 - I)^2 = 0 (Murphy, Golub and Wathen 2000).
TEST_P(SchurPreconditioner, exact_blocks_take_two_iterations) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const SaddlePoint<T> saddle = saddle_point<T>(50, 12, 0.5, true);
    GmresOptions gmres;
    gmres.stop.relative = std::sqrt(epsilon<T>());
    const auto b = random_vector<T>(4, 62);
    const auto solved =
        solve(ctx, saddle.A, b, gmres, schur(SchurForm::diagonal, BlockInverse::jacobi, BlockInverse::ilu0));
    EXPECT_EQ(solved.report.reason, Reason::converged);
    EXPECT_EQ(solved.report.iterations, 2);
  });
}

INSTANTIATE_TEST_SUITE_P(, SchurPreconditioner, backends_and_scalars, param_name);

TEST_P(SchurFacts, are_reported_and_take_no_new_values) {
  Context ctx = context();
  const AnyMatrix<double> A = generate<double>(Stokes2dOptions{8, 6});
  const auto M = made<double>(ctx, schur(SchurForm::least_squares, BlockInverse::ict), A);
  const PreconditionerReport report = M->report();
  EXPECT_EQ(fact<std::string>(report, "form"), "least_squares");
  EXPECT_EQ(fact<std::string>(report, "block"), "ict");
  EXPECT_EQ(fact<std::string>(report, "complement"), "amg") << "it is Hermitian";
  EXPECT_EQ(fact<std::int64_t>(report, "constraints"), 48);
  EXPECT_GT(report.bytes, 0U);
  EXPECT_GT(M->work().own.bytes, made<double>(ctx, schur(SchurForm::diagonal, BlockInverse::ict), A)->work().own.bytes);
  EXPECT_FALSE(M->has_adjoint());
  EXPECT_NE(complaint<InvalidArgument>([&] { M->update(ctx, A); }).find("make it anew"), std::string::npos);
}

/// Of both forms and each inverse, in few iterations where without a preconditioner there are many.
TEST_P(SchurFacts, flows_are_solved) {
  Context ctx = context();
  const Csr<double> A = std::get<Csr<double>>(generate<double>(Stokes2dOptions{16, 16}));
  const auto b = random_vector<double>(5, A.rows());
  GmresOptions gmres;
  gmres.restart = 300, gmres.max_iterations = 300;
  const auto without = solve(ctx, A, b, gmres).report;
  for (const SchurForm form : {SchurForm::diagonal, SchurForm::least_squares})
    for (std::size_t kind = 0; kind < block_inverse_names.size(); ++kind) {
      const auto inverse = static_cast<BlockInverse>(kind);
      if (inverse == BlockInverse::jacobi) continue;  // too weak for both
      const auto solved = solve(ctx, A, b, gmres, schur(form, inverse, inverse)).report;
      EXPECT_EQ(solved.reason, Reason::converged) << block_inverse_names[kind];
      EXPECT_LT(solved.iterations, without.iterations / 2) << block_inverse_names[kind];
    }
  SchurOptions single = schur(SchurForm::least_squares);
  single.precision = KeptPrecision::float32;
  EXPECT_EQ(solve(ctx, A, b, gmres, single).report.reason, Reason::converged);
}

TEST_P(SchurFacts, what_is_no_saddle_point_is_refused) {
  Context ctx = context();
  const auto refusal = [&](const AnyMatrix<double>& A, const SchurOptions& options) {
    return complaint<InvalidArgument>([&] { make_preconditioner<double>(ctx, options, A); });
  };
  const AnyMatrix<double> definite(poisson2d<double>(6)),
      negative(Csr<double>(1, Array<std::int32_t>{0, 1}, Array<std::int32_t>{0}, Array<double>{-1.0})),
      stabilized(saddle_point<double>(20, 5, 0.5).A);
  EXPECT_NE(refusal(definite, {})
                .find("every row has a positive diagonal entry, so the matrix is no saddle point: use "
                      "preconditioner ilu0"),
            std::string::npos);
  EXPECT_NE(refusal(negative, {}).find("no row has a positive diagonal entry"), std::string::npos);
  EXPECT_NE(refusal(stabilized, schur(SchurForm::least_squares)).find("use form diagonal"), std::string::npos);
  EXPECT_EQ(refusal(stabilized, schur(SchurForm::diagonal)), "");
  // A constraint that meets nothing: S has a row of zeros.
  const AnyMatrix<double> alone(
      Csr<double>(3, Array<std::int32_t>{0, 2, 3, 3}, Array<std::int32_t>{0, 1, 0}, Array<double>{2, 1, 1}));
  EXPECT_NE(refusal(alone, schur(SchurForm::diagonal, BlockInverse::jacobi, BlockInverse::jacobi))
                .find("preconditioner schur, the Schur complement: preconditioner jacobi: a(1, 1) is 0 or missing"),
            std::string::npos);
}

TEST_P(SchurFacts, a_matching_would_move_the_blocks) {
  Context ctx = context();
  const AnyMatrix<double> A = generate<double>(Stokes2dOptions{6, 6});
  const Array<double> b(random_vector<double>(6, rows(A)));
  Array<double> x(std::vector<double>(static_cast<std::size_t>(rows(A))));
  SolveOptions options{.preconditioner = SchurOptions{}};
  options.matching = GreatestProduct{};
  EXPECT_NE(complaint<InvalidArgument>([&] { krill::solve(ctx, A, b, x, options); }).find("use matching: {type: none}"),
            std::string::npos);
  options.matching = AutoMatching{};
  EXPECT_EQ(krill::solve(ctx, A, b, x, options).result.reason, Reason::converged);
}

INSTANTIATE_TEST_SUITE_P(, SchurFacts, backends, param_name);

}  // namespace
}  // namespace krill::test
