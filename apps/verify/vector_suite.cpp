// Level 1: dense vectors, and sparse vectors with dense ones.
#include <algorithm>

#include "apps/verify/trial.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/vector/sparse_dense.hpp"
#include "sparse/vector/vector.hpp"

namespace krill::apps::verify {
namespace {

constexpr std::string_view update_bound =
    "gamma_2 (|alpha x_i| + |beta y_i|): two products and a sum (Higham 2002, section 3.1)";
constexpr std::string_view product_bound = "gamma_1 |x_i y_i|: one product";
constexpr std::string_view dot_bound =
    "gamma_n sum |x_i| |y_i| in double, in whatever order the n terms are added (Higham 2002, section 3.1)";
constexpr std::string_view norm_bound =
    "gamma_n sum |x_i|^2 in double under the root, and the root's rounding (Higham 2002, section 3.1)";

/// The same number where sums of T end.
template <class T>
Bounded<wide_t<T>> widened(const Bounded<T>& a) {
  return {a.value, a.error};
}

template <class T>
Comparison compare_sum(const Array<wide_t<T>>& got, const Bounded<wide_t<T>>& expected) {
  return compare<wide_t<T>>(got.host(), std::vector{expected});
}

/// x^H y, or x^T y.
template <class T>
Bounded<wide_t<T>> inner_product(const std::vector<T>& x, const std::vector<T>& y, Op op) {
  BoundedSum<wide_t<T>> sum;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Exact<T> left = op == Op::adjoint ? conj(exact(x[i])) : exact(x[i]);
    sum.add(Bounded<wide_t<T>>(left, 0), widened(Bounded<T>(y[i])));
  }
  return sum.result();
}

template <class T>
BoundedVector<T> combination(const T& alpha, const std::vector<T>& x, const T& beta, const std::vector<T>& y) {
  BoundedVector<T> z(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    BoundedSum<T> sum;
    sum.add(Bounded<T>(alpha), Bounded<T>(x[i]));
    if (beta != T(0)) sum.add(Bounded<T>(beta), Bounded<T>(y[i]));
    z[i] = sum.result();
  }
  return z;
}

template <class T>
void check_updates(Ledger& ledger, Context& ctx, const Subject<T>& s, const std::vector<NamedVector<T>>& others) {
  const T alpha = some_alpha<T>(), beta = some_beta<T>();
  ledger.check("axpby", update_bound, [&] {
    return for_vectors(s.x, others, [&](const auto& x, const auto& y) {
      const Array<T> ax = array(x, "x");
      Array<T> ay = array(y, "y");
      axpby(ctx, alpha, ax, beta, ay);
      return compare<T>(ay.host(), combination(alpha, x, beta, y));
    });
  });
  ledger.check("axpby, factors on the backend", update_bound, [&] {
    const Array<T> first{alpha}, second{beta};
    return for_vectors(s.x, others, [&](const auto& x, const auto& y) {
      const Array<T> ax = array(x, "x");
      Array<T> ay = array(y, "y");
      axpby(ctx, first, ax, second, ay);
      return compare<T>(ay.host(), combination(alpha, x, beta, y));
    });
  });
  ledger.check("axpby, beta 0 over NaN", update_bound, [&] {
    return for_vectors(s.x, others, [&](const auto& x, const auto& y) {
      const Array<T> ax = array(x, "x");
      Array<T> ay(std::vector<T>(y.size(), T(std::numeric_limits<real_t<T>>::quiet_NaN())), "y");
      axpby(ctx, alpha, ax, T(0), ay);
      return compare<T>(ay.host(), combination(alpha, x, T(0), y));
    });
  });
  ledger.check("multiply", product_bound, [&] {
    return for_vectors(s.x, others, [&](const auto& x, const auto& y) {
      const Array<T> ax = array(x, "x"), ay = array(y, "y");
      Array<T> az(ax.size(), "z");
      multiply(ctx, ax, ay, az);
      BoundedVector<T> z(x.size());
      for (std::size_t i = 0; i < z.size(); ++i) z[i] = times(Bounded<T>(x[i]), Bounded<T>(y[i]));
      return compare<T>(az.host(), z);
    });
  });
}

template <class T>
void check_moves(Ledger& ledger, Context& ctx, const Subject<T>& s, const std::vector<NamedVector<T>>& others) {
  ledger.check("fill", exact_bound, [&] {
    const std::vector<T> wanted(s.x[0].values.size(), some_alpha<T>());
    Array<T> x(s.A.cols(), "x");
    fill(ctx, some_alpha<T>(), x);
    return compare_bits<T>(x.host(), wanted);
  });
  ledger.check("copy", exact_bound, [&] {
    return for_vectors(s.x, others, [&](const auto& x, const auto&) {
      Array<T> y(s.A.cols(), "y");
      copy(ctx, array(x, "x"), y);
      return compare_bits<T>(y.host(), x);
    });
  });
  ledger.check("max_abs", exact_bound, [&] {
    return for_vectors(s.x, others, [&](const auto& x, const auto&) {
      Array<double> got(1, "max_abs");
      max_abs(ctx, array(x, "x"), got);
      double most = 0;
      for (const T& entry : x) {
        const std::complex<double> parts(entry);
        most = std::max({most, std::fabs(parts.real()), std::fabs(parts.imag())});
      }
      return compare_bits<double>(got.host(), std::vector{most});
    });
  });
}

/// Every third entry of x.
template <class T>
SparseVector<T> some_entries(const std::vector<T>& x) {
  std::vector<std::int32_t> indices;
  std::vector<T> values;
  for (std::size_t i = 1; i < x.size(); i += 3) indices.push_back(static_cast<std::int32_t>(i)), values.push_back(x[i]);
  return {std::ssize(x), Array<std::int32_t>(std::move(indices)), Array<T>(std::move(values))};
}
template <class T>
std::vector<T> spread(const SparseVector<T>& x, std::vector<T> y) {
  for (std::size_t k = 0; k < x.values().host().size(); ++k)
    y[static_cast<std::size_t>(x.indices().host()[k])] = x.values().host()[k];
  return y;
}

template <class T>
void check_sparse_moves(Ledger& ledger, Context& ctx, const Subject<T>& s, const std::vector<NamedVector<T>>& others) {
  const auto zeros = std::vector<T>(s.x[0].values.size());
  const auto check = [&](std::string name, const auto& moved) {
    ledger.check(std::move(name), exact_bound, [&] { return for_vectors(s.x, others, moved); });
  };
  check("to_sparse_vector, to_dense", [&](const auto& x, const auto&) {
    const std::vector<T> dense = spread(some_entries(x), zeros);
    std::vector<std::int32_t> wanted;
    for (std::size_t i = 0; i < dense.size(); ++i)
      if (dense[i] != T(0)) wanted.push_back(static_cast<std::int32_t>(i));
    const SparseVector<T> sparse = to_sparse_vector(ctx, array(dense, "y"));
    Array<T> back(std::ssize(x), "y");
    to_dense(ctx, sparse, back);
    Comparison both = compare_bits<T>(back.host(), dense);
    both.merge(compare_bits<std::int32_t>(sparse.indices().host(), wanted), "indices");
    return both;
  });
  check("gather", [&](const auto& x, const auto& y) {
    SparseVector<T> got = some_entries(x);
    gather(ctx, array(y, "y"), got);
    return compare_bits<T>(got.values().host(), some_entries(y).values().host());
  });
  check("gather_and_clear", [&](const auto& x, const auto& y) {
    SparseVector<T> got = some_entries(x);
    Array<T> ay = array(y, "y");
    gather_and_clear(ctx, ay, got);
    Comparison both = compare_bits<T>(got.values().host(), some_entries(y).values().host());
    both.merge(compare_bits<T>(ay.host(), spread(some_entries(zeros), y)), "what is cleared");
    return both;
  });
  check("scatter", [&](const auto& x, const auto& y) {
    Array<T> ay = array(y, "y");
    scatter(ctx, some_entries(x), ay);
    return compare_bits<T>(ay.host(), spread(some_entries(x), y));
  });
}

template <class T>
void check_sparse_sums(Ledger& ledger, Context& ctx, const Subject<T>& s, const std::vector<NamedVector<T>>& others) {
  const T alpha = some_alpha<T>(), beta = some_beta<T>();
  const auto zeros = std::vector<T>(s.x[0].values.size());
  ledger.check("axpby of a sparse vector", update_bound, [&] {
    return for_vectors(s.x, others, [&](const auto& x, const auto& y) {
      Array<T> ay = array(y, "y");
      axpby(ctx, alpha, some_entries(x), beta, ay);
      return compare<T>(ay.host(), combination(alpha, spread(some_entries(x), zeros), beta, y));
    });
  });
  ledger.check("rotate", update_bound, [&] {
    return for_vectors(s.x, others, [&](const auto& x, const auto& y) {
      SparseVector<T> sx = some_entries(x);
      Array<T> ay = array(y, "y");
      rotate(ctx, sx, ay, alpha, beta);
      const auto here = some_entries(x), there = some_entries(y);
      const std::vector<T> old_x(here.values().host().begin(), here.values().host().end()),
          old_y(there.values().host().begin(), there.values().host().end());
      const std::vector<T> whole_y(ay.host().begin(), ay.host().end());
      Comparison both = compare<T>(sx.values().host(), combination(alpha, old_x, beta, old_y));
      both.merge(compare<T>(some_entries(whole_y).values().host(), combination(alpha, old_y, -beta, old_x)), "y");
      const SparseVector<T> cleared = some_entries(zeros);
      both.merge(compare_bits<T>(spread(cleared, whole_y), spread(cleared, y)), "y elsewhere");
      return both;
    });
  });
  for (const Op op : {Op::none, Op::adjoint})
    ledger.check(op == Op::none ? "dot of a sparse vector" : "dot of a sparse vector, adjoint", dot_bound, [&] {
      return for_vectors(s.x, others, [&](const auto& x, const auto& y) {
        Array<wide_t<T>> got(1, "dot");
        dot(ctx, some_entries(x), array(y, "y"), got, op);
        return compare_sum<T>(got, inner_product(spread(some_entries(x), zeros), y, op));
      });
    });
}

}  // namespace

template <class T>
void check_vectors(Ledger& ledger, Context& ctx, const Subject<T>& s, const Selection&) {
  const auto others = random_vectors<T>(s.A.cols(), 2);
  check_moves(ledger, ctx, s, others);
  check_updates(ledger, ctx, s, others);
  ledger.check("dot", dot_bound, [&] {
    return for_vectors(s.x, others, [&](const auto& x, const auto& y) {
      Array<wide_t<T>> got(1, "dot");
      dot(ctx, array(x, "x"), array(y, "y"), got);
      return compare_sum<T>(got, inner_product(x, y, Op::adjoint));
    });
  });
  ledger.check("norm2", norm_bound, [&] {
    return for_vectors(s.x, others, [&](const auto& x, const auto&) {
      Array<double> got(1, "norm");
      norm2(ctx, array(x, "x"), got);
      BoundedSum<double> sum;
      for (const T& entry : x) {
        const std::complex<double> parts(entry);
        sum.add(Bounded<double>(parts.real()), Bounded<double>(parts.real()));
        sum.add(Bounded<double>(parts.imag()), Bounded<double>(parts.imag()));
      }
      return compare<double>(got.host(), std::vector{root(sum.result())});
    });
  });
}

template <class T>
void check_sparse_vectors(Ledger& ledger, Context& ctx, const Subject<T>& s, const Selection& selection) {
  if (!selection.whole_library) return;
  const auto others = random_vectors<T>(s.A.cols(), 2);
  check_sparse_moves(ledger, ctx, s, others);
  check_sparse_sums(ledger, ctx, s, others);
}

template <class T>
struct VectorSuiteInstances {
  static constexpr std::tuple list{
      instance<void(Ledger&, Context&, const Subject<T>&, const Selection&)>(check_vectors),
      instance<void(Ledger&, Context&, const Subject<T>&, const Selection&)>(check_sparse_vectors)};
};
KRILL_INSTANTIATE(VectorSuiteInstances);

}  // namespace krill::apps::verify
