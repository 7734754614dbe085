// Threshold factors by sweeps: the pattern of ParILUT and ParICT (Anzt, Chow and Dongarra 2018).
#pragma once
#include <optional>
#include <type_traits>

#include "sparse/factor/fill.hpp"
#include "sparse/factor/incomplete.hpp"

namespace krill {

/// A in the pattern of the largest entries of its factors L U, or L L^H of the Hermitian matrix whose lower triangle A
/// stores: a FixedPointFactor of matrix() is ParILUT or ParICT of A, an IncompleteFactor the factor that its sweeps end
/// in. update() takes other values in the pattern that is found here.
///
/// The factor begins as one sweep in the pattern of A. A cycle adds all entries of L U and of A that it lacks, with
/// what the residual A - L U has there, over u_jj left of the diagonal; sweeps once; keeps the diagonal and, of the
/// others, the largest, so that no more than `fill` times the entries of A stay; and sweeps once more. Entries that are
/// 0 go. All entries compete, l_ij by |l_ij| sqrt(|u_jj| / |u_ii|), u_ij by |u_ij| / sqrt(|u_ii u_jj|), what scaling
/// the pivots to ones would leave: D A D has the pattern of A. Sizes are compared to ten bits, so that rounding has no
/// say, and of equal ones those stay that come first by rows. The same bits every run.
///
/// A boost of pivots is that of the sweeps. Where A lacks an entry on the diagonal nothing is added, and the factor
/// names the row. Waits; not inside a capture. A cycle takes a product and a sum of sparse matrices, two analyses and
/// sweeps; for a while the entries of L U, several times. Raises ShapeMismatch unless A is square, InvalidArgument for
/// options out of range, for a boost of IC, and for more entries than Offset can count, and OutOfMemory where L U has
/// more than there is room for.
template <class T, class Offset>
FilledMatrix<T, Offset> fill_by_sweeps(Context&, const Csr<T, Offset>& A, Factorization, const GrowthOptions&,
                                       const FillRoom& = {},
                                       const std::type_identity_t<std::optional<PivotBoost<T>>>& = {});

}  // namespace krill
