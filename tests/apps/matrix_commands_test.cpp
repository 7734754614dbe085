// generate, convert and inspect.
#include <fmt/format.h>

#include "apps/case/generator.hpp"
#include "apps/case/keys.hpp"
#include "apps/commands/commands.hpp"
#include "tests/apps/program.hpp"

namespace krill::apps::test {
namespace {

using Json = nlohmann::json;

class MatrixCommands : public Program {
 protected:
  Json inspected(const std::string& file) {
    const Outcome o = krill("inspect " + file + " --json");
    EXPECT_EQ(o.code, 0) << o.err;
    return Json::parse(o.out);
  }
};

TEST(Generator, takes_its_keys_and_keeps_the_other_defaults) {
  const auto options =
      std::get<Anisotropic2dOptions>(parse_generator("anisotropic2d", {"nx=7", "epsilon=1e-3", "angle=-45"}));
  EXPECT_EQ(options.nx, 7);
  EXPECT_EQ(options.ny, Anisotropic2dOptions().ny);
  EXPECT_EQ(options.epsilon, 1e-3);
  EXPECT_EQ(options.angle, -45);
}

TEST_F(MatrixCommands, every_generator_makes_a_file_that_reads_back) {
  for (const auto& type : types_of(case_key("matrix"))) {
    const Key& matrix = case_key("matrix");
    const bool grid = find_key(matrix.alternative(type)->keys(), "nx") != nullptr;
    const Outcome o = krill(fmt::format("generate {0} {1} -o {0}.mtx", type, grid ? "nx=4" : "rows=50"));
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_TRUE(contains(o.out, type + ".mtx: ")) << o.out;
    const Json m = inspected(type + ".mtx");
    EXPECT_GT(m["nnz"], 0) << type;
    EXPECT_EQ(m["complex"], type.starts_with("helmholtz")) << type;
    EXPECT_EQ(m["non_finite"], 0) << type;
  }
}

TEST_F(MatrixCommands, a_generated_file_says_how_it_was_made) {
  krill("generate poisson2d nx=3 -o a.mtx");
  EXPECT_TRUE(contains(contents(folder_ / "a.mtx"), "\n% krill generate poisson2d nx=3 ny=0 stencil=5\n"))
      << contents(folder_ / "a.mtx");
}

/// Coordinates are written where a generator has some, and a case whose matrix is in a file reads them.
TEST_F(MatrixCommands, coordinates_of_nodes_go_to_a_file_and_come_from_one) {
  const Outcome o = krill("generate elasticity3d nx=2 ny=1 nz=1 -o bar.mtx --coordinates nodes.mtx");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(contains(o.out, "nodes.mtx: 8 nodes\n")) << o.out;
  EXPECT_TRUE(contains(contents(folder_ / "nodes.mtx"),
                       "\n8 3\n1\n2\n1\n2\n1\n2\n1\n2\n0\n0\n1\n1\n0\n0\n1\n1\n0\n0\n0\n0\n1\n1\n1\n1\n"))
      << contents(folder_ / "nodes.mtx");
  const Outcome none = krill("generate poisson2d nx=2 -o a.mtx --coordinates places.mtx");
  EXPECT_EQ(none.code, 2);
  EXPECT_TRUE(contains(none.err, "poisson2d has none")) << none.err;
  EXPECT_FALSE(exists("a.mtx"));

  folder_.write("good.yaml", "matrix: {file: bar.mtx, coordinates: nodes.mtx}\nsolver: pcg\n");
  EXPECT_EQ(krill("solve good.yaml --backend host").code, 0);
  const std::string array = "%%MatrixMarket matrix array real general\n";
  for (const auto& [text, complaint] :
       {std::pair{"7 1\n1\n1\n1\n1\n1\n1\n1\n", "has 7 rows, one for each node; the matrix has 24 rows"},
        {"1 4\n1\n1\n1\n1\n", "has 4 columns; 1 to 3 are expected"},
        {"2 2\n1\n1\n1\nnan\n", "entry 3 (counted from 0) is nan"}}) {
    folder_.write("nodes.mtx", array + text);
    const Outcome wrong = krill("solve good.yaml --backend host");
    EXPECT_EQ(wrong.code, 2);
    EXPECT_TRUE(contains(wrong.err, complaint)) << wrong.err;
  }
}

TEST_F(MatrixCommands, what_cannot_be_written_leaves_nothing) {
  const Outcome o = krill("generate poisson1d nx=5 -o no/such/folder.mtx");
  EXPECT_EQ(o.code, 2);
  EXPECT_TRUE(contains(o.err, "no/such/folder.mtx")) << o.err;
  EXPECT_TRUE(folder_is_empty());
  EXPECT_EQ(krill("convert missing.mtx out.mtx").code, 2);
  EXPECT_TRUE(folder_is_empty());
}

TEST_F(MatrixCommands, conversion_keeps_what_is_stored) {
  folder_.write("a.mtx", "%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n1 1 3\n2 1 4\n");
  EXPECT_EQ(krill("convert a.mtx b.mtx").code, 0);
  EXPECT_TRUE(contains(contents(folder_ / "b.mtx"), "symmetric\n2 2 2\n1 1 3\n2 1 4\n")) << contents(folder_ / "b.mtx");
}

TEST_F(MatrixCommands, conversion_to_general_and_back_to_one_triangle) {
  folder_.write("a.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n2 1 4\n1 1 0.1\n");
  EXPECT_EQ(krill("convert a.mtx b.mtx --general").code, 0);
  EXPECT_TRUE(contains(contents(folder_ / "b.mtx"), "general\n2 2 3\n1 1 0.1\n1 2 4\n2 1 4\n"))
      << contents(folder_ / "b.mtx");
  EXPECT_EQ(krill("convert b.mtx c.mtx --symmetric").code, 0);
  EXPECT_TRUE(contains(contents(folder_ / "c.mtx"), "symmetric\n2 2 2\n1 1 0.1\n2 1 4\n"))
      << contents(folder_ / "c.mtx");
}

TEST_F(MatrixCommands, one_triangle_of_a_nonsymmetric_matrix_is_refused_with_the_entry) {
  folder_.write("a.mtx", banner + "2 2 2\n1 1 1\n1 2 5\n");
  const Outcome o = krill("convert a.mtx b.mtx --symmetric");
  EXPECT_EQ(o.code, 2);
  EXPECT_EQ(o.err,
            "krill: a.mtx: a(0, 1) = 5, a(1, 0) = 0, so the matrix is not symmetric; leave out --symmetric\n"
            "  rows and columns count from 0\n");
  EXPECT_FALSE(exists("b.mtx"));
  folder_.write("wide.mtx", banner + "1 2 1\n1 1 1\n");
  EXPECT_TRUE(contains(krill("convert wide.mtx b.mtx --symmetric").err, "1 x 2 is not square"));
}

TEST_F(MatrixCommands, conversion_drops_small_entries_and_keeps_the_symmetry_of_the_file) {
  folder_.write("a.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n2 1 -4\n1 1 0.1\n2 2 5\n");
  const Outcome o = krill("convert a.mtx b.mtx --drop 0.1");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out, "b.mtx: 2 x 2, 3 entries, symmetric, 1 dropped\n");
  EXPECT_TRUE(contains(contents(folder_ / "b.mtx"), "symmetric\n2 2 2\n2 1 -4\n2 2 5\n"))
      << contents(folder_ / "b.mtx");
  EXPECT_EQ(krill("convert a.mtx b.mtx --drop-percent 26 --general").code, 0);  // two of four, and their tie
  EXPECT_TRUE(contains(contents(folder_ / "b.mtx"), "general\n2 2 1\n2 2 5\n")) << contents(folder_ / "b.mtx");
}

TEST_F(MatrixCommands, duplicates_are_summed_before_entries_are_dropped) {
  folder_.write("a.mtx", banner + "1 2 3\n1 1 1\n1 1 1\n1 2 1.5\n");
  EXPECT_EQ(krill("convert a.mtx b.mtx --drop 1.5").code, 0);
  EXPECT_TRUE(contains(contents(folder_ / "b.mtx"), "general\n1 2 1\n1 1 2\n")) << contents(folder_ / "b.mtx");
}

TEST_F(MatrixCommands, what_cannot_be_dropped_is_refused) {
  folder_.write("a.mtx", banner + "1 1 1\n1 1 1\n");
  for (const char* wrong : {"--drop -1", "--drop nan", "--drop x", "--drop-percent 101", "--drop-percent -1",
                            "--drop-percent nan", "--drop 1 --drop-percent 1"}) {
    const Outcome o = krill("convert a.mtx b.mtx " + std::string(wrong));
    EXPECT_EQ(o.code, 2) << wrong;
    EXPECT_TRUE(contains(o.err, "--drop") || contains(o.err, "needed")) << o.err;
    EXPECT_FALSE(exists("b.mtx")) << wrong;
  }
}

TEST_F(MatrixCommands, a_right_hand_side_that_is_not_there_is_refused) {
  folder_.write("a.mtx", banner + "1 1 1\n1 1 1\n");
  const Outcome o = krill("convert a.mtx b.mtx --rhs c.mtx");
  EXPECT_EQ(o.code, 2);
  EXPECT_TRUE(contains(o.err, "no right-hand side came with this matrix")) << o.err;
  EXPECT_FALSE(exists("b.mtx") || exists("c.mtx"));
}

TEST_F(MatrixCommands, matrix_and_right_hand_side_do_not_go_into_one_file) {
  folder_.write("a.mtx", banner + "1 1 1\n1 1 1\n");
  folder_.write("b.mtx", "what was there");
  for (const char* same : {"b.mtx", "./b.mtx", "../$(basename \"$PWD\")/b.mtx"}) {
    const Outcome o = krill("convert a.mtx b.mtx --rhs " + std::string(same));
    EXPECT_EQ(o.code, 2);
    EXPECT_TRUE(contains(o.err, "the matrix goes into this file; give the right-hand side one of its own")) << o.err;
    EXPECT_EQ(contents(folder_ / "b.mtx"), "what was there");
  }
}

TEST_F(MatrixCommands, inspection_finds_what_is_odd) {
  folder_.write("a.mtx", banner + "3 3 6\n1 1 2\n1 1 1\n1 2 5\n2 1 4\n3 2 0\n3 1 inf\n");
  const Json m = inspected("a.mtx");
  EXPECT_EQ(m["nnz"], 5);
  EXPECT_EQ(m["canonicalization"]["duplicates_summed"], 1);
  EXPECT_EQ(m["canonicalization"]["explicit_zeros_kept"], 1);
  EXPECT_EQ(m["missing_diagonal"], 2);
  EXPECT_EQ(m["first_missing_diagonal"], 1);
  EXPECT_EQ(m["non_finite"], 1);
  EXPECT_EQ(m["first_not_symmetric"]["row"], 0);
  EXPECT_EQ(m["first_not_symmetric"]["col"], 1);
  const std::string table = krill("inspect a.mtx").out;
  for (const std::string part :
       {"duplicates summed: 1", "a(0, 1) = 5", "no solver takes them", "missing: 2 (first in row 1)"})
    EXPECT_TRUE(contains(table, part)) << part << "\n" << table;
}

TEST_F(MatrixCommands, inspection_takes_dense_arrays_and_vectors) {
  folder_.write("dense.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n0\n3\n4\n");
  EXPECT_EQ(inspected("dense.mtx")["nnz"], 3);
  folder_.write("vector.mtx", "%%MatrixMarket vector coordinate complex general\n5 1\n2 1.5 -1\n");
  const Json vector = inspected("vector.mtx");
  EXPECT_EQ(vector["rows"], 5);
  EXPECT_EQ(vector["cols"], 1);
  EXPECT_EQ(vector["file"]["vector"], true);
}

TEST_F(MatrixCommands, inspection_refuses_bad_files) {
  folder_.write("a.mtx", banner + "2 2 1\n3 1 1\n");
  const Outcome o = krill("inspect a.mtx");
  EXPECT_EQ(o.code, 2);
  EXPECT_EQ(o.out, "");
  EXPECT_TRUE(o.err.starts_with("krill: a.mtx:3:1: row index 3 is out of range")) << o.err;
}

/// The folder of the odd matrices, or an empty path.
std::filesystem::path odd_matrices() {
  const char* matrices = std::getenv("KRILL_MATRICES");
  const auto folder = std::filesystem::absolute(matrices ? matrices : "../shared/matrices") / "odd";
  return std::filesystem::exists(folder / "MANIFEST.tsv") ? folder : "";
}

TEST_F(MatrixCommands, inspection_of_odd_files_does_what_their_manifest_says) {
  const auto folder = odd_matrices();
  if (folder.empty()) GTEST_SKIP() << "no odd matrices; KRILL_MATRICES names the folder of the matrices";
  std::ifstream manifest(folder / "MANIFEST.tsv");
  std::string line;
  std::getline(manifest, line);
  int files = 0;
  for (; std::getline(manifest, line); ++files) {
    std::istringstream fields(line);
    std::string file, bytes, expected;
    std::getline(std::getline(std::getline(fields, file, '\t'), bytes, '\t'), expected, '\t');
    // Its indices count from 0, which the format does not know and which is refused like any index out of range.
    if (file == "russell_ok_rectangular.mtx.gz") expected = "error";
    const Outcome o = krill("inspect '" + (folder / file).string() + "'");
    const bool either = expected.find("-or-") != std::string::npos;
    EXPECT_TRUE(o.code == 0 || o.code == 2) << file;
    const int wanted = expected == "error" ? 2 : 0;
    EXPECT_TRUE(either || o.code == wanted) << file << ": " << expected << "\n" << o.err;
    EXPECT_EQ(o.err.empty(), o.code == 0) << file << o.err;
  }
  EXPECT_GT(files, 100);
}

}  // namespace
}  // namespace krill::apps::test
