#include "apps/evaluate/portfolio.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <type_traits>

#include "apps/case/method_text.hpp"
#include "solvers/method/choose.hpp"
#include "solvers/method/ladder.hpp"
#include "sparse/core/optional_libraries.hpp"

namespace krill::apps::evaluate {
namespace {

/// A solver for one kind of systems.
struct Way {
  SystemKind kind;
  std::string_view solver, settings = {};
  bool eliminates = false;  ///< exchanges rows, and scales, by itself
};
constexpr Way pcg{SystemKind::definite, PcgOptions::type};
constexpr Way gmres_where_definite{SystemKind::definite, GmresOptions::type};
constexpr Way flexible{SystemKind::definite, FcgOptions::type};
constexpr Way bicgstab{SystemKind::general, BicgstabOptions::type};
constexpr Way gmres{SystemKind::general, GmresOptions::type};
constexpr Way flexible_gmres{SystemKind::general, FgmresOptions::type, "restart: 30"};
constexpr Way direct{SystemKind::general, DirectOptions::type, {}, true};
constexpr Way direct_where_definite{SystemKind::definite, DirectOptions::type, {}, true};
constexpr Way long_gmres{SystemKind::general, GmresOptions::type, "restart: 200"};

/// A preconditioner in one of its settings.
struct Trial {
  Portfolio min;  ///< the smallest portfolio that has it
  Way way;
  std::string_view settings = {};  ///< keys of the preconditioner that are not as by default
  std::string_view rest = {};      ///< other parts of the case
};
using Trials = std::vector<Trial>;
template <class Options>
struct TrialsOf {};

constexpr Portfolio quick = Portfolio::quick, standard = Portfolio::standard, thorough = Portfolio::thorough;
constexpr std::string_view by_color = "ordering: {type: color}", by_bandwidth = "ordering: {type: rcm}",
                           by_degree = "ordering: {type: amd}", by_diagonal = "scaling: {type: diagonal}",
                           by_ruiz = "scaling: {type: ruiz}";
constexpr std::string_view in_float32 = "precision: float32", with_jacobi = "triangular_solve: jacobi",
                           with_isai = "triangular_solve: isai";

// What is worth a try of each preconditioner, the most promising first. One without an overload does not compile.

Trials trials(TrialsOf<AutoPreconditioner>) { return {}; }
Trials trials(TrialsOf<NoPreconditioner>) {
  return {{quick, direct},   {quick, direct_where_definite},     {standard, pcg}, {standard, bicgstab},
          {standard, gmres}, {thorough, long_gmres, {}, by_ruiz}};
}
Trials trials(TrialsOf<JacobiOptions>) {
  return {{quick, pcg}, {quick, bicgstab}, {quick, gmres}, {thorough, bicgstab, {}, by_ruiz}, {thorough, long_gmres}};
}
Trials trials(TrialsOf<BlockJacobiOptions>) {
  return {{quick, pcg}, {standard, bicgstab}, {thorough, pcg, in_float32}, {thorough, gmres}};
}
Trials trials(TrialsOf<ChebyshevOptions>) {
  return {{quick, pcg, "degree: 4"},
          {standard, pcg, "degree: 8"},
          {standard, pcg, "degree: 4, precision: float32"},
          {thorough, pcg, "degree: 16"},
          {thorough, pcg, {}, by_ruiz}};
}
Trials trials(TrialsOf<GaussSeidelOptions>) {
  return {{standard, bicgstab, "direction: forward"}, {thorough, bicgstab, "direction: forward", by_color}};
}
Trials trials(TrialsOf<SsorOptions>) {
  return {{standard, pcg}, {standard, pcg, {}, by_color}, {thorough, pcg, "omega: 1.5"}};
}
Trials trials(TrialsOf<Ilu0Options>) {
  return {{quick, bicgstab},
          {quick, gmres},
          {quick, bicgstab, {}, by_color},
          {standard, bicgstab, {}, by_bandwidth},
          {standard, bicgstab, in_float32},
          {standard, gmres, {}, "scaling: {type: ruiz}, ordering: {type: rcm}"},
          {standard, long_gmres},
          {thorough, bicgstab, {}, by_ruiz},
          {thorough, bicgstab, {}, by_degree},
          {thorough, bicgstab, with_jacobi},
          {thorough, bicgstab, with_isai},
          {thorough, gmres, {}, by_color}};
}
Trials trials(TrialsOf<Ic0Options>) {
  return {{quick, pcg},
          {quick, pcg, {}, by_color},
          {standard, pcg, in_float32},
          {standard, pcg, {}, by_bandwidth},
          {thorough, pcg, with_jacobi},
          {thorough, pcg, with_isai},
          {thorough, pcg, in_float32, by_color},
          {thorough, pcg, {}, by_degree},
          {thorough, pcg, {}, by_diagonal},
          {thorough, gmres_where_definite}};
}
Trials trials(TrialsOf<IlukOptions>) {
  return {{standard, bicgstab, "level: 1"},
          {standard, gmres, "level: 2", by_degree},
          {thorough, gmres, "level: 3", by_bandwidth},
          {thorough, bicgstab, "level: 2, precision: float32"},
          {thorough, long_gmres, "level: 5"}};
}
Trials trials(TrialsOf<IckOptions>) {
  return {{standard, pcg, "level: 1"},
          {standard, pcg, "level: 3", by_bandwidth},
          {thorough, pcg, "level: 2, precision: float32"},
          {thorough, pcg, "level: 5"}};
}
Trials trials(TrialsOf<IlutOptions>) {
  return {{standard, bicgstab},
          {standard, gmres, "row_entries: 50, drop_tolerance: 1e-4", by_degree},
          {thorough, bicgstab, {}, by_ruiz},
          {thorough, long_gmres, "row_entries: 100, drop_tolerance: 1e-5", by_degree}};
}
Trials trials(TrialsOf<IctOptions>) {
  return {{standard, pcg},
          {standard, pcg, "compensation: diagonal", by_bandwidth},
          {thorough, pcg, "row_entries: 100, drop_tolerance: 1e-5", by_degree}};
}
Trials trials(TrialsOf<Bilu0Options>) { return {{thorough, bicgstab}}; }
Trials trials(TrialsOf<Bic0Options>) { return {{thorough, pcg}}; }
Trials trials(TrialsOf<Parilu0Options>) { return {{standard, bicgstab, with_isai}, {thorough, bicgstab}}; }
Trials trials(TrialsOf<Paric0Options>) { return {{standard, pcg, with_isai}, {thorough, pcg}}; }
Trials trials(TrialsOf<ParilutOptions>) { return {{thorough, bicgstab}}; }
Trials trials(TrialsOf<ParictOptions>) { return {{thorough, pcg}}; }
Trials trials(TrialsOf<IsaiOptions>) { return {{standard, pcg}, {standard, bicgstab}}; }

Trials trials(TrialsOf<TridiagonalOptions>) { return {{thorough, pcg}, {thorough, bicgstab}}; }
Trials trials(TrialsOf<LineOptions>) {
  return {
      {standard, pcg}, {standard, bicgstab}, {thorough, pcg, "direction: all"}, {thorough, bicgstab, "direction: all"}};
}

Trials trials(TrialsOf<AmgOptions>) {
  return {{quick, pcg},
          {standard, pcg, "method: aggregation, over_correction: 1.7"},
          {standard, bicgstab},
          {standard, flexible, "method: aggregation, cycle: k"},
          {thorough, pcg, "cycle: w"},
          {thorough, pcg, "smoother: {degree: 4}"},
          {thorough, gmres, "restriction: adjoint_matrix"}};
}

Trials trials(TrialsOf<SchurOptions>) { return {}; }  // chosen_by_rules() has it where it fits

Trials trials(TrialsOf<SchwarzOptions>) {
  constexpr std::string_view compact =
      with_metis ? "parts: 256, partition: graph, coarse: constants" : "parts: 256, coarse: constants";
  return {{thorough, pcg, compact}, {thorough, bicgstab, "parts: 64"}};
}

Trials trials(TrialsOf<InnerSolverOptions>) {
  constexpr std::string_view
      by_gmres =
          "inner: {solver: {type: gmres, restart: 10, max_iterations: 10, stop: {relative: 0.1}}, "
          "preconditioner: {type: ilu0}}",
      by_bicgstab =
          "inner: {solver: {type: bicgstab, max_iterations: 10, stop: {relative: 0.1}}, preconditioner: "
          "{type: isai}}",
      by_pcg =
          "inner: {solver: {type: pcg, max_iterations: 10, stop: {relative: 0.1}}, preconditioner: {type: ic0}}, "
          "precision: float32";
  return {{thorough, flexible, by_pcg}, {thorough, flexible_gmres, by_gmres}, {thorough, flexible_gmres, by_bicgstab}};
}

/// "{type: chebyshev, degree: 4}"
std::string section(std::string_view type, std::string_view settings) {
  return fmt::format("{{type: {}{}{}}}", type, settings.empty() ? "" : ", ", settings);
}

/// A trial of one type of preconditioners.
struct PortfolioEntry {
  Trial trial;
  std::string_view preconditioner;

  bool is_for(SystemKind kind) const {
    if (kind == SystemKind::no_diagonal) return trial.way.kind == SystemKind::general && divides_by_nothing();
    const bool definite = kind == SystemKind::definite || kind == SystemKind::negative_definite;
    // what scales in another way leaves the sign
    if (kind == SystemKind::negative_definite && trial.rest.starts_with("scaling")) return false;
    return definite == (trial.way.kind == SystemKind::definite);
  }
  bool wants_grid() const { return preconditioner == LineOptions::type; }
  /// Where little is left, all levels have it.
  Portfolio min(SystemKind kind) const { return kind == SystemKind::no_diagonal ? quick : trial.min; }
  std::string text(SystemKind kind) const {
    std::string settings(trial.settings), rest(trial.rest);
    const auto add = [](std::string& keys, std::string_view more) {
      keys += (keys.empty() ? "" : ", ") + std::string(more);
    };
    if (kind == SystemKind::weak_diagonal && !trial.way.eliminates) {
      add(rest, "matching: {type: product}");
      if (preconditioner == Ilu0Options::type || preconditioner == IlukOptions::type ||
          preconditioner == IlutOptions::type)
        add(settings, "shift: {type: nonzero}");
    }
    if (kind == SystemKind::negative_definite && !trial.way.eliminates) add(rest, "scaling: {type: negative}");
    return fmt::format("{{solver: {}, preconditioner: {}{}{}}}", section(trial.way.solver, trial.way.settings),
                       section(preconditioner, settings), rest.empty() ? "" : ", ", rest);
  }

 private:
  bool divides_by_nothing() const { return preconditioner == NoPreconditioner::type; }
};
template <class Options>
std::vector<PortfolioEntry> entries_of() {
  std::vector<PortfolioEntry> entries;
  for (const Trial& trial : trials(TrialsOf<Options>())) entries.push_back({trial, Options::type});
  return entries;
}

/// Of all preconditioners, the last in the library's list first: the strong ones stand there.
template <class... Options>
std::vector<PortfolioEntry> all_entries(std::type_identity<std::variant<Options...>>) {
  std::vector<PortfolioEntry> all;
  for (const auto& some : {entries_of<Options>()...}) all.insert(all.begin(), some.begin(), some.end());
  return all;
}

}  // namespace

SystemKind system_kind(const MatrixProperties& m, Assume assume) {
  if (assume == Assume::spd) return SystemKind::definite;
  const double rounding = std::sqrt(std::numeric_limits<double>::epsilon());  // what a pcg solve lets pass, too
  if (may_be_positive_definite(m, rounding)) return SystemKind::definite;
  if (may_be_negative_definite(m, rounding)) return SystemKind::negative_definite;
  // with a preconditioner, for elimination in few diagonals would need no matching
  const SolveOptions iterative{.preconditioner = Ilu0Options{}};
  if (std::holds_alternative<GreatestProduct>(choose(m, false, iterative).method.matching))
    return SystemKind::weak_diagonal;
  return m.missing_diagonal + m.zero_diagonal > 0 ? SystemKind::no_diagonal : SystemKind::general;
}

std::vector<std::string> chosen_by_rules(const MatrixProperties& m, bool on_cuda) {
  SolveOptions method = choose(m, on_cuda).method;
  std::vector<std::string> texts{method_text(method)};
  while (const auto next = weaker(method, m)) {
    method.preconditioner = *next;
    texts.push_back(method_text(method));
  }
  for (const LadderStep& step : ladder(choose(m, on_cuda).method, m, false)) texts.push_back(method_text(step.method));
  return texts;
}

std::vector<std::string> portfolio(Portfolio level, SystemKind kind, bool grid) {
  std::vector<std::string> texts;
  if (level < Portfolio::quick) return texts;
  const std::vector<PortfolioEntry> entries = all_entries(std::type_identity<PreconditionerOptions>());
  for (const Portfolio now : {quick, standard, thorough})
    for (const PortfolioEntry& entry : entries)
      if (entry.min(kind) == now && now <= level && entry.is_for(kind) && (grid || !entry.wants_grid()))
        texts.push_back(entry.text(kind));
  return texts;
}

}  // namespace krill::apps::evaluate
