#include "solvers/inner_solver.hpp"

#include <fmt/format.h>

#include "solvers/krylov.hpp"
#include "solvers/work.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill {
namespace {

constexpr int max_depth = 2;

template <class T>
int depth_of(const Preconditioner<T>& M) {
  const auto* inner = dynamic_cast<const InnerSolver<T>*>(&M);
  return inner ? inner->depth() : 0;
}

std::string_view type_of(const SolverOptions& options) {
  return std::visit([](const auto& o) { return o.type; }, options);
}

}  // namespace

template <class T>
InnerSolver<T>::InnerSolver(const SolverOptions& options, const Operator<T>& A, std::unique_ptr<Preconditioner<T>> M)
    : options_(options),
      rows_(A.rows()),
      M_(std::move(M)),
      depth_(1 + depth_of(*M_)),
      solver_(make_solver(options, A, *M_)),
      krylov_(dynamic_cast<Krylov<T>*>(solver_.get())) {
  const std::string_view type = type_of(options);
  const StopOptions& ends = stop(options);
  if (!krylov_)
    throw InvalidArgument(fmt::format("inner solver {}: it does not iterate; use pcg, gmres or bicgstab inside", type));
  if (depth_ > max_depth)
    throw InvalidArgument(fmt::format(
        "inner solver {}: its preconditioner holds {} solvers inside of each other already; {} is as deep as it goes",
        type, depth_ - 1, max_depth));
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
  report.facts.push_back({"inner_solver", std::string(type_of(options_))});
  return report;
}

template <class T>
ApplicationWork InnerSolver<T>::work() const {
  const SolveWork w = work_of(options_, max_iterations(options_));
  const ApplicationWork M = M_->work();
  constexpr double around = 7;  // vectors: max |r|, the import and the export
  const Work own =
      total<T>({0, w.vectors + around, w.updates, w.applications, w.kept_vectors}, {M.own, 0}, 0, rows_, 0);
  return {own, w.products + w.applications * M.products};
}

template <class T>
void InnerSolver<T>::update(Context& ctx, const AnyMatrix<T>& A) {
  M_->update(ctx, A);
}

template <class T>
void InnerSolver<T>::require_definite(Context& ctx) const {
  M_->require_definite(ctx);
}

template <class T>
void require_fixed(std::string_view solver, const Preconditioner<T>& M) {
  if (depth_of(M) > 0)
    throw InvalidArgument(fmt::format(
        "solver {}: a solver as preconditioner is another matrix in every iteration; use fcg for Hermitian positive "
        "definite systems, or fgmres",
        solver));
}

template <class T>
struct RequireFixed {
  static constexpr auto list = instance<void(std::string_view, const Preconditioner<T>&)>(require_fixed<T>);
};
KRILL_INSTANTIATE(InnerSolver);
KRILL_INSTANTIATE(RequireFixed);

}  // namespace krill
