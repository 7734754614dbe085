// Whole solves: what a solver claims, and its residuals beside those of the textbook's loop.
#include <fmt/format.h>

#include "apps/verify/textbook.hpp"
#include "apps/verify/trial.hpp"
#include "solvers/method/type_name.hpp"
#include "solvers/precond/preconditioner.hpp"
#include "solvers/solver.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill::apps::verify {
namespace {

constexpr std::string_view claim_bound =
    "|| gamma_(k + 1) (|A| |x| + |b|) || with k the longest row's entries, and gamma_n of the norm (Higham 2002, "
    "section 3.5)";
constexpr std::string_view iterations_bound =
    "twice the reference's iterations and ten: a convention, for rounding may delay Krylov methods by an amount that "
    "nobody can bound";

/// The claim about ||b - A x|| against the residual without rounding to speak of.
template <class T>
Comparison compare_claim(const Rows<T>& A, std::span<const T> b, std::span<const T> x, double claimed) {
  BoundedSum<double> squares;
  long double spread = 0;
  const BoundedVector<T> image = product<T>(A, bounded<T>(x));
  for (std::size_t i = 0; i < b.size(); ++i) {
    const Bounded<T> r = BoundedSum<T>().add(Bounded<T>(b[i])).subtract(image[i], Bounded<T>(T(1))).result();
    const Bounded<double> size{modulus(r.value), 0};
    squares.add(size, size);
    spread += r.error * r.error;
  }
  // | ||r + e|| - ||r|| | <= ||e||, whatever the residual's size.
  const Bounded<double> exact_sum = squares.result(2);
  const long double norm = std::sqrt(exact_sum.value);
  const Bounded<double> wanted{norm,
                               std::sqrt(spread) + (norm > 0 ? exact_sum.error / norm : 0) + gamma<double>(4) * norm};
  return compare_exactly_computed<double>(std::vector<long double>{claimed}, std::vector{wanted});
}

/// How many are allowed beside a reference.
std::int64_t max_iterations(std::span<const double> reference) { return 2 * (std::ssize(reference) - 1) + 10; }

Comparison compare_iterations(std::span<const double> got, std::span<const double> reference) {
  const auto mine = std::ssize(got) - 1, theirs = std::ssize(reference) - 1;
  const std::int64_t allowed = max_iterations(reference);
  Comparison c;
  c.entries = 1;
  c.componentwise = c.normwise = static_cast<double>(mine) / static_cast<double>(allowed);
  c.relative = theirs > 0 ? std::fabs(static_cast<double>(mine - theirs)) / static_cast<double>(theirs) : 0;
  c.verdict = mine <= allowed ? Verdict::pass : Verdict::fail;
  if (c.verdict == Verdict::fail) c.reason = fmt::format("{} iterations beside {}", mine, theirs);
  return c;
}

template <class T>
ApplyPreconditioner<T> on_host(Context& host, const Preconditioner<T>& M) {
  return [&](const std::vector<T>& r) {
    const Array<T> ar = array(r, "r");
    Array<T> z(ar.size(), "z");
    const auto answer = M.apply(host, ar, z).host();
    return std::vector<T>(answer.begin(), answer.end());
  };
}

/// Raises InvalidArgument where the preconditioner refuses A. beside_host: the host backend solves, too.
template <class T>
void check_solver(Ledger& ledger, Context& ctx, const Subject<T>& s, const AnyMatrix<T>& A, SpmvMethod method,
                  const SolverOptions& solver, const PreconditionerOptions& preconditioner, const std::string& name,
                  bool beside_host) {
  Context host = Context::host(1);
  const MatrixOperator<T> products(A, method);
  const auto M = make_preconditioner<T>(ctx, preconditioner, A, &products, s.coordinates.get());
  const auto of_host = make_preconditioner<T>(host, preconditioner, A, nullptr, s.coordinates.get());
  const Array<T> b = array(s.rhs, "b");
  SolveReport report, report_of_host;
  TextbookSolve textbook;
  ledger.check(name + ", residual", claim_bound, [&] {
    Array<T> x = array(s.guess, "x");
    report = make_solver<T>(solver, products, *M)->solve(ctx, b, x);
    return compare_claim<T>(s.rows, s.rhs, x.host(), report.true_relative * report.baseline);
  });
  ledger.check(name + ", iterations", iterations_bound, [&] {
    const double target = report.target_relative * report.baseline;
    textbook = textbook_solve<T>(solver, s.rows, on_host(host, *of_host), s.rhs, s.guess, target);
    if (!(textbook.true_residual <= target)) return undecided("the textbook's loop does not reach the target");
    if (report.reason == Reason::converged) return compare_iterations(report.history, textbook.residuals);
    const auto allowed = max_iterations(textbook.residuals);
    if (report.reason == Reason::max_iterations && report.iterations < allowed)
      return undecided(fmt::format("max_iterations is less than the {} iterations that are allowed", allowed));
    return failed(fmt::format("it ends as {} after {} iterations, the textbook's loop converges in {}",
                              krill::name(report.reason), report.iterations, textbook.residuals.size() - 1));
  });
  if (beside_host)
    ledger.check(name + ", iterations on the host", iterations_bound, [&] {
      Array<T> x = array(s.guess, "x");
      report_of_host = make_solver<T>(solver, products, *of_host)->solve(host, b, x);
      if (report_of_host.reason != Reason::converged) return undecided("the host backend does not converge");
      return compare_iterations(report.history, report_of_host.history);
    });
  for (double& residual : textbook.residuals) residual /= report.baseline > 0 ? report.baseline : 1;
  ledger.keep(
      {name, s.name, report.target_relative, report.history, report_of_host.history, std::move(textbook.residuals)});
}

}  // namespace

template <class T>
void check_solvers(Ledger& ledger, Context& ctx, const Subject<T>& s, const Selection& selection) {
  if (!s.is_square() || selection.solves.empty()) return;
  const NamedFormat& format = selection.solved_in;
  const AnyMatrix<T> A = convert_format(ctx, s.A, format.format, format.layout);
  const SpmvMethod method = format.format == Format::automatic ? SpmvMethod::automatic : SpmvMethod::in_place;
  for (const auto& [solver, preconditioner] : selection.solves) {
    const std::string name = fmt::format("{} with {}", type_name(solver), type_name(preconditioner));
    try {
      check_solver(ledger, ctx, s, A, method, solver, preconditioner, name, !selection.whole_library);
    } catch (const InvalidArgument& refusal) {
      // of a case nothing is known then; the gallery's matrices suit what is tried on them
      selection.whole_library ? ledger.fail(name, refusal.what()) : ledger.not_checked(name, refusal.what());
    }
  }
}

template <class T>
struct SolverSuiteInstances {
  static constexpr auto list = instance<void(Ledger&, Context&, const Subject<T>&, const Selection&)>(check_solvers);
};
KRILL_INSTANTIATE(SolverSuiteInstances);

}  // namespace krill::apps::verify
