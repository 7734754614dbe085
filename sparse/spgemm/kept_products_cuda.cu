// New values of products by what a plan keeps: the products of each entry of C, or the place of each product.
#include <algorithm>
#include <bit>

#include "sparse/core/pass_cuda.cuh"
#include "sparse/spgemm/rows_of_b.cuh"

namespace krill::detail {
namespace {

constexpr int list_threads = 256;
constexpr int long_list = 64;  ///< products of an entry that a warp loads together. Not varied.
constexpr int place_threads = 128;

// Threads: one an entry of C. A long list is its warp's: lanes load products side by side, and all of them add in the
//   order of the list.
// Bytes: the list and its starts once; values of A and B as often as the caches miss. Races: none.
template <class T, class Offset>
__global__ void __launch_bounds__(list_threads)
    sum_listed_kernel(std::int64_t nnz, ScalarView<T> alpha, const T* a, const T* b, const Offset* starts,
                      const ProductPair* list, T* values, Skip skip) {
  if (skip.now()) return;
  const std::int64_t at = std::int64_t{blockIdx.x} * list_threads + threadIdx.x;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Offset first = at < nnz ? starts[at] : 0, end = at < nnz ? starts[at + 1] : 0;
  const bool is_long = end - first > long_list;
  wide_t<T> sum{};
  if (!is_long)
    for (Offset p = first; p < end; ++p) sum = add_product(sum, wide(a[list[p].a]), wide(b[list[p].b]));
  for (unsigned left = __ballot_sync(~0u, is_long); left != 0; left &= left - 1) {
    const int owner = __ffs(static_cast<int>(left)) - 1;
    const Offset begin = __shfl_sync(~0u, first, owner), last = __shfl_sync(~0u, end, owner);
    wide_t<T> of_warp{};
    const auto load = [&](Offset p, T& of_a, T& of_b) {
      if (p + lane < last) of_a = a[list[p + lane].a], of_b = b[list[p + lane].b];
    };
    T of_a{}, of_b{}, next_a{}, next_b{};
    load(begin, next_a, next_b);
    for (Offset p = begin; p < last; p += 32) {
      of_a = next_a, of_b = next_b;
      load(p + 32, next_a, next_b);  // on its way while these are added
      const int count = static_cast<int>(min(last - p, Offset{32}));
      for (int j = 0; j < count; ++j)
        of_warp = add_product(of_warp, wide(shuffle_from(of_a, j)), wide(shuffle_from(of_b, j)));
    }
    if (lane == owner) sum = of_warp;
  }
  if (at < nnz) values[at] = T(add_product(wide_t<T>{}, wide(alpha()), sum));
}

/// Sums of a row of C in shared memory: an odd number, so that rows side by side, which are often alike, begin in banks
/// of their own.
constexpr int row_room(int entries) { return entries | 1; }

// Threads: a team has a row of C of more than `least` and at most `room` entries, whose sums lie in shared memory;
// lanes
//   lie along a row of B at a time, and its columns differ, so that no two lanes add to one sum.
// Bytes: the places and values of C once, A and B as often as the caches miss. Races: a barrier of the warp after each
//   row.
template <int lanes, class T, class Offset>
__global__ void __launch_bounds__(place_threads)
    sum_placed_kernel(CsrView<const T, Offset> a, CsrView<const T, Offset> b, ScalarView<T> alpha, int least, int room,
                      ProductPlaces<Offset> kept, const Offset* c_offsets, T* values, Skip skip) {
  extern __shared__ __align__(16) unsigned char memory[];
  if (skip.now()) return;
  constexpr int teams = place_threads / lanes;
  const int lane = static_cast<int>(threadIdx.x) % lanes, team = static_cast<int>(threadIdx.x) / lanes;
  wide_t<T>* const sums = reinterpret_cast<wide_t<T>*>(memory) + team * row_room(room);
  const std::int64_t row = std::int64_t{blockIdx.x} * teams + team;
  Offset k = 0, end = 0, first = 0;
  int count = 0;
  if (row < a.rows) {
    first = c_offsets[row];
    if (const Offset length = c_offsets[row + 1] - first; length > least && length <= room)
      count = static_cast<int>(length), k = a.row_offsets[row], end = a.row_offsets[row + 1];
  }
  if (!__any_sync(~0u, count > 0)) return;
  for (int s = lane; s < count; s += lanes) sums[s] = {};
  __syncwarp();
  const auto low = static_cast<ProductPlace>(first);
  for (; __any_sync(~0u, k < end); k += lanes) {
    Offset base[at_once];
    ProductPlace place[at_once];
    T of_a[at_once], of_b[at_once];
    for_rows_of_b(
        RowsOfB<Offset>(a, b, k, end, lane), lanes,
        [&](int u, int j) {
          if (k + j < end) base[u] = kept.bases[k + j], of_a[u] = a.values[k + j];
        },
        [&](int u, Offset e) {
          place[u] = static_cast<ProductPlace>(kept.places[base[u] + e] - low), of_b[u] = b.values[e];
        },
        [&](int u, int) {
          wide_t<T>& sum = sums[place[u]];
          sum = add_product(sum, wide(of_a[u]), wide(of_b[u]));
        },
        [] { __syncwarp(); });
  }
  for (int s = lane; s < count; s += lanes) values[first + s] = T(add_product(wide_t<T>{}, wide(alpha()), sums[s]));
}

}  // namespace

template <class T, class Offset>
void sum_listed(const Cuda& cuda, const ScalarView<T>& alpha, const T* a, const T* b, std::int64_t nnz,
                const Offset* starts, const ProductPair* list, T* values) {
  if (nnz == 0) return;
  sum_listed_kernel<<<static_cast<unsigned>(ceil_div(nnz, std::int64_t{list_threads})), list_threads, 0, cuda.stream>>>(
      nnz, alpha, a, b, starts, list, values, cuda.skip);
  check(cudaGetLastError());
}

template <class T, class Offset>
void sum_placed(const Cuda& cuda, const ScalarView<T>& alpha, const CsrView<const T, Offset>& a,
                const CsrView<const T, Offset>& b, const SumTeams& by, const ProductPlaces<Offset>& kept,
                const Offset* c_offsets, T* values) {
  if (a.rows == 0) return;
  const auto rows = [&](auto lanes, std::int64_t least, std::int64_t room) {
    constexpr int teams = place_threads / lanes.value;
    constexpr auto kernel = sum_placed_kernel<lanes.value, T, Offset>;
    const std::size_t shared = teams * static_cast<std::size_t>(row_room(static_cast<int>(room))) * sizeof(wide_t<T>);
    resident_blocks<kernel>(cuda, shared, place_threads);  // allows so much shared memory
    kernel<<<static_cast<unsigned>(ceil_div(a.rows, teams)), place_threads, shared, cuda.stream>>>(
        a, b, alpha, static_cast<int>(least), static_cast<int>(room), kept, c_offsets, values, cuda.skip);
    check(cudaGetLastError());
  };
  const std::int64_t small = std::min(by.longest, ProductTuning::small),
                     large = std::min(by.longest, ProductTuning::max_held);
  constexpr std::integral_constant<int, 8> eight{};
  constexpr std::integral_constant<int, 16> sixteen{};
  constexpr std::integral_constant<int, 32> warp{};
  by.lanes <= 8 ? rows(eight, 0, small) : by.lanes == 16 ? rows(sixteen, 0, small) : rows(warp, 0, small);
  if (by.longest > small) by.lanes == 32 ? rows(warp, small, large) : rows(sixteen, small, large);
}

template <class T, class Offset, class K = kernel_t<T>>
struct KeptProductKernels {
  using Matrix = CsrView<const K, Offset>;
  static constexpr std::tuple list{
      instance<void(const Cuda&, const ScalarView<K>&, const K*, const K*, std::int64_t, const Offset*,
                    const ProductPair*, K*)>(sum_listed),
      instance<void(const Cuda&, const ScalarView<K>&, const Matrix&, const Matrix&, const SumTeams&,
                    const ProductPlaces<Offset>&, const Offset*, K*)>(sum_placed)};
};
KRILL_INSTANTIATE_WITH_OFFSETS(KeptProductKernels);

}  // namespace krill::detail
