// Aggregates of pairs of pairs, by matchings along strong connections.
//
// Source of pairwise aggregation: Notay, An aggregation-based algebraic multigrid method (2010).
#pragma once
#include <optional>

#include "sparse/coarsen/aggregate.hpp"
#include "sparse/coarsen/strength.hpp"
#include "sparse/formats/csr_sizes.hpp"

namespace krill {

/// Aggregates of up to 2^passes rows, and those that joined. In each pass rows are paired along strong entries of great
/// weight |a_ij|^2 / |a_ii a_jj|, then the matrix is contracted (contract.hpp) and its rows are paired again.
///
/// An entry is no candidate where the real parts of a_ij, a_ii and a_jj have one sign. Weights count to an eighth of a
/// power of two, so that rounding does not decide; of equal ones the aligned entry is preferred, min(i, j) / |i - j|
/// rounded down being even, then the shorter |i - j|. No two entries of a row agree in all of that. On a grid in
/// natural order with an even number of points along each axis this makes boxes of 2 x 2 x 2. A row points to its best
/// neighbor that is not paired, two that point to each other are a pair, in up to 8 rounds; a row that is left joins
/// the pair of its best neighbor that has one. A row without candidates in the first pass is in no aggregate. Where |A|
/// is not symmetric, pairs are those of (A + A^H) / 2, unless A `is_hermitian`, to rounding: it is taken as it is then.
/// A diagonal entry of zero counts as the greatest entry of its row.
///
/// Aggregates are numbered by their least row. The same on the host and on CUDA, for any number of threads. O(nnz) a
/// round; waits. Raises ShapeMismatch unless A is square, InvalidArgument for less than one pass, for a threshold that
/// is negative or not a number, and where an entry is not finite, which names the row.
template <class T, class Offset>
Aggregates aggregate_matching(Context&, const Csr<T, Offset>& A, int passes, const Strength&,
                              bool is_hermitian = false);

template <class T, class Offset>
struct ContractedMatching {
  Aggregates aggregates;
  std::optional<Csr<T, Offset>> matrix;
};
/// The same aggregates, and A contracted by them, pass by pass: the sums of a ContractionPlan in another order. No
/// matrix where a row found no partner, or where pairs are those of (A + A^H) / 2.
template <class T, class Offset>
ContractedMatching<T, Offset> contract_matching(Context&, const Csr<T, Offset>& A, int passes, const Strength&,
                                                bool is_hermitian = false);

/// What that takes and makes, where |A| is symmetric, all rows find a partner in each pass, and matrices have half as
/// many entries in the next one.
HeldMemory matching_memory(MemoryLedger&, const CsrSizes& A, int passes);

namespace detail {
/// The same aggregates, numbered by their least rows. Waits.
Aggregates number_by_least_row(Context&, const Aggregates&);
}  // namespace detail

}  // namespace krill
