#include <cub/device/device_radix_sort.cuh>

#include "sparse/convert/row_of_entry.hpp"
#include "sparse/convert/sort.hpp"
#include "sparse/convert/sort_passes.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/pass_cuda.cuh"

namespace krill {

using namespace detail;
namespace {

/// Keys and what is sorted with them, in scratch memory: a skipped sort moves that alone.
template <class Index>
struct Keyed {
  std::uint64_t* keys;
  Index* payload;

  Keyed(Frame& frame, std::int64_t n)
      : keys(frame.take<std::uint64_t>(static_cast<std::size_t>(n))),
        payload(frame.take<Index>(static_cast<std::size_t>(n))) {}
  Keyed(std::uint64_t* k, Index* p) : keys(k), payload(p) {}
};

template <class Index>
struct PackPairs {
  using Sum = NoSum;
  PairKey key;
  const std::int32_t *major, *minor;
  const Index* permutation;
  Keyed<Index> to;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t k) const {
    to.keys[k] = key.pack(major[k], minor[k]);
    to.payload[k] = permutation[k];
    return {};
  }
};

template <class Offset>
struct PackRows {
  using Sum = NoSum;
  PairKey key;
  std::int32_t rows;
  const Offset* row_offsets;
  const std::int32_t* col_indices;
  const Offset* permutation;
  Keyed<Offset> to;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t k) const {
    to.keys[k] = key.pack(row_of_entry(row_offsets, rows, k), col_indices[k]);
    to.payload[k] = permutation[k];
    return {};
  }
};

/// The other way; `major` may be null.
template <class Index>
struct Unpack {
  using Sum = NoSum;
  PairKey key;
  Keyed<Index> from;
  std::int32_t *major, *minor;
  Index* permutation;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t k) const {
    if (major) major[k] = key.major(from.keys[k]);
    minor[k] = key.minor(from.keys[k]);
    permutation[k] = from.payload[k];
    return {};
  }
};

/// A stable radix sort of `from` by its keys' lowest `bits`; where the result lies.
template <class Index>
Keyed<Index> radix_sort(const Cuda& cuda, Frame& frame, std::int64_t n, Keyed<Index> from, int bits) {
  const Keyed<Index> spare(frame, n);
  cub::DoubleBuffer<std::uint64_t> keys(from.keys, spare.keys);
  cub::DoubleBuffer<Index> payload(from.payload, spare.payload);
  std::size_t bytes = 0;
  check(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, payload, n, 0, bits, cuda.stream));
  check(cub::DeviceRadixSort::SortPairs(frame.take<char>(bytes), bytes, keys, payload, n, 0, bits, cuda.stream));
  return {keys.Current(), payload.Current()};
}

}  // namespace

template <class Index>
void identity_permutation(const Cuda& cuda, std::int64_t n, Index* permutation) {
  run_pass(cuda, n, FillIdentity<Index>{permutation});
}

template <class Index>
void sort_pairs(const Cuda& cuda, std::int64_t n, std::int32_t* major, std::int32_t* minor, Index* permutation,
                IndexRange major_range, IndexRange minor_range) {
  const PairKey key(major_range, minor_range);
  Frame frame(cuda);
  const Keyed<Index> packed(frame, n);
  run_pass(cuda, n, PackPairs<Index>{key, major, minor, permutation, packed});
  const Keyed<Index> sorted = radix_sort(cuda, frame, n, packed, key.bits());
  run_pass(cuda, n, Unpack<Index>{key, sorted, major, minor, permutation});
}

template <class Offset>
void sort_within_rows(const Cuda& cuda, std::int32_t rows, std::int64_t nnz, const Offset* row_offsets,
                      std::int32_t* col_indices, Offset* permutation, IndexRange col_range) {
  const PairKey key({0, rows - 1}, col_range);
  Frame frame(cuda);
  const Keyed<Offset> packed(frame, nnz);
  run_pass(cuda, nnz, PackRows<Offset>{key, rows, row_offsets, col_indices, permutation, packed});
  const Keyed<Offset> sorted = radix_sort(cuda, frame, nnz, packed, key.bits());
  run_pass(cuda, nnz, Unpack<Offset>{key, sorted, nullptr, col_indices, permutation});
}

template <class T, class Index>
void apply_permutation(const Cuda& cuda, std::int64_t n, const T* in, const Index* permutation, T* out,
                       bool conjugate) {
  run_pass(cuda, n, GatherPermuted<T, Index>{in, permutation, out, conjugate});
}

template <class T, class Index>
void apply_inverse_permutation(const Cuda& cuda, std::int64_t n, const T* in, const Index* permutation, T* out) {
  run_pass(cuda, n, ScatterPermuted<T, Index>{in, permutation, out});
}

}  // namespace krill

namespace krill::detail {

template class SortKernels<std::int32_t, Cuda>;
template class SortKernels<std::int64_t, Cuda>;
KRILL_INSTANTIATE_WITH_OFFSETS(PermutationKernels, Cuda);
template class PermutationKernels<std::int32_t, std::int32_t, Cuda>;
template class PermutationKernels<std::int32_t, std::int64_t, Cuda>;
template class PermutationKernels<std::int64_t, std::int64_t, Cuda>;

}  // namespace krill::detail
