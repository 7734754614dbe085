// Prolongators of aggregation multigrid: from vectors of aggregates to vectors of rows.
//
// Source: Vanek, Mandel, Brezina, Algebraic multigrid by smoothed aggregation for second and fourth order elliptic
// problems (1996).
#pragma once
#include "sparse/coarsen/aggregate.hpp"
#include "sparse/coarsen/strength.hpp"
#include "sparse/formats/csr_sizes.hpp"
#include "sparse/formats/dense.hpp"

namespace krill {

/// P0 with orthonormal columns whose range holds the candidates B on the rows of aggregates: P0 B_c = B there.
///
/// Column m I + j of P0 is the j-th of aggregate I. An aggregate that has not m independent rows, or on which
/// candidates depend on each other, has dead columns: their entries of P0 are zeros and so are their rows of B_c, and a
/// coarse matrix P^H A P is zero there, row and column.
template <class T, class Offset = std::int32_t>
struct Tentative {
  Csr<T, Offset> P;                  ///< m entries in each row of an aggregate, none in others
  Dense<T> coarse_candidates;        ///< B_c: m a row of an aggregate, upper triangular with r_jj >= 0
  Array<std::int64_t> deficient;     ///< how many columns are dead
  Array<std::uint8_t> dead_columns;  ///< 1 for a dead column of P
};

/// By aggregates of nodes, block_dim rows each, and m candidates: an orthogonal factorization of each aggregate's rows
/// of B, by modified Gram-Schmidt twice. A column is dead where what is left of it is no more than 1e-10 (32 units of
/// roundoff of T, if that is more) of the aggregate's longest one, each measured in the greatest entry of its
/// candidate. O(rows m^2); one team of lanes has an aggregate on CUDA. Waits, unless candidates are known to be finite;
/// the same bits in every run. Raises ShapeMismatch where the candidates are not of block_dim rows a node,
/// InvalidArgument unless block_dim and m are positive, where a candidate is not finite (which names the row), or where
/// entries do not fit `Offset` or columns 32 bits.
template <class T, class Offset = std::int32_t>
Tentative<T, Offset> tentative_prolongator(Context&, const Aggregates&, std::int32_t block_dim,
                                           const Dense<T>& candidates, bool are_finite = false);

/// What that makes, for P of these sizes, which stays, and m candidates.
HeldMemory tentative_memory(MemoryLedger&, const CsrSizes& P, std::int32_t candidates);

/// Sets the diagonal entries of dead columns in a coarse matrix to 1, where they are stored. O(rows log(longest row)).
/// No wait; capturable.
template <class T, class Offset>
void set_dead_diagonal(Context&, const Array<std::uint8_t>& dead_columns, Csr<T, Offset>& coarse);

/// P = (I - omega / lambda D_F^-1 A_F) P0, prepared to be computed with many values of A.
///
/// A_F has the entries of A between nodes that are strongly connected, and inside of nodes. What the weak ones of a row
/// make of the candidates B, its own aggregate makes in their place: A_F P0 has s more there, with s B_c = the sum of
/// weak a_ij b_j. So A_F P0 B_c = A B on rows of aggregates whose neighbors all have one, and P B_c = B where A B = 0,
/// on every level. With one candidate that is a_ij b_j / b_i on the diagonal, the sum of weak entries for a constant.
/// D_F has what A_F has on the diagonal: a_ii + s p0_i^H / |p0_i|^2. Where the real part of that, over a_ii, is less
/// than a tenth, and in rows of no aggregate, weak entries are dropped. A row where a_ii is zero is that of P0.
///
/// P has the pattern of the strong graph, whatever A stores: a row meets the aggregates of its node and of those that
/// the node is strongly connected to. Columns are sorted, and sums run in the order of A's row, so the bits repeat.
template <class T, class Offset = std::int32_t>
class SmoothedProlongator {
 public:
  /// Finds the pattern; values come with the first update(). Of P0 a row has m entries side by side, from a multiple of
  /// m on, the same columns for all rows of a node, or none. Waits once. Raises ShapeMismatch, and InvalidArgument
  /// where P0 is another matrix or the entries do not fit `Offset`.
  SmoothedProlongator(Context&, const StrongGraph<Offset>&, std::int32_t block_dim, const Tentative<T, Offset>&);
  static HeldMemory memory(MemoryLedger&, const CsrSizes& P, std::int32_t block_dim, std::int32_t candidates);

  /// Values of P, of P0 and B_c that tentative_prolongator() made of these candidates. O(nnz(A) (m + row of P / 8)); no
  /// wait, no allocation: capturable after a first run. Raises ShapeMismatch where an operand has not the sizes of the
  /// constructor, InvalidArgument on another backend.
  void update(Context&, const Csr<T, Offset>& A, const StrongGraph<Offset>&, const Tentative<T, Offset>&,
              const Dense<T>& candidates, const Scalar<double>& omega, const Scalar<double>& lambda);

  const Csr<T, Offset>& matrix() const { return p_; }
  Csr<T, Offset> release() && { return std::move(p_); }
  std::size_t bytes() const { return p_.bytes() + detail::bytes_of(weak_); }

 private:
  std::int32_t block_dim_, columns_;  // of a node, of an aggregate
  std::int64_t graph_nnz_, p0_nnz_;
  Csr<T, Offset> p_;
  Array<T> weak_;  // of A_F P0, `columns_` a row where they are several
  bool on_cuda_;
};

}  // namespace krill
