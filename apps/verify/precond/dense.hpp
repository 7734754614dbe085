// A dense inverse of a small matrix.
#pragma once
#include <span>
#include <utility>
#include <vector>

#include "apps/verify/precond/reference.hpp"

namespace krill::apps::verify {

/// By Gauss-Jordan elimination with partial pivoting, in extended precision, and what the same in double precision may
/// be off.
template <class T>
class DenseReference {
 public:
  DenseReference() = default;
  DenseReference(const Rows<T>& A, double shift, std::span<const T> kernel)
      : DenseReference(with_values(A, [](const T& a) { return Bounded<T>(a); }), shift, kernel) {}
  /// Of A + shift D u (D u)^H with D the moduli of A's diagonal and u = kernel; no shift: of A.
  DenseReference(const Rows<Bounded<T>>& A, double shift, std::span<const T> kernel) {
    const std::size_t n = as_size(A.rows);
    std::vector<Exact<T>> a(n * n);
    std::vector<long double> off(n * n);
    A.for_places([&](std::int32_t i, std::size_t k) {
      const std::size_t place = as_size(i) * n + as_size(A.col[k]);
      a[place] = A.value[k].value, off[place] = A.value[k].error;
    });
    if (shift != 0) {
      std::vector<Exact<T>> u(n);
      for (std::size_t i = 0; i < n; ++i) {
        const long double size = modulus(a[i * n + i]);
        u[i] = exact(kernel[i]) * Exact<T>(size > 0 ? size : 1);
      }
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) a[i * n + j] += Exact<T>(shift) * u[i] * conjugated(u[j]);
    }
    // Elimination leaves each column of the inverse with a residual of some n u |A| |X| in double precision (Higham
    // 2002, section 14.4). It is of another matrix than A by `off`: to the first order.
    const long double elimination = 16 * static_cast<long double>(n) * std::numeric_limits<double>::epsilon();
    entries_ = inverted(a, n), errors_.resize(n * n);
    std::vector<long double> half(n * n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < n; ++k) {
        const long double change = elimination * modulus(a[i * n + k]) + off[i * n + k];
        for (std::size_t j = 0; j < n; ++j) half[i * n + j] += change * modulus(entries_[k * n + j]);
      }
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < n; ++k)
        for (std::size_t j = 0; j < n; ++j) errors_[i * n + j] += modulus(entries_[i * n + k]) * half[k * n + j];
  }

  /// The inverse is rounded to T, and the product adds its own.
  BoundedVector<T> solved(const BoundedVector<T>& b) const {
    const std::size_t n = b.size();
    BoundedVector<T> x(n);
    for (std::size_t i = 0; i < n; ++i) {
      BoundedSum<T> sum;
      for (std::size_t j = 0; j < n; ++j) {
        const Exact<T> entry = entries_[i * n + j];
        sum.add({entry, errors_[i * n + j] + gamma<T>(1) * modulus(entry)}, b[j]);
      }
      x[i] = sum.result();
    }
    return x;
  }

 private:
  static std::vector<Exact<T>> inverted(std::vector<Exact<T>> a, std::size_t n) {
    std::vector<Exact<T>> x(n * n);
    for (std::size_t i = 0; i < n; ++i) x[i * n + i] = Exact<T>(1);
    for (std::size_t k = 0; k < n; ++k) {
      std::size_t with = k;
      for (std::size_t i = k + 1; i < n; ++i)
        if (modulus(a[i * n + k]) > modulus(a[with * n + k])) with = i;
      for (std::size_t j = 0; j < n; ++j) {
        std::swap(a[k * n + j], a[with * n + j]), std::swap(x[k * n + j], x[with * n + j]);
      }
      const Exact<T> factor = Exact<T>(1) / a[k * n + k];
      for (std::size_t j = 0; j < n; ++j) a[k * n + j] = a[k * n + j] * factor, x[k * n + j] = x[k * n + j] * factor;
      for (std::size_t i = 0; i < n; ++i) {
        const Exact<T> other = a[i * n + k];
        if (i == k || modulus(other) == 0) continue;
        for (std::size_t j = 0; j < n; ++j) a[i * n + j] -= other * a[k * n + j], x[i * n + j] -= other * x[k * n + j];
      }
    }
    return x;
  }

  std::vector<Exact<T>> entries_;
  std::vector<long double> errors_;
};

}  // namespace krill::apps::verify
