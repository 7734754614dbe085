#include <algorithm>
#include <bit>

#include "sparse/core/pass_cuda.cuh"
#include "sparse/spgemm/merge_rows.cuh"
#include "sparse/spgemm/rows_of_b.cuh"

namespace krill::detail {
namespace {

constexpr int team_threads = 128, piece_threads = 256;
constexpr int max_share = 128;    ///< rows that a block looks through for those of its teams. Not varied.
constexpr int known_places = 32;  ///< of a team's row, that are searched without a loop. Not varied.
constexpr int piece_rows = 2;     ///< rows of B that a thread of a piece bisects at a time. Not varied.

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
template <class T, class Offset>
struct MergedEntries {  // the same, with their columns
  struct Slot {
    wide_t<T> sum;
    std::int32_t column;
  };
  using OfA = T;
  using OfB = T;
  static constexpr bool writes = true;
  MergedSums<T, Offset> sums;
  std::int32_t* col_indices;

  __device__ std::int64_t begin(std::int64_t row) const { return sums.begin(row); }
  __device__ T of_a(Offset k) const { return sums.of_a(k); }
  __device__ T of_b(Offset e) const { return sums.of_b(e); }
  __device__ Slot start(std::int32_t col) const { return {sums.start(col), col}; }
  __device__ void add(Slot& slot, T first, T second) const { sums.add(slot.sum, first, second); }
  __device__ void finish(std::int64_t at, const Slot& slot) const {
    col_indices[at] = slot.column;
    sums.finish(at, slot.sum);
  }
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

template <class Offset>
struct RecordEach {
  using Slot = Offset;  // the entry of C
  using OfA = Offset;
  using OfB = Offset;
  const Offset* bases;
  ProductPlace* places;

  __device__ Offset start(std::int64_t at) const { return static_cast<Offset>(at); }
  __device__ Offset of_a(Offset k) const { return bases[k]; }
  __device__ Offset of_b(Offset e) const { return e; }
  __device__ void add(Offset at, Offset base, Offset e) const { places[base + e] = static_cast<ProductPlace>(at); }
  __device__ void finish(std::int64_t, Offset) const {}
};

/// Part of a row of C in shared memory: its columns, ascending, and what there is for each. A word in 33 stays free,
/// for places halfway between others, which lanes compare next, would share a bank.
template <class Slot>
struct PartOfRow {
  Slot* slots;
  std::int32_t* columns;
  int room;  ///< entries, a power of two

  static constexpr int padded(int place) { return place + (place >> 5); }
  /// Slots, and columns, for so many entries: an odd number, so that parts side by side, which are often alike, begin
  /// in banks of their own.
  static constexpr int size(int room) { return (padded(room - 1) + 1) | 1; }
  static constexpr std::size_t bytes(int room) {
    return static_cast<std::size_t>(size(room)) * (sizeof(Slot) + sizeof(std::int32_t));
  }
  /// Part `team` of `teams` in that memory.
  static __device__ PartOfRow in(unsigned char* memory, int team, int teams, int room) {
    Slot* const slots = reinterpret_cast<Slot*>(memory);
    return {slots + team * size(room), reinterpret_cast<std::int32_t*>(slots + teams * size(room)) + team * size(room),
            room};
  }

  /// Entries [first, first + count) of C, by `lanes` threads.
  template <class Offset, class Use>
  __device__ void start(const CsrView<const NoValue, Offset>& c, Offset first, int count, const Use& use, int lane,
                        int lanes) const {
    for (int s = lane; s < room; s += lanes) {
      columns[padded(s)] = s < count ? c.col_indices[first + s] : no_column;
      slots[padded(s)] = s < count ? use.start(first + s) : Slot{};
    }
  }
  template <class Offset, class Use>
  __device__ void finish(Offset first, int count, const Use& use, int lane, int lanes) const {
    for (int s = lane; s < count; s += lanes) use.finish(first + s, slots[padded(s)]);
  }
  /// Padded, of the last entry whose column is not beyond `col`. The last `few` places are halved without a loop.
  template <int few>
  __device__ int place_of(std::int32_t col) const {
    const std::int32_t* at = columns;
    const auto look = [&](int half) {  // padded(place + half) is the sum of both padded
      if (at[padded(half)] <= col) at += padded(half);
    };
    int half = room / 2;
    for (; half > few / 2; half /= 2) look(half);
#pragma unroll
    for (int known = few / 2; known > 0; known /= 2)
      if (known <= half) look(known);
    return static_cast<int>(at - columns);
  }
};

/// All products of a row of C of `count` entries from `first` on, or none where there are none, by `lanes` lanes that
/// lie along a row of B at a time, whose columns differ, so that no two lanes add to one sum. Where rows of B have one
/// entry, lanes lie along the row of A, and add one after the other. Every thread of the warp calls it.
template <int lanes, class V, class Offset, class Use>
__device__ void use_products_of_row(const CsrView<V, Offset>& a, const CsrView<V, Offset>& b, Offset k, Offset end,
                                    bool masked, const CsrView<const NoValue, Offset>& c, Offset first, int count,
                                    PartOfRow<typename Use::Slot> part, const Use& use) {
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const unsigned longest = __reduce_max_sync(~0u, static_cast<unsigned>(count));  // of the warp's rows
  while (part.room / 2 >= static_cast<int>(longest) && part.room > 1) part.room /= 2;
  part.start(c, first, count, use, lane, lanes);
  __syncwarp();
  for (; __any_sync(~0u, k < end); k += lanes) {
    std::int32_t found[at_once];
    typename Use::OfA of_a[at_once];
    typename Use::OfB of_b[at_once];
    const RowsOfB<Offset> rows(a, b, k, end, lane);
    if (!__any_sync(~0u, rows.length > 1)) {  // each lane its own row of B, which add in turn
      int place = 0;
      bool adds = rows.length > 0;
      if (adds) {
        found[0] = b.col_indices[rows.first], of_a[0] = use.of_a(k + lane), of_b[0] = use.of_b(rows.first);
        place = part.template place_of<known_places>(found[0]);
        adds = !masked || part.columns[place] == found[0];
      }
      for (int turn = 0; turn < lanes; ++turn) {
        if (adds && lane == turn) use.add(part.slots[place], of_a[0], of_b[0]);
        __syncwarp();
      }
      continue;
    }
    for_rows_of_b(
        rows, lanes,
        [&](int u, int j) {
          if (k + j < end) of_a[u] = use.of_a(k + j);
        },
        [&](int u, Offset place) { found[u] = b.col_indices[place], of_b[u] = use.of_b(place); },
        [&](int u, int) {
          const int place = part.template place_of<known_places>(found[u]);
          if (!masked || part.columns[place] == found[u]) use.add(part.slots[place], of_a[u], of_b[u]);
        },
        [] { __syncwarp(); });
  }
  part.finish(first, count, use, lane, lanes);
}

// Threads: a team has a row of C of more than `least` and at most `room` entries, whose columns and sums (or what `use`
//   has in their place) lie in shared memory. A block has a row for each team; or, where it `lists`, a share of all
//   rows, of which its warps take those that are of such a length, so that few teams are idle where lengths differ.
// Bytes: C once; A and B as often as the caches miss. Races: a barrier of the warp after each row, or lane. A row is
//   one team's, whatever the order in which they are taken.
template <int lanes, bool lists, class V, class Offset, class Use>
__global__ void __launch_bounds__(team_threads)
    each_product_kernel(CsrView<V, Offset> a, CsrView<V, Offset> b, std::int64_t least, int room, int share,
                        bool masked, CsrView<const NoValue, Offset> c, Use use, Skip skip) {
  extern __shared__ __align__(16) unsigned char memory[];
  if (skip.now()) return;
  constexpr int teams = team_threads / lanes, teams_of_warp = 32 / lanes;
  const int team = static_cast<int>(threadIdx.x) / lanes;
  const auto part = PartOfRow<typename Use::Slot>::in(memory, team, teams, room);
  const auto is_for_team = [&](std::int64_t length) { return length > least && length <= room; };
  const std::int64_t begin = std::int64_t{blockIdx.x} * share;
  if constexpr (lists) {
    __shared__ SharedRows<max_share> rows;
    rows.fill(begin, min(begin + share, std::int64_t{a.rows}),
              [&](std::int64_t row) { return is_for_team(c.row_offsets[row + 1] - c.row_offsets[row]); });
    for (int n = rows.take(teams_of_warp); n < rows.count; n = rows.take(teams_of_warp)) {
      Offset k = 0, end = 0, first = 0;
      int count = 0;
      if (const int mine = n + team % teams_of_warp; mine < rows.count) {
        const std::int32_t row = rows.rows[mine];
        first = c.row_offsets[row], count = static_cast<int>(c.row_offsets[row + 1] - first);
        k = a.row_offsets[row], end = a.row_offsets[row + 1];
      }
      use_products_of_row<lanes>(a, b, k, end, masked, c, first, count, part, use);
      __syncwarp();
    }
  } else {
    const std::int64_t row = begin + team;
    Offset k = 0, end = 0, first = 0;
    int count = 0;
    if (row < a.rows) {
      first = c.row_offsets[row];
      if (const Offset length = c.row_offsets[row + 1] - first; is_for_team(length))
        count = static_cast<int>(length), k = a.row_offsets[row], end = a.row_offsets[row + 1];
    }
    if (!__any_sync(~0u, count > 0)) return;
    use_products_of_row<lanes>(a, b, k, end, masked, c, first, count, part, use);
  }
}

/// Products that a thread of a piece has on their way. Not varied.
template <class Use>
constexpr int products_each = sizeof(typename Use::Slot) > 8 ? 2 : 4;
constexpr std::int32_t nobody = std::numeric_limits<std::int32_t>::max();

/// What the block of a piece has in shared memory: the part of the row, and the number of who adds to a place next.
template <class Slot>
constexpr std::size_t piece_bytes(int room) {
  return PartOfRow<Slot>::bytes(room) + static_cast<std::size_t>(PartOfRow<Slot>::size(room)) * sizeof(std::int32_t);
}

// Threads: a block has a piece of a longer row of C in shared memory. Its threads share the entries that rows of B have
//   there, some each at a time, numbered in the order of A's row. Of those for one sum, which claim it by their
//   numbers, the lowest is added, then the next, until none is left.
// Bytes: C once; entries of B once, its rows' ends once a piece. Races: a sum is whose claim is the lowest; barriers
//   before and after claims, and before they are withdrawn.
template <class V, class Offset, class Use>
__global__ void __launch_bounds__(piece_threads)
    each_product_of_piece_kernel(CsrView<V, Offset> a, CsrView<V, Offset> b, RowItems pieces, bool masked,
                                 CsrView<const NoValue, Offset> c, Use use, Skip skip) {
  using Part = PartOfRow<typename Use::Slot>;
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ SharedRowsOfB<piece_threads, piece_rows, Offset> rows;
  if (skip.now()) return;
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t piece = blockIdx.x;
  const std::int32_t row = pieces.rows[piece];
  const Offset end = c.row_offsets[row + 1],
               first = c.row_offsets[row] + static_cast<Offset>((piece - pieces.starts[row]) * ProductTuning::piece);
  const auto count = static_cast<int>(min(static_cast<Offset>(ProductTuning::piece), end - first));
  int room = 1;
  while (room < count) room *= 2;
  const auto part = Part::in(memory, 0, 1, room);
  std::int32_t* const claims = part.columns + Part::size(room);
  part.start(c, first, count, use, thread, piece_threads);
  for (int s = thread; s < Part::size(room); s += piece_threads) claims[s] = nobody;
  __syncthreads();
  // Products before the first piece and behind the last one are there under a mask alone, which has no place for them.
  const std::int64_t low = first == c.row_offsets[row] ? 0 : part.columns[0],
                     high = first + count == end ? b.cols : std::int64_t{part.columns[Part::padded(count - 1)]} + 1;
  constexpr int each = products_each<Use>;
  std::int32_t found[each], place[each];
  typename Use::OfA of_a[each];
  typename Use::OfB of_b[each];
  for_entries_of_rows<each>(
      rows, a, b, a.row_offsets[row], a.row_offsets[row + 1], low, high,
      [&](int u, Offset k, Offset e) { found[u] = b.col_indices[e], of_a[u] = use.of_a(k), of_b[u] = use.of_b(e); },
      [&](int ready) {
#pragma unroll
        for (int u = 0; u < each; ++u) {
          place[u] = -1;
          if (u * piece_threads + thread >= ready) continue;
          const int at = part.template place_of<1>(found[u]);
          if (!masked || part.columns[at] == found[u]) place[u] = at;
        }
        for (bool waits = true; waits;) {
          __syncthreads();
#pragma unroll
          for (int u = 0; u < each; ++u)
            if (place[u] >= 0) atomicMin(claims + place[u], u * piece_threads + thread);
          __syncthreads();
          bool adds[each], loses = false;
#pragma unroll
          for (int u = 0; u < each; ++u) {
            adds[u] = place[u] >= 0 && claims[place[u]] == u * piece_threads + thread;
            loses |= place[u] >= 0 && !adds[u];
          }
          waits = __syncthreads_or(loses);
#pragma unroll
          for (int u = 0; u < each; ++u)
            if (adds[u]) {
              use.add(part.slots[place[u]], of_a[u], of_b[u]);
              claims[place[u]] = nobody, place[u] = -1;
            }
        }
      });
  part.finish(first, count, use, thread, piece_threads);
}

/// Rows of C of more than `least` and at most `room` entries; `lists` where most rows may be of another length.
template <int lanes, bool lists, class V, class Offset, class Use>
void use_rows(const Cuda& cuda, const CsrView<V, Offset>& a, const CsrView<V, Offset>& b, std::int64_t least,
              std::int64_t room, bool masked, const CsrView<const NoValue, Offset>& c, const Use& use) {
  constexpr int teams = team_threads / lanes;
  constexpr auto kernel = each_product_kernel<lanes, lists, V, Offset, Use>;
  const std::size_t shared = teams * PartOfRow<typename Use::Slot>::bytes(static_cast<int>(room));
  const int resident = resident_blocks<kernel>(cuda, shared, team_threads);  // allows so much shared memory
  const std::int64_t share = lists ? share_of_block(a.rows, teams, resident, max_share) : teams;
  kernel<<<static_cast<unsigned>(ceil_div(std::int64_t{a.rows}, share)), team_threads, shared, cuda.stream>>>(
      a, b, least, static_cast<int>(room), static_cast<int>(share), masked, c, use, cuda.skip);
  check(cudaGetLastError());
}

/// Rows of C that no team holds.
template <class V, class Offset, class Use>
void use_pieces(const Cuda& cuda, const CsrView<V, Offset>& a, const CsrView<V, Offset>& b, const SumTeams& by,
                const CsrView<const NoValue, Offset>& c, const Use& use) {
  if (by.pieces.count == 0) return;
  constexpr auto kernel = each_product_of_piece_kernel<V, Offset, Use>;
  constexpr std::size_t shared = piece_bytes<typename Use::Slot>(ProductTuning::piece);
  resident_blocks<kernel>(cuda, shared, piece_threads);
  kernel<<<static_cast<unsigned>(by.pieces.count), piece_threads, shared, cuda.stream>>>(a, b, by.pieces, by.masked, c,
                                                                                         use, cuda.skip);
  check(cudaGetLastError());
}

/// Products of rows of C that teams hold, whose lanes are as many as rows of B have use for. Where there are longer
/// rows, rows are of many lengths.
template <class V, class Offset, class Use>
void use_rows_of_teams(const Cuda& cuda, const CsrView<V, Offset>& a, const CsrView<V, Offset>& b, const SumTeams& by,
                       const CsrView<const NoValue, Offset>& c, const Use& use) {
  if (a.rows == 0) return;
  const auto room = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(by.longest)));
  const std::int64_t small = std::clamp<std::int64_t>(room, 8, ProductTuning::small),
                     large = std::min(room, ProductTuning::max_held);
  const auto rows = [&](auto lanes, std::int64_t least, std::int64_t most) {
    by.pieces.count > 0 ? use_rows<lanes.value, true>(cuda, a, b, least, most, by.masked, c, use)
                        : use_rows<lanes.value, false>(cuda, a, b, least, most, by.masked, c, use);
  };
  constexpr std::integral_constant<int, 4> four{};
  constexpr std::integral_constant<int, 8> eight{};
  constexpr std::integral_constant<int, 16> sixteen{};
  constexpr std::integral_constant<int, 32> warp{};
  by.lanes == 4    ? rows(four, 0, small)
  : by.lanes == 8  ? rows(eight, 0, small)
  : by.lanes == 16 ? rows(sixteen, 0, small)
                   : rows(warp, 0, small);
  if (by.longest > small) by.lanes == 32 ? rows(warp, small, large) : rows(sixteen, small, large);
}

/// All products.
template <class V, class Offset, class Use>
void use_products(const Cuda& cuda, const CsrView<V, Offset>& a, const CsrView<V, Offset>& b, const SumTeams& by,
                  const CsrView<const NoValue, Offset>& c, const Use& use) {
  use_rows_of_teams(cuda, a, b, by, c, use);
  use_pieces(cuda, a, b, by, c, use);
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

template <class T, class Offset>
void sum_new_rows(const Cuda& cuda, const CsrView<const T, Offset>& a, const CsrView<const T, Offset>& b,
                  std::int64_t merged_terms, const Offset* row_offsets, std::int32_t* col_indices, T* values) {
  if (a.rows == 0) return;
  const AddProducts<T, Offset> sums{{T(1), nullptr}, a.values, b.values, values};
  merge_rows(cuda, a, b, merged_terms, MergedEntries<T, Offset>{{sums, row_offsets}, col_indices});
}

template <class T, class Offset>
void sum_pieces(const Cuda& cuda, const ScalarView<T>& alpha, const CsrView<const T, Offset>& a,
                const CsrView<const T, Offset>& b, const SumTeams& by, const CsrView<const NoValue, Offset>& c,
                T* values) {
  use_pieces(cuda, a, b, by, c, AddProducts<T, Offset>{alpha, a.values, b.values, values});
}

template <class Offset>
void record_places(const Cuda& cuda, const CsrView<const NoValue, Offset>& a, const CsrView<const NoValue, Offset>& b,
                   const SumTeams& by, const CsrView<const NoValue, Offset>& c, const Offset* bases,
                   ProductPlace* places) {
  use_rows_of_teams(cuda, a, b, by, c, RecordEach<Offset>{bases, places});
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
                    ProductPair*)>(list_products),
      instance<void(const Cuda&, const Pattern&, const Pattern&, const SumTeams&, const Pattern&, const Offset*,
                    ProductPlace*)>(record_places)};
  static constexpr auto counts = passes<Cuda, CountTerms<Offset>, CountFromB<Offset>>;
};
template <class T, class Offset, class K = kernel_t<T>>
struct PieceKernels {
  using Matrix = CsrView<const K, Offset>;
  static constexpr std::tuple list{
      instance<void(const Cuda&, const ScalarView<K>&, const Matrix&, const Matrix&, const SumTeams&,
                    const CsrView<const NoValue, Offset>&, K*)>(sum_pieces),
      instance<void(const Cuda&, const Matrix&, const Matrix&, std::int64_t, const Offset*, std::int32_t*, K*)>(
          sum_new_rows)};
};
template class ProductListKernels<std::int32_t>;
template class ProductListKernels<std::int64_t>;
KRILL_INSTANTIATE_WITH_OFFSETS(PieceKernels);
KRILL_INSTANTIATE_WITH_OFFSETS(ProductSumKernels, Cuda);

}  // namespace krill::detail
