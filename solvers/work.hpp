// What a solve without preconditioner moves and computes. The header of each solver has it as work(const Options&, int
// iterations).
#pragma once
#include <cstdint>

#include "solvers/options.hpp"
#include "sparse/core/work.hpp"

namespace krill {

struct SolveWork {
  double products = 0;  ///< with A
  double vectors = 0;   ///< that passes and products read or write, every operand once
  double updates = 0;   ///< vectors that are added to another, and dots
};
SolveWork work_of(const SolverOptions&, int iterations);

/// matrix: bytes of A as a product moves them.
template <class T>
double bytes(const SolveWork& w, double matrix, std::int64_t rows) {
  return w.products * matrix + w.vectors * static_cast<double>(rows) * static_cast<double>(sizeof(T));
}
template <class T>
double flops(const SolveWork& w, std::int64_t rows, std::int64_t entries) {
  return multiply_add<T> * (w.products * static_cast<double>(entries) + w.updates * static_cast<double>(rows));
}

}  // namespace krill
