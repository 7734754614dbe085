#include "sparse/convert/sort.hpp"
#include "sparse/convert/transpose.hpp"
#include "sparse/convert/transpose_buckets.cuh"
#include "sparse/convert/transpose_partition.cuh"
#include "sparse/core/instantiate.hpp"

namespace krill::detail {
namespace {

bool is_capturing(const Cuda& cuda) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(cuda.stream, &status));
  return status != cudaStreamCaptureStatusNone;
}

template <class Payload>
bool is_aligned(const Payload* values) {
  return payload_bytes<Payload> == 0 || reinterpret_cast<std::uintptr_t>(values) % sizeof(Payload) == 0;
}

/// `values` and `out_values` as bits of that size; where there are no values, each entry's number in `a` is its own.
template <class Payload, class T, class Offset>
bool transpose_bits(const Cuda& cuda, const CsrView<const T, Offset>& a, const void* values, bool conjugate,
                    const CsrView<T, Offset>& out, void* out_values) {
  const BitTranspose<Payload, Offset> task{a.rows,
                                           a.cols,
                                           a.nnz,
                                           a.row_offsets,
                                           a.col_indices,
                                           static_cast<const Payload*>(values),
                                           static_cast<std::int32_t>(a.base),
                                           conjugate ? 0x80000000u : 0u,
                                           out.row_offsets,
                                           out.col_indices,
                                           static_cast<Payload*>(out_values)};
  if (!is_aligned(task.values) || !is_aligned(task.out_values)) return false;
  const Buckets buckets = Buckets::of(a.cols, a.nnz, CapacityTuning::fill * bucket_capacity<Payload>);
  Frame frame(cuda);
  Partition<Payload, Offset> partition;
  if (!partition_entries(cuda, frame, task, buckets, partition)) return false;
  place_entries(cuda, frame, task, buckets, partition);
  return true;
}

static_assert(sizeof(Record<NoPayload>) == bucket_record_bytes(0) && sizeof(Record<uint2>) == bucket_record_bytes(8) &&
              sizeof(Record<uint4>) == bucket_record_bytes(16));

template <int bytes>
using payload_t = std::conditional_t<bytes == 4, unsigned, std::conditional_t<bytes == 8, uint2, uint4>>;

}  // namespace

template <class T, class Offset>
bool transpose_by_buckets(const Cuda& cuda, const CsrView<const T, Offset>& a, bool conjugate,
                          const CsrView<T, Offset>& out, Offset* permutation) {
  if (!suits_buckets(a.cols, a.nnz)) return false;
  if (cuda.skip.reason || is_capturing(cuda)) return false;  // a wait is no part of a loop's body
  if (permutation) {
    if (!transpose_bits<payload_t<sizeof(Offset)>>(cuda, a, nullptr, false, out, permutation)) return false;
    if constexpr (!std::is_same_v<T, NoValue>)
      if (a.values) apply_permutation(cuda, a.nnz, a.values, permutation, out.values, conjugate);
    return true;
  }
  if constexpr (!std::is_same_v<T, NoValue>)
    if (a.values)
      return transpose_bits<payload_t<sizeof(T)>>(cuda, a, a.values, conjugate && is_complex<T>, out, out.values);
  return transpose_bits<NoPayload>(cuda, a, nullptr, false, out, nullptr);
}

template bool transpose_by_buckets(const Cuda&, const CsrView<const NoValue>&, bool, const CsrView<NoValue>&,
                                   std::int32_t*);
template bool transpose_by_buckets(const Cuda&, const CsrView<const NoValue, std::int64_t>&, bool,
                                   const CsrView<NoValue, std::int64_t>&, std::int64_t*);

template <class T, class Offset>
struct TransposeCudaInstances {
  static constexpr auto list = instance<bool(const Cuda&, const CsrView<const kernel_t<T>, Offset>&, bool,
                                             const CsrView<kernel_t<T>, Offset>&, Offset*)>(transpose_by_buckets);
};
KRILL_INSTANTIATE_WITH_OFFSETS(TransposeCudaInstances);

}  // namespace krill::detail
