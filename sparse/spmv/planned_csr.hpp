// A matrix in CSR for plans, whatever its format and op: of its own arrays where they serve.
#pragma once
#include <variant>

#include "sparse/formats/any_matrix.hpp"

namespace krill::detail {

/// The transpose of a matrix that stays where it is, and follows its values.
template <class T, class Offset>
struct Transposed {
  const Csr<T, Offset>* from;
  bool conjugate;
  Array<Offset> permutation;  ///< entry k is entry permutation[k] of `from`
  Csr<T, Offset> csr;

  static Transposed of(Context&, const Csr<T, Offset>&, Op);
  void update(Context&);
  std::size_t bytes() const { return csr.bytes() + bytes_of(permutation); }
};

/// op(A) in CSR. COO gets row offsets, CSC, GEBSC and transposes arrays of their own; CSC's transpose and CSR need
/// nothing. Other formats are converted. A must outlive it and keep its pattern.
template <class T>
class PlannedCsr {
 public:
  PlannedCsr(Context&, const AnyMatrix<T>& A, Op);
  PlannedCsr(Context&, const Coo<T>&);
  PlannedCsr(PlannedCsr&&) = delete;  // it points to itself

  /// A has new values. O(nnz); nothing where A's own arrays serve. Whether the arrays are other ones now: formats that
  /// had to be converted are so anew.
  bool update(Context&);
  /// What is made beside A.
  std::size_t bytes() const;

  /// f(row offsets, values): arrays.
  template <class F>
  void with_arrays(F&& f) const {
    std::visit([&](const auto* offsets) { f(*offsets, *values_); }, row_offsets_);
  }
  /// f(CsrView) on the tag's side.
  template <class Where, class F>
  void with_view(const Where& where, F&& f) const {
    std::visit(
        [&]<class Offset>(const Array<Offset>* offsets) {
          f(CsrView<const kernel_t<T>, Offset>{rows_, cols_, values_->size(), offsets->read(where),
                                               col_indices_->read(where), values_->read(where)});
        },
        row_offsets_);
  }
  std::int32_t rows() const { return rows_; }
  std::int32_t cols() const { return cols_; }

 private:
  template <class Matrix>
  void make(Context&, const Matrix&);
  void make_by_columns(Context&, const Csr<T>& transposed);
  void make_by_block_columns(Context&, const Bsr<T>& transposed);
  void make_by_rows(Context&, const Coo<T>&, const Array<std::int32_t>& col_indices, const Array<T>& values);
  void make_from_pairs(Context&, const CooAos<T>&);
  template <class Offset>
  void make_transpose(Context&, const Csr<T, Offset>&, Op);
  void keep(Context&, Op, Csr<T, std::int64_t>);
  template <class Offset>
  void point_to(const Csr<T, Offset>&);
  void conjugate(Context&);

  const AnyMatrix<T>* A_ = nullptr;  // null: a Coo alone
  Op op_ = Op::none;
  std::int32_t rows_ = 0, cols_ = 0;
  std::variant<const Array<std::int32_t>*, const Array<std::int64_t>*> row_offsets_;
  const Array<std::int32_t>* col_indices_ = nullptr;
  const Array<T>* values_ = nullptr;

  // what they point to beside A's arrays
  Array<std::int64_t> own_offsets_{0, "plan row_offsets"};
  Array<std::int32_t> own_columns_{0, "plan col_indices"};
  const Array<T>* unconjugated_ = nullptr;
  Array<T> conjugated_{0, "plan values"};  // of *unconjugated_
  std::variant<std::monostate, Transposed<T, std::int32_t>, Transposed<T, std::int64_t>, Csr<T, std::int64_t>> own_ =
      {};
};

}  // namespace krill::detail
