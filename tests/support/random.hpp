// Random vectors and matrices over nasty shapes, from a seed that failures print.
#pragma once
#include <complex>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "sparse/formats/csr.hpp"

namespace krill::test {

template <class T>
T random_scalar(std::mt19937_64& engine) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  if constexpr (is_complex<T>) {
    const double re = uniform(engine);
    return T(static_cast<real_t<T>>(re), static_cast<real_t<T>>(uniform(engine)));
  } else {
    return static_cast<T>(uniform(engine));
  }
}

template <class T>
std::vector<T> random_vector(std::uint64_t seed, std::int64_t n) {
  std::mt19937_64 engine(seed);
  std::vector<T> v;
  v.reserve(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) v.push_back(random_scalar<T>(engine));
  return v;
}

/// How many entries row i of a test matrix has.
struct Shape {
  std::string name;
  std::int32_t rows, cols;
  std::int32_t (*row_length)(std::int32_t row, std::mt19937_64&);
};

/// Empty matrices, one row, one column, empty rows, a dense row, long rows, many short ones.
const std::vector<Shape>& nasty_shapes();

/// The nasty shapes made square.
std::vector<Shape> square_shapes();

/// 0 to n - 1 in random order.
std::vector<std::int32_t> shuffled(std::uint64_t seed, std::int32_t n);

/// Distinct random columns in each row, ascending.
template <class T, class Offset = std::int32_t>
Csr<T, Offset> random_csr(std::uint64_t seed, const Shape&);

/// A random Hermitian positive definite matrix (diagonally dominant) with about `row_length` entries a row.
template <class T>
Csr<T> random_hpd(std::uint64_t seed, std::int32_t n, std::int32_t row_length);

/// A random nonsymmetric matrix, diagonally dominant, with about `row_length` entries a row.
template <class T>
Csr<T> random_dominant(std::uint64_t seed, std::int32_t n, std::int32_t row_length);

/// The 5-point matrix of the Laplacian on an n x n grid.
template <class T>
Csr<T> poisson2d(std::int32_t n);

}  // namespace krill::test
