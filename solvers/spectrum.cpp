#include "solvers/spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "solvers/spectrum_passes.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/core/team.hpp"

namespace krill {

using namespace detail;
namespace {

/// After so many steps it is looked whether the bound by rows is within that factor of the Ritz value: more steps would
/// find little then.
constexpr int first_look = 5;
constexpr double near_bound = 1.2;

/// A symmetric tridiagonal matrix: the operator, as Lanczos saw it.
struct Tridiagonal {
  std::vector<double> diagonal, beside;  ///< beside[k]: between k and k + 1; the last one is that of the next step

  /// The last pivot of x - T and its derivative; nullopt where x is not above all eigenvalues.
  std::optional<std::pair<double, double>> last_pivot(double x) const {
    double pivot = 0, slope = 0;
    for (std::size_t k = 0; k < diagonal.size(); ++k) {
      const double ratio = k ? beside[k - 1] / pivot : 0;
      slope = 1 + ratio * ratio * slope;
      pivot = x - diagonal[k] - (k ? ratio * beside[k - 1] : 0);
      if (!(pivot > 0)) return std::nullopt;
    }
    return std::pair(pivot, slope);
  }
};

/// The largest eigenvalue of T from above, by bisection, and what the operator's own is unlikely to exceed: the
/// residual of the Ritz vector, which is its last component times the next entry beside the diagonal, added (Zhou and
/// Li 2011).
std::pair<double, double> largest_eigenvalue(const Tridiagonal& t) {
  double low = *std::ranges::max_element(t.diagonal), high = 0;
  for (std::size_t k = 0; k < t.diagonal.size(); ++k)
    high = std::max(high, t.diagonal[k] + t.beside[k] + (k ? t.beside[k - 1] : 0));
  high *= 1 + 1e-12;
  for (double middle = 0.5 * (low + high); low < middle && middle < high; middle = 0.5 * (low + high))
    (t.last_pivot(middle) ? high : low) = middle;
  const auto last = t.last_pivot(high);
  return {high, high + t.beside.back() / std::sqrt(last ? last->second : 1)};  // 1 / slope: the component squared
}

template <class T>
void find_row_bound(Context& ctx, const AnyMatrix<T>& matrix, const Array<real_t<T>>& inverse, Array<RowBound>& bound) {
  with_csr(ctx, matrix, [&]<class Offset>(const Csr<T, Offset>& A) {
    ctx.dispatch([&](const auto& where) {
      run_pass(where, A.rows(), BoundRows<kernel_t<T>, Offset>{A.view(where), inverse.read(where), bound.write(where)});
    });
  });
}

SpectrumEstimate estimate_by(const RowBound& found) {
  return {.row_bound = found.max, .upper = found.max, .bad_row = found.bad.row};
}

/// What `steps` steps have found, of which rz and the curvatures are left. Waits.
SpectrumEstimate estimate_after(int steps, const Array<RowBound>& bound, const Array<double>& sizes,
                                const Array<double>& curvatures) {
  SpectrumEstimate found = estimate_by(bound.host()[0]);
  if (found.bad_row != BadRow::none) return found;
  found.products = steps;
  const std::span<const double> rz = sizes.host(), curvature = curvatures.host();
  Tridiagonal t;
  double before = 0;  // beta / alpha of the step before
  for (std::size_t k = 0; k < static_cast<std::size_t>(steps) && rz[k] > 1e-20 * rz[0]; ++k) {
    if (!(curvature[k] > 0) || !std::isfinite(curvature[k])) {
      found.bad_curvature = curvature[k];
      return found;
    }
    const double alpha = rz[k] / curvature[k], beta = rz[k + 1] / rz[k];
    t.diagonal.push_back(1 / alpha + before);
    t.beside.push_back(std::sqrt(beta) / alpha);
    before = beta / alpha;
  }
  if (t.diagonal.empty()) return found;
  const auto [ritz, guarded] = largest_eigenvalue(t);
  found.ritz = ritz;
  if (near_bound * ritz < found.row_bound) found.upper = std::min(found.row_bound, std::max(guarded, 1.1 * ritz));
  return found;
}

}  // namespace

template <class T>
SpectrumEstimate bound_spectrum(Context& ctx, const AnyMatrix<T>& matrix, const Array<real_t<T>>& inverse) {
  Array<RowBound> bound(1, "bound of eigenvalues");
  find_row_bound(ctx, matrix, inverse, bound);
  return estimate_by(bound.host()[0]);
}

/// Conjugate gradients from a random residual: their coefficients are those of Lanczos' process.
template <class T>
SpectrumEstimate estimate_spectrum(Context& ctx, const Operator<T>& A, const AnyMatrix<T>& matrix,
                                   const Array<real_t<T>>& inverse, int max_steps, Array<T>& d, Array<T>& w) {
  using K = kernel_t<T>;
  const auto steps = static_cast<int>(std::min<std::int64_t>(max_steps, A.all_rows()));
  const auto [team, partition] = A.share();
  const std::int64_t first_row = team ? partition->begin(team->rank()) : 0;
  const Context::TeamScope over(ctx, team);
  Array<RowBound> bound(1, "bound of eigenvalues");
  Array<T> r(A.rows(), "lanczos r");
  Array<double> sizes(steps + 1, "lanczos r'z"), curvatures(steps, "lanczos p'q of steps");
  Array<wide_t<T>> pq(1, "lanczos p'q");
  find_row_bound(ctx, team ? *A.matrix_rows() : matrix, inverse, bound);
  const auto scalars = [&](const auto& where) { return LanczosScalars{sizes.update(where), curvatures.update(where)}; };
  ctx.dispatch([&](const auto& where) {
    run_pass(where, r.size(),
             StartLanczos<K>{inverse.read(where), r.write(where), d.write(where), scalars(where), first_row});
  });
  const auto estimate = [&](int k) {
    ctx.synchronize();  // with an eye on the other ranks
    return estimate_after(k, bound, sizes, curvatures);
  };
  for (int k = 0; k < steps; ++k) {
    if (k == first_look) {
      const SpectrumEstimate found = estimate(k);
      if (found.upper == found.row_bound) return found;
    }
    ctx.dispatch([&](const auto& where) {
      run_pass(where, r.size(),
               LanczosDirection<K>{k, scalars(where), inverse.read(where), r.read(where), d.update(where)});
    });
    A.apply(ctx, d, w, {&d, &pq});
    ctx.dispatch([&](const auto& where) {
      run_pass(
          where, r.size(),
          LanczosResidual<K>{k, scalars(where), pq.read(where), inverse.read(where), w.read(where), r.update(where)});
    });
  }
  return estimate(steps);
}

template <class T>
struct SpectrumInstances {
  static constexpr std::tuple list{
      instance<SpectrumEstimate(Context&, const Operator<T>&, const AnyMatrix<T>&, const Array<real_t<T>>&, int,
                                Array<T>&, Array<T>&)>(estimate_spectrum),
      instance<SpectrumEstimate(Context&, const AnyMatrix<T>&, const Array<real_t<T>>&)>(bound_spectrum)};
};
KRILL_INSTANTIATE(SpectrumInstances);

}  // namespace krill
