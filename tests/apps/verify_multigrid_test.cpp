// What `krill verify` says of multigrid: hierarchies as they are made pass, and each step that is wrong is named.
#include <set>

#include "apps/verify/multigrid_suite.hpp"
#include "apps/verify/precond/amg.hpp"
#include "apps/verify/references/tentative.hpp"
#include "sparse/coarsen/near_null_space.hpp"
#include "sparse/io/generate.hpp"
#include "tests/apps/program.hpp"
#include "tests/support/backends.hpp"

namespace krill::apps::test {
namespace {

using verify::Check;
using verify::Ledger;

AmgOptions with_three_levels(MultigridMethod method = MultigridMethod::smoothed_aggregation) {
  AmgOptions o;
  o.method = method, o.coarse_rows = 12;
  return o;
}

/// The levels of a matrix, and what verify says of them.
template <class T>
class Verified {
 public:
  Verified(Context& ctx, const AmgOptions& o, AnyMatrix<T> A, const Dense<double>* coordinates = nullptr)
      : ctx_(ctx), options_(o), matrix_(std::move(A)), made_(ctx, options_, matrix_, coordinates) {}

  MultigridLevel<T>& level(std::size_t l) { return *made_.levels.levels()[l]; }
  std::size_t levels() const { return made_.levels.levels().size(); }
  Csr<T>& coarse(std::size_t l) { return std::get<Csr<T>>(*level(l).A); }
  MatrixTransfer<T>& transfer(std::size_t l) { return dynamic_cast<MatrixTransfer<T>&>(*level(l).transfer); }

  Ledger check() {
    Ledger ledger;
    ledger.about("multigrid", "a matrix");
    const auto& [block_dim, columns] = made_.space;
    verify::check_hierarchy<T>(
        ledger, ctx_, "", options_, made_.levels, matrix_,
        {block_dim, columns ? columns->clone() : constant_candidates<T>(ctx_, rows(matrix_), block_dim)});
    return ledger;
  }

 private:
  Context& ctx_;
  AmgOptions options_;
  AnyMatrix<T> matrix_;
  verify::AmgHierarchy<T> made_;
};

std::vector<std::string> names(const Ledger& ledger, Verdict verdict) {
  std::vector<std::string> found;
  for (const Check& check : ledger.checks())
    if (check.result.verdict == verdict) found.push_back(check.name);
  return found;
}
std::string first(const std::vector<std::string>& names) { return names.empty() ? "" : names.front(); }
bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

using VerifyMultigrid = krill::test::OnBackendAndScalar;

TEST_P(VerifyMultigrid, passes_what_is_made) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Elasticity3dOptions bar{.nx = 4, .ny = 2, .nz = 2};
    const Dense<double> coordinates = *node_coordinates(bar);
    AmgOptions elastic = with_three_levels(), plain = with_three_levels(MultigridMethod::aggregation), w = plain,
               f = with_three_levels(), krylov = plain, swept = plain, jacobi = f, diagonal = f, bounded = f,
               rooted = plain;
    elastic.near_null_space.type = CandidateKind::rigid_body;
    w.cycle = MultigridCycle::w, f.cycle = MultigridCycle::f, krylov.cycle = MultigridCycle::k;
    swept.smoother.type = SmootherKind::multicolor_gauss_seidel, jacobi.smoother.type = SmootherKind::l1_jacobi;
    diagonal.strength.measure = StrengthMeasure::diagonal, diagonal.strength.threshold = 0.08;
    bounded.smoother.eigenvalue_steps = 0, rooted.aggregates = AggregateChoice::mis2;
    rooted.near_null_space.block_dim = 1, rooted.over_correction = 1.5;
    const auto expect_pass = [&](const AmgOptions& o, AnyMatrix<T> A, const Dense<double>* at = nullptr) {
      Verified<T> made(ctx, o, std::move(A), at);
      EXPECT_GE(made.levels(), 2u);
      const Ledger ledger = made.check();
      EXPECT_EQ(names(ledger, Verdict::fail), std::vector<std::string>());
      EXPECT_GT(ledger.count(Verdict::pass), 10);
      for (const Check& check : ledger.checks()) {
        EXPECT_TRUE(check.result.verdict != Verdict::none || !check.result.reason.empty()) << check.name;
      }
    };
    for (const AmgOptions& o : {with_three_levels(), plain, w, f, krylov, swept, jacobi, diagonal, bounded, rooted})
      expect_pass(o, generate<T>(Poisson2dOptions{.nx = 15}));
    expect_pass(elastic, generate<T>(bar), &coordinates);
    expect_pass(f, generate<T>(Jumps3dOptions{.nx = 7, .block = 2}));
    expect_pass(f, generate<T>(ConvectionDiffusion2dOptions{.nx = 13}));
  });
}

/// Where errors are small beside values, as of a small Poisson problem, all that a cycle has to be is decided.
TEST_P(VerifyMultigrid, decides_what_a_cycle_has_to_be) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const auto cycle : {MultigridCycle::v, MultigridCycle::w})
      for (const auto method : {MultigridMethod::smoothed_aggregation, MultigridMethod::aggregation}) {
        AmgOptions o = with_three_levels(method);
        o.cycle = cycle;
        if (sizeof(real_t<T>) == 4) o.coarse_rows = 80;  // of more levels errors are not small any more
        const Ledger ledger = Verified<T>(ctx, o, generate<T>(Poisson2dOptions{.nx = 12})).check();
        const std::vector<std::string> passed = names(ledger, Verdict::pass);
        for (const char* name : {"cycle, one step after the other", "cycle, linear", "cycle, Hermitian",
                                 "cycle, positive", "cycle, contraction", "level 0, smoother, adjoint after"})
          EXPECT_TRUE(has(passed, name)) << name;
      }
  });
}

/// Something wrong in one place is found by the check of that place before any other.
TEST_P(VerifyMultigrid, names_the_step_that_is_wrong) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    using Made = Verified<T>;
    const auto some = [](auto& array) -> auto& { return array.edit()[static_cast<std::size_t>(array.size() / 3)]; };
    struct Mutant {
      const char* name;
      void (*break_)(Context&, Made&, decltype(some)&);
      bool plain = false;
    };
    static constexpr auto grown = static_cast<real_t<T>>(1.01);
    const Mutant mutants[]{
        {"level 0, inverse diagonal",
         [](Context&, Made& m, auto& at) { at(m.level(0).polynomial->inverse()) *= grown; }},
        {"level 1, inverse diagonal",
         [](Context&, Made& m, auto& at) { at(m.level(1).polynomial->inverse()) *= grown; }},
        {"level 0, largest eigenvalue",
         [](Context& ctx, Made& m, auto&) {
           m.level(0).max_eigenvalue.edit()[0] /= 2;
           m.level(0).polynomial->scale_polynomial(ctx, m.level(0).max_eigenvalue);
         }},
        {"level 1, polynomial",
         [](Context& ctx, Made& m, auto&) { m.level(1).polynomial->scale_polynomial(ctx, Array<double>{3}); }},
        {"level 0, interpolation",
         [](Context&, Made& m, auto& at) { at(std::get<Csr<T>>(m.transfer(0).prolongation()).values()) *= grown; }},
        {"level 0, restriction",
         [](Context&, Made& m, auto& at) { at(std::get<Csr<T>>(m.transfer(0).restriction()).values()) *= grown; }},
        {"level 1, matrix R A P", [](Context&, Made& m, auto& at) { at(m.coarse(1).values()) *= grown; }},
        {"level 2, matrix R A P", [](Context&, Made& m, auto& at) { at(m.coarse(2).values()) *= grown; }},
        {"level 2, dense inverse",
         [](Context& ctx, Made& m, auto& at) {
           Csr<T> other = m.coarse(2).clone();
           at(other.values()) *= grown;
           m.level(2).dense->set(ctx, AnyMatrix<T>(std::move(other)), nullptr);
         }},
        {"level 2, candidate of the kernel", [](Context&, Made& m, auto& at) { at(m.level(2).kernel) += T(1); }},
        {"level 1, matrix R A P", [](Context&, Made& m, auto& at) { at(m.coarse(1).values()) *= grown; }, true},
        {"level 0, transfers",
         [](Context&, Made& m, auto&) {
           auto& kept = dynamic_cast<const AggregateTransfer<T>&>(*m.level(0).transfer).aggregates();
           m.level(0).transfer = std::make_unique<AggregateTransfer<T>>(
               Aggregates{kept.count, kept.of_row.clone(), kept.offsets.clone(), kept.rows.clone()}, 1.25);
         },
         true},
        {"level 0, aggregates by matching",
         [](Context&, Made& m, auto&) {
           auto& kept = dynamic_cast<const AggregateTransfer<T>&>(*m.level(0).transfer).aggregates();
           Array<std::int32_t> of_row = kept.of_row.clone();
           of_row.edit()[0] = kept.count - 1;
           m.level(0).transfer = std::make_unique<AggregateTransfer<T>>(
               Aggregates{kept.count, std::move(of_row), kept.offsets.clone(), kept.rows.clone()}, 1);
         },
         true},
    };
    for (const Mutant& mutant : mutants) {
      Made made(ctx,
                with_three_levels(mutant.plain ? MultigridMethod::aggregation : MultigridMethod::smoothed_aggregation),
                generate<T>(Poisson2dOptions{.nx = 15}));
      ASSERT_GE(made.levels(), 3u);
      mutant.break_(ctx, made, some);
      EXPECT_EQ(first(names(made.check(), Verdict::fail)), mutant.name);
    }
  });
}

/// What is wrong with whole cycles is seen in them, too.
TEST_P(VerifyMultigrid, finds_cycles_that_do_not_contract_or_are_not_hermitian) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto failed = [&](auto&& break_it, AmgOptions o = with_three_levels()) {
      Verified<T> made(ctx, o, generate<T>(Poisson2dOptions{.nx = 12}));
      break_it(made);
      return names(made.check(), Verdict::fail);
    };
    EXPECT_TRUE(
        has(failed([&](Verified<T>& made) { made.level(0).polynomial->scale_polynomial(ctx, Array<double>{0.5}); }),
            "cycle, contraction"));
    EXPECT_TRUE(has(failed([&](Verified<T>& made) {
                      for (auto& entry : made.level(0).polynomial->inverse().edit()) entry = -entry;
                    }),
                    "cycle, positive"));
    AmgOptions two = with_three_levels();
    two.coarse_rows = 80;
    EXPECT_TRUE(has(
        failed([&](Verified<T>& made) { std::get<Csr<T>>(made.transfer(0).restriction()).values().edit()[0] = T(100); },
               two),
        "cycle, Hermitian"));
    AmgOptions swept = with_three_levels(MultigridMethod::aggregation);
    swept.smoother = {.type = SmootherKind::multicolor_gauss_seidel, .degree = 1};
    EXPECT_TRUE(has(failed(
                        [&](Verified<T>& made) {  // forward sweeps after the coarser level, too
                          auto forward = smoothing_pairs<T>(swept.smoother)(ctx, *made.level(1).A);
                          forward.after = std::move(smoothing_pairs<T>(swept.smoother)(ctx, *made.level(1).A).before);
                          made.level(1).smoother = std::make_unique<PreconditionedSmoother<T>>(*made.level(1).products,
                                                                                               std::move(forward), 1);
                        },
                        swept),
                    "level 1, smoother"));
  });
}

INSTANTIATE_TEST_SUITE_P(, VerifyMultigrid, krill::test::backends_and_scalars, krill::test::param_name);

using Edges = verify::EdgeLists<std::int32_t>;

/// A path of 9 rows, and its aggregates of three around rows 1, 4 and 7.
struct Path {
  std::vector<std::int32_t> offsets{0, 1, 3, 5, 7, 9, 11, 13, 15, 16},
      cols{1, 0, 2, 1, 3, 2, 4, 3, 5, 4, 6, 5, 7, 6, 8, 7}, of_row{0, 0, 0, 1, 1, 1, 2, 2, 2}, sets{0, 3, 6, 9},
      rows{0, 1, 2, 3, 4, 5, 6, 7, 8};
  Edges graph() const { return {offsets, cols}; }
  verify::DisjointRows parts() const { return {3, of_row, sets, rows}; }
};

TEST(CoarseningReferences, find_wrong_graphs) {
  const Path path;
  std::vector<double> values(path.cols.size(), -1);
  const auto wrong = [&](const Edges& graph, double threshold) {
    return verify::wrong_graph<double>(path.graph(), values, graph, threshold, 1e-15);
  };
  EXPECT_EQ(wrong(path.graph(), 0.25), "");
  values[8] = values[9] = -0.2;  // entries (4, 5) and (5, 4), in rows with others of 1
  EXPECT_EQ(wrong(path.graph(), 0.1), "");
  EXPECT_EQ(wrong(path.graph(), 0.25), "rows 4 and 5 have an edge");
  const std::vector<std::int32_t> offsets{0, 1, 3, 5, 7, 8, 9, 11, 13, 14},
      cols{1, 0, 2, 1, 3, 2, 4, 3, 6, 5, 7, 6, 8, 7};
  EXPECT_EQ(wrong({offsets, cols}, 0.25), "");
  EXPECT_EQ(wrong({offsets, cols}, 0.1), "rows 4 and 5 have no edge");
}

TEST(CoarseningReferences, find_wrong_aggregates) {
  Path path;
  EXPECT_EQ(verify::wrong_aggregates(path.graph(), path.parts()), "");
  EXPECT_EQ(verify::wrong_roots(path.graph(), path.parts()), "");
  Path apart = path;  // row 2 goes to the last one
  apart.of_row = {0, 0, 2, 1, 1, 1, 2, 2, 2}, apart.sets = {0, 2, 5, 9}, apart.rows = {0, 1, 3, 4, 5, 2, 6, 7, 8};
  EXPECT_EQ(verify::wrong_aggregates(apart.graph(), apart.parts()), "3 aggregates fall into 4 parts");
  Path near = path;  // the second has two rows, neither with all of its neighbors
  near.of_row = {0, 0, 0, 1, 1, 2, 2, 2, 2}, near.sets = {0, 3, 5, 9};
  EXPECT_EQ(verify::wrong_aggregates(near.graph(), near.parts()), "");
  EXPECT_EQ(verify::wrong_roots(near.graph(), near.parts()), "aggregate 1 has no row that may be its root");
  Path open = path;
  open.of_row = {0, 0, 0, 1, 1, 1, 2, 2, -1}, open.sets = {0, 3, 6, 8}, open.rows.pop_back();
  EXPECT_EQ(verify::wrong_roots(open.graph(), open.parts()), "row 8 has neighbors and is in no aggregate");
  Path listed = path;
  std::swap(listed.rows[2], listed.rows[3]);
  EXPECT_EQ(verify::wrong_aggregates(listed.graph(), listed.parts()), "row 3 is listed in aggregate 0");
}

/// Columns (1, 1, 1) / sqrt 3 for constants, and what is made of them by a small change.
TEST(CoarseningReferences, find_wrong_tentative_prolongators) {
  const Path path;
  verify::Rows<double> P{9, 3, {0}, {}, {}};
  for (std::int32_t i = 0; i < 9; ++i)
    P.col.push_back(i / 3), P.value.push_back(1 / std::sqrt(3.0)), P.offsets.push_back(P.col.size());
  double length = std::sqrt(3.0);
  const auto judged = [&] {
    const auto fine = [](std::int32_t, std::int32_t) { return 1.0; };
    const auto coarse = [&](std::int32_t, std::int32_t) { return length; };
    const verify::TentativeReference<double, decltype(fine), decltype(coarse)> reference(P, path.parts(), 1, 1, fine,
                                                                                         coarse);
    return reference.wrong_pattern() + std::string(name(verify::compare<double>(reference.restored()).verdict)) + ", " +
           std::string(name(verify::compare<double>(reference.gram()).verdict));
  };
  EXPECT_EQ(judged(), "PASS, PASS");
  length *= 1 + 1e-12;
  EXPECT_EQ(judged(), "FAIL, PASS");
  length = std::sqrt(3.0), P.value[4] *= 1 + 1e-12;
  EXPECT_EQ(judged(), "FAIL, FAIL");
  P.value[4] = 1 / std::sqrt(3.0), P.col[4] = 2;
  EXPECT_EQ(judged(), "row 4 of P0 has other columns than its aggregatePASS, PASS");
}

}  // namespace
}  // namespace krill::apps::test
