// The diagonal, as preconditioners divide by it.
#pragma once
#include <string_view>

#include "sparse/formats/any_matrix.hpp"

namespace krill::detail {

/// 1 / a_ii. One wait. Raises InvalidArgument, in the name of preconditioner `type`, for the first row whose diagonal
/// entry is missing, zero or not finite.
template <class T>
Array<T> inverse_diagonal(Context&, std::string_view type, const AnyMatrix<T>& A);

}  // namespace krill::detail
