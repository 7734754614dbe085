// Any format in CSR, in the workspace, for products that have no kernel of their own.
#pragma once
#include "sparse/convert/convert.hpp"
#include "sparse/convert/convert_passes.hpp"
#include "sparse/convert/to_csr_passes.hpp"
#include "sparse/formats/any_matrix.hpp"

namespace krill::detail {

template <class View>
std::int32_t view_columns(const View& a) {
  return a.cols;
}
template <class T>
std::int32_t view_columns(const HybView<T>& a) {
  return a.ell.cols;
}

/// A matrix in CSR in the frame's memory.
template <class T, class Offset>
CsrView<T, Offset> take_csr(Frame& frame, std::int32_t rows, std::int32_t cols, std::int64_t nnz) {
  return {rows,
          cols,
          nnz,
          frame.take<Offset>(static_cast<std::size_t>(rows) + 1),
          frame.take<std::int32_t>(static_cast<std::size_t>(nnz)),
          frame.take<T>(static_cast<std::size_t>(nnz))};
}

// Any format in CSR: arrays of its own where they serve, the frame's memory for the rest.
template <class Where, class T, class Offset>
CsrView<const T, Offset> csr_of(const Where&, Frame&, const CsrView<const T, Offset>& a, std::int64_t) {
  return a;
}

template <class Where, class T>
CsrView<const T, std::int64_t> csr_of(const Where& where, Frame& frame, const CooView<const T>& a, std::int64_t nnz) {
  auto* row_offsets = frame.take<std::int64_t>(static_cast<std::size_t>(a.rows) + 1);
  const std::int32_t *rows = a.row_indices, *cols = a.col_indices;
  if (a.stride == 2) {
    auto* split = frame.take<std::int32_t>(2 * static_cast<std::size_t>(nnz));
    run_pass(where, nnz, SplitPairs{a.row_indices, split, split + nnz});
    rows = split, cols = split + nnz;
  }
  compress_rows(where, a.rows, nnz, rows, row_offsets, a.base);
  if (a.base == IndexBase::one)
    run_pass(where, a.rows + std::int64_t{1}, ShiftIndices<std::int64_t>{row_offsets, 1, row_offsets});
  return {a.rows, a.cols, nnz, row_offsets, cols, a.values, a.base};
}

/// `places` is the length of the arrays, at least the number of entries. What is left over belongs to no row; its
/// column index is `cols`, one beyond the last, so that a transposition puts it behind all rows, too.
template <class Where, class View>
CsrView<const typename View::Value, std::int64_t> csr_of(const Where& where, Frame& frame, const View& a,
                                                         std::int64_t places) {
  const std::int32_t rows = a.stored_rows();
  const auto out = take_csr<typename View::Value, std::int64_t>(frame, rows, view_columns(a), places);
  Frame counting(where);
  auto* counts = counting.take<std::int64_t>(static_cast<std::size_t>(rows));
  run_pass(where, rows, CountEntries<View, std::int64_t>{a, counts});
  scan_counts(where, rows, counts, out.row_offsets);
  run_pass(where, rows, FillCsr<View, std::int64_t>{a, out});
  run_pass(where, places, FillTail{out.row_offsets, rows, out.cols, out.col_indices});
  return out.as_const();
}

template <class Where, class T>
CsrView<const T, std::int64_t> csr_of(const Where& where, Frame& frame, const BsrView<const T>& a,
                                      std::int64_t places) {
  return csr_of(where, frame, Nonzeros<BsrView<const T>>{a, a.cols}, places);
}
template <class Where, class T>
CsrView<const T, std::int64_t> csr_of(const Where& where, Frame& frame, const BlockedEllView<const T>& a,
                                      std::int64_t places) {
  return csr_of(where, frame, Nonzeros<BlockedEllView<const T>>{a, a.cols}, places);
}

/// The transpose or adjoint of a in the frame's memory. The frame may hold more than the entries that there are.
template <class Where, class T, class Offset>
CsrView<const T, Offset> transposed_in(const Where& where, Frame& frame, Op op, const CsrView<const T, Offset>& a) {
  const auto out = take_csr<T, Offset>(frame, a.cols, a.rows, a.nnz);
  csr_transpose(where, a, op == Op::adjoint, out, static_cast<Offset*>(nullptr), true);
  return out.as_const();
}

/// The conjugate of a in the frame's memory.
template <class Where, class T, class Offset>
CsrView<const T, Offset> conjugate_in(const Where& where, Frame& frame, CsrView<const T, Offset> a) {
  if constexpr (is_complex<T>) {
    T* values = frame.take<T>(static_cast<std::size_t>(a.nnz));
    run_pass(where, a.nnz, Conjugate<T>{a.values, values});
    a.values = values;
  }
  return a;
}

/// At least as many as the entries that the views of A hand out.
template <class Matrix>
std::int64_t places_of(const Matrix& A) {
  if constexpr (requires { A.hack_offsets(); })
    return A.values().size();
  else
    return A.nnz();
}

/// use(op(A) in CSR): A's own arrays where they are that, else arrays in the workspace until `use` returns.
template <class Where, class Matrix, class Use>
void with_op_in_csr(const Where& where, Op op, const Matrix& A, Use&& use) {
  using T = typename Matrix::Value;
  Frame frame(where);
  if constexpr (std::is_same_v<Matrix, Csc<T>> || std::is_same_v<Matrix, Gebsc<T>>) {
    const auto transposed = csr_of(where, frame, A.transposed().view(where), A.nnz());
    if (op == Op::none)
      use(transposed_in(where, frame, Op::transpose, transposed));
    else
      use(op == Op::transpose ? transposed : conjugate_in(where, frame, transposed));
  } else {
    const auto csr = csr_of(where, frame, A.view(where), places_of(A));
    op == Op::none ? use(csr) : use(transposed_in(where, frame, op, csr));
  }
}

}  // namespace krill::detail
