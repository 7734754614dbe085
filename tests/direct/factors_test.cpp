// Complete factorizations against dense elimination and the judge.
#include "sparse/direct/factors.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "sparse/core/optional_libraries.hpp"
#include "sparse/io/generate.hpp"
#include "sparse/order/ordering.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random.hpp"

namespace krill::test {
namespace {

/// About `row_length` entries a row anywhere, and a diagonal entry in some rows: such a pattern is far from symmetric.
template <class T>
Csr<T> random_general(std::uint64_t seed, std::int32_t n, int row_length) {
  std::mt19937_64 engine(seed);
  const std::vector<std::int32_t> partner = shuffled(seed, n);  // a place in every row and column
  std::vector<std::int32_t> offsets{0}, cols;
  std::vector<T> values;
  for (std::int32_t i = 0; i < n; ++i) {
    std::vector<std::int32_t> row{partner[static_cast<std::size_t>(i)]};
    for (int k = 1; k < row_length; ++k) row.push_back(static_cast<std::int32_t>(engine() % static_cast<unsigned>(n)));
    std::ranges::sort(row);
    row.erase(std::ranges::unique(row).begin(), row.end());
    for (const std::int32_t j : row) cols.push_back(j), values.push_back(random_scalar<T>(engine));
    offsets.push_back(static_cast<std::int32_t>(cols.size()));
  }
  return Csr<T>(n, Array<std::int32_t>(offsets), Array<std::int32_t>(cols), Array<T>(values));
}

/// Entries of both factors of dense elimination in that order, without exchanges, of a pattern joined with its
/// transpose.
std::int64_t entries_by_hand(const Reference& A, const std::vector<std::int32_t>& order, bool lower_alone) {
  const auto n = static_cast<std::size_t>(A.rows);
  std::vector<std::size_t> place(n);
  for (std::size_t k = 0; k < n; ++k) place[static_cast<std::size_t>(order[k])] = k;
  std::vector<std::vector<bool>> is(n, std::vector<bool>(n));
  for (std::size_t k = 0; k < n; ++k) is[k][k] = true;
  for (std::size_t e = 0; e < A.value.size(); ++e) {
    const std::size_t i = place[static_cast<std::size_t>(A.row[e])], j = place[static_cast<std::size_t>(A.col[e])];
    is[i][j] = is[j][i] = true;
  }
  std::int64_t entries = 0;
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = k; i < n; ++i) {
      if (!is[i][k]) continue;
      entries += i > k && !lower_alone ? 2 : 1;
      for (std::size_t j = k + 1; j < n; ++j)
        if (is[k][j]) is[i][j] = is[j][i] = true;
    }
  return entries;
}

TEST(DirectAnalysis, counts_what_elimination_fills_in) {
  Context host = Context::host(1);
  for (const DirectMethod method : {DirectMethod::automatic, DirectMethod::lu})
    for (const std::int32_t n : {1, 2, 7, 13}) {
      const Csr<double> A = poisson2d<double>(n);
      const DirectAnalysis a = analyze_direct(host, AnyMatrix<double>(A.clone()), method);
      const bool ldlt = method == DirectMethod::automatic;
      EXPECT_EQ(a.method, ldlt ? DirectMethod::ldlt : DirectMethod::lu);
      EXPECT_FALSE(a.by_columns);
      EXPECT_EQ(a.entries, entries_by_hand(reference(A), a.order, ldlt)) << n;
      const DirectFactors<double> factors(host, AnyMatrix<double>(A.clone()), a);
      if (ldlt) {
        EXPECT_EQ(factors.entries(), a.entries) << n;
      }
    }
}

/// By columns the count bounds the factors whatever the values are.
TEST(DirectAnalysis, bounds_what_exchanges_fill_in) {
  Context host = Context::host(1);
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    const AnyMatrix<double> A(random_general<double>(seed, 200, 3));
    const DirectAnalysis a = analyze_direct(host, A, DirectMethod::automatic);
    EXPECT_TRUE(a.by_columns);
    const DirectFactors<double> factors(host, A, a);
    EXPECT_LE(factors.entries(), a.entries) << seed;
    EXPECT_GE(factors.entries(), 200);
  }
}

TEST(DirectAnalysis, refuses_what_ldlt_cannot_take) {
  Context host = Context::host(1);
  const AnyMatrix<double> A(
      Csr<double>(2, Array<std::int32_t>{0, 2, 4}, Array<std::int32_t>{0, 1, 0, 1}, Array<double>{1, 2, 3, 1}));
  EXPECT_EQ(complaint<InvalidArgument>([&] { analyze_direct(host, A, DirectMethod::ldlt); }),
            "direct factorization: ldlt needs a symmetric matrix, and a(0, 1) (counted from 0) is not the equal of its "
            "mirror image; use method: lu");
  DirectAnalysis huge;
  huge.entries = 3e9, huge.order.resize(10);
  EXPECT_EQ(complaint<InvalidArgument>([&] { huge.require_possible(); }),
            "direct factorization: the factors of 10 rows have more than 2^31 - 1 entries, beyond what is counted; use "
            "an iterative solver");
}

struct FactorsCase {
  ScalarKind scalar;
  DirectLibrary library;
};

/// SuiteSparse in double precision, where this build has it.
std::vector<FactorsCase> factors_cases() {
  std::vector<FactorsCase> cases;
  for (const ScalarKind kind : scalar_kinds) {
    cases.push_back({kind, DirectLibrary::eigen});
    const bool doubles = kind == ScalarKind::float64 || kind == ScalarKind::complex128;
    if (with_suitesparse && doubles) cases.push_back({kind, DirectLibrary::suitesparse});
  }
  return cases;
}

class Factors : public ::testing::TestWithParam<FactorsCase> {
 protected:
  template <class F>
  void with_scalar(F&& use) const {
    krill::test::with_scalar(GetParam().scalar, std::forward<F>(use));
  }
  template <class T>
  static DirectAnalysis analysis(Context& host, const AnyMatrix<T>& A, DirectMethod method) {
    return analyze_direct(host, A, method, GetParam().library);
  }
};

template <class T>
std::vector<T> product_of(const Csr<T>& A, const std::vector<T>& x, Op op) {
  const Product p = product(op, 1.0, reference(A), to_reference(x), 0.0, std::vector<Z>(x.size()), 0);
  std::vector<T> y;
  for (const Z& entry : p.y)
    if constexpr (is_complex<T>)
      y.emplace_back(entry);
    else
      y.push_back(static_cast<T>(entry.real()));
  return y;
}

/// A^-1 (A x) is x but for rounding, which the condition of some 1e4 may enlarge.
TEST_P(Factors, undo_products_with_the_matrix_and_its_adjoint) {
  with_scalar([&]<class T>(T) {
    Context host = Context::host(1);
    struct System {
      Csr<T> A;
      DirectMethod method;
    };
    std::vector<System> systems;
    systems.push_back({random_hpd<T>(1, 300, 5), DirectMethod::ldlt});
    systems.push_back({random_hpd<T>(2, 300, 5), DirectMethod::lu});
    systems.push_back({random_dominant<T>(3, 300, 5), DirectMethod::lu});
    systems.push_back({random_general<T>(4, 300, 4), DirectMethod::lu});
    systems.push_back(
        {std::get<Csr<T>>(generate<T>(Poisson3dOptions{.nx = 9})), DirectMethod::ldlt});  // with dense blocks
    Csr<T> negative = random_hpd<T>(5, 300, 5);
    for (T& value : negative.values().edit()) value = -value;
    systems.push_back({std::move(negative), DirectMethod::ldlt});
    for (const auto& [A, method] : systems) {
      const AnyMatrix<T> any(A.clone());
      const DirectAnalysis a = analysis(host, any, method);
      EXPECT_EQ(a.method, method);
      const DirectFactors<T> factors(host, any, a);
      EXPECT_FALSE(factors.zero_pivot());
      EXPECT_EQ(factors.is_definite(), method == DirectMethod::ldlt);
      EXPECT_EQ(factors.library(), GetParam().library == DirectLibrary::eigen ? "Eigen"
                                   : method == DirectMethod::ldlt             ? "CHOLMOD"
                                                                              : "KLU");
      const double allowed = condition_estimate(host, any, factors) * 100 * epsilon<T>();
      const std::vector<T> x = random_vector<T>(9, A.rows());
      for (const bool adjoint : {false, true}) {
        std::vector<T> z = product_of(A, x, adjoint ? Op::adjoint : Op::none);
        adjoint ? factors.solve_adjoint(z, z) : factors.solve(z, z);
        double error = 0;
        for (std::size_t i = 0; i < x.size(); ++i) error = std::max(error, std::abs(Z(z[i]) - Z(x[i])));
        EXPECT_LE(error, allowed);
        EXPECT_LT(allowed, sizeof(real_t<T>) == 4 ? 10 : 1e-6);
      }
    }
  });
}

/// ||A^-1||_1 from all of its columns.
TEST_P(Factors, estimate_the_condition_from_below_within_ten) {
  with_scalar([&]<class T>(T) {
    Context host = Context::host(1);
    for (const std::uint64_t seed : {1, 2, 3}) {
      constexpr std::int32_t n = 60;
      const Csr<T> A = seed < 3 ? random_general<T>(seed, n, 4) : random_hpd<T>(seed, n, 4);
      const AnyMatrix<T> any(A.clone());
      const DirectFactors<T> factors(host, any, analysis(host, any, DirectMethod::automatic));
      double inverse_norm = 0, norm = 0;
      std::vector<double> columns(n);
      for (std::size_t e = 0; e < static_cast<std::size_t>(A.nnz()); ++e)
        norm = std::max(
            norm, columns[static_cast<std::size_t>(A.col_indices().host()[e])] += std::abs(Z(A.values().host()[e])));
      for (std::int32_t j = 0; j < n; ++j) {
        std::vector<T> e(n);
        e[static_cast<std::size_t>(j)] = T(1);
        factors.solve(e, e);
        double sum = 0;
        for (const T& entry : e) sum += std::abs(Z(entry));
        inverse_norm = std::max(inverse_norm, sum);
      }
      const double estimate = condition_estimate(host, any, factors);
      EXPECT_LE(estimate, norm * inverse_norm * (1 + 1e-3)) << seed;
      EXPECT_GE(estimate, norm * inverse_norm / 10) << seed;
    }
  });
}

TEST_P(Factors, name_the_column_that_has_no_pivot) {
  with_scalar([&]<class T>(T) {
    Context host = Context::host(1);
    // column 2 is twice column 0, and nothing else is in their rows
    const AnyMatrix<T> A(Csr<T>(4, Array<std::int32_t>{0, 2, 3, 5, 6}, Array<std::int32_t>{0, 2, 1, 0, 2, 3},
                                Array<T>{1, 2, 1, 2, 4, 1}));
    const DirectFactors<T> factors(host, A, analysis(host, A, DirectMethod::lu));
    ASSERT_TRUE(factors.zero_pivot());
    EXPECT_TRUE(*factors.zero_pivot() == 0 || *factors.zero_pivot() == 2) << *factors.zero_pivot();
    EXPECT_EQ(condition_estimate(host, A, factors), std::numeric_limits<double>::infinity());
    std::vector<T> z(4, T(1));
    factors.solve(z, z);
    EXPECT_EQ(z, std::vector<T>(4));
    // two rows that are alike, in a Hermitian matrix
    const AnyMatrix<T> H(
        Csr<T>(3, Array<std::int32_t>{0, 2, 4, 5}, Array<std::int32_t>{0, 1, 0, 1, 2}, Array<T>{1, 1, 1, 1, 1}));
    const DirectFactors<T> of_h(host, H, analysis(host, H, DirectMethod::ldlt));
    ASSERT_TRUE(of_h.zero_pivot());
    EXPECT_LT(*of_h.zero_pivot(), 2);
  });
}

/// Few entries in many columns, and an entry in all columns but one.
TEST_P(Factors, name_a_column_without_entries) {
  with_scalar([&]<class T>(T) {
    Context host = Context::host(1);
    constexpr std::int32_t n = 1000;
    for (const std::int32_t entries : {0, 1, n - 1}) {
      std::vector<std::int32_t> offsets{0}, cols(static_cast<std::size_t>(entries));
      std::iota(cols.begin(), cols.end(), 0);
      for (std::int32_t i = 0; i < n; ++i) offsets.push_back(std::min(i + 1, entries));
      const AnyMatrix<T> A(Csr<T>(n, Array<std::int32_t>(offsets), Array<std::int32_t>(cols),
                                  Array<T>(std::vector<T>(cols.size(), T(1)))));
      const DirectFactors<T> factors(host, A, analysis(host, A, DirectMethod::lu));
      ASSERT_TRUE(factors.zero_pivot());
      EXPECT_GE(*factors.zero_pivot(), entries);
      EXPECT_EQ(condition_estimate(host, A, factors), std::numeric_limits<double>::infinity());
    }
  });
}

TEST_P(Factors, of_an_indefinite_matrix_say_so) {
  with_scalar([&]<class T>(T) {
    Context host = Context::host(1);
    const AnyMatrix<T> A(
        Csr<T>(2, Array<std::int32_t>{0, 2, 4}, Array<std::int32_t>{0, 1, 0, 1}, Array<T>{1, 2, 2, 1}));
    EXPECT_FALSE(DirectFactors<T>(host, A, analysis(host, A, DirectMethod::ldlt)).is_definite());
    const AnyMatrix<T> B(poisson2d<T>(5));
    EXPECT_TRUE(DirectFactors<T>(host, B, analysis(host, B, DirectMethod::ldlt)).is_definite());
  });
}

TEST_P(Factors, name_the_least_pivot) {
  with_scalar([&]<class T>(T) {
    Context host = Context::host(1);
    for (const DirectMethod method : {DirectMethod::ldlt, DirectMethod::lu}) {
      // rows 0 and 2 make a block with the pivots 1 and 1/8, or 9/8 and 1/9
      const AnyMatrix<T> A(Csr<T>(4, Array<std::int32_t>{0, 2, 3, 5, 6}, Array<std::int32_t>{0, 2, 1, 0, 2, 3},
                                  Array<T>{1, 1, 1, 1, T(1.125F), 1}));
      const DirectFactors<T> factors(host, A, analysis(host, A, method));
      EXPECT_NEAR(factors.pivot_ratio(), 0.11, 0.016);
      EXPECT_TRUE(factors.least_pivot() == 0 || factors.least_pivot() == 2) << factors.least_pivot();
    }
  });
}

/// Two blocks that a permutation shows, far apart in the matrix, and entries between them on one side alone.
TEST_P(Factors, of_reducible_matrices) {
  with_scalar([&]<class T>(T) {
    Context host = Context::host(1);
    const std::int32_t n = 200;
    std::mt19937_64 engine(11);
    const std::vector<std::int32_t> order = shuffled(12, n);
    std::vector<std::map<std::int32_t, T>> rows(static_cast<std::size_t>(n));
    for (std::int32_t i = 0; i < n; ++i) {
      auto& row = rows[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])];
      row.emplace(order[static_cast<std::size_t>((i * 7) % n)], random_scalar<T>(engine) + T(2));
      if (i >= n / 2) row.emplace(order[static_cast<std::size_t>(i - n / 2)], random_scalar<T>(engine));
    }
    std::vector<std::int32_t> offsets{0}, cols;
    std::vector<T> values;
    for (const auto& row : rows) {
      for (const auto& [col, value] : row) cols.push_back(col), values.push_back(value);
      offsets.push_back(static_cast<std::int32_t>(cols.size()));
    }
    const Csr<T> A(n, Array<std::int32_t>(offsets), Array<std::int32_t>(cols), Array<T>(values));
    const AnyMatrix<T> any(A.clone());
    const DirectFactors<T> factors(host, any, analysis(host, any, DirectMethod::lu));
    ASSERT_FALSE(factors.zero_pivot());
    const std::vector<T> x = random_vector<T>(13, n);
    std::vector<T> z = product_of(A, x, Op::none);
    factors.solve(z, z);
    const double allowed = condition_estimate(host, any, factors) * 100 * epsilon<T>();
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_LE(std::abs(Z(z[i]) - Z(x[i])), allowed);
  });
}

/// NaN in, NaN out, and no library sees it.
TEST_P(Factors, of_what_is_not_finite_are_none) {
  with_scalar([&]<class T>(T) {
    Context host = Context::host(1);
    const T nan = std::numeric_limits<real_t<T>>::quiet_NaN();
    const AnyMatrix<T> A(Csr<T>(2, Array<std::int32_t>{0, 1, 2}, Array<std::int32_t>{0, 1}, Array<T>{nan, T(1)}));
    const DirectFactors<T> factors(host, A, analysis(host, A, DirectMethod::lu));
    EXPECT_FALSE(factors.zero_pivot());
    std::vector<T> z(2, T(1));
    factors.solve(z, z);
    EXPECT_TRUE(std::isnan(std::abs(z[0])) && std::isnan(std::abs(z[1])));
  });
}

TEST(DirectAnalysis, takes_the_library_that_suits_the_work) {
  Context host = Context::host(1);
  const auto library = [&](const AnyMatrix<double>& A, DirectMethod method) {
    return analyze_direct(host, A, method).library;
  };
  const AnyMatrix<double> grid = generate<double>(Poisson3dOptions{.nx = 24}),
                          line = generate<double>(Poisson1dOptions{.nx = 1000});
  const DirectLibrary other = with_suitesparse ? DirectLibrary::suitesparse : DirectLibrary::eigen;
  EXPECT_EQ(library(grid, DirectMethod::ldlt), other);
  EXPECT_EQ(library(grid, DirectMethod::lu), DirectLibrary::eigen);
  EXPECT_EQ(library(line, DirectMethod::ldlt), DirectLibrary::eigen);
  EXPECT_EQ(library(line, DirectMethod::lu), other);
  const AnyMatrix<float> single = generate<float>(Poisson3dOptions{.nx = 24});
  EXPECT_EQ(analyze_direct(host, single, DirectMethod::ldlt).library, DirectLibrary::eigen);
  const std::string refusal =
      complaint<InvalidArgument>([&] { analyze_direct(host, single, DirectMethod::ldlt, DirectLibrary::suitesparse); });
  EXPECT_NE(refusal.find(with_suitesparse ? "double precision alone" : "this build has no SuiteSparse"),
            std::string::npos)
      << refusal;
}

/// Of large grids nested dissection takes less work than minimum degree.
TEST(DirectAnalysis, takes_the_order_with_less_work) {
  if (!with_metis) GTEST_SKIP() << "this build has no METIS";
  Context host = Context::host(1);
  const Csr<double> A = std::get<Csr<double>>(generate<double>(Poisson3dOptions{.nx = 24}));
  const DirectAnalysis a = analyze_direct(host, AnyMatrix<double>(A.clone()), DirectMethod::ldlt);
  EXPECT_TRUE(std::ranges::equal(a.order, nested_dissection(host, A).order().host()));
  const DirectFactors<double> factors(host, AnyMatrix<double>(A.clone()), a);
  EXPECT_GE(factors.entries(), a.entries);  // blocks of CHOLMOD hold zeros, too
  EXPECT_LE(factors.entries(), 1.3 * a.entries);
}

/// Rows and columns of very different sizes need no scaling by the user.
TEST(FactorScales, bear_rows_and_columns_of_all_sizes) {
  Context host = Context::host(1);
  Csr<double> A = random_general<double>(6, 100, 4);
  const auto size = [](std::int32_t i) { return std::ldexp(1.0, (i % 9 - 4) * 100); };
  for (std::int32_t i = 0; i < 100; ++i)
    for (auto e = static_cast<std::size_t>(A.row_offsets().host()[static_cast<std::size_t>(i)]);
         e < static_cast<std::size_t>(A.row_offsets().host()[static_cast<std::size_t>(i) + 1]); ++e)
      A.values().edit()[e] *= size(i);
  const AnyMatrix<double> any(A.clone());
  const DirectFactors<double> factors(host, any, analyze_direct(host, any, DirectMethod::lu));
  const std::vector<double> x = random_vector<double>(7, 100);
  std::vector<double> z = product_of(A, x, Op::none);
  factors.solve(z, z);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_NEAR(z[i], x[i], 1e-9) << i;
}

INSTANTIATE_TEST_SUITE_P(, Factors, ::testing::ValuesIn(factors_cases()), [](const auto& info) {
  const bool eigen = info.param.library == DirectLibrary::eigen;
  return std::string(name(info.param.scalar)) + (eigen ? "" : "_by_suitesparse");
});

}  // namespace
}  // namespace krill::test
