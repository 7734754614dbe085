#include "sparse/banded/block_tridiagonal_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sparse/banded/block_elimination.hpp"
#include "sparse/banded/work.hpp"
#include "sparse/core/made_for.hpp"

namespace krill {

using namespace detail;
namespace {

void require_plan(const BandLayout& matrices, const BandLayout& vectors, int size) {
  require_blocks("block tridiagonal plan", matrices, size);
  require_blocks("block tridiagonal plan, vectors", vectors, size);
  require(
      matrices.rows == vectors.rows,
      fmt::format("block tridiagonal plan: vectors of {} block rows for matrices of {}", vectors.rows, matrices.rows));
  require(matrices.batch == vectors.batch || matrices.batch == 1,
          fmt::format("block tridiagonal plan: {} vectors for {} matrices; as many are needed, or one matrix",
                      vectors.batch, matrices.batch));
}

BlockPartition partition_of(bool on_cuda, const BandLayout& vectors, int size) {
  return make_block_partition(on_cuda, vectors.rows, vectors.batch, size);
}

}  // namespace

template <class T>
BlockTridiagonalPlan<T>::BlockTridiagonalPlan(Context& ctx, const BandLayout& matrices, const BandLayout& vectors,
                                              int size)
    : layout_(matrices), vectors_(vectors), size_(size), on_cuda_(ctx.on_cuda()) {
  require_plan(matrices, vectors, size);
  workspace_ = Array<T>(block_workspace(partition_of(on_cuda_, vectors, size), vectors.batch, size),
                        "workspace of a block tridiagonal solve");
  zero_rows_ = Array<std::int32_t>(std::vector<std::int32_t>(static_cast<std::size_t>(vectors.batch), no_row),
                                   "rows of singular blocks");
  ctx.dispatch([&](const auto& where) { workspace_.write(where), zero_rows_.update(where); });
}

template <class T>
HeldMemory BlockTridiagonalPlan<T>::memory(MemoryLedger& ledger, const BandLayout& vectors, int size) {
  require_blocks("block tridiagonal plan", vectors, size);
  HeldMemory kept = ledger.hold<T>(block_workspace(partition_of(ledger.on_cuda(), vectors, size), vectors.batch, size));
  kept += ledger.hold<std::int32_t>(vectors.batch);
  return kept;
}

template <class T>
Work BlockTridiagonalPlan<T>::work() const {
  return block_tridiagonal_work<T>(layout_, vectors_, size_);
}

template <class T>
void BlockTridiagonalPlan<T>::solve(Context& ctx, const BlockTridiagonal<T>& A, const Array<T>& b, Array<T>& x) {
  require_made_for(ctx, on_cuda_, "block tridiagonal plan");
  require_size("block tridiagonal plan: b", b.size(), vectors_.extent() * size_);
  require_size("block tridiagonal plan: x", x.size(), vectors_.extent() * size_);
  require(A.layout() == layout_, "block tridiagonal plan: the matrices have another layout than the plan was made for");
  require(A.size() == size_,
          fmt::format("block tridiagonal plan: matrices of blocks of {}, it was made for {}", A.size(), size_));
  for (int k = -1; k <= 1; ++k) require_disjoint("block tridiagonal plan: x and blocks of the matrix", A.band(k), x);
  ctx.dispatch([&](const auto& where) {
    auto a = A.view(where);
    if (layout_.batch < vectors_.batch) a.layout = {layout_.rows, vectors_.batch, layout_.row_stride, 0};
    const auto* from = b.read(where);
    auto* to = &b == &x || vectors_.padded() ? x.update(where) : x.write(where);
    run_blocks(where, partition_of(on_cuda_, vectors_, size_),
               BlockSolve<kernel_t<T>>{a, vectors_, from, to, workspace_.write(where), zero_rows_.update(where)});
  });
}

template <class T>
std::optional<SingularBlock> BlockTridiagonalPlan<T>::singular_block() const {
  const auto rows = zero_rows_.host();
  const auto found = std::find_if(rows.begin(), rows.end(), [](std::int32_t row) { return row != no_row; });
  if (found == rows.end()) return std::nullopt;
  return SingularBlock{static_cast<std::int32_t>(found - rows.begin()), *found};
}

template <class T>
std::optional<std::int32_t> BlockTridiagonalPlan<T>::singular_block(std::int32_t system) const {
  require(0 <= system && system < vectors_.batch,
          fmt::format("block tridiagonal plan: system {} of a batch of {}", system, vectors_.batch));
  return row_or_none(zero_rows_.host()[static_cast<std::size_t>(system)]);
}

KRILL_INSTANTIATE(BlockTridiagonalPlan);

}  // namespace krill
