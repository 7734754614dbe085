#include "krill/solvers/solver.hpp"

#include "krill/solvers/bicgstab.hpp"
#include "krill/solvers/gmres.hpp"
#include "krill/solvers/pcg.hpp"
#include "krill/solvers/richardson.hpp"
#include "krill/sparse/core/instantiate.hpp"

namespace krill {
namespace {

template <class T>
std::unique_ptr<Solver<T>> make(const PcgOptions& o, const Operator<T>& A, const Preconditioner<T>& M) {
  return std::make_unique<Pcg<T>>(A, M, o);
}
template <class T>
std::unique_ptr<Solver<T>> make(const GmresOptions& o, const Operator<T>& A, const Preconditioner<T>& M) {
  return std::make_unique<Gmres<T>>(A, M, o);
}
template <class T>
std::unique_ptr<Solver<T>> make(const BicgstabOptions& o, const Operator<T>& A, const Preconditioner<T>& M) {
  return std::make_unique<Bicgstab<T>>(A, M, o);
}

template <class T>
std::unique_ptr<Solver<T>> make(const RichardsonOptions& o, const Operator<T>& A, const Preconditioner<T>& M) {
  return std::make_unique<Richardson<T>>(A, M, o);
}
template <class T>
std::unique_ptr<Solver<T>> make(const AutoSolver&, const Operator<T>&, const Preconditioner<T>&) {
  throw InvalidArgument("solver auto: nobody has chosen a solver; name one");
}

}  // namespace

template <class T>
MatrixOperator<T>::MatrixOperator(const AnyMatrix<T>& A, SpmvMethod method) : A_(A), method_(method) {
  require_size("operator: columns of the square matrix", cols(A), rows(A));
}

template <class T>
SpmvPlan<T>& MatrixOperator<T>::plan(Context& ctx) const {
  const auto found = plans_.find(ctx.id());
  if (found != plans_.end()) return found->second;
  return plans_.emplace(ctx.id(), SpmvPlan<T>(ctx, A_, Op::none, method_)).first->second;
}

template <class T>
void MatrixOperator<T>::apply(Context& ctx, const Array<T>& x, Array<T>& y, const Dots<T>& dots) const {
  prepare(ctx).apply(ctx, 1.0, x, 0.0, y, dots);
}

template <class T>
std::unique_ptr<Solver<T>> make_solver(const SolverOptions& options, const Operator<T>& A, const Preconditioner<T>& M) {
  return std::visit([&](const auto& o) { return make(o, A, M); }, options);
}

#define INSTANTIATE(T)              \
  template class MatrixOperator<T>; \
  template std::unique_ptr<Solver<T>> make_solver(const SolverOptions&, const Operator<T>&, const Preconditioner<T>&);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
