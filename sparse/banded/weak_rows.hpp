// Rows that elimination without pivoting may suffer from.
#pragma once
#include "sparse/banded/banded_plan.hpp"
#include "sparse/banded/row_passes.hpp"

namespace krill {

/// What BandedMethod::automatic is for these values: thomas where every row of every system is diagonally dominant, for
/// then no element grows by more than a factor of 2 (Higham 2002, theorem 9.9), whatever the op; else lu. qr is never
/// quicker than lu. O(n) on the matrices' side. Waits.
template <class T>
BandedMethod method_for(Context&, const Banded<T>& A);

namespace detail {

/// Waits.
template <class T>
WeakRows weak_rows(Context&, const Banded<T>& A);

}  // namespace detail
}  // namespace krill
