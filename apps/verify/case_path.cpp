#include "apps/verify/case_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "apps/parallel/agreement.hpp"
#include "apps/system/own_rows.hpp"
#include "apps/system/solve_system.hpp"
#include "apps/verify/precond/reference.hpp"
#include "apps/verify/second_opinion.hpp"
#include "apps/verify/trial.hpp"
#include "solvers/precond/lower_precision.hpp"
#include "solvers/system/team_stages.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/convert/to_banded.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/overloaded.hpp"
#include "sparse/io/checksum.hpp"

namespace krill::apps::verify {
namespace {

constexpr std::string_view judge_bound =
    "target + (longest row + 4) eps || |A||x| + |b| ||: what was claimed and what rounding can add to it (Higham 2002, "
    "section 3.5)";
constexpr std::string_view shared_product_bound =
    "gamma_(k + 1) (|A| |x|)_i with k the entries of row i, in whatever order they are added (Higham 2002, section "
    "3.5)";
constexpr std::string_view shared_dot_bound =
    "that of the product carried on, and gamma_n sum |x_i| |(A x)_i| in double (Higham 2002, section 3.1)";
constexpr std::string_view agreement_bound = "0: sums are added in the order of ranks, so every bit has to agree";
constexpr std::string_view iterations_of_ranks_bound =
    "1, or a tenth for bicgstab: a convention, for sums of ranks are added in another order than those of one";
constexpr std::string_view solutions_bound =
    "of ||A (x - y)||: the targets of both residuals, and || gamma_(k + 1) (|A| |x| + |b|) || of each (Higham 2002, "
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

void require_countable(std::int64_t entries) {
  if (entries > std::numeric_limits<std::int32_t>::max())
    throw InvalidArgument(fmt::format("verify: the matrix has {} entries, references count up to 2^31 - 1", entries));
}

template <class T>
Csr<T> narrow(const AnyMatrix<T>& A) {
  if (const auto* csr = std::get_if<Csr<T>>(&A)) return csr->clone();
  require_countable(nnz(A));
  throw InvalidArgument("verify: the matrix has to be in CSR");
}

template <class T>
std::vector<T> values_of(const Array<T>& array) {
  return {array.host().begin(), array.host().end()};
}

/// The first of several right-hand sides, or of their guesses: the suites go through one, Eigen judges each.
template <class T>
std::vector<T> first_values(const Array<T>& all, const PreparedSystem<T>& system) {
  const auto first = all.host().first(static_cast<std::size_t>(cols(*system.A)));  // ranks may have fewer rows
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
  subject.coordinates = system.prepared.coordinates;
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

/// The case is about to be solved on this context.
SolveRecord record_of(const Case& settings, const Context& ctx) {
  SolveRecord record;
  record.settings = settings;
  begin_record(record);
  record_backend(record, ctx);
  return record;
}

/// Eigen's opinion of what was solved.
template <class T>
Comparison compare_solution(const SolveRecord& record, const LinearSystem<T>& system) {
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

/// A product on several ranks: all of x and of A x, and the dot x'A x.
template <class T>
struct SharedProduct {
  std::string name;
  std::vector<T> x, product;
  wide_t<T> dot;
};

/// Of the system that ranks solve, in the format of the case, with the vectors of the products of one process.
template <class T>
std::vector<SharedProduct<T>> multiply_in_team(Context& ctx, Team& team, const LinearSystem<T>& system, Case settings) {
  Context host = Context::host(ctx.threads());
  std::optional<AnyMatrix<T>> csr;
  const auto [partition, own] = rows_of_rank(host, team, settings.preconditioner, system.prepared, csr);
  const Distributed<T> shared(ctx, team, partition, own, settings.format, settings.layout);
  const auto begin = static_cast<std::ptrdiff_t>(partition.begin(team.rank())),
             end = static_cast<std::ptrdiff_t>(partition.end(team.rank()));
  std::vector<NamedVector<T>> vectors = random_vectors<T>(cols(*system.prepared.A), 0);
  vectors.push_back({"b of the case", values_of(system.prepared.transformation.rhs(
                                          host, Array<T>(first_values(system.b, system.prepared))))});
  std::vector<SharedProduct<T>> products;
  for (NamedVector<T>& vector : vectors) {
    const Array<T> x(std::vector<T>(vector.values.begin() + begin, vector.values.begin() + end), "x");
    Array<T> y(x.size(), "y");
    Array<wide_t<T>> dot(1, "dot");
    shared.apply(ctx, x, y, {&x, &dot});
    products.push_back({vector.name, std::move(vector.values), gather_rows(team, partition, y.host()), dot.host()[0]});
  }
  return products;
}

template <class T>
void check_shared_products(Ledger& ledger, const std::string& name, const Rows<T>& A,
                           const std::vector<SharedProduct<T>>& products) {
  ledger.check(name, shared_product_bound, [&] {
    Comparison all;
    for (const SharedProduct<T>& p : products) all.merge(compare<T>(p.product, product<T>(A, bounded<T>(p.x))), p.name);
    return all;
  });
  ledger.check(name + ", with a dot", shared_dot_bound, [&] {
    Comparison all;
    for (const SharedProduct<T>& p : products) {
      const BoundedVector<T> y = product<T>(A, bounded<T>(p.x));
      BoundedSum<wide_t<T>> dot;
      for (std::size_t i = 0; i < y.size(); ++i)
        dot.add(Bounded<wide_t<T>>(conj(exact(p.x[i])), 0), Bounded<wide_t<T>>(y[i].value, y[i].error));
      all.merge(compare<wide_t<T>>(std::vector{p.dot}, std::vector{dot.result()}), p.name);
    }
    return all;
  });
}

/// What all ranks have to say alike of a solve.
struct Account {
  std::int64_t iterations, reason, residual, x;
};
template <class T>
Account account_of(const SolveReport& report, const Array<T>& x) {
  const std::span<const T> values = x.host();
  return {static_cast<std::int64_t>(report.iterations), static_cast<std::int64_t>(report.reason),
          std::bit_cast<std::int64_t>(report.true_relative),
          std::bit_cast<std::int64_t>(xxh64({reinterpret_cast<const char*>(values.data()), values.size_bytes()}))};
}
Comparison compare_accounts(const std::vector<Account>& all) {
  std::vector<std::int64_t> first, others;
  for (const Account& other : all) {
    others.insert(others.end(), {other.iterations, other.reason, other.residual, other.x});
    first.insert(first.end(), {all[0].iterations, all[0].reason, all[0].residual, all[0].x});
  }
  return compare_bits<std::int64_t>(others, first);
}

/// The reports of each right-hand side.
std::vector<SolveReport> reports_of(const SolveRecord& record) {
  return record.columns.empty() ? std::vector{record.result} : record.columns;
}

Comparison compare_iterations_of_ranks(const SolveRecord& team, const SolveRecord& one) {
  if (std::holds_alternative<SchwarzOptions>(team.settings.preconditioner))
    return undecided(
        fmt::format("{} iterations, {} of one rank: schwarz has parts of each rank's rows, so one rank "
                    "has another preconditioner",
                    team.result.iterations, one.result.iterations));
  const bool is_erratic = std::holds_alternative<BicgstabOptions>(team.settings.solver);
  const std::vector<SolveReport> got = reports_of(team), expected = reports_of(one);
  Comparison all;
  for (std::size_t j = 0; j < expected.size(); ++j) {
    const int mine = got[j].iterations, theirs = expected[j].iterations;
    const double allowed = is_erratic ? std::max(1.0, 0.1 * theirs) : 1, off = std::abs(mine - theirs);
    Comparison c;
    c.entries = 1;
    c.componentwise = c.normwise = off / allowed;
    c.relative = theirs > 0 ? off / theirs : off;
    c.verdict = off <= allowed ? Verdict::pass : Verdict::fail;
    if (c.verdict == Verdict::fail) c.reason = fmt::format("{} iterations, {} of one rank", mine, theirs);
    all.merge(c, "");
  }
  return all;
}

/// ||A (x - y)|| beside what both were allowed to leave of b, and what rounding adds to their residuals.
template <class T>
Comparison compare_solutions(const Rows<T>& A, std::span<const T> b, std::span<const T> x, const SolveReport& of_x,
                             std::span<const T> y, const SolveReport& of_y) {
  if (of_x.reason != Reason::converged || of_y.reason != Reason::converged)
    return undecided("the solve does not converge");
  BoundedVector<T> difference;
  for (std::size_t i = 0; i < x.size(); ++i) difference.push_back(Bounded<T>(exact(x[i]) - exact(y[i]), 0));
  long double found = 0, largest = 0, size = 0;
  for (const Bounded<T>& entry : product<T>(A, difference)) found += modulus(entry.value) * modulus(entry.value);
  for (std::size_t i = 0; i < x.size(); ++i) {
    largest = std::max(largest, modulus(difference[i].value));
    size = std::max(size, modulus(exact(y[i])));
  }
  long double allowed = 0;
  for (const auto& [solution, report] : {std::pair(x, &of_x), std::pair(y, &of_y)}) {
    long double rounding = 0;
    for (const Bounded<T>& entry : residual<T>(A, bounded<T>(b), bounded<T>(solution)))
      rounding += entry.error * entry.error;
    allowed += report->target_relative * report->baseline + std::sqrt(rounding);
  }
  Comparison c;
  c.entries = std::ssize(x);
  c.componentwise = c.normwise = allowed > 0 ? static_cast<double>(std::sqrt(found) / allowed) : 0;
  c.relative = size > 0 ? static_cast<double>(largest / size) : 0;
  c.verdict = std::sqrt(found) <= allowed ? Verdict::pass : Verdict::fail;
  if (c.verdict == Verdict::fail)
    c.reason = fmt::format("||A (x - y)|| is {:.3g}, y being of one rank; {:.3g} is allowed",
                           static_cast<double>(std::sqrt(found)), static_cast<double>(allowed));
  return c;
}

/// What the ranks have computed, by rank 0 alone.
template <class T>
void judge_ranks(Ledger& ledger, Context& ctx, const Case& given, const SolveRecord& record,
                 const LinearSystem<T>& system, const std::vector<SharedProduct<T>>& products,
                 const std::vector<Account>& accounts) {
  const std::string& name = given.name;
  const auto ranks = accounts.size();
  Timings timings;
  SourceMatrix<T> source = load_matrix<T>(ctx, given.matrix, timings);
  ledger.about("products", name);
  // Nothing is done with a matrix of which ranks have their own rows only.
  check_shared_products(ledger, fmt::format("spmv {} on {} ranks", krill::name(record.settings.format), ranks),
                        rows_of(narrow<T>(system.prepared.partition ? source.A : *system.prepared.A)), products);
  ledger.about("ranks", name);
  ledger.check("x and report of all ranks", agreement_bound, [&] { return compare_accounts(accounts); });
  const Subject<T> original = original_subject(ctx, given, source);
  SolveRecord one = record_of(record.settings, ctx);  // with the methods that the ranks had in the place of `auto`
  one.settings.on_failure = OnFailure::stop;          // ranks try no other method
  LinearSystem<T> alone = make_system(ctx, one, std::move(source));
  solve_system(ctx, alone, one, [] {}, {});
  ledger.check("iterations beside those of one rank", iterations_of_ranks_bound,
               [&] { return compare_iterations_of_ranks(record, one); });
  ledger.check("x beside that of one rank", solutions_bound, [&] {
    return compare_solutions<T>(original.rows, first_values(system.b, system.prepared),
                                first_values(system.x, system.prepared), reports_of(record).front(),
                                first_values(alone.x, alone.prepared), reports_of(one).front());
  });
  ledger.about("solution", name);
  ledger.check("solution by Eigen", judge_bound, [&] { return compare_solution(record, system); });
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
  ledger.check("solution by Eigen", judge_bound, [&] {
    SolveRecord record = record_of(settings, ctx);
    LinearSystem<T> system = load_system<T>(ctx, record);
    solve_system(ctx, system, record, [] {}, {});
    return compare_solution(record, system);
  });
}

template <class T>
void verify_shared_case(Ledger& ledger, Team& team, Context& ctx, const Case& given,
                        const std::function<void()>& shared) {
  SolveRecord record = record_of(given, ctx);
  record.precision = resolve_precision(given);
  Context host = Context::host(ctx.threads());
  SourceMatrix<T> source = load_in_team<T>(host, team, record);
  require_same(team, source.origin);
  require_countable(source.properties.nnz);  // on all ranks
  LinearSystem<T> system = make_system(ctx, record, std::move(source));
  solve_system(ctx, system, record, [] {}, {});
  const auto products = multiply_in_team(ctx, team, system, record.settings);
  const auto accounts = gather_records(team, account_of(record.result, system.x));
  ctx.synchronize();
  shared();
  ctx.team = nullptr;
  if (team.rank() == 0) judge_ranks(ledger, ctx, given, record, system, products, accounts);
}

template <class T>
struct CasePathInstances {
  static constexpr std::tuple list{&verify_case<T>, &verify_shared_case<T>};
};
KRILL_INSTANTIATE(CasePathInstances);

}  // namespace krill::apps::verify
