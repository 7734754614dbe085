// Numbers of several systems, one in each lane of a vector register, so that the steps of elimination.hpp go through as
// many systems at a time. Where a step decides by a number, every lane decides for itself.
#pragma once
#include <cstring>
#include <utility>

#include "sparse/banded/elimination.hpp"

namespace krill::detail {

/// A register of AVX2. Of narrower ones compilers take several, but compare lane by lane; so does GCC 12 with wider
/// ones.
inline constexpr std::size_t lane_vector_bytes = 32;

template <class R>
struct LaneVector {
  static constexpr int count = lane_vector_bytes / sizeof(R);
  using Type [[gnu::vector_size(lane_vector_bytes)]] = R;
  using Mask = decltype(Type{} < Type{});
};

/// The operators of a scalar, lane by lane; comparisons give masks, which `where` chooses by.
template <class T>
struct Lanes {
  static constexpr int count = LaneVector<T>::count;
  using Mask = typename LaneVector<T>::Mask;
  typename LaneVector<T>::Type value{};

  Lanes() = default;
  Lanes(typename LaneVector<T>::Type lanes) : value(lanes) {}
  Lanes(T all) : value(typename LaneVector<T>::Type{} + all) {}

  void set(int lane, T one) { value[lane] = one; }
  T get(int lane) const { return value[lane]; }
  static Lanes load(const T* from) {
    Lanes lanes;
    std::memcpy(&lanes.value, from, sizeof lanes.value);
    return lanes;
  }
  void store(T* to) const { std::memcpy(to, &value, sizeof value); }
  /// get(lane) for every lane.
  template <class Get>
  static Lanes gathered(Get&& get) {
    return [&]<int... lane>(std::integer_sequence<int, lane...>) {
      return Lanes(typename LaneVector<T>::Type{get(lane)...});
    }
    (std::make_integer_sequence<int, count>());
  }

  friend Lanes operator+(const Lanes& a, const Lanes& b) { return a.value + b.value; }
  friend Lanes operator-(const Lanes& a, const Lanes& b) { return a.value - b.value; }
  friend Lanes operator*(const Lanes& a, const Lanes& b) { return a.value * b.value; }
  friend Lanes operator/(const Lanes& a, const Lanes& b) { return a.value / b.value; }
  Lanes& operator-=(const Lanes& b) { return *this = *this - b; }
  friend Mask is_zero(const Lanes& a) { return a.value == T(0); }
  friend Lanes where(const Mask& chosen, const Lanes& yes, const Lanes& no) { return chosen ? yes.value : no.value; }
  friend Lanes scaled(const Lanes& a, const Lanes& by) { return a * by; }
  friend Lanes divided(const Lanes& a, const Lanes& by) { return a / by; }
  friend Lanes conj(const Lanes& a) { return a; }
  friend Lanes conj_if(bool, const Lanes& a) { return a; }
  friend Lanes square(const Lanes& a) { return a * a; }
  friend Lanes modulus(const Lanes& a) { return where(a.value < T(0), -a.value, a); }
  friend Lanes direction(const Lanes& a, const Lanes&) { return where(a.value < T(0), Lanes(T(-1)), Lanes(T(1))); }
  friend Mask precedes(const Lanes& a, const Lanes& b) { return pivot_size(a).value < pivot_size(b).value; }
  friend Mask in_range_of_squares(const Lanes& sum) {
    return (sum.value > std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon()) &
           (sum.value < std::numeric_limits<T>::max());
  }
  friend Lanes inverse_root(const Lanes& a) { return Lanes(T(1)) / root(a); }
  friend Lanes root(const Lanes& a) {
    T roots[count];
    a.store(roots);
    for (T& root : roots) root = std::sqrt(root);
    return load(roots);
  }
  /// As pivot_size of one number.
  friend Lanes pivot_size(const Lanes& a) {
    const Lanes size = where(a.value < T(0), -a.value, a);
    return where(size.value == size.value, size, std::numeric_limits<T>::infinity());
  }
};

template <class R>
struct Lanes<Complex<R>> {
  static constexpr int count = LaneVector<R>::count;
  using Mask = typename LaneVector<R>::Mask;
  Lanes<R> re, im;

  Lanes() = default;
  Lanes(const Lanes<R>& real, const Lanes<R>& imag) : re(real), im(imag) {}
  Lanes(R all) : re(all) {}

  void set(int lane, Complex<R> one) { re.set(lane, one.re), im.set(lane, one.im); }
  Complex<R> get(int lane) const { return {re.get(lane), im.get(lane)}; }
  static Lanes load(const Complex<R>* from) {
    return gathered([&](int lane) { return from[lane]; });
  }
  void store(Complex<R>* to) const {
    for (int lane = 0; lane < count; ++lane) to[lane] = get(lane);
  }
  template <class Get>
  static Lanes gathered(Get&& get) {
    return {Lanes<R>::gathered([&](int lane) { return get(lane).re; }),
            Lanes<R>::gathered([&](int lane) { return get(lane).im; })};
  }

  friend Lanes operator+(const Lanes& a, const Lanes& b) { return {a.re + b.re, a.im + b.im}; }
  friend Lanes operator-(const Lanes& a, const Lanes& b) { return {a.re - b.re, a.im - b.im}; }
  friend Lanes operator*(const Lanes& a, const Lanes& b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  /// As that of Complex.
  friend Lanes operator/(const Lanes& a, const Lanes& b) {
    const Mask real_leads = pivot_size(b.re).value >= pivot_size(b.im).value;
    const Lanes<R> large = where(real_leads, b.re, b.im), small = where(real_leads, b.im, b.re);
    const Lanes<R> ratio = small / large, scale = R(1) / (large + small * ratio);
    const Lanes<R> u = where(real_leads, a.re, a.im), v = where(real_leads, a.im, a.re);
    const Lanes<R> imag = v - u * ratio;
    return {(u + v * ratio) * scale, where(real_leads, imag, -imag.value) * scale};
  }
  Lanes& operator-=(const Lanes& b) { return *this = *this - b; }
  friend Mask is_zero(const Lanes& a) { return is_zero(a.re) & is_zero(a.im); }
  friend Lanes where(const Mask& chosen, const Lanes& yes, const Lanes& no) {
    return {where(chosen, yes.re, no.re), where(chosen, yes.im, no.im)};
  }
  friend Lanes scaled(const Lanes& a, const Lanes<R>& by) { return {a.re * by, a.im * by}; }
  friend Lanes divided(const Lanes& a, const Lanes<R>& by) { return {a.re / by, a.im / by}; }
  friend Lanes conj(const Lanes& a) { return {a.re, -a.im.value}; }
  friend Lanes conj_if(bool wanted, const Lanes& a) { return wanted ? conj(a) : a; }
  friend Lanes<R> modulus(const Lanes& a) { return root(square(a)); }
  friend Lanes direction(const Lanes& a, const Lanes<R>& modulus) {
    return where(is_zero(modulus), Lanes(Lanes<R>(R(1)), Lanes<R>()), divided(a, modulus));
  }
  friend Mask precedes(const Lanes& a, const Lanes& b) { return pivot_size(a).value < pivot_size(b).value; }
  friend Lanes<R> square(const Lanes& a) { return a.re * a.re + a.im * a.im; }
  friend Lanes<R> pivot_size(const Lanes& a) {
    const Lanes<R> re = where(a.re.value < R(0), -a.re.value, a.re), im = where(a.im.value < R(0), -a.im.value, a.im);
    const Lanes<R> size = re + im;
    return where(size.value == size.value, size, std::numeric_limits<R>::infinity());
  }
};

template <class T>
typename Lanes<T>::Mask no_pivot(const Lanes<T>& pivot) {
  using R = real_t<T>;
  return is_zero(pivot) | (pivot_size(pivot).value < R(1) / std::numeric_limits<R>::max());
}

}  // namespace krill::detail
