#include "solvers/multigrid/dense_inverse.hpp"

#include <fmt/format.h>

#include "sparse/convert/convert.hpp"

namespace krill {

using namespace detail;

template <class T>
DenseInverse<T>::DenseInverse(std::int32_t n)
    : n_(n),
      inverse_(std::int64_t{n} * n, "dense inverse"),
      work_(std::int64_t{n} * n, "dense elimination"),
      other_(std::int64_t{n} * n, "dense elimination"),
      scale_(n, "dense scale"),
      sources_(n, "dense sources"),
      facts_(1, "dense facts") {
  require(n <= max_rows, fmt::format("dense inverse: {} rows, {} are the most", n, max_rows));
}

template <class T>
void DenseInverse<T>::set(Context& ctx, const AnyMatrix<T>& A, const Array<T>* kernel) {
  using K = kernel_t<T>;
  require_size("dense inverse: rows", krill::rows(A), n_);
  require_size("dense inverse: columns", krill::cols(A), n_);
  if (kernel) require_size("dense inverse: kernel", kernel->size(), n_);
  const std::int64_t square = std::int64_t{n_} * n_;
  with_csr(ctx, A, [&]<class Offset>(const Csr<T, Offset>& csr) {
    ctx.dispatch([&](const auto& where) {
      const auto view = csr.view(where);
      const K* u = kernel ? kernel->read(where) : nullptr;
      double* scale = scale_.write(where);
      DenseFacts* facts = facts_.write(where);
      auto* work = work_.write(where);
      std::int32_t* sources = sources_.write(where);
      run_pass(where, n_, ScaleDense<K, Offset>{view, scale});
      reduce_rows(where, FindKernel<K, Offset>{view, scale, u, facts});
      run_pass(where, square, FillDense<K>{n_, facts, scale, u, work});
      run_pass(where, n_ * ScatterDense<K, Offset>::lanes, ScatterDense<K, Offset>{view, scale, work, sources});
      const auto* inverted = invert_dense(where, n_, work, other_.write(where), sources, facts);
      run_pass(where, square, TakeInverse<K>{n_, ctx.on_cuda(), inverted, scale, sources, inverse_.write(where)});
    });
  });
}

template <class T>
void DenseInverse<T>::apply(Context& ctx, const Array<T>& b, Array<T>& x) const {
  require_size("dense inverse: b", b.size(), n_);
  require_size("dense inverse: x", x.size(), n_);
  require_disjoint("dense inverse: b and x", b, x);
  ctx.dispatch(
      [&](const auto& where) { dense_product(where, n_, inverse_.read(where), b.read(where), x.write(where)); });
}

template <class T>
Work DenseInverse<T>::work() const {
  const auto n = static_cast<double>(n_);
  return {(n * n + 2 * n) * sizeof(T), n * n * multiply_add<T>};
}

template class DenseInverse<float>;
template class DenseInverse<double>;
template class DenseInverse<std::complex<float>>;
template class DenseInverse<std::complex<double>>;

}  // namespace krill
