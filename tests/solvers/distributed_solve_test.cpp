#include <fmt/format.h>

#include <array>
#include <limits>

#include "solvers/distributed_operator.hpp"
#include "solvers/system/solve.hpp"
#include "sparse/core/optional_libraries.hpp"
#include "sparse/io/generate.hpp"
#include "sparse/order/ordering.hpp"
#include "tests/solvers/systems.hpp"
#include "tests/solvers/team.hpp"
#include "tests/support/altering_team.hpp"
#include "tests/support/assertions.hpp"

namespace krill::test {
namespace {

/// One rank's part of a solve with vectors of own rows.
template <class T>
Solved<T> solve_as_rank(Team& team, Backend backend, const RowPartition& rows, const RowSlice<T>& slice,
                        const std::vector<T>& b, const SolverOptions& options,
                        const PreconditionerOptions& preconditioner, const Watch& watch) {
  Context ctx = rank_context(backend);
  const int me = team.rank();
  const Distributed<T> own(ctx, team, rows, slice);
  const AnyMatrix<T> block = columns_of(ctx, slice, rows.begin(me), rows.end(me)),
                     placed = in_places(ctx, slice, own.halo());
  const DistributedOperator<T> op(own, &placed);
  const auto M = make_preconditioner<T>(ctx, preconditioner, block, &op);
  const auto solver = make_solver<T>(options, op, *M);
  Array<T> x(std::vector<T>(b.size(), T(0)));
  const SolveReport report = solve_own_rows(ctx, *solver, op.share(), Array<T>(b), x, watch);
  return {report, contents(x)};
}

/// Solves with vectors of own rows, rows_of(rank, its own rows) as a RowSlice; what rank 0 has to say, after all have
/// agreed on it.
template <class T, class RowsOf>
Solved<T> solve_own(Backend backend, const RowPartition& rows, const RowsOf& rows_of, const std::vector<T>& b,
                    const SolverOptions& options, const PreconditionerOptions& preconditioner,
                    const Watch& watch_of_last = {}) {
  const int ranks = rows.ranks();
  std::vector<Solved<T>> all(static_cast<std::size_t>(ranks));
  run_team(ranks, [&](Team& team) {
    const int me = team.rank();
    all[static_cast<std::size_t>(me)] = solve_as_rank(team, backend, rows, rows_of(me), b, options, preconditioner,
                                                      me + 1 == ranks ? watch_of_last : Watch());
  });
  for (const Solved<T>& mine : all) {
    EXPECT_EQ(mine.x, all[0].x);
    EXPECT_EQ(mine.report.reason, all[0].report.reason);
    EXPECT_EQ(mine.report.iterations, all[0].report.iterations);
  }
  return all[0];
}

/// The same with rows of A, which all have.
template <class T>
Solved<T> solve_shared(Backend backend, int ranks, const Csr<T>& A, const std::vector<T>& b,
                       const SolverOptions& options, const PreconditionerOptions& preconditioner,
                       const Watch& watch_of_last = {}) {
  const RowPartition rows = shares(A.rows(), ranks);
  const auto rows_of = [&](int rank) { return slice_rows(A, rows.begin(rank), rows.end(rank)); };
  return solve_own(backend, rows, rows_of, b, options, preconditioner, watch_of_last);
}

struct Sample {
  const char* name;
  SolverOptions solver;
  PreconditionerOptions preconditioner;
  bool definite;
};

template <class Options>
Options to(double relative, Options options = {}) {
  options.stop.relative = relative;
  return options;
}

std::vector<Sample> samples() {
  GmresOptions short_cycles, cgs2, mgs, narrow;
  short_cycles.restart = 7;
  cgs2.orthogonalization = Orthogonalization::cgs2;
  mgs.orthogonalization = Orthogonalization::mgs;
  narrow.basis_precision = BasisPrecision::float32;
  PcgOptions single;
  single.method = PcgMethod::single_reduction;
  RichardsonOptions richardson;
  richardson.max_iterations = 5000;
  const double goal = 1e-8;
  return {{"pcg", to(goal, PcgOptions{}), NoPreconditioner{}, true},
          {"pcg_jacobi", to(goal, PcgOptions{}), JacobiOptions{}, true},
          {"pcg_chebyshev", to(goal, PcgOptions{}), ChebyshevOptions{}, true},
          {"pcg_single_reduction", to(goal, single), JacobiOptions{}, true},
          {"fcg", to(goal, FcgOptions{}), JacobiOptions{}, true},
          {"gmres", to(goal, GmresOptions{}), JacobiOptions{}, false},
          {"gmres_short_cycles", to(goal, short_cycles), NoPreconditioner{}, false},
          {"gmres_cgs2", to(goal, cgs2), NoPreconditioner{}, false},
          {"gmres_mgs", to(goal, mgs), JacobiOptions{}, false},
          {"gmres_narrow", to(goal, narrow), JacobiOptions{}, false},
          {"fgmres", to(goal, FgmresOptions{}), JacobiOptions{}, false},
          {"bicgstab", to(goal, BicgstabOptions{}), JacobiOptions{}, false},
          {"bicgstab_alone", to(goal, BicgstabOptions{}), NoPreconditioner{}, false},
          {"richardson", to(goal, richardson), JacobiOptions{}, false}};
}

class SharedSolves : public ::testing::TestWithParam<std::tuple<Backend, Sample>> {
 protected:
  void SetUp() override {
    if (backend() == Backend::cuda && device::count() == 0) GTEST_SKIP() << device::absence();
  }
  static Backend backend() { return std::get<0>(GetParam()); }
};

/// Iterations of one process, but for one where rounding decides; the solution judged by Eigen; the same bytes twice.
TEST_P(SharedSolves, take_the_iterations_of_one_process) {
  const Sample& s = std::get<1>(GetParam());
  const Csr<double> A = s.definite ? poisson2d<double>(17) : random_dominant<double>(81, 290, 6);
  const auto b = random_vector<double>(82, A.rows());
  Context ctx = Context::host(1);
  const Solved<double> alone = solve(ctx, A, b, s.solver, s.preconditioner);
  ASSERT_EQ(alone.report.reason, Reason::converged);
  for (const int ranks : {1, 2, 3, 4}) {
    const Solved<double> shared = solve_shared(backend(), ranks, A, b, s.solver, s.preconditioner);
    EXPECT_EQ(shared.report.reason, Reason::converged) << ranks << " ranks";
    EXPECT_NEAR(shared.report.iterations, alone.report.iterations, 1) << ranks << " ranks";
    EXPECT_LE(relative_residual(reference(A), to_reference(shared.x), to_reference(b)), 1.01e-8) << ranks << " ranks";
    if (ranks != 3) continue;
    const Solved<double> again = solve_shared(backend(), ranks, A, b, s.solver, s.preconditioner);
    EXPECT_EQ(shared.x, again.x);
    EXPECT_EQ(shared.report.history, again.report.history);
  }
}

INSTANTIATE_TEST_SUITE_P(, SharedSolves, ::testing::Combine(backends, ::testing::ValuesIn(samples())),
                         [](const auto& info) {
                           return name(std::get<0>(info.param)) + "_" + std::get<1>(info.param).name;
                         });

using SharedSystems = OnBackend;

TEST_P(SharedSystems, of_complex_numbers_and_single_precision_converge) {
  const auto check = [&]<class T>(T, double relative) {
    const Csr<T> A = random_hpd<T>(83, 160, 5);
    const auto b = random_vector<T>(84, 160);
    for (const SolverOptions& options :
         {SolverOptions(to(relative, PcgOptions{})), SolverOptions(to(relative, GmresOptions{}))}) {
      const Solved<T> shared = solve_shared(GetParam(), 3, A, b, options, JacobiOptions{});
      EXPECT_EQ(shared.report.reason, Reason::converged);
      EXPECT_LE(relative_residual(reference(A), to_reference(shared.x), to_reference(b)), 1.1 * relative);
    }
  };
  check(std::complex<double>{}, 1e-9);
  check(float{}, 1e-4);
}

/// A wish of one rank's host ends the solve on all of them, in the same step.
TEST_P(SharedSystems, stop_together) {
  const Csr<double> A = poisson2d<double>(17);
  const auto b = random_vector<double>(85, A.rows());
  for (const SolverOptions& options : {SolverOptions(PcgOptions{}), SolverOptions(GmresOptions{})}) {
    const Solved<double> stopped = solve_shared(GetParam(), 3, A, b, options, NoPreconditioner{},
                                                [](const Sight& sight) { return sight.iteration < 5; });
    EXPECT_EQ(stopped.report.reason, Reason::interrupted);
    // Hosts look at a device between bodies, of GMRES with 16 steps each.
    const bool by_steps = GetParam() == Backend::cuda && std::holds_alternative<GmresOptions>(options);
    EXPECT_LT(stopped.report.iterations, by_steps ? 33 : 8);
  }
}

TEST_P(SharedSystems, stop_together_where_a_number_is_not_finite) {
  const Csr<double> A = poisson2d<double>(9);
  auto b = random_vector<double>(86, A.rows());
  b.back() = std::numeric_limits<double>::quiet_NaN();
  const Solved<double> shared = solve_shared(GetParam(), 3, A, b, PcgOptions{}, NoPreconditioner{});
  EXPECT_EQ(shared.report.reason, Reason::not_finite);
  EXPECT_EQ(shared.report.iterations, 0);
}

/// One that appears on one rank, in the middle: all stop in the same iteration. Rank 1 has no rows, and hears nothing.
TEST_P(SharedSystems, stop_together_where_a_number_becomes_none) {
  constexpr int ranks = 3, good = 12;
  const Csr<double> A = poisson2d<double>(17);
  const auto b = random_vector<double>(88, A.rows());
  const RowPartition rows = shares(A.rows(), ranks);
  for (const SolverOptions& options :
       {SolverOptions(PcgOptions{}), SolverOptions(GmresOptions{}), SolverOptions(BicgstabOptions{})}) {
    std::array<SolveReport, ranks> reports;
    run_team(ranks, [&](Team& team) {
      int exchanges = 0;
      AlteringTeam poisoned(team, [&](std::span<const Team::Incoming> messages) {
        if (team.rank() != 2 || exchanges++ < good) return;
        for (const Team::Incoming& message : messages)
          *static_cast<double*>(message.bytes) = std::numeric_limits<double>::quiet_NaN();
      });
      reports[static_cast<std::size_t>(team.rank())] =
          solve_as_rank(poisoned, GetParam(), rows, slice_rows(A, rows.begin(team.rank()), rows.end(team.rank())), b,
                        options, NoPreconditioner{}, {})
              .report;
    });
    EXPECT_EQ(reports[0].reason, Reason::not_finite);
    EXPECT_GT(reports[0].iterations, 1);
    EXPECT_LT(reports[0].iterations, good + 1);
    for (const SolveReport& each : reports) {
      EXPECT_EQ(each.reason, reports[0].reason);
      EXPECT_EQ(each.iterations, reports[0].iterations);
    }
  }
}

TEST_P(SharedSystems, hear_of_a_rank_that_fails_in_the_middle) {
  const Csr<double> A = poisson2d<double>(17);
  const auto b = random_vector<double>(87, A.rows());
  EXPECT_EQ(complaint<InvalidArgument>([&] {
              solve_shared(GetParam(), 3, A, b, PcgOptions{}, NoPreconditioner{}, [](const Sight& sight) -> bool {
                if (sight.iteration == 4) throw InvalidArgument("the watcher cannot go on");
                return true;
              });
            }),
            "the watcher cannot go on");
}

/// The norm of the whole matrix, whoever has its rows, decides over the backward error.
TEST_P(SharedSystems, reach_a_backward_error) {
  const Csr<double> A = poisson2d<double>(13);
  const auto b = random_vector<double>(88, A.rows());
  PcgOptions options;
  options.stop.relative = 1e-9, options.stop.baseline = Baseline::backward_error;
  Context ctx = Context::host(1);
  const Solved<double> alone = solve(ctx, A, b, options),
                       shared = solve_shared(GetParam(), 3, A, b, options, NoPreconditioner{});
  EXPECT_EQ(shared.report.reason, Reason::converged);
  EXPECT_NEAR(shared.report.iterations, alone.report.iterations, 1);
  EXPECT_NEAR(shared.report.baseline, alone.report.baseline, 1e-12 * alone.report.baseline);
}

/// The door of whole solves: every rank has the whole system.
SystemReport solve_whole(Backend backend, int ranks, const Csr<double>& A, const std::vector<double>& b,
                         std::vector<double>& x, const SolveOptions& options) {
  std::vector<SystemReport> reports(static_cast<std::size_t>(ranks));
  run_team(ranks, [&](Team& team) {
    Context ctx = rank_context(backend);
    ctx.team = &team;
    const AnyMatrix<double> own(A.clone());
    Array<double> own_x(std::vector<double>(b.size(), 0.0));
    reports[static_cast<std::size_t>(team.rank())] = krill::solve(ctx, own, Array<double>(b), own_x, options);
    if (team.rank() == 0) x = contents(own_x);
  });
  return reports[0];
}

TEST_P(SharedSystems, are_scaled_reordered_and_brought_back) {
  const Csr<double> A = random_hpd<double>(89, 150, 6);
  const auto b = random_vector<double>(90, 150);
  SolveOptions options;
  options.ordering = RcmOrdering{}, options.scaling = DiagonalScaling{};
  for (const PreconditionerOptions& M :
       {PreconditionerOptions(JacobiOptions{}), PreconditionerOptions(BlockJacobiOptions{.block_dim = 5}),
        PreconditionerOptions(ChebyshevOptions{}), PreconditionerOptions(IsaiOptions{}),
        PreconditionerOptions(IsaiOptions{.form = IsaiForm::general})})
    for (const Format format : {Format::csr, Format::sell}) {
      const auto* inverse = std::get_if<IsaiOptions>(&M);
      const bool is_hermitian = !inverse || inverse->form != IsaiForm::general;
      options.solver = is_hermitian ? SolverOptions(to(1e-10, PcgOptions{})) : SolverOptions(to(1e-10, GmresOptions{}));
      options.preconditioner = M, options.format = format;
      Context ctx = Context::host(1);
      Array<double> x_alone(std::vector<double>(150, 0.0));
      const SystemReport alone = krill::solve(ctx, AnyMatrix<double>(A.clone()), Array<double>(b), x_alone, options);
      std::vector<double> x;
      const SystemReport shared = solve_whole(GetParam(), 3, A, b, x, options);
      EXPECT_EQ(shared.result.reason, Reason::converged);
      EXPECT_NEAR(shared.result.iterations, alone.result.iterations, 1) << name(M);
      EXPECT_LE(relative_residual(reference(A), to_reference(x), to_reference(b)), 1.01e-10) << name(M);
      ASSERT_EQ(shared.ranks.size(), 3U);
      EXPECT_EQ(shared.ranks[2].first_row + shared.ranks[2].rows, 150);
    }
}

/// Of preconditioners that are those of one process.
TEST_P(SharedSystems, measure_the_same_contraction) {
  const Csr<double> A = poisson2d<double>(12);
  const auto b = random_vector<double>(90, A.rows());
  const auto contraction_of = [](const SystemReport& report) {
    const auto& facts = report.preconditioner.facts;
    const auto found = std::ranges::find(facts, "contraction", &Fact::name);
    return found == facts.end() ? -1.0 : std::get<double>(found->value);
  };
  SolveOptions options;
  options.solver = PcgOptions{}, options.ordering = NaturalOrdering{}, options.format = Format::csr;
  options.contraction_steps = 30;
  for (const PreconditionerOptions& M :
       {PreconditionerOptions(JacobiOptions{}), PreconditionerOptions(IsaiOptions{})}) {
    options.preconditioner = M;
    Context ctx = Context::host(1);
    Array<double> x_alone(std::vector<double>(b.size(), 0.0));
    const double alone =
        contraction_of(krill::solve(ctx, AnyMatrix<double>(A.clone()), Array<double>(b), x_alone, options));
    std::vector<double> x;
    const double shared = contraction_of(solve_whole(GetParam(), 3, A, b, x, options));
    EXPECT_GT(alone, 0.5) << name(M);
    EXPECT_LT(alone, 1) << name(M);
    EXPECT_NEAR(shared, alone, 1e-9) << name(M);
  }
}

/// Each rank has parts of its own rows: as many iterations as one process with as many parts, but for where they begin.
TEST_P(SharedSystems, are_solved_in_parts) {
  const Csr<double> A = poisson2d<double>(40);
  const auto b = random_vector<double>(95, A.rows());
  const auto samples_of = [](CoarseSpace coarse) {
    return std::vector<SchwarzOptions>{{.coarse = coarse},
                                       {.inner = PartInverse{AmgOptions{}}, .coarse = coarse},
                                       {.inner = PartInverse{Ilu0Options{}}, .coarse = coarse},
                                       {.inner = PartInverse{Ilu0Options{}}, .overlap = 1, .coarse = coarse}};
  };
  for (const CoarseSpace coarse : {CoarseSpace::none, CoarseSpace::constants})
    for (SchwarzOptions parts : samples_of(coarse)) {
      SolveOptions options;
      options.format = Format::csr, options.ordering = NaturalOrdering{};
      const bool by_lu = std::holds_alternative<Ilu0Options>(parts.inner->options);
      options.solver = by_lu ? SolverOptions(to(1e-9, GmresOptions{})) : SolverOptions(to(1e-9, PcgOptions{}));
      parts.parts = 9;
      options.preconditioner = parts;
      Context ctx = Context::host(1);
      Array<double> x_alone(std::vector<double>(b.size(), 0.0));
      const SystemReport alone = krill::solve(ctx, AnyMatrix<double>(A.clone()), Array<double>(b), x_alone, options);
      std::get<SchwarzOptions>(options.preconditioner).parts = 3;
      std::vector<double> x;
      const SystemReport shared = solve_whole(GetParam(), 3, A, b, x, options);
      EXPECT_EQ(shared.result.reason, Reason::converged);
      EXPECT_NEAR(shared.result.iterations, alone.result.iterations, 0.1 * alone.result.iterations + 1);
      EXPECT_LE(relative_residual(reference(A), to_reference(x), to_reference(b)), 1.01e-9);
      std::vector<double> again;
      solve_whole(GetParam(), 3, A, b, again, options);
      EXPECT_EQ(x, again) << "the same bits twice";
    }
}

TEST_P(SharedSystems, take_several_right_hand_sides) {
  const Csr<double> A = poisson2d<double>(12);
  const auto b = random_vector<double>(94, 3 * A.rows());
  std::vector<double> x;
  SolveOptions options;
  options.preconditioner = JacobiOptions{};
  const SystemReport report = solve_whole(GetParam(), 3, A, b, x, options);
  EXPECT_EQ(report.result.reason, Reason::converged);
  ASSERT_EQ(report.columns.size(), 3U);
  const auto n = static_cast<std::size_t>(A.rows());
  for (std::size_t j = 0; j < 3; ++j) {
    const std::vector<double> x_j(x.begin() + static_cast<std::ptrdiff_t>(j * n),
                                  x.begin() + static_cast<std::ptrdiff_t>((j + 1) * n)),
        b_j(b.begin() + static_cast<std::ptrdiff_t>(j * n), b.begin() + static_cast<std::ptrdiff_t>((j + 1) * n));
    EXPECT_LE(relative_residual(reference(A), to_reference(x_j), to_reference(b_j)), 1.01e-8);
  }
}

TEST_P(SharedSystems, replace_what_auto_chose_and_refuse_what_is_named) {
  const Csr<double> A = poisson2d<double>(20);
  const auto b = random_vector<double>(91, A.rows());
  std::vector<double> x;
  const SystemReport open = solve_whole(GetParam(), 2, A, b, x, SolveOptions{});
  EXPECT_EQ(open.result.reason, Reason::converged);
  EXPECT_LE(relative_residual(reference(A), to_reference(x), to_reference(b)), 1.01e-8);
  SolveOptions options;
  options.preconditioner = Ic0Options{};
  EXPECT_EQ(
      complaint<InvalidArgument>([&] { solve_whole(GetParam(), 2, A, b, x, options); }),
      "preconditioner ic0: it does not run on several ranks; use schwarz, which has it or another one inside, of "
      "each rank's rows, isai, chebyshev (for Hermitian positive definite systems), block_jacobi, jacobi or none, or "
      "one process");
  options.preconditioner = ChebyshevOptions{.precision = KeptPrecision::float32};
  EXPECT_EQ(complaint<InvalidArgument>([&] { solve_whole(GetParam(), 2, A, b, x, options); }),
            "preconditioner chebyshev: precision float32 does not run on several ranks; leave precision out, or use "
            "one process");
  options = SolveOptions{.solver = DirectOptions{}};
  EXPECT_EQ(complaint<InvalidArgument>([&] { solve_whole(GetParam(), 2, A, b, x, options); }),
            "solver direct: it does not run on several ranks; use solver pcg, gmres or bicgstab, or one process");
  for (const PreconditionerOptions& M :
       {PreconditionerOptions(AutoPreconditioner{}), PreconditionerOptions(AmgOptions{})}) {
    options = SolveOptions{.solver = MultigridSolverOptions{}, .preconditioner = M};
    EXPECT_EQ(complaint<InvalidArgument>([&] { solve_whole(GetParam(), 2, A, b, x, options); }),
              "solver multigrid: its cycles do not run on several ranks; use solver pcg with preconditioner {type: "
              "schwarz, inner: amg}, which has a cycle of each rank's own rows (richardson with that is what comes "
              "nearest), or one process");
  }
  const auto with_inner = [](PreconditionerOptions M) {
    return SolveOptions{.solver = PcgOptions{}, .preconditioner = SchwarzOptions{.inner = PartInverse{std::move(M)}}};
  };
  options = with_inner(LineOptions{.nx = 20, .ny = 20});
  EXPECT_EQ(complaint<InvalidArgument>([&] { solve_whole(GetParam(), 2, A, b, x, options); }),
            "preconditioner schwarz: inner line does not run on several ranks, as their rows are no whole grid; use "
            "inner tridiagonal, or one process");
  AmgOptions amg;
  amg.near_null_space.type = CandidateKind::rigid_body;
  options = with_inner(amg);
  EXPECT_EQ(complaint<InvalidArgument>([&] { solve_whole(GetParam(), 2, A, b, x, options); }),
            "preconditioner schwarz: inner amg takes near_null_space constant alone on several ranks; use that with "
            "its block_dim, or one process");
}

TEST_P(SharedSystems, tell_that_they_try_no_other_method) {
  const Csr<double> A = poisson2d<double>(20);
  SolveOptions options;
  options.solver = PcgOptions{.max_iterations = 1}, options.on_failure = OnFailure::ladder;
  std::vector<double> x;
  const SystemReport report = solve_whole(GetParam(), 2, A, random_vector<double>(93, A.rows()), x, options);
  EXPECT_EQ(report.result.reason, Reason::max_iterations);
  EXPECT_TRUE(report.attempts.empty());
  ASSERT_FALSE(report.notes.empty());
  EXPECT_EQ(report.notes.back(),
            "on_failure: ladder does not run on several ranks: one process would try other methods");
}

TEST_P(SharedSystems, name_the_rank_whose_rows_are_refused) {
  const Csr<double> full = poisson2d<double>(16);
  std::vector<double> values = contents(full.values());
  const auto at = static_cast<std::size_t>(full.row_offsets().host()[200]);
  for (std::size_t k = at; full.col_indices().host()[k] <= 200; ++k)
    if (full.col_indices().host()[k] == 200) values[k] = 0;
  const Csr<double> A(full.cols(), full.row_offsets().clone(), full.col_indices().clone(), Array<double>(values));
  SolveOptions options;
  options.solver = GmresOptions{}, options.preconditioner = JacobiOptions{};
  options.matching = NoMatching{}, options.ordering = NaturalOrdering{}, options.scaling = NoScaling{};
  std::vector<double> x;
  EXPECT_EQ(complaint<InvalidArgument>(
                [&] { solve_whole(GetParam(), 2, A, random_vector<double>(92, A.rows()), x, options); }),
            "preconditioner jacobi: a(72, 72) is 0 or missing (rows and columns count from 0); every diagonal entry "
            "must be finite and not 0: set matching: {type: product}, or use preconditioner none\n  rows and columns "
            "are those of this rank, which begin at row 128");
}

/// A 2-D grid whose rows are shuffled.
Csr<double> shuffled_grid(std::int32_t n) {
  Context ctx = Context::host(1);
  const Csr<double> grid = poisson2d<double>(n);
  return Reordered<double, std::int32_t>(ctx, grid, Ordering(Array<std::int32_t>(shuffled(96, grid.rows())))).release();
}

std::int64_t all_ghosts(const SystemReport& report) {
  std::int64_t sum = 0;
  for (const RankReport& rank : report.ranks) sum += rank.ghosts;
  return sum;
}

SolveOptions in_natural_order(const PreconditionerOptions& M) {
  SolveOptions options;
  options.solver = to(1e-10, PcgOptions{}), options.preconditioner = M;
  options.ordering = NaturalOrdering{}, options.scaling = NoScaling{}, options.matching = NoMatching{};
  options.format = Format::csr;
  return options;
}

/// Iterations of one process, x in the order of the matrix, and ghosts of parts whose border is short.
TEST_P(SharedSystems, have_few_ghosts_in_parts_of_the_graph) {
  if (!with_metis) GTEST_SKIP() << "this build has no METIS";
  const Csr<double> A = shuffled_grid(40);
  const auto b = random_vector<double>(97, A.rows());
  for (const PreconditionerOptions& M : {PreconditionerOptions(JacobiOptions{}), PreconditionerOptions(IsaiOptions{}),
                                         PreconditionerOptions(ChebyshevOptions{})})
    for (const int ranks : {1, 2, 3, 4}) {
      SolveOptions options = in_natural_order(M);
      std::vector<double> x, again;
      const SystemReport by_rows = solve_whole(GetParam(), ranks, A, b, x, options);
      options.partition = GraphPartition{};
      const SystemReport by_graph = solve_whole(GetParam(), ranks, A, b, x, options);
      EXPECT_EQ(by_graph.result.reason, Reason::converged);
      EXPECT_NEAR(by_graph.result.iterations, by_rows.result.iterations, 1) << name(M) << ", " << ranks << " ranks";
      EXPECT_LE(relative_residual(reference(A), to_reference(x), to_reference(b)), 1.01e-10);
      EXPECT_LE(imbalance(by_graph.ranks), 1.1);
      // Of a shuffled grid on two ranks, a row has all of its four neighbors on its own side with 1 in 16.
      if (ranks > 1) {
        EXPECT_LT(5 * all_ghosts(by_graph), all_ghosts(by_rows)) << ranks << " ranks";
      }
      solve_whole(GetParam(), ranks, A, b, again, options);
      EXPECT_EQ(x, again) << "the same bits twice";
    }
}

/// Numbers that are given: with a rank that has no rows, with an ordering and a scaling in front, and those that leave
/// rows where they are, which have the bits of the same rows without a partition.
TEST_P(SharedSystems, have_the_rows_that_are_given) {
  const Csr<double> A = shuffled_grid(24);
  const auto n = static_cast<std::size_t>(A.rows());
  const auto b = random_vector<double>(98, A.rows());
  const auto given = [](std::vector<std::int32_t> ranks) {
    return GivenPartition{std::make_shared<const std::vector<std::int32_t>>(std::move(ranks))};
  };
  std::vector<std::int32_t> scattered(n), contiguous(n);
  for (std::size_t i = 0; i < n; ++i) scattered[i] = std::array{3, 0, 2}[i * 7 % 3], contiguous[i] = i < n / 2 ? 0 : 1;
  for (const PreconditionerOptions& M :
       {PreconditionerOptions(NoPreconditioner{}), PreconditionerOptions(JacobiOptions{}),
        PreconditionerOptions(BlockJacobiOptions{.block_dim = 1}), PreconditionerOptions(ChebyshevOptions{}),
        PreconditionerOptions(IsaiOptions{}), PreconditionerOptions(SchwarzOptions{.inner = PartInverse{Ic0Options{}}}),
        PreconditionerOptions(SchwarzOptions{.inner = PartInverse{AmgOptions{}}, .coarse = CoarseSpace::constants})}) {
    SolveOptions options = in_natural_order(M);
    options.partition = given(scattered);
    std::vector<double> x;
    const SystemReport report = solve_whole(GetParam(), 4, A, b, x, options);
    EXPECT_EQ(report.result.reason, Reason::converged) << name(M);
    EXPECT_LE(relative_residual(reference(A), to_reference(x), to_reference(b)), 1.01e-10) << name(M);
    ASSERT_EQ(report.ranks.size(), 4U);
    for (std::size_t r = 0; r < 4; ++r)
      EXPECT_EQ(report.ranks[r].rows, std::ranges::count(scattered, static_cast<std::int32_t>(r))) << r;
    options.ordering = RcmOrdering{}, options.scaling = DiagonalScaling{};
    solve_whole(GetParam(), 4, A, b, x, options);
    EXPECT_LE(relative_residual(reference(A), to_reference(x), to_reference(b)), 1.01e-10) << name(M) << " with rcm";
  }
  SolveOptions options = in_natural_order(JacobiOptions{});
  std::vector<double> by_rows, by_numbers;
  const SystemReport rows = solve_whole(GetParam(), 2, A, b, by_rows, options);
  std::ranges::fill(contiguous, 1);
  std::fill_n(contiguous.begin(), rows.ranks[0].rows, 0);
  options.partition = given(contiguous);
  solve_whole(GetParam(), 2, A, b, by_numbers, options);
  EXPECT_EQ(by_rows, by_numbers);
}

TEST_P(SharedSystems, refuse_partitions_that_do_not_fit) {
  const Csr<double> A = poisson2d<double>(6);
  const auto b = random_vector<double>(99, 36);
  SolveOptions options = in_natural_order(JacobiOptions{});
  std::vector<double> x;
  const auto refusal = [&](std::vector<std::int32_t> ranks) {
    options.partition = GivenPartition{std::make_shared<const std::vector<std::int32_t>>(std::move(ranks))};
    return complaint<Error>([&] { solve_whole(GetParam(), 2, A, b, x, options); });
  };
  std::vector<std::int32_t> ranks(36);
  ranks[7] = 2;
  EXPECT_EQ(refusal(ranks), "partition: row 7 is given to rank 2; there are ranks 0 to 1");
  ranks[7] = -1;
  EXPECT_EQ(refusal(ranks), "partition: row 7 is given to rank -1; there are ranks 0 to 1");
  EXPECT_TRUE(refusal({0, 1}).starts_with("partition: ranks of rows")) << refusal({0, 1});
  ranks[7] = 1;
  options.preconditioner = BlockJacobiOptions{.block_dim = 3};
  EXPECT_EQ(
      refusal(ranks),
      "partition: rows 6 and 7 are of one block of the preconditioner, of 3 rows, but are given to ranks 0 and 1; give "
      "the rows of a block to one rank, or set block_dim");
  ranks[6] = ranks[8] = 1;
  EXPECT_EQ(refusal(ranks), "");
  EXPECT_LE(relative_residual(reference(A), to_reference(x), to_reference(b)), 1.01e-10);
  EXPECT_EQ(complaint<InvalidArgument>([&] {
              run_team(2, [&](Team& team) {
                Context ctx = rank_context(GetParam());
                ctx.team = &team;
                SolveOptions own = in_natural_order(JacobiOptions{});
                own.partition = GivenPartition{
                    std::make_shared<const std::vector<std::int32_t>>(std::vector<std::int32_t>(36, team.rank()))};
                Array<double> own_x(std::vector<double>(36, 0.0));
                krill::solve(ctx, AnyMatrix<double>(A.clone()), Array<double>(b), own_x, own);
              });
            }),
            "partition: rank 1 has other ranks of rows than rank 0; all need the same");
}

/// Blocks of the pattern stay whole: as many iterations as one process has with them.
TEST_P(SharedSystems, keep_blocks_on_one_rank) {
  if (!with_metis) GTEST_SKIP() << "this build has no METIS";
  const auto A = std::get<Csr<double>>(generate<double>(Elasticity3dOptions{.nx = 5}));
  const auto b = random_vector<double>(100, A.rows());
  SolveOptions options = in_natural_order(BlockJacobiOptions{});
  options.partition = GraphPartition{};
  std::vector<double> alone, x;
  const SystemReport one = solve_whole(GetParam(), 1, A, b, alone, options);
  const SystemReport shared = solve_whole(GetParam(), 3, A, b, x, options);
  EXPECT_EQ(shared.result.reason, Reason::converged);
  EXPECT_NEAR(shared.result.iterations, one.result.iterations, 1);
  for (const RankReport& rank : shared.ranks) EXPECT_EQ(rank.rows % 3, 0);
}

/// Blocks inside of schwarz stay whole, too, of ranks and of parts in them.
TEST_P(SharedSystems, keep_blocks_inside_of_parts) {
  const auto A = std::get<Csr<double>>(generate<double>(Elasticity3dOptions{.nx = 5}));
  const auto b = random_vector<double>(101, A.rows());
  Bic0Options blocks;
  blocks.block_dim = 3;
  SolveOptions options = in_natural_order(SchwarzOptions{.parts = 2, .inner = PartInverse{blocks}});
  std::vector<double> x;
  const SystemReport shared = solve_whole(GetParam(), 3, A, b, x, options);
  EXPECT_EQ(shared.result.reason, Reason::converged);
  EXPECT_LE(relative_residual(reference(A), to_reference(x), to_reference(b)), 1.01e-10);
  for (const RankReport& rank : shared.ranks) EXPECT_EQ(rank.first_row % 3, 0);
  if (!with_metis) return;
  options.partition = GraphPartition{};
  const SystemReport by_graph = solve_whole(GetParam(), 3, A, b, x, options);
  EXPECT_EQ(by_graph.result.reason, Reason::converged);
  for (const RankReport& rank : by_graph.ranks) EXPECT_EQ(rank.first_row % 3, 0);
}

/// The largest part beside the mean one, as a note.
TEST_P(SharedSystems, say_that_parts_are_uneven) {
  const Csr<double> A = poisson2d<double>(24);
  const auto b = random_vector<double>(102, A.rows());
  const auto notes_with = [&](std::int32_t rows_of_first) {
    std::vector<std::int32_t> ranks(static_cast<std::size_t>(A.rows()), 1);
    std::fill_n(ranks.begin(), rows_of_first, 0);
    SolveOptions options = in_natural_order(JacobiOptions{});
    options.partition = GivenPartition{std::make_shared<const std::vector<std::int32_t>>(std::move(ranks))};
    std::vector<double> x;
    const SystemReport report = solve_whole(GetParam(), 2, A, b, x, options);
    EXPECT_EQ(report.result.reason, Reason::converged);
    // Of a row 100 bytes, of an entry 12, as RowPartition counts them.
    std::array<double, 2> cost{};
    for (std::int32_t i = 0; i < A.rows(); ++i) {
      const auto offsets = A.row_offsets().host();
      const auto row = static_cast<std::size_t>(i);
      cost[i < rows_of_first ? 0 : 1] += 100 + 12.0 * (offsets[row + 1] - offsets[row]);
    }
    const double uneven = 2 * std::max(cost[0], cost[1]) / (cost[0] + cost[1]);
    std::string wanted;
    if (uneven >= 1.1)
      wanted = fmt::format(
          "the ranks' parts are uneven: the largest costs {:.2f} times the mean one; the others wait for it, so fewer "
          "ranks may be as quick",
          uneven);
    const bool told = std::ranges::any_of(
        report.notes, [](const std::string& note) { return note.find("uneven") != std::string::npos; });
    EXPECT_EQ(told, !wanted.empty()) << rows_of_first;
    if (told) {
      EXPECT_EQ(std::ranges::count(report.notes, wanted), 1) << rows_of_first;
    }
    return told;
  };
  EXPECT_FALSE(notes_with(A.rows() / 2));
  EXPECT_TRUE(notes_with(A.rows() / 4));
  EXPECT_TRUE(notes_with(A.rows())) << "one rank has no rows";
}

INSTANTIATE_TEST_SUITE_P(, SharedSystems, backends, param_name);

struct GeneratedSystem {
  const char* name;
  GeneratorOptions matrix;
  SolverOptions solver;
  PreconditionerOptions preconditioner;
};

/// Generators that no other test solves on ranks, each with a method that suits it.
std::vector<GeneratedSystem> generated_systems() {
  const double goal = 1e-9;
  const SolverOptions pcg = to(goal, PcgOptions{}), bicgstab = to(goal, BicgstabOptions{});
  GmresOptions long_basis;
  long_basis.restart = 200;
  const SolverOptions gmres = to(goal, long_basis);
  return {{"poisson1d", Poisson1dOptions{.nx = 300}, pcg, JacobiOptions{}},
          {"poisson3d", Poisson3dOptions{.nx = 9}, pcg, ChebyshevOptions{}},
          {"convection_diffusion3d", ConvectionDiffusion3dOptions{.nx = 9}, bicgstab, JacobiOptions{}},
          {"anisotropic3d", Anisotropic3dOptions{.nx = 9}, pcg, ChebyshevOptions{}},
          {"helmholtz2d", Helmholtz2dOptions{.nx = 14}, gmres, JacobiOptions{}},
          {"helmholtz3d", Helmholtz3dOptions{.nx = 7}, gmres, JacobiOptions{}},
          {"power_law_laplacian", PowerLawLaplacianOptions{.rows = 400}, pcg, JacobiOptions{}},
          {"resistor_network", ResistorNetworkOptions{.nx = 20}, pcg, JacobiOptions{}}};
}

class SharedGenerators : public ::testing::TestWithParam<std::tuple<Backend, GeneratedSystem>> {
 protected:
  void SetUp() override {
    if (std::get<0>(GetParam()) == Backend::cuda && device::count() == 0) GTEST_SKIP() << device::absence();
  }
};

/// Ranks that make their own rows take the iterations of one process with the whole matrix, which judges.
TEST_P(SharedGenerators, are_solved_by_ranks_that_make_their_own_rows) {
  const auto& [backend, system] = GetParam();
  const auto check = [&, &matrix = system.matrix, &solver = system.solver, &M = system.preconditioner,
                      where = backend]<class T>(T) {
    const auto A = std::get<Csr<T>>(generate<T>(matrix));
    const auto b = random_vector<T>(103, A.rows());
    Context host = Context::host(1);
    const Solved<T> alone = solve(host, A, b, solver, M);
    ASSERT_EQ(alone.report.reason, Reason::converged);
    const RowPartition rows = RowPartition::by_cost(A.row_offsets().host(), 3);
    std::vector<AnyMatrix<T>> own;
    for (int rank = 0; rank < rows.ranks(); ++rank)
      own.push_back(generate_rows<T>(matrix, [&](std::int64_t, const auto&) {
        return RowRange{rows.begin(rank), rows.end(rank)};
      }));
    const auto rows_of = [&](int rank) {
      const Csr<T>& csr = std::get<Csr<T>>(own[static_cast<std::size_t>(rank)]);
      return slice_rows(csr, 0, csr.rows());
    };
    const Solved<T> shared = solve_own(where, rows, rows_of, b, solver, M);
    EXPECT_EQ(shared.report.reason, Reason::converged);
    const double slack = std::holds_alternative<BicgstabOptions>(solver) ? 0.1 * alone.report.iterations : 0;
    EXPECT_NEAR(shared.report.iterations, alone.report.iterations, 1 + slack);
    EXPECT_LE(relative_residual(reference(A), to_reference(shared.x), to_reference(b)), 1.01e-9);
  };
  if (needs_complex(system.matrix))
    check(std::complex<double>{});
  else
    check(double{});
}

INSTANTIATE_TEST_SUITE_P(, SharedGenerators, ::testing::Combine(backends, ::testing::ValuesIn(generated_systems())),
                         [](const auto& info) {
                           return name(std::get<0>(info.param)) + "_" + std::get<1>(info.param).name;
                         });

}  // namespace
}  // namespace krill::test
