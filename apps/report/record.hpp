// Everything that is known of one solve when it is over: report.json, the summary and the plot are made of it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "apps/case/case.hpp"
#include "apps/report/judgement.hpp"
#include "apps/report/steps.hpp"
#include "solvers/system/stages.hpp"
#include "sparse/io/read.hpp"

namespace krill::apps {

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
  std::string why_not;                  ///< where it was asked for and not run
  Judgement judgement;                  ///< of several right-hand sides the worst
  std::vector<Judgement> columns = {};  ///< of each that was judged, where there are several
};

/// Where a rank of a team solves.
struct RankPlace {
  std::string host;    ///< its name in the network
  int threads = 1;     ///< of the host
  std::string device;  ///< "NAME, UUID"; empty on the host
};

/// What the library knows of a solve, and what the program knows beside.
struct SolveRecord : SolveFacts {
  Case settings;           ///< what was `auto` of the method is chosen
  std::string started_at;  ///< ISO 8601, UTC
  Precision precision = Precision::float64;
  MatrixOrigin origin;

  bool on_cuda = false;
  int threads = 1;
  std::optional<DeviceInfo> device;
  std::vector<RankPlace> rank_places;  ///< of a team
  std::string transport;               ///< by which the ranks' devices exchange
  std::string why_whole;               ///< of a team, why each rank had the whole matrix; empty: own rows only
  std::size_t peak_host_bytes = 0;     ///< of the whole program so far
  std::optional<double> known_error;   ///< ||x - x*|| / ||x*|| where x* is known
  Verification verification;
  std::vector<StepResult> steps;   ///< of a sequence; result is that of the worst, all else of the last that was run
  std::string folder;              ///< of the output files
  std::vector<std::string> files;  ///< their names
};

/// The format of the products: as the case names it, and where that is auto, what was chosen.
std::string_view format_used(const SolveRecord&);

/// 0: converged, and verified where asked, of a sequence all steps; else 1.
int exit_code(const SolveRecord&);

/// The reason of the result; of a sequence the status of the worst step.
std::string_view status(const SolveRecord&);

std::string_view solver_name(const SolveRecord&);
std::string_view preconditioner_name(const SolveRecord&);
/// "pcg with jacobi", or "pcg" without a preconditioner.
std::string method_name(const SolveOptions&);
std::string_view ordering_name(const SolveRecord&);
std::string_view scaling_name(const SolveRecord&);
std::string_view matching_name(const SolveRecord&);

}  // namespace krill::apps
