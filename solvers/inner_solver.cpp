#include "solvers/inner_solver.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "solvers/krylov.hpp"
#include "solvers/work.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill {
namespace {

std::string_view type_of(const SolverOptions& options) {
  return std::visit([](const auto& o) { return o.type; }, options);
}

}  // namespace

template <class T>
InnerSolver<T>::InnerSolver(const SolverOptions& options, const Operator<T>& A, std::unique_ptr<Preconditioner<T>> M)
    : InnerSolver(options, A, nullptr, std::move(M)) {}

template <class T>
InnerSolver<T>::InnerSolver(const SolverOptions& options, std::unique_ptr<MatrixOperator<T>> A,
                            std::unique_ptr<Preconditioner<T>> M)
    : InnerSolver{options, *A, std::move(A), std::move(M)} {}  // in braces, so that *A is evaluated first

template <class T>
InnerSolver<T>::InnerSolver(const SolverOptions& options, const Operator<T>& A, std::unique_ptr<MatrixOperator<T>> own,
                            std::unique_ptr<Preconditioner<T>> M)
    : options_(options),
      own_(std::move(own)),
      A_(A),
      M_(std::move(M)),
      depth_(1 + M_->nested_solvers()),
      solver_(make_solver(options, A, *M_)),
      krylov_(dynamic_cast<Krylov<T>*>(solver_.get())) {
  const std::string_view type = type_of(options);
  const StopOptions& ends = stop(options);
  if (!krylov_)
    throw InvalidArgument(fmt::format("inner solver {}: it does not iterate; use pcg, gmres or bicgstab inside", type));
  if (depth_ > max_nested_solvers)
    throw InvalidArgument(fmt::format(
        "inner solver {}: its preconditioner holds {} solvers inside of each other already; {} is as deep as it goes",
        type, depth_ - 1, max_nested_solvers));
  if (ends.time_limit > 0)
    throw InvalidArgument(
        fmt::format("inner solver {}: stop.time_limit is for the outer solver, whose limit ends this one, too", type));
  if (ends.baseline == Baseline::backward_error)
    throw InvalidArgument(
        fmt::format("inner solver {}: stop.baseline backward_error is for the outer solver; use rhs", type));
}

template <class T>
InnerSolver<T>::~InnerSolver() = default;

template <class T>
const Array<T>& InnerSolver<T>::apply(Context& ctx, const Array<T>& r, Array<T>& z) const {
  krylov_->approximate(ctx, r, z);
  return z;
}

template <class T>
PreconditionerReport InnerSolver<T>::report() const {
  PreconditionerReport report = M_->report();
  report.bytes += solver_->bytes();
  const auto of_inner = std::ranges::find(report.facts, "inner_solver", &Fact::name);
  const std::string type(type_of(options_));
  if (of_inner == report.facts.end())
    report.facts.push_back({"inner_solver", type});
  else
    of_inner->value = type + ", " + std::get<std::string>(of_inner->value);
  return report;
}

template <class T>
ApplicationWork InnerSolver<T>::work() const {
  const SolveWork w = work_of(options_, max_iterations(options_));
  const ApplicationWork M = M_->work();
  constexpr double around = 7;  // vectors: max |r|, the import and the export
  SolveWork all = w;
  all.vectors += around;
  if (own_)
    return {total<T>(all, M, static_cast<double>(krill::bytes(*own_->matrix())), A_.rows(), nnz(*own_->matrix()))};
  SolveWork without_products = all;
  without_products.products = 0;
  return {total<T>(without_products, {M.own, 0}, 0, A_.rows(), 0), all.products + all.applications * M.products};
}

template <class T>
void InnerSolver<T>::update(Context& ctx, const AnyMatrix<T>& A) {
  if (own_) own_->update(ctx);
  M_->update(ctx, A);
}

template <class T>
void InnerSolver<T>::require_definite(Context& ctx) const {
  M_->require_definite(ctx);
}

KRILL_INSTANTIATE(InnerSolver);

}  // namespace krill
