// Which entries of a matrix couple their rows strongly.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "sparse/core/context.hpp"
#include "sparse/formats/csr.hpp"

namespace krill {

/// What an off-diagonal entry is measured by. relative: |a_ij|^2 >= threshold^2 m_i m_j with m_i the greatest modulus
/// beside the diagonal of row i. diagonal: |a_ij|^2 >= threshold^2 |a_ii a_jj| (Vanek, Mandel and Brezina 1996).
enum class StrengthMeasure { relative, diagonal };
inline constexpr std::array<std::string_view, 2> strength_measure_names{"relative", "diagonal"};

struct Strength {
  StrengthMeasure measure = StrengthMeasure::relative;
  double threshold = 0.25;
};

/// The graph of strong off-diagonal entries: structurally symmetric, no diagonal, columns sorted.
template <class Offset>
struct StrongGraph {
  Array<Offset> row_offsets;
  Array<std::int32_t> col_indices;

  std::int32_t rows() const { return static_cast<std::int32_t>(row_offsets.size() - 1); }
  std::int64_t nnz() const { return col_indices.size(); }
  template <class Where>
  CsrView<const NoValue, Offset> pattern(const Where& where) const {
    return {rows(), rows(), nnz(), row_offsets.read(where), col_indices.read(where)};
  }
};

/// Rows i and j are bound where a_ij or a_ji is strong; an entry that is 0 never is. The measure is the same for both,
/// so of a matrix with |a_ij| = |a_ji|, to rounding, the graph is found at once, in three readings of A; of others, of
/// which a hash of the graph tells, it is united with its transpose. Waits. Raises ShapeMismatch unless A is square,
/// InvalidArgument that names the row where an entry is not finite.
template <class T, class Offset>
StrongGraph<Offset> strong_graph(Context&, const Csr<T, Offset>& A, const Strength& = {});

/// The Frobenius norms of the block_dim x block_dim blocks of A, times -1 beside the diagonal: a matrix of nodes, as
/// matching wants it. O(nnz block_dim). Waits. Raises ShapeMismatch; InvalidArgument unless block_dim divides the rows.
template <class T, class Offset>
Csr<real_t<T>, Offset> node_matrix(Context&, const Csr<T, Offset>& A, std::int32_t block_dim);

}  // namespace krill
