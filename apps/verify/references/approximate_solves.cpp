#include "apps/verify/references/approximate_solves.hpp"

#include "apps/verify/references/products.hpp"
#include "apps/verify/references/substitution.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill::apps::verify {
namespace {

template <class T>
BoundedVector<T> scaled(const T& alpha, const BoundedVector<T>& b) {
  BoundedVector<T> result(b.size());
  for (std::size_t i = 0; i < b.size(); ++i) result[i] = times(Bounded<T>(alpha), b[i]);
  return result;
}

/// x = D^-1 b - (D^-1 N) x, from x = D^-1 b.
template <class T>
BoundedVector<T> sweep(const Rows<T>& triangle, int steps, const BoundedVector<T>& b) {
  Rows<Bounded<T>> beside{triangle.rows, triangle.cols, {0}, {}, {}};
  BoundedVector<T> start(b.size());
  for (std::int32_t i = 0; i < triangle.rows; ++i) {
    const Bounded<T> pivot(triangle.at(i, i));
    start[as_size(i)] = quotient(b[as_size(i)], pivot);
    for (std::size_t k = triangle.begin(i); k < triangle.end(i); ++k) {
      if (triangle.col[k] == i) continue;
      beside.col.push_back(triangle.col[k]);
      beside.value.push_back(quotient(Bounded<T>(triangle.value[k]), pivot));
    }
    beside.offsets.push_back(beside.col.size());
  }
  BoundedVector<T> x = start;
  for (int step = 1; step < steps; ++step) {
    BoundedVector<T> next(b.size());
    for (std::int32_t i = 0; i < triangle.rows; ++i) {
      BoundedSum<T> sum;
      sum.add(start[as_size(i)]);
      for (std::size_t k = beside.begin(i); k < beside.end(i); ++k)
        sum.subtract(beside.value[k], x[as_size(beside.col[k])]);
      next[as_size(i)] = sum.result();
    }
    x = std::move(next);
  }
  return x;
}

/// M with the pattern of T and (M T)_ij = (I)_ij there. In row i, from the diagonal on:
/// m_ij = (i == j ? 1 : -sum m_ik t_kj) / t_jj over the k between j and i.
template <class T>
Rows<Bounded<T>> inverse_on_pattern(const Rows<T>& t, Fill fill) {
  Rows<Bounded<T>> m{t.rows, t.cols, t.offsets, t.col, BoundedVector<T>(t.value.size())};
  for (std::int32_t i = 0; i < t.rows; ++i) {
    const auto length = static_cast<std::int64_t>(t.end(i) - t.begin(i));
    const auto place = [&](std::int64_t n) {  // n-th entry, counted from the diagonal on
      return fill == Fill::lower ? t.end(i) - 1 - static_cast<std::size_t>(n)
                                 : t.begin(i) + static_cast<std::size_t>(n);
    };
    for (std::int64_t n = 0; n < length; ++n) {
      const std::int32_t j = t.col[place(n)];
      BoundedSum<T> sum;
      if (j == i) sum.add(Bounded<T>(T(1)));
      for (std::int64_t before = 0; before < n; ++before) {
        const std::size_t k = place(before);
        if (const auto found = t.find(t.col[k], j)) sum.subtract(m.value[k], Bounded<T>(t.value[*found]));
      }
      m.value[place(n)] = quotient(sum.result(), Bounded<T>(t.at(j, j)));
    }
  }
  return m;
}

template <class T>
BoundedVector<T> multiply_and_correct(const Rows<Bounded<T>>& inverse, const Rows<T>& triangle, int corrections,
                                      const BoundedVector<T>& b) {
  BoundedVector<T> x = product<T>(inverse, b);
  for (int round = 0; round < corrections; ++round) {
    const BoundedVector<T> correction = product<T>(inverse, residual(triangle, b, x));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = BoundedSum<T>().add(x[i]).add(correction[i]).result();
  }
  return x;
}

}  // namespace

template <class T>
BoundedVector<T> solve_by_sweeps(const Rows<T>& A, const Triangle& triangle, int steps, const T& alpha,
                                 const BoundedVector<T>& b) {
  return sweep(triangle_of(A, triangle), steps, scaled(alpha, b));
}

template <class T>
BoundedVector<T> solve_by_inverse(const Rows<T>& A, const Triangle& triangle, int corrections, const T& alpha,
                                  const BoundedVector<T>& b) {
  const Rows<T> stored = triangle_of(A, {triangle.fill, triangle.diagonal});
  const Rows<Bounded<T>> inverse = transposed(inverse_on_pattern(stored, triangle.fill), triangle.op);
  return multiply_and_correct(inverse, transposed(stored, triangle.op), corrections, scaled(alpha, b));
}

template <class T>
struct SolveInstances {
  using Solve = BoundedVector<T>(const Rows<T>&, const Triangle&, int, const T&, const BoundedVector<T>&);
  static constexpr std::tuple list{instance<Solve>(solve_by_sweeps), instance<Solve>(solve_by_inverse)};
};
KRILL_INSTANTIATE(SolveInstances);

}  // namespace krill::apps::verify
