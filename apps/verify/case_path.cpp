#include "apps/verify/case_path.hpp"

#include <fmt/format.h>

#include "apps/system/solve_system.hpp"
#include "apps/verify/preconditioner_reference.hpp"
#include "apps/verify/second_opinion.hpp"
#include "apps/verify/trial.hpp"
#include "solvers/precond/lower_precision.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/convert/to_banded.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/overloaded.hpp"

namespace krill::apps::verify {
namespace {

constexpr std::string_view judge_bound =
    "target + (longest row + 4) eps || |A||x| + |b| ||: what was claimed and what rounding can add to it (Higham 2002, "
    "section 3.5)";

/// The case in CSR; plain: as it stands, neither scaled nor reordered.
template <class T>
LinearSystem<T> load(Context& ctx, Case settings, const SourceMatrix<T>& source, bool plain) {
  settings.format = Format::csr;
  settings.layout = {};
  if (plain) {  // nothing solves that one, so it need not be definite
    settings.scaling = NoScaling{}, settings.ordering = NaturalOrdering{}, settings.matching = NoMatching{};
    settings.assume = Assume::spd;
  }
  SolveRecord record;
  record.settings = std::move(settings);
  return make_system(ctx, record, source.clone());
}

template <class T>
Csr<T> narrow(const AnyMatrix<T>& A) {
  if (const auto* csr = std::get_if<Csr<T>>(&A)) return csr->clone();
  throw InvalidArgument(fmt::format("verify: the matrix has {} entries, references count up to 2^31 - 1", nnz(A)));
}

template <class T>
std::vector<T> values_of(const Array<T>& array) {
  return {array.host().begin(), array.host().end()};
}

/// The first of several right-hand sides, or of their guesses: the suites go through one, Eigen judges each.
template <class T>
std::vector<T> first_values(const Array<T>& all, const PreparedSystem<T>& system) {
  const auto first = all.host().first(static_cast<std::size_t>(rows(*system.A)));
  return {first.begin(), first.end()};
}

/// A in CSR that a solve transforms, with b.
template <class T>
Subject<T> original_subject(Context& ctx, const Case& settings, const SourceMatrix<T>& source) {
  const LinearSystem<T> system = load(ctx, settings, source, true);
  return {settings.name, narrow<T>(*system.prepared.A), {"b of the case", first_values(system.b, system.prepared)}};
}

/// The system that is solved.
template <class T>
Subject<T> solved_subject(Context& ctx, const Case& settings, const SourceMatrix<T>& source) {
  const LinearSystem<T> system = load(ctx, settings, source, false);
  const Transformation<T>& transformation = system.prepared.transformation;
  const Array<T> b = transformation.rhs(ctx, Array<T>(first_values(system.b, system.prepared))),
                 x = transformation.solution(ctx, Array<T>(first_values(system.x, system.prepared)));
  Subject<T> subject(settings.name, narrow<T>(*system.prepared.A), {"b of the case", values_of(b)});
  subject.rhs = values_of(b);
  subject.guess = values_of(x);
  return subject;
}

Selection transformations_of(const Case& settings) {
  Selection s;
  std::visit(Overloaded{[&](const DiagonalScaling& o) { s.scalings = {o.method}; },
                        [&](const SymmetricScaling& o) { s.scalings = {o.method}; },
                        [&](const RuizScaling& o) { s.scalings = {o.method}; },
                        [&](const NegativeScaling& o) { s.scalings = {o.method}; }, [](const NoScaling&) {},
                        [](const AutoScaling&) {}},
             settings.scaling);
  s.matches = std::holds_alternative<GreatestProduct>(settings.matching);
  std::visit(Overloaded{[&](const RcmOrdering&) { s.orderings = {OrderingMethod::rcm}; },
                        [&](const AmdOrdering&) { s.orderings = {OrderingMethod::amd}; },
                        [&](const NestedDissectionOrdering&) { s.orderings = {OrderingMethod::nested_dissection}; },
                        [&](const ColorOrdering&) { s.orderings = {OrderingMethod::color}; },
                        [](const NaturalOrdering&) {}, [](const AutoOrdering&) {}},
             settings.ordering);
  return s;
}

/// The bands that a solve takes from A: elimination, and preconditioners of lines.
template <class T>
std::vector<BandedSample> banded_of(Context& ctx, const Case& settings, const Csr<T>& A) {
  std::vector<BandedSample> all;
  if (std::holds_alternative<BandedOptions>(settings.solver))
    all.push_back(BandedSample{BandedMethod::lu, bandwidth(ctx, A) < 2 ? 3 : 5});
  if (std::holds_alternative<TridiagonalOptions>(settings.preconditioner)) all.push_back({});
  if (const auto* line = std::get_if<LineOptions>(&settings.preconditioner)) {
    const std::int32_t points[] = {line->nx, std::max(line->ny, 1), std::max(line->nz, 1)};
    for (int d = 0; d < 3; ++d)
      if (points[d] > 1) all.push_back({{}, 3, BandLayout::lines(points[0], points[1], points[2], d)});
  }
  return all;
}

Selection selection_of(const Case& settings) {
  Selection s;
  s.solved_in = {std::string(krill::name(settings.format)), settings.format, settings.layout};
  s.formats = {s.solved_in};
  s.ops = {Op::none};
  s.preconditioners = {settings.preconditioner};
  s.solves = {{settings.solver, settings.preconditioner}};
  return s;
}

/// The triangles that a preconditioner solves with, and how.
Selection triangles_of(const FactorSolveOptions& o, Factorization kind) {
  Selection s;
  if (kind == Factorization::ilu0)
    s.triangles = {{Fill::lower, Diagonal::unit}, {Fill::upper}};
  else
    s.triangles = {{Fill::lower}, {Fill::lower, Diagonal::stored, Op::adjoint}};
  if (o.method == FactorSolveMethod::jacobi)
    s.approximate = {{ApproximateMethod::jacobi, o.sweeps}};
  else if (o.method == FactorSolveMethod::isai)
    s.approximate = {{ApproximateMethod::isai, o.corrections}};
  else  // the exact ones have the names and the order of TriangularMethod
    s.triangular = {static_cast<TriangularMethod>(o.method)};
  return s;
}

template <class T>
void check_factor_triangles(Ledger& ledger, Context& ctx, const Subject<T>& s, const Selection& selection,
                            const PreconditionerOptions& options, const FactorRecipe& recipe) {
  const AnyMatrix<T> A = convert_format(ctx, s.A, selection.solved_in.format, selection.solved_in.layout);
  Factor<T> factor = make_factor(ctx, recipe, A, make_preconditioner<T>(ctx, options, A)->report());
  factor.A.value = std::move(factor.values);
  check_triangles(ledger, ctx, Subject<T>(s.name, csr_of(factor.A), {"b of the case", s.rhs}),
                  triangles_of(recipe.solve, recipe.kind));
}

template <class T>
void check_triangles_of(Ledger& ledger, Context& ctx, const Subject<T>& s, const Selection& selection,
                        const PreconditionerOptions& options) {
  ledger.about("triangular solves", s.name);
  if constexpr (!std::is_same_v<T, lower_t<T>>)
    if (is_kept_in_float32(options)) {
      Subject<lower_t<T>> low(s.name, in_precision<lower_t<T>>(s.A));
      low.rhs = in_precision<lower_t<T>>(std::span<const T>(s.rhs));
      return check_triangles_of(ledger, ctx, low, selection, options);
    }
  const Judging j = judging_of(options);
  if (j.factor) return check_factor_triangles(ledger, ctx, s, selection, options, *j.factor);
  Selection triangles;
  triangles.triangles = j.triangles, triangles.triangular = {j.method};
  if (!j.triangles.empty()) check_triangles(ledger, ctx, s, triangles);
}

/// The case with nothing left to the rules of auto. Refuses what a solve refuses.
template <class T>
Case decided(Context& ctx, const Case& settings, const SourceMatrix<T>& source) {
  SolveRecord record;
  record.settings = settings;
  const LinearSystem<T> system = make_system(ctx, record, source.clone());
  const MatrixOperator<T> products(*system.prepared.A, SpmvMethod::in_place);
  make_preconditioner<T>(ctx, record.settings, record, system.prepared, products);
  return record.settings;
}

/// As `krill solve` does, and Eigen's opinion of it.
template <class T>
Comparison compare_solution(Context& ctx, const Case& settings) {
  SolveRecord record;
  record.settings = settings;
  begin_record(record);
  record_backend(record, ctx);
  LinearSystem<T> system = load_system<T>(ctx, record);
  solve_system(ctx, system, record, [] {}, {});
  if (record.result.reason != Reason::converged)
    return failed(fmt::format("the solve ends as {} after {} iterations", krill::name(record.result.reason),
                              record.result.iterations));
  const Judgement j = together(second_opinion<T>(record, system.b.host(), system.x.host()));
  Comparison c;
  c.entries = system.x.size();
  c.verdict = j.verdict;
  c.reason = j.reason;
  c.normwise = j.tolerance > 0 ? j.residual / j.tolerance : 0;
  c.componentwise = c.normwise;
  c.relative = j.error >= 0 ? j.error : 0;
  return c;
}

}  // namespace

template <class T>
void verify_case(Ledger& ledger, Context& ctx, const Case& given) {
  Timings timings;
  const SourceMatrix<T> source = load_matrix<T>(ctx, given.matrix, timings);
  const Case settings = decided(ctx, given, source);
  const Subject<T> subject = solved_subject(ctx, settings, source);
  Selection selection = selection_of(settings);
  selection.banded = banded_of(ctx, settings, subject.A);
  const Selection transformations = transformations_of(settings);
  if (!transformations.scalings.empty() || !transformations.orderings.empty() || transformations.matches) {
    const Subject<T> original = original_subject(ctx, settings, source);
    ledger.about("scalings", subject.name);
    check_scalings(ledger, ctx, original, transformations);
    ledger.about("orderings", subject.name);
    check_orderings(ledger, ctx, original, transformations);
  }
  run_suites(ledger, ctx, subject, selection);
  check_triangles_of(ledger, ctx, subject, selection, settings.preconditioner);
  ledger.about("solution", subject.name);
  ledger.check("solution by Eigen", judge_bound, [&] { return compare_solution<T>(ctx, settings); });
}

template <class T>
struct CasePathInstances {
  static constexpr auto list = &verify_case<T>;
};
KRILL_INSTANTIATE(CasePathInstances);

}  // namespace krill::apps::verify
