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
  std::int64_t deficient = 0;        ///< dead columns
  Array<std::uint8_t> dead_columns;  ///< 1 for a dead column of P
};

/// By aggregates of nodes, block_dim rows each, and m candidates: an orthogonal factorization of each aggregate's rows
/// of B, by modified Gram-Schmidt twice. A column is dead where what is left of it is no more than 1e-10 (32 units of
/// roundoff of T, if that is more) of the aggregate's longest one, each measured in the greatest entry of its
/// candidate. O(rows m^2); one team of lanes has an aggregate on CUDA. Waits; the same bits in every run. Raises
/// ShapeMismatch where the candidates are not of block_dim rows a node, InvalidArgument unless block_dim and m are
/// positive, where a candidate is not finite (which names the row), or where entries do not fit `Offset` or columns 32
/// bits.
template <class T, class Offset = std::int32_t>
Tentative<T, Offset> tentative_prolongator(Context&, const Aggregates&, std::int32_t block_dim,
                                           const Dense<T>& candidates);

/// What that makes, for P of these sizes, which stays, and m candidates.
HeldMemory tentative_memory(MemoryLedger&, const CsrSizes& P, std::int32_t candidates);

/// Sets the diagonal entries of dead columns in a coarse matrix to 1, where they are stored. O(rows log(longest row)).
/// No wait; capturable.
template <class T, class Offset>
void set_dead_diagonal(Context&, const Array<std::uint8_t>& dead_columns, Csr<T, Offset>& coarse);

/// P = (I - omega / lambda D_F^-1 A_F) P0, prepared to be computed with many values of A.
///
/// A_F has the entries of A between nodes that are strongly connected, and inside of nodes. A weak entry is added to
/// that of the same component in the row's own node, on the diagonal where the component is the row's: so A_F c = A c
/// for vectors c that are constant in each component. Where that would take the real part of the diagonal entry, over
/// the entry itself, below a tenth, the row keeps its own entries and its weak ones are dropped. D_F is the diagonal of
/// A_F; a row where it is zero is that of P0.
///
/// P has the pattern of the strong graph, whatever A stores: a row meets the aggregates of its node and of those that
/// the node is strongly connected to. Columns are sorted, and sums run in the order of A's row, so the bits repeat.
template <class T, class Offset = std::int32_t>
class SmoothedProlongator {
 public:
  /// Finds the pattern; values come with the first update(). Of P0 a row has m entries side by side, from a multiple of
  /// m on, the same columns for all rows of a node, or none. Waits. Raises ShapeMismatch, and InvalidArgument where P0
  /// is another matrix or the entries do not fit `Offset`.
  SmoothedProlongator(Context&, const StrongGraph<Offset>&, std::int32_t block_dim, const Csr<T, Offset>& P0);
  static HeldMemory memory(MemoryLedger&, const CsrSizes& P, std::int32_t block_dim);

  /// Values of P. O(nnz(A) (1 + row of P / 8)); no wait, no allocation: capturable after a first run. Raises
  /// ShapeMismatch where an operand has not the sizes of the constructor, InvalidArgument on another backend.
  void update(Context&, const Csr<T, Offset>& A, const StrongGraph<Offset>&, const Csr<T, Offset>& P0,
              const Scalar<double>& omega, const Scalar<double>& lambda);

  const Csr<T, Offset>& matrix() const { return p_; }
  Csr<T, Offset> release() && { return std::move(p_); }
  std::size_t bytes() const { return p_.bytes(); }

 private:
  std::int32_t block_dim_, columns_;  // of a node, of an aggregate
  std::int64_t graph_nnz_, p0_nnz_;
  Csr<T, Offset> p_;
  bool on_cuda_;
};

/// bound[0] = the greatest sum of moduli in a row of D_F^-1 A_F as SmoothedProlongator takes it, which no eigenvalue
/// exceeds in modulus: a lambda for update(). Rows without a diagonal entry are left out; 0 where that is all of them.
/// O(nnz), no wait: capturable after a first run. Raises ShapeMismatch, and InvalidArgument unless block_dim is
/// positive.
template <class T, class Offset>
void bound_filtered(Context&, const Csr<T, Offset>& A, const StrongGraph<Offset>&, std::int32_t block_dim,
                    Array<double>& bound);

}  // namespace krill
