// Matrices whose arrays count from one.
#pragma once
#include "sparse/convert/base.hpp"

namespace krill::test {

/// The arrays of A, counted from one; not by the code under test.
template <class T, class Offset = std::int32_t>
struct FromOne {
  std::int32_t cols;
  Array<Offset> row_offsets;
  Array<std::int32_t> col_indices;
  Array<T> values;

  explicit FromOne(const Csr<T, Offset>& A)
      : cols(A.cols()),
        row_offsets(one_more(A.row_offsets())),
        col_indices(one_more(A.col_indices())),
        values(A.values().clone()) {}

  /// By the door that takes them over.
  Csr<T, Offset> taken_over(Context& ctx) const {
    return from_base_one(ctx, cols, row_offsets, col_indices, values.clone());
  }
  template <class Where>
  CsrView<const kernel_t<T>, Offset> view(const Where& where) const {
    return {static_cast<std::int32_t>(row_offsets.size() - 1),
            cols,
            values.size(),
            row_offsets.read(where),
            col_indices.read(where),
            values.read(where),
            IndexBase::one};
  }

  template <class Index>
  static Array<Index> one_more(const Array<Index>& indices) {
    std::vector<Index> more(indices.host().begin(), indices.host().end());
    for (Index& index : more) ++index;
    return Array<Index>(std::move(more), indices.name());
  }
};

}  // namespace krill::test
