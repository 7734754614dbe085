#include "krill/apps/verify/approximate_reference.hpp"

#include "krill/sparse/core/instantiate.hpp"

namespace krill::apps::verify {
namespace {

constexpr std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

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
    start[at(i)] = quotient(b[at(i)], pivot);
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
      Sum<T> sum;
      sum.add(start[at(i)]);
      for (std::size_t k = beside.begin(i); k < beside.end(i); ++k) sum.subtract(beside.value[k], x[at(beside.col[k])]);
      next[at(i)] = sum.result();
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
      Sum<T> sum;
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
    BoundedVector<T> residual(b.size());
    for (std::int32_t i = 0; i < triangle.rows; ++i) {
      Sum<T> sum;
      sum.add(b[at(i)]);
      for (std::size_t k = triangle.begin(i); k < triangle.end(i); ++k)
        sum.subtract(triangle.value[k], x[at(triangle.col[k])]);
      residual[at(i)] = sum.result();
    }
    const BoundedVector<T> correction = product<T>(inverse, residual);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = Sum<T>().add(x[i]).add(correction[i]).result();
  }
  return x;
}

}  // namespace

template <class T>
BoundedVector<T> solve_approximately(const Rows<T>& stored, const Triangle& triangle, const ApproximateOptions& o,
                                     const T& alpha, const BoundedVector<T>& b) {
  const Rows<T> turned = transposed(stored, triangle.op);
  const BoundedVector<T> right = scaled(alpha, b);
  if (o.method == ApproximateMethod::jacobi) return sweep(turned, o.steps, right);
  const Rows<Bounded<T>> inverse = transposed(inverse_on_pattern(stored, triangle.fill), triangle.op);
  return multiply_and_correct(inverse, turned, o.steps, right);
}

#define INSTANTIATE(T)                                                                                                \
  template BoundedVector<T> solve_approximately(const Rows<T>&, const Triangle&, const ApproximateOptions&, const T&, \
                                                const BoundedVector<T>&);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill::apps::verify
