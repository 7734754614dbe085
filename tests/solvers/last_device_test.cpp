// Everything runs on the context's device, also where that is not the thread's current one.
#include "sparse/convert/formats.hpp"
#include "sparse/factor/incomplete.hpp"
#include "sparse/triangular/triangular.hpp"
#include "sparse/vector/vector.hpp"
#include "tests/solvers/systems.hpp"

namespace krill::test {
namespace {

class LastDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    if (device::count() == 0) GTEST_SKIP() << device::absence();
  }
  static Context last() { return Context::cuda({.device = device::count() - 1}); }
};

template <class T>
void expect_equal(const Array<T>& found, const Array<T>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.host().size(); ++i) ASSERT_EQ(found.host()[i], expected.host()[i]) << "entry " << i;
}

TEST_F(LastDevice, solves) {
  Context first = Context::cuda(), ctx = last();
  const Csr<double> A = random_hpd<double>(41, 3000, 7);
  const std::vector<double> b = random_vector<double>(42, A.rows());
  const Watch goes_on = [](const Sight&) { return true; };
  for (const SolverOptions& solver : all_solvers())
    for (const PreconditionerOptions& M : hermitian_preconditioners()) {
      const auto here = solve(ctx, A, b, solver, M, {}, goes_on), there = solve(first, A, b, solver, M);
      EXPECT_EQ(here.report.reason, Reason::converged);
      EXPECT_EQ(here.report.iterations, there.report.iterations);
      EXPECT_EQ(here.x, there.x) << "devices of one machine give the same bits";
    }
}

TEST_F(LastDevice, multiplies_converts_factors_and_sorts) {
  Context first = Context::cuda();
  const Csr<double> A = random_dominant<double>(43, 100'000, 8);  // enough for a transposition by buckets
  const Array<double> x(random_vector<double>(44, A.rows()));
  struct Results {
    Array<double> product, transposed, in_slices, solved;
  };
  const auto work = [&](Context& ctx) {
    const AnyMatrix<double> any(A.clone());
    const Csr<double>& csr = std::get<Csr<double>>(any);
    Results r{Array<double>(A.rows()), Array<double>(A.rows()), Array<double>(A.rows()), Array<double>(A.rows())};
    SpmvPlan<double>(ctx, any).apply(ctx, 1.0, x, 0.0, r.product);
    const AnyMatrix<double> csc(to_csc(ctx, csr)), sell(to_sell(ctx, csr, {}));
    SpmvPlan<double>(ctx, csc).apply(ctx, 1.0, x, 0.0, r.transposed);
    SpmvPlan<double>(ctx, sell).apply(ctx, 1.0, x, 0.0, r.in_slices);
    const IncompleteFactor<double, std::int32_t> factor(ctx, csr, Factorization::ilu0);
    TriangularPlan<double, std::int32_t>(ctx, factor.matrix(), {Fill::lower, Diagonal::unit})
        .solve(ctx, 1.0, x, r.solved);
    return r;
  };
  Context ctx = last();
  const Results here = work(ctx), there = work(first);
  expect_equal(here.product, there.product);
  expect_equal(here.transposed, there.transposed);
  expect_equal(here.in_slices, there.in_slices);
  expect_equal(here.solved, there.solved);
}

/// Two contexts take turns in one thread, and an array follows from device to device.
TEST_F(LastDevice, takes_turns_with_the_first) {
  Context first = Context::cuda(), ctx = last();
  Array<double> a(std::vector<double>(1000, 1.0));
  for (int i = 0; i < 4; ++i) {
    axpby(ctx, 2.0, a, 0.0, a);
    axpby(first, 2.0, a, 0.0, a);
  }
  EXPECT_EQ(a.host()[500], 256.0);
  ctx.synchronize();
  first.synchronize();
}

TEST_F(LastDevice, refuses_the_stream_of_another_device) {
  const int last = device::count() - 1;
  if (last == 0) GTEST_SKIP() << "one device";
  CUstream_st* const stream = device::create_stream(0);
  EXPECT_THROW(Context::cuda({.device = last, .stream = stream}), InvalidArgument);
  {
    Context ctx = Context::cuda({.device = 0, .stream = stream});
    Array<double> a(std::vector<double>(1000, 1.0));
    axpby(ctx, 2.0, a, 0.0, a);
    EXPECT_EQ(a.host()[500], 2.0);
  }
  device::destroy_stream(stream);
}

}  // namespace
}  // namespace krill::test
