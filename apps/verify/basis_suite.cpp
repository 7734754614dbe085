// The kernels that read a basis of Krylov vectors at once.
#include <array>
#include <cmath>
#include <set>

#include "apps/verify/trial.hpp"
#include "solvers/basis.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill::apps::verify {
namespace {

constexpr std::string_view dots_bound =
    "gamma_n sum |v_i| |w_i| in double, in whatever order the n terms are added (Higham 2002, section 3.1); V as it is "
    "kept";
constexpr std::string_view update_bound =
    "gamma_(k + 4) (|w_i| + sum |v_ij| |c_j|) for k vectors, in whatever order (Higham 2002, section 3.1); V as it is "
    "kept";
constexpr std::string_view next_bound =
    "the same of u, and the rounding of what is kept, 2^-40 at least in float16, where numbers are times 2^15";

constexpr int vectors = 9;  // more than a kernel has in flight at a time
constexpr double q_factor = 0.25, scale = 2, along_q = 0.5;

/// What is kept in half precision: a sign, 5 bits of exponent, 10 of fraction.
long double value_of(Half a) {
  const int exponent = a.bits >> 10 & 31, fraction = a.bits & 1023;
  const long double size = exponent == 0 ? std::ldexp(static_cast<long double>(fraction), -24)
                                         : std::ldexp(static_cast<long double>(1024 + fraction), exponent - 25);
  return a.bits >> 15 ? -size : size;
}
template <class R>
long double value_of(R a) {
  return a;
}

/// Number i of vector k as it is kept, in extended precision.
template <class T, class S>
Exact<T> number(const detail::BasisView<S>& V, int k, std::int64_t i) {
  const S kept = V.vector(k)[i];
  const long double unit = std::is_same_v<real_t<S>, Half> ? 0x1p-15L : 1.0L;
  if constexpr (is_complex<T>)
    return {unit * value_of(kept.re), unit * value_of(kept.im)};
  else
    return unit * value_of(kept);
}

/// Half a unit in the last place of what is kept, relative to the number, and the least that it can be.
struct KeptRounding {
  long double roundoff, least;
};
template <class T>
KeptRounding rounding_of(BasisPrecision precision) {
  const long double own = std::numeric_limits<real_t<T>>::epsilon() / 2.0L;
  if (precision == BasisPrecision::float16) return {0x1p-11L, 0x1p-40L};
  return {precision == BasisPrecision::float32 ? std::max(own, 0x1p-24L) : own, 0};
}

/// A basis of fixed random vectors with entries in [-1, 1), and the vectors to try with it.
template <class T>
struct BasisTrial {
  using K = kernel_t<T>;
  std::int64_t n;
  Basis<T> basis;
  std::vector<T> u, w, a, c;
  Array<T> au, aw;
  Array<wide_t<T>> aa, ac;
  Array<int> count{vectors};

  BasisTrial(std::int64_t size, BasisPrecision precision)
      : n(size),
        basis(size, vectors + 1, precision, "basis"),
        u(drawn(size, 2)),
        w(drawn(size, 3)),
        a(drawn(vectors, 4)),
        c(drawn(vectors, 5)),
        au(array(u, "u")),
        aw(array(w, "w")),
        aa(std::vector<wide_t<T>>(a.begin(), a.end())),
        ac(std::vector<wide_t<T>>(c.begin(), c.end())) {
    basis.view(Host{}, [&]<class S>(const detail::BasisView<S>& V) {
      for (int k = 0; k < basis.capacity(); ++k) {
        std::fill_n(V.vector(k), V.stride, S{});
        const std::vector<T> vector = drawn(size, 10 + k);
        for (std::int64_t i = 0; i < n; ++i)
          V.vector(k)[i] = detail::to_stored<S>(
              scaled(std::bit_cast<K>(vector[static_cast<std::size_t>(i)]), real_t<T>(detail::stored_scale<S>)));
      }
    });
  }
  static std::vector<T> drawn(std::int64_t size, int stream) { return random_vectors<T>(size, stream)[0].values; }

  /// f(a view of what is kept, on the host).
  template <class F>
  void read(F&& f) {
    basis.view(Host{}, std::forward<F>(f));
  }
};

template <class T>
Comparison compare_dots(Context& ctx, BasisTrial<T>& t) {
  using K = kernel_t<T>;
  Array<wide_t<T>> with_u(vectors, "V'u"), with_w(vectors, "V'w");
  ctx.dispatch([&](const auto& where) {
    t.basis.view(where, [&]<class S>(const detail::BasisView<S>& V) {
      run_dots<K, S>(where, {{V.values, V.rows, V.stride},
                             t.count.read(where),
                             0,
                             vectors,
                             t.au.read(where),
                             t.aw.read(where),
                             with_u.write(where),
                             with_w.write(where),
                             {}});
    });
  });
  BoundedVector<wide_t<T>> of_u, of_w;
  t.read([&]<class S>(const detail::BasisView<S>& V) {
    for (int k = 0; k < vectors; ++k) {
      BoundedSum<wide_t<T>> sum_u, sum_w;
      for (std::int64_t i = 0; i < t.n; ++i) {
        const Bounded<wide_t<T>> v(conjugated(number<T>(V, k, i)), 0);
        const auto at = static_cast<std::size_t>(i);
        sum_u.add(v, Bounded<wide_t<T>>(exact(t.u[at]), 0)), sum_w.add(v, Bounded<wide_t<T>>(exact(t.w[at]), 0));
      }
      of_u.push_back(sum_u.result()), of_w.push_back(sum_w.result());
    }
  });
  Comparison both = compare<wide_t<T>>(with_u.host(), of_u);
  both.merge(compare<wide_t<T>>(with_w.host(), of_w), "of the second vector");
  return both;
}

/// w - V c, number by number.
template <class T, class S>
BoundedSum<T> remainder(const detail::BasisView<S>& V, const std::vector<T>& w, const std::vector<T>& c,
                        std::int64_t i) {
  BoundedSum<T> sum;
  sum.add(Bounded<T>(w[static_cast<std::size_t>(i)]));
  for (int k = 0; k < vectors; ++k)
    sum.subtract(Bounded<T>(number<T>(V, k, i), 0), Bounded<T>(c[static_cast<std::size_t>(k)]));
  return sum;
}

/// w - V c in the place of w, and in an array of its own with what is made of u.
template <class T>
Comparison compare_update(Context& ctx, BasisTrial<T>& t) {
  using K = kernel_t<T>;
  Array<T> out = array(t.w, "w");
  ctx.dispatch([&](const auto& where) {
    t.basis.view(where, [&]<class S>(const detail::BasisView<S>& V) {
      run_update<K, S>(where, {V,
                               t.count.read(where),
                               0,
                               vectors,
                               nullptr,
                               nullptr,
                               out.read(where),
                               t.ac.read(where),
                               out.update(where),
                               nullptr,
                               {}});
    });
  });
  BoundedVector<T> expected;
  t.read([&]<class S>(const detail::BasisView<S>& V) {
    for (std::int64_t i = 0; i < t.n; ++i) expected.push_back(remainder(V, t.w, t.c, i).result(4));
  });
  return compare<T>(out.host(), expected);
}

/// q = (u - V a) q_factor becomes the next vector, and w - V c - along_q q with it, times a factor.
template <class T>
Comparison compare_next(Context& ctx, BasisTrial<T>& t, BasisPrecision precision) {
  using K = kernel_t<T>;
  Array<T> out(t.n, "out");
  const Array<detail::StepScalars<K>> factors(std::vector{detail::StepScalars<K>{q_factor, scale, wide_t<K>(along_q)}});
  ctx.dispatch([&](const auto& where) {
    t.basis.view(where, [&]<class S>(const detail::BasisView<S>& V) {
      run_update<K, S>(where, {V,
                               t.count.read(where),
                               0,
                               vectors,
                               t.au.read(where),
                               t.aa.read(where),
                               t.aw.read(where),
                               t.ac.read(where),
                               out.write(where),
                               factors.read(where),
                               {}});
    });
  });
  const KeptRounding kept = rounding_of<T>(precision);
  std::vector<Exact<T>> next;
  BoundedVector<T> expected_next, expected;
  t.read([&]<class S>(const detail::BasisView<S>& V) {
    for (std::int64_t i = 0; i < t.n; ++i) {
      const Bounded<T> q = remainder(V, t.u, t.a, i).result(4);
      const long double size = q_factor * q.greatest(), parts = is_complex<T> ? 2 : 1;
      expected_next.emplace_back(Exact<T>(q_factor) * q.value,
                                 q_factor * q.error + parts * (kept.roundoff * size + kept.least));
      next.push_back(number<T>(V, vectors, i));
      const Bounded<T> left = remainder(V, t.w, t.c, i).subtract({next.back(), 0}, Bounded<T>(T(along_q))).result(4);
      expected.emplace_back(Exact<T>(scale) * left.value, scale * left.error);
    }
  });
  Comparison both = compare_exactly_computed<T>(next, expected_next);
  both.merge(compare<T>(out.host(), expected), "what is left of the other vector");
  return both;
}

/// Precisions that the selection's solvers keep bases in; all that differ from T where the whole library is asked for.
template <class T>
std::set<BasisPrecision> precisions_of(const Selection& selection) {
  const auto as_kept = [](BasisPrecision p) {
    return sizeof(real_t<T>) == sizeof(float) && p == BasisPrecision::float32 ? BasisPrecision::float64 : p;
  };
  std::set<BasisPrecision> all;
  if (selection.whole_library)
    for (const BasisPrecision p : {BasisPrecision::float64, BasisPrecision::float32, BasisPrecision::float16})
      all.insert(as_kept(p));
  for (const auto& [solver, preconditioner] : selection.solves)
    std::visit(
        [&](const auto& o) {
          if constexpr (requires { o.basis_precision; }) all.insert(as_kept(o.basis_precision));
        },
        solver);
  return all;
}

}  // namespace

template <class T>
void check_bases(Ledger& ledger, Context& ctx, const Subject<T>& s, const Selection& selection) {
  for (const BasisPrecision precision : precisions_of<T>(selection)) {
    const std::string kept = precision == BasisPrecision::float64
                                 ? ""
                                 : ", in " + std::string(basis_precision_names[static_cast<std::size_t>(precision)]);
    BasisTrial<T> trial(s.A.rows(), precision);
    ledger.check("basis dots" + kept, dots_bound, [&] { return compare_dots(ctx, trial); });
    ledger.check("basis update" + kept, update_bound, [&] { return compare_update(ctx, trial); });
    ledger.check("basis update, next vector" + kept, next_bound, [&] { return compare_next(ctx, trial, precision); });
  }
}

template <class T>
struct BasisSuiteInstances {
  static constexpr std::tuple list{instance<void(Ledger&, Context&, const Subject<T>&, const Selection&)>(check_bases)};
};
KRILL_INSTANTIATE(BasisSuiteInstances);

}  // namespace krill::apps::verify
