// What the makers of preconditioners share. Each maker is declared in the header of its preconditioner.
#pragma once
#include <string_view>

#include "solvers/precond/preconditioner.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill {

/// The signatures of `make` and `memory` for Options.
template <class T, class Options>
using Maker = MadePreconditioner<T>(Context&, const Options&, const PreconditionerInput<T>&);
template <class T, class Options>
using MemoryOf = HeldMemory(MemoryLedger&, Context&, const Options&, const PreconditionerInput<T>&);

/// Raises InvalidArgument: "preconditioner ilu0: the pivot is 0 in row 3 (rows count from 0): <remedy>"; with blocks of
/// more than one row the block row is named, too.
[[noreturn]] void refuse_row(std::string_view type, std::int64_t row, std::string_view what, std::string_view remedy,
                             std::int32_t block_dim = 1);

/// Raises InvalidArgument: new values for preconditioner `type` have another pattern.
[[noreturn]] void refuse_pattern(std::string_view type);

/// Calls f(A in CSR) for a matrix with new values. Raises as refuse_pattern() where its row offsets are not of type
/// Offset, as those of the former matrix were.
template <class Offset, class T, class F>
void with_same_csr(Context& ctx, std::string_view type, const AnyMatrix<T>& A, F&& f) {
  with_csr(ctx, A, [&]<class Other>(const Csr<T, Other>& csr) {
    if constexpr (std::is_same_v<Other, Offset>)
      f(csr);
    else
      refuse_pattern(type);
  });
}

}  // namespace krill
