#include "solvers/preconditioner.hpp"

#include <fmt/format.h>

#include "solvers/krylov_passes.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill {

using namespace detail;

template <class T>
Preconditioned<T> Preconditioner<T>::apply_dot(Context& ctx, const Array<T>& r, const Array<double>&, Array<T>& z,
                                               Array<double>& rz) const {
  const Array<T>& answer = apply(ctx, r, z);
  ctx.dispatch([&](const auto& where) {
    run_pass(where, r.size(), RealDot<kernel_t<T>>{r.read(where), answer.read(where), rz.write(where)});
  });
  return {answer, rz};
}

template <class T>
void Preconditioner<T>::update(Context&, const AnyMatrix<T>&) {
  throw InvalidArgument("preconditioner: it does not take new values; make it anew");
}

template <class T>
const Array<T>& Preconditioner<T>::apply_adjoint(Context&, const Array<T>&, Array<T>&) const {
  throw InvalidArgument("preconditioner: it has no application of its adjoint; use another one (has_adjoint() tells)");
}

template <class T>
const Array<T>& Preconditioner<T>::apply_wide(Context&, const Array<wide_t<T>>&, Array<T>&, Array<T>&) const {
  throw InvalidArgument("preconditioner: it takes vectors of its own precision only (takes_wide() tells)");
}

template <class T>
void require_fixed(std::string_view solver, const Preconditioner<T>& M) {
  if (M.varies())
    throw InvalidArgument(
        fmt::format("solver {}: the preconditioner is another matrix in every iteration, as a solver or a K-cycle is; "
                    "use fcg for Hermitian positive definite systems, or fgmres",
                    solver));
}

template <class T>
struct RequireFixed {
  static constexpr auto list = instance<void(std::string_view, const Preconditioner<T>&)>(require_fixed<T>);
};
KRILL_INSTANTIATE(Preconditioner);
KRILL_INSTANTIATE(RequireFixed);

}  // namespace krill
