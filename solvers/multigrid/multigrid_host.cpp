#include <cmath>
#include <utility>

#include "solvers/multigrid/dense_inverse.hpp"
#include "solvers/multigrid/multigrid_passes.hpp"
#include "sparse/convert/reduce_rows_host.hpp"
#include "sparse/core/pass_host.hpp"

namespace krill::detail {

/// In place: rows are exchanged as they lie.
template <class W>
W* invert_dense(const Host& host, std::int32_t n, W* work, W*, std::int32_t* sources, DenseFacts* facts) {
  if (host.skip.now()) return work;
  const std::int64_t size = n;
  for (std::int64_t k = 0; k < size; ++k) {
    std::int64_t pivot = 0;
    double greatest = -1;
    for (std::int64_t i = k; i < size; ++i)
      if (const double modulus = std::sqrt(squared(work[i * size + k])); modulus > greatest)
        greatest = modulus, pivot = i;
    W* row = work + k * size;
    if (pivot != k) {
      std::swap_ranges(row, row + size, work + pivot * size);
      std::swap(sources[k], sources[pivot]);
    }
    const bool exists = greatest > facts->smallest;
    facts->singular += !exists;
    const W inverse = exists ? W(1) / row[k] : W{};
    row[k] = W(1);
    for (std::int64_t j = 0; j < size; ++j) row[j] = row[j] * inverse;
    for_blocks(host, size, 64, exists ? size * size : 0, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        if (i == k) continue;
        W* other = work + i * size;
        const W factor = other[k];
        other[k] = W{};
        if (exists)
          for (std::int64_t j = 0; j < size; ++j) other[j] -= factor * row[j];
      }
    });
  }
  return work;
}

template <class T>
void dense_product(const Host& host, std::int32_t n, const T* inverse, const T* b, T* x) {
  if (host.skip.now()) return;
  const std::int64_t size = n;
  for_blocks(host, size, 256, size * size, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) x[i] = T{};
    for (std::int64_t j = 0; j < size; ++j)
      for (std::int64_t i = begin; i < end; ++i) x[i] += inverse[i + j * size] * b[j];
  });
}

template <class Value, class T = kernel_t<Value>>
struct DenseHost {
  static constexpr std::tuple list{instance<void(const Host&, std::int32_t, const T*, const T*, T*)>(dense_product)};
};
KRILL_INSTANTIATE(DenseHost);
template double* invert_dense(const Host&, std::int32_t, double*, double*, std::int32_t*, DenseFacts*);
template Complex<double>* invert_dense(const Host&, std::int32_t, Complex<double>*, Complex<double>*, std::int32_t*,
                                       DenseFacts*);

KRILL_INSTANTIATE(MultigridPasses, Host);
KRILL_INSTANTIATE_WITH_OFFSETS(MultigridSetupPasses, Host);
KRILL_INSTANTIATE(DensePasses, Host);
KRILL_INSTANTIATE_WITH_OFFSETS(DenseSetupPasses, Host);

}  // namespace krill::detail
