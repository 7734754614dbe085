// Kernels without a solver: a matrix made by hand, its ILU(0) factors, both triangular solves and a product.
// A tridiagonal matrix has no fill, so its incomplete factors are the exact ones, and U^-1 L^-1 (A x) is x.
#include <fmt/core.h>

#include <algorithm>
#include <krill/sparse/factor/incomplete.hpp>
#include <krill/sparse/spmv/spmv.hpp>
#include <krill/sparse/triangular/triangular.hpp>
#include <krill/sparse/vector/vector.hpp>

namespace {

/// Rows (-1, 4, -2) in compressed sparse row form.
krill::Csr<double> tridiagonal(std::int32_t n) {
  std::vector<std::int32_t> row_offsets{0}, col_indices;
  std::vector<double> values;
  for (std::int32_t i = 0; i < n; ++i) {
    for (std::int32_t j = std::max(i - 1, 0); j <= std::min(i + 1, n - 1); ++j) {
      col_indices.push_back(j);
      values.push_back(j < i ? -1 : j == i ? 4 : -2);
    }
    row_offsets.push_back(static_cast<std::int32_t>(col_indices.size()));
  }
  krill::Csr<double> A(n, krill::Array(std::move(row_offsets)), krill::Array(std::move(col_indices)),
                       krill::Array(std::move(values)));
  validate(A);  // raises InvalidArgument that names what is wrong
  return A;
}

}  // namespace

int main() {
  constexpr std::int32_t n = 10'000;
  krill::Context ctx = krill::Context::automatic();
  const krill::Csr<double> A = tridiagonal(n);
  const krill::Array<double> x(std::vector<double>(n, 1.0));
  krill::Array<double> y(n), z(n), greatest(1);

  spmv(ctx, krill::Op::none, 1.0, A, x, 0.0, y);  // y = A x

  const krill::IncompleteFactor<double> LU(ctx, A, krill::Factorization::ilu0);
  if (const auto row = LU.zero_pivot()) {
    fmt::print(stderr, "the pivot of row {} is zero\n", *row);
    return 1;
  }
  const krill::TriangularPlan<double> L(ctx, LU.matrix(), {krill::Fill::lower, krill::Diagonal::unit});
  const krill::TriangularPlan<double> U(ctx, LU.matrix(), {krill::Fill::upper, krill::Diagonal::stored});
  L.solve(ctx, 1.0, y, z);  // z = L^-1 y
  U.solve(ctx, 1.0, z, z);  // in place

  axpby(ctx, -1.0, x, 1.0, z);
  max_abs(ctx, z, greatest);
  fmt::print("greatest error {:.1e}, after {}\n", greatest.host()[0], L.report().why);
  // The matrix is dominant by rows: each solve amplifies rounding by less than 4, of numbers of about 1.
  return greatest.host()[0] < 1e-13 ? 0 : 1;
}
