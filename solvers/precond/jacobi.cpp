#include <fmt/format.h>

#include <cmath>

#include "krill/solvers/krylov_passes.hpp"
#include "krill/solvers/precond/make.hpp"
#include "krill/sparse/convert/convert.hpp"
#include "krill/sparse/vector/vector.hpp"

namespace krill {
namespace {

template <class T>
class Jacobi final : public Preconditioner<T> {
 public:
  explicit Jacobi(Array<T> inverse_diagonal) : inverse_diagonal_(std::move(inverse_diagonal)) {}

  Preconditioned<T> apply_dot(Context& ctx, const Array<T>& r, const Array<double>&, Array<T>& z,
                              Array<double>& rz) const override {
    require_size("jacobi: r", r.size(), inverse_diagonal_.size());
    ctx.dispatch([&](const auto& where) {
      run_pass(where, r.size(),
               ScaleDot<kernel_t<T>>{inverse_diagonal_.read(where), r.read(where), z.write(where), rz.write(where)});
    });
    return {z, rz};
  }
  const Array<T>& apply(Context& ctx, const Array<T>& r, Array<T>& z) const override {
    multiply(ctx, inverse_diagonal_, r, z);
    return z;
  }

 private:
  Array<T> inverse_diagonal_;
};

}  // namespace

template <class T>
MadePreconditioner<T> make(Context& ctx, const JacobiOptions&, const AnyMatrix<T>& A) {
  Array<T> d = diagonal(ctx, A);
  std::int64_t row = 0;
  for (T& value : d.edit()) {
    if (value == T(0) || !std::isfinite(std::abs(value)))
      throw InvalidArgument(fmt::format(
          "preconditioner jacobi: a({0}, {0}) is {1} (rows and columns count from 0); every diagonal entry must be "
          "finite and not 0: use preconditioner none, or reorder the rows",
          row, value == T(0) ? "0 or missing" : "not finite"));
    value = T(1) / value;
    ++row;
  }
  return std::make_unique<Jacobi<T>>(std::move(d));
}

#define INSTANTIATE(T) KRILL_INSTANTIATE_MAKER(T, JacobiOptions)
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
