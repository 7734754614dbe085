#include "solvers/direct.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "sparse/core/instantiate.hpp"
#include "sparse/core/stopwatch.hpp"

namespace krill {
namespace {

/// Of one thread, to predict how long a factorization takes: assumed, and right to an order of magnitude.
constexpr double operations_per_second = 5e8;

}  // namespace

/// A^-1 to rounding, on the host.
template <class T>
class DirectSolver<T>::Inverse final : public Preconditioner<T> {
 public:
  Inverse(Context& host, const AnyMatrix<T>& A, const DirectAnalysis& analysis) : factors_(host, A, analysis) {}
  const Array<T>& apply(Context&, const Array<T>& r, Array<T>& z) const override {
    factors_.solve(r.host(), z.edit());
    return z;
  }
  ApplicationWork work() const override {
    const auto entries = static_cast<double>(factors_.entries());
    return {{static_cast<double>(factors_.bytes()), multiply_add<T> * entries}};
  }
  const DirectFactors<T>& factors() const { return factors_; }

 private:
  DirectFactors<T> factors_;
};

template <class T>
DirectSolver<T>::DirectSolver(const Operator<T>& A, const DirectOptions& options) : A_(A), options_(options) {
  require(A.matrix() != nullptr, "solver direct: the operator has no stored matrix; use another solver");
}
template <class T>
DirectSolver<T>::~DirectSolver() = default;

template <class T>
SolveReport DirectSolver<T>::solve(Context& ctx, const Array<T>& b, Array<T>& x, const Watch& watch) {
  if (ctx.on_cuda() && !host_) host_.emplace(Context::host(ctx.threads()));
  Context& host = ctx.on_cuda() ? *host_ : ctx;
  const Stopwatch clock;
  const auto seconds = [&] { return 1e-3 * clock.milliseconds(); };
  const double limit = options_.stop.time_limit;
  const Reason why = prepare(host, [&](double needed) {
    if (limit > 0 && seconds() + needed > limit) return Reason::time_limit;
    return watch && !watch(Sight{.seconds = seconds()}) ? Reason::interrupted : Reason::running;
  });
  const double before = seconds(), left = limit > 0 ? std::max(1e-9, limit - before) : 0;
  const bool may_refine = why == Reason::running;
  SolveReport report = refine(host, b, x, may_refine ? options_.max_iterations : 0, left, may_refine ? watch : Watch());
  report.seconds += before;
  if (report.reason != Reason::converged && !may_refine) report.reason = why;
  if (inverse_ && may_refine && report.reason != Reason::converged) {
    const DirectFactors<T>& factors = inverse_->factors();
    if (const auto column = factors.zero_pivot())
      report.reason = Reason::zero_pivot, report.pivot_row = *column;
    else if (std::ranges::find(setup_.facts, condition_fact, &Fact::name) == setup_.facts.end())
      setup_.facts.push_back({condition_fact, condition_estimate(host, *A_.matrix(), factors)});
  }
  report.setup = setup_;
  return report;
}

template <class T>
Reason DirectSolver<T>::prepare(Context& host, const std::function<Reason(double needed)>& ask) {
  if (inverse_) return Reason::running;
  const AnyMatrix<T>& A = *A_.matrix();
  setup_ = {};
  DirectMethod method = options_.method;
  for (;;) {
    if (const Reason why = ask(0); why != Reason::running) return why;
    Stopwatch clock;
    const DirectAnalysis analysis = analyze_direct(host, A, method, options_.library);
    setup_.symbolic_ms += clock.lap();
    const double predicted = analysis.operations / operations_per_second;
    if (const Reason why = ask(predicted); why != Reason::running) {
      if (why == Reason::time_limit)
        setup_.notes.push_back(fmt::format(
            "solver direct: the factorization was predicted to take about {:.2g} s, and was not begun", predicted));
      return why;
    }
    inverse_ = std::make_unique<Inverse>(host, A, analysis);
    setup_.numeric_ms += clock.lap();
    const DirectFactors<T>& factors = inverse_->factors();
    const bool ldlt = analysis.method == DirectMethod::ldlt;
    if (method == DirectMethod::automatic && ldlt && !factors.is_definite()) {
      inverse_.reset();
      method = DirectMethod::lu;
      setup_.notes.emplace_back(
          "solver direct: the pivots of ldlt have both signs, so the matrix is not definite; auto went on to lu");
      continue;
    }
    setup_.bytes = factors.bytes();
    setup_.facts = {{factorization_fact, std::string(ldlt ? "ldlt" : "lu")},
                    {"library", std::string(factors.library())},
                    {"factor_nonzeros", factors.entries()},
                    {"pivot_ratio", factors.pivot_ratio()},
                    {"least_pivot", static_cast<std::int64_t>(factors.least_pivot())}};
    return ask(0);
  }
}

template <class T>
SolveReport DirectSolver<T>::refine(Context& host, const Array<T>& b, Array<T>& x, int max_iterations,
                                    double time_limit, const Watch& watch) {
  RichardsonOptions options{.max_iterations = max_iterations, .stop = options_.stop};
  options.stop.time_limit = time_limit;
  if (inverse_) return Richardson<T>(A_, *inverse_, options).solve(host, b, x, watch);
  return Richardson<T>(A_, Identity<T>(), options).solve(host, b, x, watch);
}

template <class T>
std::size_t DirectSolver<T>::bytes() const {
  return inverse_ ? inverse_->factors().bytes() : 0;
}

template <class T>
HeldMemory DirectSolver<T>::memory(MemoryLedger& ledger, Context& host, const AnyMatrix<T>& A, const DirectOptions& o) {
  const DirectAnalysis analysis = analyze_direct(host, A, o.method, o.library);
  analysis.require_possible();
  HeldMemory kept = ledger.hold(analysis.kept_bytes<T>());
  { const HeldMemory meanwhile = ledger.hold(analysis.bytes_meanwhile<T>()); }
  kept += Richardson<T>::memory(ledger, rows(A), {.max_iterations = o.max_iterations, .stop = o.stop}, true);
  return kept;
}

KRILL_INSTANTIATE(DirectSolver);

}  // namespace krill
