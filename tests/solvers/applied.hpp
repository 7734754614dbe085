// Preconditioners by themselves, and what they have to be.
#pragma once
#include <algorithm>

#include "tests/solvers/dense.hpp"
#include "tests/solvers/systems.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/replay.hpp"

namespace krill::test {

/// z = M^-1 r, in the loop as well as by itself; the dot has to be Re r'z.
template <class T>
std::vector<T> applied(Context& ctx, const Preconditioner<T>& M, const std::vector<T>& values) {
  const Array<T> r(values);
  Array<T> z(r.size()), again(r.size());
  Array<double> rr(1), rz(1);
  M.apply(ctx, r, z);
  replay(ctx, [&] { M.apply_dot(ctx, r, rr, again, rz); });
  const std::vector<T> result = contents(z);
  double dot = 0, size = 0, most = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Z product = std::conj(Z(values[i])) * Z(again.host()[i]);
    dot += product.real(), size += std::abs(product), most = std::max<double>(most, std::abs(result[i]));
  }
  EXPECT_NEAR(rz.host()[0], dot, 1e-12 * size);
  for (std::size_t i = 0; i < values.size(); ++i)  // the last step may be another kernel
    EXPECT_NEAR(std::abs(Z(again.host()[i]) - Z(result[i])), 0, 100 * epsilon<T>() * most) << i;
  return result;
}

/// M z = r up to rounding: `amplified` times what rounding does to a product with `size`, |M| or the product of the
/// moduli of its factors.
template <class T>
void expect_solves(const DenseZ& M, const DenseZ& size, const std::vector<T>& z, const std::vector<T>& r,
                   double amplified) {
  const auto rest = product(Op::none, -1.0, sparse(M), to_reference(z), 1.0, to_reference(r), epsilon<T>()).y;
  const auto bound = product(Op::none, -1.0, sparse(size), to_reference(z), 1.0, to_reference(r), epsilon<T>()).bound;
  for (std::size_t i = 0; i < r.size(); ++i) EXPECT_LE(std::abs(rest[i]), amplified * bound[i]) << i;
}

template <class T>
std::unique_ptr<Preconditioner<T>> made(Context& ctx, const PreconditionerOptions& options, const AnyMatrix<T>& A) {
  return make_preconditioner<T>(ctx, options, A);
}

template <class Value>
Value fact(const PreconditionerReport& report, std::string_view name) {
  for (const Fact& f : report.facts)
    if (f.name == name) return std::get<Value>(f.value);
  ADD_FAILURE() << "no fact " << name;
  return {};
}

/// Of matrices whose diagonal is 1.02 times the sum of the others: the condition of the whole and of every block.
inline constexpr double dominant_condition = 2.02 / 0.02;

}  // namespace krill::test
