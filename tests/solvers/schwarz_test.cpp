// Solves in parts against dense solves: of tridiagonal matrices, whose incomplete factors are complete ones.
#include <numeric>
#include <set>
#include <type_traits>
#include <variant>

#include "solvers/distributed_operator.hpp"
#include "solvers/precond/matrix_parts.hpp"
#include "solvers/precond/shared_schwarz.hpp"
#include "solvers/system/solve.hpp"
#include "sparse/core/optional_libraries.hpp"
#include "sparse/io/generate.hpp"
#include "tests/solvers/applied.hpp"
#include "tests/solvers/team.hpp"

namespace krill::test {
namespace {

using SchwarzPreconditioner = OnBackendAndScalar;
using SchwarzFacts = OnBackend;

/// Tridiagonal, Hermitian positive definite or not even symmetric, of condition 100 or less.
template <class T>
Csr<T> tridiagonal(std::int32_t n, bool hermitian) {
  const std::vector<T> lower = random_vector<T>(71, n), upper = random_vector<T>(72, n);
  std::vector<std::int32_t> offsets{0}, cols;
  std::vector<T> values;
  const auto conj_of = [](const T& a) {
    if constexpr (is_complex<T>)
      return std::conj(a);
    else
      return a;
  };
  for (std::int32_t i = 0; i < n; ++i) {
    if (i > 0) cols.push_back(i - 1), values.push_back(lower[static_cast<std::size_t>(i)]);
    cols.push_back(i), values.push_back(T(3.1F));
    if (i + 1 < n) {
      const auto next = static_cast<std::size_t>(i) + 1;
      cols.push_back(i + 1), values.push_back(hermitian ? conj_of(lower[next]) : upper[next]);
    }
    offsets.push_back(static_cast<std::int32_t>(cols.size()));
  }
  return Csr<T>(n, Array(std::move(offsets)), Array(std::move(cols)), Array<T>(std::move(values)));
}

/// A^-1 b.
std::vector<Z> solved(const DenseZ& A, const std::vector<Z>& b) {
  const DenseZ inverted = inverse(A);
  std::vector<Z> x(b.size());
  for (std::int64_t i = 0; i < A.n; ++i)
    for (std::int64_t j = 0; j < A.n; ++j)
      x[static_cast<std::size_t>(i)] += inverted(i, j) * b[static_cast<std::size_t>(j)];
  return x;
}

/// The definition: each part by itself, its overlap dropped; then what the constants add.
template <class T>
std::vector<Z> expected(const SchwarzOptions& o, const Csr<T>& A, const std::vector<std::int32_t>& part_of,
                        const std::vector<T>& r) {
  const DenseZ a = dense(reference(A));
  const auto part = [&](std::int64_t i) { return part_of[static_cast<std::size_t>(i)]; };
  const auto from = [&](std::int64_t i) { return Z(r[static_cast<std::size_t>(i)]); };
  std::vector<Z> z(r.size());
  std::vector<std::int64_t> coarse_row(static_cast<std::size_t>(o.parts), -1);  // of parts that are not empty
  std::int64_t coarse_rows = 0;
  for (std::int32_t p = 0; p < o.parts; ++p) {
    std::set<std::int64_t> rows;
    for (std::int64_t i = 0; i < a.n; ++i) {
      if (part(i) != p) continue;
      rows.insert(i);
      for (std::int64_t j = 0; j < a.n && o.overlap > 0; ++j)
        if (a(i, j) != 0.0) rows.insert(j);
    }
    if (rows.empty()) continue;
    coarse_row[static_cast<std::size_t>(p)] = coarse_rows++;
    const std::vector<std::int64_t> list(rows.begin(), rows.end());
    DenseZ block{std::ssize(list)};
    std::vector<Z> b;
    for (std::int64_t k = 0; k < block.n; ++k) {
      const std::int64_t i = list[static_cast<std::size_t>(k)];
      b.push_back(from(i));
      for (std::int64_t l = 0; l < block.n; ++l) block(k, l) = a(i, list[static_cast<std::size_t>(l)]);
    }
    const std::vector<Z> found = solved(block, b);
    for (std::size_t k = 0; k < list.size(); ++k)
      if (part(list[k]) == p) z[static_cast<std::size_t>(list[k])] = found[k];
  }
  if (o.coarse == CoarseSpace::none) return z;
  const auto coarse_of = [&](std::int64_t i) { return coarse_row[static_cast<std::size_t>(part(i))]; };
  DenseZ coarse{coarse_rows};
  std::vector<Z> b(static_cast<std::size_t>(coarse_rows));
  for (std::int64_t i = 0; i < a.n; ++i) {
    b[static_cast<std::size_t>(coarse_of(i))] += from(i);
    for (std::int64_t j = 0; j < a.n; ++j) coarse(coarse_of(i), coarse_of(j)) += a(i, j);
  }
  const std::vector<Z> correction = solved(coarse, b);
  for (std::int64_t i = 0; i < a.n; ++i)
    z[static_cast<std::size_t>(i)] += correction[static_cast<std::size_t>(coarse_of(i))];
  return z;
}

TEST_P(SchwarzPreconditioner, solves_in_parts) {
  with_scalar([&]<class T>(T) {
    for (const bool hermitian : {true, false})
      for (const int parts : {1, 3, 8})
        for (const int overlap : {0, 1})
          for (const CoarseSpace coarse : {CoarseSpace::none, CoarseSpace::constants}) {
            const Csr<T> A = tridiagonal<T>(203, hermitian);
            const SchwarzOptions o{.parts = parts, .overlap = overlap, .coarse = coarse};
            Context ctx = context(), host = Context::host(1);
            const auto r = random_vector<T>(73, A.rows());
            const auto M = made<T>(ctx, o, AnyMatrix<T>(A.clone()));
            const std::vector<T> z = applied(ctx, *M, r);
            const std::vector<Z> wanted = expected(o, A, detail::part_of_rows(host, o, A), r);
            for (std::int32_t i = 0; i < A.rows(); ++i)
              EXPECT_NEAR(std::abs(Z(z[static_cast<std::size_t>(i)]) - wanted[static_cast<std::size_t>(i)]), 0,
                          300 * epsilon<T>())
                  << "row " << i << ", " << parts << " parts, overlap " << overlap << ", hermitian " << hermitian;
            EXPECT_EQ(fact<std::string>(M->report(), "inner"), hermitian ? "ic0" : "ilu0");
          }
  });
}

TEST_P(SchwarzPreconditioner, takes_more_parts_than_rows) {
  with_scalar([&]<class T>(T) {
    const Csr<T> A = tridiagonal<T>(5, true);
    for (const CoarseSpace coarse : {CoarseSpace::none, CoarseSpace::constants}) {
      const SchwarzOptions o{.parts = 9, .coarse = coarse};
      Context ctx = context(), host = Context::host(1);
      const auto r = random_vector<T>(74, A.rows());
      const std::vector<T> z = applied(ctx, *made<T>(ctx, o, AnyMatrix<T>(A.clone())), r);
      const std::vector<Z> wanted = expected(o, A, detail::part_of_rows(host, o, A), r);
      for (std::int32_t i = 0; i < A.rows(); ++i)
        EXPECT_NEAR(std::abs(Z(z[static_cast<std::size_t>(i)]) - wanted[static_cast<std::size_t>(i)]), 0,
                    100 * epsilon<T>());
    }
  });
}

/// The parts of all ranks, those of one after those of the other.
template <class T>
std::vector<std::int32_t> parts_of_ranks(const SchwarzOptions& o, const Csr<T>& A, const RowPartition& partition) {
  Context host = Context::host(1);
  std::vector<std::int32_t> part_of;
  for (int r = 0; r < partition.ranks(); ++r) {
    const std::int64_t begin = partition.begin(r), end = partition.end(r);
    const AnyMatrix<T> block = columns_of(host, slice_rows(A, begin, end), begin, end);
    for (const std::int32_t part : detail::part_of_rows(host, o, std::get<Csr<T>>(block)))
      part_of.push_back(r * o.parts + part);
  }
  return part_of;
}

/// Also with rows of other ranks beside its own, a rank without rows, and parts without rows.
TEST_P(SchwarzPreconditioner, solves_in_parts_of_several_ranks) {
  with_scalar([&]<class T>(T) {
    for (const bool hermitian : {true, false})
      for (const int ranks : {1, 2, 3, 5})
        for (const int parts : {1, 4})
          for (const int overlap : {0, 1})
            for (const CoarseSpace coarse : {CoarseSpace::none, CoarseSpace::constants}) {
              const Csr<T> A = tridiagonal<T>(ranks == 5 ? 11 : 61, hermitian);
              SchwarzOptions o{.parts = parts, .overlap = overlap, .coarse = coarse};
              const RowPartition partition = shares(A.rows(), ranks);
              const auto r = random_vector<T>(78, A.rows());
              const std::vector<T> z = applied_in_team<T>(
                  std::get<0>(GetParam()), A, partition, r,
                  [&](Context& ctx, const RowSlice<T>& rows, const AnyMatrix<T>& block, const RowShare& share) {
                    return make_shared_schwarz<T>(ctx, o, rows, block, share);
                  });
              const std::vector<std::int32_t> part_of = parts_of_ranks(o, A, partition);
              o.parts *= ranks;
              const std::vector<Z> wanted = expected(o, A, part_of, r);
              for (std::int32_t i = 0; i < A.rows(); ++i)
                EXPECT_NEAR(std::abs(Z(z[static_cast<std::size_t>(i)]) - wanted[static_cast<std::size_t>(i)]), 0,
                            300 * epsilon<T>())
                    << "row " << i << ", " << ranks << " ranks, " << parts << " parts, overlap " << overlap
                    << ", hermitian " << hermitian;
            }
  });
}

INSTANTIATE_TEST_SUITE_P(, SchwarzPreconditioner, backends_and_scalars, param_name);

Csr<double> cube(int nx) { return std::get<Csr<double>>(generate<double>(Poisson3dOptions{.nx = nx})); }

int iterations(Context& ctx, const Csr<double>& A, const PreconditionerOptions& M) {
  const auto b = random_vector<double>(75, A.rows());
  PcgOptions pcg;
  pcg.stop.relative = 1e-8;
  const Solved<double> solved = solve(ctx, A, b, SolverOptions(pcg), M);
  EXPECT_EQ(solved.report.reason, Reason::converged);
  EXPECT_LE(relative_residual(reference(A), to_reference(solved.x), to_reference(b)), 1.01e-8);
  return solved.report.iterations;
}

/// One part is the inverse inside by itself; many take more iterations, compact ones fewer than slabs, and with
/// constants fewer again.
TEST_P(SchwarzFacts, constants_win_where_there_are_many_compact_parts) {
  const Csr<double> A = cube(24);
  Context ctx = context();
  const auto with = [&](int parts, PartKind kind, CoarseSpace coarse) {
    return iterations(ctx, A, SchwarzOptions{.parts = parts, .partition = kind, .coarse = coarse});
  };
  const int one = iterations(ctx, A, Ic0Options{}), slabs = with(216, PartKind::rows, CoarseSpace::none);
  EXPECT_EQ(with(1, PartKind::rows, CoarseSpace::none), one);
  EXPECT_GT(slabs, one);
  if (!with_metis) return;
  const int compact = with(216, PartKind::graph, CoarseSpace::none);
  EXPECT_LT(compact, slabs);
  EXPECT_LT(with(216, PartKind::graph, CoarseSpace::constants), compact);
}

/// With o of as many ranks, each of which has one part; what rank 0 has to say, after all have agreed on it.
Solved<double> solve_shared_parts(Backend backend, const RowPartition& partition, const Csr<double>& A,
                                  const std::vector<double>& b, const SolverOptions& options, SchwarzOptions o) {
  o.parts = 1;
  std::vector<Solved<double>> all(static_cast<std::size_t>(partition.ranks()));
  run_team(partition.ranks(), [&](Team& team) {
    Context ctx = rank_context(backend);
    const std::int64_t begin = partition.begin(team.rank()), end = partition.end(team.rank());
    const RowSlice<double> rows = slice_rows(A, begin, end);
    const Distributed<double> own(ctx, team, partition, rows);
    const DistributedOperator<double> op(own);
    const AnyMatrix<double> block = columns_of(ctx, rows, begin, end);
    const auto M = make_shared_schwarz(ctx, o, rows, block, op.share());
    if (o.overlap > 0) {
      EXPECT_EQ(fact<std::int64_t>(M->report(), "rows_of_parts"), own.halo().size());
    }
    const auto solver = make_solver<double>(options, op, *M);
    Solved<double>& mine = all[static_cast<std::size_t>(team.rank())];
    Array<double> x(std::vector<double>(b.size(), 0.0));
    mine.report = solve_own_rows(ctx, *solver, op.share(), Array<double>(b), x);
    mine.x = contents(x);
  });
  for (const Solved<double>& mine : all) {
    EXPECT_EQ(mine.x, all[0].x);
    EXPECT_EQ(mine.report.iterations, all[0].report.iterations);
    EXPECT_EQ(mine.report.reason, Reason::converged);
    EXPECT_LE(relative_residual(reference(A), to_reference(mine.x), to_reference(b)), 1.01e-10);
  }
  return all[0];
}

/// All that may stand inside, with default options but for those that a matrix of a grid, nx x nx, wants.
std::vector<PreconditionerOptions> inside_of_parts(int nx) {
  std::vector<PreconditionerOptions> all;
  [&]<class... Options>(std::type_identity<std::variant<Options...>>) {
    (all.emplace_back(Options{}), ...);
  }(std::type_identity<PreconditionerOptions>());
  for (PreconditionerOptions& M : all) {
    if (auto* lines = std::get_if<LineOptions>(&M)) lines->nx = lines->ny = nx;
    if (auto* inner = std::get_if<InnerSolverOptions>(&M))
      inner->inner = InnerMethod{GmresOptions{.max_iterations = 4}, JacobiOptions{}};
  }
  std::erase_if(all, [](const PreconditionerOptions& M) {  // no part of itself, and no saddle point
    return std::holds_alternative<SchwarzOptions>(M) || std::holds_alternative<SchurOptions>(M);
  });
  return all;
}

/// With parts of one process, and with the same parts on two and three ranks.
TEST_P(SchwarzFacts, every_preconditioner_stands_inside) {
  constexpr int nx = 18;
  const Csr<double> A = poisson2d<double>(nx);
  const auto b = random_vector<double>(77, A.rows());
  Context ctx = context();
  for (const PreconditionerOptions& M : inside_of_parts(nx)) {
    FgmresOptions options;
    options.restart = 60, options.stop.relative = 1e-10;
    for (const int parts : {2, 3}) {
      SCOPED_TRACE(name(M) + ", " + std::to_string(parts) + " parts");
      const SchwarzOptions o{.parts = parts, .inner = PartInverse{M}};
      EXPECT_EQ(krill::conflict(options, o, "preconditioner").message, "");
      EXPECT_EQ(o.conflict().message, "");
      const Solved<double> alone = solve(ctx, A, b, options, o);
      EXPECT_EQ(alone.report.reason, Reason::converged);
      EXPECT_LE(relative_residual(reference(A), to_reference(alone.x), to_reference(b)), 1.01e-10);
      if (std::holds_alternative<LineOptions>(M)) continue;  // a rank's rows are no grid
      const auto partition = RowPartition::by_cost(A.row_offsets().host(), parts, 1);
      const Solved<double> shared = solve_shared_parts(GetParam(), partition, A, b, options, o);
      EXPECT_NEAR(shared.report.iterations, alone.report.iterations, 1);
    }
  }
}

/// More levels of fill take fewer iterations, for one process and for two ranks; so options arrive.
TEST_P(SchwarzFacts, what_stands_inside_has_its_own_options) {
  const Csr<double> A = cube(10);
  const auto b = random_vector<double>(81, A.rows());
  const auto partition = RowPartition::by_cost(A.row_offsets().host(), 2, 1);
  Context ctx = context();
  GmresOptions gmres;
  gmres.stop.relative = 1e-10;
  const auto with_level = [&](int level) {
    IlukOptions filled;
    filled.level = level;
    const SchwarzOptions o{.parts = 2, .inner = PartInverse{filled}};
    return std::pair(solve(ctx, A, b, SolverOptions(gmres), o).report.iterations,
                     solve_shared_parts(GetParam(), partition, A, b, gmres, o).report.iterations);
  };
  const auto none = with_level(0), two = with_level(2);
  EXPECT_LT(two.first, none.first);
  EXPECT_LT(two.second, none.second);
  IlukOptions in_single;
  in_single.precision = KeptPrecision::float32;
  const auto of_doubles =
                 made<double>(ctx, SchwarzOptions{.inner = PartInverse{IlukOptions{}}}, AnyMatrix<double>(A.clone())),
             of_floats =
                 made<double>(ctx, SchwarzOptions{.inner = PartInverse{in_single}}, AnyMatrix<double>(A.clone()));
  EXPECT_LT(of_floats->report().bytes, of_doubles->report().bytes);
}

/// With the same parts, whoever has them: rows beside a rank's lie with several others here.
TEST_P(SchwarzFacts, several_ranks_take_the_iterations_of_one_process) {
  const Csr<double> A = random_dominant<double>(79, 600, 4);
  const auto b = random_vector<double>(80, A.rows());
  GmresOptions gmres;
  gmres.stop.relative = 1e-10;
  for (const int ranks : {2, 4}) {
    const auto partition = RowPartition::by_cost(A.row_offsets().host(), ranks, 1);
    const SchwarzOptions o{.parts = ranks, .inner = PartInverse{Ilu0Options{}}, .overlap = 1};
    Context host = Context::host(1);
    const Solved<double> alone = solve(host, A, b, SolverOptions(gmres), o),
                         shared = solve_shared_parts(GetParam(), partition, A, b, gmres, o);
    EXPECT_NEAR(shared.report.iterations, alone.report.iterations, 1);
  }
}

TEST_P(SchwarzFacts, refuses_with_a_sentence) {
  const AnyMatrix<double> A = poisson2d<double>(60);
  Context ctx = context();
  EXPECT_EQ(complaint<InvalidArgument>(
                [&] { made<double>(ctx, SchwarzOptions{.parts = 3000, .coarse = CoarseSpace::constants}, A); }),
            "preconditioner schwarz: coarse constants is for 2048 parts at most, there are 3000; take fewer parts, or "
            "coarse none");
  const auto M = made<double>(ctx, SchwarzOptions{.parts = 2}, A);
  EXPECT_EQ(complaint<InvalidArgument>([&] { M->update(ctx, A); }),
            "preconditioner schwarz: it takes no new values; make it anew");
  EXPECT_FALSE(SchwarzOptions{.overlap = 1}.suits_pcg().holds);
  EXPECT_TRUE(SchwarzOptions{.coarse = CoarseSpace::constants}.suits_pcg().holds);
  const auto inside = [](PreconditionerOptions inner, int overlap = 0) {
    return SchwarzOptions{.inner = PartInverse{std::move(inner)}, .overlap = overlap};
  };
  EXPECT_FALSE(inside(IlutOptions{}).suits_pcg().holds);
  EXPECT_TRUE(inside(SsorOptions{}).suits_pcg().holds);
  const auto refusal = [](const SolverOptions& solver, const PreconditionerOptions& M) {
    const OptionConflict own = krill::conflict(M);
    return own.message.empty() ? krill::conflict(solver, M, "preconditioner").message : own.message;
  };
  EXPECT_EQ(refusal(PcgOptions{}, inside(GaussSeidelOptions{.direction = SweepDirection::forward})),
            "preconditioner.inner.direction is forward, expected symmetric for solver pcg, which needs a Hermitian "
            "preconditioner");
  EXPECT_EQ(refusal(GmresOptions{}, inside(SchwarzOptions{})),
            "preconditioner.inner is schwarz, expected one that takes a part as a whole: schwarz does not stand inside "
            "of itself");
  const PreconditionerOptions solver_of_parts =
      InnerSolverOptions{.inner = InnerMethod{GmresOptions{}, SchwarzOptions{}}};
  EXPECT_EQ(refusal(FgmresOptions{}, inside(solver_of_parts)),
            "preconditioner.inner is schwarz, expected one that takes a part as a whole: schwarz does not stand inside "
            "of itself");
  EXPECT_EQ(refusal(GmresOptions{}, inside(InnerSolverOptions{})),
            "with an inner solver preconditioner.inner solver is another one in each iteration, and solver gmres needs "
            "one that stays; expected solver fcg or fgmres");
  EXPECT_EQ(refusal(FgmresOptions{}, inside(InnerSolverOptions{})), "");
  EXPECT_EQ(
      refusal(GmresOptions{}, inside(LineOptions{.nx = 60, .ny = 60}, 1)),
      "preconditioner.overlap is 1, expected 0 with preconditioner.inner line, which needs the rows of the matrix "
      "as they are");
  const auto varying = made<double>(ctx, inside(InnerSolverOptions{}), A);
  EXPECT_TRUE(varying->varies());
  EXPECT_EQ(varying->nested_solvers(), 1);
}

INSTANTIATE_TEST_SUITE_P(, SchwarzFacts, backends, param_name);

}  // namespace
}  // namespace krill::test
