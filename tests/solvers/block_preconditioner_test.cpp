// Preconditioners that work with blocks, against dense matrices.
#include "apps/verify/references/factorization.hpp"
#include "sparse/convert/to_format.hpp"
#include "tests/solvers/applied.hpp"
#include "tests/support/references.hpp"

namespace krill::test {
namespace {

using BlockPreconditioner = OnBackendAndScalar;

TEST_P(BlockPreconditioner, block_jacobi_inverts_the_diagonal_blocks) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const std::int32_t n : {1, 5, 64, 131})
      for (const int dim : {1, 2, 3, 4, 7, 8, 16, 21, 32}) {
        const AnyMatrix<T> A(random_dominant<T>(1, n, 12));
        const auto r = random_vector<T>(2, n);
        const auto M = made<T>(ctx, BlockJacobiOptions{dim}, A);
        const DenseZ blocks = part(dense(reference(std::get<Csr<T>>(A))),
                                   [&](std::int64_t i, std::int64_t j) { return i / dim == j / dim; });
        expect_solves(blocks, blocks, applied(ctx, *M, r), r, dominant_condition);
        EXPECT_EQ(fact<std::int64_t>(M->report(), "block_dim"), dim);
        EXPECT_GT(M->report().bytes, 0u);
      }
  });
}

/// Blocks whose pivots have to be looked for: zeros on the diagonal.
TEST_P(BlockPreconditioner, block_jacobi_pivots) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    // Cyclic shifts by one inside of blocks of five, the last of two rows.
    const std::int32_t n = 42, dim = 5;
    std::vector<std::int32_t> offsets{0}, columns;
    std::vector<T> values;
    for (std::int32_t i = 0; i < n; ++i) {
      const std::int32_t first = i / dim * dim, size = std::min(dim, n - first);
      columns.push_back(first + (i - first + 1) % size);
      values.push_back(T(static_cast<real_t<T>>(i + 1)));
      offsets.push_back(i + 1);
    }
    const AnyMatrix<T> A(Csr<T>(n, Array(offsets), Array(columns), Array(values)));
    const auto r = random_vector<T>(3, n);
    const DenseZ whole = dense(reference(std::get<Csr<T>>(A)));
    expect_solves(whole, whole, applied(ctx, *made<T>(ctx, BlockJacobiOptions{dim}, A), r), r, 1);
  });
}

/// A block as a number, for ILU(0) of a matrix of blocks.
struct Block {
  DenseZ m;
  explicit Block(DenseZ d) : m(std::move(d)) {}
  explicit Block(std::int64_t) : m{0} {}
  friend Block operator*(const Block& a, const Block& b) { return Block(a.m * b.m); }
  friend Block operator-(const Block& a, const Block& b) { return Block(sum(b.m, -1, a.m)); }
  friend Block operator/(const Block& a, const Block& b) { return Block(a.m * inverse(b.m)); }
};

/// The blocks of A that have an entry; the last ones go on with the identity.
verify::Rows<Block> in_blocks(const DenseZ& A, std::int64_t dim) {
  const auto blocks = static_cast<std::int32_t>((A.n + dim - 1) / dim);
  verify::Rows<Block> rows{blocks, blocks, {0}, {}, {}};
  for (std::int32_t I = 0; I < blocks; ++I) {
    for (std::int32_t J = 0; J < blocks; ++J) {
      DenseZ block{dim};
      for (std::int64_t i = 0; i < dim; ++i)
        for (std::int64_t j = 0; j < dim; ++j)
          block(i, j) =
              I * dim + i < A.n && J * dim + j < A.n ? A(I * dim + i, J * dim + j) : (I == J && i == j ? 1 : 0);
      if (std::ranges::any_of(block.entries, [](Z v) { return v != 0.0; }))
        rows.col.push_back(J), rows.value.emplace_back(std::move(block));
    }
    rows.offsets.push_back(rows.col.size());
  }
  return rows;
}

/// The block ILU(0) of A: L with identities on its diagonal, and U.
std::pair<DenseZ, DenseZ> block_ilu0(const DenseZ& A, std::int64_t dim) {
  const verify::Rows<Block> rows = in_blocks(A, dim);
  const std::vector<Block> blocks = verify::ilu0(rows);
  DenseZ factor{A.n};
  rows.for_places([&](std::int64_t I, std::size_t k) {
    for (std::int64_t i = 0; i < dim && I * dim + i < A.n; ++i)
      for (std::int64_t j = 0; j < dim && rows.col[k] * dim + j < A.n; ++j)
        factor(I * dim + i, rows.col[k] * dim + j) = blocks[k].m(i, j);
  });
  DenseZ L = part(factor, [&](auto i, auto j) { return i / dim > j / dim; });
  for (std::int64_t i = 0; i < A.n; ++i) L(i, i) = 1;
  return {L, part(factor, [&](auto i, auto j) { return i / dim <= j / dim; })};
}

/// Rounding of the factors, which diagonal dominance keeps from growing, beside that of the solves.
constexpr double of_factors = 20;

TEST_P(BlockPreconditioner, factorizations_in_blocks_are_those_of_the_blocks) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const int dim : {1, 3, 4}) {
      const AnyMatrix<T> A(random_dominant<T>(10, 62, 6)), H(random_hpd<T>(11, 62, 6));
      const auto r = random_vector<T>(12, 62);
      Bilu0Options lu;
      Bic0Options cholesky;
      lu.block_dim = cholesky.block_dim = dim;
      const auto check = [&](const AnyMatrix<T>& matrix, const PreconditionerOptions& options) {
        const auto [L, U] = block_ilu0(dense(reference(std::get<Csr<T>>(matrix))), dim);
        const auto M = made<T>(ctx, options, matrix);
        expect_solves(L * U, absolute(L) * absolute(U), applied(ctx, *M, r), r, of_factors);
        EXPECT_EQ(fact<std::int64_t>(M->report(), "block_dim"), dim);
      };
      check(A, lu);
      check(H, lu);
      check(H, cholesky);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, BlockPreconditioner, backends_and_scalars, param_name);

using BlockChoice = OnBackend;

TEST_P(BlockChoice, takes_the_matrix_own_blocks_or_those_of_its_pattern) {
  Context ctx = context();
  const Csr<double> poisson = poisson2d<double>(12);
  const auto from = [&](const AnyMatrix<double>& A) {
    const auto report = made<double>(ctx, BlockJacobiOptions{}, A)->report();
    return std::pair(fact<std::int64_t>(report, "block_dim"), fact<std::string>(report, "block_dim_from"));
  };
  EXPECT_EQ(from(AnyMatrix<double>(poisson.clone())),
            std::pair(std::int64_t{8}, std::string("the default, as the pattern has no blocks")));
  FormatLayout layout;
  layout.block_rows = 9;
  EXPECT_EQ(from(to_format(ctx, AnyMatrix<double>(poisson.clone()), Format::bsr, layout)),
            std::pair(std::int64_t{9}, std::string("the blocks of the matrix")));
  layout.block_rows = 3;
  const auto blocked = to_format(ctx, AnyMatrix<double>(poisson.clone()), Format::bsr, layout);
  EXPECT_EQ(from(to_csr(ctx, blocked)).first, 3);  // zeros in blocks are entries of CSR
}

INSTANTIATE_TEST_SUITE_P(, BlockChoice, backends, param_name);

}  // namespace
}  // namespace krill::test
