#include "sparse/spmm/blocks.hpp"

#include "sparse/core/instantiate.hpp"
#include "sparse/spmm/call.hpp"

namespace krill {

using namespace detail;

template <class Matrix, class Result>
void spmm_mixed(Context& ctx, Op op_b, const Scalar<float>& alpha, const Matrix& A, const Dense<value_t<Matrix>>& B,
                const Scalar<float>& beta, Dense<Result>& C, TensorCores units) {
  using T = value_t<Matrix>;
  const SpmmCall<T, Result, float> call{alpha, op_b, B, beta, C, "spmm_mixed"};
  call.check(A.rows(), A.cols());
  ctx.dispatch([&](const auto& where) {
    const auto a = any_blocks(A.view(where));
    call.with_operands(where, [&](const auto& dense) {
      run_blocks(where, BlockProducts<MixedTypes<T, T, Result, float>>{dense, a}, units);
    });
  });
}

template <class Matrix>
struct BlockMatrixInstances {
  using T = typename Matrix::Value;
  template <class Result>
  using Door = void(Context&, Op, const Scalar<float>&, const Matrix&, const Dense<T>&, const Scalar<float>&,
                    Dense<Result>&, TensorCores);
  static constexpr std::tuple list{instance<Door<T>>(spmm_mixed), instance<Door<float>>(spmm_mixed)};
};
template struct BlockMatrixInstances<Bsr<Half>>;
template struct BlockMatrixInstances<Bsr<BFloat16>>;
template struct BlockMatrixInstances<BlockedEll<Half>>;
template struct BlockMatrixInstances<BlockedEll<BFloat16>>;

}  // namespace krill
