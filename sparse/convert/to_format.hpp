// A matrix in the format that a user names.
#pragma once
#include "sparse/convert/convert.hpp"

namespace krill {

/// A in that format; A itself where it has it already, and for automatic in CSR. Cost and refusals are those of the
/// conversions in formats.hpp.
template <class T>
AnyMatrix<T> to_format(Context&, AnyMatrix<T> A, Format, const FormatLayout& = {});

/// What that takes of a matrix in CSR that becomes `made`.
template <class T>
HeldMemory to_format_memory(MemoryLedger&, const CsrSizes& A, const AnyMatrix<T>& made, Format, const FormatLayout&);

/// The same of a matrix that stays as it is.
template <class T, class Offset>
AnyMatrix<T> convert_format(Context&, const Csr<T, Offset>& A, Format, const FormatLayout& = {});

/// The b in 2 to 8 for which BSR with blocks of b x b takes the least memory, by estimated_squares(): the same on both
/// backends, and in a large matrix, where sizes come within a few per cent of each other, perhaps not the very least.
template <class T, class Offset>
std::int32_t best_block_dim(Context&, const Csr<T, Offset>& A);

}  // namespace krill
