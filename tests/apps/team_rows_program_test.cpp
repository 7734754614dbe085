// `krill solve` as several processes: which rows of the matrix each of them makes, reads and has.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sparse/core/optional_libraries.hpp"
#include "sparse/io/read.hpp"
#include "tests/apps/team_program.hpp"

namespace krill::apps {
namespace {

using test::contains;
using test::Outcome;
using test::TeamProgram;

/// Ranks that have their own rows only and those that have the whole matrix of a packed file come to the same bits.
TEST_F(TeamProgram, makes_or_reads_own_rows_with_the_same_bits) {
  const auto compare = [&](const std::string& generated, const std::string& settings) {
    SCOPED_TRACE(generated + " " + settings);
    ASSERT_EQ(krill("generate " + generated + " -o A.mtx").code, 0);
    ASSERT_EQ(std::system(("cd '" + (folder_ / "") + "' && gzip -kf A.mtx").c_str()), 0);
    std::string made = "{generate: " + generated;
    for (auto at = made.find(' ', made.find(' ') + 1); at != std::string::npos; at = made.find(' ', at + 2))
      made.replace(at, 1, ", ");
    for (auto at = made.find('='); at != std::string::npos; at = made.find('=', at)) made.replace(at, 1, ": ");
    for (const int n : {1, 2, 3, 4}) {
      SCOPED_TRACE(n);
      const auto solve = [&](const std::string& matrix, const std::string& out) {
        const Outcome found =
            n == 1 ? krill("solve case.yaml " + settings + " --backend host --threads 1 --set 'matrix=" + matrix +
                           "' --out " + out)
                   : ranks(n, "solve case.yaml " + settings + " --set 'matrix=" + matrix + "' --out " + out);
        EXPECT_EQ(found.code, 0) << found.out << found.err;
        return report(out);
      };
      const auto whole = solve("{file: A.mtx.gz}", "whole"), shares = solve("{file: A.mtx}", "shares"),
                 rows = solve(made + "}", "rows");
      for (const auto& own : {shares, rows}) {
        EXPECT_EQ(own["iterations"], whole["iterations"]);
        EXPECT_EQ(own["residual"], whole["residual"]);
        EXPECT_EQ(own["verification"]["verdict"], "PASS");
        if (n == 1) continue;
        EXPECT_EQ(own["team"]["matrix"], "own rows") << own["team"];
        EXPECT_TRUE(own["team"]["why_whole"].is_null());
        EXPECT_EQ(own["team"]["imbalance"], whole["team"]["imbalance"]);
      }
      if (n > 1) {
        EXPECT_EQ(whole["team"]["matrix"], "whole");
        EXPECT_EQ(whole["team"]["why_whole"],
                  "the file is packed, or holds no square matrix in coordinates, and is read whole");
      }
      EXPECT_EQ(test::contents(folder_ / "shares/solution.mtx"), test::contents(folder_ / "whole/solution.mtx"));
      EXPECT_EQ(test::contents(folder_ / "rows/solution.mtx"), test::contents(folder_ / "whole/solution.mtx"));
    }
  };
  compare("poisson2d nx=24", "--set rhs.type=manufactured");
  compare("poisson2d nx=24", "--set preconditioner=isai");
  compare("jumps3d nx=8 block=3", "--set preconditioner.type=chebyshev --set rhs.type=random");
  compare("convection_diffusion2d nx=20 ny=31",
          "--set solver.type=gmres --set 'preconditioner={type: schwarz, inner: ilu0}'");
  compare("elasticity3d nx=3", "--set 'preconditioner={type: block_jacobi, block_dim: 3}'");
  compare("random_dominant rows=300", "--set solver=auto --set preconditioner=auto --set ordering=none");
}

/// As many parts as there are ranks, fewer and more; the matrix and the vectors are those of Matrix Market files.
TEST_F(TeamProgram, reads_the_parts_that_hypre_writes) {
  ASSERT_EQ(krill("generate convection_diffusion2d nx=20 ny=31 -o A.mtx").code, 0);
  krill::CanonicalReport canonical;
  const auto any = krill::assemble(krill::read_matrix<double>(folder_ / "A.mtx").matrix, canonical);
  const auto& A = std::get<krill::Csr<double>>(any);
  std::string b = fmt::format("%%MatrixMarket matrix array real general\n{} 1\n", A.rows());
  const auto entry = [](std::int32_t row) { return fmt::format("{:.17g}\n", 1 + 0.37 * (row % 11)); };
  for (std::int32_t row = 0; row < A.rows(); ++row) b += entry(row);
  folder_.write("b.mtx", b);
  for (const int parts : {1, 2, 3, 5})
    for (int k = 0; k < parts; ++k) {
      const std::int32_t begin = A.rows() * k / parts, end = A.rows() * (k + 1) / parts;
      std::string rows = fmt::format("{0} {1} {0} {1}\n", begin, end - 1), own = fmt::format("{} {}\n", begin, end - 1);
      for (std::int32_t row = begin; row < end; ++row) {
        const auto at = [&](std::int32_t i) { return A.row_offsets().host()[static_cast<std::size_t>(i)]; };
        for (auto e = static_cast<std::size_t>(at(row)); std::cmp_less(e, at(row + 1)); ++e)
          rows += fmt::format("{} {} {:.17g}\n", row, A.col_indices().host()[e], A.values().host()[e]);
        own += fmt::format("{} {}", row, entry(row));
      }
      folder_.write(fmt::format("A{}.{:05}", parts, k), rows);
      folder_.write(fmt::format("b{}.{:05}", parts, k), own);
    }
  const std::string method = "--backend host --set solver.type=gmres --set preconditioner=jacobi --set matrix.file=";
  for (const int n : {1, 2, 3, 4}) {
    const auto solve = [&](const std::string& arguments) {
      const Outcome found = n == 1 ? krill("solve case.yaml --threads 1 " + method + arguments)
                                   : ranks(n, "solve case.yaml " + method + arguments);
      EXPECT_EQ(found.code, 0) << found.out << found.err;
    };
    solve("A.mtx --set 'rhs={type: file, path: b.mtx}' --set 'initial_guess={type: file, path: b.mtx}' --out market");
    for (const int parts : {1, 2, 3, 5}) {
      SCOPED_TRACE(fmt::format("{} parts on {} ranks", parts, n));
      solve(
          fmt::format("A{0}.00000 --set 'rhs={{type: file, path: b{0}}}' --set 'initial_guess={{type: file, path: "
                      "b{0}.00000}}' --out parts",
                      parts));
      EXPECT_EQ(test::contents(folder_ / "parts/solution.mtx"), test::contents(folder_ / "market/solution.mtx"));
      EXPECT_EQ(report("parts")["verification"]["verdict"], "PASS");
      EXPECT_EQ(report("parts")["matrix"]["file"]["format"], "hypre IJ") << report("parts")["matrix"];
      if (n == 1) continue;
      EXPECT_EQ(report("parts")["team"]["matrix"], "own rows");
    }
  }
  const Outcome seen = krill("inspect A3");
  EXPECT_EQ(seen.code, 0) << seen.err;
  EXPECT_TRUE(contains(seen.out, "hypre IJ, sparse real, general")) << seen.out;
  std::filesystem::remove(folder_ / "A3.00001");
  const Outcome missing = ranks(3, "solve case.yaml --set matrix.file=A3");
  EXPECT_EQ(missing.code, 2);
  EXPECT_TRUE(contains(missing.err, "A3.00001: this part is missing, A3.00002 is there")) << missing.err;
}

TEST_F(TeamProgram, has_the_whole_matrix_where_that_is_needed) {
  const auto why = [&](const std::string& settings) {
    const Outcome found = ranks(2, "solve case.yaml --set verify.reference=none --out whole " + settings);
    EXPECT_EQ(found.code, 0) << found.out << found.err;
    const auto team = report("whole")["team"];
    EXPECT_EQ(team["matrix"], team["why_whole"].is_null() ? "own rows" : "whole");
    return team["why_whole"].is_null() ? "" : team["why_whole"].get<std::string>();
  };
  EXPECT_EQ(why(""), "");
  EXPECT_EQ(why("--set precision=float32 --set solver.stop.relative=1e-5"), "");
  EXPECT_EQ(why("--set ordering=rcm"), "ordering rcm looks at the whole matrix");
  EXPECT_EQ(why("--set scaling.type=diagonal"), "scaling diagonal is of the whole matrix, which judges");
  EXPECT_EQ(why("--set preconditioner=isai"), "");
  EXPECT_EQ(why("--set preconditioner=block_jacobi"),
            "preconditioner block_jacobi looks for its block_dim in the whole matrix; name it");
  EXPECT_EQ(why("--set 'matrix={generate: random_spd, rows: 200}'"),
            "random_spd makes no rows without all edges of its graph");
  EXPECT_EQ(why("--set 'matrix={generate: anisotropic2d, nx: 20}' --set precision=float32 "
                "--set solver.stop.relative=1e-4"),
            "values were rounded to single precision, and the whole matrix in double precision judges");
  EXPECT_EQ(why("--set 'matrix={generate: stokes2d, nx: 6}' --set solver.type=gmres --set preconditioner=none"),
            "zeros on the diagonal make its structural rank a question, which takes the whole matrix");
}

/// More ranks than units of rows.
TEST_F(TeamProgram, solves_with_ranks_that_have_no_rows) {
  ASSERT_EQ(krill("generate poisson2d nx=7 -o A.mtx").code, 0);
  for (const std::string matrix : {"{generate: poisson2d, nx: 7}", "{file: A.mtx}"}) {
    const Outcome found = ranks(4, "solve case.yaml --set 'matrix=" + matrix + "' --out few");
    ASSERT_EQ(found.code, 0) << found.err;
    const auto team = report("few")["team"];
    EXPECT_EQ(team["matrix"], "own rows");
    EXPECT_TRUE(std::ranges::any_of(team["parts"], [](const auto& part) { return part["rows"] == 0; }));
    EXPECT_EQ(report("few")["verification"]["verdict"], "PASS");
  }
}

/// What ranks refuse together is what one process refuses.
TEST_F(TeamProgram, refuses_matrices_in_the_words_of_one_process) {
  const auto compare = [&](const std::string& settings, int code = 2) {
    SCOPED_TRACE(settings);
    const Outcome one = krill("solve case.yaml --backend host " + settings);
    EXPECT_EQ(one.code, code);
    for (const int n : {2, 3}) {
      const Outcome many = ranks(n, "solve case.yaml " + settings);
      EXPECT_EQ(many.code, code) << many.err;
      EXPECT_TRUE(contains(many.err, one.err.substr(one.err.find("krill: ") + 7))) << many.err << one.err;
    }
  };
  compare("--set 'matrix={generate: convection_diffusion2d, nx: 20}'");
  compare("--set 'matrix={generate: helmholtz2d, nx: 20, damping: 0, wavenumber: 60}'");
  std::string text = "%%MatrixMarket matrix coordinate real general\n40 40 40\n";
  for (int i = 1; i <= 40; ++i) text += std::to_string(i) + " " + std::to_string(i) + (i == 33 ? " x" : " 1.5") + "\n";
  folder_.write("wrong.mtx", text);
  compare("--set 'matrix={file: wrong.mtx}'");
  folder_.write("short.mtx", text.substr(0, 150));
  compare("--set 'matrix={file: short.mtx}'");
  text.replace(text.find(" x"), 2, " nan");
  folder_.write("nan.mtx", text);
  compare("--set 'matrix={file: nan.mtx}'");
  compare("--set 'matrix={file: none.mtx}'");
}

/// What is foreseen is what ranks then have.
TEST_F(TeamProgram, has_the_parts_of_the_plan) {
  const Outcome planned = krill("solve case.yaml --plan --ranks 3 --json");
  ASSERT_EQ(planned.code, 0) << planned.err;
  const auto plan = nlohmann::json::parse(planned.out);
  ASSERT_EQ(ranks(3, "solve case.yaml --out run").code, 0);
  const auto parts = report("run")["team"]["parts"];
  ASSERT_EQ(plan["ranks"].size(), 3U);
  for (std::size_t r = 0; r < 3; ++r)
    for (const auto& [key, value] : plan["ranks"][r].items())
      EXPECT_EQ(value, parts[r][key]) << key << " of rank " << r;
  EXPECT_EQ(plan["imbalance"], report("run")["team"]["imbalance"]);
  const Outcome text = krill("solve case.yaml --plan --ranks 3");
  EXPECT_TRUE(contains(text.out, "of the largest of 3 ranks")) << text.out;
  EXPECT_TRUE(contains(text.out, "ghosts")) << text.out;
  const Outcome unplanned = krill("solve case.yaml --ranks 3");
  EXPECT_EQ(unplanned.code, 2);
  EXPECT_TRUE(contains(unplanned.err, "--ranks is for --plan; mpirun -n N")) << unplanned.err;
  const Outcome open = krill("solve case.yaml --plan --ranks 3 --set preconditioner.type=auto");
  EXPECT_TRUE(contains(open.out, "auto chose preconditioner")) << open.out;
  const Outcome refused = krill("solve case.yaml --plan --ranks 3 --set preconditioner.type=ic0");
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "does not run on several ranks")) << refused.err;
}

/// A file of a partition of the case's 576 rows: a number for each, by `rank`.
template <class Rank>
std::string numbers(Rank rank) {
  std::string text;
  for (int i = 0; i < 576; ++i) text += std::to_string(rank(i)) + "\n";
  return text;
}

TEST_F(TeamProgram, shares_rows_by_the_graph_or_a_file) {
  folder_.write("parts.txt", numbers([](int i) { return i % 2 == 0 ? 2 : 0; }));
  std::string integers;
  for (int i = 0; i < 576; ++i) integers += std::string{static_cast<char>(i % 2 == 0 ? 2 : 0), 0, 0, 0};
  folder_.write("parts.bin", integers);
  ASSERT_EQ(ranks(3, "solve case.yaml --out rows").code, 0);
  EXPECT_EQ(report("rows")["team"]["partition"], "rows");
  for (const std::string partition : {"parts.txt", "{file: parts.bin}", "graph"}) {
    if (partition == "graph" && !with_metis) continue;
    const std::string set = " --set 'parallel.partition=" + partition + "'";
    const Outcome found = ranks(3, "solve case.yaml --out team" + set);
    ASSERT_EQ(found.code, 0) << found.out << found.err;
    const auto many = report("team");
    EXPECT_EQ(many["verification"]["verdict"], "PASS") << partition;
    EXPECT_NEAR(many["iterations"].get<int>(), report("rows")["iterations"].get<int>(), 1);
    EXPECT_EQ(many["team"]["partition"], partition == "graph" ? "graph" : "file");
    const auto& parts = many["team"]["parts"];
    for (std::size_t r = 0; partition != "graph" && r < 3; ++r) EXPECT_EQ(parts[r]["rows"], r == 1 ? 0 : 288);

    const Outcome planned = krill("solve case.yaml --plan --ranks 3 --json" + set);
    ASSERT_EQ(planned.code, 0) << planned.err;
    const auto plan = nlohmann::json::parse(planned.out);
    for (std::size_t r = 0; r < 3; ++r)
      for (const auto& [key, value] : plan["ranks"][r].items())
        EXPECT_EQ(value, parts[r][key]) << partition << ": " << key << " of rank " << r;
  }
}

TEST_F(TeamProgram, refuses_files_that_are_no_partition) {
  const auto refusal = [&](const std::string& name, const std::string& contents) {
    folder_.write(name, contents);
    const Outcome found = krill("solve case.yaml --plan --ranks 2 --set parallel.partition=" + name);
    EXPECT_EQ(found.code, 2) << found.out;
    return found.err;
  };
  const auto expect = [](const std::string& found, const std::string& sentence) {
    EXPECT_TRUE(contains(found, sentence)) << found;
  };
  expect(refusal("high.txt", numbers([](int i) { return i == 6 ? 2 : 1; })),
         "high.txt:7: rank 2; a rank from 0 to 1 is needed, for there are 2");
  expect(refusal("low.txt", numbers([](int i) { return i == 9 ? -1 : 1; })), "low.txt:10: rank -1; a rank from 0 to 1");
  expect(refusal("word.txt", "0\n\n1 one\n"), "word.txt:3: \"1 one\" is no number; a rank from 0 to 1 is needed");
  expect(refusal("point.txt", "0\n0.5\n"),
         "point.txt:2: \"0.5\" is no number; a rank from 0 to 1 is needed, one a line");
  expect(refusal("long.txt", numbers([](int) { return 0; }) + "1\n"),
         "long.txt:577: more numbers than the matrix has rows, which are 576");
  expect(refusal("short.txt", "0\n1\n1\n"),
         "short.txt:3: the file ends after 3 numbers; the matrix has 576 rows, each needs one");
  expect(refusal("short.bin", std::string(4 * 575, '\0')),
         "short.bin: the file has 2300 bytes, taken for 32-bit integers, as it is no text; of 576 rows 2304 bytes");
  std::string integers(std::size_t{4} * 576, '\0');
  integers[40] = 3;
  expect(refusal("high.bin", integers), "high.bin: row 10 (counted from 0) has rank 3; a rank from 0 to 1");
  for (const auto& [name, sentence] : {std::pair("high.txt", "high.txt:7: rank 2; a rank from 0 to 1 is needed"),
                                       std::pair("none.txt", "none.txt: cannot be read: No such file or directory")}) {
    const Outcome found = ranks(2, "solve case.yaml --set parallel.partition=" + std::string(name));
    EXPECT_EQ(found.code, 2) << found.out;
    EXPECT_EQ(count(found.err, "krill: "), 1U) << found.err;
    EXPECT_TRUE(contains(found.err, sentence)) << found.err;
    EXPECT_FALSE(exists("out/shared/solution.mtx"));
  }
}

}  // namespace
}  // namespace krill::apps
