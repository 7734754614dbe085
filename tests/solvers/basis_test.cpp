#include "solvers/basis.hpp"

#include "solvers/gmres.hpp"
#include "tests/solvers/systems.hpp"

namespace krill::test {
namespace {

using BasisInEveryType = OnBackendAndScalar;
using LongComplex = std::complex<long double>;
constexpr std::array precisions{BasisPrecision::float64, BasisPrecision::float32, BasisPrecision::float16};
constexpr std::array orthogonalizations{Orthogonalization::one_reduce, Orthogonalization::cgs2, Orthogonalization::mgs};

template <class T>
LongComplex wide_of(T a) {
  if constexpr (is_complex<T>)
    return {a.re, a.im};
  else
    return a;
}
/// Of the precision that a basis is kept in.
template <class T>
double stored_epsilon(BasisPrecision p) {
  return p == BasisPrecision::float16 ? 0x1p-11
                                      : std::max<double>(epsilon<T>(), p == BasisPrecision::float32 ? 0x1p-24 : 0);
}

/// The first `count` vectors as they are kept.
template <class T>
std::vector<std::vector<LongComplex>> vectors_of(Basis<T>& basis, int count) {
  std::vector<std::vector<LongComplex>> all;
  basis.view(Host{}, [&]<class S>(const detail::BasisView<S>& view) {
    for (int k = 0; k < count; ++k) {
      all.emplace_back();
      for (std::int64_t i = 0; i < view.rows; ++i)
        all.back().push_back(wide_of(detail::from_stored<wide_t<kernel_t<T>>>(view.vector(k)[i])) /
                             static_cast<long double>(detail::stored_scale<S>));
    }
  });
  return all;
}

template <class T>
void fill_basis(Basis<T>& basis, std::uint64_t seed, std::int64_t rows) {
  basis.view(Host{}, [&]<class S>(const detail::BasisView<S>& view) {
    for (int k = 0; k < basis.capacity(); ++k) {
      std::fill_n(view.vector(k), view.stride, S{});
      const auto random = random_vector<T>(seed + static_cast<std::uint64_t>(k), rows);
      for (std::int64_t i = 0; i < rows; ++i) {
        const auto value = std::bit_cast<kernel_t<T>>(random[static_cast<std::size_t>(i)]);
        view.vector(k)[i] = detail::to_stored<S>(scaled(value, real_t<T>(detail::stored_scale<S>)));
      }
    }
  });
}

/// V^H u and V^H w within (n + 2) eps of double, and out = (w - V c - along q) scale within (count + 4) eps of T, of
/// the sums of the moduli.
TEST_P(BasisInEveryType, kernels_agree_with_long_double_for_any_number_of_vectors) {
  with_scalar([&]<class T>(T) {
    using K = kernel_t<T>;
    Context ctx = context();
    constexpr int capacity = 21;
    for (const BasisPrecision precision : precisions)
      for (const std::int64_t n : {1, 1023, 9000}) {
        if (precision == BasisPrecision::float32 && sizeof(real_t<T>) == 4) continue;  // as float64: T itself
        Basis<T> basis(n, capacity, precision, "basis");
        fill_basis(basis, 11, n);
        const auto V = vectors_of(basis, capacity);
        const auto u = random_vector<T>(5, n), w = random_vector<T>(6, n), c = random_vector<T>(7, capacity),
                   a = random_vector<T>(8, capacity);
        const Array<T> u_array(u), w_array(w);
        const Array<wide_t<T>> c_array(std::vector<wide_t<T>>(c.begin(), c.end())),
            a_array(std::vector<wide_t<T>>(a.begin(), a.end()));
        const detail::StepScalars<K> factors{.q_factor = 0x1p-6, .scale = 2, .along_q = wide_t<K>(0.5)};
        const Array<detail::StepScalars<K>> factors_array(std::vector{factors});
        for (const int count : {0, 1, 9, 20}) {
          Array<wide_t<T>> with_u(capacity), with_w(capacity);
          Array<T> out(n);
          const Array<int> columns(std::vector<int>{count});
          ctx.dispatch([&](const auto& where) {
            basis.view(where, [&]<class S>(const detail::BasisView<S>& view) {
              run_dots<K, S>(where, {{view.values, view.rows, view.stride},
                                     columns.read(where),
                                     0,
                                     capacity,
                                     u_array.read(where),
                                     w_array.read(where),
                                     with_u.write(where),
                                     with_w.write(where),
                                     {}});
              run_update<K, S>(where, {view,
                                       columns.read(where),
                                       0,
                                       capacity,
                                       u_array.read(where),
                                       a_array.read(where),
                                       w_array.read(where),
                                       c_array.read(where),
                                       out.write(where),
                                       factors_array.read(where),
                                       {}});
            });
          });
          const auto changed = vectors_of(basis, count + 1);
          std::vector<LongComplex> expected_q(u.begin(), u.end()), expected(w.begin(), w.end());
          std::vector<long double> size_q(u.size()), size(u.size());
          for (std::size_t i = 0; i < u.size(); ++i)
            size_q[i] = std::abs(LongComplex(u[i])), size[i] = std::abs(LongComplex(w[i]));
          for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
            EXPECT_EQ(changed[k], V[k]) << "the basis is read";
            LongComplex of_u = 0, of_w = 0;
            long double sum_u = 0, sum_w = 0;
            for (std::size_t i = 0; i < u.size(); ++i) {
              of_u += std::conj(V[k][i]) * LongComplex(u[i]), sum_u += std::abs(V[k][i]) * std::abs(LongComplex(u[i]));
              of_w += std::conj(V[k][i]) * LongComplex(w[i]), sum_w += std::abs(V[k][i]) * std::abs(LongComplex(w[i]));
              expected_q[i] -= LongComplex(a[k]) * V[k][i],
                  size_q[i] += std::abs(LongComplex(a[k])) * std::abs(V[k][i]);
              expected[i] -= LongComplex(c[k]) * V[k][i], size[i] += std::abs(LongComplex(c[k])) * std::abs(V[k][i]);
            }
            const double bound = static_cast<double>(n + 2) * epsilon<double>();
            EXPECT_LE(std::abs(LongComplex(with_u.host()[k]) - of_u), bound * sum_u) << n << ' ' << count << ' ' << k;
            EXPECT_LE(std::abs(LongComplex(with_w.host()[k]) - of_w), bound * sum_w) << n << ' ' << count << ' ' << k;
          }
          const double bound = (count + 4) * 3 * epsilon<T>();
          for (std::size_t i = 0; i < u.size(); ++i) {
            const LongComplex q = changed.back()[i];
            const double of_store = 0x1p-6 * (bound + stored_epsilon<T>(precision));
            ASSERT_LE(std::abs(q - 0x1p-6L * expected_q[i]), of_store * size_q[i] + 0x1p-39)
                << n << ' ' << count << ' ' << i;
            ASSERT_LE(std::abs(LongComplex(out.host()[i]) - 2.0L * (expected[i] - 0.5L * q)),
                      2 * bound * (size[i] + std::abs(q)))
                << n << ' ' << count << ' ' << i;
          }
          fill_basis(basis, 11, n);
        }
      }
  });
}

/// A Krylov space of a diagonal matrix whose eigenvalues span eight digits (four in single precision), which one sweep
/// of Gram-Schmidt leaves far from orthogonal.
template <class T>
Csr<T> spread_diagonal(std::int32_t n) {
  std::vector<std::int32_t> offsets{0}, columns;
  std::vector<T> values;
  const double digits = sizeof(real_t<T>) == 4 ? 4 : 8;
  for (std::int32_t i = 0; i < n; ++i) {
    columns.push_back(i), offsets.push_back(i + 1);
    values.push_back(T(static_cast<real_t<T>>(std::pow(10, -digits * i / n))));
  }
  return {n, Array(std::move(offsets)), Array(std::move(columns)), Array(std::move(values))};
}

/// max |I - V^H V| of the basis of so many steps.
template <class T>
double loss_of_orthogonality(Context& ctx, const GmresOptions& options) {
  const AnyMatrix<T> A(spread_diagonal<T>(500));
  const MatrixOperator<T> op(A);
  const Identity<T> M;
  Gmres<T> gmres(op, M, options);
  Array<T> x(std::vector<T>(500));
  const SolveReport report = gmres.solve(ctx, Array<T>(std::vector<T>(500, T(1))), x);
  EXPECT_EQ(report.iterations, options.restart) << name(report.reason);
  const auto V = vectors_of(gmres.basis(), options.restart);
  double most = 0;
  for (std::size_t a = 0; a < V.size(); ++a)
    for (std::size_t b = 0; b <= a; ++b) {
      LongComplex dot = a == b ? -1 : 0;
      for (std::size_t i = 0; i < V[a].size(); ++i) dot += std::conj(V[a][i]) * V[b][i];
      most = std::max(most, static_cast<double>(std::abs(dot)));
    }
  return most;
}

/// Rounding of a dot of two vectors of length 1 is eps at least; a dozen of it is allowed for. Vectors that are kept in
/// less are off by what they are rounded by, so their dots by twice that at most.
TEST_P(BasisInEveryType, two_sweeps_leave_the_basis_orthogonal_to_rounding) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const BasisPrecision precision : precisions)
      for (const Orthogonalization method : {Orthogonalization::one_reduce, Orthogonalization::cgs2}) {
        const GmresOptions options{.max_iterations = 30,
                                   .restart = 30,
                                   .stop = {.relative = 0},
                                   .orthogonalization = method,
                                   .basis_precision = precision};
        EXPECT_LE(loss_of_orthogonality<T>(ctx, options), 12 * epsilon<T>() + 3 * stored_epsilon<T>(precision))
            << orthogonalization_names[static_cast<std::size_t>(method)];
      }
  });
}

/// Each way to the same residuals: those of full precision agree step by step to rounding, and every basis gets to the
/// target, which takes more than one cycle where it is kept in less.
TEST_P(BasisInEveryType, every_orthogonalization_and_precision_converges) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const double target = sizeof(real_t<T>) == 4 ? 1e-5 : 1e-10;
    const Csr<T> A = random_dominant<T>(31, 2000, 6);
    const auto b = random_vector<T>(32, 2000);
    std::vector<double> first;
    for (const BasisPrecision precision : precisions)
      for (const Orthogonalization method : orthogonalizations)
        for (const bool flexible : {false, true}) {
          SolverOptions options = GmresOptions{2000, 12, {.relative = target}, method, precision};
          if (flexible)
            options = FgmresOptions{
                2000,   12,        {.relative = target},
                method, precision, precision == BasisPrecision::float64 ? precision : BasisPrecision::float32};
          const Solved<T> s = solve(ctx, A, b, options, JacobiOptions{});
          EXPECT_EQ(s.report.reason, Reason::converged) << name(s.report.reason);
          EXPECT_LE(relative_residual(reference(A), to_reference(s.x), to_reference(b)), target * 1.01);
          if (first.empty()) first = s.report.history;
          if (precision != BasisPrecision::float64) {
            EXPECT_LE(s.report.iterations, 2 * static_cast<int>(first.size()));
            continue;
          }
          ASSERT_EQ(s.report.history.size(), first.size());
          for (std::size_t i = 0; i < first.size(); ++i)
            EXPECT_NEAR(s.report.history[i], first[i], 1e-3 * first[i] + 100 * epsilon<T>()) << i;
        }
  });
}

/// A matrix and right-hand side of sizes that float16 does not have, whose x spans many orders.
TEST_P(BasisInEveryType, a_basis_of_float16_takes_any_size_of_numbers) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const real_t<T> large = std::ldexp(real_t<T>(1), sizeof(real_t<T>) == 4 ? 40 : 300);
    Csr<T> A = random_dominant<T>(33, 300, 5);
    for (T& value : A.values().edit()) value *= large;
    std::vector<T> b = random_vector<T>(34, 300);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] *= std::ldexp(real_t<T>(1), -static_cast<int>(i % 60));
    for (const bool flexible : {false, true}) {
      SolverOptions options =
          GmresOptions{500, 20, {.relative = 1e-4}, Orthogonalization::one_reduce, BasisPrecision::float16};
      if (flexible)
        options = FgmresOptions{500, 20, {.relative = 1e-4}, {}, BasisPrecision::float16, BasisPrecision::float32};
      const Solved<T> s = solve(ctx, A, b, options);
      EXPECT_EQ(s.report.reason, Reason::converged) << name(s.report.reason);
      EXPECT_LE(relative_residual(reference(A), to_reference(s.x), to_reference(b)), 1.01e-4);
    }
  });
}

using BasisOnBackend = OnBackend;

/// More vectors than a body of the loop has steps, than there are rows, and the longest basis.
TEST_P(BasisOnBackend, any_restart_ends_as_a_dense_arnoldi_does) {
  Context ctx = context();
  const Csr<double> A = random_dominant<double>(37, 150, 4);
  const auto b = random_vector<double>(38, 150);
  const int expected = dense_gmres_iterations(reference(A), to_reference(b), 1e-12, false);
  for (const int restart : {60, 151, 1000})
    for (const Orthogonalization method : orthogonalizations) {
      const SolveReport report =
          solve(ctx, A, b, SolverOptions(GmresOptions{2000, restart, {.relative = 1e-12}, method})).report;
      EXPECT_EQ(report.reason, Reason::converged);
      EXPECT_NEAR(report.iterations, expected, 1) << restart;
    }
}

INSTANTIATE_TEST_SUITE_P(, BasisInEveryType, backends_and_scalars, param_name);
INSTANTIATE_TEST_SUITE_P(, BasisOnBackend, backends, param_name);

}  // namespace
}  // namespace krill::test
