// Operands of narrow types for tests, and what their judge sees of them.
#pragma once
#include <algorithm>

#include "sparse/core/half.hpp"
#include "tests/spmm/dense_operands.hpp"

namespace krill::test {

/// What the judge sees of a number.
template <class T>
Z judged(T a) {
  if constexpr (is_complex<T>)
    return {double(std::real(a)), double(std::imag(a))};
  else
    return double(a);
}
template <class R>
Z judged(Complex<R> a) {
  return {double(a.re), double(a.im)};
}

template <class T>
std::vector<Z> judged(const std::vector<T>& v) {
  std::vector<Z> z(v.size());
  std::ranges::transform(v, z.begin(), [](const T& a) { return judged(a); });
  return z;
}

/// Numbers of any of the types: integers over their whole range where that is small, others in (-1, 1).
template <class T>
T random_number(std::mt19937_64& engine) {
  if constexpr (std::is_same_v<T, std::int8_t>)
    return static_cast<T>(static_cast<int>(engine() % 256) - 128);
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return static_cast<T>(static_cast<int>(engine() % 9) - 4);
  else if constexpr (is_complex<T> && sizeof(T) == 4)
    return {random_number<real_t<T>>(engine), random_number<real_t<T>>(engine)};
  else if constexpr (sizeof(T) == 2)
    return T(random_scalar<float>(engine));
  else
    return random_scalar<T>(engine);
}
template <class T>
std::vector<T> random_numbers(std::uint64_t seed, std::int64_t n) {
  std::mt19937_64 engine(seed);
  std::vector<T> v(static_cast<std::size_t>(n));
  for (T& a : v) a = random_number<T>(engine);
  return v;
}

/// NaN where there is one; integers have none.
template <class T>
T not_a_number() {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  if constexpr (std::is_integral_v<T>)
    return std::numeric_limits<T>::max();
  else if constexpr (is_complex<T>)
    return {real_t<T>(nan), real_t<T>(nan)};
  else
    return T(nan);
}

/// Twice the unit roundoff, and the least number; integers round nothing.
template <class T>
struct Rounding {
  static constexpr double epsilon = std::numeric_limits<T>::epsilon(), least = std::numeric_limits<T>::denorm_min();
};
template <class R>
struct Rounding<std::complex<R>> : Rounding<R> {};
template <class R>
struct Rounding<Complex<R>> : Rounding<R> {};
template <>
struct Rounding<Half> {
  static constexpr double epsilon = 0x1p-10, least = 0x1p-24;
};
template <>
struct Rounding<BFloat16> {
  static constexpr double epsilon = 0x1p-7, least = 0x1p-133;
};
template <>
struct Rounding<std::int32_t> {
  static constexpr double epsilon = 0, least = 0;
};

/// Random entries; NaN, or the greatest integer, in padding.
template <class T>
Dense<T> random_numbers_in(std::uint64_t seed, std::int64_t rows, std::int64_t cols, Order order,
                           std::int64_t padding) {
  const std::int64_t line = order == Order::column_major ? rows : cols;
  Dense<T> made(rows, cols, order, line + padding);
  std::ranges::fill(made.values().edit(), not_a_number<T>());
  std::mt19937_64 engine(seed);
  const auto view = made.edit();
  for (std::int64_t j = 0; j < cols; ++j)
    for (std::int64_t i = 0; i < rows; ++i) view.at(i, j) = random_number<T>(engine);
  return made;
}

/// Column j of op(B), for the judge.
template <class T>
std::vector<Z> judged_column(const Dense<T>& B, Op op, std::int64_t j) {
  std::vector<Z> column;
  const auto view = B.host();
  for (std::int64_t i = 0; i < (op == Op::none ? B.rows() : B.cols()); ++i) {
    const Z entry = judged(op == Op::none ? view.at(i, j) : view.at(j, i));
    column.push_back(op == Op::adjoint ? std::conj(entry) : entry);
  }
  return column;
}

}  // namespace krill::test
