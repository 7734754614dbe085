#include "solvers/precond/preconditioner.hpp"

#include "sparse/convert/to_format.hpp"
#include "tests/solvers/systems.hpp"
#include "tests/support/assertions.hpp"

namespace krill::test {
namespace {

using Preconditioners = OnBackend;

std::string refusal(Context& ctx, const PreconditionerOptions& options, Csr<double> A) {
  const AnyMatrix<double> any(std::move(A));
  return complaint<InvalidArgument>([&] { make_preconditioner(ctx, options, any); });
}

/// The matrix of Kershaw (1978): positive definite, and yet IC(0) meets a negative pivot.
Csr<double> kershaw() {
  return {4, Array<std::int32_t>{0, 3, 6, 9, 12}, Array<std::int32_t>{0, 1, 3, 0, 1, 2, 1, 2, 3, 0, 2, 3},
          Array<double>{3, -2, 2, -2, 3, -2, -2, 3, -2, 2, -2, 3}};
}

TEST_P(Preconditioners, ic0_shifts_the_diagonal_where_it_breaks_down) {
  Context ctx = context();
  const AnyMatrix<double> A(kershaw());
  const auto made = make_preconditioner<double>(ctx, Ic0Options{}, A);
  ASSERT_EQ(made->report().notes.size(), 1u);
  EXPECT_NE(made->report().notes[0].find("preconditioner ic0: the diagonal was multiplied by 1."), std::string::npos);
  EXPECT_NE(made->report().notes[0].find("row 3"), std::string::npos) << made->report().notes[0];
  const Solved<double> solved =
      solve(ctx, kershaw(), std::vector<double>{1, 2, 3, 4}, SolverOptions(PcgOptions{}), Ic0Options{});
  EXPECT_EQ(solved.report.reason, Reason::converged);
  const Ic0Options enough{{CholeskyShift::positive_definite, 0.5}};
  EXPECT_TRUE(make_preconditioner<double>(ctx, enough, A)->report().notes.empty());
}

/// 3 - 4/3 - 4/0.6 = -5.
TEST_P(Preconditioners, cholesky_without_a_shift_names_row_and_value_of_what_has_no_root) {
  Context ctx = context();
  Paric0Options by_sweeps;
  by_sweeps.sweeps = 10, by_sweeps.shift.type = CholeskyShift::none;
  Bic0Options in_blocks;
  in_blocks.block_dim = 1, in_blocks.shift.type = CholeskyShift::none;
  for (const PreconditionerOptions& options : {PreconditionerOptions(Ic0Options{{CholeskyShift::none}}),
                                               PreconditionerOptions(by_sweeps), PreconditionerOptions(in_blocks)}) {
    const std::string message = refusal(ctx, options, kershaw());
    EXPECT_NE(message.find("the pivot is not positive (the root of -5) in row 3 (rows count from 0): set shift: {type: "
                           "positive_definite}, or use preconditioner jacobi or none"),
              std::string::npos)
        << message;
  }
}

TEST_P(Preconditioners, ilu0_says_how_many_pivots_it_boosted) {
  Context ctx = context();
  const auto singular = [] {
    return Csr<double>(3, Array<std::int32_t>{0, 2, 5, 7}, Array<std::int32_t>{0, 1, 0, 1, 2, 1, 2},
                       Array<double>{2, 4, 1, 2, 3, 5, 1});
  };
  EXPECT_EQ(refusal(ctx, Ilu0Options{}, singular()),
            "preconditioner ilu0: the pivot is 0 in row 1 (rows count from 0): set shift: {type: nonzero}, or use "
            "preconditioner none");
  const AnyMatrix<double> A(singular());
  const auto made = make_preconditioner<double>(ctx, Ilu0Options{0.5, 0.01}, A);
  EXPECT_EQ(made->report().notes, std::vector<std::string>{"preconditioner ilu0: 1 pivot became 0.5"});
  EXPECT_GT(made->report().bytes, 0u);
}

TEST_P(Preconditioners, block_jacobi_names_the_block_that_it_cannot_invert) {
  Context ctx = context();
  const auto with_block = [](double value) {
    Csr<double> A = poisson2d<double>(6);
    for (std::int32_t k = A.row_offsets().host()[20]; k < A.row_offsets().host()[24]; ++k)
      A.values().edit()[static_cast<std::size_t>(k)] = value;
    return A;
  };
  EXPECT_EQ(refusal(ctx, BlockJacobiOptions{4}, with_block(0)),
            "preconditioner block_jacobi: there is a singular diagonal block of 4 rows that begins in row 20 (rows "
            "count from 0): choose another block_dim, or use preconditioner none");
  for (const double wrong : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e-320})
    for (const int dim : {1, 4})
      EXPECT_NE(refusal(ctx, BlockJacobiOptions{dim}, with_block(wrong))
                    .find("not finite or without a finite inverse, that begins in row 20 (rows"),
                std::string::npos)
          << wrong << ' ' << dim;
}

TEST_P(Preconditioners, sweeps_and_polynomials_name_the_diagonal_that_they_cannot_have) {
  Context ctx = context();
  const auto with_diagonal = [](double value) {
    Csr<double> A = poisson2d<double>(5);
    A.values().edit()[0] = value;
    return A;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const PreconditionerOptions& options :
       {PreconditionerOptions(JacobiOptions{}), PreconditionerOptions(GaussSeidelOptions{}),
        PreconditionerOptions(GaussSeidelOptions{SweepDirection::forward}), PreconditionerOptions(SsorOptions{})}) {
    EXPECT_NE(refusal(ctx, options, with_diagonal(0)).find("a(0, 0) is 0 or missing"), std::string::npos);
    EXPECT_NE(refusal(ctx, options, with_diagonal(nan)).find("a(0, 0) is not finite"), std::string::npos);
  }
  EXPECT_EQ(refusal(ctx, ChebyshevOptions{}, with_diagonal(0)),
            "preconditioner chebyshev: the diagonal entry is 0 or missing in row 0 (rows count from 0): the matrix is "
            "not positive definite: use preconditioner none with solver gmres");
  for (const double wrong : {-1.0, nan, std::numeric_limits<double>::infinity()})
    EXPECT_NE(
        refusal(ctx, ChebyshevOptions{}, with_diagonal(wrong)).find("is not positive, or not finite, in row 0 (rows"),
        std::string::npos);
  Csr<double> beside = poisson2d<double>(5);
  beside.values().edit()[beside.row_offsets().host()[12]] = nan;
  EXPECT_NE(refusal(ctx, ChebyshevOptions{}, std::move(beside)).find("in row 12 (rows"), std::string::npos);
  Csr<double> indefinite = poisson2d<double>(5);
  for (double& value : indefinite.values().edit())
    if (value < 0) value = -9;
  EXPECT_NE(refusal(ctx, ChebyshevOptions{}, std::move(indefinite))
                .find("the matrix is not positive definite: use preconditioner jacobi"),
            std::string::npos);
}

TEST_P(Preconditioners, factorizations_in_blocks_name_rows_and_block_rows) {
  Context ctx = context();
  Bilu0Options lu;
  Bic0Options cholesky;
  lu.block_dim = cholesky.block_dim = 3;
  Csr<double> singular = poisson2d<double>(6);
  for (std::int32_t k = singular.row_offsets().host()[16]; k < singular.row_offsets().host()[17]; ++k)
    singular.values().edit()[static_cast<std::size_t>(k)] = 0;
  EXPECT_EQ(refusal(ctx, lu, singular.clone()),
            "preconditioner bilu0: the pivot is 0 in row 16, block row 5 of 3 rows each (rows count from 0): set "
            "shift: {type: nonzero}, or use preconditioner none");
  EXPECT_NE(refusal(ctx, cholesky, std::move(singular)).find("in row 16, block row 5 of 3 rows each"),
            std::string::npos);
}

TEST_P(Preconditioners, values_beyond_single_precision_are_refused_there) {
  Context ctx = context();
  const auto huge = [] {
    Csr<double> A = poisson2d<double>(5);
    A.values().edit()[static_cast<std::size_t>(A.row_offsets().host()[7])] = -1e39;
    return A;
  };
  Ilu0Options options;
  options.precision = KeptPrecision::float32;
  const std::string expected =
      "preconditioner ilu0: there is a value beyond the range of float32 in row 7 (rows count from 0): use precision "
      "auto, or scale the matrix";
  EXPECT_EQ(refusal(ctx, options, huge()), expected);
  FormatLayout layout;
  layout.block_rows = 3;
  for (const bool by_columns : {false, true}) {
    layout.block_columns = by_columns;
    const AnyMatrix<double> blocked = to_format(ctx, AnyMatrix<double>(huge()), Format::bsr, layout);
    EXPECT_EQ(complaint<InvalidArgument>([&] { make_preconditioner(ctx, PreconditionerOptions(options), blocked); }),
              expected);
  }
}

TEST_P(Preconditioners, what_cannot_be_factored_is_refused) {
  Context ctx = context();
  const auto hole = [] {
    return Csr<double>(2, Array<std::int32_t>{0, 2, 3}, Array<std::int32_t>{0, 1, 0}, Array<double>{1, 2, 3});
  };
  for (const PreconditionerOptions& options :
       {PreconditionerOptions(Ilu0Options{}), PreconditionerOptions(Ic0Options{})}) {
    EXPECT_NE(refusal(ctx, options, hole()).find("there is no entry on the diagonal in row 1"), std::string::npos);
    Csr<double> A = poisson2d<double>(5);
    A.values().edit()[0] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_NE(refusal(ctx, options, std::move(A)).find("the pivot is NaN or infinite in row 0"), std::string::npos);
  }
  Csr<double> negative = poisson2d<double>(5);
  for (double& value : negative.values().edit()) value = -value;
  EXPECT_NE(
      refusal(ctx, Ic0Options{}, std::move(negative)).find("not positive, even with the diagonal multiplied by 2.024"),
      std::string::npos);
}

/// In whatever format the matrix is that stores no zeros of its own.
TEST_P(Preconditioners, are_the_same_for_every_format) {
  Context ctx = context();
  const Csr<double> A = poisson2d<double>(20);
  const Array<double> r(random_vector<double>(1, A.rows()));
  for (const PreconditionerOptions& options : hermitian_preconditioners()) {
    std::vector<double> expected;
    for (const Format format : {Format::csr, Format::coo, Format::csc, Format::sell}) {
      const AnyMatrix<double> converted = to_format(ctx, AnyMatrix<double>(A.clone()), format, {});
      Array<double> z(A.rows());
      make_preconditioner<double>(ctx, options, converted)->apply(ctx, r, z);
      if (expected.empty()) expected = contents(z);
      EXPECT_EQ(contents(z), expected) << static_cast<int>(format);
    }
  }
}

TEST_P(Preconditioners, are_the_same_for_both_widths_of_offsets) {
  Context ctx = context();
  const Csr<double> A = poisson2d<double>(15);
  const AnyMatrix<double> narrow(A.clone()), wide(with_offsets<std::int64_t>(ctx, A.clone()));
  const Array<double> r(random_vector<double>(1, A.rows()));
  for (const PreconditionerOptions& options : hermitian_preconditioners()) {
    Array<double> z(A.rows()), same(A.rows());
    make_preconditioner<double>(ctx, options, narrow)->apply(ctx, r, z);
    make_preconditioner<double>(ctx, options, wide)->apply(ctx, r, same);
    EXPECT_EQ(contents(same), contents(z)) << name(options);
  }
}

/// Counts its products.
class Counted final : public Operator<double> {
 public:
  explicit Counted(const AnyMatrix<double>& A) : A_(A) {}
  std::int64_t rows() const override { return A_.rows(); }
  void apply(Context& ctx, Op op, const Array<double>& x, Array<double>& y) const override {
    ++products;
    A_.apply(ctx, op, x, y);
  }
  mutable int products = 0;

 private:
  MatrixOperator<double> A_;
};

TEST_P(Preconditioners, chebyshev_multiplies_through_the_operator_that_it_is_given) {
  Context ctx = context();
  const AnyMatrix<double> A(poisson2d<double>(20));
  const Counted products(A);
  const PreconditionerOptions options = ChebyshevOptions{7, 20, 12};
  const auto M = make_preconditioner<double>(ctx, options, A, &products);
  EXPECT_EQ(products.products, 5) << "after which the bound by rows is near";
  const Array<double> r(random_vector<double>(1, 400));
  Array<double> z(400), own(400);
  M->apply(ctx, r, z);
  EXPECT_EQ(products.products, 5 + 7);
  make_preconditioner<double>(ctx, options, A)->apply(ctx, r, own);
  EXPECT_EQ(contents(own), contents(z));
}

INSTANTIATE_TEST_SUITE_P(, Preconditioners, backends, param_name);

}  // namespace
}  // namespace krill::test
