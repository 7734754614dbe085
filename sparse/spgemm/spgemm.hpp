// Products of sparse matrices (kernel catalogue GEN-SPGEMM, EXT-CSRGEMM2).
#pragma once
#include <limits>

#include "sparse/spgemm/products.hpp"
#include "sparse/spgemm/spgeam.hpp"

namespace krill {

/// Sizes of blocks: op(A) has some of rows x inner, op(B) of inner x cols.
struct ProductBlocks {
  std::int32_t rows = 1, inner = 1, cols = 1;
  constexpr bool are_single() const { return rows == 1 && inner == 1 && cols == 1; }
};

struct SpgemmOptions {
  /// What a plan on CUDA may keep so that update() need not seek where products go: a list of the products of each
  /// entry of C, 8 bytes a product and an Offset an entry, where entries have up to five in the mean and neither A nor
  /// B more than 2^31 - 1 entries; else the place of each product in its row of C, 2 bytes, and an Offset an entry of
  /// op(A). What takes more is not kept, nor what takes more than a quarter of the memory that is free, nor anything
  /// where rows of op(A) have at most five entries and no row of C more than 256 products: rows of op(B) are merged,
  /// which seeks nothing.
  std::size_t max_list_bytes = std::size_t{8} << 30;
  /// Whether columns of op(B) ascend in each row, as those of a Csr do. Where they do not, or repeat, rows are not
  /// merged.
  bool b_is_sorted = true;
  /// Whether C is to have the values of A and B, with an alpha of 1, as soon as the plan is made. On CUDA, where rows
  /// of op(A) have at most seven entries and no row of C more than 256 products, they come with the columns, so that
  /// products are gone through once less.
  bool with_values = false;
  /// Entries that C may have; of a triple product, the last one.
  std::int64_t max_entries = std::numeric_limits<std::int64_t>::max();
  /// Where both operands consist of full blocks of these sizes, the pattern of C is found for blocks, in rows x inner x
  /// cols times fewer products; it is the same. Of a triple product, those of the last one, op(R) times A P: A has
  /// blocks of inner x inner.
  ProductBlocks blocks = {};
  /// How many products there are, and what no row of C has more of, where that is known: spares a wait where rows of
  /// op(B) are not sorted. 0: it is not.
  std::int64_t products = 0, max_products_of_row = 0;
};

/// C = alpha op(A) op(B) in CSR, prepared to be computed with many values. The pattern of C is that of the products
/// whatever the values are: sums that cancel leave entries of zero. Columns are sorted. The plan owns C; A and B may
/// go, or change their values. With beta D: a SpgeamPlan of matrix() and D, updated after this one.
///
/// Source: Gustavson, Two fast algorithms for sparse matrices (1978).
template <class T, class Offset = std::int32_t>
class SpgemmPlan {
 public:
  /// Finds the pattern, by going through all products twice; the values come with the first update(), or at once where
  /// the options say so. An operand with an op is kept transposed, with a permutation. While it works it takes up to 40
  /// bytes a row of C, and on the host 8 a column for each thread; on CUDA also up to 4 a product of the longest row,
  /// 1024 at most, times the rows, where that is no more than 2 GiB, and it keeps 8 a row, and 4 for 4096 entries,
  /// where C has rows of more than 512. Waits; not inside a capture. Raises ShapeMismatch unless op(B) has as many rows
  /// as op(A) columns, and TooManyEntries, an InvalidArgument, where the entries of C do not fit `Offset` or are more
  /// than the options allow, before C is allocated.
  SpgemmPlan(Context&, Op op_a, const Csr<T, Offset>& A, Op op_b, const Csr<T, Offset>& B, SpgemmOptions = {});

  /// The masked product: C has the pattern of `mask`, sorted, and products outside of it are left out; entries that no
  /// product meets are zero. Nothing is sought. Raises ShapeMismatch unless the mask is of the product's shape.
  SpgemmPlan(Context&, Op op_a, const Csr<T, Offset>& A, Op op_b, const Csr<T, Offset>& B, const Csr<T, Offset>& mask);

  /// Values of C from values of A and B, in the patterns that the plan was made of. No wait, no allocation but
  /// workspace: capturable after a first run. Products are added in the order of op(A)'s row, in double or double
  /// complex, and rounded to T once: the same bits in every run and for any number of threads. Raises ShapeMismatch
  /// where shapes or entries are not those of the constructor, InvalidArgument on another backend or where A or B is C.
  void update(Context&, const Scalar<T>& alpha, const Csr<T, Offset>& A, const Csr<T, Offset>& B);

  const Csr<T, Offset>& matrix() const { return c_; }
  /// op(A), for the A that was handed to the constructor or to update() last: A itself, or the transpose that the plan
  /// keeps.
  const Csr<T, Offset>& left(const Csr<T, Offset>& A) const { return a_.of(A); }
  Csr<T, Offset> release() && { return std::move(c_); }
  std::int64_t longest_row() const { return longest_row_; }  ///< of C
  /// Of C, of operands that are kept transposed, and of what is kept of products and of long rows.
  std::size_t bytes() const;

 private:
  Csr<T, Offset> pattern_of_product(Context&, const Csr<T, Offset>& a, const Csr<T, Offset>& b, const SpgemmOptions&);
  Csr<T, Offset> pattern_of_blocks(Context&, const Csr<T, Offset>& a, const Csr<T, Offset>& b, const SpgemmOptions&);
  /// How rows of C are summed.
  void find_pieces(Context&, const Array<Offset>& row_offsets);
  /// What spares update() to seek where products go.
  void keep_products(Context&, const Csr<T, Offset>& a, const Csr<T, Offset>& b, const SpgemmOptions&);
  /// Of the longest row of op(A), where rows are merged for sums, too; else 0.
  std::int64_t summed_terms() const;
  template <class Where>
  detail::SumTeams teams(const Where&, std::int64_t entries_of_b, std::int32_t rows_of_b) const;

  detail::Operand<T, Offset> a_, b_;
  std::int64_t longest_row_ = 0;
  detail::ItemsOfRows pieces_;  // of rows that are summed in pieces; empty where there are none, as on the host
  std::int64_t products_ = 0, merged_terms_ = 0;
  Csr<T, Offset> c_;
  Array<Offset> list_starts_;  // of each entry of C; empty where there is no list
  Array<detail::ProductPair> list_;
  Array<Offset> place_bases_;  // ProductPlaces; empty where there are none
  Array<detail::ProductPlace> places_;
  bool on_cuda_, masked_ = false;
};

/// C = alpha op_r(R) A P in CSR, prepared to be computed with many values: the coarse matrix of a multigrid method.
/// op_r = Op::adjoint and R = P make it P^H A P. Two plans, A P and op_r(R) times that, and what they say holds here;
/// A P is kept, too.
template <class T, class Offset = std::int32_t>
class TripleProductPlan {
 public:
  /// Finds both patterns; the options hold for either product. Raises as SpgemmPlan does.
  TripleProductPlan(Context&, Op op_r, const Csr<T, Offset>& R, const Csr<T, Offset>& A, const Csr<T, Offset>& P,
                    SpgemmOptions = {});

  /// Values of C from values in the patterns that the plan was made of. Capturable after a first run.
  void update(Context&, const Scalar<T>& alpha, const Csr<T, Offset>& R, const Csr<T, Offset>& A,
              const Csr<T, Offset>& P);

  const Csr<T, Offset>& matrix() const { return outer_.matrix(); }
  /// op_r(R), for the R that was handed to the constructor or to update() last. With an op it is the plan's own and
  /// follows each update(), so that a multigrid method restricts by it and transposes P but once.
  const Csr<T, Offset>& restriction(const Csr<T, Offset>& R) const { return outer_.left(R); }
  Csr<T, Offset> release() && { return std::move(outer_).release(); }
  /// Of C, of A P, and of what both plans keep.
  std::size_t bytes() const { return inner_.bytes() + outer_.bytes(); }

 private:
  SpgemmPlan<T, Offset> inner_, outer_;
};

/// alpha op(A) op(B), by a SpgemmPlan for this one time.
template <class T, class Offset>
Csr<T, Offset> spgemm(Context&, Op op_a, Op op_b, const std::type_identity_t<Scalar<T>>& alpha, const Csr<T, Offset>& A,
                      const Csr<T, Offset>& B);

/// alpha op(A) op(B) + beta D, in the union of the patterns. Without alpha it is beta D, without beta the product; what
/// is left out is not looked at. A factor of zero leaves nothing out. Raises InvalidArgument without both,
/// ShapeMismatch.
template <class T, class Offset>
Csr<T, Offset> spgemm(Context&, Op op_a, Op op_b, const std::type_identity_t<std::optional<Scalar<T>>>& alpha,
                      const Csr<T, Offset>& A, const Csr<T, Offset>& B,
                      const std::type_identity_t<std::optional<Scalar<T>>>& beta, const Csr<T, Offset>& D);

}  // namespace krill
