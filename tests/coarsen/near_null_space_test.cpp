#include "sparse/coarsen/near_null_space.hpp"

#include "sparse/io/generate.hpp"
#include "sparse/io/generate_elasticity.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/oracle.hpp"

namespace krill::test {
namespace {

using NearNullSpace = OnBackendAndScalar;

TEST_P(NearNullSpace, has_a_constant_for_each_component) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const std::int32_t dim : {1, 2, 3, 6}) {
      const Dense<T> b = constant_candidates<T>(ctx, 6 * 50, dim);
      ASSERT_EQ(b.cols(), dim);
      for (std::int64_t i = 0; i < b.rows(); ++i)
        for (std::int64_t j = 0; j < dim; ++j) ASSERT_EQ(b.host().at(i, j), T(i % dim == j ? 1 : 0)) << i << ", " << j;
    }
    EXPECT_EQ(constant_candidates<T>(ctx, 0, 3).rows(), 0);
    EXPECT_THROW(constant_candidates<T>(ctx, 7, 3), InvalidArgument);
    EXPECT_THROW(constant_candidates<T>(ctx, 6, 0), InvalidArgument);
  });
}

/// Corners x + 2 y + 4 z of a cube far away from the origin.
Dense<double> cube(double edge) {
  Dense<double> corners(8, 3, Order::row_major);
  for (int i = 0; i < 8; ++i)
    for (int k = 0; k < 3; ++k) corners.edit().at(i, k) = 1000 + edge * (i >> k & 1);
  return corners;
}

/// What moves as a rigid body strains nothing: an element's stiffness takes it to zero, and six motions are all.
TEST_P(NearNullSpace, is_that_of_an_elastic_body) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const detail::BrickMatrix K = detail::brick_stiffness(1, 0.3);
    for (const double edge : {1.0, 0x1p-40}) {
      const Dense<T> b = rigid_body_modes<T>(ctx, cube(edge));
      ASSERT_EQ(b.rows(), 24);
      ASSERT_EQ(b.cols(), 6);
      for (std::int64_t j = 0; j < 6; ++j) {
        double greatest = 0;
        for (std::size_t i = 0; i < 24; ++i) {
          Z sum = 0;
          double moduli = 0;
          for (std::size_t k = 0; k < 24; ++k) {
            const Z term = K[i][k] * Z(b.host().at(static_cast<std::int64_t>(k), j));
            sum += term, moduli += std::abs(term);
          }
          // K's entries come out of sums over eight points; the corners of such cubes are exact, and so is b.
          ASSERT_LE(std::abs(sum), 64 * epsilon<double>() * moduli) << "row " << i << ", motion " << j;
          greatest = std::max(greatest, std::abs(Z(b.host().at(static_cast<std::int64_t>(i), j))));
        }
        EXPECT_EQ(greatest, 1) << "motion " << j;
      }
    }
  });
}

/// The coordinates that come with a generated bar: away from its clamped face nothing resists the motions. A coordinate
/// is as large as 6, an entry of A about 1, and there are 81 in a row.
TEST_P(NearNullSpace, is_that_of_a_generated_bar) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Elasticity3dOptions bar{6, 2, 3, 1, 0.3};
    const auto coordinates = node_coordinates(bar);
    ASSERT_TRUE(coordinates);
    const Reference A = reference(std::get<Csr<double>>(generate<double>(bar)));
    const Dense<T> b = rigid_body_modes<T>(ctx, *coordinates);
    ASSERT_EQ(b.rows(), A.rows);
    for (std::int64_t j = 0; j < 6; ++j) {
      std::vector<Z> forces(static_cast<std::size_t>(A.rows));
      for (std::size_t k = 0; k < A.value.size(); ++k)
        forces[static_cast<std::size_t>(A.row[k])] += A.value[k] * Z(b.host().at(A.col[k], j));
      double clamped = 0;
      for (std::int64_t i = 0; i < A.rows; ++i) {
        const double force = std::abs(forces[static_cast<std::size_t>(i)]);
        if (coordinates->host().at(i / 3, 0) == 1)
          clamped = std::max(clamped, force);
        else
          ASSERT_LE(force, 81 * epsilon<T>()) << "row " << i << ", motion " << j;
      }
      EXPECT_GT(clamped, 0.01);
    }
  });
}

/// In the plane: no distance changes, to first order.
TEST_P(NearNullSpace, keeps_distances_in_two_dimensions) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    Dense<double> nodes(5, 2);
    const double at[5][2] = {{0, 0}, {4, 1}, {1, 3}, {-2, 2}, {4, -4}};
    for (int i = 0; i < 5; ++i)
      for (int k = 0; k < 2; ++k) nodes.edit().at(i, k) = at[i][k];
    const Dense<T> b = rigid_body_modes<T>(ctx, nodes);
    ASSERT_EQ(b.cols(), 3);
    const auto motion = [&](int i, int k, int j) { return Z(b.host().at(2 * i + k, j)).real(); };
    for (int j = 0; j < 3; ++j)
      for (int p = 0; p < 5; ++p)
        for (int q = 0; q < p; ++q) {
          double change = 0;
          for (int k = 0; k < 2; ++k) change += (at[p][k] - at[q][k]) * (motion(p, k, j) - motion(q, k, j));
          // Two products of numbers up to 8 and 2, those of b rounded once each.
          ASSERT_LE(std::abs(change), 2 * 8 * 4 * epsilon<T>()) << p << " and " << q << ", motion " << j;
        }
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(motion(i, 0, 0), 1);
      EXPECT_EQ(motion(i, 1, 0), 0);
      EXPECT_EQ(motion(i, 1, 1), 1);
    }
    EXPECT_NE(motion(1, 0, 2), motion(2, 0, 2));  // the third turns
  });
}

TEST_P(NearNullSpace, refuses_coordinates_without_a_body) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    EXPECT_THROW(rigid_body_modes<T>(ctx, Dense<double>(4, 1)), InvalidArgument);
    EXPECT_THROW(rigid_body_modes<T>(ctx, Dense<double>(4, 4)), InvalidArgument);
    Dense<double> broken = cube(1);
    broken.edit().at(5, 1) = std::numeric_limits<double>::quiet_NaN();
    EXPECT_NE(complaint<InvalidArgument>([&] { rigid_body_modes<T>(ctx, broken); }).find("node 5"), std::string::npos);
    EXPECT_NE(complaint<InvalidArgument>([&] { rigid_body_modes<T>(ctx, cube(0)); }).find("the same coordinates"),
              std::string::npos);
    EXPECT_EQ(rigid_body_modes<T>(ctx, Dense<double>(0, 3)).rows(), 0);
    const Dense<T> one = rigid_body_modes<T>(ctx, Dense<double>(1, 3, Array<double>{5, 6, 7}));
    for (std::int64_t i = 0; i < 3; ++i)
      for (std::int64_t j = 0; j < 6; ++j) EXPECT_EQ(one.host().at(i, j), T(i == j ? 1 : 0));
  });
}

INSTANTIATE_TEST_SUITE_P(, NearNullSpace, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
