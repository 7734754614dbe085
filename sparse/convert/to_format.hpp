// A matrix in the format that a user names.
#pragma once
#include "sparse/convert/convert.hpp"
#include "sparse/convert/format.hpp"
#include "sparse/core/overloaded.hpp"

namespace krill {

/// The format of a matrix: bsr is gebsr, sell hll, too. A new alternative wants a line here.
template <class T>
Format format_of(const AnyMatrix<T>& A) {
  return std::visit(
      Overloaded{[]<class Offset>(const Csr<T, Offset>&) { return Format::csr; },
                 [](const Coo<T>&) { return Format::coo; }, [](const CooAos<T>&) { return Format::coo_aos; },
                 [](const Csc<T>&) { return Format::csc; }, [](const Bsr<T>&) { return Format::bsr; },
                 [](const Bsrx<T>&) { return Format::bsrx; }, [](const Gebsc<T>&) { return Format::gebsc; },
                 [](const Ell<T>&) { return Format::ell; }, [](const Sell<T>&) { return Format::sell; },
                 [](const Hyb<T>&) { return Format::hyb; },
                 [](const Dia<T>& a) { return a.hack_rows() ? Format::hdia : Format::dia; },
                 [](const BlockedEll<T>&) { return Format::blocked_ell; }},
      A);
}

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
