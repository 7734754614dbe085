// Restriction by the prolongator of A^H (restriction adjoint_matrix).
#include "solvers/multigrid/hierarchy.hpp"
#include "sparse/coarsen/near_null_space.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/io/generate.hpp"
#include "sparse/vector/vector.hpp"
#include "tests/solvers/applied.hpp"
#include "tests/solvers/levels.hpp"
#include "tests/support/compare.hpp"

namespace krill::test {
namespace {

using MultigridRestriction = OnBackendAndScalar;

MultigridOptions by_adjoint(int coarse_rows) {
  MultigridOptions o;
  o.restriction = RestrictionChoice::adjoint_matrix, o.coarse_rows = coarse_rows;
  return o;
}

/// Entry i, j of A times f(i, j).
template <class T, class F>
Csr<T> times_entries(Csr<T> A, F&& f) {
  const auto offsets = A.row_offsets().host(), columns = A.col_indices().host();
  const std::span<T> values = A.values().edit();
  for (std::int32_t i = 0; i < A.rows(); ++i)
    for (auto k = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i)]);
         k < static_cast<std::size_t>(offsets[static_cast<std::size_t>(i) + 1]); ++k)
      values[k] *= f(i, columns[k]);
  return A;
}

/// Of modulus 1, and complex where T is.
template <class T>
T phase(std::int32_t i) {
  if constexpr (is_complex<T>)
    return i % 3 == 0 ? T(0, 1) : i % 3 == 1 ? T(real_t<T>(0.6), real_t<T>(-0.8)) : T(-1);
  else
    return T(real_t<T>(i % 3 == 1 ? -1 : 1));
}

/// A matrix that is not Hermitian, and what its coarse levels represent.
template <class T>
struct Skewed {
  AnyMatrix<T> A;
  std::int32_t block_dim;
  Dense<T> candidates;

  FinestLevel<T> finest() const { return {.A = A, .block_dim = block_dim, .candidates = &candidates}; }
  const Csr<T>& csr() const { return std::get<Csr<T>>(A); }
};

/// Flow on a grid of n x n points with some weak connections; rows and columns times phases, and so its candidate.
template <class T>
Skewed<T> flow(std::int32_t n, double peclet = 40) {
  Csr<T> A = std::get<Csr<T>>(generate<T>(ConvectionDiffusion2dOptions{.nx = n, .peclet = peclet}));
  Dense<T> candidates(A.rows(), 1);
  for (std::int32_t i = 0; i < A.rows(); ++i) candidates.edit().at(i, 0) = phase<T>(i);
  return {times_entries(std::move(A),
                        [](std::int32_t i, std::int32_t j) {
                          const T turned = phase<T>(i) / phase<T>(j);
                          return i != j && (i + j) % 5 == 0 ? turned * real_t<T>(0.1) : turned;
                        }),
          1, std::move(candidates)};
}

/// A bar whose entries above the diagonal are smaller than those below.
template <class T>
Skewed<T> bar(Context& ctx) {
  const Elasticity3dOptions options{5, 2, 2, 1, 0.3};
  return {times_entries(std::get<Csr<T>>(generate<T>(options)),
                        [](std::int32_t i, std::int32_t j) { return T(real_t<T>(j > i ? 0.8 : 1)); }),
          3, rigid_body_modes<T>(ctx, *node_coordinates(options))};
}

template <class T>
const MatrixTransfer<T>& transfer(const Hierarchy<T>& hierarchy, std::size_t level) {
  return dynamic_cast<const MatrixTransfer<T>&>(*hierarchy.levels()[level]->transfer);
}
template <class T>
Reference csr_reference(const AnyMatrix<T>& A) {
  return reference(std::get<Csr<T>>(A));
}

TEST_P(MultigridRestriction, has_the_levels_of_the_judge) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto expect_levels = [&](const Skewed<T>& problem, int coarse_rows) {
      const Hierarchy<T> hierarchy(ctx, by_adjoint(coarse_rows), problem.finest());
      ASSERT_GE(hierarchy.levels().size(), 3u);
      const MultigridJudge judge = judge_of(ctx, hierarchy, problem.csr(), problem.block_dim, problem.candidates);
      // Aggregates' candidates are independent with a condition below 100, so their orthogonal factors agree to 100
      // times what a few operations round; a coarse entry adds up less than 1000 terms of such factors, of both signs.
      double tolerance = 1000 * epsilon<T>();
      for (int l = 0; l + 1 < judge.levels(); ++l, tolerance *= 10) {
        const auto level = static_cast<std::size_t>(l);
        const MatrixTransfer<T>& made = transfer(hierarchy, level);
        expect_near(csr_reference(made.prolongation()), judge.prolongator(l), tolerance, "prolongator");
        expect_near(csr_reference(made.restriction()), judge.restriction(l), tolerance, "restriction");
        expect_near(csr_reference(*hierarchy.levels()[level + 1]->A), judge.matrix(l + 1), tolerance, "coarse matrix");
      }
    };
    expect_levels(flow<T>(21), 10);
    expect_levels(bar<T>(ctx), 10);
  });
}

/// P^H is something else, by far more than rounding: the comparison above can fail.
TEST_P(MultigridRestriction, is_not_the_adjoint_of_the_interpolation) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Skewed<T> problem = flow<T>(21);
    const Hierarchy<T> hierarchy(ctx, by_adjoint(10), problem.finest());
    EXPECT_TRUE(hierarchy.restricts_by_adjoint());
    EXPECT_TRUE(hierarchy.notes().empty());
    const auto &P = std::get<Csr<T>>(transfer(hierarchy, 0).prolongation()),
               &R = std::get<Csr<T>>(transfer(hierarchy, 0).restriction());
    const Csr<T> adjoint = transpose(ctx, P, Op::adjoint);
    EXPECT_EQ(contents(R.row_offsets()), contents(adjoint.row_offsets()));
    EXPECT_EQ(contents(R.col_indices()), contents(adjoint.col_indices()));
    double most = 0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(R.nnz()); ++k)
      most = std::max<double>(most, std::abs(R.values().host()[k] - adjoint.values().host()[k]));
    EXPECT_GT(most, 0.01);
  });
}

TEST_P(MultigridRestriction, of_a_hermitian_matrix_is_the_adjoint_of_the_interpolation) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const AnyMatrix<T> A = generate<T>(Poisson2dOptions{.nx = 17});
    const Array<T> b(random_vector<T>(7, rows(A)));
    MultigridOptions options = by_adjoint(10);
    const Hierarchy<T> hierarchy(ctx, options, {.A = A, .hermitian = true});
    EXPECT_FALSE(hierarchy.restricts_by_adjoint());
    ASSERT_EQ(hierarchy.notes().size(), 1u);
    EXPECT_NE(hierarchy.notes()[0].find("restriction adjoint_matrix changes nothing"), std::string::npos);
    options.restriction = RestrictionChoice::interpolation;
    EXPECT_EQ(answer(ctx, hierarchy, b), answer(ctx, Hierarchy<T>(ctx, options, {.A = A, .hermitian = true}), b));
  });
}

/// Aggregates alone give the hierarchy of two levels that is made anew, bit by bit; what keeps interpolation keeps R.
TEST_P(MultigridRestriction, follows_new_values_as_the_interpolation_does) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Skewed<T> other = flow<T>(13, 30);
    const Array<T> b(random_vector<T>(8, rows(other.A)));
    for (const auto reuse : {HierarchyReuse::aggregates, HierarchyReuse::interpolation, HierarchyReuse::hierarchy}) {
      MultigridOptions options = by_adjoint(60);
      options.reuse = reuse;
      Skewed<T> problem = flow<T>(13);
      Hierarchy<T> hierarchy(ctx, options, problem.finest());
      ASSERT_EQ(hierarchy.levels().size(), 2u);
      const Hierarchy<T> fresh(ctx, options, other.finest());
      const auto restriction = [](const Hierarchy<T>& of) {
        return contents(std::get<Csr<T>>(transfer(of, 0).restriction()).values());
      };
      const std::vector<T> before = restriction(hierarchy);
      EXPECT_NE(before, restriction(fresh));
      std::get<Csr<T>>(problem.A).values() = other.csr().values().clone();
      hierarchy.update(ctx, problem.A);
      if (reuse == HierarchyReuse::aggregates) {
        EXPECT_EQ(restriction(hierarchy), restriction(fresh));
        EXPECT_EQ(answer(ctx, hierarchy, b), answer(ctx, fresh, b));
      } else {
        EXPECT_EQ(restriction(hierarchy), before);
      }
    }
  });
}

/// On every level, in a captured loop, and without an allocation.
TEST_P(MultigridRestriction, comes_back_with_the_values) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Skewed<T> first = flow<T>(21), other = flow<T>(21, 30);
    const Array<T> b(random_vector<T>(8, rows(first.A)));
    MultigridOptions options = by_adjoint(10);
    options.reuse = HierarchyReuse::aggregates;
    Skewed<T> problem = flow<T>(21);
    Hierarchy<T> hierarchy(ctx, options, problem.finest());
    ASSERT_GE(hierarchy.levels().size(), 3u);
    const std::vector<T> before = answer(ctx, hierarchy, b);
    std::get<Csr<T>>(problem.A).values() = other.csr().values().clone();
    hierarchy.update(ctx, problem.A);
    EXPECT_NE(answer(ctx, hierarchy, b), before);
    copy(ctx, first.csr().values(), std::get<Csr<T>>(problem.A).values());
    replay(ctx, [&] { hierarchy.recompute(ctx, problem.A); });
    hierarchy.check();
    EXPECT_EQ(answer(ctx, hierarchy, b), before);
  });
}

INSTANTIATE_TEST_SUITE_P(, MultigridRestriction, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
