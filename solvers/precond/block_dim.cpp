#include "solvers/precond/block_dim.hpp"

#include <fmt/format.h>

#include "sparse/convert/to_format.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill::detail {
namespace {

template <class T, class Offset>
BlockDim found_in_pattern(Context& ctx, const Csr<T, Offset>& A, std::int32_t otherwise) {
  if (A.nnz() == 0) return {otherwise ? otherwise : 1, "no entries"};
  const std::int32_t dim = best_block_dim(ctx, A);
  const std::int64_t places = stored_blocks(ctx, A, Blocking{dim, dim}) * dim * dim;
  const double filled = static_cast<double>(A.nnz()) / static_cast<double>(places);
  if (filled < 2.0 / 3 && otherwise) return {otherwise, "the default, as the pattern has no blocks"};
  return {dim, fmt::format("the pattern, whose blocks are {:.0f} % full", 100 * filled)};
}

}  // namespace

template <class T>
BlockDim choose_block_dim(Context& ctx, std::int32_t wanted, std::int32_t most, const AnyMatrix<T>& A,
                          std::int32_t otherwise) {
  if (wanted) return {wanted, "as asked for"};
  if (const auto* bsr = std::get_if<Bsr<T>>(&A)) {
    const std::int32_t dim = bsr->blocks().row_dim;
    if (dim == bsr->blocks().col_dim && dim <= most) return {dim, "the blocks of the matrix"};
  }
  return with_csr(ctx, A, [&](const auto& csr) { return found_in_pattern(ctx, csr, otherwise); });
}

template <class T>
struct BlockDimInstances {
  static constexpr auto list =
      instance<BlockDim(Context&, std::int32_t, std::int32_t, const AnyMatrix<T>&, std::int32_t)>(choose_block_dim);
};
KRILL_INSTANTIATE(BlockDimInstances);

}  // namespace krill::detail
