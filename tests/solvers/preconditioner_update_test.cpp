// New values in the pattern of old ones, and the adjoint of a preconditioner.
#include "tests/solvers/applied.hpp"

namespace krill::test {
namespace {

using PreconditionerUpdate = OnBackendAndScalar;

/// All that the tests know, factorizations with shifts, and all of them in single precision where that is a choice.
std::vector<PreconditionerOptions> all_kinds(bool in_double) {
  std::vector<PreconditionerOptions> all = general_preconditioners();
  for (const PreconditionerOptions& options : hermitian_preconditioners()) all.push_back(options);
  Ilu0Options shifted;
  shifted.shift.type = LuShift::nonzero;
  Parilu0Options swept_and_shifted;
  swept_and_shifted.shift.type = LuShift::nonzero;
  IsaiOptions general;
  general.form = IsaiForm::general;
  for (const PreconditionerOptions& options :
       {PreconditionerOptions(NoPreconditioner{}), PreconditionerOptions(shifted),
        PreconditionerOptions(Parilu0Options{}), PreconditionerOptions(Paric0Options{}),
        PreconditionerOptions(swept_and_shifted), PreconditionerOptions(general)})
    all.push_back(options);
  const std::size_t count = in_double ? all.size() : 0;
  for (std::size_t i = 0; i < count; ++i) {
    PreconditionerOptions lower = all[i];
    const bool has = std::visit(
        [](auto& o) {
          if constexpr (requires { o.precision = KeptPrecision::float32; })
            return o.precision = KeptPrecision::float32, true;
          return false;
        },
        lower);
    if (has) all.push_back(lower);
  }
  return all;
}

/// A <- D A D with a positive diagonal D: definite where A was, in the same pattern.
template <class T>
void rescale(Csr<T>& A, std::uint64_t seed) {
  const std::vector<double> random = random_vector<double>(seed, A.rows());
  const auto d = [&](std::int32_t i) { return static_cast<real_t<T>>(1.5 + random[static_cast<std::size_t>(i)] / 2); };
  const auto offsets = A.row_offsets().host(), cols = A.col_indices().host();
  const std::span<T> values = A.values().edit();
  for (std::int32_t i = 0; i < A.rows(); ++i)
    for (auto k = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i)]);
         k < static_cast<std::size_t>(offsets[static_cast<std::size_t>(i) + 1]); ++k)
      values[k] *= d(i) * d(cols[k]);
}

template <class T>
std::vector<T> answer(Context& ctx, const Preconditioner<T>& M, const std::vector<T>& r, bool with_dot) {
  const Array<T> r_(r);
  Array<T> z(r_.size());
  Array<double> rr(1), rz(1);
  return contents(with_dot ? M.apply_dot(ctx, r_, rr, z, rz).z : M.apply(ctx, r_, z));
}

/// Multigrid keeps an interpolation that values had a part in: multigrid_test.cpp says what it becomes.
bool keeps_what_values_chose(const PreconditionerOptions& options) {
  return std::holds_alternative<AmgOptions>(options);
}

TEST_P(PreconditionerUpdate, is_what_making_it_anew_is) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const std::vector<T> r = random_vector<T>(31, 300);
    for (const PreconditionerOptions& options : all_kinds(sizeof(real_t<T>) > 4)) {
      if (keeps_what_values_chose(options)) continue;
      AnyMatrix<T> A(random_hpd<T>(32, 300, 7));
      const auto M = make_preconditioner<T>(ctx, options, A);
      for (std::uint64_t round = 0; round < 2; ++round) {
        rescale(std::get<Csr<T>>(A), 33 + round);
        M->update(ctx, A);
        const auto fresh = make_preconditioner<T>(ctx, options, A);
        for (const bool with_dot : {false, true})
          ASSERT_EQ(answer(ctx, *M, r, with_dot), answer(ctx, *fresh, r, with_dot)) << name(options) << round;
        const PreconditionerReport updated = M->report(), made = fresh->report();
        ASSERT_EQ(updated.bytes, made.bytes) << name(options);
        ASSERT_EQ(updated.facts.size(), made.facts.size()) << name(options);
        for (std::size_t i = 0; i < made.facts.size(); ++i)
          EXPECT_EQ(updated.facts[i].value, made.facts[i].value) << name(options) << ": " << made.facts[i].name;
      }
    }
  });
}

/// What a solver has captured follows: its second solve is that of a fresh solver.
TEST_P(PreconditionerUpdate, is_followed_by_solvers_that_captured_it) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Array<T> b(random_vector<T>(34, 400));
    for (const PreconditionerOptions& options : hermitian_preconditioners()) {
      AnyMatrix<T> A(random_hpd<T>(35, 400, 7));
      const MatrixOperator<T> op(A);
      const auto M = make_preconditioner<T>(ctx, options, A);
      const SolverOptions pcg = PcgOptions{.stop = {.relative = 1e-4}};
      const auto solver = make_solver<T>(pcg, op, *M);
      Array<T> x(std::vector<T>(400, T(0))), y(std::vector<T>(400, T(0)));
      solver->solve(ctx, b, x);
      rescale(std::get<Csr<T>>(A), 36);
      M->update(ctx, A);
      for (T& value : x.edit()) value = T(0);
      const SolveReport report = solver->solve(ctx, b, x);
      EXPECT_EQ(report.reason, Reason::converged) << name(options);
      if (keeps_what_values_chose(options)) continue;
      const auto fresh = make_preconditioner<T>(ctx, options, A);
      EXPECT_EQ(report.iterations, make_solver<T>(pcg, op, *fresh)->solve(ctx, b, y).iterations) << name(options);
      ASSERT_EQ(contents(x), contents(y)) << name(options);
    }
  });
}

TEST_P(PreconditionerUpdate, refuses_other_matrices) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const AnyMatrix<T> A(random_hpd<T>(37, 100, 5)), other(random_hpd<T>(38, 120, 6));
    for (const PreconditionerOptions& options : all_kinds(sizeof(real_t<T>) > 4)) {
      if (std::holds_alternative<NoPreconditioner>(options)) continue;
      const auto M = make_preconditioner<T>(ctx, options, A);
      EXPECT_THROW(M->update(ctx, other), Error) << name(options);
    }
  });
}

/// Against the dense matrix of M, column by column.
TEST_P(PreconditionerUpdate, has_the_adjoint_that_it_says) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const std::int32_t n = 50;
    const AnyMatrix<T> definite(random_hpd<T>(39, n, 7)), general(random_dominant<T>(40, n, 7));
    const auto check = [&](const PreconditionerOptions& options, const AnyMatrix<T>& A) {
      const auto M = make_preconditioner<T>(ctx, options, A);
      const std::vector<T> r = random_vector<T>(41, n);
      const Array<T> r_(r);
      Array<T> z(n);
      if (!M->has_adjoint()) {
        EXPECT_THROW(M->apply_adjoint(ctx, r_, z), InvalidArgument) << name(options);
        return;
      }
      const std::vector<T> found = contents(M->apply_adjoint(ctx, r_, z));
      const bool low = is_kept_in_float32(options);
      for (std::size_t j = 0; j < r.size(); ++j) {  // entry j of M^H r
        std::vector<T> unit(r.size(), T(0));
        unit[j] = T(1);
        const std::vector<T> column = answer(ctx, *M, unit, false);
        Z sum = 0;
        double size = 0;
        for (std::size_t i = 0; i < r.size(); ++i)
          sum += std::conj(Z(column[i])) * Z(r[i]), size += std::abs(Z(column[i]));
        const double rounding = low ? epsilon<float>() : epsilon<T>();
        EXPECT_NEAR(std::abs(Z(found[j]) - sum), 0, (n + 2) * rounding * dominant_condition * size) << name(options);
      }
    };
    for (const PreconditionerOptions& options : general_preconditioners()) check(options, general);
    for (const PreconditionerOptions& options : all_kinds(sizeof(real_t<T>) > 4)) check(options, definite);
  });
}

INSTANTIATE_TEST_SUITE_P(, PreconditionerUpdate, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
