// The transposition of large matrices on CUDA without a sort of all of them.
#pragma once
#include "sparse/formats/csr_sizes.hpp"

namespace krill::detail {

/// Which matrices are transposed by buckets. Reasoned, not varied.
struct BucketRangeTuning {
  static constexpr std::int64_t min_entries = std::int64_t{1} << 19;  ///< fewer are not worth the wait for the device
  /// Where more columns are empty, the buckets' blocks have little to do.
  static constexpr std::int64_t max_cols_per_entry = 4;
};
constexpr bool suits_buckets(std::int32_t cols, std::int64_t nnz) {
  return nnz >= BucketRangeTuning::min_entries && cols / BucketRangeTuning::max_cols_per_entry <= nnz;
}

/// Bytes of an entry on its way into its bucket, with a value of so many.
constexpr std::size_t bucket_record_bytes(std::size_t value_bytes) {
  return value_bytes == 0 ? 8 : value_bytes > 8 ? 32 : 16;
}

/// csr_transpose, where this is faster than a radix sort of all entries. False where it is not, or not possible: then
/// the result is still to be made. Waits for the device once, to see how the entries lie. Scratch: bucket_record_bytes
/// an entry; about 28 and a value more for each entry in buckets of very full columns, which are no more than half of
/// all.
template <class T, class Offset>
bool transpose_by_buckets(const Cuda&, const CsrView<const T, Offset>& a, bool conjugate, const CsrView<T, Offset>& out,
                          Offset* permutation);

/// The scratch of csr_transpose where it may wait; entries in very full columns are not counted on.
void csr_transpose_scratch(MemoryLedger&, const CsrSizes& from, bool keeps_permutation);

}  // namespace krill::detail
