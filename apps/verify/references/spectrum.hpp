// How large the eigenvalues of D^-1 A are, D the diagonal of A.
#pragma once
#include "apps/verify/references/products.hpp"

namespace krill::apps::verify {

/// The greatest sum of moduli in a row of D^-1 A, over the rows that have a diagonal entry; which no eigenvalue
/// exceeds (Gershgorin 1931). 0 where there is none. Kernels compute it in double precision.
template <class T>
Bounded<double> row_bound(const Rows<T>& A) {
  Bounded<double> most(0.0);
  for (std::int32_t i = 0; i < A.rows; ++i) {
    const long double diagonal = real_part(exact(A.at(i, i)));
    if (diagonal == 0) continue;
    BoundedSum<double> sum;
    for (std::size_t k = A.begin(i); k < A.end(i); ++k) {
      const long double size = modulus(exact(A.value[k]));
      sum.add({size, gamma<double>(4) * size});  // two squares, their sum, its root
    }
    const Bounded<double> bound = quotient(sum.result(), {std::fabs(diagonal), 0});
    if (bound.value > most.value) most.value = bound.value;
    if (bound.error > most.error) most.error = bound.error;
  }
  return most;
}

/// Between the least and the greatest eigenvalue.
struct RitzValues {
  long double least = 0, greatest = 0;
};

/// Of D^-1 A for Hermitian A: the outermost Ritz values of Lanczos' process with D^-1/2 A D^-1/2 in extended precision,
/// from fixed numbers of both signs (Golub and Van Loan, section 10.1). Zeros where an entry of D is not positive.
/// Takes `steps` products with A.
template <class T>
RitzValues ritz_values(const Rows<T>& A, int steps) {
  const std::size_t n = as_size(A.rows);
  std::vector<long double> scale;
  for (std::int32_t i = 0; i < A.rows; ++i) {
    const long double diagonal = real_part(exact(A.at(i, i)));
    if (!(diagonal > 0)) return {};
    scale.push_back(1 / std::sqrt(diagonal));
  }
  std::vector<Exact<T>> before(n), v(n), w(n);
  std::uint64_t state = 1;
  const auto norm = [](const std::vector<Exact<T>>& x) {
    long double sum = 0;
    for (const Exact<T>& entry : x) sum += modulus(entry) * modulus(entry);
    return std::sqrt(sum);
  };
  for (Exact<T>& entry : v) {  // Knuth's linear congruential generator
    state = state * 6364136223846793005u + 1442695040888963407u;
    entry = Exact<T>(static_cast<long double>(state >> 40) / (1 << 23) - 1);
  }
  std::vector<long double> diagonal, beside;
  long double size = norm(v);
  for (int step = 0; step < steps && size > 0; ++step) {
    for (std::size_t i = 0; i < n; ++i) v[i] = v[i] * Exact<T>(1 / size);
    long double own = 0;
    for (std::int32_t i = 0; i < A.rows; ++i) {
      Exact<T> sum{};
      for (std::size_t k = A.begin(i); k < A.end(i); ++k)
        sum += exact(A.value[k]) * v[as_size(A.col[k])] * Exact<T>(scale[as_size(A.col[k])]);
      w[as_size(i)] = sum * Exact<T>(scale[as_size(i)]);
      own += real_part(conjugated(v[as_size(i)]) * w[as_size(i)]);
    }
    const long double last = beside.empty() ? 0 : beside.back();
    for (std::size_t i = 0; i < n; ++i) w[i] -= v[i] * Exact<T>(own) + before[i] * Exact<T>(last);
    diagonal.push_back(own), beside.push_back(norm(w));
    size = beside.back() > 1e-15L * std::fabs(own) ? beside.back() : 0;
    std::swap(before, v), std::swap(v, w);
  }
  // Bisection for the number above which sign T has no eigenvalue: all pivots of x - sign T are positive.
  const auto greatest = [&](long double sign) {
    const auto is_above = [&](long double x) {
      long double pivot = 1;
      for (std::size_t k = 0; k < diagonal.size(); ++k) {
        pivot = x - sign * diagonal[k] - (k ? beside[k - 1] * beside[k - 1] / pivot : 0);
        if (!(pivot > 0)) return false;
      }
      return true;
    };
    long double high = 0;
    for (std::size_t k = 0; k < diagonal.size(); ++k)
      high = std::max(high, std::fabs(diagonal[k]) + beside[k] + (k ? beside[k - 1] : 0));
    long double low = -high;
    for (int k = 0; k < 70; ++k) (is_above((low + high) / 2) ? high : low) = (low + high) / 2;
    return low;
  };
  return {-greatest(-1), greatest(1)};
}

}  // namespace krill::apps::verify
