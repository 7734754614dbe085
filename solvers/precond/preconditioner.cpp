#include "krill/solvers/precond/preconditioner.hpp"

#include <fmt/format.h>

#include "krill/solvers/krylov_passes.hpp"
#include "krill/solvers/precond/make.hpp"

namespace krill {
namespace {

template <class T>
class Identity final : public Preconditioner<T> {
 public:
  Preconditioned<T> apply_dot(Context&, const Array<T>& r, const Array<double>& rr, Array<T>&,
                              Array<double>&) const override {
    return {r, rr};
  }
  const Array<T>& apply(Context&, const Array<T>& r, Array<T>&) const override {
    return r;  // NOLINT(bugprone-return-const-ref-from-parameter): the answer is r itself
  }
};

template <class T>
MadePreconditioner<T> make(Context&, const NoPreconditioner&, const AnyMatrix<T>&) {
  return std::make_unique<Identity<T>>();
}

}  // namespace

template <class T>
Preconditioned<T> Preconditioner<T>::apply_dot(Context& ctx, const Array<T>& r, const Array<double>&, Array<T>& z,
                                               Array<double>& rz) const {
  const Array<T>& answer = apply(ctx, r, z);
  ctx.dispatch([&](const auto& where) {
    run_pass(where, r.size(), RealDot<kernel_t<T>>{r.read(where), answer.read(where), rz.write(where)});
  });
  return {answer, rz};
}

void refuse_row(std::string_view type, std::int64_t row, std::string_view what, std::string_view remedy) {
  throw InvalidArgument(
      fmt::format("preconditioner {}: {} in row {} (rows count from 0): {}", type, what, row, remedy));
}

template <class T>
std::unique_ptr<Preconditioner<T>> make_preconditioner(Context& ctx, const PreconditionerOptions& options,
                                                       const AnyMatrix<T>& A) {
  return std::visit([&](const auto& o) { return make(ctx, o, A); }, options);
}

#define INSTANTIATE(T)                                                                                    \
  template class Preconditioner<T>;                                                                       \
  template std::unique_ptr<Preconditioner<T>> make_preconditioner(Context&, const PreconditionerOptions&, \
                                                                  const AnyMatrix<T>&);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
