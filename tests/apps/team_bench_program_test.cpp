// `krill bench scaling`, which several processes run.
#include <set>

#include "tests/apps/team_program.hpp"

namespace krill::apps {
namespace {

using test::contains;
using test::Outcome;
using test::TeamProgram;

TEST_F(TeamProgram, bench_scaling_has_rows_of_either_kind) {
  const Outcome found = ranks(2, "bench scaling --matrix poisson2d nx=24 --preconditioner jacobi --out r.json");
  ASSERT_EQ(found.code, 0) << found.out << found.err;
  EXPECT_EQ(count(found.out, "us a step"), 1U) << "one rank speaks:\n" << found.out;
  const auto result = test::json_file(folder_ / "r.json");
  EXPECT_TRUE(contains(result["device"].get<std::string>(), "2 ranks on the host, 1 thread each"));
  ASSERT_EQ(result["rows"].size(), 6U);
  std::set<std::string> variants;
  for (std::size_t k = 0; k < 6; ++k) {
    const auto& row = result["rows"][k];
    const int rows = k < 3 ? 576 : 1152;
    const double ms = row["ms"], one = row["one_rank_ms"], speed_up = row["speed_up"];
    EXPECT_EQ(row["kernel"], "scaling");
    EXPECT_EQ(row["case"], std::string("poisson2d nx=24") + (k < 3 ? "" : " with 2 times the rows") + " on 2 ranks");
    EXPECT_EQ(row["rows"], rows);
    EXPECT_EQ(row["ranks"], 2);
    EXPECT_EQ(row["halo_bytes"], 24 * 8);
    EXPECT_GT(ms, 0);
    EXPECT_NEAR(speed_up, rows / 576 * one / ms, 1e-9 * speed_up);
    EXPECT_NEAR(row["efficiency"].get<double>(), speed_up / 2, 1e-9 * speed_up);
    EXPECT_GT(row["iterations"], 10);
    variants.insert(row["variant"]);
  }
  EXPECT_EQ(variants, (std::set<std::string>{"pcg, jacobi", "bicgstab, jacobi", "gmres, jacobi"}));
  EXPECT_EQ(result["rows"][0]["one_rank_ms"], result["rows"][3]["one_rank_ms"]);
}

TEST_F(TeamProgram, bench_scaling_has_the_preconditioners_that_are_named) {
  const Outcome found =
      ranks(3, "bench scaling --matrix jumps3d nx=6 block=3 --preconditioner chebyshev,isai,schwarz --out r.json");
  ASSERT_EQ(found.code, 0) << found.out << found.err;
  const auto rows = test::json_file(folder_ / "r.json")["rows"];
  ASSERT_EQ(rows.size(), 18U);
  std::set<std::string> variants;
  for (const auto& row : rows) {
    EXPECT_TRUE(row["error"].is_null()) << row;
    EXPECT_GT(row["ms"], 0);
    EXPECT_TRUE(row["rows"] == 216 || row["rows"] == 648);
    variants.insert(row["variant"]);
  }
  EXPECT_EQ(variants.size(), 9U);
  const Outcome refused = ranks(2, "bench scaling --matrix poisson2d nx=12 --preconditioner ilu0");
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "scaling is measured with none, jacobi, chebyshev, isai and schwarz"))
      << refused.err;
}

/// A matrix that no rank makes alone is still made whole by all of them.
TEST_F(TeamProgram, bench_scaling_takes_graphs_and_files) {
  ASSERT_EQ(krill("generate poisson2d nx=20 -o A.mtx").code, 0);
  for (const std::string matrix : {"resistor_network nx=20", "A.mtx"}) {
    const Outcome found = ranks(2, "bench scaling --preconditioner jacobi --matrix " + matrix + " --out r.json");
    EXPECT_EQ(found.code, 0) << found.out << found.err;
    EXPECT_EQ(test::json_file(folder_ / "r.json")["rows"][0]["rows"], 400);
  }
}

TEST_F(TeamProgram, bench_scaling_says_once_what_a_solver_does_not_take) {
  const Outcome found = ranks(3, "bench scaling --matrix convection_diffusion2d nx=12 --preconditioner none");
  EXPECT_EQ(found.code, 0) << found.out << found.err;
  EXPECT_EQ(count(found.out, "the matrix is not symmetric"), 1U) << found.out;
  EXPECT_EQ(count(found.out, "gmres, none"), 2U) << found.out;
}

TEST_F(TeamProgram, bench_scaling_is_for_several_processes) {
  const Outcome alone = krill("bench scaling --matrix poisson2d nx=12 --backend host");
  EXPECT_EQ(alone.code, 2);
  EXPECT_TRUE(contains(alone.err, "started by a launcher: mpirun -n 2 krill bench scaling")) << alone.err;
}

}  // namespace
}  // namespace krill::apps
