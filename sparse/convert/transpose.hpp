// The transposition of large matrices on CUDA without a sort of all of them.
#pragma once
#include "krill/sparse/formats/csr.hpp"

namespace krill {

/// csr_transpose, where this is faster than a radix sort of all entries. False where it is not, or not possible: then
/// the result is still to be made. Waits for the device once, to see how the entries lie. Scratch: 8 bytes an entry
/// without values, 32 with values of 16 bytes, else 16; about 28 and a value more for each entry in buckets of very
/// full columns, which are no more than half of all.
template <class T, class Offset>
bool transpose_by_buckets(const Cuda&, const CsrView<const T, Offset>& a, bool conjugate, const CsrView<T, Offset>& out,
                          Offset* permutation);

}  // namespace krill
