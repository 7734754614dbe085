// What the program advises, taken by its word on the case that it was printed for: that ends better than before.
#include <sstream>
#include <string>

#include "tests/apps/program.hpp"

namespace krill::apps {
namespace {

using test::contains;
using test::Outcome;

struct Advised {
  const char* name;
  const char* matrix;  ///< "N nnz" and entries, as Matrix Market has them
  const char* before;  ///< what the case says
  const char* advice;  ///< what the program has to print
  const char* after;   ///< what the advice changes, by one setting each
};

/// A saddle point: [4 1 0 1; 1 4 1 0; 0 1 0 0; 1 0 0 0], whose zeros on the diagonal are stored or missing.
constexpr const char* saddle = "4 8\n1 1 4\n1 2 1\n1 4 1\n2 1 1\n2 2 4\n2 3 1\n3 2 1\n4 1 1\n";
constexpr const char* saddle_with_zeros =
    "4 10\n1 1 4\n1 2 1\n1 4 1\n2 1 1\n2 2 4\n2 3 1\n3 2 1\n4 1 1\n3 3 0\n4 4 0\n";
/// Regular, its diagonal stored, and the first pivot 0.
constexpr const char* zero_pivot = "3 7\n1 1 0\n1 2 1\n2 1 1\n2 2 1\n2 3 1\n3 2 -1\n3 3 2\n";
/// Symmetric positive definite; without fill, the pivot of the last row is below 0.
constexpr const char* broken_without_fill =
    "4 12\n1 1 3\n2 2 3\n3 3 3\n4 4 3\n1 2 -2\n2 1 -2\n1 4 2\n4 1 2\n2 3 -2\n3 2 -2\n3 4 -2\n4 3 -2\n";
/// Symmetric and indefinite, the diagonal positive.
constexpr const char* indefinite = "3 7\n1 1 1\n1 2 2\n2 1 2\n2 2 1\n2 3 1\n3 2 1\n3 3 5\n";
/// Symmetric and indefinite: the elimination takes the second pivot below 0.
constexpr const char* negative = "3 7\n1 1 1\n1 2 1\n2 1 1\n2 2 -1\n2 3 1\n3 2 1\n3 3 5\n";
/// Symmetric negative definite.
constexpr const char* negative_definite = "3 7\n1 1 -4\n1 2 1\n2 1 1\n2 2 -4\n2 3 1\n3 2 1\n3 3 -4\n";
/// A(J, J) of the columns of row 0 is singular, the matrix is not.
constexpr const char* singular_block = "3 8\n1 1 1\n1 2 2\n2 1 2\n2 2 4\n2 3 1\n3 1 1\n3 3 1\n3 2 0\n";

/// All eigenvalues of the skew-symmetric one are imaginary; without rows to swap, BiCGStab divides by p'Ap = 0.
constexpr const char* skew = "2 2\n1 2 1\n2 1 -1\n";
/// From b = e_1 on, BiCGStab's first half step leaves s = -e_2, to which A s is orthogonal.
constexpr const char* orthogonal_step = "3 6\n1 1 1\n1 2 1\n2 1 1\n2 3 1\n3 2 1\n3 3 1\n";
/// Eigenvalues near 5, 7, 9: Richardson with a step of 1 multiplies the residual by -4 to -8.
constexpr const char* far_from_identity = "3 6\n1 1 5\n1 2 1\n2 2 7\n2 3 2\n3 1 1\n3 3 9\n";
/// a(1, 1) = 1 - 1e110 (1e110 / 1e-100).
constexpr const char* overflowing_pivot = "2 4\n1 1 1e-100\n1 2 1e110\n2 1 1e110\n2 2 1\n";
constexpr const char* far_apart = "2 2\n1 1 1e-300\n2 2 1e300\n";
constexpr const char* dominant = "3 7\n1 1 4.1\n1 2 -1\n2 1 -1\n2 2 4.1\n2 3 -1\n3 2 -1\n3 3 4.1\n";

/// Singular, which only elimination shows; from b = e_1 on, GMRES finds (1, 2, 0) and its null vector.
constexpr const char* dependent_rows = "3 5\n1 1 1\n1 2 2\n2 1 2\n2 2 4\n3 3 1\n";
/// Of condition 4e10: rounding x leaves 1e-6 of b.
constexpr const char* nearly_singular = "2 4\n1 1 1\n1 2 1\n2 1 1\n2 2 1.0000000001\n";

class AdviceIsTrue : public test::Program, public testing::WithParamInterface<Advised> {};

/// Lines that were wrapped put together.
std::string in_one_line(const std::string& text) {
  std::istringstream in(text);
  std::string line;
  for (std::string word; in >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

TEST_P(AdviceIsTrue, on_the_case_that_it_is_printed_for) {
  if (IsSkipped()) return;
  const Advised& a = GetParam();
  std::string matrix = a.matrix;
  matrix.insert(0, matrix.substr(0, matrix.find(' ')) + " ");  // as many columns as rows
  folder_.write("a.mtx", test::banner + matrix);
  folder_.write("e.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n0\n0\n");
  folder_.write("small.mtx", "%%MatrixMarket matrix array real general\n3 1\n1e-50\n2e-50\n3e-50\n");
  const std::string rhs = contains(a.before, "rhs:") ? "" : "rhs: random\n";
  folder_.write("case.yaml", "matrix: a.mtx\nbackend: host\n" + rhs + a.before);
  const Outcome before = krill("solve case.yaml --threads 1");
  EXPECT_NE(before.code, 0) << before.out;
  EXPECT_TRUE(contains(in_one_line(before.out + before.err), a.advice)) << before.out << before.err;
  const Outcome after = krill("solve case.yaml --threads 1 " + std::string(a.after));
  EXPECT_EQ(after.code, 0) << after.out << after.err;
}

INSTANTIATE_TEST_SUITE_P(
    , AdviceIsTrue,
    testing::Values(
        Advised{"jacobi_of_a_saddle_point", saddle, "solver: gmres\npreconditioner: jacobi\n",
                "use preconditioner none", "--set preconditioner=none"},
        Advised{"jacobi_of_a_matched_saddle_point", saddle, "solver: gmres\npreconditioner: jacobi\n",
                "set matching: {type: product}", "--set matching=product"},
        Advised{"ilu0_of_a_matched_saddle_point", saddle, "solver: gmres\npreconditioner: ilu0\n",
                "set matching: {type: product}", "--set matching=product"},
        Advised{"isai_of_a_matched_saddle_point", saddle, "solver: gmres\npreconditioner: isai\n",
                "set matching: {type: product}", "--set matching=product"},
        Advised{"pcg_of_a_negative_definite_matrix", negative_definite, "solver: pcg\n",
                "use scaling: {type: negative}", "--set scaling=negative"},
        Advised{"ilu0_of_a_saddle_point", saddle, "solver: gmres\npreconditioner: ilu0\n", "use preconditioner none",
                "--set preconditioner=none"},
        Advised{"ic0_of_a_saddle_point", saddle, "solver: gmres\npreconditioner: ic0\n",
                "use preconditioner none with solver gmres", "--set preconditioner=none --set solver=gmres"},
        Advised{"chebyshev_of_a_saddle_point", saddle, "solver: gmres\npreconditioner: chebyshev\n",
                "use preconditioner none with solver gmres", "--set preconditioner=none --set solver=gmres"},
        Advised{"isai_of_a_saddle_point", saddle, "solver: gmres\npreconditioner: isai\n", "use preconditioner none",
                "--set preconditioner=none"},
        Advised{"scaling_of_a_saddle_point", saddle, "solver: gmres\nscaling: diagonal\n", "use scaling ruiz",
                "--set scaling=ruiz"},
        Advised{"pcg_of_a_saddle_point", saddle, "solver: pcg\n", "use solver: {type: gmres} or {type: bicgstab}",
                "--set solver=gmres"},
        Advised{"stored_zeros", saddle_with_zeros, "solver: gmres\npreconditioner: jacobi\n", "use preconditioner none",
                "--set preconditioner=none"},
        Advised{"iterations_of_a_saddle_point", saddle, "solver: {type: gmres, max_iterations: 0}\n",
                "matching: {type: product}",
                "--set matching=product --set 'preconditioner={type: ilu0, shift: {type: nonzero}}' "
                "--set solver.max_iterations=10"},
        Advised{"zero_pivot_shifted", zero_pivot, "solver: gmres\npreconditioner: ilu0\n",
                "set shift: {type: nonzero}, or use preconditioner none", "--set preconditioner.shift.type=nonzero"},
        Advised{"zero_pivot_without", zero_pivot, "solver: gmres\npreconditioner: ilu0\n",
                "set shift: {type: nonzero}, or use preconditioner none", "--set preconditioner=none"},
        Advised{"broken_without_fill_shifted", broken_without_fill,
                "solver: pcg\npreconditioner: {type: ic0, shift: {type: none}}\n",
                "set shift: {type: positive_definite}, or use preconditioner jacobi or none",
                "--set preconditioner.shift.type=positive_definite"},
        Advised{"broken_without_fill_by_jacobi", broken_without_fill,
                "solver: pcg\npreconditioner: {type: ic0, shift: {type: none}}\n",
                "set shift: {type: positive_definite}, or use preconditioner jacobi or none",
                "--set preconditioner=jacobi"},
        Advised{"no_shift_helps", indefinite, "solver: gmres\npreconditioner: {type: ic0, shift: {type: none}}\n",
                "(rows count from 0): use preconditioner jacobi or none", "--set preconditioner=jacobi"},
        Advised{"negative_diagonal", negative, "solver: gmres\npreconditioner: ic0\n",
                "use preconditioner none with solver gmres", "--set preconditioner=none"},
        Advised{"chebyshev_of_an_indefinite_matrix", indefinite, "solver: gmres\npreconditioner: chebyshev\n",
                "use preconditioner jacobi with solver gmres", "--set preconditioner=jacobi"},
        Advised{"isai_of_singular_blocks", singular_block,
                "solver: gmres\npreconditioner: {type: isai, form: general}\n",
                "use preconditioner ilu0 with shift: {type: nonzero}, or none",
                "--set 'preconditioner={type: ilu0, shift: {type: nonzero}}'"},
        Advised{"isai_of_an_indefinite_matrix", indefinite,
                "solver: gmres\npreconditioner: {type: isai, form: factored}\n",
                "use form general with solver gmres, or preconditioner none", "--set preconditioner.form=general"},
        Advised{"pcg_of_an_indefinite_matrix", indefinite, "solver: pcg\nassume: spd\n",
                "use solver: {type: gmres} or {type: bicgstab}", "--set solver=gmres --set assume=nothing"},
        Advised{"divergence", far_from_identity, "solver: richardson\n", "Use solver: {type: gmres}.",
                "--set solver=gmres"},
        Advised{"breakdown_rho", skew, "solver: bicgstab\nrhs: ones\n", "Use solver: {type: gmres}.",
                "--set solver=gmres"},
        Advised{"breakdown_omega", orthogonal_step, "rhs: {type: file, path: e.mtx}\nsolver: bicgstab\n",
                "Use solver: {type: gmres}.", "--set solver=gmres"},
        Advised{"breakdown_basis", dependent_rows, "rhs: {type: file, path: e.mtx}\nsolver: gmres\n",
                "a singular system needs a b in the range of A", "--set rhs=manufactured"},
        Advised{"time_limit", dominant, "solver: {type: gmres, stop: {time_limit: 1e-9}}\n",
                "Raise solver.stop.time_limit", "--set solver.stop.time_limit=60"},
        Advised{"time_limit_by_a_preconditioner", dominant, "solver: {type: gmres, stop: {time_limit: 1e-9}}\n",
                "or try preconditioner: {type: ilu0}", "--set solver.stop.time_limit=60 --set preconditioner=ilu0"},
        Advised{"limit_of_accuracy_loosened", nearly_singular, "solver: {type: gmres, stop: {relative: 1e-12}}\n",
                "Loosen solver.stop.relative", "--set solver.stop.relative=1e-4"},
        Advised{"limit_of_accuracy_by_backward_error", nearly_singular,
                "solver: {type: gmres, stop: {relative: 1e-12}}\n", "or set solver.stop.baseline: backward_error",
                "--set solver.stop.baseline=backward_error"},
        Advised{"pivots_that_overflow", overflowing_pivot, "solver: gmres\npreconditioner: ilu0\n",
                "use preconditioner none with scaling: {type: ruiz}", "--set preconditioner=none --set scaling=ruiz"},
        Advised{"applications_that_overflow", overflowing_pivot, "solver: gmres\npreconditioner: jacobi\n",
                "use preconditioner: {type: none} with scaling: {type: ruiz}",
                "--set preconditioner=none --set scaling=ruiz"},
        Advised{"products_that_overflow", far_apart, "solver: gmres\n", "use scaling: {type: ruiz}.",
                "--set scaling=ruiz"},
        Advised{"range_of_float32", dominant, "solver: gmres\nprecision: float32\nrhs: {type: file, path: small.mtx}\n",
                "use a wider precision", "--set precision=float64"},
        Advised{"target_below_float32", dominant,
                "solver: {type: gmres, stop: {relative: 1e-12}}\nprecision: float32\n",
                "Use precision float64 or complex128", "--set precision=float64"},
        Advised{"target_below_float32_of_pcg", dominant,
                "solver: {type: pcg, stop: {relative: 1e-12}}\nprecision: float32\n",
                "Use precision float64 or complex128", "--set precision=float64"},
        Advised{"target_below_float64", dominant, "solver: {type: gmres, stop: {relative: 1e-18}}\n",
                "Loosen solver.stop.relative", "--set solver.stop.relative=1e-14"},
        Advised{"iterations_at_the_limit", dominant,
                "solver: {type: pcg, max_iterations: 3, stop: {relative: 1e-25}}\n", "Loosen solver.stop.relative",
                "--set solver.stop.relative=1e-14"},
        Advised{"too_few_iterations", indefinite, "solver: {type: gmres, max_iterations: 1}\n",
                "try preconditioner: {type: ilu0}", "--set preconditioner=ilu0 --set solver.max_iterations=9"}),
    [](const auto& info) { return info.param.name; });

/// The sentences of krill inspect about that matrix.
std::string advised_by_inspect(const std::string& text, const std::string& finding) {
  const auto at = text.find(finding);
  return at == std::string::npos ? "" : text.substr(at, 700);
}

class InspectAdvice : public test::Program {};

TEST_F(InspectAdvice, offers_no_method_for_definite_matrices_to_others) {
  if (IsSkipped()) return;
  ASSERT_EQ(krill("generate convection_diffusion2d nx=40 -o cd.mtx").code, 0);
  ASSERT_EQ(krill("generate poisson2d nx=40 -o p.mtx").code, 0);
  const std::string of_general = advised_by_inspect(krill("inspect cd.mtx").out, "in natural order goes through");
  EXPECT_TRUE(contains(of_general, "isai")) << of_general;
  EXPECT_FALSE(contains(of_general, "chebyshev")) << of_general;
  EXPECT_TRUE(contains(advised_by_inspect(krill("inspect p.mtx").out, "in natural order goes through"), "chebyshev"));
}

}  // namespace
}  // namespace krill::apps
