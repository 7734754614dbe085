#include "solvers/solver.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "solvers/banded.hpp"
#include "solvers/bicgstab.hpp"
#include "solvers/direct.hpp"
#include "solvers/gmres.hpp"
#include "solvers/pcg.hpp"
#include "solvers/richardson.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill {
namespace {

/// Whether a is worse than b: not converged, or by a greater residual, NaN the greatest.
bool is_worse(const SystemResult& a, const SystemResult& b) {
  const bool a_failed = a.reason != Reason::converged, b_failed = b.reason != Reason::converged;
  if (a_failed != b_failed) return a_failed;
  if (std::isnan(a.true_relative) || std::isnan(b.true_relative)) return !std::isnan(b.true_relative);
  return a.true_relative > b.true_relative;
}

/// The class that each options name.
template <class T>
std::type_identity<Pcg<T>> solver_of(const PcgOptions&);
template <class T>
std::type_identity<Pcg<T>> solver_of(const FcgOptions&);
template <class T>
std::type_identity<Gmres<T>> solver_of(const GmresOptions&);
template <class T>
std::type_identity<Gmres<T>> solver_of(const FgmresOptions&);
template <class T>
std::type_identity<Bicgstab<T>> solver_of(const BicgstabOptions&);
template <class T>
std::type_identity<Richardson<T>> solver_of(const RichardsonOptions&);
template <class T, class Options>
using SolverOf = typename decltype(solver_of<T>(std::declval<const Options&>()))::type;

template <class T, class Options>
std::unique_ptr<Solver<T>> make(const Options& o, const Operator<T>& A, const Preconditioner<T>& M) {
  return std::make_unique<SolverOf<T, Options>>(A, M, o);
}
template <class T, class Options>
HeldMemory memory(MemoryLedger& ledger, Context&, const Options& o, const AnyMatrix<T>& A, bool preconditioned) {
  return SolverOf<T, Options>::memory(ledger, rows(A), o, preconditioned);
}
template <class T>
std::unique_ptr<Solver<T>> make(const BandedOptions& o, const Operator<T>& A, const Preconditioner<T>&) {
  return std::make_unique<BandedSolver<T>>(A, o);
}
template <class T>
HeldMemory memory(MemoryLedger& ledger, Context& host, const BandedOptions& o, const AnyMatrix<T>& A, bool) {
  return BandedSolver<T>::memory(ledger, host, A, o);
}
template <class T>
std::unique_ptr<Solver<T>> make(const DirectOptions& o, const Operator<T>& A, const Preconditioner<T>&) {
  return std::make_unique<DirectSolver<T>>(A, o);
}
template <class T>
HeldMemory memory(MemoryLedger& ledger, Context& host, const DirectOptions& o, const AnyMatrix<T>& A, bool) {
  return DirectSolver<T>::memory(ledger, host, A, o);
}
template <class T>
std::unique_ptr<Solver<T>> make(const AutoSolver&, const Operator<T>&, const Preconditioner<T>&) {
  throw InvalidArgument("solver auto: nobody has chosen a solver; name one");
}
SolveWork work(const AutoSolver&, int) { throw InvalidArgument("solver auto: nobody has chosen a solver; name one"); }
template <class T>
HeldMemory memory(MemoryLedger&, Context&, const AutoSolver&, const AnyMatrix<T>&, bool) {
  throw InvalidArgument("solver auto: nobody has chosen a solver; name one");
}

}  // namespace

template <class T>
MatrixOperator<T>::MatrixOperator(const AnyMatrix<T>& A, SpmvMethod method) : A_(A), method_(method) {}

template <class T>
MatrixOperator<T>::MatrixOperator(Context& ctx, const AnyMatrix<T>& A, const SpmvPlan<wide_t<T>>& like, double scale)
    : MatrixOperator(A) {
  plans_.emplace(std::pair(ctx.id(), Op::none), SpmvPlan<T>(ctx, A, like, scale));
}

template <class T>
const SpmvPlan<T>& MatrixOperator<T>::prepare(Context& ctx, Op op) const {
  const std::pair key(ctx.id(), op);
  const auto found = plans_.find(key);
  if (found != plans_.end()) return found->second;
  return plans_.emplace(key, SpmvPlan<T>(ctx, A_, op, method_)).first->second;
}

template <class T>
void MatrixOperator<T>::update(Context& ctx) {
  prepare(ctx);
  for (auto& [key, plan] : plans_)
    if (key.first == ctx.id()) plan.update(ctx);
}

template <class T>
void MatrixOperator<T>::apply(Context& ctx, Op op, const Array<T>& x, Array<T>& y, const Dots<T>& dots) const {
  prepare(ctx, op).apply(ctx, 1.0, x, 0.0, y, dots);
}

template <class T>
void MatrixOperator<T>::residual(Context& ctx, const Array<T>& x, const Array<T>& b, Array<T>& r) const {
  prepare(ctx).residual(ctx, x, b, r);
}

template <class T>
void MatrixOperator<T>::take_step(Context& ctx, const Array<T>& x, const Array<T>& b, Array<T>& r,
                                  const RecurrenceStep<T>& step, const Dots<T>& dots) const {
  prepare(ctx).take_step(ctx, x, b, r, step, dots);
}

template <class T>
double MatrixOperator<T>::frobenius_norm(Context& ctx) const {
  Array<double> norm(1, "||A||_F");
  with_csr(ctx, A_, [&](const auto& csr) { norm2(ctx, csr.values(), norm); });
  return norm.host()[0];
}

void take_worst(SolveReport& report) {
  const auto worst =
      std::ranges::max_element(report.systems, [](const auto& a, const auto& b) { return is_worse(b, a); });
  report.worst_system = static_cast<std::size_t>(worst - report.systems.begin());
  const auto [iterations, seconds] = std::pair(report.iterations, report.seconds);
  static_cast<SystemResult&>(report) = *worst;
  report.iterations = iterations, report.seconds = seconds;
}

template <class T>
std::unique_ptr<Solver<T>> make_solver(const SolverOptions& options, const Operator<T>& A, const Preconditioner<T>& M) {
  return std::visit([&](const auto& o) { return make(o, A, M); }, options);
}

SolveWork work_of(const SolverOptions& options, int iterations) {
  return std::visit([&](const auto& o) { return work(o, iterations); }, options);
}

template <class T>
HeldMemory solver_memory(MemoryLedger& ledger, Context& host, const SolverOptions& options, const AnyMatrix<T>& A,
                         bool preconditioned) {
  return std::visit([&](const auto& o) { return memory<T>(ledger, host, o, A, preconditioned); }, options);
}

template <class T>
struct SolverInstances {
  static constexpr std::tuple list{
      instance<std::unique_ptr<Solver<T>>(const SolverOptions&, const Operator<T>&, const Preconditioner<T>&)>(
          make_solver),
      instance<HeldMemory(MemoryLedger&, Context&, const SolverOptions&, const AnyMatrix<T>&, bool)>(solver_memory<T>)};
};
KRILL_INSTANTIATE(MatrixOperator);
KRILL_INSTANTIATE(SolverInstances);

}  // namespace krill
