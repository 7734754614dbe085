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

template <class T>
MadePreconditioner<T> make(Context&, const AutoPreconditioner&, const AnyMatrix<T>&) {
  throw InvalidArgument("preconditioner auto: nobody has chosen a preconditioner; name one");
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

void refuse_row(std::string_view type, std::int64_t row, std::string_view what, std::string_view remedy,
                std::int32_t block_dim) {
  const std::string block =
      block_dim > 1 ? fmt::format(", block row {} of {} rows each", row / block_dim, block_dim) : "";
  throw InvalidArgument(
      fmt::format("preconditioner {}: {} in row {}{} (rows count from 0): {}", type, what, row, block, remedy));
}

template <class T>
std::unique_ptr<Preconditioner<T>> make_preconditioner(Context& ctx, const PreconditionerOptions& options,
                                                       const AnyMatrix<T>& A, const Operator<T>* products) {
  return std::visit(
      [&](const auto& o) -> MadePreconditioner<T> {
        constexpr bool multiplies = requires { make(ctx, o, A, products); };
        if constexpr (requires { o.precision; } && sizeof(real_t<T>) > sizeof(float))
          if (o.precision == KeptPrecision::float32)
            return make_in_lower_precision<T>(ctx, o.type, A, multiplies, [&](const AnyMatrix<lower_t<T>>& low) {
              if constexpr (multiplies)
                return make<lower_t<T>>(ctx, o, low, nullptr);
              else
                return make(ctx, o, low);
            });
        if constexpr (multiplies)
          return make(ctx, o, A, products);
        else
          return make(ctx, o, A);
      },
      options);
}

#define INSTANTIATE(T)                                                                                    \
  template class Preconditioner<T>;                                                                       \
  template std::unique_ptr<Preconditioner<T>> make_preconditioner(Context&, const PreconditionerOptions&, \
                                                                  const AnyMatrix<T>&, const Operator<T>*);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
