#include "solvers/spectrum.hpp"

#include <algorithm>
#include <limits>

#include "solvers/spectrum_passes.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/core/team.hpp"

namespace krill {

using namespace detail;
namespace {

/// After so many steps it is looked whether they are enough.
constexpr int first_look = 5;

/// Of what is found with vectors of T, over the greatest eigenvalue.
template <class T>
constexpr double rounding = 100.0 * std::numeric_limits<real_t<T>>::epsilon();

}  // namespace

template <class T>
RowSums greatest_row_sum(Context& ctx, const Operator<T>& A, const AnyMatrix<T>& matrix,
                         const Array<real_t<T>>& inverse) {
  const auto [team, partition] = A.share();
  const Context::TeamScope over(ctx, team);
  Array<RowBound> bound(1, "bound of eigenvalues");
  with_csr(ctx, team ? *A.matrix_rows() : matrix, [&]<class Offset>(const Csr<T, Offset>& csr) {
    ctx.dispatch([&](const auto& where) {
      run_pass(where, csr.rows(),
               BoundRows<kernel_t<T>, Offset>{csr.view(where), inverse.read(where), bound.write(where)});
    });
  });
  if (team) ctx.synchronize();  // with an eye on the other ranks
  const auto [greatest, bad] = bound.host()[0];
  return {greatest, bad.row};
}

template <class T>
LanczosProcess<T>::LanczosProcess(std::int64_t rows, int max_steps, double early_margin)
    : max_steps_(max_steps),
      early_margin_(early_margin),
      other_(rows, "lanczos vector"),
      sums_(4 * max_steps + 1, "sums of lanczos steps") {}

/// D^-1 A is Hermitian in the inner product of D, whose u'D D^-1 A u is the u'Au that comes with the product.
template <class T>
void LanczosProcess<T>::run(Context& ctx, const Operator<T>& A, const Array<real_t<T>>& inverse, Array<T>& d,
                            Array<T>& w, Array<double>& upper, bool may_wait) {
  using K = kernel_t<T>;
  const auto steps = static_cast<int>(std::min<std::int64_t>(max_steps_, A.all_rows()));
  const auto [team, partition] = A.share();
  const std::int64_t first_row = team ? partition->begin(team->rank()) : 0;
  const Context::TeamScope over(ctx, team);
  const Reason* stop = nullptr;
  const auto scalars = [&](const auto& where) {
    double* const norms = sums_.update(where);
    return LanczosScalars{norms, norms + max_steps_ + 1, stop_.update(where)};
  };
  ctx.dispatch([&](const auto& where) {
    run_pass(where, d.size(),
             StartLanczos<K>{inverse.read(where), d.write(where), other_.write(where), scalars(where), first_row});
    stop = stop_.read(where);
  });
  const auto find_ritz = [&](int k) {
    ctx.dispatch([&](const auto& where) {
      run_pass(where, 0,
               FindRitz{k, k < steps ? early_margin_ : 0, rounding<T>, scalars(where),
                        sums_.update(where) + 2 * max_steps_ + 1, upper.update(where), found_.update(where)});
    });
  };
  {
    const Context::SkipScope until_near(ctx, stop);
    for (int k = 0; k < steps; ++k) {
      if (k == first_look) {
        find_ritz(k);
        if (may_wait && team) ctx.synchronize();  // with an eye on the other ranks
        if (may_wait && stop_.host()[0] != Reason::running) break;
      }
      Array<T>&u = k % 2 == 0 ? d : other_, &before = k % 2 == 0 ? other_ : d;
      A.apply(ctx, u, w, {&u, &curvature_});
      ctx.dispatch([&](const auto& where) {
        run_pass(where, u.size(),
                 LanczosStep<K>{k, scalars(where), curvature_.read(where), inverse.read(where), w.read(where),
                                u.read(where), before.update(where)});
      });
    }
    find_ritz(steps);
  }
  ctx.dispatch([&](const auto& where) { run_pass(where, 1, TakeRitz{found_.read(where), upper.update(where)}); });
}

template <class T>
struct SpectrumInstances {
  static constexpr auto list =
      instance<RowSums(Context&, const Operator<T>&, const AnyMatrix<T>&, const Array<real_t<T>>&)>(greatest_row_sum);
};
KRILL_INSTANTIATE(LanczosProcess);
KRILL_INSTANTIATE(SpectrumInstances);

}  // namespace krill
