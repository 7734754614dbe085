#include <fmt/format.h>

#include "solvers/krylov_passes.hpp"
#include "solvers/precond/application_work.hpp"
#include "solvers/precond/diagonal.hpp"
#include "solvers/precond/make.hpp"
#include "solvers/precond/precond_passes.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/core/stopwatch.hpp"
#include "sparse/vector/vector.hpp"

namespace krill {

using namespace detail;
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
  ApplicationWork work() const override { return {jacobi_work<T>(static_cast<double>(inverse_diagonal_.size()))}; }
  PreconditionerParts<T> parts() const override { return DiagonalParts<T>{&inverse_diagonal_}; }

  void update(Context& ctx, const AnyMatrix<T>& A) override {
    const Stopwatch watch;
    copy(ctx, inverse_diagonal(ctx, JacobiOptions::type, A), inverse_diagonal_);
    ctx.synchronize();
    report_.numeric_ms = watch.milliseconds();
  }
  bool has_adjoint() const override { return true; }
  const Array<T>& apply_adjoint(Context& ctx, const Array<T>& r, Array<T>& z) const override {
    require_size("jacobi: r", r.size(), inverse_diagonal_.size());
    require_size("jacobi: z", z.size(), inverse_diagonal_.size());
    ctx.dispatch([&](const auto& where) {
      run_pass(where, r.size(),
               ScaleConjugate<kernel_t<T>>{inverse_diagonal_.read(where), r.read(where), z.write(where)});
    });
    return z;
  }

 private:
  Stopwatch watch_;
  Array<T> inverse_diagonal_;
  PreconditionerReport report_;
};

}  // namespace

namespace detail {

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
        "finite and not 0: {3}use preconditioner none",
        row, type, is_zero ? "0 or missing" : "not finite", is_zero ? "set matching: {type: product}, or " : ""));
  return d;
}

}  // namespace detail

template <class T>
MadePreconditioner<T> make(Context& ctx, const JacobiOptions& o, const PreconditionerInput<T>& input) {
  return std::make_unique<Jacobi<T>>(ctx, o.type, input.A);
}

template <class T>
HeldMemory memory(MemoryLedger& ledger, Context& host, const JacobiOptions&, const PreconditionerInput<T>& input) {
  HeldMemory kept = diagonal_memory(ledger, host, input.A);
  ledger.scratch({1});  // of the first bad entry
  return kept;
}

template <class T>
struct JacobiMakers {
  static constexpr std::tuple list{
      instance<Array<T>(Context&, std::string_view, const AnyMatrix<T>&)>(inverse_diagonal),
      instance<Maker<T, JacobiOptions>>(make), instance<MemoryOf<T, JacobiOptions>>(memory)};
};
KRILL_INSTANTIATE(JacobiMakers);

}  // namespace krill
