// What preconditioners do to a vector, against dense matrices.
#include <algorithm>
#include <numbers>

#include "krill/sparse/convert/to_format.hpp"
#include "tests/solvers/dense.hpp"
#include "tests/solvers/systems.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/replay.hpp"

namespace krill::test {
namespace {

using PreconditionerApply = OnBackendAndScalar;

/// z = M^-1 r, in the loop as well as by itself; the dot has to be Re r'z.
template <class T>
std::vector<T> applied(Context& ctx, const Preconditioner<T>& M, const std::vector<T>& values) {
  const Array<T> r(values);
  Array<T> z(r.size()), again(r.size());
  Array<double> rr(1), rz(1);
  M.apply(ctx, r, z);
  replay(ctx, [&] { M.apply_dot(ctx, r, rr, again, rz); });
  const std::vector<T> result = contents(z);
  double dot = 0, size = 0, most = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Z product = std::conj(Z(values[i])) * Z(again.host()[i]);
    dot += product.real(), size += std::abs(product), most = std::max<double>(most, std::abs(result[i]));
  }
  EXPECT_NEAR(rz.host()[0], dot, 1e-12 * size);
  for (std::size_t i = 0; i < values.size(); ++i)  // the last step may be another kernel
    EXPECT_NEAR(std::abs(Z(again.host()[i]) - Z(result[i])), 0, 100 * epsilon<T>() * most) << i;
  return result;
}

/// M z = r up to rounding: `amplified` times what rounding does to a product with `size`, |M| or the product of the
/// moduli of its factors.
template <class T>
void expect_solves(const DenseZ& M, const DenseZ& size, const std::vector<T>& z, const std::vector<T>& r,
                   double amplified) {
  const auto rest = product(Op::none, -1.0, sparse(M), to_reference(z), 1.0, to_reference(r), epsilon<T>()).y;
  const auto bound = product(Op::none, -1.0, sparse(size), to_reference(z), 1.0, to_reference(r), epsilon<T>()).bound;
  for (std::size_t i = 0; i < r.size(); ++i) EXPECT_LE(std::abs(rest[i]), amplified * bound[i]) << i;
}

template <class T>
std::unique_ptr<Preconditioner<T>> made(Context& ctx, const PreconditionerOptions& options, const AnyMatrix<T>& A) {
  return make_preconditioner<T>(ctx, options, A);
}

template <class Value>
Value fact(const PreconditionerReport& report, std::string_view name) {
  for (const Fact& f : report.facts)
    if (f.name == name) return std::get<Value>(f.value);
  ADD_FAILURE() << "no fact " << name;
  return {};
}

/// Of matrices whose diagonal is 1.02 times the sum of the others: the condition of the whole and of every block.
constexpr double dominant_condition = 2.02 / 0.02;

TEST_P(PreconditionerApply, block_jacobi_inverts_the_diagonal_blocks) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const std::int32_t n : {1, 5, 64, 131})
      for (const int dim : {1, 2, 3, 4, 7, 8, 16, 21, 32}) {
        const AnyMatrix<T> A(random_dominant<T>(1, n, 12));
        const auto r = random_vector<T>(2, n);
        const auto M = made<T>(ctx, BlockJacobiOptions{dim}, A);
        const DenseZ blocks = part(dense(reference(std::get<Csr<T>>(A))),
                                   [&](std::int64_t i, std::int64_t j) { return i / dim == j / dim; });
        expect_solves(blocks, blocks, applied(ctx, *M, r), r, dominant_condition);
        EXPECT_EQ(fact<std::int64_t>(M->report(), "block_dim"), dim);
        EXPECT_GT(M->report().bytes, 0u);
      }
  });
}

/// Blocks whose pivots have to be looked for: zeros on the diagonal.
TEST_P(PreconditionerApply, block_jacobi_pivots) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    // Cyclic shifts by one inside of blocks of five, the last of two rows.
    const std::int32_t n = 42, dim = 5;
    std::vector<std::int32_t> offsets{0}, columns;
    std::vector<T> values;
    for (std::int32_t i = 0; i < n; ++i) {
      const std::int32_t first = i / dim * dim, size = std::min(dim, n - first);
      columns.push_back(first + (i - first + 1) % size);
      values.push_back(T(static_cast<real_t<T>>(i + 1)));
      offsets.push_back(i + 1);
    }
    const AnyMatrix<T> A(Csr<T>(n, Array(offsets), Array(columns), Array(values)));
    const auto r = random_vector<T>(3, n);
    const DenseZ whole = dense(reference(std::get<Csr<T>>(A)));
    expect_solves(whole, whole, applied(ctx, *made<T>(ctx, BlockJacobiOptions{dim}, A), r), r, 1);
  });
}

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

      const double least = fact<double>(M->report(), "interval_least"),
                   most = fact<double>(M->report(), "interval_most");
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
DenseZ sum(DenseZ A, double factor, const DenseZ& B) {
  for (std::size_t k = 0; k < A.entries.size(); ++k) A.entries[k] = factor * A.entries[k] + B.entries[k];
  return A;
}

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
      for (const TriangularMethod method : {TriangularMethod::automatic, TriangularMethod::natural,
                                            TriangularMethod::by_level, TriangularMethod::level_kernels}) {
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

/// The block ILU(0) of A: L with identities on its diagonal, and U.
std::pair<DenseZ, DenseZ> block_ilu0(const DenseZ& A, std::int64_t dim) {
  const std::int64_t blocks = (A.n + dim - 1) / dim;
  const auto cut = [&](const DenseZ& M, std::int64_t I, std::int64_t J) {
    DenseZ block{dim};
    for (std::int64_t i = 0; i < dim; ++i)
      for (std::int64_t j = 0; j < dim; ++j)
        block(i, j) = I * dim + i < A.n && J * dim + j < A.n ? M(I * dim + i, J * dim + j) : (I == J && i == j ? 1 : 0);
    return block;
  };
  const auto paste = [&](DenseZ& M, std::int64_t I, std::int64_t J, const DenseZ& block) {
    for (std::int64_t i = 0; i < dim && I * dim + i < A.n; ++i)
      for (std::int64_t j = 0; j < dim && J * dim + j < A.n; ++j) M(I * dim + i, J * dim + j) = block(i, j);
  };
  const auto stored = [&](std::int64_t I, std::int64_t J) {
    const DenseZ block = cut(A, I, J);
    return std::ranges::any_of(block.entries, [](Z v) { return v != 0.0; });
  };
  DenseZ factor = A;
  for (std::int64_t I = 0; I < blocks; ++I)
    for (std::int64_t K = 0; K < I; ++K) {
      if (!stored(I, K)) continue;
      const DenseZ left = cut(factor, I, K) * inverse(cut(factor, K, K));
      paste(factor, I, K, left);
      for (std::int64_t J = K + 1; J < blocks; ++J)
        if (stored(I, J) && stored(K, J)) paste(factor, I, J, sum(left * cut(factor, K, J), -1, cut(factor, I, J)));
    }
  DenseZ L = part(factor, [&](auto i, auto j) { return i / dim > j / dim; });
  for (std::int64_t i = 0; i < A.n; ++i) L(i, i) = 1;
  return {L, part(factor, [&](auto i, auto j) { return i / dim <= j / dim; })};
}

/// Rounding of the factors, which diagonal dominance keeps from growing, beside that of the solves.
constexpr double of_factors = 20;

TEST_P(PreconditionerApply, factorisations_in_blocks_are_those_of_the_blocks) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const int dim : {1, 3, 4}) {
      const AnyMatrix<T> A(random_dominant<T>(10, 62, 6)), H(random_hpd<T>(11, 62, 6));
      const auto r = random_vector<T>(12, 62);
      Bilu0Options lu;
      Bic0Options cholesky;
      lu.block_dim = cholesky.block_dim = dim;
      const auto check = [&](const AnyMatrix<T>& matrix, const PreconditionerOptions& options) {
        const auto [L, U] = block_ilu0(dense(reference(std::get<Csr<T>>(matrix))), dim);
        const auto M = made<T>(ctx, options, matrix);
        expect_solves(L * U, absolute(L) * absolute(U), applied(ctx, *M, r), r, of_factors);
        EXPECT_EQ(fact<std::int64_t>(M->report(), "block_dim"), dim);
      };
      check(A, lu);
      check(H, lu);
      check(H, cholesky);
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
    std::vector<Low> values;
    for (const T& v : A.values().host()) values.push_back(Low(v));
    const AnyMatrix<Low> low(Csr<Low>(A.cols(), A.row_offsets().clone(), A.col_indices().clone(), Array(values)));
    const AnyMatrix<T> any(A.clone());
    const auto r = random_vector<T>(17, 150);
    std::vector<Low> low_r;
    for (const T& v : r) low_r.push_back(Low(v));
    for (PreconditionerOptions options : hermitian_preconditioners()) {
      const auto wanted = applied(ctx, *made<Low>(ctx, options, low), low_r);
      const bool has = std::visit(
          [](auto& o) {
            if constexpr (requires { o.precision; }) return o.precision = KeptPrecision::float32, true;
            return false;
          },
          options);
      if (!has) continue;
      const auto found = applied(ctx, *made<T>(ctx, options, any), r);
      for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(Z(found[i]), Z(wanted[i])) << name(options) << i;
    }
  });
}

KRILL_ON_BACKENDS_AND_SCALARS(PreconditionerApply);

using BlockChoice = OnBackend;

TEST_P(BlockChoice, takes_the_matrix_own_blocks_or_those_of_its_pattern) {
  Context ctx = context();
  const Csr<double> poisson = poisson2d<double>(12);
  const auto from = [&](const AnyMatrix<double>& A) {
    const auto report = made<double>(ctx, BlockJacobiOptions{}, A)->report();
    return std::pair(fact<std::int64_t>(report, "block_dim"), fact<std::string>(report, "block_dim_from"));
  };
  EXPECT_EQ(from(AnyMatrix<double>(poisson.clone())),
            std::pair(std::int64_t{8}, std::string("the default, as the pattern has no blocks")));
  FormatLayout layout;
  layout.block_rows = 9;
  EXPECT_EQ(from(to_format(ctx, AnyMatrix<double>(poisson.clone()), Format::bsr, layout)),
            std::pair(std::int64_t{9}, std::string("the blocks of the matrix")));
  layout.block_rows = 3;
  const auto blocked = to_format(ctx, AnyMatrix<double>(poisson.clone()), Format::bsr, layout);
  EXPECT_EQ(from(to_csr(ctx, blocked)).first, 3);  // zeros in blocks are entries of CSR
}

KRILL_ON_BACKENDS(BlockChoice);

}  // namespace
}  // namespace krill::test
