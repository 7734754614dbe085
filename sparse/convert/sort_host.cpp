#include <algorithm>

#include "sparse/convert/sort.hpp"
#include "sparse/convert/sort_passes.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/pass_host.hpp"

namespace krill {

using namespace detail;
namespace {

struct Tuning {
  static constexpr std::int64_t row_block = 256;  ///< rows that a thread takes together. Not varied.
};

template <class Key, class Index>
struct Keyed {
  Key key;
  Index payload;
};

constexpr auto earlier = [](const auto& a, const auto& b) { return a.key < b.key; };

/// Sorts `records` with the help of `spare`, stably: one run a thread, then runs merged by twos. Where the result lies.
template <class Record>
const Record* merge_sort(const Host& host, std::int64_t n, Record* records, Record* spare) {
  const int threads = host.threads_for(n);
  std::int64_t run = std::max<std::int64_t>((n + threads - 1) / threads, 1);
  for_blocks(host, n, run, n,
             [&](std::int64_t begin, std::int64_t end) { std::stable_sort(records + begin, records + end, earlier); });
  for (; run < n; run *= 2) {
    for_blocks(host, n, 2 * run, n, [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t middle = std::min(begin + run, end);
      std::merge(records + begin, records + middle, records + middle, records + end, spare + begin, earlier);
    });
    std::swap(records, spare);
  }
  return records;
}

}  // namespace

template <class Index>
void identity_permutation(const Host& host, std::int64_t n, Index* permutation) {
  run_pass(host, n, FillIdentity<Index>{permutation});
}

template <class Index>
void sort_pairs(const Host& host, std::int64_t n, std::int32_t* major, std::int32_t* minor, Index* permutation,
                IndexRange major_range, IndexRange minor_range) {
  if (host.skip.now()) return;
  using Record = Keyed<std::uint64_t, Index>;
  const PairKey key(major_range, minor_range);
  Frame frame(host);
  auto *records = frame.take<Record>(static_cast<std::size_t>(n)),
       *spare = frame.take<Record>(static_cast<std::size_t>(n));
  for_each_index(host, n, [&](std::int64_t k) { records[k] = {key.pack(major[k], minor[k]), permutation[k]}; });
  const Record* sorted = merge_sort(host, n, records, spare);
  for_each_index(host, n, [&](std::int64_t k) {
    major[k] = key.major(sorted[k].key);
    minor[k] = key.minor(sorted[k].key);
    permutation[k] = sorted[k].payload;
  });
}

template <class Offset>
void sort_within_rows(const Host& host, std::int32_t rows, std::int64_t nnz, const Offset* row_offsets,
                      std::int32_t* col_indices, Offset* permutation, IndexRange) {
  if (host.skip.now()) return;
  using Record = Keyed<std::int32_t, Offset>;
  Frame frame(host);
  auto* records = frame.take<Record>(static_cast<std::size_t>(nnz));
  const auto sort_row = [&](std::int64_t begin, std::int64_t end) {
    if (std::is_sorted(col_indices + begin, col_indices + end)) return;
    for (std::int64_t k = begin; k < end; ++k) records[k] = {col_indices[k], permutation[k]};
    std::stable_sort(records + begin, records + end, earlier);
    for (std::int64_t k = begin; k < end; ++k) col_indices[k] = records[k].key, permutation[k] = records[k].payload;
  };
  for_blocks(host, rows, Tuning::row_block, nnz, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i)
      sort_row(row_offsets[i] - row_offsets[0], row_offsets[i + 1] - row_offsets[0]);
  });
}

template <class T, class Index>
void apply_permutation(const Host& host, std::int64_t n, const T* in, const Index* permutation, T* out,
                       bool conjugate) {
  run_pass(host, n, GatherPermuted<T, Index>{in, permutation, out, conjugate});
}

template <class T, class Index>
void apply_inverse_permutation(const Host& host, std::int64_t n, const T* in, const Index* permutation, T* out) {
  run_pass(host, n, ScatterPermuted<T, Index>{in, permutation, out});
}

}  // namespace krill

namespace krill::detail {

template class SortKernels<std::int32_t, Host>;
template class SortKernels<std::int64_t, Host>;
KRILL_INSTANTIATE_WITH_OFFSETS(PermutationKernels, Host);
template class PermutationKernels<std::int32_t, std::int32_t, Host>;
template class PermutationKernels<std::int32_t, std::int64_t, Host>;
template class PermutationKernels<std::int64_t, std::int64_t, Host>;

}  // namespace krill::detail
