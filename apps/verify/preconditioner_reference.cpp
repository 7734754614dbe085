#include "apps/verify/precond/amg.hpp"
#include "apps/verify/precond/block_jacobi.hpp"
#include "apps/verify/precond/chebyshev.hpp"
#include "apps/verify/precond/factors.hpp"
#include "apps/verify/precond/gauss_seidel.hpp"
#include "apps/verify/precond/inner.hpp"
#include "apps/verify/precond/isai.hpp"
#include "apps/verify/precond/jacobi.hpp"
#include "apps/verify/precond/lines.hpp"
#include "apps/verify/precond/none.hpp"
#include "apps/verify/precond/reference.hpp"
#include "apps/verify/precond/schur.hpp"
#include "apps/verify/precond/schwarz.hpp"
#include "apps/verify/precond/ssor.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill::apps::verify {

Judging judging_of(const PreconditionerOptions& options) {
  return std::visit([](const auto& o) { return judging(o); }, options);
}

template <class T>
BoundedVector<T> preconditioned(Context& ctx, const PreconditionerOptions& options, const AnyMatrix<T>& A,
                                const PreconditionerReport& report, const BoundedVector<T>& r,
                                const Dense<double>* coordinates) {
  const Question<T> question{ctx, A, report, r, rows_of(A), coordinates};
  return std::visit([&](const auto& o) { return reference(o, question); }, options);
}

template <class T>
struct PreconditionerReferenceInstances {
  static constexpr auto list =
      instance<BoundedVector<T>(Context&, const PreconditionerOptions&, const AnyMatrix<T>&,
                                const PreconditionerReport&, const BoundedVector<T>&, const Dense<double>*)>(
          preconditioned);
};
KRILL_INSTANTIATE(PreconditionerReferenceInstances);

}  // namespace krill::apps::verify
