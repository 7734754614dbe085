// What is refused, and the words that say so.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "apps/case/effective.hpp"
#include "apps/case/suggest.hpp"
#include "apps/case/synonyms.hpp"
#include "tests/apps/cases.hpp"

namespace krill::apps {
namespace {

using test::errors_of;
using test::good_case;
using test::minimal_case;

struct Bad {
  std::string name, text, message;
};
class BadCase : public testing::TestWithParam<Bad> {};

TEST_P(BadCase, is_refused_with_place_and_reason) { EXPECT_EQ(errors_of(GetParam().text), GetParam().message); }

const std::string top_keys =
    "include, name, matrix, rhs, initial_guess, sequence, backend, threads, device, loop, precision, format, layout, "
    "assume, "
    "on_failure, "
    "matching, "
    "scaling, "
    "ordering, "
    "solver, "
    "preconditioner, contraction_steps, parallel, "
    "verify, output, variants";

INSTANTIATE_TEST_SUITE_P(
    keys, BadCase,
    testing::Values(
        Bad{"unknown", minimal_case + "colour: red\n", "case.yaml:3:1: unknown key \"colour\"; allowed: " + top_keys},
        Bad{"misspelt", minimal_case + "precison: float64\n",
            "case.yaml:3:1: unknown key \"precison\"; did you mean 'precision'? allowed: " + top_keys},
        Bad{"in_wrong_section", "matrix: {generate: poisson1d}\nsolver: {type: pcg, relative: 1e-6}\n",
            "case.yaml:2:21: unknown key \"relative\" in solver; it is a key of solver.stop; allowed: type, "
            "max_iterations, method, replacement, stop"},
        Bad{"duplicate", minimal_case + "solver: {type: gmres}\n",
            "case.yaml:3:1: duplicate key \"solver\", first given in line 2; keep one of them"},
        Bad{"duplicate_inside", "matrix: {generate: poisson2d, nx: 3, nx: 4}\nsolver: {type: pcg}\n",
            "case.yaml:1:38: duplicate key \"nx\", first given in line 1; keep one of them"},
        Bad{"unused_by_type", "matrix: {generate: poisson1d}\nsolver: {type: pcg, restart: 30}\n",
            "case.yaml:2:21: \"restart\" is not used by solver with type pcg, only with gmres or fgmres; leave it out "
            "or change "
            "type"},
        Bad{"unused_by_generator", "matrix: {generate: poisson2d, nz: 3}\nsolver: {type: pcg}\n",
            "case.yaml:1:31: \"nz\" is not used by matrix with generate poisson2d, only with poisson3d, "
            "convection_diffusion3d, anisotropic3d, jumps3d, elasticity3d or helmholtz3d; leave it out or change "
            "generate"},
        Bad{"unused_by_file", "matrix: {file: a.mtx, nx: 3}\nrhs: {type: ones, seed: 3}\nsolver: {type: pcg}\n",
            "case.yaml:1:23: \"nx\" is not used by matrix with file, only with poisson1d, poisson2d, poisson3d, "
            "convection_diffusion2d, convection_diffusion3d, anisotropic2d, anisotropic3d, jumps3d, elasticity3d, "
            "stokes2d, helmholtz2d, helmholtz3d or resistor_network; leave it out or change file\n"
            "case.yaml:2:19: \"seed\" is not used by rhs with type ones, only with random or manufactured; leave it "
            "out or "
            "change type"},
        Bad{"not_a_word", minimal_case + "[a, b]: 3\n", "case.yaml:3:1: a key has to be a word, such as 'solver'"},
        Bad{"both_matrices", "matrix: {file: a.mtx, generate: poisson1d}\nsolver: {type: pcg}\n",
            "case.yaml:1:10: matrix has both 'generate' and 'file'; keep one of them"},
        Bad{"no_matrix_source", "matrix: {nx: 3}\nsolver: {type: pcg}\n",
            "case.yaml:1:9: matrix needs 'generate', 'file' or 'batch'; generate is one of poisson1d, poisson2d, "
            "poisson3d, "
            "convection_diffusion2d, convection_diffusion3d, anisotropic2d, anisotropic3d, jumps3d, elasticity3d, "
            "stokes2d, helmholtz2d, helmholtz3d, random_spd, random_dominant, banded_batch, power_law_laplacian or "
            "resistor_network"},
        Bad{"missing_sections", "name: x\n",
            "case.yaml:1:1: matrix is missing; expected a word such as poisson1d, or a section such as "
            "{generate: poisson1d}, {file: NAME} or {batch: NAME}\n"
            "case.yaml:1:1: solver is missing; expected a word such as pcg, or a section such as {type: pcg}"},
        Bad{"misspelt_section_is_not_missing", "matrx: {generate: poisson1d}\nsolver: {type: pcg}\n",
            "case.yaml:1:1: unknown key \"matrx\"; did you mean 'matrix'? allowed: " + top_keys},
        Bad{"missing_path", minimal_case + "initial_guess: {type: file}\n",
            "case.yaml:3:16: initial_guess.path is missing; expected the name of a file"},
        Bad{"missing_type", "matrix: {generate: poisson1d}\nsolver: {restart: 30}\n",
            "case.yaml:2:9: solver needs 'type'; type is one of pcg, fcg, gmres, fgmres, bicgstab, richardson, "
            "multigrid, banded, direct "
            "or auto"}),
    [](const auto& info) { return info.param.name; });

std::string with(const std::string& line) { return minimal_case + line + "\n"; }
std::string with_stop(const std::string& keys) {
  return "matrix: {generate: poisson1d}\nsolver: {type: gmres, " + keys + "}\n";
}

INSTANTIATE_TEST_SUITE_P(
    values, BadCase,
    testing::Values(
        Bad{"text_for_integer", with("threads: many"),
            "case.yaml:3:10: threads is many, expected an integer from 0 to 4096"},
        Bad{"quoted_integer", with("threads: \"4\""),
            "case.yaml:3:10: threads is the text \"4\", expected an integer from 0 to 4096; leave out the quotes"},
        Bad{"fraction_for_integer", with("threads: 2.5"),
            "case.yaml:3:10: threads is 2.5, expected an integer from 0 to 4096"},
        Bad{"octal", with("threads: 010"),
            "case.yaml:3:10: threads is 010, expected an integer from 0 to 4096; leave out the leading zero"},
        Bad{"hexadecimal", with("threads: 0x10"),
            "case.yaml:3:10: threads is 0x10, expected an integer from 0 to 4096"},
        Bad{"past_32_bits", with_stop("max_iterations: 3000000000"),
            "case.yaml:2:39: solver.max_iterations is 3000000000, expected an integer of at least 0 that 32 bits can "
            "hold"},
        Bad{"negative", with_stop("max_iterations: -1"),
            "case.yaml:2:39: solver.max_iterations is -1, expected an integer of at least 0"},
        Bad{"past_the_range", with_stop("restart: 1001"),
            "case.yaml:2:32: solver.restart is 1001, expected an integer from 1 to 1000"},
        Bad{"on_an_open_end", with_stop("stop: {divergence: 1}"),
            "case.yaml:2:42: solver.stop.divergence is 1, expected a number above 1"},
        Bad{"nan", with_stop("stop: {relative: .nan}"),
            "case.yaml:2:40: solver.stop.relative is .nan, expected a number of at least 0"},
        Bad{"nan_without_point", with_stop("stop: {relative: NaN}"),
            "case.yaml:2:40: solver.stop.relative is NaN, expected a number of at least 0"},
        Bad{"infinity", with_stop("stop: {divergence: .inf}"),
            "case.yaml:2:42: solver.stop.divergence is .inf, expected a number above 1"},
        Bad{"past_a_double", with_stop("stop: {relative: 1e400}"),
            "case.yaml:2:40: solver.stop.relative is 1e400, expected a number of at least 0 that a double can hold"},
        Bad{"list_for_number", with_stop("stop: {relative: [1]}"),
            "case.yaml:2:40: solver.stop.relative is a list, expected a number of at least 0"},
        Bad{"section_for_number", with_stop("stop: {relative: {a: 1}}"),
            "case.yaml:2:40: solver.stop.relative is a section, expected a number of at least 0"},
        Bad{"number_for_section", with_stop("stop: 1e-8"),
            "case.yaml:2:29: solver.stop is 1e-8, expected a section with relative, baseline, absolute, time_limit, "
            "divergence and stagnation"},
        Bad{"empty_section", "matrix: {generate: poisson1d}\nsolver:\n  type: pcg\n  stop:\nbackend: host\n",
            "case.yaml:4:3: solver.stop is empty, expected a section with relative, baseline, absolute, time_limit, "
            "divergence and stagnation; or leave the key out"},
        Bad{"yes_for_true", with("output: {plot: yes}"), "case.yaml:3:16: output.plot is yes, expected true or false"},
        Bad{"one_for_true", with("output: {plot: 1}"), "case.yaml:3:16: output.plot is 1, expected true or false"},
        Bad{"quoted_true", with("output: {plot: 'true'}"),
            "case.yaml:3:16: output.plot is the text \"true\", expected true or false; leave out the quotes"},
        Bad{"number_for_text", with("name: 2026"), "case.yaml:3:7: name is 2026, expected text; put it in quotes"},
        Bad{"list_for_text", with("name: [a]"), "case.yaml:3:7: name is a list, expected text"},
        Bad{"empty_text", with("name: ''"),
            "case.yaml:3:7: name is the text \"\", expected text; or leave the key out"},
        Bad{"slash_in_name", with("name: a/b"),
            "case.yaml:3:7: name is \"a/b\", expected the name of a folder: no slash, no point at its beginning, at "
            "most 200 "
            "letters"},
        Bad{"unknown_choice", with("precision: float46"),
            "case.yaml:3:12: precision is float46, expected one of auto, float32, float64, complex64 or complex128; "
            "did you "
            "mean 'float64'?"},
        Bad{"choice_in_capitals", with("backend: CUDA"),
            "case.yaml:3:10: backend is CUDA, expected one of auto, host or cuda; did you mean 'cuda'?"},
        Bad{"unknown_stencil", "matrix: {generate: poisson2d, stencil: 8}\nsolver: {type: pcg}\n",
            "case.yaml:1:40: matrix.stencil is 8, expected 5 or 9"},
        Bad{"quoted_stencil", "matrix: {generate: poisson2d, stencil: '9'}\nsolver: {type: pcg}\n",
            "case.yaml:1:40: matrix.stencil is the text \"9\", expected 5 or 9; leave out the quotes"},
        Bad{"unknown_type", "matrix: {generate: poisson1d}\nsolver: {type: gmrs}\n",
            "case.yaml:2:16: solver.type is gmrs, expected one of pcg, fcg, gmres, fgmres, bicgstab, richardson, "
            "multigrid, "
            "banded, direct or auto; "
            "did you "
            "mean 'gmres'?"},
        Bad{"type_of_another_program", "matrix: {generate: poisson1d}\nsolver: {type: CG}\n",
            "case.yaml:2:16: solver.type is CG, expected one of pcg, fcg, gmres, fgmres, bicgstab, richardson, "
            "multigrid, banded, direct "
            "or auto; "
            "Krill calls "
            "that pcg"},
        Bad{"key_of_another_program", "matrix: {generate: poisson1d}\nsolver: {type: pcg, rtol: 1e-6}\n",
            "case.yaml:2:21: unknown key \"rtol\" in solver; Krill calls that solver.stop.relative; allowed: type, "
            "max_iterations, method, replacement, stop"},
        Bad{"section_of_another_program", "matrix: {generate: poisson1d}\nksp: {type: pcg}\n",
            "case.yaml:2:1: unknown key \"ksp\"; Krill calls that solver; allowed: " + top_keys},
        Bad{"misspelt_word_for_a_section", with("rhs: randm"),
            "case.yaml:3:6: rhs.type is randm, expected one of ones, random, file or manufactured; did you mean "
            "'random'?"},
        Bad{"word_of_another_program", "matrix: poisson1d\nsolver: cg\n",
            "case.yaml:2:9: solver.type is cg, expected one of pcg, fcg, gmres, fgmres, bicgstab, richardson, "
            "multigrid, banded, direct "
            "or auto; Krill "
            "calls "
            "that pcg"},
        Bad{"list_for_a_section", with("ordering: [rcm]"),
            "case.yaml:3:11: ordering is a list, expected a word such as none, or a section such as {type: none}"},
        Bad{"unknown_type_does_not_hide_values",
            "matrix: {generate: poisson1d}\nsolver: {tpye: pcg, max_iterations: x}\n",
            "case.yaml:2:10: unknown key \"tpye\" in solver; did you mean 'type'? allowed: type, with its keys\n"
            "case.yaml:2:37: solver.max_iterations is x, expected an integer of at least 0"}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    together, BadCase,
    testing::Values(
        Bad{"device_on_host", with("backend: host\ndevice: 1"),
            "case.yaml:4:9: device is not used by backend host; leave it out or change backend"},
        Bad{"assumption_without_pcg", "matrix: {generate: poisson1d}\nsolver: {type: gmres}\nassume: spd\n",
            "case.yaml:3:9: assume: spd is used by solver pcg only; leave it out or change solver.type"},
        Bad{"contraction_of_nothing", "matrix: {generate: poisson1d}\nsolver: direct\ncontraction_steps: 20\n",
            "case.yaml:3:20: contraction_steps measures a preconditioner, and solver direct takes none; leave it out"},
        Bad{"contraction_without_steps", with("contraction_steps: -1"),
            "case.yaml:3:20: contraction_steps is -1, expected an integer from 0 to 1000"},
        Bad{"sweep_one_way_with_pcg",
            "matrix: {generate: poisson1d}\nsolver: {type: pcg}\npreconditioner: {type: gauss_seidel, direction: "
            "forward}\n",
            "case.yaml:3:49: preconditioner.direction is forward, expected symmetric for solver pcg, which needs a "
            "Hermitian preconditioner"},
        Bad{"ilut_with_pcg", "matrix: {generate: poisson1d}\nsolver: {type: pcg}\npreconditioner: {type: ilut}\n",
            "case.yaml:3:24: preconditioner.type is ilut, expected ict for solver pcg, which needs a Hermitian "
            "preconditioner"},
        Bad{"parilut_with_pcg", "matrix: {generate: poisson1d}\nsolver: {type: pcg}\npreconditioner: {type: parilut}\n",
            "case.yaml:3:24: preconditioner.type is parilut, expected parict for solver pcg, which needs a Hermitian "
            "preconditioner"},
        Bad{"no_fill", with("preconditioner: {type: parict, fill: 0}"),
            "case.yaml:3:38: preconditioner.fill is 0, expected a number above 0"},
        Bad{"no_cycle", with("preconditioner: {type: parict, cycles: 0}"),
            "case.yaml:3:40: preconditioner.cycles is 0, expected an integer from 1 to 1000"},
        Bad{"negative_level", with("preconditioner: {type: iluk, level: -1}"),
            "case.yaml:3:37: preconditioner.level is -1, expected an integer from 0 to 1000"},
        Bad{"tolerance_beyond_1", with("preconditioner: {type: ilut, drop_tolerance: 2}"),
            "case.yaml:3:46: preconditioner.drop_tolerance is 2, expected a number from 0 to 1"},
        Bad{"pivoting_beyond_1", with("preconditioner: {type: ilut, pivoting: 1.5}"),
            "case.yaml:3:40: preconditioner.pivoting is 1.5, expected a number from 0 to 1"},
        Bad{"negative_row_entries", with("preconditioner: {type: ict, row_entries: -1}"),
            "case.yaml:3:42: preconditioner.row_entries is -1, expected an integer from 0 to 1000000"},
        Bad{"shift_of_another_kind", with("preconditioner: {type: ilu0, shift: {type: positive_definite}}"),
            "case.yaml:3:44: preconditioner.shift.type is positive_definite, expected none or nonzero"},
        Bad{"shift_without_use", with("preconditioner: {type: ic0, shift: {type: none, value: 0.1}}"),
            "case.yaml:3:56: preconditioner.shift.value is not used by shift type none; leave it out or change the "
            "type"},
        Bad{"shift_as_a_number", with("preconditioner: {type: ic0, shift: 0.1}"),
            "case.yaml:3:36: preconditioner.shift is 0.1, expected a section with type and value"},
        Bad{"boost_beside_shift", with("preconditioner: {type: bilu0, boost: 1, shift: {type: nonzero}}"),
            "case.yaml:3:38: preconditioner.boost and preconditioner.shift both replace pivots; keep one of them"},
        Bad{"general_inverse_with_pcg",
            "matrix: {generate: poisson1d}\nsolver: {type: pcg}\npreconditioner: {type: isai, form: general}\n",
            "case.yaml:3:36: preconditioner.form is general, expected auto or factored for solver pcg, which needs a "
            "Hermitian preconditioner"},
        Bad{"tolerance_without_judge", with("verify: {tolerance: 1e-6}"),
            "case.yaml:3:21: verify.tolerance is not used by verify.reference none; leave it out or ask for eigen"},
        Bad{"no_rhs_comes_along", with("rhs: {type: file}"),
            "case.yaml:3:6: rhs.path is missing; a generated matrix brings no right-hand side along"},
        Bad{"complex_in_real", "matrix: {generate: helmholtz2d}\nsolver: {type: gmres}\nprecision: float64\n",
            "case.yaml:3:12: precision is real, but the generated matrix is complex; expected complex64, complex128 or "
            "auto"}),
    [](const auto& info) { return info.param.name; });

/// Line 3 of a case: what stands inside of schwarz is checked as a preconditioner is.
std::string in_parts(const std::string& solver, const std::string& keys) {
  return "matrix: {generate: poisson1d}\nsolver: " + solver + "\npreconditioner: {type: schwarz, " + keys + "}\n";
}
INSTANTIATE_TEST_SUITE_P(
    parts, BadCase,
    testing::Values(
        Bad{"one_way_under_pcg", in_parts("pcg", "inner: {type: gauss_seidel, direction: forward}"),
            "case.yaml:3:72: preconditioner.inner.direction is forward, expected symmetric for solver pcg, which needs "
            "a Hermitian preconditioner"},
        Bad{"no_symmetry_under_pcg", in_parts("pcg", "inner: ilut"),
            "case.yaml:3:40: preconditioner.inner.type is ilut, expected ict for solver pcg, which needs a Hermitian "
            "preconditioner"},
        Bad{"parts_of_parts", in_parts("gmres", "inner: {type: schwarz, parts: 2}"),
            "case.yaml:3:40: preconditioner.inner is schwarz, expected one that takes a part as a whole: schwarz does "
            "not stand inside of itself"},
        Bad{"solver_under_gmres", in_parts("gmres", "inner: {type: solver, inner: {solver: pcg}}"),
            "case.yaml:3:40: with an inner solver preconditioner.inner solver is another one in each iteration, and "
            "solver gmres needs one that stays; expected solver fcg or fgmres"},
        Bad{"lines_of_parts_that_overlap", in_parts("gmres", "overlap: 1, inner: {type: line, nx: 9}"),
            "case.yaml:3:42: preconditioner.overlap is 1, expected 0 with preconditioner.inner line, which needs the "
            "rows of the matrix as they are"},
        Bad{"misspelt_key_of_another_inside", in_parts("gmres", "inner: {type: ilu0, levle: 2}"),
            "case.yaml:3:53: unknown key \"levle\" in preconditioner.inner; did you mean 'level', a key of iluk or "
            "ick? "
            "allowed: type, boost, boost_tolerance, shift, triangular_solve, solve_sweeps, solve_corrections, "
            "precision"},
        Bad{"solver_without_its_type_inside", in_parts("gmres", "inner: {solver: gmres}"),
            "case.yaml:3:40: preconditioner.inner needs 'type'; type is one of none, jacobi, block_jacobi, chebyshev, "
            "gauss_seidel, ssor, ilu0, ic0, iluk, ick, ilut, ict, bilu0, bic0, parilu0, paric0, parilut, parict, isai, "
            "tridiagonal, line, amg, schur, schwarz, solver or auto\n"
            "case.yaml:3:41: unknown key \"solver\" in preconditioner.inner; it is a key of the case itself; allowed: "
            "type, with its keys"},
        Bad{"key_of_another_program_inside", in_parts("gmres", "sub_pc_type: ilu0"),
            "case.yaml:3:33: unknown key \"sub_pc_type\" in preconditioner; Krill calls that preconditioner.inner; "
            "allowed: type, parts, partition, inner, overlap, coarse, precision"},
        Bad{"key_of_another_inside", in_parts("gmres", "inner: {type: ilu0, level: 2}"),
            "case.yaml:3:53: \"level\" is not used by preconditioner.inner with type ilu0, only with iluk or ick; "
            "leave "
            "it out or change type"}),
    [](const auto& info) { return info.param.name; });

TEST(BadCaseText, a_misspelt_type_hides_values_only_where_types_differ) {
  const auto of = [](const std::string& keys) {
    return errors_of("matrix: poisson1d\nsolver: fgmres\npreconditioner: {" + keys + "}\n");
  };
  const std::string errors = of("type: solvr, inner: {solver: gmres}");
  EXPECT_NE(errors.find("did you mean 'solver'?"), std::string::npos) << errors;
  EXPECT_EQ(errors.find('\n'), std::string::npos) << "inner is something else in solver than in schwarz: " << errors;
  EXPECT_NE(of("type: iluq, level: -1").find("preconditioner.level is -1, expected an integer from 0 to 1000"),
            std::string::npos);
}

TEST(Case, takes_any_preconditioner_inside_of_schwarz) {
  for (const std::string keys : {"inner: ilu0", "inner: auto", "inner: {type: iluk, level: 2}", "inner: amg",
                                 "inner: {type: solver, inner: {solver: gmres}}"})
    EXPECT_EQ(errors_of(in_parts("fgmres", keys)), "") << keys;
  const Case read = parse_case(in_parts("gmres", "inner: {type: iluk, level: 2}"), "case.yaml");
  const auto& parts = std::get<SchwarzOptions>(read.preconditioner);
  EXPECT_EQ(std::get<IlukOptions>(parts.inner->options).level, 2);
  const Case by_word = parse_case(in_parts("gmres", "inner: ict"), "case.yaml");
  EXPECT_TRUE(std::holds_alternative<IctOptions>(std::get<SchwarzOptions>(by_word.preconditioner).inner->options));
}

std::string nested(const std::string& outer, const std::string& inner) {
  return "matrix: {generate: poisson1d}\nsolver: {type: " + outer +
         "}\npreconditioner: {type: solver, inner: " + inner + "}\n";
}
INSTANTIATE_TEST_SUITE_P(
    nested, BadCase,
    testing::Values(
        Bad{"under_pcg", nested("pcg", "{solver: gmres}"),
            "case.yaml:3:17: with an inner solver preconditioner solver is another one in each iteration, and solver "
            "pcg needs one that stays; expected solver fcg or fgmres"},
        Bad{"cycle_k_under_bicgstab",
            "matrix: {generate: poisson1d}\nsolver: bicgstab\npreconditioner: {type: amg, cycle: k}\n",
            "case.yaml:3:17: with cycle k preconditioner amg is another one in each iteration, and solver bicgstab "
            "needs one that stays; expected solver fcg or fgmres"},
        Bad{"open_inside", nested("fgmres", "{solver: auto}"),
            "case.yaml:3:48: preconditioner.inner.solver is auto, expected a solver by name"},
        Bad{"elimination_inside", nested("fgmres", "{solver: banded}"),
            "case.yaml:3:48: preconditioner.inner.solver is banded, which does not iterate; expected pcg, gmres or "
            "bicgstab, say"},
        Bad{"preconditioner_open_inside", nested("fgmres", "{solver: gmres, preconditioner: auto}"),
            "case.yaml:3:71: preconditioner.inner.preconditioner is auto, expected one by name"},
        Bad{"time_limit_inside", nested("fgmres", "{solver: {type: gmres, stop: {time_limit: 1}}}"),
            "case.yaml:3:81: preconditioner.inner.solver.stop.time_limit is for the outer solver, whose limit ends "
            "this one, too"},
        Bad{"backward_error_inside", nested("fcg", "{solver: {type: pcg, stop: {baseline: backward_error}}}"),
            "case.yaml:3:77: preconditioner.inner.solver.stop.baseline is backward_error, expected rhs or "
            "initial_residual"},
        Bad{"one_way_inside_of_pcg",
            nested("fcg", "{solver: pcg, preconditioner: {type: gauss_seidel, direction: forward}}"),
            "case.yaml:3:101: preconditioner.inner.preconditioner.direction is forward, expected symmetric for solver "
            "pcg, which needs a Hermitian preconditioner"},
        Bad{"varying_inside_of_gmres", nested("fgmres", "{solver: gmres, preconditioner: {type: amg, cycle: k}}"),
            "case.yaml:3:71: with cycle k preconditioner.inner.preconditioner amg is another one in each iteration, "
            "and "
            "solver gmres needs one that stays; expected solver fcg or fgmres"},
        Bad{"three_deep",
            nested("fgmres",
                   "{solver: fgmres, preconditioner: {type: solver, inner: {solver: fgmres, preconditioner: "
                   "{type: solver, inner: {solver: gmres}}}}}"),
            "case.yaml:3:72: solvers stand inside of each other 3 deep, expected at most 2"},
        Bad{"wrong_key_inside", nested("fgmres", "{solver: {type: gmres, restrt: 3}}"),
            "case.yaml:3:62: unknown key \"restrt\" in preconditioner.inner.solver; did you mean 'restart'? allowed: "
            "type, max_iterations, restart, orthogonalization, basis_precision, stop"}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    syntax, BadCase,
    testing::Values(
        Bad{"empty", "", "case.yaml:1:1: the case is empty; it needs at least matrix and solver"},
        Bad{"comment_only", "# nothing\n", "case.yaml:1:1: the case is empty; it needs at least matrix and solver"},
        Bad{"list", "- a\n- b\n", "case.yaml:1:1: expected keys such as 'solver:' at the top of a case"},
        Bad{"word", "solver\n", "case.yaml:1:1: expected keys such as 'solver:' at the top of a case"},
        Bad{"open_brace", "solver: {type: pcg\nmatrix: 1\n",
            "case.yaml:2:7: not valid YAML: a { is not closed by }, or a comma is missing (end of map flow not found)"},
        Bad{"open_quote", minimal_case + "name: \"abc\n",
            "case.yaml:5:1: not valid YAML: a quote is not closed (illegal document indicator in scalar)"},
        Bad{"two_colons", "name: a: b\n",
            "case.yaml:1:8: not valid YAML: a colon where none can stand; check the indentation, or quote text that "
            "holds ': "
            "' (illegal map value)"},
        Bad{"indentation", "solver:\n    type: pcg\n  stop: 3\n",
            "case.yaml:3:3: not valid YAML: this line continues nothing above it; check the indentation (end of map "
            "not "
            "found)"},
        Bad{"unknown_alias", "name: *there\n", "case.yaml:1:7: not valid YAML: the referenced anchor is not defined"},
        Bad{"alias_in_itself", "name: &me [*me]\n",
            "case.yaml:1:12: this alias stands inside the thing that it names; write the contents out"},
        Bad{"two_documents", minimal_case + "---\n" + minimal_case,
            "case.yaml:4:1: a second document begins here; a case is one document"},
        Bad{"tag", with("name: !secret x"), "case.yaml:3:7: the tag \"!secret\" means nothing here; leave it out"},
        Bad{"merge_of_a_word", with("rhs: {<<: ones, type: ones}"),
            "case.yaml:3:11: << merges a section, or a list of sections, into this one; this is neither"},
        Bad{"binary",
            std::string("\x7f"
                        "ELF\x02\x00",
                        6),
            "case.yaml:1:1: byte 0x7F cannot stand in a case; it has to be UTF-8 text"},
        Bad{"nul", "name: a\n" + std::string("b\0", 2),
            "case.yaml:2:2: byte 0x00 cannot stand in a case; it has to be UTF-8 text"},
        Bad{"latin_1", "name: caf\xe9\n", "case.yaml:1:10: byte 0xE9 cannot stand in a case; it has to be UTF-8 text"}),
    [](const auto& info) { return info.param.name; });

TEST(BadCaseText, all_errors_come_at_once_in_the_order_of_the_file) {
  EXPECT_EQ(
      errors_of("nam: x\nmatrix: {generate: poisson1d, nx: 0}\nsolver: {type: pcg, max_iterations: x}\nthreads: -1\n"),
      "case.yaml:1:1: unknown key \"nam\"; did you mean 'name'? allowed: " + top_keys +
          "\ncase.yaml:2:35: matrix.nx is 0, expected an integer of at least 1"
          "\ncase.yaml:3:37: solver.max_iterations is x, expected an integer of at least 0"
          "\ncase.yaml:4:10: threads is -1, expected an integer from 0 to 4096");
}

TEST(BadCaseText, deep_nesting_is_refused) {
  for (const std::string unit : {"[", "{a: ", "- ", "? "}) {
    std::string text;
    for (int i = 0; i < 20'000; ++i) text += unit;
    EXPECT_NE(errors_of(text).find("nested more than 50 deep; no case is"), std::string::npos) << unit;
  }
}

TEST(BadCaseText, aliases_that_multiply_are_refused) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 20; ++i) {
    text += fmt::format("a{0}: &a{0} [", i);
    for (int k = 0; k < 9; ++k) text += fmt::format("{}*a{}", k == 0 ? "" : ", ", i - 1);
    text += "]\n";
  }
  EXPECT_NE(errors_of(text).find("more than 20000 values, counted with what aliases repeat"), std::string::npos);
}

/// Replaces one letter of each key by one that no key has there, and takes one letter away.
std::vector<std::string> misspellings(const std::string& word) {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < word.size(); ++i) {
    std::string other = word, shorter = word;
    other[i] = 'q';
    shorter.erase(i, 1);
    if (other != word) result.push_back(other);
    if (word.size() > 3) result.push_back(shorter);
  }
  return result;
}

/// Names of all keys. A variant may be inside of one of its alternatives, each of which is looked into once.
struct KeyNames {
  std::set<std::string> names;
  std::set<const std::vector<Key>*> known;

  void add(const std::vector<Key>& keys) {
    if (!known.insert(&keys).second) return;
    for (const Key& key : keys) {
      names.insert(key.name);
      add(key.keys);
      for (const Alternative& alternative : key.alternatives) add(alternative.keys());
    }
  }
};

TEST(BadCaseText, every_key_with_a_wrong_letter_is_refused_with_the_right_proposal) {
  KeyNames all;
  all.add(case_keys());
  int tried = 0;
  for (const auto& small_case : test::all_cases()) {
    const std::string whole = effective_yaml(parse_case(small_case, "case.yaml"));
    std::istringstream lines(whole);
    std::size_t at = 0;
    int number = 0;
    for (std::string line; std::getline(lines, line); at += line.size() + 1) {
      ++number;
      const std::size_t indent = line.find_first_not_of(' ');
      const std::string key = line.substr(indent, line.find(':') - indent);
      for (const auto& wrong : misspellings(key)) {
        if (all.names.contains(wrong)) continue;  // cycles without its s
        std::string text = whole;
        text.replace(at + indent, key.size(), wrong);
        const std::string errors = errors_of(text);
        const std::string place = fmt::format("case.yaml:{}:{}: unknown key \"{}\"", number, indent + 1, wrong);
        const auto found = errors.find(place);
        ASSERT_NE(found, std::string::npos) << text << errors;
        const std::string its_line = errors.substr(found, errors.find('\n', found) - found);
        EXPECT_NE(its_line.find("did you mean"), std::string::npos) << its_line;
        EXPECT_LT(its_line.find("'" + key + "'"), its_line.find("allowed:")) << its_line;
        ++tried;
      }
    }
  }
  EXPECT_GT(tried, 4000);
}

TEST(BadCaseText, every_type_with_a_wrong_letter_is_refused_with_the_right_proposal) {
  for (const Key& key : case_keys()) {
    const auto types = types_of(key);
    for (const auto& type : types)
      for (const auto& wrong : misspellings(type)) {
        if (std::ranges::count(types, wrong)) continue;  // bilu0 without its b
        const std::string errors = errors_of(test::case_with(key.name, wrong));
        EXPECT_NE(errors.find(fmt::format("{}.{} is {}, expected ", key.name, key.tag, wrong)), std::string::npos)
            << errors;
        const auto others = synonym(wrong, Synonym::Kind::type);  // ilu, which is iluk without its k
        const std::string meant(others ? others->ours : std::string_view(type));
        const auto proposal = errors.find(others ? "Krill calls that " + meant : "did you mean");
        ASSERT_NE(proposal, std::string::npos) << errors;
        EXPECT_NE(errors.find(meant, proposal), std::string::npos) << errors;
      }
  }
}

TEST(BadOverride, is_refused_under_its_own_name) {
  const auto errors = [](const std::string& option) { return errors_of(good_case, {option}); };
  EXPECT_EQ(errors("solver.stop.relative"),
            "--set solver.stop.relative: expected key=value, such as solver.stop.relative=1e-10 or nx=64");
  EXPECT_EQ(errors("=3"), "--set =3: expected key=value, such as solver.stop.relative=1e-10 or nx=64");
  EXPECT_EQ(errors("solver..stop=3"),
            "--set solver..stop=3: an empty word in the path; expected words with a point between them");
  EXPECT_EQ(errors("solver.stop="), "--set solver.stop=: there is no value; expected key=value");
  EXPECT_EQ(errors("solver.restart.x=3"), "--set solver.restart.x=3: solver.restart is no section, so it has no x");
  EXPECT_EQ(errors("solver.restrat=3"),
            "--set solver.restrat=3: unknown key \"restrat\" in solver; did you mean 'restart'? allowed: type, "
            "max_iterations, restart, orthogonalization, basis_precision, stop");
  EXPECT_EQ(errors("solver.restart=many"),
            "--set solver.restart=many: solver.restart is many, expected an integer from 1 to 1000");
  EXPECT_EQ(
      errors("solver.stop={relative: 1"),
      "--set solver.stop={relative: 1: not valid YAML: a { is not closed by }, or a comma is missing (end of map flow "
      "not found)");
}

TEST(BadOverride, keys_that_the_new_type_does_not_use_are_still_refused) {
  EXPECT_EQ(errors_of(good_case, {"solver.type=pcg"}),
            "case.yaml:6:3: \"restart\" is not used by solver with type pcg, only with gmres or fgmres; leave it out "
            "or change type");
}

}  // namespace
}  // namespace krill::apps
