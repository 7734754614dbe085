// What a solve moves and computes. The header of each solver has it as work(const Options&, int iterations), each
// preconditioner as work().
#pragma once
#include <array>
#include <cstdint>

#include "solvers/options.hpp"
#include "solvers/preconditioner.hpp"
#include "sparse/core/work.hpp"

namespace krill {

struct SolveWork {
  double products = 0;      ///< with A
  double vectors = 0;       ///< that passes and products read or write, every operand once, where M r is r itself
  double updates = 0;       ///< vectors that are added to another, and dots
  double applications = 0;  ///< of the preconditioner
  /// Read or written of those that are kept in a precision of their own, by BasisPrecision.
  std::array<double, basis_precision_names.size()> kept_vectors = {};
  double apart = 0;  ///< vectors more where M r is another vector than r

  /// All of them, as so many vectors of T.
  template <class T>
  double vectors_of() const {
    constexpr std::array<double, basis_precision_names.size()> bytes{8, 4, 2};  // of a real number
    double sum = vectors;
    for (std::size_t p = 0; p < bytes.size(); ++p)
      sum += kept_vectors[p] * (bytes[p] < sizeof(real_t<T>) ? bytes[p] / sizeof(real_t<T>) : 1);
    return sum;
  }
};
SolveWork work_of(const SolverOptions&, int iterations);

/// matrix: bytes of A as a product moves them. entries: of A.
template <class T>
Work total(const SolveWork& w, const ApplicationWork& M, double matrix, std::int64_t rows, std::int64_t entries) {
  const double products = w.products + w.applications * M.products,
               vectors = w.vectors_of<T>() + (M.own.bytes > 0 ? w.apart : 0);
  return {products * matrix + vectors * static_cast<double>(rows) * sizeof(T) + w.applications * M.own.bytes,
          multiply_add<T> * (products * static_cast<double>(entries) + w.updates * static_cast<double>(rows)) +
              w.applications * M.own.flops};
}

}  // namespace krill
