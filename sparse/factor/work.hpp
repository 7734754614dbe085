// Bytes of incomplete factorizations.
#pragma once
#include <cstddef>
#include <cstdint>

namespace krill {

/// An incomplete factorization without fill: the matrix once, the factor's values once.
template <class T, class Offset>
double factor_bytes(std::int64_t rows, std::int64_t nnz) {
  return static_cast<double>(nnz) * static_cast<double>(2 * sizeof(T) + sizeof(std::int32_t)) +
         (static_cast<double>(rows) + 1) * static_cast<double>(sizeof(Offset));
}

}  // namespace krill
