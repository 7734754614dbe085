#include "krill/apps/verify/references.hpp"

#include <algorithm>

#include "krill/sparse/core/instantiate.hpp"

namespace krill::apps::verify {
namespace {

template <class T>
T conjugate_if(bool wanted, const T& a) {
  if constexpr (is_complex<T>)
    return wanted ? std::conj(a) : a;
  else
    return a;
}
template <class T>
Bounded<T> conjugate_if(bool wanted, const Bounded<T>& a) {
  return {wanted ? conj(a.value) : a.value, a.error};
}

constexpr std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

/// The entries of A with the diagonal multiplied by 1 + shift as kernels do it; of IC(0) its real part.
template <class T>
Bounded<T> shifted(const Rows<T>& A, std::int32_t i, std::size_t k, Factorization kind, double shift) {
  Bounded<T> a(A.value[k]);
  if (A.col[k] != i) return a;
  if constexpr (is_complex<T>)
    if (kind == Factorization::ic0) a.value.im = 0;
  if (shift == 0) return a;
  return {a.value * Exact<T>(1 + static_cast<long double>(shift)), 2 * gamma<T>(1) * a.greatest()};
}

/// The terms l_ik u_kj, k < min(i, j), of entry (i, j), and for IC(0) l_ik conj(l_jk); use(left, right).
template <class T, class V, class F>
void for_terms(const Rows<T>& A, const std::vector<V>& factor, Factorization kind, std::int32_t i, std::int32_t j,
               F&& use) {
  for (std::size_t left = A.begin(i); left < A.end(i) && A.col[left] < std::min(i, j); ++left) {
    const std::int32_t k = A.col[left];
    const auto right = kind == Factorization::ic0 ? A.find(j, k) : A.find(k, j);
    if (!right) continue;
    use(factor[left], conjugate_if(kind == Factorization::ic0, Bounded<T>(factor[*right])));
  }
}

/// What the equations of a factorisation say of entry (i, j), from the factor as it is.
template <class T>
Bounded<T> entry_of_factor(const Rows<T>& A, const BoundedVector<T>& factor, Factorization kind, double shift,
                           std::int32_t i, std::size_t place) {
  const std::int32_t j = A.col[place];
  Sum<T> sum;
  sum.add(shifted(A, i, place, kind, shift));
  for_terms(A, factor, kind, i, j, [&](const auto& left, const auto& right) { sum.subtract(left, right); });
  const auto pivot = A.find(j, j);
  const Bounded<T> left_over = sum.result();
  if (kind == Factorization::ic0 && j == i) {
    Bounded<T> radicand = left_over;
    if constexpr (is_complex<T>) radicand.value.im = 0;
    return root(radicand);
  }
  if (j >= i) return left_over;
  return pivot ? quotient(left_over, factor[*pivot]) : quotient(left_over, Bounded<T>(T(0)));
}

template <class T>
void sort_and_filter(std::vector<Entry<T>>& entries, bool without_zeros) {
  if (without_zeros) std::erase_if(entries, [](const Entry<T>& e) { return e.value == T(0); });
  const auto earlier = [](const Entry<T>& a, const Entry<T>& b) {
    return a.row != b.row ? a.row < b.row : a.col < b.col;
  };
  if (!std::ranges::is_sorted(entries, earlier)) std::ranges::sort(entries, earlier);
}

template <class T>
T as_scalar(const kernel_t<T>& value) {
  return std::bit_cast<T>(value);
}

/// The entries of whatever is stored by rows; turned: of its transpose.
template <class T, class View>
std::vector<Entry<T>> read_rows(const View& view, bool turned) {
  std::vector<Entry<T>> entries;
  for (std::int32_t s = 0; s < view.stored_rows(); ++s)
    view.for_entries(s, [&](std::int32_t col, const kernel_t<T>& value) {
      const std::int32_t row = view.row_of(s);
      entries.push_back({turned ? col : row, turned ? row : col, as_scalar<T>(value)});
    });
  return entries;
}

}  // namespace

template <class V>
std::optional<std::size_t> Rows<V>::find(std::int32_t i, std::int32_t j) const {
  const auto first = col.begin() + static_cast<std::ptrdiff_t>(begin(i)),
             last = col.begin() + static_cast<std::ptrdiff_t>(end(i));
  const auto found = std::lower_bound(first, last, j);
  if (found == last || *found != j) return std::nullopt;
  return static_cast<std::size_t>(found - col.begin());
}

template <class T, class Offset>
Rows<T> rows_of(const Csr<T, Offset>& A) {
  Rows<T> r{A.rows(), A.cols(), {}, {}, {}};
  r.offsets.assign(A.row_offsets().host().begin(), A.row_offsets().host().end());
  r.col.assign(A.col_indices().host().begin(), A.col_indices().host().end());
  r.value.assign(A.values().host().begin(), A.values().host().end());
  return r;
}

template <class V>
Rows<V> transposed(const Rows<V>& A, Op op) {
  if (op == Op::none) return A;
  Rows<V> t{A.cols, A.rows, std::vector<std::size_t>(at(A.cols) + 1), std::vector<std::int32_t>(A.col.size()),
            std::vector<V>(A.col.size())};
  for (const std::int32_t j : A.col) ++t.offsets[at(j) + 1];
  for (std::size_t j = 0; j < at(A.cols); ++j) t.offsets[j + 1] += t.offsets[j];
  std::vector<std::size_t> next(t.offsets.begin(), t.offsets.end() - 1);
  for (std::int32_t i = 0; i < A.rows; ++i)
    for (std::size_t k = A.begin(i); k < A.end(i); ++k) {
      const std::size_t place = next[at(A.col[k])]++;
      t.col[place] = i;
      t.value[place] = conjugate_if(op == Op::adjoint, A.value[k]);
    }
  return t;
}

template <class V>
Rows<V> triangle_of(const Rows<V>& A, const Triangle& triangle) {
  Rows<V> kept{A.rows, A.cols, {0}, {}, {}};
  const auto keep = [&](std::int32_t j, const V& value) { kept.col.push_back(j), kept.value.push_back(value); };
  for (std::int32_t i = 0; i < A.rows; ++i) {
    const V diagonal = triangle.diagonal == Diagonal::unit ? V(1) : A.at(i, i);
    if (triangle.fill == Fill::upper) keep(i, diagonal);
    for (std::size_t k = A.begin(i); k < A.end(i); ++k)
      if (triangle.fill == Fill::lower ? A.col[k] < i : A.col[k] > i) keep(A.col[k], A.value[k]);
    if (triangle.fill == Fill::lower) keep(i, diagonal);
    kept.offsets.push_back(kept.col.size());
  }
  return transposed(kept, triangle.op);
}

template <class T>
std::vector<Entry<T>> entries_of(const AnyMatrix<T>& A, bool without_zeros) {
  auto entries = std::visit(
      [&]<class Matrix>(const Matrix& a) {
        if constexpr (OneOf<Matrix, Csc<T>, Gebsc<T>>)
          return read_rows<T>(a.transposed().view(Host{}), true);
        else
          return read_rows<T>(a.view(Host{}), false);
      },
      A);
  sort_and_filter(entries, without_zeros);
  return entries;
}
template <class T>
std::vector<Entry<T>> entries_of(const Rows<T>& A, bool without_zeros) {
  std::vector<Entry<T>> entries;
  for (std::int32_t i = 0; i < A.rows; ++i)
    for (std::size_t k = A.begin(i); k < A.end(i); ++k) entries.push_back({i, A.col[k], A.value[k]});
  sort_and_filter(entries, without_zeros);
  return entries;
}

template <class T, class V>
BoundedVector<T> product(const Rows<V>& A, const BoundedVector<T>& x) {
  BoundedVector<T> y(at(A.rows));
  for (std::int32_t i = 0; i < A.rows; ++i) {
    Sum<T> sum;
    for (std::size_t k = A.begin(i); k < A.end(i); ++k) sum.add(A.value[k], x[at(A.col[k])]);
    y[at(i)] = sum.result();
  }
  return y;
}

template <class T>
BoundedVector<T> product(Op op, const T& alpha, const Rows<T>& A, const BoundedVector<T>& x, const T& beta,
                         const BoundedVector<T>& y) {
  BoundedVector<T> result = product<T, T>(transposed(A, op), x);
  for (std::size_t i = 0; i < result.size(); ++i) {
    Sum<T> sum;
    sum.add(Bounded<T>(alpha), result[i]);
    if (beta != T(0)) sum.add(Bounded<T>(beta), y[i]);
    result[i] = sum.result();
  }
  return result;
}

template <class T, class V>
BoundedVector<T> substitute(const Rows<V>& triangle, Fill solved, const T& alpha, const BoundedVector<T>& b) {
  BoundedVector<T> x(b.size());
  const Steps steps{triangle.rows, solved};
  for (std::int32_t step = 0; step < triangle.rows; ++step) {
    const std::int32_t i = steps.row(step);
    Sum<T> sum;
    sum.add(Bounded<T>(alpha), b[at(i)]);
    Bounded<T> pivot;
    for (std::size_t k = triangle.begin(i); k < triangle.end(i); ++k) {
      if (triangle.col[k] == i)
        pivot = Bounded<T>(triangle.value[k]);
      else
        sum.subtract(triangle.value[k], x[at(triangle.col[k])]);
    }
    x[at(i)] = pivot.value == Exact<T>(1) && pivot.error == 0 ? sum.result() : quotient(sum.result(), pivot);
  }
  return x;
}

template <class T>
Comparison compare_substitution(const Rows<T>& triangle, const T& alpha, std::span<const T> b, std::span<const T> x) {
  std::vector<Exact<T>> image(b.size());
  BoundedVector<T> wanted(b.size());
  if (x.size() != b.size()) return failed("the solution has another length");
  for (std::int32_t i = 0; i < triangle.rows; ++i) {
    Exact<T> sum{};
    const Exact<T> right = exact(alpha) * exact(b[at(i)]);
    long double size = modulus(right);
    for (std::size_t k = triangle.begin(i); k < triangle.end(i); ++k) {
      const Exact<T> term = exact(triangle.value[k]) * exact(x[at(triangle.col[k])]);
      sum += term;
      size += modulus(term);
    }
    const auto length = static_cast<std::int64_t>(triangle.end(i) - triangle.begin(i));
    image[at(i)] = sum;
    wanted[at(i)] = {right, gamma<T>(length + 1 + quotient_roundings<T>) * size};
  }
  return compare_exactly_computed<T>(image, wanted);
}

template <class T>
BoundedVector<T> factorize(const Rows<T>& A, Factorization kind, double shift) {
  BoundedVector<T> factor(A.value.begin(), A.value.end());
  for (std::int32_t i = 0; i < A.rows; ++i)
    for (std::size_t k = A.begin(i); k < A.end(i); ++k)
      if (kind == Factorization::ilu0 || A.col[k] <= i) factor[k] = entry_of_factor(A, factor, kind, shift, i, k);
  return factor;
}

template <class T>
BoundedVector<T> factorize_by_sweeps(const Rows<T>& A, Factorization kind, int sweeps, double shift) {
  BoundedVector<T> factor(A.value.begin(), A.value.end()), next;
  const auto is_unknown = [&](std::int32_t i, std::size_t k) { return kind == Factorization::ilu0 || A.col[k] <= i; };
  for (std::int32_t i = 0; i < A.rows; ++i)
    for (std::size_t k = A.begin(i); k < A.end(i); ++k) factor[k] = shifted(A, i, k, kind, shift);
  const BoundedVector<T> start = factor;
  for (std::int32_t i = 0; i < A.rows; ++i)
    for (std::size_t k = A.begin(i); k < A.end(i); ++k) {
      const auto pivot = A.find(A.col[k], A.col[k]);
      if (!pivot || !is_unknown(i, k)) continue;
      if (kind == Factorization::ic0)
        factor[k] = A.col[k] == i ? root(start[k]) : quotient(start[k], root(start[*pivot]));
      else if (A.col[k] < i)
        factor[k] = quotient(start[k], start[*pivot]);
    }
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    next = factor;
    for (std::int32_t i = 0; i < A.rows; ++i)
      for (std::size_t k = A.begin(i); k < A.end(i); ++k)
        if (is_unknown(i, k)) next[k] = entry_of_factor(A, factor, kind, shift, i, k);
    std::swap(factor, next);
  }
  return factor;
}

template <class T>
Comparison compare_factors(const Rows<T>& A, std::span<const T> factor, Factorization kind, double shift) {
  if (factor.size() != A.value.size()) return failed("the factor has another pattern than the matrix");
  const std::vector<T> f(factor.begin(), factor.end());
  std::vector<Exact<T>> products;
  BoundedVector<T> wanted;
  for (std::int32_t i = 0; i < A.rows; ++i)
    for (std::size_t place = A.begin(i); place < A.end(i); ++place) {
      const std::int32_t j = A.col[place];
      if (kind == Factorization::ic0 && j > i) {
        products.push_back(exact(f[place]));
        wanted.push_back(Bounded<T>(A.value[place]));
        continue;
      }
      Exact<T> sum{};
      long double size = 0;
      std::int64_t terms = 1;
      const auto add = [&](const Exact<T>& left, const Exact<T>& right) {
        sum += left * right, size += modulus(left) * modulus(right), ++terms;
      };
      for_terms(A, f, kind, i, j, [&](const T& left, const Bounded<T>& right) { add(exact(left), right.value); });
      const auto pivot = A.find(j, j);
      if (kind == Factorization::ilu0)
        add(exact(f[place]), j < i && pivot ? exact(f[*pivot]) : Exact<T>(1));
      else
        add(exact(f[place]), pivot ? conj(exact(f[*pivot])) : Exact<T>(0));
      const Bounded<T> a = shifted(A, i, place, kind, shift);
      products.push_back(sum);
      wanted.push_back({a.value, a.error + gamma<T>(terms + 1 + quotient_roundings<T>) * size});
    }
  return compare_exactly_computed<T>(products, wanted);
}

#define INSTANTIATE(T)                                                                                        \
  template struct Rows<T>;                                                                                    \
  template Rows<T> rows_of(const Csr<T, std::int32_t>&);                                                      \
  template Rows<T> rows_of(const Csr<T, std::int64_t>&);                                                      \
  template struct Rows<Bounded<T>>;                                                                           \
  template Rows<T> transposed(const Rows<T>&, Op);                                                            \
  template Rows<Bounded<T>> transposed(const Rows<Bounded<T>>&, Op);                                          \
  template Rows<T> triangle_of(const Rows<T>&, const Triangle&);                                              \
  template Rows<Bounded<T>> triangle_of(const Rows<Bounded<T>>&, const Triangle&);                            \
  template std::vector<Entry<T>> entries_of(const AnyMatrix<T>&, bool);                                       \
  template std::vector<Entry<T>> entries_of(const Rows<T>&, bool);                                            \
  template BoundedVector<T> product(Op, const T&, const Rows<T>&, const BoundedVector<T>&, const T&,          \
                                    const BoundedVector<T>&);                                                 \
  template BoundedVector<T> product(const Rows<T>&, const BoundedVector<T>&);                                 \
  template BoundedVector<T> product(const Rows<Bounded<T>>&, const BoundedVector<T>&);                        \
  template BoundedVector<T> substitute(const Rows<T>&, Fill, const T&, const BoundedVector<T>&);              \
  template BoundedVector<T> substitute(const Rows<Bounded<T>>&, Fill, const T&, const BoundedVector<T>&);     \
  template Comparison compare_substitution(const Rows<T>&, const T&, std::span<const T>, std::span<const T>); \
  template BoundedVector<T> factorize(const Rows<T>&, Factorization, double);                                 \
  template BoundedVector<T> factorize_by_sweeps(const Rows<T>&, Factorization, int, double);                  \
  template Comparison compare_factors(const Rows<T>&, std::span<const T>, Factorization, double);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill::apps::verify
