#include "solvers/spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "solvers/spectrum_passes.hpp"
#include "sparse/convert/convert.hpp"

namespace krill {

using namespace detail;
namespace {

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

}  // namespace

template <class T>
SpectrumEstimate bound_spectrum(Context& ctx, const AnyMatrix<T>& matrix, const Array<real_t<T>>& inverse) {
  using K = kernel_t<T>;
  const RowBound found = with_csr(ctx, matrix, [&]<class Offset>(const Csr<T, Offset>& A) {
    Array<RowBound> bound(1, "bound of eigenvalues");
    ctx.dispatch([&](const auto& where) {
      run_pass(where, A.rows(), BoundRows<K, Offset>{A.view(where), inverse.read(where), bound.write(where)});
    });
    return bound.host()[0];
  });
  return {.row_bound = found.max, .upper = found.max, .bad_row = found.bad.row};
}

/// Conjugate gradients from a random residual: their coefficients are those of Lanczos' process.
template <class T>
SpectrumEstimate estimate_spectrum(Context& ctx, const Operator<T>& A, const AnyMatrix<T>& matrix,
                                   const Array<real_t<T>>& inverse, int steps, Array<T>& d, Array<T>& w) {
  using K = kernel_t<T>;
  using R = real_t<T>;
  SpectrumEstimate found = bound_spectrum(ctx, matrix, inverse);
  if (found.bad_row != BadRow::none || A.rows() == 0) return found;
  Array<T> r(A.rows(), "lanczos r");
  Array<double> rz(1, "lanczos r'z");
  Array<wide_t<T>> pq(1, "lanczos p'q");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, r.size(), StartLanczos<K>{inverse.read(where), r.write(where), d.write(where), rz.write(where)});
  });
  Tridiagonal t;
  const double start = rz.host()[0];
  double size = start, beta = 0, alpha = 1;
  const auto most = std::min<std::int64_t>(steps, A.rows());
  for (int k = 0; k < most && size > 1e-20 * start; ++k) {
    ctx.dispatch([&](const auto& where) {
      run_pass(where, r.size(), LanczosDirection<K>{R(beta), inverse.read(where), r.read(where), d.update(where)});
    });
    A.apply(ctx, d, w, {&d, &pq});
    const double curvature = std::real(pq.host()[0]), before = beta / alpha;
    ++found.products;
    if (!(curvature > 0) || !std::isfinite(curvature)) {
      found.bad_curvature = curvature;
      return found;
    }
    alpha = size / curvature;
    ctx.dispatch([&](const auto& where) {
      run_pass(where, r.size(),
               LanczosResidual<K>{R(alpha), inverse.read(where), w.read(where), r.update(where), rz.write(where)});
    });
    beta = rz.host()[0] / size;
    size = rz.host()[0];
    t.diagonal.push_back(1 / alpha + before);
    t.beside.push_back(std::sqrt(beta) / alpha);
  }
  const auto [ritz, guarded] = largest_eigenvalue(t);
  found.ritz = ritz;
  found.upper = std::min(found.row_bound, std::max(guarded, 1.1 * ritz));
  return found;
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
