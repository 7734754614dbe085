// Matchings of rows to columns: Q D_r A D_c has large entries on its diagonal. With Q D_r b in the place of b, the
// solution is D_c^-1 x.
#pragma once
#include <vector>

#include "sparse/order/ordering.hpp"
#include "sparse/scale/scaling.hpp"

namespace krill {

/// Pairs of a row and a column, each with an entry of its own, and what to scale rows and columns by. In exact
/// arithmetic |a_ij| exp(log_row_factors[i] + log_col_factors[j]) <= 1 for all entries, and = 1 for those of the pairs
/// if the product is greatest: these factors prove that no other choice of pairs has a greater one.
struct ProductMatching {
  std::vector<std::int32_t> row_of_column;  ///< `unmatched` where there is none
  std::vector<double> log_row_factors, log_col_factors;
  std::int32_t rank = 0;  ///< pairs
  bool has_greatest_product =
      true;  ///< of all matchings of the rows that are matched; false: max_work ended the search
};

/// How many entries the searches may look at, for each that the matrix has, and in all. Beyond, the pairs that are
/// there are kept, and the rest is matched by the pattern alone.
struct MatchingWork {
  std::int64_t an_entry = 20, in_all = 200'000'000;  ///< whichever is more; some seconds. Reasoned, not varied
};

/// The pairs whose product of moduli is greatest (Duff and Koster 2001; job 5 of MC64): shortest augmenting paths in
/// the costs log max_k |a_kj| - log |a_ij|, by Dijkstra's algorithm with a heap, after a start that takes whatever
/// costs nothing. Stored zeros are no entries. One thread, the same in every run. Milliseconds as a rule; the worst
/// case is `work`, and the pattern's matching after it. 8 nnz + 52 n bytes of memory; where stored zeros are left out
/// or the pattern decides, 4 nnz + 28 n more. Raises ShapeMismatch unless A is square, InvalidArgument that names an
/// entry that is not finite, and where even the pattern takes too long.
template <class T, class Offset>
ProductMatching maximum_product_matching(const Csr<T, Offset>& A, const MatchingWork& work = {});

/// The order of the rows, and the scaling, that such a matching gives.
template <class T>
class Matching {
 public:
  /// As maximum_product_matching. Raises InvalidArgument as well where A is structurally singular, which names rows and
  /// columns, and where a factor is beyond the range of T.
  explicit Matching(const Csr<T, std::int32_t>& A);
  explicit Matching(const Csr<T, std::int64_t>& A);
  /// What stays: factors and the order both ways.
  static HeldMemory memory(MemoryLedger&, const CsrSizes& A);

  const Scaling<T>& scaling() const { return scaling_; }  ///< D_r and D_c
  const Ordering& rows() const { return rows_; }          ///< Q: row j of the new system is row order()[j] of the old
  std::int32_t moved() const { return moved_; }           ///< rows that do not stay in their place
  bool has_greatest_product() const { return has_greatest_product_; }

 private:
  explicit Matching(const ProductMatching&);
  template <class Offset>
  static ProductMatching find(const Csr<T, Offset>& A);

  Scaling<T> scaling_;
  Ordering rows_;
  std::int32_t moved_ = 0;
  bool has_greatest_product_ = true;
};

/// Q D_r A D_c, which follows new values of A.
template <class T, class Offset>
class Matched {
 public:
  /// Two matrices while it is made, as Scaled and Reordered make them. Raises ShapeMismatch.
  Matched(Context&, const Csr<T, Offset>& A, const Matching<T>&);
  /// Of which one matrix stays, when that is released.
  static HeldMemory memory(MemoryLedger&, const CsrSizes& A);

  const Csr<T, Offset>& matrix() const { return reordered_.matrix(); }
  /// New values of the same pattern, with the pairs and factors that were found first. O(nnz). Raises ShapeMismatch.
  void update(Context&, const Csr<T, Offset>& A, const Matching<T>&);
  Csr<T, Offset> release() && { return std::move(reordered_).release(); }

 private:
  Scaled<T, Offset> scaled_;
  Reordered<T, Offset> reordered_;
};

}  // namespace krill
