// A preconditioner in single precision inside of a solve in double precision.
#pragma once
#include <complex>
#include <functional>
#include <string_view>
#include <type_traits>

#include "solvers/precond/preconditioner.hpp"

namespace krill {

/// A preconditioner of type `type` in single precision for a solve in double precision: make(A in single precision,
/// what multiplies with it) makes it. keeps_matrix: it refers to that copy of A, which is kept with it; where
/// `products` is an operator whose plan names rows, a plan in its form multiplies with the copy, else none is given.
/// Applying it moves 3 n (sizeof T + sizeof lower_t) bytes more. A matrix whose values overflow there, or nearly
/// vanish, is scaled by a power of two, and so are results; raises InvalidArgument that names the row of the first that
/// overflows where values span more than float's range, 2^126.
template <class T>
using lower_t = std::conditional_t<is_complex<T>, std::complex<float>, float>;
template <class T>
using MakeLower =
    std::function<MadePreconditioner<lower_t<T>>(const AnyMatrix<lower_t<T>>&, const Operator<lower_t<T>>* products)>;
template <class T>
MadePreconditioner<T> make_in_lower_precision(Context&, std::string_view type, const AnyMatrix<T>& A,
                                              const Operator<T>* products, bool keeps_matrix, const MakeLower<T>& make);

/// The memory that it takes; memory(A in single precision) is that of the preconditioner itself.
template <class T>
using LowerMemory = std::function<HeldMemory(const AnyMatrix<lower_t<T>>&)>;
template <class T>
HeldMemory memory_in_lower_precision(MemoryLedger&, Context& host, std::string_view type, const AnyMatrix<T>& A,
                                     bool keeps_matrix, const LowerMemory<T>& memory);

}  // namespace krill
