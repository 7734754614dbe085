#include "sparse/convert/to_block_tridiagonal.hpp"

#include <fmt/format.h>

#include "sparse/convert/block_tridiagonal_passes.hpp"
#include "sparse/convert/formats.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill {

using namespace detail;
namespace {

/// Names the first block of block row p that lies outside.
template <class T>
[[noreturn]] void refuse(const Bsr<T>& A, const BandLayout& l, OutsideBands outside, std::int64_t p) {
  const auto offsets = A.row_offsets().host(), columns = A.col_indices().host();
  const auto row = static_cast<std::size_t>(p);
  auto k = static_cast<std::size_t>(offsets[row]);
  while (!is_outside(l, p, columns[k], outside)) ++k;
  throw InvalidArgument(
      fmt::format("block tridiagonal: block ({}, {}) (counted from 0) lies outside of the block diagonals{}", p,
                  columns[k], l.batch > 1 ? " of its system" : ""));
}

}  // namespace

template <class T>
void update_values(Context& ctx, const Bsr<T>& A, BlockTridiagonal<T>& to, OutsideBands outside) {
  const BandLayout& l = to.layout();
  const Blocking& blocks = A.blocks();
  require(blocks.row_dim == to.size() && blocks.col_dim == to.size(),
          fmt::format("block tridiagonal: a matrix in blocks of {} x {} for blocks of {}", blocks.row_dim,
                      blocks.col_dim, to.size()));
  require_size("block tridiagonal: rows of the matrix", A.rows(), l.unknowns() * to.size());
  require_size("block tridiagonal: columns of the matrix", A.cols(), A.rows());
  require(!l.padded(), "block tridiagonal: a layout without padding is needed for a matrix in BSR or CSR");
  Array<FirstIndex> refused(1, "first block outside of block diagonals");
  ctx.dispatch([&](const auto& where) {
    const BlockTridiagonalView<kernel_t<T>> made{l, to.size(), to.band(-1).write(where), to.band(0).write(where),
                                                 to.band(1).write(where)};
    run_pass(where, to.band(0).size(),
             FillBlockTridiagonal<kernel_t<T>>{A.view(where), made, outside, refused.write(where)});
  });
  if (const FirstIndex first = refused.host()[0]; first.value != FirstIndex{}.value) refuse(A, l, outside, first.value);
}

template <class T>
BlockTridiagonal<T> to_block_tridiagonal(Context& ctx, const Bsr<T>& A, const BandLayout& layout,
                                         OutsideBands outside) {
  const int size = A.blocks().row_dim;
  require_blocks("block tridiagonal", layout, size);
  const auto blocks = [&](const char* name) { return Array<T>(layout.extent() * size * size, name); };
  BlockTridiagonal<T> made(layout, size, blocks("lower blocks"), blocks("diagonal blocks"), blocks("upper blocks"));
  update_values(ctx, A, made, outside);
  return made;
}

template <class T, class Offset>
BlockTridiagonal<T> to_block_tridiagonal(Context& ctx, const Csr<T, Offset>& A, int size, const BandLayout& layout,
                                         OutsideBands outside) {
  require_blocks("block tridiagonal", layout, size);
  require_size("block tridiagonal: rows of the matrix", A.rows(), layout.unknowns() * size);
  require_size("block tridiagonal: columns of the matrix", A.cols(), A.rows());
  return to_block_tridiagonal(ctx, to_bsr(ctx, A, {size, size}), layout, outside);
}

template <class T, class Offset>
struct BlocksOfCsrInstances {
  static constexpr std::tuple list{
      instance<BlockTridiagonal<T>(Context&, const Csr<T, Offset>&, int, const BandLayout&, OutsideBands)>(
          to_block_tridiagonal)};
};
KRILL_INSTANTIATE_WITH_OFFSETS(BlocksOfCsrInstances);

template <class T>
struct BlocksOfBsrInstances {
  static constexpr std::tuple list{
      instance<BlockTridiagonal<T>(Context&, const Bsr<T>&, const BandLayout&, OutsideBands)>(to_block_tridiagonal),
      instance<void(Context&, const Bsr<T>&, BlockTridiagonal<T>&, OutsideBands)>(update_values)};
};
KRILL_INSTANTIATE(BlocksOfBsrInstances);

}  // namespace krill
