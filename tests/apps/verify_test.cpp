#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "apps/verify/judge.hpp"

namespace krill::apps {
namespace {

using Complex128 = std::complex<double>;
constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// The 5-point matrix of an n x n grid plus i * damping on the diagonal, `skew` added to the right and taken from the
/// left neighbor. Solved in closed form nowhere: claims are built from a chosen x and b = A x.
template <class T>
Triplets<T> grid(int n, T shift = T(0), T skew = T(0)) {
  Triplets<T> A;
  A.rows = A.cols = n * n;
  const auto put = [&](int row, int col, T value) {
    A.row.push_back(row), A.col.push_back(col), A.value.push_back(value);
  };
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) {
      const int i = y * n + x;
      put(i, i, T(4) + shift);
      if (x > 0) put(i, i - 1, T(-1) - skew);
      if (x + 1 < n) put(i, i + 1, T(-1) + skew);
      if (y > 0) put(i, i - n, T(-1));
      if (y + 1 < n) put(i, i + n, T(-1));
    }
  return A;
}

/// The lower triangle, as a file with that symmetry stores it.
template <class T>
Triplets<T> lower(const Triplets<T>& A, Symmetry symmetry) {
  Triplets<T> half;
  half.rows = A.rows, half.cols = A.cols, half.symmetry = symmetry;
  for (std::size_t k = 0; k < A.value.size(); ++k)
    if (A.row[k] >= A.col[k])
      half.row.push_back(A.row[k]), half.col.push_back(A.col[k]), half.value.push_back(A.value[k]);
  return half;
}

template <class T>
std::vector<T> product(const Triplets<T>& A, const std::vector<T>& x) {
  std::vector<T> y(x.size());
  for (std::size_t k = 0; k < A.value.size(); ++k)
    y[static_cast<std::size_t>(A.row[k])] += A.value[k] * x[static_cast<std::size_t>(A.col[k])];
  return y;
}

template <class T>
std::vector<T> wave(std::int32_t size) {
  std::vector<T> x(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = T(std::sin(0.1 * static_cast<double>(i)) + 1.5);
  return x;
}

template <class T>
double norm(const std::vector<T>& x) {
  double sum = 0;
  for (const T& entry : x) sum += std::norm(entry);
  return std::sqrt(sum);
}

template <class T>
Judgement ask(const Triplets<T>& A, const std::vector<T>& b, const std::vector<T>& x, double relative,
              double work_limit = 1e10, double error_limit = 0) {
  return judge(Claim<T>{A, b, x, relative * norm(b), epsilon, norm(b), error_limit, work_limit});
}

TEST(Judge, passes_a_right_solution_and_says_how_it_knows) {
  const auto A = grid<double>(20);
  const auto x = wave<double>(A.rows);
  const Judgement j = ask(A, product(A, x), x, 1e-10);
  EXPECT_EQ(name(j.verdict), "PASS") << j.reason;
  EXPECT_EQ(j.method, "SimplicialLDLT");
  EXPECT_EQ(j.judge.substr(0, 6), "Eigen ");
  EXPECT_TRUE(j.reason.empty());
  EXPECT_LE(j.residual, j.tolerance);
  EXPECT_GE(j.tolerance, 1e-10);
  EXPECT_LE(j.error, j.error_expected);
  // Eigenvalues 8 sin^2(k pi / 42) + ...: 4 - 4 cos(pi/21) to 4 + 4 cos(pi/21). The estimate is from below.
  const double c = std::cos(std::acos(-1.0) / 21), condition = (1 + c) / (1 - c);
  EXPECT_LE(j.condition, condition * 1.0001);
  EXPECT_GE(j.condition, condition / 2);
}

TEST(Judge, fails_a_solution_that_is_off_by_more_than_its_claim) {
  const auto A = grid<double>(20);
  const auto x = wave<double>(A.rows);
  auto wrong = x;
  wrong[123] += 1e-4;
  const Judgement j = ask(A, product(A, x), wrong, 1e-10);
  EXPECT_EQ(j.verdict, Verdict::fail);
  EXPECT_NE(j.reason.find("||b - A x|| is"), std::string::npos) << j.reason;
  EXPECT_EQ(ask(A, product(A, x), wrong, 1e-3).verdict, Verdict::pass);
}

TEST(Judge, fails_a_solution_with_a_nan) {
  const auto A = grid<double>(5);
  const auto x = wave<double>(A.rows);
  auto wrong = x;
  wrong[7] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(ask(A, product(A, x), wrong, 1.0).verdict, Verdict::fail);
}

TEST(Judge, fails_an_error_beyond_the_limit_of_the_user) {
  const auto A = grid<double>(20);
  const auto x = wave<double>(A.rows);
  auto near = x;
  near[123] += 1e-6;
  EXPECT_EQ(ask(A, product(A, x), near, 1e-5, 1e10, 1e-6).verdict, Verdict::pass);
  const Judgement j = ask(A, product(A, x), near, 1e-5, 1e10, 1e-9);
  EXPECT_EQ(j.verdict, Verdict::fail);
  EXPECT_NE(j.reason.find("the error is"), std::string::npos) << j.reason;
}

TEST(Judge, takes_lu_for_nonsymmetric_and_complex_symmetric_matrices) {
  const auto A = grid<double>(12, 0.0, 0.4);
  const auto x = wave<double>(A.rows);
  const Judgement real = ask(A, product(A, x), x, 1e-10);
  EXPECT_EQ(real.method, "SparseLU");
  EXPECT_EQ(real.verdict, Verdict::pass) << real.reason;

  const auto B = grid<Complex128>(12, {0, 0.5});
  const auto y = wave<Complex128>(B.rows);
  const Judgement complex = ask(B, product(B, y), y, 1e-10);
  EXPECT_EQ(complex.method, "SparseLU");
  EXPECT_EQ(complex.verdict, Verdict::pass) << complex.reason;
}

TEST(Judge, takes_krylov_methods_where_a_factorization_costs_too_much) {
  const auto A = grid<double>(20);
  const auto x = wave<double>(A.rows);
  const Judgement cg = ask(A, product(A, x), x, 1e-8, 0);
  EXPECT_EQ(cg.verdict, Verdict::pass) << cg.reason;
  EXPECT_NE(cg.method.find("ConjugateGradient"), std::string::npos);
  EXPECT_LT(cg.condition, 0);

  const auto B = grid<Complex128>(20, {0, 0.5}, {0.1, 0});
  const auto y = wave<Complex128>(B.rows);
  const Judgement bicgstab = ask(B, product(B, y), y, 1e-8, 0);
  EXPECT_EQ(bicgstab.verdict, Verdict::pass) << bicgstab.reason;
  EXPECT_NE(bicgstab.method.find("BiCGSTAB"), std::string::npos);
}

TEST(Judge, expands_what_a_file_does_not_store) {
  const auto A = grid<double>(8);
  const auto x = wave<double>(A.rows);
  EXPECT_EQ(ask(lower(A, Symmetry::symmetric), product(A, x), x, 1e-10).verdict, Verdict::pass);

  Triplets<Complex128> H = grid<Complex128>(8);
  for (std::size_t k = 0; k < H.value.size(); ++k)
    if (H.row[k] != H.col[k]) H.value[k] += Complex128(0, H.row[k] > H.col[k] ? 0.5 : -0.5);
  const auto y = wave<Complex128>(H.rows);
  const auto b = product(H, y);
  EXPECT_EQ(ask(lower(H, Symmetry::hermitian), b, y, 1e-10).verdict, Verdict::pass);
  H.symmetry = Symmetry::hermitian;  // both triangles stored: each entry counts once
  const Judgement both = ask(H, b, y, 1e-10);
  EXPECT_EQ(both.verdict, Verdict::pass) << both.reason;
  EXPECT_EQ(both.method, "SimplicialLDLT");

  Triplets<double> S;  // (0 -2; 2 0)
  S.rows = S.cols = 2, S.symmetry = Symmetry::skew_symmetric, S.row = {1}, S.col = {0}, S.value = {2};
  EXPECT_EQ(ask(S, {-2.0, 2.0}, {1.0, 1.0}, 1e-12).verdict, Verdict::pass);
}

TEST(Judge, adds_duplicate_entries) {
  Triplets<double> A;
  A.rows = A.cols = 2, A.row = {0, 1, 0}, A.col = {0, 1, 0}, A.value = {1, 4, 2};
  EXPECT_EQ(ask(A, {3.0, 4.0}, {1.0, 1.0}, 1e-12).verdict, Verdict::pass);
}

TEST(Judge, gives_no_verdict_on_a_singular_matrix) {
  Triplets<double> A;  // a row of zeros, x solves it all the same
  A.rows = A.cols = 3, A.row = {0, 1}, A.col = {0, 1}, A.value = {1, 2};
  const Judgement j = ask(A, {1.0, 2.0, 0.0}, {1.0, 1.0, 0.0}, 1e-12);
  EXPECT_EQ(name(j.verdict), "no verdict");
  EXPECT_NE(j.reason.find("singular"), std::string::npos) << j.reason;
}

TEST(Judge, gives_no_verdict_where_its_own_krylov_method_fails) {
  auto A = grid<double>(20, -4.0, 0.0);  // skew part only: BiCGSTAB breaks down
  for (std::size_t k = 0; k < A.value.size(); ++k)
    if (A.row[k] < A.col[k]) A.value[k] = 1;
  const auto x = wave<double>(A.rows);
  const Judgement j = ask(A, product(A, x), x, 1e-10, 0);
  EXPECT_EQ(name(j.verdict), "no verdict");
  EXPECT_NE(j.reason.find("too large to be factorized"), std::string::npos) << j.reason;
  EXPECT_LE(j.residual, j.tolerance);
}

TEST(Judge, takes_lu_where_ldlt_meets_a_zero_pivot) {
  Triplets<double> A;  // (0 1; 1 0)
  A.rows = A.cols = 2, A.row = {0, 1}, A.col = {1, 0}, A.value = {1, 1};
  const Judgement j = ask(A, {2.0, 1.0}, {1.0, 2.0}, 1e-12);
  EXPECT_EQ(j.method, "SparseLU");
  EXPECT_EQ(j.verdict, Verdict::pass) << j.reason;
}

TEST(Judge, allows_for_the_rounding_of_single_precision_but_for_no_more) {
  const auto A = grid<double>(20);
  const auto x = wave<double>(A.rows);
  const auto b = product(A, x);
  auto rounded = x;
  for (double& entry : rounded) entry = static_cast<float>(entry);
  const auto ask_single = [&](const std::vector<double>& y) {
    return judge(Claim<double>{A, b, y, 0.0, std::numeric_limits<float>::epsilon(), norm(b)});
  };
  EXPECT_EQ(ask_single(rounded).verdict, Verdict::pass);
  rounded[200] *= 1.001;
  EXPECT_EQ(ask_single(rounded).verdict, Verdict::fail);
}

}  // namespace
}  // namespace krill::apps
