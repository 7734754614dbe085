// What a persistent kernel does with the rows of a product, and passes that save it a barrier.
#pragma once
#include "solvers/chebyshev_passes.hpp"
#include "solvers/pcg_passes.hpp"

namespace krill::detail {

/// y = A x.
template <class T>
struct PlainProduct {
  using Sum = NoSum;
  T* y;

  constexpr NoSum put(std::int64_t i, T row) const { return y[i] = row, NoSum{}; }
};

/// A step of a Chebyshev polynomial, its product with A in step.w's place: put.put(i, entry i of the new z).
template <class T, class Put>
struct ChebyshevProduct {
  using Sum = typename Put::Sum;
  StepChebyshev<T> step;
  const T* z;
  Put put_z;

  constexpr Sum put(std::int64_t i, T row) const { return put_z.put(i, z[i] + step.step(i, row)); }
};

/// f(i) for each entry, as a pass.
template <class F>
struct ByEntries {
  using Sum = decltype(std::declval<F>()(0));
  F f;

  constexpr Sum entry(std::int64_t i) const { return f(static_cast<int>(i)); }
};
template <class F>
ByEntries(F) -> ByEntries<F>;

/// y = A x and with'y.
template <class T, class With = const T*>
struct ProductWithDot {
  using Sum = wide_t<T>;
  With with;
  T* y;
  wide_t<T>* dot;

  constexpr Sum put(std::int64_t i, T row) const {
    y[i] = row;
    return conj(wide(with[i])) * wide(row);
  }
  constexpr void finish(const Sum& sum) const { *dot = sum; }
};

template <class T>
struct TwoDots {
  wide_t<T> with{};
  wide_t<T> own{};
  constexpr TwoDots& operator+=(const TwoDots& other) { return with += other.with, own += other.own, *this; }
};

/// y = A x, with'y and y'y.
template <class T>
struct ProductWithTwoDots {
  using Sum = TwoDots<T>;
  const T* with;
  T* y;
  wide_t<T>*dot, *own;

  constexpr Sum put(std::int64_t i, T row) const {
    y[i] = row;
    return {conj(wide(with[i])) * wide(row), conj(wide(row)) * wide(row)};
  }
  constexpr void finish(const Sum& sum) const { *dot = sum.with, *own = sum.own; }
};

/// p = z + beta p, entry by entry where it is asked for: a product reads it without that anybody has written it, so no
/// barrier has to stand before.
template <class T>
struct PcgDirectionEntries {
  const T *z, *p;
  real_t<T> beta;

  /// beta = rho / rho_old, and 0 while rho_old is 0, as PcgDirection has it.
  constexpr PcgDirectionEntries(const T* z_, const T* p_, double rho, double rho_old)
      : z(z_), p(p_), beta(rho_old == 0 ? real_t<T>(0) : static_cast<real_t<T>>(rho / rho_old)) {}
  constexpr T operator[](std::int64_t i) const { return beta == 0 ? z[i] : z[i] + scaled(p[i], beta); }
};

/// r'r and r'z.
struct PcgSums {
  double rr = 0, rz = 0;
  constexpr PcgSums& operator+=(const PcgSums& other) { return rr += other.rr, rz += other.rz, *this; }
};

/// p is written down, and what PcgUpdate does; then z = D r of a diagonal D, and both dots of the new r. D null: z is
/// r, or somebody makes it afterwards. Moves 7 n values, with D 9 n.
template <class T>
struct PcgUpdateWithDirection {
  using Sum = PcgSums;
  PcgDirectionEntries<T> direction;
  const T* inverse_diagonal;
  PcgUpdate<T> update;
  T *p, *z;
  double* rho;

  constexpr bool begin() { return update.begin(); }
  constexpr Sum entry(std::int64_t i) const {
    p[i] = direction[i];
    const double rr = update.entry(i);
    if (!inverse_diagonal) return {rr, rr};
    const T r_i = update.r[i], z_i = inverse_diagonal[i] * r_i;
    z[i] = z_i;
    return {rr, real(conj(wide(r_i)) * wide(z_i))};
  }
  constexpr void finish(const Sum& sum) const {
    update.finish(sum.rr);  // rho, which becomes the old one, is still that of this direction
    *rho = sum.rz;
  }
};

/// rho before the first iteration.
struct PcgFirstRho {
  double* rho;
  constexpr void finish(double rz) const { *rho = rz; }
};

}  // namespace krill::detail
