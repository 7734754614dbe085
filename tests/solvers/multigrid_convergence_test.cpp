// Multigrid as a method: how many iterations it takes, and what holds for its levels and cycles.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "solvers/multigrid/hierarchy.hpp"
#include "sparse/coarsen/aggregate.hpp"
#include "sparse/coarsen/strength.hpp"
#include "sparse/io/generate.hpp"
#include "sparse/order/ordering.hpp"
#include "tests/solvers/systems.hpp"
#include "tests/support/assertions.hpp"

namespace krill::test {
namespace {

using MultigridIterations = OnBackend;

/// A generated matrix in CSR.
template <class Options>
Csr<double> grid_of(const Options& options) {
  return std::get<Csr<double>>(generate<double>(options));
}

/// A system that amg is for, and the iterations that it may take: those of a program of its own, and a fifth more.
struct Elliptic {
  const char* name;
  GeneratorOptions matrix;
  int max_iterations;
  bool needs_device = false;  ///< too large for the host's test
};
const std::vector<Elliptic>& elliptic_systems() {
  static const std::vector<Elliptic> all{
      {"7-point 32^3", Poisson3dOptions{.nx = 32}, 14},
      {"7-point 48^3", Poisson3dOptions{.nx = 48}, 14},
      {"7-point 128^3", Poisson3dOptions{.nx = 128}, 16, true},
      {"5-point 256^2", Poisson2dOptions{.nx = 256}, 18},
      {"5-point 512^2", Poisson2dOptions{.nx = 512}, 18},
      {"5-point 1024^2", Poisson2dOptions{.nx = 1024}, 21, true},
      {"27-point 32^3", Poisson3dOptions{.nx = 32, .stencil = Stencil3d::twenty_seven}, 12},
      {"27-point 96^3", Poisson3dOptions{.nx = 96, .stencil = Stencil3d::twenty_seven}, 12, true},
      {"one weak axis 48^3", Anisotropic3dOptions{.nx = 48}, 16},
      {"two weak axes 48^3", Anisotropic3dOptions{.nx = 48, .epsilon_y = 1e-3}, 16},
      {"one weak axis 96^3", Anisotropic3dOptions{.nx = 96}, 16, true},
      {"jumps of blocks 48^3", Jumps3dOptions{.nx = 48}, 45},
      {"jumps of cells 48^3", Jumps3dOptions{.nx = 48, .block = 1}, 56},
      {"jumps of blocks 96^3", Jumps3dOptions{.nx = 96}, 45, true},
      {"jumps of cells 96^3", Jumps3dOptions{.nx = 96, .block = 1}, 56, true},
  };
  return all;
}

/// Of PCG to 1e-8 with random b; -1 where it does not converge.
int iterations_of_pcg(Context& ctx, const Csr<double>& A, const PreconditionerOptions& M = AmgOptions{}) {
  const SolveReport report =
      solve(ctx, A, random_vector<double>(1, A.rows()), PcgOptions{.max_iterations = 200}, M).report;
  return report.reason == Reason::converged ? report.iterations : -1;
}

TEST_P(MultigridIterations, of_pcg_stay_below_those_of_smoothed_aggregation_elsewhere) {
  Context ctx = context();
  for (const Elliptic& system : elliptic_systems()) {
    if (system.needs_device && !ctx.on_cuda()) continue;
    const int found = iterations_of_pcg(ctx, std::get<Csr<double>>(generate<double>(system.matrix)));
    EXPECT_GT(found, 0) << system.name;
    EXPECT_LE(found, system.max_iterations) << system.name;
    RecordProperty(system.name, found);
  }
}

TEST_P(MultigridIterations, of_elasticity_need_the_motions_of_rigid_bodies) {
  Context ctx = context();
  for (const int bricks : {12, 20}) {
    const Elasticity3dOptions cube{.nx = bricks};
    const AnyMatrix<double> A = generate<double>(cube);
    const Dense<double> coordinates = *node_coordinates(cube);
    const MatrixOperator<double> products(A);
    const auto iterations = [&](const AmgOptions& options) {
      const auto M = make_preconditioner<double>(ctx, PreconditionerOptions(options), A, nullptr, &coordinates);
      Array<double> x(std::vector<double>(static_cast<std::size_t>(rows(A)), 0));
      const SolveReport report = make_solver<double>(PcgOptions{.max_iterations = 200}, products, *M)
                                     ->solve(ctx, Array<double>(random_vector<double>(1, rows(A))), x);
      EXPECT_EQ(report.reason, Reason::converged);
      return report.iterations;
    };
    AmgOptions constants, motions;
    motions.near_null_space.type = CandidateKind::rigid_body;
    const int with = iterations(motions), without = iterations(constants);
    EXPECT_LE(with, 24) << bricks;
    EXPECT_GE(without, 1.7 * with) << bricks;
  }
}

TEST_P(MultigridIterations, of_bicgstab_bear_flow) {
  Context ctx = context();
  const Csr<double> A = grid_of(ConvectionDiffusion3dOptions{.nx = 32});
  const SolveReport report =
      solve(ctx, A, random_vector<double>(1, A.rows()), BicgstabOptions{.max_iterations = 100}, AmgOptions{}).report;
  EXPECT_EQ(report.reason, Reason::converged);
  EXPECT_LE(report.iterations, 15);
}

/// Where flow dominates, R = P^H costs iterations, and cycles by themselves need not converge.
TEST_P(MultigridIterations, of_flow_are_fewer_with_restriction_by_the_adjoint) {
  Context ctx = context();
  struct Flow {
    const char* name;
    GeneratorOptions matrix;                      // cells of Peclet number 10 upwind, 2 central
    int max_bicgstab, max_gmres, max_richardson;  // 10 22 22, 10 23 22, 8 17 18, 9 17 17 on the host, and a fifth
  };
  const Flow flows[]{{"upwind 96^2", ConvectionDiffusion2dOptions{.nx = 96, .peclet = 1372}, 12, 26, 26},
                     {"central 96^2",
                      ConvectionDiffusion2dOptions{.nx = 96, .peclet = 274, .scheme = Convection::central}, 12, 27, 26},
                     {"upwind 20^3", ConvectionDiffusion3dOptions{.nx = 20, .peclet = 364}, 10, 20, 22},
                     {"central 20^3",
                      ConvectionDiffusion3dOptions{.nx = 20, .peclet = 72, .scheme = Convection::central}, 11, 20, 20}};
  AmgOptions by_interpolation, by_adjoint;
  by_interpolation.coarse_rows = by_adjoint.coarse_rows = 100;
  by_adjoint.restriction = RestrictionChoice::adjoint_matrix;
  for (const Flow& flow : flows) {
    const Csr<double> A = std::get<Csr<double>>(generate<double>(flow.matrix));
    const std::vector<double> b = random_vector<double>(1, A.rows());
    const auto expect_fewer = [&](const SolverOptions& solver, int limit) {
      const SolveReport with = solve(ctx, A, b, solver, by_adjoint).report,
                        without = solve(ctx, A, b, solver, by_interpolation).report;
      const std::string name = flow.name + (" " + krill::test::name(solver));
      EXPECT_EQ(with.reason, Reason::converged) << name;
      EXPECT_LE(with.iterations, limit) << name;
      if (without.reason == Reason::converged) {
        EXPECT_LT(with.iterations, without.iterations) << name;
      }
      RecordProperty(name, with.iterations);
      RecordProperty(name + ", restriction interpolation", without.iterations);
    };
    expect_fewer(BicgstabOptions{.max_iterations = 100}, flow.max_bicgstab);
    expect_fewer(GmresOptions{.max_iterations = 100}, flow.max_gmres);
    expect_fewer(RichardsonOptions{.max_iterations = 100}, flow.max_richardson);
  }
}

/// Aggregates go by hashes, not by the order of rows.
TEST_P(MultigridIterations, hardly_depend_on_the_numbering) {
  Context ctx = context();
  const Csr<double> A = grid_of(Poisson3dOptions{.nx = 32});
  std::vector<std::int32_t> order(static_cast<std::size_t>(A.rows()));
  std::iota(order.begin(), order.end(), 0);
  const int natural = iterations_of_pcg(ctx, A);
  std::ranges::reverse(order);
  EXPECT_NEAR(iterations_of_pcg(ctx, Reordered(ctx, A, Ordering(Array(order))).release()), natural, 2) << "reversed";
  const auto key = random_vector<double>(5, A.rows());
  std::ranges::sort(order, {}, [&](std::int32_t i) { return key[static_cast<std::size_t>(i)]; });
  EXPECT_NEAR(iterations_of_pcg(ctx, Reordered(ctx, A, Ordering(Array(order))).release()), natural, 2) << "shuffled";
}

/// Rows of thousands of entries beside rows of four.
TEST_P(MultigridIterations, of_a_graph_with_hubs_end) {
  Context ctx = context();
  const Csr<double> A = grid_of(PowerLawLaplacianOptions{.rows = 20'000});
  for (const MultigridMethod method : {MultigridMethod::smoothed_aggregation, MultigridMethod::aggregation}) {
    AmgOptions options;
    options.method = method;
    EXPECT_GT(iterations_of_pcg(ctx, A, options), 0);
  }
}

TEST_P(MultigridIterations, end_with_every_choice_of_aggregates) {
  Context ctx = context();
  const Csr<double> A = grid_of(Poisson3dOptions{.nx = 24});
  for (const auto& [method, aggregates] : {std::pair(MultigridMethod::smoothed_aggregation, AggregateChoice::matching),
                                           std::pair(MultigridMethod::aggregation, AggregateChoice::mis2)}) {
    AmgOptions options;
    options.method = method, options.aggregates = aggregates, options.coarse_rows = 50;
    const int found = iterations_of_pcg(ctx, A, options);
    EXPECT_GT(found, 0);
    EXPECT_LE(found, 60);
  }
}

INSTANTIATE_TEST_SUITE_P(, MultigridIterations, backends, param_name);

using MultigridLevelsOf = OnBackend;

MultigridOptions with_small_levels(MultigridMethod method) {
  MultigridOptions o;
  o.method = method, o.coarse_rows = 50;
  return o;
}
constexpr MultigridMethod methods_of_levels[]{MultigridMethod::smoothed_aggregation, MultigridMethod::aggregation};

/// The entries of a matrix in CSR by row and column.
std::map<std::pair<std::int32_t, std::int32_t>, double> entries_of(const Csr<double>& A) {
  std::map<std::pair<std::int32_t, std::int32_t>, double> entries;
  for (std::int32_t i = 0; i < A.rows(); ++i)
    for (std::int32_t k = A.row_offsets().host()[static_cast<std::size_t>(i)];
         k < A.row_offsets().host()[static_cast<std::size_t>(i) + 1]; ++k)
      entries[{i, A.col_indices().host()[static_cast<std::size_t>(k)]}] =
          A.values().host()[static_cast<std::size_t>(k)];
  return entries;
}

/// Graph Laplacian of a grid of n x n points with free edges: A 1 = 0, and no other kernel.
Csr<double> neumann_grid(std::int32_t n) {
  std::vector<std::int32_t> offsets{0}, columns;
  std::vector<double> values;
  for (std::int32_t y = 0; y < n; ++y)
    for (std::int32_t x = 0; x < n; ++x) {
      const double degree = (x > 0) + (x + 1 < n) + (y > 0) + (y + 1 < n);
      const std::int32_t i = y * n + x;
      const auto put = [&](bool there, std::int32_t j, double value) {
        if (there) columns.push_back(j), values.push_back(value);
      };
      put(y > 0, i - n, -1), put(x > 0, i - 1, -1), put(true, i, degree), put(x + 1 < n, i + 1, -1);
      put(y + 1 < n, i + n, -1);
      offsets.push_back(static_cast<std::int32_t>(columns.size()));
    }
  return {n * n, Array(std::move(offsets)), Array(std::move(columns)), Array(std::move(values))};
}

/// e := (I - M A) e a number of times: by which ||e||_A shrinks in the last of them. It grows towards the spectral
/// radius, which is the norm of I - M A in that norm, for I - M A is self-adjoint in it.
double contraction(Context& ctx, const AnyMatrix<double>& A, const Hierarchy<double>& hierarchy, int times) {
  const MatrixOperator<double> products(A);
  const std::int64_t n = rows(A);
  Array<double> e(random_vector<double>(9, n)), Ae(n), z(n);
  double before = 0, ratio = 0;
  for (int k = 0; k <= times; ++k) {
    products.apply(ctx, e, Ae);
    double energy = 0;
    for (std::int64_t i = 0; i < n; ++i)
      energy += e.host()[static_cast<std::size_t>(i)] * Ae.host()[static_cast<std::size_t>(i)];
    ratio = before > 0 ? std::sqrt(energy / before) : 0;
    before = energy;
    hierarchy.cycle().apply(ctx, Ae, z, nullptr);
    const auto correction = z.host();
    auto error = e.edit();
    for (std::size_t i = 0; i < error.size(); ++i) error[i] -= correction[i];
  }
  return ratio;
}

TEST_P(MultigridLevelsOf, cycles_contract_errors) {
  Context ctx = context();
  const std::pair<GeneratorOptions, double> tried[]{
      {Poisson3dOptions{.nx = 24}, 0.75},  {Poisson2dOptions{.nx = 60}, 1},
      {Anisotropic3dOptions{.nx = 20}, 1}, {Jumps3dOptions{.nx = 20, .block = 4}, 1},
      {Elasticity3dOptions{.nx = 5}, 1},   {PowerLawLaplacianOptions{.rows = 2000}, 1}};
  for (const auto& [options, bound] : tried) {
    const AnyMatrix<double> A = generate<double>(options);
    const Hierarchy<double> hierarchy(ctx, with_small_levels(MultigridMethod::smoothed_aggregation),
                                      {.A = A, .hermitian = true});
    EXPECT_GE(hierarchy.levels().size(), 2u);
    const double found = contraction(ctx, A, hierarchy, 30);
    EXPECT_GT(found, 0);
    EXPECT_LT(found, bound);
  }
}

/// Sums of a few hundred products in each of two orders.
TEST_P(MultigridLevelsOf, coarse_matrices_are_symmetric_if_the_finest_is) {
  Context ctx = context();
  for (const GeneratorOptions& options :
       {GeneratorOptions(Poisson3dOptions{.nx = 20}), GeneratorOptions(Jumps3dOptions{.nx = 20, .block = 4})})
    for (const MultigridMethod method : methods_of_levels) {
      const AnyMatrix<double> A = generate<double>(options);
      const Hierarchy<double> hierarchy(ctx, with_small_levels(method), {.A = A, .hermitian = true});
      ASSERT_GE(hierarchy.levels().size(), 3u);
      for (std::size_t l = 1; l < hierarchy.levels().size(); ++l) {
        const auto entries = entries_of(std::get<Csr<double>>(*hierarchy.levels()[l]->A));
        for (const auto& [place, value] : entries) {
          const auto [i, j] = place;
          ASSERT_TRUE(entries.contains({j, i})) << i << ' ' << j;
          // Of a definite matrix |a_ij| <= sqrt(a_ii a_jj), as of each product that is added up.
          ASSERT_NEAR(value, entries.at({j, i}),
                      500 * epsilon<double>() * std::sqrt(entries.at({i, i}) * entries.at({j, j})))
              << l << ' ' << i << ' ' << j;
        }
      }
    }
}

/// With whole numbers nothing is rounded where aggregates are plain.
TEST_P(MultigridLevelsOf, coarse_matrices_keep_the_kernel_of_a_neumann_problem) {
  Context ctx = context();
  const AnyMatrix<double> A(neumann_grid(40));
  for (const MultigridMethod method : methods_of_levels) {
    const Hierarchy<double> hierarchy(ctx, with_small_levels(method), {.A = A, .hermitian = true});
    ASSERT_GE(hierarchy.levels().size(), 3u);
    const auto image = [&](std::size_t l, std::span<const double> kernel, bool moduli) {
      const auto& coarse = std::get<Csr<double>>(*hierarchy.levels()[l]->A);
      std::vector<double> sums(static_cast<std::size_t>(coarse.rows()));
      for (const auto& [place, value] : entries_of(coarse)) {
        const double term = value * kernel[static_cast<std::size_t>(place.second)];
        sums[static_cast<std::size_t>(place.first)] += moduli ? std::abs(term) : term;
      }
      return sums;
    };
    if (method == MultigridMethod::aggregation)
      for (std::size_t l = 1; l < hierarchy.levels().size(); ++l) {
        const std::vector<double> ones(static_cast<std::size_t>(rows(*hierarchy.levels()[l]->A)), 1);
        EXPECT_EQ(image(l, ones, false), std::vector<double>(ones.size(), 0)) << l;
      }
    const std::size_t last = hierarchy.levels().size() - 1;
    const auto kernel = contents(hierarchy.levels()[last]->kernel);
    const auto sums = image(last, kernel, false), sizes = image(last, kernel, true);
    for (std::size_t i = 0; i < sums.size(); ++i) EXPECT_NEAR(sums[i], 0, 1000 * epsilon<double>() * sizes[i]) << i;
    EXPECT_GT(hierarchy.levels()[last]->dense->facts().shift, 0);
  }
}

TEST_P(MultigridLevelsOf, a_neumann_problem_that_has_a_solution_is_solved) {
  Context ctx = context();
  const Csr<double> A = neumann_grid(60);
  std::vector<double> b = random_vector<double>(3, A.rows());
  const double mean = std::accumulate(b.begin(), b.end(), 0.0) / static_cast<double>(b.size());
  for (double& entry : b) entry -= mean;
  for (const MultigridMethod method : methods_of_levels) {
    AmgOptions options;
    options.method = method;
    const auto solved = solve(ctx, A, b, PcgOptions{.max_iterations = 100}, options);
    EXPECT_EQ(solved.report.reason, Reason::converged);
    EXPECT_LE(relative_residual(reference(A), to_reference(solved.x), to_reference(b)), 1.1e-8);
  }
}

TEST_P(MultigridLevelsOf, aggregates_are_the_same_again_and_after_a_solve) {
  Context ctx = context();
  const Csr<double> A = grid_of(Jumps3dOptions{.nx = 20, .block = 4});
  const auto aggregates = [&] { return contents(aggregate_mis2(ctx, strong_graph(ctx, A), A).of_row); };
  const auto first = aggregates();
  EXPECT_EQ(aggregates(), first);
  EXPECT_GT(iterations_of_pcg(ctx, A), 0);
  EXPECT_EQ(aggregates(), first);
}

TEST_P(MultigridLevelsOf, keys_change_levels_as_they_say) {
  Context ctx = context();
  const AnyMatrix<double> A = generate<double>(Poisson3dOptions{.nx = 16});
  const auto hierarchy = [&](const MultigridOptions& options) {
    return Hierarchy<double>(ctx, options, {.A = A, .hermitian = true}).reports();
  };
  for (const int passes : {1, 2, 3, 4}) {  // an even grid has no row that is left over
    MultigridOptions options = with_small_levels(MultigridMethod::aggregation);
    options.matching_passes = passes;
    EXPECT_EQ(hierarchy(options)[1].rows, 4096 >> passes);
  }
  MultigridOptions few = with_small_levels(MultigridMethod::smoothed_aggregation);
  EXPECT_GE(hierarchy(few).size(), 3u);
  few.max_levels = 2;
  const Hierarchy<double> two(ctx, few, {.A = A, .hermitian = true});
  EXPECT_EQ(two.levels().size(), 2u);
  ASSERT_EQ(two.notes().size(), 1u);
  EXPECT_NE(two.notes()[0].find("max_levels is 2"), std::string::npos) << two.notes()[0];
  // Everything binds on the finest level; with a threshold of one weak entries bind nothing on the next.
  MultigridOptions strict = with_small_levels(MultigridMethod::smoothed_aggregation), falling = strict;
  strict.strength.threshold = falling.strength.threshold = 1, falling.strength.level_factor = 0.1;
  EXPECT_EQ(hierarchy(strict)[1].rows, hierarchy(falling)[1].rows);
  EXPECT_NE(hierarchy(strict)[1].not_aggregated, hierarchy(falling)[1].not_aggregated);
}

INSTANTIATE_TEST_SUITE_P(, MultigridLevelsOf, backends, param_name);

/// Each pair of keys that do not go together is told apart from its neighbor that does.
TEST(AmgOptions, name_the_key_that_does_not_belong) {
  AmgOptions smoothed, plain;
  plain.method = MultigridMethod::aggregation;
  EXPECT_TRUE(smoothed.conflict().message.empty());
  EXPECT_TRUE(plain.conflict().message.empty());
  const auto key = [](AmgOptions options, auto&& change) {
    change(options);
    const OptionConflict conflict = options.conflict();
    std::string path;
    for (const std::string_view step : conflict.key) path += (path.empty() ? "" : ".") + std::string(step);
    EXPECT_EQ(path.empty(), conflict.message.empty());
    return path;
  };
  EXPECT_EQ(key(smoothed, [](AmgOptions& o) { o.matching_passes = 2; }), "matching_passes");
  EXPECT_EQ(key(smoothed, [](AmgOptions& o) { o.matching_passes = 2, o.aggregates = AggregateChoice::matching; }), "");
  EXPECT_EQ(key(plain, [](AmgOptions& o) { o.matching_passes = 2; }), "");
  EXPECT_EQ(key(plain, [](AmgOptions& o) { o.matching_passes = 2, o.aggregates = AggregateChoice::mis2; }),
            "matching_passes");
  EXPECT_EQ(key(smoothed, [](AmgOptions& o) { o.over_correction = 1.5; }), "over_correction");
  EXPECT_EQ(key(plain, [](AmgOptions& o) { o.over_correction = 1.5; }), "");
  EXPECT_EQ(key(plain, [](AmgOptions& o) { o.interpolation_damping = 1; }), "damping");
  EXPECT_EQ(key(smoothed, [](AmgOptions& o) { o.interpolation_damping = 1; }), "");
  EXPECT_EQ(key(plain, [](AmgOptions& o) { o.restriction = RestrictionChoice::adjoint_matrix; }), "restriction");
  EXPECT_EQ(key(smoothed, [](AmgOptions& o) { o.restriction = RestrictionChoice::adjoint_matrix; }), "");
  EXPECT_EQ(key(smoothed, [](AmgOptions& o) { o.near_null_space.path = "a.mtx"; }), "near_null_space.path");
  EXPECT_EQ(key(smoothed, [](AmgOptions& o) { o.near_null_space.type = CandidateKind::file; }), "near_null_space.path");
  EXPECT_EQ(key(smoothed,
                [](AmgOptions& o) {
                  o.near_null_space = {CandidateKind::rigid_body, 3, {}};
                }),
            "near_null_space.block_dim");
  EXPECT_EQ(key(smoothed, [](AmgOptions& o) { o.near_null_space = {CandidateKind::rigid_body, 1, "a.mtx"}; }), "");
}

}  // namespace
}  // namespace krill::test
