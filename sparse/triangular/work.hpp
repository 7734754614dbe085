// Bytes and operations of triangular solves.
#pragma once
#include <cstddef>
#include <cstdint>

#include "sparse/core/work.hpp"

namespace krill {

/// A solve with a triangle of so many entries beside its diagonal: entries and their columns, the diagonal, b and x.
template <class T>
double triangular_bytes(std::int64_t rows, double entries, std::int32_t columns) {
  return entries * static_cast<double>(sizeof(T) + sizeof(std::int32_t)) +
         static_cast<double>(rows) * (1 + 2 * columns) * static_cast<double>(sizeof(T));
}

/// Triangular solves; a division counts as one multiplication and addition.
template <class T>
double triangular_flops(std::int64_t rows, double entries, std::int32_t columns) {
  return multiply_add<T> * columns * (entries + static_cast<double>(rows));
}

}  // namespace krill
