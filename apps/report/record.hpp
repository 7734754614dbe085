// Everything that is known of one solve when it is over: report.json, the summary and the plot are made of it.
#pragma once
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "krill/apps/advise/choose.hpp"
#include "krill/apps/verify/judge.hpp"
#include "krill/solvers/solver.hpp"
#include "krill/sparse/io/analyze.hpp"
#include "krill/sparse/io/read.hpp"

namespace krill::apps {

/// Milliseconds of wall-clock time, the device's work included.
struct Timings {
  double read = 0;     ///< reading or generating matrix and vectors
  double convert = 0;  ///< to a canonical matrix in the wanted format, and looking at its entries
  double scale = 0;
  double order = 0;
  double preconditioner_setup = 0;
  double solve = 0;
  double total = 0;  ///< from the command to the report, verification and files included
};

/// What scaling and reordering made of the system; what was not asked for says nothing.
struct TransformationReport {
  double least_factor = std::numeric_limits<double>::infinity(), greatest_factor = 0;  ///< of rows and columns
  std::int64_t bandwidth_before = 0, bandwidth = 0;                                    ///< max |i - j| over the entries
  std::int32_t colors = 0;
};

/// Where the matrix came from.
struct MatrixOrigin {
  std::string name;                          ///< "data/bar.mtx", "generated poisson3d"
  std::string checksum;                      ///< of the file; empty where generated
  std::optional<MatrixKind> kind;            ///< what the file says of itself
  std::optional<CanonicalReport> canonical;  ///< what was done to its entries
};

/// What came of `verify`.
struct Verification {
  enum class State { not_asked, not_run, finished };
  State state = State::not_asked;
  std::string why_not;  ///< where it was asked for and not run
  Judgement judgement;
};

struct SolveRecord {
  Case settings;                      ///< what was `auto` of the method is chosen
  std::vector<ChoiceReason> choices;  ///< why; empty where the case named everything
  std::string started_at;             ///< ISO 8601, UTC
  Precision precision = Precision::float64;
  SpmvReport products;  ///< how A x was computed
  PreconditionerReport preconditioner;
  MatrixOrigin origin;
  MatrixProperties matrix;
  TransformationReport transformation;

  bool on_cuda = false;
  int threads = 1;
  std::optional<DeviceInfo> device;
  std::size_t memory_bytes = 0;       ///< matrix, vectors and workspace on the backend's side
  std::size_t memory_peak_bytes = 0;  ///< the most of arrays and workspace on the backend's side, setup included
  std::size_t peak_host_bytes = 0;    ///< of the whole program so far

  SolveReport result;
  double residual_norm = 0;           ///< ||b - A x||
  double solution_norm = 0;           ///< ||x||
  double backward_error = 0;          ///< ||b - A x|| / (||A||_F ||x|| + ||b||)
  std::optional<double> known_error;  ///< ||x - x*|| / ||x*|| where x* is known
  Verification verification;
  Timings timings;
  std::vector<std::string> notes;  ///< sentences that a reader of the result should know
  std::string folder;              ///< of the output files
  std::vector<std::string> files;  ///< their names
};

/// The format of the products: as the case names it, and where that is auto, what was chosen.
std::string_view format_used(const SolveRecord&);

/// 0: converged, and verified where asked; else 1.
int exit_code(const SolveRecord&);

std::string_view solver_name(const SolveRecord&);
std::string_view preconditioner_name(const SolveRecord&);
std::string_view ordering_name(const SolveRecord&);
std::string_view scaling_name(const SolveRecord&);

}  // namespace krill::apps
