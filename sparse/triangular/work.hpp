// Bytes and operations of triangular solves.
#pragma once
#include <cstddef>
#include <cstdint>

#include "sparse/core/work.hpp"
#include "sparse/triangular/triangle.hpp"

namespace krill {

/// A solve with a triangle of so many entries beside its diagonal. It moves entries and their columns, the diagonal
/// where that is stored, b and x. A division counts as one multiplication and addition.
template <class T>
Work triangular_work(std::int64_t rows, double entries, std::int32_t columns, Diagonal diagonal = Diagonal::stored) {
  const int diagonals = diagonal == Diagonal::stored ? 1 : 0;
  return {entries * static_cast<double>(sizeof(T) + sizeof(std::int32_t)) +
              static_cast<double>(rows) * (diagonals + 2 * columns) * static_cast<double>(sizeof(T)),
          multiply_add<T> * columns * (entries + static_cast<double>(rows) * diagonals)};
}

}  // namespace krill
