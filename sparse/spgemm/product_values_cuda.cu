#include <algorithm>
#include <bit>

#include "sparse/convert/row_of_entry.hpp"
#include "sparse/core/pass_cuda.cuh"
#include "sparse/spgemm/merge_rows.cuh"
#include "sparse/spgemm/rows_of_b.cuh"

namespace krill::detail {
namespace {

constexpr int team_threads = 128;

/// Which parts of C teams have: rows of more than `least` and at most `most` entries, or pieces of longer ones.
struct SumParts {
  std::int64_t least, most;  ///< `most`, a power of two, is also what a team has room for
  RowItems pieces = {};
  bool masked = false;
};

// What teams make of the products that an entry of C gets: start(at), then add() for each product, then finish(). What
// is read of A and B is on its way before.
template <class T, class Offset>
struct AddProducts {
  using Slot = wide_t<T>;
  using OfA = T;
  using OfB = T;
  ScalarView<T> alpha;
  const T *a, *b;
  T* values;

  __device__ Slot start(std::int64_t) const { return {}; }
  __device__ T of_a(Offset k) const { return a[k]; }
  __device__ T of_b(Offset e) const { return b[e]; }
  __device__ void add(Slot& sum, T first, T second) const { sum = add_product(sum, wide(first), wide(second)); }
  __device__ void finish(std::int64_t at, Slot sum) const { values[at] = T(add_product(Slot{}, wide(alpha()), sum)); }
};
template <class T, class Offset>
struct MergedSums : AddProducts<T, Offset> {  // as MergedColumns
  static constexpr bool writes = true;
  const Offset* row_offsets;

  __device__ std::int64_t begin(std::int64_t row) const { return row_offsets[row]; }
  __device__ void end(std::int64_t, std::int64_t) const {}
};
template <class Offset>
struct CountEach {
  using Slot = Offset;
  using OfA = NoValue;
  using OfB = NoValue;
  Offset* counts;

  __device__ Offset start(std::int64_t) const { return 0; }
  __device__ NoValue of_a(Offset) const { return {}; }
  __device__ NoValue of_b(Offset) const { return {}; }
  __device__ void add(Offset& count, NoValue, NoValue) const { ++count; }
  __device__ void finish(std::int64_t at, Offset count) const { counts[at] = count; }
};
template <class Offset>
struct ListEach {
  using Slot = Offset;  // the next place in the list
  using OfA = Offset;
  using OfB = Offset;
  const Offset* starts;
  ProductPair* list;

  __device__ Offset start(std::int64_t at) const { return starts[at]; }
  __device__ Offset of_a(Offset k) const { return k; }
  __device__ Offset of_b(Offset e) const { return e; }
  __device__ void add(Offset& next, Offset k, Offset e) const {
    list[next++] = {static_cast<std::int32_t>(k), static_cast<std::int32_t>(e)};
  }
  __device__ void finish(std::int64_t, Offset) const {}
};

// Threads: a team has a part of a row of C, whose columns and sums (or what `use` has in their place) lie in shared
//   memory; lanes lie along a row of B at a time, and its columns differ, so that no two lanes add to one sum.
// Bytes: C once; A and B as often as the caches miss, for pieces once each. Races: a barrier of the warp after each
//   row.
template <int lanes, class V, class Offset, class Use>
__global__ void __launch_bounds__(team_threads)
    each_product_kernel(CsrView<V, Offset> a, CsrView<V, Offset> b, SumParts parts, CsrView<const NoValue, Offset> c,
                        Use use, Skip skip) {
  using Slot = typename Use::Slot;
  extern __shared__ __align__(16) unsigned char memory[];
  if (skip.now()) return;
  constexpr int teams = team_threads / lanes;
  const int lane = static_cast<int>(threadIdx.x) % lanes, team = static_cast<int>(threadIdx.x) / lanes;
  const int room = static_cast<int>(parts.most);
  Slot* const slots = reinterpret_cast<Slot*>(memory) + team * room;
  std::int32_t* const columns =
      reinterpret_cast<std::int32_t*>(reinterpret_cast<Slot*>(memory) + teams * room) + team * room;
  const std::int64_t part = std::int64_t{blockIdx.x} * teams + team;
  Offset k = 0, end = 0, first = 0;
  int count = 0;
  if (part < (parts.pieces.count > 0 ? parts.pieces.count : a.rows)) {
    std::int64_t row = part;
    if (parts.pieces.count > 0) {
      row = row_of_entry(parts.pieces.starts, a.rows, part);
      first = c.row_offsets[row] + static_cast<Offset>((part - parts.pieces.starts[row]) * room);
      count = static_cast<int>(min(static_cast<Offset>(room), c.row_offsets[row + 1] - first));
    } else if (const Offset length = c.row_offsets[row + 1] - c.row_offsets[row];
               length > parts.least && length <= parts.most) {
      first = c.row_offsets[row], count = static_cast<int>(length);
    }
    if (count > 0) k = a.row_offsets[row], end = a.row_offsets[row + 1];
  }
  if (!__any_sync(~0u, count > 0)) return;
  for (int s = lane; s < room; s += lanes) {
    columns[s] = s < count ? c.col_indices[first + s] : no_column;
    slots[s] = s < count ? use.start(first + s) : Slot{};
  }
  __syncwarp();
  const auto place_of = [&](std::int32_t col) {  // room is a power of two
    int place = 0;
    for (int half = room / 2; half > 0; half /= 2)
      if (columns[place + half] <= col) place += half;
    return place;
  };
  for (; __any_sync(~0u, k < end); k += lanes) {
    RowsOfB<Offset> rows(a, b, k, end, lane);
    if (parts.pieces.count > 0) rows.restrict(b.col_indices, columns[0], columns[count - 1]);
    std::int32_t found[at_once];
    typename Use::OfA of_a[at_once];
    typename Use::OfB of_b[at_once];
    for_rows_of_b(
        rows, lanes,
        [&](int u, int j) {
          if (k + j < end) of_a[u] = use.of_a(k + j);
        },
        [&](int u, Offset place) { found[u] = b.col_indices[place], of_b[u] = use.of_b(place); },
        [&](int u, int) {
          const int place = place_of(found[u]);
          if (!parts.masked || columns[place] == found[u]) use.add(slots[place], of_a[u], of_b[u]);
        },
        [] { __syncwarp(); });
  }
  for (int s = lane; s < count; s += lanes) use.finish(first + s, slots[s]);
}

template <int lanes, class V, class Offset, class Use>
void use_parts(const Cuda& cuda, const CsrView<V, Offset>& a, const CsrView<V, Offset>& b, const SumParts& parts,
               const CsrView<const NoValue, Offset>& c, const Use& use) {
  constexpr int teams = team_threads / lanes;
  constexpr auto kernel = each_product_kernel<lanes, V, Offset, Use>;
  const std::size_t shared =
      teams * static_cast<std::size_t>(parts.most) * (sizeof(typename Use::Slot) + sizeof(std::int32_t));
  resident_blocks<kernel>(cuda, shared, team_threads);  // allows so much shared memory
  const std::int64_t count = parts.pieces.count > 0 ? parts.pieces.count : a.rows;
  kernel<<<static_cast<unsigned>(ceil_div(count, std::int64_t{teams})), team_threads, shared, cuda.stream>>>(
      a, b, parts, c, use, cuda.skip);
  check(cudaGetLastError());
}

/// All products, by teams whose lanes are as many as rows of B have use for.
template <class V, class Offset, class Use>
void use_products(const Cuda& cuda, const CsrView<V, Offset>& a, const CsrView<V, Offset>& b, const SumTeams& by,
                  const CsrView<const NoValue, Offset>& c, const Use& use) {
  if (a.rows == 0) return;
  const auto room = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(by.longest)));
  const SumParts small{0, std::clamp<std::int64_t>(room, 8, ProductTuning::small), {}, by.masked},
      large{ProductTuning::small, std::min(room, ProductTuning::max_held), {}, by.masked},
      pieces{0, ProductTuning::piece, by.pieces, by.masked};
  const auto with = [&](auto lanes, const SumParts& parts) { use_parts<lanes.value>(cuda, a, b, parts, c, use); };
  constexpr std::integral_constant<int, 4> four{};
  constexpr std::integral_constant<int, 8> eight{};
  constexpr std::integral_constant<int, 16> sixteen{};
  constexpr std::integral_constant<int, 32> warp{};
  by.lanes == 4    ? with(four, small)
  : by.lanes == 8  ? with(eight, small)
  : by.lanes == 16 ? with(sixteen, small)
                   : with(warp, small);
  if (by.longest > ProductTuning::small) by.lanes == 32 ? with(warp, large) : with(sixteen, large);
  if (by.pieces.count > 0) with(warp, pieces);
}

}  // namespace

template <class T, class Offset>
void sum_products(const Cuda& cuda, const ScalarView<T>& alpha, const CsrView<const T, Offset>& a,
                  const CsrView<const T, Offset>& b, const SumTeams& by, const CsrView<const NoValue, Offset>& c,
                  T* values) {
  const AddProducts<T, Offset> sums{alpha, a.values, b.values, values};
  if (by.merged_terms == 0) return use_products(cuda, a, b, by, c, sums);
  if (a.rows > 0) merge_rows(cuda, a, b, by.merged_terms, MergedSums<T, Offset>{sums, c.row_offsets});
}

template <class Offset>
void count_products(const Cuda& cuda, const CsrView<const NoValue, Offset>& a, const CsrView<const NoValue, Offset>& b,
                    const SumTeams& by, const CsrView<const NoValue, Offset>& c, Offset* counts) {
  use_products(cuda, a, b, by, c, CountEach<Offset>{counts});
}

template <class Offset>
void list_products(const Cuda& cuda, const CsrView<const NoValue, Offset>& a, const CsrView<const NoValue, Offset>& b,
                   const SumTeams& by, const CsrView<const NoValue, Offset>& c, const Offset* starts,
                   ProductPair* list) {
  use_products(cuda, a, b, by, c, ListEach<Offset>{starts, list});
}

template <class Offset>
struct ProductListKernels {
  using Pattern = CsrView<const NoValue, Offset>;
  static constexpr std::tuple list{
      instance<void(const Cuda&, const Pattern&, const Pattern&, const SumTeams&, const Pattern&, Offset*)>(
          count_products),
      instance<void(const Cuda&, const Pattern&, const Pattern&, const SumTeams&, const Pattern&, const Offset*,
                    ProductPair*)>(list_products)};
};
template class ProductListKernels<std::int32_t>;
template class ProductListKernels<std::int64_t>;
KRILL_INSTANTIATE_WITH_OFFSETS(ProductSumKernels, Cuda);

}  // namespace krill::detail
