#include <fmt/format.h>

#include "krill/solvers/krylov_passes.hpp"
#include "krill/solvers/precond/diagonal.hpp"
#include "krill/solvers/precond/make.hpp"
#include "krill/solvers/precond/precond_passes.hpp"
#include "krill/sparse/convert/convert.hpp"
#include "krill/sparse/core/stopwatch.hpp"
#include "krill/sparse/vector/vector.hpp"

namespace krill {
namespace {

template <class T>
class Jacobi final : public Preconditioner<T> {
 public:
  Jacobi(Context& ctx, std::string_view type, const AnyMatrix<T>& A)
      : inverse_diagonal_(inverse_diagonal(ctx, type, A)) {
    report_.numeric_ms = watch_.milliseconds();
    report_.bytes = detail::bytes_of(inverse_diagonal_);
  }

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
  PreconditionerReport report() const override { return report_; }

 private:
  Stopwatch watch_;
  Array<T> inverse_diagonal_;
  PreconditionerReport report_;
};

}  // namespace

template <class T>
Array<T> inverse_diagonal(Context& ctx, std::string_view type, const AnyMatrix<T>& A) {
  Array<T> d = diagonal(ctx, A);
  Array<BadRow> bad(1, "bad diagonal entry");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, d.size(), InvertDiagonal<kernel_t<T>>{d.update(where), bad.write(where)});
  });
  const auto [row, is_zero] = bad.host()[0];
  if (row != BadRow::none)
    throw InvalidArgument(fmt::format(
        "preconditioner {1}: a({0}, {0}) is {2} (rows and columns count from 0); every diagonal entry must be "
        "finite and not 0: use preconditioner none, or reorder the rows",
        row, type, is_zero ? "0 or missing" : "not finite"));
  return d;
}

template <class T>
MadePreconditioner<T> make(Context& ctx, const JacobiOptions& o, const AnyMatrix<T>& A) {
  return std::make_unique<Jacobi<T>>(ctx, o.type, A);
}

#define INSTANTIATE(T)                                                                 \
  template Array<T> inverse_diagonal(Context&, std::string_view, const AnyMatrix<T>&); \
  KRILL_INSTANTIATE_MAKER(T, JacobiOptions)
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
