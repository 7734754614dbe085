// Each preconditioner's maker; its class and its maker's body stand in the file of its name.
#pragma once
#include "krill/solvers/precond/preconditioner.hpp"
#include "krill/sparse/core/instantiate.hpp"

namespace krill {

template <class T>
using MadePreconditioner = std::unique_ptr<Preconditioner<T>>;

template <class T>
MadePreconditioner<T> make(Context&, const JacobiOptions&, const AnyMatrix<T>& A);
template <class T>
MadePreconditioner<T> make(Context&, const Ilu0Options&, const AnyMatrix<T>& A);
template <class T>
MadePreconditioner<T> make(Context&, const Ic0Options&, const AnyMatrix<T>& A);

/// Ends a file that says how `Options` are made.
#define KRILL_INSTANTIATE_MAKER(T, Options) \
  template MadePreconditioner<T> make(Context&, const Options&, const AnyMatrix<T>&);

/// Raises InvalidArgument: "preconditioner ilu0: the pivot is 0 in row 3 (rows count from 0): <remedy>".
[[noreturn]] void refuse_row(std::string_view type, std::int64_t row, std::string_view what, std::string_view remedy);

}  // namespace krill
