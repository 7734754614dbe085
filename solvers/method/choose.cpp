#include "solvers/method/choose.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "solvers/method/type_name.hpp"

namespace krill {
namespace {

// Sizes at which one method takes over from another. Reasoned, not varied.
struct Tuning {
  /// Below, one block of threads solves a triangle without waits for others.
  static constexpr std::int32_t min_rows_for_color = 10'000;
  static constexpr std::int32_t max_rows_of_long_basis = 3000;
  static constexpr std::int32_t max_basis = 1000;  ///< vectors of gmres without a restart
  static constexpr std::int32_t max_rows_of_long_restart = 2'000'000;
  static constexpr std::int32_t max_rows_of_matched_restart = 200'000;
  static constexpr std::int64_t min_constraints = 1000;  ///< docs/results/saddle-points-host.md
  /// For multigrid: docs/results/multigrid-sweep.
  static constexpr std::int32_t min_rows_for_multigrid_on_host = 30'000;
  /// Grids in two dimensions take others more iterations than those in three with as many rows.
  static constexpr std::int32_t min_flat_rows_for_multigrid_on_cuda = 250'000,
                                min_rows_for_multigrid_on_cuda = 1'200'000;
  static constexpr double max_mean_flat_row = 5.5;
  /// Longer rows than those of the sweep up to 27 points: docs/results/h200-multigrid.md.
  static constexpr std::int32_t min_long_rows_for_multigrid = 4'000'000;
  static constexpr double max_mean_short_row = 16, max_mean_row_for_multigrid = 32;
  static constexpr double min_share_of_null_rows = 0.25;  ///< that tells diffusion from rows that dominate
  /// Of entries and their mirrors, over the greatest one. Convection and diffusion on 200^2 points, upwind, iterations
  /// of bicgstab with amg and with ilu0: 11 and 94 at 0.075, 21 and 34 at 0.32, 24 and 9 at 0.47.
  static constexpr double max_flow_of_diffusion = 0.1;
  static constexpr int matched_restart = 200, long_restart = 100, short_restart = 50;  ///< vectors; fewer for memory
};
constexpr double far_apart = 1e4;  // norms of rows, beyond which a residual says little about short rows

template <class Open, class Options>
bool is_open(const Options& options) {
  return std::holds_alternative<Open>(options);
}

bool has_full_diagonal(const MatrixProperties& m) { return m.missing_diagonal == 0 && m.zero_diagonal == 0; }
bool has_empty_lines(const MatrixProperties& m) { return m.empty_rows > 0 || m.empty_cols > 0; }

GmresOptions gmres(int restart) {
  GmresOptions options;
  options.restart = restart;
  return options;
}

/// Pivots of 0, which a full diagonal does not rule out, are replaced.
Ilu0Options ilu0_that_goes_on() {
  Ilu0Options options;
  options.shift.type = LuShift::nonzero;
  return options;
}

/// Solver banded with the limits that the case gave to solver auto.
BandedOptions elimination(const AutoSolver& limits) {
  BandedOptions options;
  options.max_iterations = std::min(options.max_iterations, limits.max_iterations);
  options.stop = limits.stop;
  options.stop.stagnation = BandedOptions{}.stop.stagnation;
  return options;
}

/// The decisions, one after the other: matching, sign, solver, preconditioner, ordering, scaling.
class Chooser {
 public:
  Chooser(const MatrixProperties& m, bool on_cuda, const SolveOptions& open)
      : m_(m),
        on_cuda_(on_cuda),
        few_diagonals_(can_eliminate(m, open)),
        negated_(!few_diagonals_ && turns_sign(m, open)),
        spd_(negated_ || may_be_positive_definite(m)),
        saddle_(!few_diagonals_ && is_saddle_point(m, open)),
        open_(open),
        choice_{open, {}} {}

  Choice choose() && {
    if (open_.on_failure == OnFailure::automatic)
      choice_.method.on_failure = is_open<AutoSolver>(open_.solver) ? OnFailure::ladder : OnFailure::stop;
    if (is_open<AutoMatching>(open_.matching)) matching();
    if (is_open<AutoSolver>(open_.solver)) solver();
    if (is_open<AutoPreconditioner>(open_.preconditioner)) preconditioner();
    if (is_open<AutoOrdering>(open_.ordering)) ordering();
    if (is_open<AutoScaling>(open_.scaling)) scaling();
    return std::move(choice_);
  }

 private:
  /// Whether the open parts allow elimination in few diagonals, and the matrix is not known to be singular: others find
  /// the solutions that there may be.
  static bool can_eliminate(const MatrixProperties& m, const SolveOptions& open) {
    const bool allowed =
        is_open<AutoSolver>(open.solver) &&
        (is_open<AutoPreconditioner>(open.preconditioner) || is_open<NoPreconditioner>(open.preconditioner)) &&
        (is_open<AutoOrdering>(open.ordering) || is_open<NaturalOrdering>(open.ordering)) &&
        (is_open<AutoMatching>(open.matching) || is_open<NoMatching>(open.matching));
    const bool singular = m.null_rows == m.rows || (m.structure && m.structure->rank < m.rows);
    return allowed && m.rows == m.cols && !singular && std::max(m.lower_bandwidth, m.upper_bandwidth) <= 2;
  }
  /// Whether constraints are to be solved for block by block, or may be and the open parts allow that.
  static bool is_saddle_point(const MatrixProperties& m, const SolveOptions& open) {
    if (std::holds_alternative<SchurOptions>(open.preconditioner)) return true;
    return m.constraint_rows >= Tuning::min_constraints && is_open<AutoPreconditioner>(open.preconditioner) &&
           (is_open<AutoSolver>(open.solver) || is_open<GmresOptions>(open.solver) ||
            is_open<FgmresOptions>(open.solver)) &&
           (is_open<AutoMatching>(open.matching) || is_open<NoMatching>(open.matching));
  }
  bool eliminates() const { return !takes_preconditioner(choice_.method.solver); }

  /// Whether -A may be solved by pcg, and the open parts allow that.
  static bool turns_sign(const MatrixProperties& m, const SolveOptions& open) {
    const bool by_scaling = is_open<AutoScaling>(open.scaling) || is_open<NegativeScaling>(open.scaling);
    const bool by_pcg = is_open<AutoSolver>(open.solver) || needs_definite(open.solver);
    return by_scaling && by_pcg && suits_pcg(open.preconditioner).holds && may_be_negative_definite(m);
  }

  void say(const char* key, std::string why) { choice_.reasons.push_back({key, std::move(why)}); }

  /// The options with the limits that the case gave to solver auto.
  template <class Options>
  void take(Options options) {
    const auto& limits = std::get<AutoSolver>(open_.solver);
    options.max_iterations = limits.max_iterations, options.stop = limits.stop;
    choice_.method.solver = options;
  }

  bool is_matched() const { return std::holds_alternative<GreatestProduct>(choice_.method.matching); }
  /// Of the system that is solved.
  bool has_diagonal() const { return is_matched() || has_full_diagonal(m_); }

  void matching() {
    choice_.method.matching = NoMatching{};
    const std::int64_t gaps = m_.missing_diagonal + m_.zero_diagonal;
    if (few_diagonals_ || eliminates()) return say("matching", "none: elimination exchanges rows by itself");
    if (spd_ || needs_definite(open_.solver))
      return say("matching", "none: rows that change their places would end the symmetry that pcg needs");
    if (saddle_) return say("matching", "none: the blocks of a saddle point are told by its diagonal");
    if (needs_given_order(open_.preconditioner))
      return say("matching", "none: the preconditioner takes rows in the order of the grid");
    if (gaps + m_.small_diagonal == 0)
      return say("matching", "none: no diagonal entry is small beside its row or column");
    if (!m_.structure) return say("matching", "none: matching rows and columns takes too long");
    if (m_.structure->rank < m_.rows)
      return say("matching", fmt::format("none: the structural rank is {} of {}, so some row finds no column",
                                         m_.structure->rank, m_.rows));
    choice_.method.matching = GreatestProduct{};
    say("matching", gaps > 0 ? fmt::format("product: {} of {} diagonal entries are missing or 0", gaps, m_.rows)
                             : fmt::format("product: {} of {} diagonal entries are small beside their rows or columns",
                                           m_.small_diagonal, m_.rows));
  }

  void solver() {
    if (few_diagonals_) {
      choice_.method.solver = elimination(std::get<AutoSolver>(open_.solver));
      return say("solver", fmt::format("banded: no entry is more than {} from the diagonal, so elimination takes "
                                       "one pass over the matrix",
                                       m_.lower_bandwidth > 1 || m_.upper_bandwidth > 1 ? "two places" : "one place"));
    }
    if (const std::string_view what = varies(open_.preconditioner); !what.empty()) {
      const bool definite = spd_ && suits_pcg(open_.preconditioner).holds;
      definite ? take(FcgOptions{}) : take(FgmresOptions{});
      return say("solver", fmt::format("{}: with {} the preconditioner is another one in each iteration",
                                       definite ? "fcg" : "fgmres", what));
    }
    if (spd_ && suits_pcg(open_.preconditioner).holds) {
      take(PcgOptions{});
      return say("solver", "pcg, which needs least: the matrix is " + std::string(hermitian()) + ", " + definite());
    }
    if (saddle_) {
      const bool whole = keeps_long_basis();
      take(gmres(whole ? std::clamp(m_.rows, 1, Tuning::max_basis) : Tuning::matched_restart));
      return say("solver",
                 fmt::format("gmres: the matrix is a saddle point, with eigenvalues on both sides of 0; {} vectors "
                             "until it restarts",
                             std::get<GmresOptions>(choice_.method.solver).restart));
    }
    const std::string why = spd_ ? "the preconditioner may not be Hermitian" : not_for_pcg();
    if (keeps_long_basis()) {
      take(gmres(std::clamp(m_.rows, 1, Tuning::max_basis)));
      return say("solver", fmt::format("gmres, as {}; with {} rows a basis of {} vectors costs little", why, m_.rows,
                                       std::min(m_.rows, Tuning::max_basis)));
    }
    if (is_matched() && !on_cuda_ && m_.rows <= Tuning::max_rows_of_matched_restart) {
      take(gmres(Tuning::matched_restart));
      return say("solver",
                 fmt::format("gmres, as {}: where rows had to be matched it was surer than bicgstab; {} vectors "
                             "until it restarts",
                             why, Tuning::matched_restart));
    }
    if (has_diagonal()) {
      take(BicgstabOptions{});
      return say("solver", fmt::format("bicgstab, as {}: no basis has to be kept, and with a preconditioner it was "
                                       "quicker than gmres on most real matrices",
                                       why));
    }
    const int restart = m_.rows <= Tuning::max_rows_of_long_restart ? Tuning::long_restart : Tuning::short_restart;
    take(gmres(restart));
    say("solver", fmt::format("gmres, as {} and there is no ilu0 to help bicgstab; {} vectors until it restarts{}", why,
                              restart, restart == Tuning::long_restart ? "" : ", for memory's sake"));
  }

  bool keeps_long_basis() const { return m_.rows <= Tuning::max_rows_of_long_basis; }
  std::string_view hermitian() const { return m_.complex ? "Hermitian" : "symmetric"; }
  std::string definite() const {
    if (negated_) return "its diagonal is negative, and nothing speaks against a definite -A";
    return m_.definiteness == Definiteness::positive_definite
               ? "positive definite by diagonal dominance"
               : "its diagonal is positive, and nothing speaks against positive definite";
  }
  std::string not_for_pcg() const {
    if (m_.hermitian_error > rounding_of_files) return fmt::format("the matrix is not {}", hermitian());
    return fmt::format("the matrix is {}, but not positive definite", hermitian());
  }

  void preconditioner() {
    PreconditionerOptions& M = choice_.method.preconditioner;
    const bool pcg = needs_definite(choice_.method.solver);
    if (eliminates()) {
      M = NoPreconditioner{};
      return say("preconditioner", fmt::format("none: solver {} takes none", type_name(choice_.method.solver)));
    }
    if (is_open<MultigridSolverOptions>(open_.solver)) {
      M = AmgOptions{};
      return say("preconditioner", "amg: the cycles of solver multigrid are its");
    }
    if (saddle_) {
      M = schur_for(m_);
      return say("preconditioner", fmt::format("schur: {} of {} rows are the constraints of a saddle point, which are "
                                               "solved for after the other unknowns",
                                               m_.constraint_rows, m_.rows));
    }
    if (!has_diagonal()) {
      M = NoPreconditioner{};
      return say("preconditioner", fmt::format("none: {} of {} diagonal entries are missing or 0, so there is nothing "
                                               "that jacobi, ilu0 or a sweep could divide by",
                                               m_.missing_diagonal + m_.zero_diagonal, m_.rows));
    }
    if (pcg && !spd_) {
      M = JacobiOptions{};
      return say("preconditioner", "jacobi: the matrix does not look positive definite, as better ones need it");
    }
    const bool long_basis = keeps_long_basis() && std::holds_alternative<GmresOptions>(choice_.method.solver);
    if (!pcg && on_cuda_ && !long_basis) {
      M = IsaiOptions{.form = IsaiForm::general};
      return say("preconditioner",
                 "isai: products alone, in which no row waits for another; on an H200 it was quicker than ilu0 in any "
                 "order for all nonsymmetric systems that were measured");
    }
    if (!pcg && is_matched()) {
      M = ilu0_that_goes_on();
      return say("preconditioner", "ilu0, which the matching gives a diagonal of modulus 1; pivots of 0 are replaced");
    }
    if (!pcg) {
      M = Ilu0Options{};
      return say("preconditioner", "ilu0: it takes general matrices with a full diagonal");
    }
    if (const MultigridFit fit = multigrid_fit(m_, on_cuda_); fit.suits) {
      AmgOptions options;
      options.method = MultigridMethod::automatic;
      M = options;
      return say("preconditioner", "amg: " + fit.why);
    }
    if (on_cuda_) {
      M = ChebyshevOptions{};
      return say("preconditioner",
                 "chebyshev: products alone, in which no row waits for another; of the preconditioners it was the "
                 "quickest in all systems that were measured on an H200");
    }
    M = Ic0Options{};
    say("preconditioner", "ic0: fewest iterations, and on the host no row has to wait for another");
  }

  void ordering() {
    OrderingOptions& order = choice_.method.ordering;
    if (std::holds_alternative<DirectOptions>(choice_.method.solver)) {
      order = NaturalOrdering{};
      return say("ordering", "none: solver direct orders by itself");
    }
    if (eliminates() && std::max(m_.lower_bandwidth, m_.upper_bandwidth) > 2) {
      order = RcmOrdering{};
      return say("ordering", "rcm: there are more than the five diagonals that solver banded takes");
    }
    if (eliminates()) {
      order = NaturalOrdering{};
      return say("ordering", "none: the entries are near the diagonal already");
    }
    const bool with_triangles = solves_triangles(choice_.method.preconditioner);
    if (on_cuda_ && with_triangles && m_.rows >= Tuning::min_rows_for_color) {
      order = ColorOrdering{};
      return say("ordering",
                 "color: triangles are solved in as many steps as there are colors, 2 to 20 times as quickly on an "
                 "H200, for about a third more iterations");
    }
    order = NaturalOrdering{};
    say("ordering", with_triangles ? "none: the factor is as good as the matrix's own order makes it"
                                   : "none: nothing in this method gains from another order");
  }

  void scaling() {
    ScalingOptions& scaling = choice_.method.scaling;
    if (negated_) {
      scaling = NegativeScaling{};
      return say("scaling", "negative: the diagonal is negative, and -A may be positive definite, as pcg needs it");
    }
    if (eliminates()) {
      scaling = NoScaling{};
      return say("scaling", "none: elimination with pivoting needs none");
    }
    const double spread = m_.min_row_norm > 0 ? m_.infinity_norm / m_.min_row_norm : 1;
    if (is_matched()) {
      scaling = NoScaling{};
      return say("scaling", "none: the matching scales");
    }
    const bool preconditioned = !std::holds_alternative<NoPreconditioner>(choice_.method.preconditioner);
    if (has_empty_lines(m_) || preconditioned || spread < far_apart) {
      scaling = NoScaling{};
      return say("scaling", has_empty_lines(m_) ? "none: empty rows or columns cannot be scaled"
                            : spread < far_apart
                                ? fmt::format("none: norms of rows differ by a factor of {:.2g} only", spread)
                                : "none: the preconditioner makes up for what differs in size");
    }
    scaling = RuizScaling{};
    say("scaling",
        fmt::format("ruiz: norms of rows differ by a factor of {:.2g}, and no preconditioner makes up for it", spread));
  }

  const MatrixProperties& m_;
  bool on_cuda_;
  bool few_diagonals_;           // which solver banded shall eliminate
  bool negated_, spd_, saddle_;  // the matrix that is solved with may be positive definite; negated: that is -A
  SolveOptions open_;
  Choice choice_;
};

}  // namespace

SchurOptions schur_for(const MatrixProperties& m) {
  SchurOptions options;
  if (m.negative_diagonal == 0) options.form = SchurForm::least_squares;
  return options;
}

bool may_be_positive_definite(const MatrixProperties& m, double asymmetry) {
  return m.rows == m.cols && m.non_finite == 0 && m.hermitian_error <= asymmetry && m.positive_diagonal &&
         m.definiteness != Definiteness::not_positive_definite;
}

bool may_be_negative_definite(const MatrixProperties& m, double asymmetry) {
  return m.rows == m.cols && m.rows > 0 && m.non_finite == 0 && m.hermitian_error <= asymmetry &&
         m.negative_diagonal == m.rows && !m.indefinite_pair;
}

/// From how many rows on multigrid is quicker than others.
std::int32_t min_rows_for_multigrid(const MatrixProperties& m, bool on_cuda) {
  if (m.mean_row > Tuning::max_mean_short_row) return Tuning::min_long_rows_for_multigrid;
  if (!on_cuda) return Tuning::min_rows_for_multigrid_on_host;
  return m.mean_row <= Tuning::max_mean_flat_row ? Tuning::min_flat_rows_for_multigrid_on_cuda
                                                 : Tuning::min_rows_for_multigrid_on_cuda;
}

MultigridFit multigrid_fit(const MatrixProperties& m, bool on_cuda) {
  const auto null_rows = static_cast<double>(m.null_rows), rows = static_cast<double>(m.rows);
  const std::int32_t min_rows = min_rows_for_multigrid(m, on_cuda);
  const bool definite = may_be_positive_definite(m), one_sided = m.rows == m.cols && m.non_finite == 0 &&
                                                                 m.positive_diagonal && m.symmetric_pattern &&
                                                                 m.hermitian_error > rounding_of_files;
  if (!definite && !one_sided) return {false, false, "the matrix does not look positive definite"};
  if (!(null_rows >= Tuning::min_share_of_null_rows * rows))
    return {false, false,
            fmt::format("{} of {} rows add up to 0, of diffusion it would be most: where diagonals dominate, "
                        "simple preconditioners need few iterations",
                        m.null_rows, m.rows)};
  if (one_sided && m.hermitian_error > Tuning::max_flow_of_diffusion)
    return {false, false,
            fmt::format("{} of {} rows add up to 0, but entries differ from their mirrors by up to {:.2g} of the "
                        "greatest one: aggregates follow diffusion, and flow carries errors across them",
                        m.null_rows, m.rows, m.hermitian_error),
            true};
  std::string diffusion = fmt::format("{} of {} rows add up to 0, as those of diffusion do", m.null_rows, m.rows);
  if (one_sided)
    diffusion += fmt::format(
        ", and flow is weak beside it (entries differ from their mirrors by up to {:.2g} of the "
        "greatest one)",
        m.hermitian_error);
  if (m.mean_row > Tuning::max_mean_row_for_multigrid)
    return {true, false, fmt::format("{}, but with {:.3g} entries a row its set-up takes long", diffusion, m.mean_row)};
  if (m.rows < min_rows)
    return {true, false,
            fmt::format("{}, but below {} rows its set-up takes longer than other solves", diffusion, min_rows)};
  return {true, true, diffusion + ", and with so many of them the iterations of other preconditioners are many"};
}

Choice choose(const MatrixProperties& m, bool on_cuda, const SolveOptions& open) {
  return Chooser(m, on_cuda, open).choose();
}

std::vector<ChoiceReason> choose_for(SolveOptions& options, const MatrixProperties& m, bool on_cuda) {
  Choice choice = choose(m, on_cuda, options);
  options = choice.method;
  return std::move(choice.reasons);
}

std::vector<ChoiceReason> choose_for_batch(SolveOptions& options, std::int32_t systems, const std::string& matrix) {
  std::vector<ChoiceReason> reasons;
  if (options.on_failure == OnFailure::ladder)
    throw InvalidArgument(fmt::format(
        "{}: on_failure: ladder is not for a batch, which solver banded alone solves: leave the key out", matrix));
  options.on_failure = OnFailure::stop;
  if (const auto* open = std::get_if<AutoSolver>(&options.solver)) {
    options.solver = elimination(*open);
    reasons.push_back({"solver", "banded: it eliminates the systems of a batch side by side"});
  }
  const auto require_none = [&]<class Open, class None>(const char* key, auto& part, Open, None none) {
    if (is_open<Open>(part)) part = none, reasons.push_back({key, "none: a batch is solved as it is"});
    if (!is_open<None>(part))
      throw InvalidArgument(fmt::format(
          "{}: a batch is solved as it is, and takes no {}: leave the key out, or take the systems one by one", matrix,
          key));
  };
  if (!is_open<BandedOptions>(options.solver))
    throw InvalidArgument(
        fmt::format("{}: a batch is solved by solver banded alone: use solver: {{type: banded}} or {{type: auto}}, or "
                    "take the systems one by one",
                    matrix));
  require_none("preconditioner", options.preconditioner, AutoPreconditioner{}, NoPreconditioner{});
  require_none("matching", options.matching, AutoMatching{}, NoMatching{});
  require_none("scaling", options.scaling, AutoScaling{}, NoScaling{});
  require_none("ordering", options.ordering, AutoOrdering{}, NaturalOrdering{});
  std::get<BandedOptions>(options.solver).systems = systems;
  return reasons;
}

std::optional<PreconditionerOptions> weaker(const SolveOptions& method, const MatrixProperties& m) {
  const PreconditionerOptions& refused = method.preconditioner;
  const bool matched = std::holds_alternative<GreatestProduct>(method.matching);
  if (std::holds_alternative<NoPreconditioner>(refused)) return {};
  if (std::holds_alternative<JacobiOptions>(refused) || !(matched || has_full_diagonal(m))) return NoPreconditioner{};
  if (matched && !std::holds_alternative<Ilu0Options>(refused)) return ilu0_that_goes_on();
  return JacobiOptions{};
}

}  // namespace krill
