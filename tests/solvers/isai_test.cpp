// Incomplete sparse approximate inverses as preconditioners.
#include "apps/verify/references/sparse_inverse.hpp"
#include "solvers/precond/shared_isai.hpp"
#include "sparse/inverse/sparse_inverse.hpp"
#include "sparse/parallel/exchange_rows.hpp"
#include "tests/solvers/applied.hpp"
#include "tests/solvers/team.hpp"
#include "tests/support/references.hpp"

namespace krill::test {
namespace {

IsaiOptions isai(IsaiForm form, int max_entries = 256) { return {form, max_entries, KeptPrecision::automatic}; }

/// M, or G.
template <class T>
Reference incomplete_inverse(const Csr<T>& A, bool factored) {
  const InverseForm form = factored ? InverseForm::factored : InverseForm::general;
  return reference(verify::sparse_inverse(verify::rows_of(A), form, max_inverse_entries));
}

Reference absolute(Reference A) {
  for (Z& value : A.value) value = std::abs(value);
  return A;
}
std::vector<Z> times(Op op, const Reference& A, const std::vector<Z>& x) { return product(op, 1, A, x, 0, x, 0).y; }

/// Of ranks that have a part of A each.
template <class T>
std::vector<T> applied_in_team(Backend backend, const Csr<T>& A, int ranks, const std::vector<T>& r,
                               const IsaiOptions& o, std::vector<PreconditionerReport>* reports = nullptr) {
  return applied_in_team<T>(
      backend, A, shares(A.rows(), ranks), r,
      [&](Context& ctx, const RowSlice<T>& rows, const AnyMatrix<T>&, const RowShare& share) {
        return make_shared_isai<T>(ctx, o, rows, share);
      },
      reports);
}

using Isai = OnBackendAndScalar;

/// Each rank's rows of M and G have the bits of one process, also where rows keep a part of their entries.
TEST_P(Isai, has_the_rows_of_one_process_on_several_ranks) {
  with_scalar([&]<class T>(T) {
    const Backend backend = std::get<0>(GetParam());
    for (const InverseForm form : {InverseForm::general, InverseForm::factored})
      for (const int max_entries : {256, 4}) {
        const Csr<T> A = form == InverseForm::general ? random_dominant<T>(11, 151, 7) : random_hpd<T>(12, 151, 6);
        Context whole_ctx = context();
        auto whole = SparseInverse<T>::analyze(whole_ctx, A, form, max_entries);
        whole.update(whole_ctx, A);
        const auto list = [](const RowSlice<T>& rows, std::int64_t i) {
          std::vector<std::pair<std::int64_t, T>> entries;
          rows.for_entries(i, [&](std::int64_t column, const T& value) { entries.emplace_back(column, value); });
          return entries;
        };
        const RowSlice<T> expected = slice_rows(whole.matrix(), 0, A.rows());
        for (const int ranks : {2, 3, 4})
          run_team(ranks, [&](Team& team) {
            Context ctx = rank_context(backend);
            const RowPartition partition = shares(A.rows(), ranks);
            const std::int64_t begin = partition.begin(team.rank()), end = partition.end(team.rank());
            const RowSlice<T> rows = slice_rows(A, begin, end);
            const HaloPlan halo(team, partition, ghost_columns(team, partition, rows));
            const AnyMatrix<T> around = in_places(ctx, rows, import_rows(ctx, team, rows, halo).slice(), halo);
            const auto& part = std::get<Csr<T>>(around);
            const auto low = static_cast<std::int32_t>(halo.low());
            const RowRange own{low, low + static_cast<std::int32_t>(halo.own())};
            auto inverse = SparseInverse<T>::analyze(ctx, part, form, max_entries, own);
            inverse.update(ctx, part);
            EXPECT_EQ(inverse.singular(), std::nullopt);
            const RowSlice<T> made = slice_rows(inverse.matrix(), own.begin, own.end, &halo);
            for (std::int64_t i = begin; i < end; ++i) EXPECT_EQ(list(made, i - begin), list(expected, i)) << i;
            EXPECT_EQ(inverse.matrix().nnz(), made.nnz()) << "other rows are empty";
          });
      }
  });
}

/// Several ranks multiply with the inverse of one process; their sums are added in another order.
TEST_P(Isai, is_applied_by_several_ranks_as_by_one_process) {
  with_scalar([&]<class T>(T) {
    const Backend backend = std::get<0>(GetParam());
    for (const IsaiForm form : {IsaiForm::automatic, IsaiForm::general, IsaiForm::factored})
      for (const bool hermitian : {true, false})
        for (const std::int32_t n : {3, 151}) {
          if (form == IsaiForm::factored && !hermitian) continue;
          const Csr<T> A = hermitian ? random_hpd<T>(13, n, 6) : random_dominant<T>(14, n, 7);
          const IsaiOptions o = isai(form, 9);
          const auto r = random_vector<T>(15, n);
          Context ctx = context();
          const auto alone = made<T>(ctx, o, AnyMatrix<T>(A.clone()));
          const std::vector<T> z = applied(ctx, *alone, r);
          const bool factored = fact<std::string>(alone->report(), "form") == "factored";
          const Reference size = absolute(reference(
              verify::sparse_inverse(verify::rows_of(A), factored ? InverseForm::factored : InverseForm::general, 9)));
          std::vector<Z> bound = times(Op::none, size, std::vector<Z>(r.size(), std::sqrt(2.0)));
          if (factored) bound = times(Op::adjoint, size, bound);
          // Two sums of complex products or four, each of so many terms as a row or a column has.
          std::vector<std::int64_t> lengths(r.size());
          for (const auto col : size.col) ++lengths[static_cast<std::size_t>(col)];
          const double terms = 8.0 * double(9 + *std::ranges::max_element(lengths));
          for (const int ranks : {1, 2, 3, 4}) {
            std::vector<PreconditionerReport> reports;
            const std::vector<T> shared = applied_in_team(backend, A, ranks, r, o, &reports);
            for (std::size_t i = 0; i < r.size(); ++i)
              EXPECT_LE(std::abs(Z(shared[i]) - Z(z[i])), terms * epsilon<T>() * bound[i].real())
                  << i << " of " << n << ", " << ranks << " ranks";
            for (const PreconditionerReport& report : reports) {
              EXPECT_EQ(report.notes, alone->report().notes);
              EXPECT_EQ(fact<std::string>(report, "form"), factored ? "factored" : "general");
              for (const char* name : {"inverse_nonzeros", "longest_row", "shortened_rows"})
                EXPECT_EQ(fact<std::int64_t>(report, name), fact<std::int64_t>(alone->report(), name)) << name;
            }
          }
        }
  });
}

TEST_P(Isai, multiplies_with_the_inverse_that_dense_systems_give) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto check = [&](const Csr<T>& A, IsaiForm form) {
      const bool factored = form == IsaiForm::factored;
      const auto M = made<T>(ctx, isai(form), AnyMatrix<T>(A.clone()));
      const auto r = random_vector<T>(1, A.rows());
      const auto z = applied(ctx, *M, r);
      const Reference exact = incomplete_inverse(A, factored), size = absolute(exact);
      auto expected = times(Op::none, exact, to_reference(r));
      std::vector<Z> bound = times(Op::none, size, std::vector<Z>(r.size(), std::sqrt(2.0)));
      if (factored) expected = times(Op::adjoint, exact, expected), bound = times(Op::adjoint, size, bound);
      // Of each system the solution is within k^2 eps times its condition, of which a product sees one or two.
      const double rounding = 8 * 10 * 10 * epsilon<T>() * dominant_condition;
      for (std::size_t i = 0; i < r.size(); ++i)
        EXPECT_LE(std::abs(Z(z[i]) - expected[i]), rounding * bound[i].real()) << i;
    };
    for (const std::int32_t n : {1, 7, 150}) {
      check(random_dominant<T>(2, n, 7), IsaiForm::general);
      check(random_hpd<T>(3, n, 6), IsaiForm::factored);
      check(random_hpd<T>(4, n, 6), IsaiForm::general);
    }
  });
}

TEST_P(Isai, saves_iterations_and_converges_with_shortened_rows) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const double tolerance = sizeof(real_t<T>) == 4 ? 1e-4 : 1e-8;
    const Csr<T> A = poisson2d<T>(40);
    const auto b = random_vector<T>(5, A.rows());
    const auto solvers = all_solvers(tolerance);
    const auto iterations = [&](const SolverOptions& solver, const PreconditionerOptions& options) {
      const Solved<T> solved = solve(ctx, A, b, solver, options);
      EXPECT_EQ(solved.report.reason, Reason::converged);
      EXPECT_LE(relative_residual(reference(A), to_reference(solved.x), to_reference(b)), 1.01 * tolerance);
      return solved.report.iterations;
    };
    const auto diagonal = iterations(solvers[0], JacobiOptions{});
    EXPECT_LT(iterations(solvers[0], IsaiOptions{}), diagonal * 3 / 4);
    EXPECT_LT(iterations(solvers[2], isai(IsaiForm::general)), iterations(solvers[2], JacobiOptions{}));
    EXPECT_LT(iterations(solvers[0], isai(IsaiForm::automatic, 2)), diagonal);
    EXPECT_NEAR(iterations(solvers[0], isai(IsaiForm::automatic, 1)), diagonal, 1);  // the diagonal alone
  });
}

INSTANTIATE_TEST_SUITE_P(, Isai, backends_and_scalars, param_name);

using IsaiFacts = OnBackend;

TEST_P(IsaiFacts, pcg_takes_the_iterations_of_a_dense_reference) {
  Context ctx = context();
  for (const Csr<double>& A : {poisson2d<double>(30), random_hpd<double>(6, 700, 12)}) {
    const auto b = random_vector<double>(7, A.rows());
    const Reference judged = reference(A);
    const int expected = dense_inverse_cg_iterations(judged, incomplete_inverse(A, true), to_reference(b), 1e-8);
    EXPECT_NEAR(solve(ctx, A, b, SolverOptions(PcgOptions{}), IsaiOptions{}).report.iterations, expected, 1);
  }
}

TEST_P(IsaiFacts, are_reported) {
  Context ctx = context();
  const AnyMatrix<double> A(poisson2d<double>(20)), general(random_dominant<double>(8, 50, 6));
  const std::int64_t nnz = 400 + 4 * 20 * 19;
  const auto report = made<double>(ctx, IsaiOptions{}, A)->report();
  EXPECT_EQ(fact<std::string>(report, "form"), "factored");
  EXPECT_EQ(fact<std::int64_t>(report, "inverse_nonzeros"), 400 + 2 * 20 * 19);
  EXPECT_EQ(fact<std::int64_t>(report, "longest_row"), 3);
  EXPECT_EQ(fact<std::int64_t>(report, "shortened_rows"), 0);
  EXPECT_TRUE(report.notes.empty());
  EXPECT_GE(report.bytes, static_cast<std::size_t>(2 * (400 + 2 * 20 * 19) * 12));  // G and G^H
  EXPECT_GE(report.symbolic_ms, 0);
  EXPECT_GT(report.numeric_ms, 0);
  EXPECT_EQ(fact<std::string>(made<double>(ctx, IsaiOptions{}, general)->report(), "form"), "general");

  const auto chosen = made<double>(ctx, isai(IsaiForm::general), A)->report();
  EXPECT_EQ(fact<std::string>(chosen, "form"), "general");
  EXPECT_EQ(fact<std::int64_t>(chosen, "inverse_nonzeros"), nnz);
  const auto short_rows = made<double>(ctx, isai(IsaiForm::general, 4), A)->report();
  EXPECT_EQ(fact<std::int64_t>(short_rows, "shortened_rows"), 18 * 18);
  EXPECT_EQ(short_rows.notes,
            std::vector<std::string>{
                "preconditioner isai: 324 rows of the inverse kept 4 entries next to the diagonal (most_entries)"});
}

TEST_P(IsaiFacts, what_has_no_inverse_is_refused) {
  Context ctx = context();
  const auto refusal = [&](IsaiForm form, Csr<double> entries) {
    const AnyMatrix<double> A(std::move(entries));
    return complaint<InvalidArgument>([&] { make_preconditioner<double>(ctx, isai(form), A); });
  };
  const auto two = [](double a, double b, double c, double d) {
    return Csr<double>(2, Array<std::int32_t>{0, 2, 4}, Array<std::int32_t>{0, 1, 0, 1}, Array<double>{a, b, c, d});
  };
  const std::string in_row_0 = " in row 0 (rows count from 0): ", in_row_1 = " in row 1 (rows count from 0): ";
  EXPECT_EQ(refusal(IsaiForm::automatic, two(1, 2, 2, 4.5)), "");
  EXPECT_EQ(refusal(IsaiForm::general, two(1, 2, 2, 4)),
            "preconditioner isai: A(J, J) of its columns J is singular" + in_row_0 +
                "use preconditioner ilu0 with shift: {type: nonzero}, or none");
  EXPECT_EQ(refusal(IsaiForm::automatic, two(1, 2, 2, 3.5)),
            "preconditioner isai: A(J, J) of its columns J is not positive definite (a pivot is -0.5)" + in_row_1 +
                "use form general with solver gmres, or preconditioner none");
  EXPECT_EQ(refusal(IsaiForm::general, two(1, 2, std::numeric_limits<double>::quiet_NaN(), 3)),
            "preconditioner isai: A(J, J) of its columns J, or the inverse of that, is not finite" + in_row_0 +
                "look at the entries of the matrix (krill inspect), or scale it");
  for (const IsaiForm form : {IsaiForm::automatic, IsaiForm::general, IsaiForm::factored})
    EXPECT_EQ(refusal(form, {2, Array<std::int32_t>{0, 2, 3}, Array<std::int32_t>{0, 1, 0}, Array<double>{1, 2, 3}}),
              "preconditioner isai: there is no entry on the diagonal" + in_row_1 +
                  "set matching: {type: product}, or use preconditioner none");
  const AnyMatrix<double> wide(Csr<double>(3, Array<std::int32_t>{0, 1}, Array<std::int32_t>{0}, Array<double>{1.0}));
  EXPECT_THROW(make_preconditioner<double>(ctx, IsaiOptions{}, wide), ShapeMismatch);
}

/// In the words of one process: rows are those of the whole matrix. And where one rank alone sees that A is not
/// Hermitian, all take the general form.
TEST_P(IsaiFacts, are_those_of_one_process_on_several_ranks) {
  Context ctx = context();
  const Csr<double> A = poisson2d<double>(10);
  const auto changed = [&](std::int32_t row, std::int32_t column, double value) {
    std::vector<double> values = contents(A.values());
    for (auto k = A.row_offsets().host()[static_cast<std::size_t>(row)];
         k < A.row_offsets().host()[static_cast<std::size_t>(row) + 1]; ++k)
      if (A.col_indices().host()[static_cast<std::size_t>(k)] == column) values[static_cast<std::size_t>(k)] = value;
    return Csr<double>(A.cols(), A.row_offsets().clone(), A.col_indices().clone(), Array<double>(values));
  };
  const auto r = random_vector<double>(16, A.rows());
  const auto refusals = [&](IsaiForm form, const Csr<double>& B) {
    return std::pair(complaint<InvalidArgument>([&] { made<double>(ctx, isai(form), AnyMatrix<double>(B.clone())); }),
                     complaint<InvalidArgument>([&] { applied_in_team(GetParam(), B, 4, r, isai(form)); }));
  };
  for (const IsaiForm form : {IsaiForm::general, IsaiForm::factored})
    for (const auto& [value, row] : {std::pair(std::numeric_limits<double>::quiet_NaN(), 60), std::pair(-4.0, 99)}) {
      const auto [one, several] = refusals(form, changed(row, row, value));
      EXPECT_EQ(several, one);
      EXPECT_EQ(one.empty(), form == IsaiForm::general && !std::isnan(value)) << one;
    }
  for (const auto& [row, column] : {std::pair(99, 98), std::pair(50, 40), std::pair(0, 10)}) {
    std::vector<PreconditionerReport> reports;
    applied_in_team(GetParam(), changed(row, column, -0.5), 4, r, IsaiOptions{}, &reports);
    for (const PreconditionerReport& report : reports) EXPECT_EQ(fact<std::string>(report, "form"), "general");
  }
}

INSTANTIATE_TEST_SUITE_P(, IsaiFacts, backends, param_name);

}  // namespace
}  // namespace krill::test
