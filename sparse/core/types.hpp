// The scalar types and the small words of the whole library.
#pragma once
#include <complex>
#include <cstdint>
#include <type_traits>

namespace krill {

/// op(A) of a product or solve: A, its transpose, or its conjugate transpose (the same as transpose for real A).
enum class Op { none, transpose, adjoint };

/// What the first index of a matrix is called. Owning types are zero-based; views say what they are.
enum class IndexBase : int { zero = 0, one = 1 };

/// The complex number that kernels compute with; its layout is that of std::complex<R>. Products follow the formula
/// (no repair of NaN as in C99 Annex G), so a multiply-add is four fused operations.
template <class R>
struct Complex {
  R re{}, im{};

  constexpr Complex() = default;
  constexpr Complex(R real, R imag = R(0)) : re(real), im(imag) {}
  template <class S>
  constexpr explicit Complex(Complex<S> z) : re(static_cast<R>(z.re)), im(static_cast<R>(z.im)) {}

  constexpr Complex& operator+=(Complex b) { return re += b.re, im += b.im, *this; }
  constexpr Complex& operator-=(Complex b) { return re -= b.re, im -= b.im, *this; }
  friend constexpr Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
  friend constexpr Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
  friend constexpr Complex operator-(Complex a) { return {-a.re, -a.im}; }
  friend constexpr Complex operator*(Complex a, Complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  /// Smith's division (1962): no overflow where the quotient is representable.
  friend constexpr Complex operator/(Complex a, Complex b) {
    const R abs_re = b.re < R(0) ? -b.re : b.re, abs_im = b.im < R(0) ? -b.im : b.im;
    if (abs_re >= abs_im) {
      const R ratio = b.im / b.re, scale = R(1) / (b.re + b.im * ratio);
      return {(a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale};
    }
    const R ratio = b.re / b.im, scale = R(1) / (b.re * ratio + b.im);
    return {(a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale};
  }
  friend constexpr bool operator==(Complex a, Complex b) { return a.re == b.re && a.im == b.im; }
};

namespace detail {
template <class T>
struct ScalarTraits {
  using Real = T;
  using Kernel = T;
  using Wide = double;
  static constexpr bool is_complex = false;
};
template <class R>
struct ScalarTraits<std::complex<R>> {
  using Real = R;
  using Kernel = Complex<R>;
  using Wide = std::complex<double>;
  static constexpr bool is_complex = true;
};
template <class R>
struct ScalarTraits<Complex<R>> {
  using Real = R;
  using Kernel = Complex<R>;
  using Wide = Complex<double>;
  static constexpr bool is_complex = true;
};
}  // namespace detail

/// float of float and of std::complex<float>, and so on.
template <class T>
using real_t = typename detail::ScalarTraits<std::remove_cv_t<T>>::Real;

/// What kernels see of an Array<T>: Complex<R> for std::complex<R>, else T itself; const is kept.
template <class T>
using kernel_t =
    std::conditional_t<std::is_const_v<T>, const typename detail::ScalarTraits<std::remove_cv_t<T>>::Kernel,
                       typename detail::ScalarTraits<std::remove_cv_t<T>>::Kernel>;

/// Where sums of T end: double or double complex, so that single precision loses nothing in a long sum.
template <class T>
using wide_t = typename detail::ScalarTraits<std::remove_cv_t<T>>::Wide;

template <class T>
inline constexpr bool is_complex = detail::ScalarTraits<std::remove_cv_t<T>>::is_complex;

// The few functions that formulas need of a scalar, real or complex, the same on host and device.
template <class T>
constexpr T conj(T a) {
  return a;
}
template <class R>
constexpr Complex<R> conj(Complex<R> a) {
  return {a.re, -a.im};
}
template <class T>
constexpr T conj_if(bool wanted, T a) {
  if constexpr (is_complex<T>)
    return wanted ? conj(a) : a;
  else
    return a;
}
template <class T>
constexpr real_t<T> real(T a) {
  if constexpr (is_complex<T>)
    return a.re;
  else
    return a;
}
/// |a|^2 in double.
template <class T>
constexpr double squared(T a) {
  if constexpr (is_complex<T>)
    return double(a.re) * double(a.re) + double(a.im) * double(a.im);
  else
    return double(a) * double(a);
}
template <class T>
constexpr wide_t<T> wide(T a) {
  return wide_t<T>(a);
}
template <class T>
constexpr T scaled(T a, real_t<T> factor) {
  if constexpr (is_complex<T>)
    return {a.re * factor, a.im * factor};
  else
    return a * factor;
}
/// False for NaN and infinities.
template <class T>
constexpr bool is_finite(T a) {
  if constexpr (is_complex<T>)
    return is_finite(a.re) && is_finite(a.im);
  else
    return a - a == T(0);
}

}  // namespace krill
