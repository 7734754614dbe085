// Random batches of banded systems, and how well they are solved.
#pragma once
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "sparse/banded/banded_plan.hpp"
#include "tests/support/random.hpp"

namespace krill::test {

using Exact = std::complex<long double>;

template <class T>
auto exact(T value) {
  if constexpr (is_complex<T>)
    return Exact(value.real(), value.imag());
  else
    return static_cast<long double>(value);
}
/// Sums and moduli are most of the tests' time: those of real numbers are real, and squares of double fit.
inline long double modulus(long double value) { return std::abs(value); }
inline long double modulus(const Exact& value) { return std::sqrt(std::norm(value)); }

struct MethodAndDiagonals {
  BandedMethod method;
  int diagonals;
};
inline constexpr MethodAndDiagonals all_methods[] = {{BandedMethod::thomas, 3}, {BandedMethod::lu, 3},
                                                     {BandedMethod::qr, 3},     {BandedMethod::thomas, 5},
                                                     {BandedMethod::lu, 5},     {BandedMethod::qr, 5}};

enum class Kind { dominant, random, zero_diagonal, tiny_diagonal };

template <class T>
T nan_of() {
  return T(std::numeric_limits<real_t<T>>::quiet_NaN());
}
template <class T>
T number(double value) {
  return T(static_cast<real_t<T>>(value));
}

inline std::size_t place(const BandLayout& l, std::int64_t i, std::int64_t j) {
  return static_cast<std::size_t>(l.at(i, j));
}

/// NaN in padding, and where a band lies outside of its matrix. Diagonals of zeros, or nearly that, end in a 1, without
/// which an odd number of rows would be singular. Unknowns of such matrices of three diagonals are products of
/// quotients of the other two, so those are 0.9 to 1.1: with numbers from -1 to 1 a thousand rows reach 1e63, which
/// float has not.
template <class T>
Banded<T> random_banded(std::uint64_t seed, const BandLayout& l, int diagonals, Kind kind) {
  Banded<T> A(l, diagonals);
  std::mt19937_64 engine(seed);
  for (int k = -diagonals / 2; k <= diagonals / 2; ++k) {
    const auto band = A.band(k).edit();
    std::fill(band.begin(), band.end(), nan_of<T>());
    for (std::int64_t j = 0; j < l.batch; ++j)
      for (std::int64_t i = 0; i < l.rows; ++i) {
        if (i + k < 0 || i + k >= l.rows) continue;
        T& value = band[place(l, i, j)];
        value = random_scalar<T>(engine);
        const bool weak = kind == Kind::zero_diagonal || kind == Kind::tiny_diagonal;
        if (k != 0 && weak && diagonals == 3) value = value * number<T>(0.1) + number<T>(1);
        if (k == 0 && kind == Kind::dominant) value = value * number<T>(0.5) + number<T>(8);
        if (k == 0 && kind == Kind::zero_diagonal) value = number<T>(i + 1 < l.rows ? 0 : 1);
        if (k == 0 && kind == Kind::tiny_diagonal) value = number<T>(i + 1 < l.rows ? 1e-30 : 1);
      }
  }
  return A;
}

/// b with `padding` where no row lies.
template <class T>
std::vector<T> random_rhs(std::uint64_t seed, const BandLayout& l, T padding) {
  std::vector<T> b(static_cast<std::size_t>(l.extent()), padding);
  std::mt19937_64 engine(seed);
  for (std::int64_t j = 0; j < l.batch; ++j)
    for (std::int64_t i = 0; i < l.rows; ++i) b[place(l, i, j)] = random_scalar<T>(engine);
  return b;
}

/// The greatest over the systems of |b - A x| / (|A| |x| + |b|), maxima of moduli and of row sums, in units of epsilon;
/// infinity where x is not finite. One matrix may stand for all vectors.
template <class T>
double backward_error(const Banded<T>& A, const BandLayout& l, std::span<const T> b, std::span<const T> x) {
  long double worst = 0;
  for (std::int64_t j = 0; j < l.batch; ++j) {
    long double residual = 0, of_a = 0, of_x = 0, of_b = 0;
    for (std::int64_t i = 0; i < l.rows; ++i) {
      auto sum = exact(b[place(l, i, j)]);
      long double row = 0;
      of_b = std::max(of_b, modulus(sum));
      for (int k = -A.diagonals() / 2; k <= A.diagonals() / 2; ++k) {
        if (i + k < 0 || i + k >= l.rows) continue;
        const auto entry = exact(A.band(k).host()[place(A.layout(), i, A.layout().batch == 1 ? 0 : j)]);
        sum -= entry * exact(x[place(l, i + k, j)]);
        row += modulus(entry);
      }
      of_x = std::max(of_x, modulus(exact(x[place(l, i, j)])));
      of_a = std::max(of_a, row);
      if (!(modulus(sum) <= std::numeric_limits<long double>::max())) return std::numeric_limits<double>::infinity();
      residual = std::max(residual, modulus(sum));
    }
    worst = std::max(worst, residual / (of_a * of_x + of_b));
  }
  return static_cast<double>(worst / std::numeric_limits<real_t<T>>::epsilon());
}

template <class T>
double backward_error(const Banded<T>& A, std::span<const T> b, std::span<const T> x) {
  return backward_error(A, A.layout(), b, x);
}

/// Units of epsilon. A stable step rounds an equation of at most five entries some eight times, complex numbers with
/// three times the error, and equations grow at most by half as much again as two; a row that is carried on meets each
/// following one, so that such errors add up over the few rows that it survives.
template <class T>
constexpr double backward_bound() {
  return is_complex<T> ? 400 : 130;
}

inline std::vector<BandLayout> layouts(std::int32_t rows, std::int32_t batch) {
  return {BandLayout::interleaved(rows, batch),
          BandLayout::interleaved(rows, batch, batch + 3),
          BandLayout::strided(rows, batch),
          BandLayout::strided(rows, batch, rows + 5),
          // lines of a grid in its second direction, and the same with room between lines
          batch % 2 == 0 ? BandLayout::lines(batch / 2, rows, 2, 1) : BandLayout::lines(batch, rows, 1, 1),
          {rows, batch, batch + 1, 1, batch, std::int64_t{batch + 1} * rows + 3}};
}

}  // namespace krill::test
