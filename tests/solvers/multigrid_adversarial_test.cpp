// Multigrid where it has little to work with: what no hierarchy is made for, and what should be refused.
#include <numeric>

#include "solvers/multigrid/hierarchy.hpp"
#include "sparse/coarsen/near_null_space.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/io/generate.hpp"
#include "tests/coarsen/aggregates.hpp"
#include "tests/solvers/applied.hpp"
#include "tests/solvers/levels.hpp"

namespace krill::test {
namespace {

using Entries = std::map<std::pair<std::int32_t, std::int32_t>, double>;

template <class T>
Csr<T> csr(std::int32_t n, const Entries& entries) {
  std::vector<std::int32_t> offsets(static_cast<std::size_t>(n) + 1), columns;
  std::vector<T> values;
  for (const auto& [place, value] : entries) {
    ++offsets[static_cast<std::size_t>(place.first) + 1];
    columns.push_back(place.second), values.push_back(T(static_cast<real_t<T>>(value)));
  }
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  return {n, Array(std::move(offsets)), Array(std::move(columns)), Array(std::move(values))};
}

/// Edges of weight 1, and a diagonal that is the sum of a row's and `more`.
Entries laplacian(std::int32_t n, const std::vector<std::pair<std::int32_t, std::int32_t>>& edges, double more,
                  double sign = -1) {
  Entries entries;
  for (std::int32_t i = 0; i < n; ++i) entries[{i, i}] = more;
  for (const auto& [i, j] : edges) {
    entries[{i, j}] = entries[{j, i}] = sign;
    entries[{i, i}] += 1, entries[{j, j}] += 1;
  }
  return entries;
}
std::vector<std::pair<std::int32_t, std::int32_t>> path(std::int32_t n) {
  std::vector<std::pair<std::int32_t, std::int32_t>> edges;
  for (std::int32_t i = 0; i + 1 < n; ++i) edges.emplace_back(i, i + 1);
  return edges;
}
std::vector<std::pair<std::int32_t, std::int32_t>> star(std::int32_t n) {
  std::vector<std::pair<std::int32_t, std::int32_t>> edges;
  for (std::int32_t i = 1; i < n; ++i) edges.emplace_back(0, i);
  return edges;
}
/// Paths of 1, 2, 3, 4, 5, 1, 2, ... rows.
std::vector<std::pair<std::int32_t, std::int32_t>> components(std::int32_t n) {
  std::vector<std::pair<std::int32_t, std::int32_t>> edges;
  std::int32_t size = 1, row = 0;
  for (; row < n; size = size % 5 + 1)
    for (const std::int32_t end = std::min(n, row + size); row < end; ++row)
      if (row + 1 < end) edges.emplace_back(row, row + 1);
  return edges;
}
/// A grid whose row in the middle is full.
Entries with_full_row() {
  const Reference grid = reference(poisson2d<double>(9));
  Entries entries;
  for (std::size_t k = 0; k < grid.value.size(); ++k) entries[{grid.row[k], grid.col[k]}] = grid.value[k].real();
  for (std::int32_t i = 0; i < 81; ++i)
    if (i != 40) {
      entries[{40, i}] -= 1, entries[{i, 40}] -= 1;
      entries[{i, i}] += 1, entries[{40, 40}] += 1;
    }
  return entries;
}

/// Systems that are positive definite, but no grids.
struct Definite {
  const char* name;
  std::int32_t rows;
  Entries entries;
  std::size_t levels = 0;      ///< 0: whatever there are
  const char* says = nullptr;  ///< a note
};

std::vector<Definite> definite_systems() {
  Entries with_zeros = laplacian(60, path(60), 0.1);
  for (std::int32_t i = 0; i + 7 < 60; ++i) with_zeros[{i, i + 7}] = with_zeros[{i + 7, i}] = 0;
  return {{"1 x 1", 1, laplacian(1, {}, 3), 1},
          {"coarse_rows rows", 10, laplacian(10, path(10), 0.1), 1},
          {"diagonal matrix", 50, laplacian(50, {}, 3), 1, "no rows are bound strongly"},
          {"full row", 81, with_full_row()},
          {"star", 60, laplacian(60, star(60), 0.5)},
          {"components of 1 to 5", 64, laplacian(64, components(64), 0.1)},
          {"positive entries beside the diagonal", 60, laplacian(60, path(60), 0.1, 1)},
          {"stored zeros", 60, std::move(with_zeros)}};
}

AmgOptions small_amg(MultigridMethod method) {
  AmgOptions o;
  o.method = method, o.coarse_rows = 10;
  return o;
}
constexpr MultigridMethod tried_methods[]{MultigridMethod::smoothed_aggregation, MultigridMethod::aggregation};

using AdversarialMultigrid = OnBackendAndScalar;

TEST_P(AdversarialMultigrid, solves_what_is_definite) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const double tolerance = sizeof(real_t<T>) == 4 ? 1e-5 : 1e-8;
    for (const Definite& system : definite_systems())
      for (const MultigridMethod method : tried_methods) {
        const Csr<T> A = csr<T>(system.rows, system.entries);
        const auto b = random_vector<T>(1, system.rows);
        const auto solved =
            solve<T>(ctx, A, b, PcgOptions{.max_iterations = 100, .stop = {.relative = tolerance}}, small_amg(method));
        EXPECT_EQ(solved.report.reason, Reason::converged) << system.name;
        EXPECT_LE(relative_residual(reference(A), to_reference(solved.x), to_reference(b)), 1.1 * tolerance)
            << system.name;
        const AnyMatrix<T> any(A.clone());
        const PreconditionerReport report = made<T>(ctx, small_amg(method), any)->report();
        if (system.levels) {
          EXPECT_EQ(report.levels.size(), system.levels) << system.name;
        }
        if (system.says) {
          ASSERT_EQ(report.notes.size(), 1u) << system.name;
          EXPECT_NE(report.notes[0].find(system.says), std::string::npos) << report.notes[0];
        }
      }
  });
}

/// Rows that say nothing about themselves: pcg refuses them by their number, a cycle leaves finite numbers.
TEST_P(AdversarialMultigrid, names_rows_without_a_positive_diagonal_to_pcg) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    struct {
      const char* name;
      double diagonal;
      bool stored, neighbors;
    } const rows_of_nothing[]{{"zero row", 0, true, false}, {"missing", 0, false, true}, {"negative", -2, true, true}};
    for (const auto& bad : rows_of_nothing)
      for (const MultigridMethod method : tried_methods) {
        Entries entries = laplacian(60, path(60), 0.1);
        entries.erase({17, 17});
        if (bad.stored) entries[{17, 17}] = bad.diagonal;
        if (!bad.neighbors)
          entries.erase({17, 16}), entries.erase({16, 17}), entries.erase({17, 18}), entries.erase({18, 17});
        const AnyMatrix<T> A(csr<T>(60, entries));
        const auto M = made<T>(ctx, small_amg(method), A);
        EXPECT_NE(complaint<InvalidArgument>([&] { M->require_definite(ctx); }).find("in row 17 (rows count from 0)"),
                  std::string::npos)
            << bad.name;
        Array<T> z(60);
        for (const T& value : contents(M->apply(ctx, Array<T>(random_vector<T>(2, 60)), z)))
          EXPECT_TRUE(std::isfinite(std::abs(value))) << bad.name;
        if (!bad.neighbors) {
          EXPECT_EQ(z.host()[17], T(0));
        }
      }
  });
}

/// Without a positive diagonal other solvers go on.
TEST_P(AdversarialMultigrid, serves_gmres_where_diagonals_are_missing_or_negative) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const double tolerance = sizeof(real_t<T>) == 4 ? 1e-4 : 1e-8;
    for (const double diagonal : {0.0, -2.0})
      for (const MultigridMethod method : tried_methods) {
        Entries entries = laplacian(60, path(60), 0.1);
        entries.erase({17, 17});
        if (diagonal != 0) entries[{17, 17}] = diagonal;
        const Csr<T> A = csr<T>(60, entries);
        const auto b = random_vector<T>(1, 60);
        const auto solved = solve<T>(ctx, A, b, GmresOptions{.max_iterations = 300, .stop = {.relative = tolerance}},
                                     small_amg(method));
        EXPECT_EQ(solved.report.reason, Reason::converged) << diagonal;
        EXPECT_LE(relative_residual(reference(A), to_reference(solved.x), to_reference(b)), 1.1 * tolerance);
      }
  });
}

/// An entry that is stored and 0 binds nothing, and adds nothing: the cycle is that of the matrix without it.
TEST_P(AdversarialMultigrid, sees_nothing_in_stored_zeros) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Entries without = laplacian(60, path(60), 0.1);
    Entries with = without;
    for (std::int32_t i = 0; i + 7 < 60; ++i) with[{i, i + 7}] = with[{i + 7, i}] = 0;
    const Array<T> r(random_vector<T>(2, 60));
    for (const MultigridMethod method : tried_methods) {
      const AnyMatrix<T> A(csr<T>(60, without)), B(csr<T>(60, with));
      const auto M = made<T>(ctx, small_amg(method), A), N = made<T>(ctx, small_amg(method), B);
      const auto of_M = M->report().levels, of_N = N->report().levels;
      ASSERT_EQ(of_M.size(), of_N.size());
      for (std::size_t l = 0; l < of_M.size(); ++l) EXPECT_EQ(of_M[l].rows, of_N[l].rows) << l;
      Array<T> x(60), y(60);
      const auto expected = contents(M->apply(ctx, r, x)), found = contents(N->apply(ctx, r, y));
      double most = 0;
      for (const T& value : expected) most = std::max<double>(most, std::abs(value));
      for (std::size_t i = 0; i < expected.size(); ++i)  // vector lanes may add rows of other lengths in another order
        EXPECT_NEAR(std::abs(Z(found[i]) - Z(expected[i])), 0, 1000 * epsilon<T>() * most) << i;
    }
  });
}

/// Rows that say what their mirrors do not, with or without somebody who says that the matrix is Hermitian.
TEST_P(AdversarialMultigrid, bears_patterns_that_are_not_symmetric) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    Entries entries = laplacian(90, path(90), 0.1);
    for (std::int32_t i = 0; i + 13 < 90; i += 3) entries[{i, i + 13}] = -1, entries[{i, i}] += 1;
    const Csr<T> A = csr<T>(90, entries);
    const auto b = random_vector<T>(1, 90);
    const double tolerance = sizeof(real_t<T>) == 4 ? 1e-4 : 1e-8;
    for (const MultigridMethod method : tried_methods) {
      const AnyMatrix<T> any(A.clone());
      for (const bool hermitian : {false, true}) {
        const Hierarchy<T> hierarchy(ctx, small_amg(method), {.A = any, .hermitian = hermitian});
        EXPECT_GE(hierarchy.levels().size(), 2u);
        Array<T> x(90);
        hierarchy.cycle().apply(ctx, Array<T>(b), x, nullptr);
        for (const T& value : contents(x)) EXPECT_TRUE(std::isfinite(std::abs(value)));
      }
      const auto right = solve<T>(ctx, A, b, BicgstabOptions{.max_iterations = 200, .stop = {.relative = tolerance}},
                                  small_amg(method));
      EXPECT_EQ(right.report.reason, Reason::converged);
      // pcg is told that such a matrix is definite: it may fail, but does not say what is not so.
      const auto told =
          solve<T>(ctx, A, b, PcgOptions{.max_iterations = 100, .stop = {.relative = tolerance}}, small_amg(method));
      EXPECT_EQ(told.report.reason == Reason::converged,
                relative_residual(reference(A), to_reference(told.x), to_reference(b)) <= 1.1 * tolerance);
    }
  });
}

TEST_P(AdversarialMultigrid, refuses_entries_that_are_not_finite) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const std::int32_t column : {17, 18})
      for (const double value : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
        for (const MultigridMethod method : tried_methods) {
          Entries entries = laplacian(60, path(60), 0.1);
          entries[{17, column}] = value;
          const AnyMatrix<T> A(csr<T>(60, entries));
          const std::string said = complaint<InvalidArgument>([&] { made<T>(ctx, small_amg(method), A); });
          EXPECT_NE(said.find("row 17"), std::string::npos) << said;
        }
  });
}

/// A power of two changes no bit of a cycle, so iterations stay as well; beyond float's range, too.
TEST_P(AdversarialMultigrid, does_not_depend_on_the_scale) {
  with_scalar([&]<class T>(T) {
    if constexpr (sizeof(real_t<T>) == 8) {
      Context ctx = context();
      const Csr<T> A = poisson2d<T>(15);
      const auto r = random_vector<T>(3, A.rows());
      for (const MultigridMethod method : tried_methods) {
        const auto cycle = [&](int exponent) {
          Csr<T> scaled = A.clone();
          for (T& value : scaled.values().edit()) value *= std::ldexp(1.0, exponent);
          const AnyMatrix<T> any(std::move(scaled));
          Array<T> z(A.rows());
          auto values = contents(made<T>(ctx, small_amg(method), any)->apply(ctx, Array<T>(r), z));
          for (T& value : values) value *= std::ldexp(1.0, exponent);
          return values;
        };
        const std::vector<T> expected = cycle(0);
        for (const int exponent : {100, -100, 996, -996}) EXPECT_EQ(cycle(exponent), expected) << exponent;  // 1e+-300
        AnyMatrix<T> follows(A.clone());
        AmgOptions options = small_amg(method);
        options.reuse = HierarchyReuse::interpolation;
        const auto M = made<T>(ctx, options, follows);
        for (T& value : std::get<Csr<T>>(follows).values().edit()) value *= std::ldexp(1.0, 996);
        M->update(ctx, follows);
        Array<T> z(A.rows());
        auto values = contents(M->apply(ctx, Array<T>(r), z));
        for (T& value : values) value *= std::ldexp(1.0, 996);
        EXPECT_EQ(values, expected);
      }
      for (const double scale : {1e300, 1e-300}) {
        Csr<T> scaled = A.clone();
        for (T& value : scaled.values().edit()) value *= scale;
        const auto solved = solve<T>(ctx, scaled, r, PcgOptions{}, small_amg(MultigridMethod::smoothed_aggregation));
        EXPECT_EQ(solved.report.reason, Reason::converged) << scale;
        EXPECT_LE(solved.report.iterations, 20) << scale;
      }
    }
  });
}

/// Candidates that depend on each other, or are nothing, make dead columns: the cycle is none the worse.
TEST_P(AdversarialMultigrid, bears_candidates_that_depend_on_each_other) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const AnyMatrix<T> A(poisson2d<T>(13));
    const std::int64_t n = rows(A);
    const MatrixOperator<T> products(A);
    for (const T second : {T(1), T(0)}) {  // again the constant, and zeros
      std::vector<T> columns(static_cast<std::size_t>(n), T(1));
      columns.resize(static_cast<std::size_t>(2 * n), second);
      const Dense<T> candidates(n, 2, Array<T>(std::move(columns)));
      MultigridOptions options = small_amg(MultigridMethod::smoothed_aggregation);
      options.coarse_rows = 80;
      const Hierarchy<T> hierarchy(ctx, options, {.A = A, .hermitian = true, .candidates = &candidates});
      const Array<T> b(random_vector<T>(4, n));
      Array<T> x(n), Ax(n);
      hierarchy.cycle().apply(ctx, b, x, nullptr);
      products.apply(ctx, x, Ax);
      const Hierarchy<T> one(ctx, options, {.A = A, .hermitian = true});
      Array<T> y(n);
      one.cycle().apply(ctx, b, y, nullptr);
      ASSERT_EQ(hierarchy.levels().size(), one.levels().size());
      double most = 0;
      for (const T& value : y.host()) most = std::max<double>(most, std::abs(value));
      for (std::size_t i = 0; i < y.host().size(); ++i)  // some 20 operations a level, of numbers up to `most`
        EXPECT_NEAR(std::abs(Z(x.host()[i]) - Z(y.host()[i])), 0, 1000 * epsilon<T>() * most);
    }
  });
}

TEST_P(AdversarialMultigrid, refuses_coordinates_that_do_not_fit) {
  Context ctx = context();
  const Elasticity3dOptions bar{3, 1, 1, 1, 0.3};
  const AnyMatrix<double> A = generate<double>(bar);
  AmgOptions options;
  options.near_null_space.type = CandidateKind::rigid_body;
  const auto said = [&](std::int64_t nodes, double spread) {
    std::vector<double> places(static_cast<std::size_t>(3 * nodes));
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = spread * static_cast<double>(i * i % 7);
    const Dense<double> coordinates(nodes, 3, Array<double>(std::move(places)));
    return complaint<Error>(
        [&] { make_preconditioner<double>(ctx, PreconditionerOptions(options), A, nullptr, &coordinates); });
  };
  const std::int64_t nodes = rows(A) / 3;
  EXPECT_EQ(said(nodes, 1), "");
  EXPECT_NE(said(nodes - 1, 1).find("rows of the near null space"), std::string::npos) << said(nodes - 1, 1);
  EXPECT_NE(said(nodes, 0).find("have the same coordinates"), std::string::npos) << said(nodes, 0);
  EXPECT_NE(complaint<InvalidArgument>([&] {
              make_preconditioner<double>(ctx, PreconditionerOptions(options), A);
            }).find("needs the coordinates"),
            std::string::npos);
}

/// Levels stop where they would grow too much, which the report says; what there is still solves.
TEST_P(AdversarialMultigrid, stops_at_the_growth_limit) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const MultigridMethod method : {MultigridMethod::smoothed_aggregation, MultigridMethod::aggregation}) {
      AmgOptions options = small_amg(method);
      options.growth_limit = 1.01;
      const AnyMatrix<T> A(poisson2d<T>(13));
      const PreconditionerReport report = made<T>(ctx, options, A)->report();
      EXPECT_EQ(report.levels.size(), 1u);
      ASSERT_EQ(report.notes.size(), 1u);
      EXPECT_NE(report.notes[0].find("growth_limit = 1.01"), std::string::npos) << report.notes[0];
      const auto solved =
          solve<T>(ctx, poisson2d<T>(13), random_vector<T>(1, 169), PcgOptions{.stop = {.relative = 1e-4}}, options);
      EXPECT_EQ(solved.report.reason, Reason::converged);
    }
  });
}

/// Where offsets count up to less than the growth limit leaves, they decide, before the next level has its memory.
TEST(LevelRoom, is_what_offsets_count_or_growth_leaves) {
  constexpr std::int64_t narrow = std::numeric_limits<std::int32_t>::max(),
                         wide = std::numeric_limits<std::int64_t>::max();
  const auto room = [](double left, std::int64_t max_offset) {
    const detail::LevelRoom found = detail::level_room(left, max_offset);
    return std::pair(found.max_entries, found.by_offsets);
  };
  EXPECT_EQ(room(4 * 117e6, narrow), std::pair(std::int64_t{468'000'000}, false));
  EXPECT_EQ(room(2147483646.5, narrow), std::pair(narrow - 1, false));
  EXPECT_EQ(room(2147483647.0, narrow), std::pair(narrow, true));
  EXPECT_EQ(room(4 * 1e9, narrow), std::pair(narrow, true));
  EXPECT_EQ(room(4 * 1e9, wide), std::pair(std::int64_t{4'000'000'000}, false));
  EXPECT_EQ(room(std::numeric_limits<double>::infinity(), wide), std::pair(wide, true));
  EXPECT_EQ(room(-1, narrow), std::pair(std::int64_t{0}, false));
}

/// A K-cycle is no fixed matrix and no Hermitian one, and that of a matrix that is not symmetric is neither: pcg may
/// stagnate with such an M, but what it calls converged is.
TEST_P(AdversarialMultigrid, never_converges_falsely_with_a_cycle_that_is_not_hermitian) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    AmgOptions krylov = small_amg(MultigridMethod::aggregation);
    krylov.cycle = MultigridCycle::k;
    const Csr<T> grid = poisson2d<T>(15);
    const double tolerance = sizeof(real_t<T>) == 4 ? 1e-4 : 1e-8;
    const PcgOptions pcg{.max_iterations = 60, .stop = {.relative = tolerance}};
    const auto b = random_vector<T>(1, grid.rows());
    const AnyMatrix<T> A(grid.clone());
    const MatrixOperator<T> op(A);
    Array<T> x(std::vector<T>(b.size(), T(0)));
    const auto varies = made<T>(ctx, krylov, A);
    EXPECT_THROW(make_solver<T>(pcg, op, *varies)->solve(ctx, Array<T>(b), x), InvalidArgument);
    Csr<T> skewed = grid.clone();
    const auto offsets = skewed.row_offsets().host(), columns = skewed.col_indices().host();
    const std::span<T> values = skewed.values().edit();
    for (std::int32_t i = 0; i < skewed.rows(); ++i)
      for (auto k = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i)]);
           k < static_cast<std::size_t>(offsets[static_cast<std::size_t>(i) + 1]); ++k)
        if (columns[k] > i) values[k] *= T(static_cast<real_t<T>>(0.3));
    const AnyMatrix<T> other(std::move(skewed));
    const auto M = made<T>(ctx, small_amg(MultigridMethod::smoothed_aggregation), other);
    const SolveReport report = make_solver<T>(pcg, op, *M)->solve(ctx, Array<T>(b), x);
    const double residual = relative_residual(reference(grid), to_reference(x), to_reference(b));
    EXPECT_EQ(report.reason == Reason::converged, residual <= 1.1 * tolerance) << residual;
  });
}

TEST_P(AdversarialMultigrid, has_the_cycle_of_the_judge) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Elasticity3dOptions bar{5, 2, 2, 1, 0.3};
    const Dense<double> coordinates = *node_coordinates(bar);
    for (const bool elastic : {false, true}) {
      const AnyMatrix<T> A = elastic ? generate<T>(bar) : AnyMatrix<T>(poisson2d<T>(17));
      const std::int64_t n = rows(A);
      const Dense<T> candidates = elastic ? rigid_body_modes<T>(ctx, coordinates) : constant_candidates<T>(ctx, n, 1);
      MultigridOptions options;
      options.coarse_rows = elastic ? 20 : 10;
      const std::int32_t block_dim = elastic ? 3 : 1;
      const Hierarchy<T> hierarchy(ctx, options,
                                   {.A = A, .hermitian = true, .block_dim = block_dim, .candidates = &candidates});
      ASSERT_GE(hierarchy.levels().size(), 2u);
      std::vector<JudgeSmoother> smoothers;
      for (std::size_t l = 0; l + 1 < hierarchy.levels().size(); ++l) {
        const double lambda = hierarchy.levels()[l]->report.max_eigenvalue;
        smoothers.push_back({lambda, {}});
        for (const auto& term : fourth_kind_chebyshev(options.smoother.degree, lambda).steps)
          smoothers.back().weights.push_back(term.weight);
      }
      const MultigridJudge judge = judge_of(ctx, hierarchy, std::get<Csr<T>>(A), block_dim, candidates);
      const auto b = random_vector<T>(6, n);
      Array<T> x(n);
      hierarchy.cycle().apply(ctx, Array<T>(b), x, nullptr);
      const auto expected = judge.cycle(smoothers, to_reference(b));
      double most = 0;
      for (const Z& value : expected) most = std::max(most, std::abs(value));
      // The inverse of the last level multiplies roundings by its condition, which is that of A at most.
      const double condition = elastic ? 1e4 : 200;
      for (std::size_t i = 0; i < b.size(); ++i)
        ASSERT_NEAR(std::abs(Z(x.host()[i]) - expected[i]), 0, 20 * condition * epsilon<T>() * most) << i << elastic;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, AdversarialMultigrid, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
