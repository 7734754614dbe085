#include "solvers/method/ladder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "solvers/method/choose.hpp"

namespace krill {
namespace {

// Reasoned, not varied, but for the fill: each step keeps three to five times as many entries as the one before.
constexpr int max_iterations_of_step = 2000;
constexpr std::int32_t max_rows_of_whole_basis = 3000, max_rows_of_long_basis = 200'000;
constexpr int whole_basis = 1000, long_basis = 200, short_basis = 50;  // vectors until gmres restarts
// Matched, 4 of 14 real matrices are solved with it by a fill that does not do without: docs/results/pivoting-host.md.
constexpr double pivoting = 0.1;
constexpr DropOptions little_fill{10, 1e-2}, more_fill{30, 1e-3}, much_fill{100, 1e-5};

class LadderBuilder {
 public:
  LadderBuilder(const SolveOptions& failed, const MatrixProperties& m)
      : failed_(failed),
        m_(m),
        stop_(stop(failed.solver)),
        negated_(may_be_negative_definite(m)),
        definite_(negated_ || may_be_positive_definite(m)),
        matched_(!definite_ && m.structure && m.structure->rank == m.rows) {
    if (!takes_preconditioner(failed.solver)) stop_.stagnation = StopOptions{}.stagnation;  // theirs is of refinement
  }

  std::vector<LadderStep> all(bool single) && {
    if (systems_of(failed_.solver) > 0) return {};
    if (definite_) {
      add_definite(little_fill);
      add_definite(much_fill);
    }
    if (m_.constraint_rows > 0)
      book({"the blocks of a saddle point, one after the other", with(gmres(), schur_for(m_), NaturalOrdering{})});
    add("ilu0", gmres(), ilu(Ilu0Options{}), NaturalOrdering{});
    add("ilut with little fill", gmres(), ilut(little_fill), NaturalOrdering{});
    add("ilut with more fill, by another Krylov method", limited(BicgstabOptions{}), ilut(more_fill),
        NaturalOrdering{});
    add("ilut with much fill, in an order of small bandwidth", gmres(), ilut(much_fill), RcmOrdering{});
    if (single) {
      LadderStep wide = steps_.back();
      wide.why = "double precision, " + wide.why, wide.in_double = true;
      steps_.push_back(std::move(wide));
    }
    if (!std::holds_alternative<DirectOptions>(failed_.solver)) add_direct();
    return std::move(steps_);
  }

 private:
  template <class Options>
  Options limited(Options options) const {
    options.max_iterations = takes_preconditioner(failed_.solver)
                                 ? std::min(max_iterations_of_step, max_iterations(failed_.solver))
                                 : max_iterations_of_step;
    options.stop = stop_;
    return options;
  }
  GmresOptions gmres() const {
    GmresOptions options;
    options.restart = m_.rows <= max_rows_of_whole_basis  ? std::clamp(m_.rows, 1, whole_basis)
                      : m_.rows <= max_rows_of_long_basis ? long_basis
                                                          : short_basis;
    return limited(options);
  }
  /// Pivots of 0 are replaced.
  template <class Options>
  static Options ilu(Options options) {
    options.shift.type = LuShift::nonzero;
    return options;
  }
  static IlutOptions ilut(const DropOptions& drops) {
    IlutOptions options;
    options.row_entries = drops.max_row_entries, options.drop_tolerance = drops.tolerance;
    options.pivoting = pivoting;
    return ilu(options);
  }
  bool has_empty_lines() const { return m_.empty_rows > 0 || m_.empty_cols > 0; }

  SolveOptions with(SolverOptions solver, PreconditionerOptions preconditioner, OrderingOptions ordering) const {
    SolveOptions method = failed_;
    method.solver = std::move(solver), method.preconditioner = std::move(preconditioner);
    method.ordering = std::move(ordering), method.matching = NoMatching{}, method.scaling = NoScaling{};
    return method;
  }
  /// A general step: the rows matched, where some diagonal may be had by that, else scaled.
  void add(const std::string& what, SolverOptions solver, PreconditionerOptions preconditioner,
           OrderingOptions ordering) {
    SolveOptions method = with(std::move(solver), std::move(preconditioner), std::move(ordering));
    if (matched_)
      method.matching = GreatestProduct{};
    else if (!has_empty_lines())
      method.scaling = RuizScaling{};
    const char* shape = matched_ ? "rows and columns matched" : has_empty_lines() ? "as it stands" : "scaled";
    book({fmt::format("{}, {}", shape, what), std::move(method)});
  }
  void add_definite(const DropOptions& drops) {
    IctOptions ict;
    ict.row_entries = drops.max_row_entries, ict.drop_tolerance = drops.tolerance;
    SolveOptions method = with(limited(PcgOptions{}), ict, NaturalOrdering{});
    if (negated_)
      method.scaling = NegativeScaling{};
    else
      method.scaling = DiagonalScaling{};
    book({fmt::format("{}, ict with {} fill", negated_ ? "-A" : "scaled",
                      drops.max_row_entries > little_fill.max_row_entries ? "much" : "little"),
          std::move(method), true});
  }
  void add_direct() {
    DirectOptions options;
    options.stop = stop_;
    options.stop.stagnation = DirectOptions{}.stop.stagnation;
    book({"a complete factorization", with(options, NoPreconditioner{}, NaturalOrdering{})});
  }
  void book(LadderStep step) {
    const auto key = [](const SolveOptions& o) {
      return std::array{o.solver.index(), o.preconditioner.index(), o.ordering.index(), o.scaling.index(),
                        o.matching.index()};
    };
    if (key(step.method) != key(failed_)) steps_.push_back(std::move(step));
  }

  const SolveOptions& failed_;
  const MatrixProperties& m_;
  StopOptions stop_;
  bool negated_, definite_, matched_;
  std::vector<LadderStep> steps_;
};

}  // namespace

std::vector<LadderStep> ladder(const SolveOptions& failed, const MatrixProperties& m, bool single) {
  return LadderBuilder(failed, m).all(single);
}

}  // namespace krill
