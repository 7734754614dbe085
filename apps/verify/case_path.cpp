#include "krill/apps/verify/case_path.hpp"

#include <fmt/format.h>

#include "krill/apps/solve_system.hpp"
#include "krill/apps/verify/factor.hpp"
#include "krill/apps/verify/second_opinion.hpp"
#include "krill/apps/verify/trial.hpp"
#include "krill/solvers/precond/kept_precision.hpp"
#include "krill/solvers/precond/make.hpp"
#include "krill/sparse/convert/convert.hpp"
#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/core/overloaded.hpp"

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
  if (plain) settings.scaling = NoScaling{}, settings.ordering = NaturalOrdering{};
  Timings timings;
  return make_system(ctx, settings, source.clone(), timings);
}

template <class T>
Csr<T> narrow(AnyMatrix<T> A) {
  if (auto* csr = std::get_if<Csr<T>>(&A)) return std::move(*csr);
  throw InvalidArgument(fmt::format("verify: the matrix has {} entries, references count up to 2^31 - 1", nnz(A)));
}

template <class T>
std::vector<T> values_of(const Array<T>& array) {
  return {array.host().begin(), array.host().end()};
}

/// A in CSR that a solve transforms, with b.
template <class T>
Subject<T> original_subject(Context& ctx, const Case& settings, const SourceMatrix<T>& source) {
  LinearSystem<T> system = load(ctx, settings, source, true);
  return {settings.name, narrow<T>(std::move(system.A)), {"b of the case", values_of(system.b)}};
}

/// The system that is solved.
template <class T>
Subject<T> solved_subject(Context& ctx, const Case& settings, const SourceMatrix<T>& source) {
  LinearSystem<T> system = load(ctx, settings, source, false);
  const Transformation<T>& transformation = *system.transformation;  // NOLINT(bugprone-unchecked-optional-access)
  const Array<T> b = transformation.rhs(ctx, system.b), x = transformation.solution(ctx, system.x);
  Subject<T> subject(settings.name, narrow<T>(std::move(system.A)), {"b of the case", values_of(b)});
  subject.rhs = values_of(b);
  subject.guess = values_of(x);
  return subject;
}

Selection transformations_of(const Case& settings) {
  Selection s;
  std::visit(
      [&](const auto& o) {
        if constexpr (requires { o.method; }) s.scalings = {o.method};
      },
      settings.scaling);
  std::visit(Overloaded{[&](const RcmOrdering&) { s.orderings = {OrderingMethod::rcm}; },
                        [&](const AmdOrdering&) { s.orderings = {OrderingMethod::amd}; },
                        [&](const ColorOrdering&) { s.orderings = {OrderingMethod::color}; }, [](const auto&) {}},
             settings.ordering);
  return s;
}

Selection selection_of(const Case& settings) {
  Selection s;
  s.solved_in = {std::string(format_names[static_cast<std::size_t>(settings.format)]), settings.format,
                 settings.layout};
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
  if (o.method == TriangularSolve::jacobi)
    s.approximate = {{ApproximateMethod::jacobi, o.sweeps}};
  else if (o.method == TriangularSolve::isai)
    s.approximate = {{ApproximateMethod::isai, o.corrections}};
  else  // the exact ones have the names and the order of TriangularMethod
    s.triangular = {static_cast<TriangularMethod>(o.method)};
  return s;
}
Selection triangles_of(TriangularMethod method, bool lower, bool upper) {
  Selection s;
  if (lower) s.triangles.push_back({Fill::lower});
  if (upper) s.triangles.push_back({Fill::upper});
  s.triangular = {method};
  return s;
}

template <class T>
void check_factor_triangles(Ledger& ledger, Context& ctx, const Subject<T>& s, const Selection& selection,
                            const PreconditionerOptions& options, const FactorRecipe& recipe) {
  const AnyMatrix<T> A = convert_format(ctx, s.A, selection.solved_in.format, selection.solved_in.layout);
  Factor<T> factor = make_factor(ctx, recipe, A, make_preconditioner<T>(ctx, options, A)->report());
  Csr<T> matrix(factor.A.cols(), factor.A.row_offsets().clone(), factor.A.col_indices().clone(),
                Array<T>(std::move(factor.values)));
  check_triangles(ledger, ctx, Subject<T>(s.name, std::move(matrix), {"b of the case", s.rhs}),
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
  if (const auto recipe = factor_recipe(options))
    return check_factor_triangles(ledger, ctx, s, selection, options, *recipe);
  std::visit(Overloaded{[&](const GaussSeidelOptions& o) {
                          check_triangles(ledger, ctx, s,
                                          triangles_of(o.triangular_solve, o.direction != SweepDirection::backward,
                                                       o.direction != SweepDirection::forward));
                        },
                        [&](const SsorOptions& o) {
                          check_triangles(ledger, ctx, s, triangles_of(o.triangular_solve, true, true));
                        },
                        [](const auto&) {}},
             options);
}

/// The case with nothing left to the rules of auto. Refuses what a solve refuses.
template <class T>
Case decided(Context& ctx, const Case& settings, const SourceMatrix<T>& source) {
  SolveRecord record;
  record.settings = settings;
  const LinearSystem<T> system = make_system(ctx, settings, source.clone(), record.timings);
  note_system(record, system);
  const MatrixOperator<T> products(system.A, SpmvMethod::in_place);
  make_preconditioner(ctx, record, system, products);
  return record.settings;
}

/// As `krill solve` does, and Eigen's opinion of it.
template <class T>
Comparison compare_solution(Context& ctx, const Case& settings) {
  SolveRecord record;
  record.settings = settings;
  begin_record(record, ctx);
  LinearSystem<T> system = load_system<T>(ctx, settings, record.timings);
  note_system(record, system);
  solve_system(ctx, system, record, [] {}, {});
  if (record.result.reason != Reason::converged)
    return failed(fmt::format("the solve ends as {} after {} iterations", krill::name(record.result.reason),
                              record.result.iterations));
  const Judgement j = second_opinion<T>(record, system.b.host(), system.x.host());
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
  const Selection selection = selection_of(settings), transformations = transformations_of(settings);
  if (!transformations.scalings.empty() || !transformations.orderings.empty()) {
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

#define INSTANTIATE(T) template void verify_case<T>(Ledger&, Context&, const Case&);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill::apps::verify
