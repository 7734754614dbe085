// What applications of preconditioners that are passes over vectors move and compute, by sizes alone.
#pragma once
#include "solvers/preconditioner.hpp"

namespace krill {

/// z = D^-1 r: three vectors.
template <class T>
Work jacobi_work(double rows) {
  return {3 * rows * sizeof(T), multiply_add<T> * rows};
}

/// The first pass reads r and the inverse diagonal and writes d and z. Each further degree reads and writes the vectors
/// of a product with A, and r, w, d, z and the inverse diagonal. A's own bytes count with the products.
template <class T>
ApplicationWork chebyshev_work(double rows, int degree) {
  const double products = degree;
  return {{rows * (3 * sizeof(T) + sizeof(real_t<T>)) + products * rows * ((2 + 6) * sizeof(T) + sizeof(real_t<T>)),
           multiply_add<T> * rows * (1 + 3 * products)},
          products};
}

}  // namespace krill
