// Bytes of a coloring.
#pragma once
#include <cstddef>
#include <cstdint>

namespace krill {

/// Coloring: the pattern once, a color and a place for each row.
template <class Offset>
double color_bytes(std::int64_t rows, std::int64_t nnz) {
  return (static_cast<double>(rows) + 1) * static_cast<double>(sizeof(Offset)) +
         (static_cast<double>(nnz) + 2 * static_cast<double>(rows)) * static_cast<double>(sizeof(std::int32_t));
}

}  // namespace krill
