// Sums of sparse matrices (kernel catalogue EXT-CSRGEAM2).
#pragma once
#include "sparse/spgemm/operand.hpp"

namespace krill {

/// C = alpha op(A) + beta op(B) in CSR, prepared to be computed with many values. The pattern of C is the union of
/// theirs whatever the values are: factors of zero and sums that cancel leave entries of zero, and NaN and infinities
/// go through zero factors as arithmetic has it. The plan owns C; A and B may go, or change their values.
///
/// Source: merging by rank, as in Green, McColl, Bader, GPU Merge Path (2012).
template <class T, class Offset = std::int32_t>
class SpgeamPlan {
 public:
  /// Finds the pattern; the values come with the first update(). An operand with an op is kept transposed, with a
  /// permutation. O(nnz(A) + nnz(B)), with bisections of rows on CUDA. Waits; not inside a capture. Raises
  /// ShapeMismatch unless op(A) and op(B) are of one shape, and InvalidArgument where the union does not fit `Offset`.
  SpgeamPlan(Context&, Op op_a, const Csr<T, Offset>& A, Op op_b, const Csr<T, Offset>& B);

  /// Values of C from values of A and B, in the patterns that the plan was made of. No wait, no allocation: capturable
  /// after a first run. The same bits in every run. Moves each pattern and each value once where there is no op. Raises
  /// ShapeMismatch where shapes or entries are not those of the constructor, InvalidArgument on another backend.
  void update(Context&, const Scalar<T>& alpha, const Csr<T, Offset>& A, const Scalar<T>& beta,
              const Csr<T, Offset>& B);

  const Csr<T, Offset>& matrix() const { return c_; }
  Csr<T, Offset> release() && { return std::move(c_); }
  /// Of C and of operands that are kept transposed.
  std::size_t bytes() const { return c_.bytes() + a_.bytes() + b_.bytes(); }

 private:
  detail::Operand<T, Offset> a_, b_;
  Csr<T, Offset> c_;
  bool on_cuda_;
};

/// alpha op(A) + beta op(B) as SpgeamPlan has it, for this one time: columns and values are found together. Waits.
template <class T, class Offset>
Csr<T, Offset> spgeam(Context&, Op op_a, Op op_b, const std::type_identity_t<Scalar<T>>& alpha, const Csr<T, Offset>& A,
                      const std::type_identity_t<Scalar<T>>& beta, const Csr<T, Offset>& B);

/// The identity of so many rows: with a SpgeamPlan, shifts A + alpha I.
template <class T, class Offset = std::int32_t>
Csr<T, Offset> identity(std::int32_t rows);

/// A + alpha I, its diagonal whole. Raises ShapeMismatch unless A is square.
template <class T, class Offset>
Csr<T, Offset> add_identity(Context&, const Csr<T, Offset>& A, const std::type_identity_t<Scalar<T>>& alpha);

}  // namespace krill
