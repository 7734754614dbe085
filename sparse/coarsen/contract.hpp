// The coarse matrix of plain aggregation: P0^H A P0, where P0 has a one in each row of an aggregate.
#pragma once
#include <optional>

#include "sparse/coarsen/aggregate.hpp"
#include "sparse/formats/csr_sizes.hpp"

namespace krill {

/// C_IJ = the sum of a_ij over the rows i of aggregate I and the columns j of aggregate J, prepared to be computed with
/// other values, too. What stands in rows or columns of no aggregate is left out. C has the entries that some a_ij is
/// stored for, whatever its value is, and C_II where a row of I has an entry in a column of no aggregate. Columns are
/// sorted. No product of sparse matrices: the columns of A are renamed, and rows are added.
template <class T, class Offset = std::int32_t>
class ContractionPlan {
 public:
  /// C of A. On CUDA rows of up to 32 entries are found and summed in one pass over A, with room for as many, or for
  /// all entries of A that the longest one may be made of, a row of workspace. Where a row has more, and on the host,
  /// the pattern comes first, with 4 bytes an entry of workspace and what a SpgemmPlan takes for rows of C. Waits; not
  /// inside a capture. Raises ShapeMismatch unless A is square and as large as the aggregates say. longest_row: of A,
  /// or more; 0: not known.
  ContractionPlan(Context&, const Csr<T, Offset>& A, const Aggregates&, std::int64_t longest_row = 0);

  /// Values of C from values of A in the pattern that the plan was made of, with the same aggregates. A is read once;
  /// no wait, no allocation: capturable. Sums are in T, in the order of rows and of entries in them: the same bits in
  /// every run and on both backends. Raises ShapeMismatch where sizes are not those of the constructor, InvalidArgument
  /// on another backend.
  void update(Context&, const Csr<T, Offset>& A, const Aggregates&);

  const Csr<T, Offset>& matrix() const { return c_; }
  Csr<T, Offset> release() && { return std::move(c_); }
  std::int64_t longest_row() const { return longest_row_; }  ///< of C
  std::size_t bytes() const;

 private:
  struct Pattern {
    Csr<T, Offset> matrix;
    std::int64_t longest_row;
    bool has_values = false;
  };
  static Pattern pattern_of(Context&, const Csr<T, Offset>& A, const Aggregates&, std::int64_t longest_row);
  static std::optional<Pattern> sum_short_rows(Context&, const Csr<T, Offset>& A, const Aggregates&,
                                               std::int64_t longest_row);
  ContractionPlan(Context&, const Csr<T, Offset>& A, const Aggregates&, Pattern);

  std::int64_t rows_, nnz_;  // of A
  std::int64_t longest_row_;
  Csr<T, Offset> c_;
  Array<std::int64_t> piece_starts_;  // of rows that several teams have; empty where there are none, as on the host
  std::int64_t pieces_ = 0;
  bool on_cuda_;
};

/// What the making of a plan takes; C stays. In rows of C about as many entries of A are added.
HeldMemory contraction_memory(MemoryLedger&, const CsrSizes& A, const CsrSizes& C);

}  // namespace krill
