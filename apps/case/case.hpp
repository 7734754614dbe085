// The case: everything that a user says about one solve, as plain structs. Every key exists once: a member with its
// default, and one line in describe(). Parsing, validation, schema, documentation and the effective case walk that
// description, so they cannot disagree.
//
// Beside value, choice and section (solvers/options.hpp) a visitor of a case offers:
//   fields.path(name, ref, Need, doc)           for a std::string that names a file
//   fields.variant(name, tag, ref, Need, doc)   for a std::variant of option structs: a map whose key `tag` names one
//                                               alternative by its `type`, the other keys being that alternative's.
//                                               An alternative with a `key` in place of a type is chosen by that key.
//   fields.value(name, ref, range, doc)         for a std::optional<double> without a default, too
//   fields.numbers(name, ref, count, doc)       for a list of numbers, a std::vector<double> that is empty where the
//                                               case has none; count: how many there may be
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "solvers/method/options.hpp"
#include "solvers/method/reuse.hpp"
#include "sparse/core/error.hpp"
#include "sparse/io/generate.hpp"

namespace krill::apps {

/// Whether a case must have a key.
enum class Need { optional, required };

/// A matrix in a file: Matrix Market, Harwell-Boeing or Rutherford-Boeing, plain or compressed, or the parts that hypre
/// writes.
struct MatrixFile {
  static constexpr std::string_view key = "file";
  static constexpr std::string_view doc =
      "a matrix from a file: Matrix Market (.mtx), Harwell-Boeing or Rutherford-Boeing (.rua, .rsa, .rb, ...), plain, "
      ".gz, .xz, .zst, or a SuiteSparse .tar.gz; of an archive with several, one by its name in brackets: "
      "steps.tar.gz(A_1.mtx); or the parts that HYPRE_IJMatrixPrint writes, A.00000, A.00001, ..., by the name of the "
      "first one, or A";
  std::string file;              ///< as seen from the current folder
  std::string coordinates = {};  ///< the same, of nodes; empty: not known
};
template <class Fields>
void describe(Fields& fields, MatrixFile& o) {
  fields.path(
      "file", o.file, Need::required,
      "the file, or of a sequence several by numbers, \"A_{01..20}.mtx\", or by words; a relative name starts at "
      "the folder of the case");
  fields.path(
      "coordinates", o.coordinates, Need::optional,
      "where the nodes are: a Matrix Market array with a row for each node and 1 to 3 columns; each node has as "
      "many rows of the matrix, side by side");
}

/// A batch of systems in an archive.
struct MatrixBatch {
  static constexpr std::string_view key = "batch";
  static constexpr std::string_view doc =
      "a batch of tridiagonal or pentadiagonal systems of one size, in a tar archive of Matrix Market files (.tar, "
      ".tar.gz, .tar.xz, .tar.zst); each is solved, judged and reported by itself, by solver banded";
  std::string batch;  ///< as seen from the current folder
};
template <class Fields>
void describe(Fields& fields, MatrixBatch& o) {
  fields.path("batch", o.batch, Need::required,
              "the archive, whose order is that of the systems; a relative name starts at the folder of the case");
}

using MatrixSource = std::variant<MatrixFile, MatrixBatch, GeneratorOptions>;

/// The file that the matrix is read from; null where it is generated.
const std::string* file_of(const MatrixSource&);

/// The points of a generator's grid in each direction, 0 for a direction that it has not; none where unknowns are not
/// its points, or the matrix is no grid's.
std::optional<std::array<int, 3>> grid_of(const MatrixSource&);

namespace detail {
template <class Fields>
void describe_random(Fields& fields, int& seed) {
  fields.value("seed", seed, at_least_zero, "the same seed gives the same numbers");
}
}  // namespace detail

struct OnesRhs {
  static constexpr std::string_view type = "ones";
  static constexpr std::string_view doc = "every entry is 1";
};
template <class Fields>
void describe(Fields&, OnesRhs&) {}

struct RandomRhs {
  static constexpr std::string_view type = "random";
  static constexpr std::string_view doc = "entries uniform in [-1, 1], both parts where complex";
  int seed = 1;
  int columns = 1;
};
template <class Fields>
void describe(Fields& fields, RandomRhs& o) {
  detail::describe_random(fields, o.seed);
  fields.value("columns", o.columns, Range{1, 1'000'000}, "how many right-hand sides; not for a batch");
}

struct FileRhs {
  static constexpr std::string_view type = "file";
  static constexpr std::string_view doc =
      "a vector from a file, as many entries as the matrix has rows; every column of a file with several, and of "
      "several "
      "files, is a right-hand side of its own; for a batch an array with a column for each system. Or the parts that "
      "HYPRE_IJVectorPrint writes, b.00000, b.00001, ..., by the name of the first one, or b";
  std::string path;  ///< as seen from the current folder, or several (files_named); empty: what came with the matrix
};
template <class Fields>
void describe(Fields& fields, FileRhs& o) {
  fields.path("path", o.path, Need::optional,
              "the file, or several by numbers, \"b_{1..3}.mtx\", or by words, \"{left,right}.mtx\"; without it, the "
              "right-hand side that lies in the same file or archive as the matrix");
}

struct ManufacturedRhs {
  static constexpr std::string_view type = "manufactured";
  static constexpr std::string_view doc =
      "b = A x for a known x with entries uniform in [-1, 1]; the error of the solution is reported then";
  int seed = 1;
};
template <class Fields>
void describe(Fields& fields, ManufacturedRhs& o) {
  detail::describe_random(fields, o.seed);
}

/// The registry of right-hand sides.
using RhsOptions = std::variant<OnesRhs, RandomRhs, FileRhs, ManufacturedRhs>;

struct ZeroGuess {
  static constexpr std::string_view type = "zero";
  static constexpr std::string_view doc = "every entry is 0";
};
template <class Fields>
void describe(Fields&, ZeroGuess&) {}

struct RandomGuess {
  static constexpr std::string_view type = "random";
  static constexpr std::string_view doc = "entries uniform in [-1, 1], both parts where complex";
  int seed = 2;
};
template <class Fields>
void describe(Fields& fields, RandomGuess& o) {
  detail::describe_random(fields, o.seed);
}

struct FileGuess {
  static constexpr std::string_view type = "file";
  static constexpr std::string_view doc =
      "a vector from a file, as many entries as the matrix has columns; of several right-hand sides one for all, or an "
      "array with a column for each, as for the systems of a batch";
  std::string path;  ///< as seen from the current folder
};
template <class Fields>
void describe(Fields& fields, FileGuess& o) {
  fields.path("path", o.path, Need::required, "the file; a relative name starts at the folder of the case");
}

/// The registry of initial guesses.
using GuessOptions = std::variant<ZeroGuess, RandomGuess, FileGuess>;

enum class Backend { automatic, host, cuda };
inline constexpr std::array<std::string_view, 3> backend_names{"auto", "host", "cuda"};

/// The scalar type of the solve.
enum class Precision { automatic, float32, float64, complex64, complex128 };
inline constexpr std::array<std::string_view, 5> precision_names{"auto", "float32", "float64", "complex64",
                                                                 "complex128"};

/// An independent judge of the solution.
enum class Reference { none, eigen };
inline constexpr std::array<std::string_view, 2> reference_names{"none", "eigen"};

struct VerifyOptions {
  Reference reference = Reference::none;
  double tolerance = 0;
};
template <class Fields>
void describe(Fields& fields, VerifyOptions& o) {
  fields.choice("reference", o.reference, reference_names,
                "eigen: the same system is solved by Eigen and the solutions are compared");
  fields.value(
      "tolerance", o.tolerance, at_least_zero,
      "greatest ||x - reference|| / ||reference|| that passes; 0: no limit on the error, the residuals decide");
}

/// Which files a solve writes beside report.json.
struct OutputOptions {
  bool solution = true;
  bool history = true;
  bool plot = true;
};
template <class Fields>
void describe(Fields& fields, OutputOptions& o) {
  fields.value("solution", o.solution, any_value, "write solution.mtx, of a sequence as sequence.solutions says");
  fields.value("history", o.history, any_value,
               "write residuals.csv, of a batch systems.csv, of several right-hand sides columns.csv, of a sequence "
               "steps.csv");
  fields.value("plot", o.plot, any_value, "write convergence.svg, of a sequence steps.svg");
}

/// Where the steps of a sequence start.
enum class StepGuess { previous, initial };
inline constexpr std::array<std::string_view, 2> step_guess_names{"previous", "initial"};

/// Which solutions of a sequence are written.
enum class StepSolutions { automatic, all, last };
inline constexpr std::array<std::string_view, 3> step_solutions_names{"auto", "all", "last"};

/// What steps of a sequence leave to each other and to the disk.
struct StepOptions : ReuseOptions {
  StepGuess guess = StepGuess::previous;
  StepSolutions solutions = StepSolutions::automatic;
};
namespace detail {
template <class Fields>
void describe_steps(Fields& fields, StepOptions& o) {
  fields.choice("reuse", o.reuse, reuse_names,
                "whether the preconditioner of an earlier step stays; slower: until a step takes more than `factor` "
                "times the iterations of the one that it was made for; where it does not lead to convergence it is "
                "made anew, and the step solved once more");
  fields.value("factor", o.factor, at_least_one, "of reuse: slower");
  fields.choice("guess", o.guess, step_guess_names,
                "where a step starts; previous: from the solution of the last step that converged; initial: from "
                "initial_guess, as the first one");
  fields.choice("solutions", o.solutions, step_solutions_names,
                "of output.solution; all: a file for each step, solution_1.mtx, ...; last: solution.mtx of the last "
                "one; auto: all where they take less than 1 GB together, else last");
}
}  // namespace detail

struct NoSequence {
  static constexpr std::string_view type = "none";
  static constexpr std::string_view doc = "one system";
};
template <class Fields>
void describe(Fields&, NoSequence&) {}

struct FileSequence : StepOptions {
  static constexpr std::string_view type = "files";
  static constexpr std::string_view doc =
      "a step for each file of matrix.file (`A_{01..20}.mtx`), or for each matrix of a tar archive, and for each file "
      "of rhs.path; what is one file alone is the same in all steps, as all else of the case is";
};
template <class Fields>
void describe(Fields& fields, FileSequence& o) {
  detail::describe_steps(fields, o);
}

enum class Spacing { linear, geometric };
inline constexpr std::array<std::string_view, 2> spacing_names{"linear", "geometric"};

struct ParameterSequence : StepOptions {
  static constexpr std::string_view type = "parameter";
  static constexpr std::string_view doc =
      "a number among the keys of the matrix's generator moves from step to step, without a change of the pattern";
  std::string parameter;
  std::vector<double> values;      ///< one a step; empty: from, to, steps and spacing say them
  std::optional<double> from, to;  ///< both, or none
  int steps = 10;
  Spacing spacing = Spacing::linear;
};
template <class Fields>
void describe(Fields& fields, ParameterSequence& o) {
  constexpr Range count{2, 100'000};
  fields.value("parameter", o.parameter, any_value,
               "the key of the generator, peclet for instance; it has to be there");
  fields.numbers("values", o.values, count, "its value in each step; or from, to and steps say them");
  if (o.values.empty()) {  // else these say nothing
    fields.value("from", o.from, any_value, "its value in the first step; not with values");
    fields.value("to", o.to, any_value, "its value in the last step; not with values");
    fields.value("steps", o.steps, count, "how many; not with values");
    fields.choice("spacing", o.spacing, spacing_names,
                  "from first to last: equal differences, or equal quotients; not with values");
  }
  detail::describe_steps(fields, o);
}

/// The registry of sequences.
using SequenceOptions = std::variant<NoSequence, FileSequence, ParameterSequence>;

/// What its steps leave to each other; null of NoSequence.
const StepOptions* step_options(const SequenceOptions&);

struct FilePartition {
  static constexpr std::string_view key = "file";
  static constexpr std::string_view doc =
      "the rank of each row, from a file: one number a line, or 32-bit integers without a head, as AMGX has them; a "
      "file with zero bytes is taken for the latter";
  std::string file;  ///< as seen from the current folder
};
template <class Fields>
void describe(Fields& fields, FilePartition& o) {
  fields.path("file", o.file, Need::required, "the file; a relative name starts at the folder of the case");
}

/// The registry of partitions in a case; of which SolveOptions::partition is made once the matrix is there.
using PartitionSource = std::variant<RowsPartition, GraphPartition, FilePartition>;
/// "rows", "graph" or "file".
std::string_view partition_name(const PartitionSource&);

/// By what the devices of several ranks exchange.
enum class Transport { automatic, nccl, mpi };
inline constexpr std::array<std::string_view, 3> transport_names{"auto", "nccl", "mpi"};

/// What concerns several ranks; one process has no use for it.
struct ParallelOptions {
  PartitionSource partition;
  double timeout = 60;  ///< seconds
  Transport transport = Transport::automatic;
};
template <class Fields>
void describe(Fields& fields, ParallelOptions& o) {
  fields.variant("partition", "type", o.partition, Need::optional,
                 "which rank has which rows; but for rows, they are brought together rank by rank, each rank's in the "
                 "order that `ordering` gives them; files keep the order of the matrix");
  fields.value("timeout", o.timeout, above_zero,
               "seconds without an answer of another rank after which all end; KRILL_TEAM_PATIENCE in the environment "
               "says otherwise");
  fields.choice("transport", o.transport, transport_names,
                "by what devices exchange; nccl: by NCCL, or the solve is refused; mpi: by MPI and the hosts; auto: by "
                "NCCL where its module opens, else as mpi");
}

/// What a solve does with the system, as the library takes it, and what a case says beside: where the system comes
/// from, where it is solved, what is written. A case that leaves a part of the method open leaves it out.
struct Case : SolveOptions {
  Case() : SolveOptions{PcgOptions{}, NoPreconditioner{}, NaturalOrdering{}, NoScaling{}, NoMatching{}} {}

  std::string name;
  MatrixSource matrix;
  RhsOptions rhs;
  GuessOptions initial_guess;
  SequenceOptions sequence;
  Backend backend = Backend::automatic;
  int threads = 0;
  int device = 0;
  LoopControl loop = LoopControl::automatic;
  Precision precision = Precision::automatic;
  ParallelOptions parallel;
  VerifyOptions verify;
  OutputOptions output;
};
template <class Fields>
void describe(Fields& fields, Case& o) {
  fields.value("name", o.name, any_value, "names the output folder, out/<name>; default: the file name of the case");
  fields.variant("matrix", "generate", o.matrix, Need::required, "the matrix A of A x = b");
  fields.variant("rhs", "type", o.rhs, Need::optional, "the right-hand side b");
  fields.variant("initial_guess", "type", o.initial_guess, Need::optional, "where the iteration starts");
  fields.variant("sequence", "type", o.sequence, Need::optional,
                 "systems of one pattern, one after the other: each is solved, reported and judged by itself, and what "
                 "one leaves to the next makes it quicker (krill solve)");
  fields.choice("backend", o.backend, backend_names, "where the solve runs; auto: on CUDA where there is a device");
  fields.value("threads", o.threads, Range{0, 4096}, "host threads; 0: as many as OpenMP gives");
  fields.value("device", o.device, at_least_zero, "CUDA device, counted from 0; not with backend host");
  fields.choice(
      "loop", o.loop, loop_control_names,
      "how a solver repeats its iteration on CUDA; persistent: one kernel holds the whole loop, for pcg and "
      "bicgstab with none, jacobi, block_jacobi, isai or chebyshev of systems in csr that fit into a device's "
      "shared memory; graph: a while node repeats the kernels of an iteration; replay: the host launches a few "
      "iterations again and again, one launch ahead of what it knows; host: the host decides after each; auto: "
      "persistent where that can be, else graph, or for ranks of several hosts replay");
  fields.choice("precision", o.precision, precision_names,
                "scalar type; auto: float64, or complex128 for a complex matrix; complex64 is two float32");
  fields.choice("format", o.format, format_names,
                "matrix format of the products; auto: what moves the fewest bytes and pays for its conversion");
  fields.section("layout", o.layout, "sizes that some formats want to know");
  fields.choice("assume", o.assume, assume_names,
                "spd: pcg takes the matrix as Hermitian positive definite although its entries do not show it");
  fields.choice(
      "on_failure", o.on_failure, on_failure_names,
      "ladder: where the solve fails, other methods are tried, one after the other: stronger factorizations, "
      "rows matched, double precision, a direct solve; a time limit is that of the whole, of a sequence that of "
      "each step; stop: none; auto: ladder where the solver is auto, else stop");
  fields.variant("matching", "type", o.matching, Need::optional,
                 "whether rows are permuted, and the system scaled, so that the diagonal is large; files keep the rows "
                 "of the matrix, and whether the solve has converged is judged by it");
  fields.variant("scaling", "type", o.scaling, Need::optional,
                 "factors of rows and columns; whether the solve has converged is judged without them");
  fields.variant("ordering", "type", o.ordering, Need::optional,
                 "the order of rows and columns in the solve; files keep the order of the matrix");
  fields.variant("solver", "type", o.solver, Need::required, "how the system is solved");
  fields.variant("preconditioner", "type", o.preconditioner, Need::optional, "the approximate inverse of A");
  fields.value(
      "contraction_steps", o.contraction_steps, Range{0, 1000},
      "steps x + M (b - A x) with the preconditioner M that measure by how much each reduces the error, before "
      "the solve: 20, say, cost 20 products and applications; 0: none");
  fields.section("parallel", o.parallel,
                 "what concerns several processes, which mpirun or srun starts; one process has no use for it");
  fields.section("verify", o.verify, "a second opinion on the solution");
  fields.section("output", o.output, "the files that are written beside report.json");
}

/// One thing that is wrong with a case. Lines and columns count from 1; 0: not known.
struct Diagnostic {
  std::string source;  ///< the file, or the option as it was typed: "--set solver.type=cg"
  int line = 0, column = 0;
  std::string message;
};

/// Everything that is wrong with a case, a line `file:line:column: message` for each.
struct CaseError : Error {
  explicit CaseError(std::vector<Diagnostic> found);
  std::vector<Diagnostic> diagnostics;
  std::string name;  ///< of the case, as far as it was read
};

/// Reads and checks a case file; `overrides` are "path=value", applied in order before anything is checked. Raises
/// CaseError with all that is wrong.
Case load_case(const std::string& path, const std::vector<std::string>& overrides = {});

/// The same for text that has been read; `source` is the name that messages give it and whose folder relative paths
/// start at.
Case parse_case(const std::string& text, const std::string& source, const std::vector<std::string>& overrides = {});

}  // namespace krill::apps
