#include "solvers/spectrum.hpp"

#include <algorithm>

#include "solvers/spectrum_passes.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/core/team.hpp"

namespace krill {

using namespace detail;
namespace {

/// After so many steps it is looked whether they are enough.
constexpr int first_look = 5;

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
      r_(rows, "lanczos r"),
      sums_(4 * max_steps + 1, "sums of lanczos steps") {}

/// Conjugate gradients from a random residual: their coefficients are those of Lanczos' process.
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
    double* const rz = sums_.update(where);
    return LanczosScalars{rz, rz + max_steps_ + 1, stop_.update(where)};
  };
  ctx.dispatch([&](const auto& where) {
    run_pass(where, r_.size(),
             StartLanczos<K>{inverse.read(where), r_.write(where), d.write(where), scalars(where), first_row});
    stop = stop_.read(where);
  });
  const auto find_ritz = [&](int k) {
    ctx.dispatch([&](const auto& where) {
      run_pass(where, 0,
               FindRitz{k, k < steps ? early_margin_ : 0, scalars(where), sums_.update(where) + 2 * max_steps_ + 1,
                        upper.update(where), found_.update(where)});
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
      ctx.dispatch([&](const auto& where) {
        run_pass(where, r_.size(),
                 LanczosDirection<K>{k, scalars(where), inverse.read(where), r_.read(where), d.update(where)});
      });
      A.apply(ctx, d, w, {&d, &pq_});
      ctx.dispatch([&](const auto& where) {
        run_pass(where, r_.size(),
                 LanczosResidual<K>{k, scalars(where), pq_.read(where), inverse.read(where), w.read(where),
                                    r_.update(where)});
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
