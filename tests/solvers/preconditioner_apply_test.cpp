// What preconditioners do to a vector, against dense matrices.
#include <numbers>

#include "tests/solvers/applied.hpp"

namespace krill::test {
namespace {

using PreconditionerApply = OnBackendAndScalar;

/// Of an error e, degree products leave T((theta - D^-1 A) / delta) e / T(theta / delta) with Chebyshev's polynomial T
/// of degree + 1; theta and delta are the middle and half the length of the interval.
TEST_P(PreconditionerApply, chebyshev_leaves_what_its_polynomial_leaves) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const std::int32_t n = 90;
    const AnyMatrix<T> A(random_hpd<T>(4, n, 7));
    const Reference R = reference(std::get<Csr<T>>(A));
    const DenseZ D = part(dense(R), [](auto i, auto j) { return i == j; });
    for (const int degree : {1, 2, 5}) {
      const auto M = made<T>(ctx, ChebyshevOptions{degree, 8}, A);
      const auto error = to_reference(random_vector<T>(5, n));
      std::vector<T> r;
      for (const Z& v : product(Op::none, 1, R, error, 0, error, 0).y) {
        if constexpr (is_complex<T>)
          r.push_back(T(v));
        else
          r.push_back(static_cast<T>(v.real()));
      }
      const std::vector<T> z = applied(ctx, *M, r);

      const auto least = fact<double>(M->report(), "interval_least"), most = fact<double>(M->report(), "interval_most");
      EXPECT_NEAR(most / least, 8, 1e-12);
      const double theta = (most + least) / 2, delta = (most - least) / 2;
      std::vector<Z> before = error, now(error.size());
      const auto shifted = [&](const std::vector<Z>& v) {
        std::vector<Z> w = product(Op::none, 1, R, v, 0, v, 0).y;
        for (std::size_t i = 0; i < w.size(); ++i)
          w[i] = (theta * v[i] - w[i] / D.entries[i * static_cast<std::size_t>(n + 1)]) / delta;
        return w;
      };
      now = shifted(error);
      double scale_before = 1, scale = theta / delta;
      for (int k = 1; k <= degree; ++k) {
        std::vector<Z> next = shifted(now);
        for (std::size_t i = 0; i < next.size(); ++i) next[i] = 2.0 * next[i] - before[i];
        before = std::exchange(now, next);
        scale_before = std::exchange(scale, 2 * theta / delta * scale - scale_before);
      }
      // Each step adds rounding of the size of e, and the polynomials after it grow no more than linearly.
      for (std::size_t i = 0; i < r.size(); ++i)
        EXPECT_NEAR(std::abs(error[i] - Z(z[i]) - now[i] / scale), 0, 20 * (degree + 1) * (degree + 1) * epsilon<T>());
    }
  });
}

TEST_P(PreconditionerApply, chebyshev_knows_the_largest_eigenvalue) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    // D^-1 A of the 5-point Laplacian: 1 + cos(pi / (n + 1)) at most, and 2 in the sums of rows.
    for (const std::int32_t n : {1, 2, 10, 60}) {
      const AnyMatrix<T> A(poisson2d<T>(n));
      const auto report = made<T>(ctx, ChebyshevOptions{}, A)->report();
      const double largest = 1 + std::cos(std::numbers::pi / (n + 1)), rounding = 100 * epsilon<T>();
      EXPECT_LE(fact<double>(report, "eigenvalue_estimate"), largest * (1 + rounding));
      EXPECT_GE(fact<double>(report, "eigenvalue_estimate"), 0.9 * largest);
      EXPECT_GE(fact<double>(report, "interval_most"), largest * (1 - rounding));
      EXPECT_LE(fact<double>(report, "interval_most"), std::min(2.0, 1.4 * largest));
    }
  });
}

/// D, L and U of A = D + L + U, L and U without diagonal.
struct Split {
  DenseZ D, L, U;
  explicit Split(const DenseZ& A)
      : D(part(A, [](auto i, auto j) { return i == j; })),
        L(part(A, [](auto i, auto j) { return i > j; })),
        U(part(A, [](auto i, auto j) { return i < j; })) {}
};
TEST_P(PreconditionerApply, gauss_seidel_solves_with_the_triangles) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const std::int32_t n : {1, 7, 90}) {
      const AnyMatrix<T> A(random_dominant<T>(6, n, 7));
      const auto r = random_vector<T>(7, n);
      const Split a(dense(reference(std::get<Csr<T>>(A))));
      const DenseZ lower = sum(a.D, 1, a.L), upper = sum(a.D, 1, a.U);
      const auto run = [&](SweepDirection direction, TriangularMethod method) {
        return applied(ctx, *made<T>(ctx, GaussSeidelOptions{direction, method}, A), r);
      };
      for (const TriangularMethod method :
           {TriangularMethod::automatic, TriangularMethod::natural, TriangularMethod::by_level,
            TriangularMethod::level_kernels, TriangularMethod::one_block}) {
        expect_solves(lower, lower, run(SweepDirection::forward, method), r, 2);
        expect_solves(upper, upper, run(SweepDirection::backward, method), r, 2);
        const DenseZ D1 = inverse(a.D);
        expect_solves(lower * D1 * upper, absolute(lower) * absolute(D1) * absolute(upper),
                      run(SweepDirection::symmetric, method), r, 4);
      }
    }
  });
}

TEST_P(PreconditionerApply, ssor_is_the_textbooks) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const AnyMatrix<T> A(random_dominant<T>(8, 80, 7));
    const auto r = random_vector<T>(9, 80);
    const Split a(dense(reference(std::get<Csr<T>>(A))));
    for (const double omega : {0.4, 1.0, 1.5, 1.9}) {
      const DenseZ lower = sum(a.D, 1 / omega, a.L), upper = sum(a.D, 1 / omega, a.U), D1 = inverse(a.D), none{80};
      const double factor = omega / (2 - omega);
      expect_solves(sum(lower * D1 * upper, factor, none),
                    sum(absolute(lower) * absolute(D1) * absolute(upper), factor, none),
                    applied(ctx, *made<T>(ctx, SsorOptions{omega}, A), r), r, 4);
    }
  });
}

double norm(const std::vector<Z>& v) {
  double squares = 0;
  for (const Z& entry : v) squares += std::norm(entry);
  return std::sqrt(squares);
}
Z inner(const std::vector<Z>& a, const std::vector<Z>& b) {
  Z sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::conj(a[i]) * b[i];
  return sum;
}

/// <M r, s> = <r, M s> and <M r, r> > 0, so that conjugate gradients may have it.
TEST_P(PreconditionerApply, those_for_conjugate_gradients_are_hermitian_and_positive) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const AnyMatrix<T> A(random_hpd<T>(13, 200, 7));
    const auto r = random_vector<T>(14, 200), s = random_vector<T>(15, 200);
    for (const PreconditionerOptions& options : hermitian_preconditioners()) {
      const auto M = made<T>(ctx, options, A);
      const auto Mr = to_reference(applied(ctx, *M, r)), Ms = to_reference(applied(ctx, *M, s));
      const auto zr = to_reference(r), zs = to_reference(s);
      const double rounding = 10 * dominant_condition * epsilon<T>() * (norm(Mr) * norm(zs) + norm(zr) * norm(Ms));
      EXPECT_LE(std::abs(inner(Mr, zs) - inner(zr, Ms)), rounding) << name(options);
      EXPECT_GT(inner(zr, Mr).real(), 0) << name(options);
    }
  });
}

/// Single precision inside of a double precision solve: as a preconditioner of float does it, bit for bit.
TEST_P(PreconditionerApply, in_single_precision_are_those_of_the_matrix_in_single_precision) {
  with_scalar([&]<class T>(T) {
    using Low = std::conditional_t<is_complex<T>, std::complex<float>, float>;
    Context ctx = context();
    const Csr<T> A = random_hpd<T>(16, 150, 7);
    const auto lowered = [](std::span<const T> from) {
      std::vector<Low> to(from.size());
      std::ranges::transform(from, to.begin(), [](const T& v) { return Low(v); });
      return to;
    };
    const AnyMatrix<Low> low(
        Csr<Low>(A.cols(), A.row_offsets().clone(), A.col_indices().clone(), Array(lowered(A.values().host()))));
    const AnyMatrix<T> any(A.clone());
    const auto r = random_vector<T>(17, 150);
    const std::vector<Low> low_r = lowered(r);
    for (PreconditionerOptions options : hermitian_preconditioners()) {
      const auto wanted = applied(ctx, *made<Low>(ctx, options, low), low_r);
      const bool has = std::visit(
          [](auto& o) {
            if constexpr (requires { o.precision = KeptPrecision::float32; })
              return o.precision = KeptPrecision::float32, true;
            return false;
          },
          options);
      if (!has) continue;
      const auto found = applied(ctx, *made<T>(ctx, options, any), r);
      for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(Z(found[i]), Z(wanted[i])) << name(options) << i;
    }
  });
}

/// Rows that the solve names by a byte are named in single precision as well, in fewer bytes than A takes there.
TEST_P(PreconditionerApply, in_single_precision_take_the_form_of_the_solve) {
  with_scalar([&]<class T>(T) {
    if constexpr (sizeof(real_t<T>) == 8) {
      Context ctx = context();
      AnyMatrix<T> A(poisson2d<T>(ctx.on_cuda() ? 400 : 150));  // less is not sliced there
      const double entries = static_cast<double>(nnz(A)) * sizeof(T) / 2;
      MatrixOperator<T> products(A, SpmvMethod::smallest);
      ASSERT_TRUE(products.prepare(ctx).names_rows());
      const auto r = random_vector<T>(18, rows(A));
      AmgOptions amg;
      amg.reuse = HierarchyReuse::hierarchy;
      for (PreconditionerOptions options :
           {PreconditionerOptions(ChebyshevOptions{.degree = 3}), PreconditionerOptions(amg)}) {
        std::visit(
            [](auto& o) {
              if constexpr (requires { o.precision = KeptPrecision::float32; }) o.precision = KeptPrecision::float32;
            },
            options);
        const MadePreconditioner<T> without = made<T>(ctx, options, A),
                                    with = make_preconditioner<T>(ctx, options, A, &products);
        const auto expect_alike = [&] {
          const auto wanted = applied(ctx, *without, r), found = applied(ctx, *with, r);
          double greatest = 0;
          for (const T& z : wanted) greatest = std::max(greatest, modulus(Z(z)));
          for (std::size_t i = 0; i < found.size(); ++i)
            ASSERT_LE(modulus(Z(found[i]) - Z(wanted[i])), 1e-5 * greatest) << name(options) << i;
        };
        expect_alike();
        EXPECT_EQ(with->work().products, 0);
        if (std::holds_alternative<ChebyshevOptions>(options)) {  // amg looks for a form by itself
          EXPECT_LT(with->work().own.bytes, without->work().own.bytes - entries);
        }
        for (T& value : std::get<Csr<T>>(A).values().edit()) value *= T(2);
        products.update(ctx);
        without->update(ctx, A), with->update(ctx, A);
        expect_alike();
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, PreconditionerApply, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
