// Each preconditioner's maker; its class and its maker's body stand in the file of its name.
#pragma once
#include <functional>

#include "krill/solvers/precond/preconditioner.hpp"
#include "krill/sparse/core/instantiate.hpp"

namespace krill {

template <class T>
using MadePreconditioner = std::unique_ptr<Preconditioner<T>>;

template <class T>
MadePreconditioner<T> make(Context&, const JacobiOptions&, const AnyMatrix<T>& A);
template <class T>
MadePreconditioner<T> make(Context&, const BlockJacobiOptions&, const AnyMatrix<T>& A);
template <class T>
MadePreconditioner<T> make(Context&, const ChebyshevOptions&, const AnyMatrix<T>& A, const Operator<T>* products);
template <class T>
MadePreconditioner<T> make(Context&, const GaussSeidelOptions&, const AnyMatrix<T>& A);
template <class T>
MadePreconditioner<T> make(Context&, const SsorOptions&, const AnyMatrix<T>& A);
template <class T>
MadePreconditioner<T> make(Context&, const Ilu0Options&, const AnyMatrix<T>& A);
template <class T>
MadePreconditioner<T> make(Context&, const Ic0Options&, const AnyMatrix<T>& A);
template <class T>
MadePreconditioner<T> make(Context&, const Bilu0Options&, const AnyMatrix<T>& A);
template <class T>
MadePreconditioner<T> make(Context&, const Bic0Options&, const AnyMatrix<T>& A);
template <class T>
MadePreconditioner<T> make(Context&, const Parilu0Options&, const AnyMatrix<T>& A);
template <class T>
MadePreconditioner<T> make(Context&, const Paric0Options&, const AnyMatrix<T>& A);
template <class T>
MadePreconditioner<T> make(Context&, const IsaiOptions&, const AnyMatrix<T>& A);

/// Ends a file that says how `Options` are made.
#define KRILL_INSTANTIATE_MAKER(T, Options) \
  template MadePreconditioner<T> make(Context&, const Options&, const AnyMatrix<T>&);

/// Raises InvalidArgument: "preconditioner ilu0: the pivot is 0 in row 3 (rows count from 0): <remedy>"; with blocks of
/// more than one row the block row is named, too.
[[noreturn]] void refuse_row(std::string_view type, std::int64_t row, std::string_view what, std::string_view remedy,
                             std::int32_t block_dim = 1);

/// A preconditioner of type `type` in single precision inside of a solve in double precision: `make` makes it of A in
/// single precision, which lives as long where `keeps_matrix`. Applying it moves 3 n (sizeof T + sizeof lower_t) bytes
/// more. Raises InvalidArgument that names the row of a value beyond the range of float.
template <class T>
using lower_t = std::conditional_t<is_complex<T>, std::complex<float>, float>;
template <class T>
using MakeLower = std::function<MadePreconditioner<lower_t<T>>(const AnyMatrix<lower_t<T>>&)>;
template <class T>
MadePreconditioner<T> make_in_lower_precision(Context&, std::string_view type, const AnyMatrix<T>& A, bool keeps_matrix,
                                              const MakeLower<T>& make);

}  // namespace krill
