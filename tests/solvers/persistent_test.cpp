// Kernels that hold a whole loop, beside the graph of the same method.
#include <fmt/format.h>

#include "tests/solvers/systems.hpp"
#include "tests/support/assertions.hpp"

namespace krill::test {
namespace {

using Persistent = OnBackendAndScalar;

std::vector<SolverOptions> methods(double relative) {
  PcgOptions pcg;
  BicgstabOptions bicgstab;
  pcg.stop.relative = bicgstab.stop.relative = relative;
  return {pcg, bicgstab};
}

/// What such kernels apply themselves: a diagonal, blocks that divide no power of two, and larger ones than a block of
/// a kernel has rows of a small system, one product and two, polynomials that end in either of their two vectors.
std::vector<PreconditionerOptions> held_preconditioners() {
  return {NoPreconditioner{},
          JacobiOptions{},
          BlockJacobiOptions{.block_dim = 3},
          BlockJacobiOptions{.block_dim = 32},
          IsaiOptions{.form = IsaiForm::general},
          IsaiOptions{.form = IsaiForm::factored},
          ChebyshevOptions{.degree = 1},
          ChebyshevOptions{.degree = 2}};
}

template <class T>
void expect_same_solve(Context& whole, Context& graph, const Csr<T>& A, const SolverOptions& options,
                       const PreconditionerOptions& M) {
  const auto b = random_vector<T>(5, A.rows());
  const double relative = std::visit([](const auto& o) { return o.stop.relative; }, options);
  const Solved<T> found = solve(whole, A, b, options, M), again = solve(whole, A, b, options, M),
                  expected = solve(graph, A, b, options, M);
  SCOPED_TRACE(fmt::format("{}, {}, {} rows", name(options), name(M), A.rows()));
  EXPECT_EQ(found.report.reason, Reason::converged);
  EXPECT_LE(found.report.true_relative, relative);
  // Rounding, which the order of sums changes, moves BiCGStab by some iterations in a hundred.
  EXPECT_NEAR(found.report.iterations, expected.report.iterations, 2 + expected.report.iterations / 5);
  EXPECT_EQ(found.x, again.x);
  EXPECT_EQ(found.report.history, again.report.history);
  // The recurrence's residual has the rounding of the first ones, whatever it has come down to.
  const std::vector<double>&history = found.report.history, &other = expected.report.history;
  for (std::size_t i = 0; i < std::min<std::size_t>({5, history.size(), other.size()}); ++i)
    EXPECT_NEAR(history[i], other[i], 1e-3 * other[i] + 100 * epsilon<T>() * other[0]);
}

TEST_P(Persistent, agrees_with_the_graph_and_repeats_its_bits) {
  with_scalar([&]<class T>(T) {
    Context whole = context(), graph = context();
    whole.loop_control = LoopControl::persistent;
    if (graph.loop_control != LoopControl::host) graph.loop_control = LoopControl::graph;
    for (const std::int32_t n : {1, 2, 63, 64, 65, 1000, 9001, 20'000}) {
      const Csr<T> A = random_hpd<T>(static_cast<std::uint64_t>(n), n, n < 8 ? 1 : 7);
      for (const SolverOptions& options : methods(1e4 * epsilon<T>()))
        for (const PreconditionerOptions& M : held_preconditioners()) {
          const auto* isai = std::get_if<IsaiOptions>(&M);
          const bool is_general = isai && isai->form == IsaiForm::general;  // which PCG does not take
          if (!is_general || !std::holds_alternative<PcgOptions>(options))
            expect_same_solve(whole, graph, A, options, M);
        }
    }
  });
}

TEST_P(Persistent, follows_new_values_of_its_preconditioner) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    ctx.loop_control = LoopControl::persistent;
    constexpr std::int32_t n = 1000;
    for (const PreconditionerOptions& options : held_preconditioners()) {
      AnyMatrix<T> any(random_hpd<T>(3, n, 7));
      auto& A = std::get<Csr<T>>(any);
      MatrixOperator<T> op(any);
      const auto M = make_preconditioner(ctx, options, any);
      const auto solver = make_solver<T>(methods(1e4 * epsilon<T>())[1], op, *M);
      const auto solved = [&] {
        Array<T> x(std::vector<T>(n, T(0)));
        const SolveReport report = solver->solve(ctx, Array<T>(random_vector<T>(5, n)), x);
        EXPECT_EQ(report.reason, Reason::converged) << name(options);
        return std::vector<T>(x.host().begin(), x.host().end());
      };
      solved();
      for (T& value : A.values().edit()) value *= T(2);
      op.update(ctx);
      M->update(ctx, any);
      const auto found = solved();
      const Solved<T> expected = solve(ctx, A, random_vector<T>(5, n), methods(1e4 * epsilon<T>())[1], options);
      EXPECT_EQ(found, expected.x) << name(options);
    }
  });
}

TEST_P(Persistent, ends_as_the_graph_does_where_a_system_cannot_be_solved) {
  with_scalar([&]<class T>(T) {
    Context whole = context(), graph = context();
    whole.loop_control = LoopControl::persistent;
    graph.loop_control = LoopControl::graph;
    std::vector<T> values(300, T(1));
    const auto diagonal = [](const std::vector<T>& entries) {
      std::vector<std::int32_t> offsets, columns;
      for (std::int32_t i = 0; i <= static_cast<std::int32_t>(entries.size()); ++i) offsets.push_back(i);
      columns.assign(offsets.begin(), offsets.end() - 1);
      return Csr<T>(static_cast<std::int32_t>(entries.size()), Array(offsets), Array(columns), Array(entries));
    };
    const auto nan = static_cast<real_t<T>>(std::numeric_limits<double>::quiet_NaN());
    const auto same = [&](T odd, const SolverOptions& options) {
      values[150] = odd;
      const Csr<T> A = diagonal(values);
      const auto b = random_vector<T>(5, 300);
      const Solved<T> found = solve(whole, A, b, options, NoPreconditioner{}),
                      expected = solve(graph, A, b, options, NoPreconditioner{});
      EXPECT_EQ(found.report.reason, expected.report.reason) << name(options);
      EXPECT_EQ(found.report.iterations, expected.report.iterations) << name(options);
    };
    for (const SolverOptions& options : methods(1e-5)) same(T(nan), options);
    for (const T odd : {T(-1), T(0)}) same(odd, methods(1e-5)[0]);  // rounding decides how far BiCGStab gets
  });
}

using PersistentLoop = OnBackend;

TEST_P(PersistentLoop, is_ended_within_a_limit_of_time) {
  Context ctx = context();
  ctx.loop_control = LoopControl::persistent;
  constexpr std::int32_t n = 20'000;
  std::vector<std::int32_t> offsets{0}, columns;
  std::vector<double> values;
  for (std::int32_t i = 0; i < n; ++i) {  // in one dimension, so that conjugate gradients take some n iterations
    for (std::int32_t j = std::max(i - 1, 0); j <= std::min(i + 1, n - 1); ++j)
      columns.push_back(j), values.push_back(i == j ? 2 : -1);
    offsets.push_back(static_cast<std::int32_t>(columns.size()));
  }
  PcgOptions options;
  options.max_iterations = 10 * n;
  options.stop.stagnation = 0;
  options.stop.time_limit = 0.01;
  const Csr<double> A(n, Array(offsets), Array(columns), Array(values));
  const SolveReport report = solve(ctx, A, random_vector<double>(3, n), options).report;
  EXPECT_EQ(report.reason, Reason::time_limit);
  EXPECT_GT(report.iterations, 0);
  EXPECT_LT(report.iterations, 10 * n);
}

TEST_P(PersistentLoop, is_refused_by_name_where_there_is_none) {
  Context ctx = context();
  ctx.loop_control = LoopControl::persistent;
  const Csr<double> A = random_hpd<double>(3, 500, 5);
  const auto b = random_vector<double>(5, 500);
  const auto text = [&](const SolverOptions& solver, const PreconditionerOptions& M) {
    return complaint<InvalidArgument>([&] { solve(ctx, A, b, solver, M); });
  };
  EXPECT_NE(text(GmresOptions{}, NoPreconditioner{}).find("loop persistent: "), std::string::npos);
  EXPECT_NE(text(PcgOptions{}, Ic0Options{}).find("use loop auto"), std::string::npos);
}

// There is no such kernel on the host.
INSTANTIATE_TEST_SUITE_P(, Persistent,
                         ::testing::Combine(::testing::Values(Backend::cuda), ::testing::ValuesIn(scalar_kinds)),
                         param_name);
INSTANTIATE_TEST_SUITE_P(, PersistentLoop, ::testing::Values(Backend::cuda), param_name);

}  // namespace
}  // namespace krill::test
