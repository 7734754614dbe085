// Transposition of patterns, and of matrices with values of any type (kernel catalogue CNV-CSR2CSC, TYP-ACTION).
#pragma once
#include "sparse/convert/block_passes.hpp"
#include "sparse/formats/csc.hpp"

namespace krill {

/// The indices of a transpose in CSR, and where its entries come from: entry k is entry permutation[k] of the matrix.
template <class Offset>
struct TransposeIndices {
  Array<Offset> row_offsets;
  Array<std::int32_t> col_indices;
  Array<Offset> permutation;
};

/// The transpose of a pattern in CSR, without values. Columns may stand in their rows in any order, and several times;
/// rows of the result are sorted by place in the old ones. O(nnz), the same in every run. Raises ShapeMismatch where
/// there are no offsets.
template <class Offset>
TransposeIndices<Offset> transpose_pattern(Context&, std::int32_t cols, const Array<Offset>& row_offsets,
                                           const Array<std::int32_t>& col_indices);

/// Types of 1 to 16 bytes whose values can be moved as bits: half and its complex, integers, small structs; scalars,
/// too.
template <class T>
concept MovedAsBits = std::is_trivially_copyable_v<T> && sizeof(T) <= 16;

namespace detail {
/// The largest word that values of T consist of whole words of, as they are aligned: 1, 2, 4 or 8 bytes.
template <class T>
using word_t = std::conditional_t<alignof(T) >= 8, std::uint64_t,
                                  std::conditional_t<alignof(T) == 4, std::uint32_t,
                                                     std::conditional_t<alignof(T) == 2, std::uint16_t, std::uint8_t>>>;
}  // namespace detail

/// The transpose of A, whatever the type of its values: the pattern first, then the values gathered, two words where
/// transpose() of the scalars moves one. Rows are sorted. Raises ShapeMismatch.
template <MovedAsBits T, class Offset>
Csr<T, Offset> transpose_as_bits(Context& ctx, const Csr<T, Offset>& A) {
  using Word = detail::word_t<T>;
  TransposeIndices<Offset> pattern = transpose_pattern(ctx, A.cols(), A.row_offsets(), A.col_indices());
  Array<T> values(A.nnz(), "csr values");
  ctx.dispatch([&](const auto& where) {
    constexpr auto words = static_cast<std::int64_t>(sizeof(T) / sizeof(Word));
    run_pass(where, A.nnz() * words,
             detail::GatherBlocks<Word, Offset>{reinterpret_cast<const Word*>(A.values().read(where)),
                                                pattern.permutation.read(where), words,
                                                reinterpret_cast<Word*>(values.write(where))});
  });
  return {A.rows(), std::move(pattern.row_offsets), std::move(pattern.col_indices), std::move(values)};
}

/// A by columns, whatever the type of its values.
template <MovedAsBits T>
Csc<T> to_csc_as_bits(Context& ctx, const Csr<T>& A) {
  return Csc<T>(transpose_as_bits(ctx, A));
}

}  // namespace krill
