// Aggregates: disjoint sets of rows that become the rows of a coarse matrix.
#pragma once
#include "sparse/coarsen/strength.hpp"
#include "sparse/core/array.hpp"

namespace krill {

struct Aggregates {
  std::int32_t count = 0;
  Array<std::int32_t> of_row;   ///< an entry a row; -1: in none
  Array<std::int32_t> offsets;  ///< count + 1; where the rows of each begin
  Array<std::int32_t> rows;     ///< of each aggregate, ascending
  std::int32_t max_rows = 0;    ///< no aggregate has more; 0: not known
};

/// Aggregates around roots that are more than two edges apart in the strong graph, while every row with a neighbor is
/// within two edges of one (Bell, Dalton and Olson 2012). Roots are a maximal independent set at distance two by hashed
/// priorities that change with each round. A row beside a root belongs to it; any other goes to the aggregate that its
/// neighbors beside roots are bound to most, by the sum of |a_ij|, of the first 16 that they name, ties by a hash.
/// Aggregates are numbered by their roots' rows. Rows without a neighbor are in none.
///
/// A: the matrix of the graph; only moduli of strong entries are looked at. O(nnz of the graph x rounds), 8 to 16
/// rounds, on CUDA in one kernel. Waits for their number. The same aggregates on both backends for the same
/// values, whatever the number of threads.
template <class T, class Offset>
Aggregates aggregate_mis2(Context&, const StrongGraph<Offset>&, const Csr<T, Offset>& A);

namespace detail {
/// The aggregates that `of_row` names, which are `count`, with the rows of each. `all`: every row is in one; else waits
/// for how many are.
Aggregates list_aggregates(Context&, std::int32_t count, Array<std::int32_t> of_row, bool all = false);
}  // namespace detail

}  // namespace krill
