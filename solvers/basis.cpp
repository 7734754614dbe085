#include "solvers/basis.hpp"

#include "sparse/core/instantiate.hpp"

namespace krill {

template <class T>
void Basis<T>::scratch(MemoryLedger& ledger, std::int64_t rows, int capacity, BasisPrecision precision) {
  using detail::BasisTuning;
  const std::size_t number = real_bytes(precision) * (is_complex<T> ? 2 : 1);
  std::int64_t parts = (rows + detail::basis_part(rows) - 1) / std::max<std::int64_t>(1, detail::basis_part(rows));
  if (ledger.on_cuda()) {
    const std::int64_t tile =
        BasisTuning::dot_threads * static_cast<std::int64_t>(std::max(16 / number, 32 / sizeof(T)));
    parts = std::clamp<std::int64_t>((stride(rows, number) + tile - 1) / tile, 1, ledger.multiprocessors());
  }
  const auto count = static_cast<std::size_t>(parts);
  ledger.scratch({count * static_cast<std::size_t>(detail::basis_sums<T>(capacity)) * sizeof(double),
                  count * sizeof(detail::PairDots<T>)});
}

KRILL_INSTANTIATE(Basis);

}  // namespace krill
