#include "krill/solvers/operator.hpp"

#include "krill/sparse/convert/convert.hpp"
#include "krill/sparse/convert/formats.hpp"
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

KRILL_ON_BACKENDS(MatrixOperators);

}  // namespace
}  // namespace krill::test
