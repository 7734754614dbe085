#include "krill/solvers/precond/preconditioner.hpp"

#include "krill/sparse/convert/to_format.hpp"
#include "tests/solvers/systems.hpp"
#include "tests/support/assertions.hpp"

namespace krill::test {
namespace {

using Preconditioners = OnBackend;

std::string refusal(Context& ctx, const PreconditionerOptions& options, Csr<double> A) {
  return complaint<InvalidArgument>([&] { make_preconditioner(ctx, options, AnyMatrix<double>(std::move(A))); });
}

/// The matrix of Kershaw (1978): positive definite, and yet IC(0) meets a negative pivot.
Csr<double> kershaw() {
  return {4, Array<std::int32_t>{0, 3, 6, 9, 12}, Array<std::int32_t>{0, 1, 3, 0, 1, 2, 1, 2, 3, 0, 2, 3},
          Array<double>{3, -2, 2, -2, 3, -2, -2, 3, -2, 2, -2, 3}};
}

TEST_P(Preconditioners, ic0_shifts_the_diagonal_where_it_breaks_down) {
  Context ctx = context();
  const auto made = make_preconditioner<double>(ctx, Ic0Options{}, AnyMatrix<double>(kershaw()));
  ASSERT_EQ(made->report().notes.size(), 1u);
  EXPECT_NE(made->report().notes[0].find("preconditioner ic0: the diagonal was multiplied by 1."), std::string::npos);
  EXPECT_NE(made->report().notes[0].find("row 3"), std::string::npos) << made->report().notes[0];
  const Solved<double> solved =
      solve(ctx, kershaw(), std::vector<double>{1, 2, 3, 4}, SolverOptions(PcgOptions{}), Ic0Options{});
  EXPECT_EQ(solved.report.reason, Reason::converged);
  EXPECT_TRUE(make_preconditioner<double>(ctx, Ic0Options{0.5}, AnyMatrix<double>(kershaw()))->report().notes.empty());
}

TEST_P(Preconditioners, ilu0_says_how_many_pivots_it_boosted) {
  Context ctx = context();
  const auto singular = [] {
    return Csr<double>(3, Array<std::int32_t>{0, 2, 5, 7}, Array<std::int32_t>{0, 1, 0, 1, 2, 1, 2},
                       Array<double>{2, 4, 1, 2, 3, 5, 1});
  };
  EXPECT_EQ(refusal(ctx, Ilu0Options{}, singular()),
            "preconditioner ilu0: the pivot is 0 in row 1 (rows count from 0): set its boost, reorder the rows, or use "
            "preconditioner jacobi");
  const auto made = make_preconditioner<double>(ctx, Ilu0Options{0.5, 0.01}, AnyMatrix<double>(singular()));
  EXPECT_EQ(made->report().notes, std::vector<std::string>{"preconditioner ilu0: 1 pivot became 0.5"});
  EXPECT_GT(made->report().bytes, 0u);
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
  EXPECT_NE(refusal(ctx, Ic0Options{}, std::move(negative)).find("not positive, even with the diagonal doubled"),
            std::string::npos);
}

/// In whatever format the matrix is that stores no zeros of its own.
TEST_P(Preconditioners, are_the_same_for_every_format) {
  Context ctx = context();
  const Csr<double> A = poisson2d<double>(20);
  const Array<double> r(random_vector<double>(1, A.rows()));
  for (const PreconditionerOptions& options :
       {PreconditionerOptions(Ilu0Options{}), PreconditionerOptions(Ic0Options{})}) {
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

KRILL_ON_BACKENDS(Preconditioners);

}  // namespace
}  // namespace krill::test
