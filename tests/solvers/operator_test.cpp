#include "solvers/operator.hpp"

#include "solvers/precond/preconditioner.hpp"
#include "solvers/solver.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/convert/formats.hpp"
#include "sparse/convert/to_format.hpp"
#include "tests/solvers/systems.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random.hpp"

namespace krill::test {
namespace {

class MatrixOperators : public OnBackend {};

void expect_product(Context& ctx, const MatrixOperator<double>& op, const Reference& A) {
  const auto x = random_vector<double>(91, A.cols);
  Array<double> y(A.rows);
  op.apply(ctx, Array<double>(x), y);
  const Product expected = product(Op::none, 1.0, A, to_reference(x), 0.0,
                                   std::vector<Z>(static_cast<std::size_t>(A.rows)), epsilon<double>());
  for (std::size_t i = 0; i < expected.y.size(); ++i)
    ASSERT_LE(std::abs(Z(y.host()[i]) - expected.y[i]), expected.bound[i]) << "entry " << i;
}

TEST_P(MatrixOperators, every_context_has_a_plan_of_its_own_that_stays) {
  Context one = context(), two = context(), host = Context::host(1);
  Csr<double> csr = random_dominant<double>(92, 6000, 7);  // large enough for automatic plans to look for other forms
  std::vector<AnyMatrix<double>> matrices;
  matrices.emplace_back(csr.clone());
  matrices.emplace_back(to_coo(host, csr));
  matrices.emplace_back(to_csc(host, csr));  // plans keep a transpose of it
  for (const SpmvMethod method : {SpmvMethod::in_place, SpmvMethod::automatic})
    for (AnyMatrix<double>& A : matrices) {
      SCOPED_TRACE(A.index());
      update_values(host, csr, A);
      MatrixOperator<double> op(A, method);
      const SpmvPlan<double>&first = op.prepare(one), &second = op.prepare(two), &third = op.prepare(host);
      EXPECT_NE(&first, &second);
      EXPECT_NE(&first, &third);
      EXPECT_NE(&second, &third);
      for (Context* ctx : {&one, &two, &host, &one}) expect_product(*ctx, op, reference(csr));
      Csr<double> changed = csr.clone();
      for (double& value : changed.values().edit()) value = 2 * value + 1;
      update_values(two, changed, A);
      for (Context* ctx : {&one, &two, &host}) op.update(*ctx);
      for (Context* ctx : {&host, &two, &one}) expect_product(*ctx, op, reference(changed));
      EXPECT_EQ(&op.prepare(one), &first);
      EXPECT_EQ(&op.prepare(two), &second);
      EXPECT_EQ(&op.prepare(host), &third);
    }
}

TEST_P(MatrixOperators, multiply_with_transposes_of_rectangular_matrices) {
  Context ctx = context();
  Csr<std::complex<double>> csr =
      random_csr<std::complex<double>>(94, {"wide", 300, 500, [](std::int32_t i, auto&) { return i % 7; }});
  AnyMatrix<std::complex<double>> A(csr.clone());
  MatrixOperator<std::complex<double>> op(A);
  EXPECT_EQ(op.rows(), 300);
  EXPECT_EQ(op.cols(), 500);
  for (int round = 0; round < 2; ++round) {
    for (const Op which : {Op::none, Op::transpose, Op::adjoint}) {
      const std::int64_t from = which == Op::none ? op.cols() : op.rows(), to = op.rows() + op.cols() - from;
      const auto x = random_vector<std::complex<double>>(95, from);
      Array<std::complex<double>> y(to);
      op.apply(ctx, which, Array<std::complex<double>>(x), y);
      const Product expected = product(which, 1.0, reference(csr), to_reference(x), 0.0,
                                       std::vector<Z>(static_cast<std::size_t>(to)), epsilon<double>());
      for (std::size_t i = 0; i < expected.y.size(); ++i)
        ASSERT_LE(std::abs(Z(y.host()[i]) - expected.y[i]), expected.bound[i]) << "entry " << i;
    }
    for (auto& value : csr.values().edit()) value *= 3.0;
    update_values(ctx, csr, A);
    op.update(ctx);
  }
}

TEST(Operators, without_a_transpose_say_so) { EXPECT_THROW(require_plain(Op::adjoint), InvalidArgument); }

TEST(Solvers, refuse_an_operator_that_is_not_square) {
  class Wide final : public Operator<double> {
   public:
    std::int64_t rows() const override { return 3; }
    std::int64_t cols() const override { return 4; }
    void apply(Context&, Op, const Array<double>&, Array<double>&) const override {}
  };
  Context ctx = Context::host();
  const Wide A;
  const AnyMatrix<double> square(random_hpd<double>(1, 3, 2));
  const auto M = make_preconditioner(ctx, PreconditionerOptions(NoPreconditioner{}), square);
  EXPECT_THROW(make_solver<double>(PcgOptions{}, A, *M), ShapeMismatch);
}

/// An operator that knows nothing of dots.
class PlainProduct final : public Operator<double> {
 public:
  explicit PlainProduct(const AnyMatrix<double>& A) : A_(A) {}
  std::int64_t rows() const override { return A_.rows(); }
  using Operator<double>::apply;
  void apply(Context& ctx, Op op, const Array<double>& x, Array<double>& y) const override { A_.apply(ctx, op, x, y); }

 private:
  MatrixOperator<double> A_;
};

TEST_P(MatrixOperators, norms_are_those_of_the_entries_in_every_format) {
  Context ctx = context();
  const Csr<double> csr = random_dominant<double>(98, 300, 7);
  double squares = 0;
  for (const double value : csr.values().host()) squares += value * value;
  for (const Format format : {Format::csr, Format::coo, Format::csc, Format::ell, Format::hyb, Format::bsr}) {
    const AnyMatrix<double> A = convert_format(ctx, csr, format);
    EXPECT_NEAR(MatrixOperator<double>(A).frobenius_norm(ctx), std::sqrt(squares), 1e-13 * std::sqrt(squares));
  }
}

TEST_P(MatrixOperators, one_that_does_not_know_its_norm_is_refused_where_the_baseline_needs_it) {
  Context ctx = context();
  const AnyMatrix<double> A(poisson2d<double>(8));
  const PlainProduct op(A);
  const auto M = make_preconditioner(ctx, PreconditionerOptions(NoPreconditioner{}), A);
  PcgOptions options;
  options.stop.baseline = Baseline::backward_error;
  const Array<double> b(std::vector<double>(64, 1.0));
  Array<double> x(std::vector<double>(64, 0.0));
  const auto solver = make_solver<double>(options, op, *M);
  EXPECT_NE(complaint<InvalidArgument>([&] { solver->solve(ctx, b, x); }).find("override frobenius_norm"),
            std::string::npos);
}

TEST_P(MatrixOperators, an_operator_without_dots_serves_every_solver) {
  Context ctx = context();
  const AnyMatrix<double> A(poisson2d<double>(20));
  const PlainProduct op(A);
  const Identity<double> M;
  const Array<double> b(random_vector<double>(88, 400));
  for (const SolverOptions& options : all_solvers(1e-8)) {
    Array<double> x(std::vector<double>(400, 0.0));
    if (std::holds_alternative<RichardsonOptions>(options)) continue;  // it diverges without a preconditioner
    const SolveReport report = make_solver<double>(options, op, M)->solve(ctx, b, x);
    EXPECT_EQ(report.reason, Reason::converged) << name(options);
  }
  Array<double> y(400), z(400);
  Array<double> first(1), second(1), third(1), fourth(1);
  op.apply(ctx, Op::none, b, y, {&b, &first, &y, &second});
  MatrixOperator<double>(A).apply(ctx, Op::none, b, z, {&b, &third, &z, &fourth});
  EXPECT_NEAR(first.host()[0], third.host()[0], 1e-12 * std::abs(third.host()[0]));
  EXPECT_NEAR(second.host()[0], fourth.host()[0], 1e-12 * std::abs(fourth.host()[0]));
}

INSTANTIATE_TEST_SUITE_P(, MatrixOperators, backends, param_name);

}  // namespace
}  // namespace krill::test
