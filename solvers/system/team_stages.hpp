// The last stage of a solve that the ranks of a team share.
#pragma once
#include <memory>
#include <optional>

#include "solvers/distributed_operator.hpp"
#include "solvers/system/stages.hpp"
#include "sparse/parallel/share_rows.hpp"

namespace krill {

/// Replaces what the rules of `auto` chose and several ranks do not run, with a note. Raises InvalidArgument where the
/// options name such a thing.
void require_shareable(SolveOptions&, SolveFacts&);

/// Ranks begin at multiples of so many rows: those of warps and slices, and of blocks whose size the options of the
/// preconditioner, or of what stands inside of schwarz, name.
std::int64_t unit_of_rows(const PreconditionerOptions&);

/// The rows that a rank solves: those that it was given, or its share of the whole matrix, in the partition of the
/// solve. `csr` is where that is put if need be, which has to stay. Settles the size of blocks that options leave open.
/// Raises InvalidArgument where ranks have own rows only and block_jacobi's size is not named.
template <class T>
OwnRows<T> rows_of_rank(Context& host, Team&, PreconditionerOptions&, const PreparedSystem<T>&,
                        std::optional<AnyMatrix<T>>& csr);

/// What a solver needs of a rank's part: products with its rows, and their preconditioner.
template <class T>
class RankSystem {
 public:
  /// own, rows: of the same rows, which have to stay. All ranks take part. Raises as the preconditioner's maker, with
  /// the first row of this rank, and TeamFailure.
  RankSystem(Context&, const SolveOptions&, const Distributed<T>& own, const RowSlice<T>& rows);

  const DistributedOperator<T>& products() const { return *products_; }
  const Preconditioner<T>& preconditioner() const { return *preconditioner_; }
  /// Of copies of the rows; the preconditioner tells of itself.
  std::size_t bytes() const;

 private:
  std::optional<AnyMatrix<T>> block_, rows_;  // in CSR, where products have another format; for bounds of eigenvalues
  std::optional<DistributedOperator<T>> products_;
  std::unique_ptr<Preconditioner<T>> preconditioner_;
};

/// As solve_prepared(), but for what that measures of x: every rank has the whole matrix, or own rows of it, and all of
/// b; each keeps, converts and multiplies its own rows (those of SolveOptions::partition, where it has the whole
/// matrix), makes the preconditioner of them, and gets all of x. What the rules of `auto` chose and a team does not run
/// is replaced, with a note. Raises InvalidArgument where the options name what a team does not run: solvers banded,
/// direct and multigrid, preconditioners other than none, jacobi, block_jacobi, chebyshev, isai and schwarz, and these
/// three in float32; where ranks have own rows only and block_jacobi's size is not named; and TeamFailure.
template <class T>
void solve_in_team(Context&, SolveOptions&, const PreparedSystem<T>&, const Array<T>& b, Array<T>& x, SolveFacts&,
                   const std::function<void()>& prepared, const Watch&, const ColumnWatch& solved);

}  // namespace krill
