// Random vectors and matrices over nasty shapes, from a seed that failures print. All of it is made in the library that
// is optimized: tests spend much of their time here.
#pragma once
#include <complex>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "sparse/formats/csr.hpp"

namespace krill::test {

/// Real and imaginary parts evenly spread over (-1, 1).
template <class T>
T random_scalar(std::mt19937_64& engine);

template <class T>
std::vector<T> random_vector(std::uint64_t seed, std::int64_t n);

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
