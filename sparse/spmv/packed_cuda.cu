#include "sparse/convert/reduce_rows_cuda.cuh"
#include "sparse/spmv/packed_passes.hpp"
#include "sparse/spmv/row_kernel.cuh"

namespace krill::detail {
namespace {

struct Tuning {
  static constexpr int log_slots = 10;       ///< of a hash table for at most max_words words. Not varied.
  static constexpr int words_in_flight = 4;  ///< that a thread asks for before it looks at the first. Not varied.
  static constexpr int tries_a_look = 16;    ///< in a full table, before the count is looked at again. Not varied.
  /// Blocks that a multiprocessor is to hold. Not varied.
  template <class T, bool with_dots>
  static constexpr int blocks() {
    return sizeof(T) > 8 ? 4 : with_dots ? 6 : 8;
  }
  /// The same, and entries that a thread asks for at a time, where patterns name the columns.
  template <class T>
  static constexpr int pattern_blocks() {
    return sizeof(T) > 8 ? 4 : 5;
  }
  template <class T>
  static constexpr int pattern_flight() {
    return sizeof(T) > 8 ? 4 : 8;
  }
  /// And where they name the values, too: registers hold both.
  template <class T>
  static constexpr int coded_flight() {
    return is_complex<T> ? 4 : 8;
  }
};
constexpr int slots = 1 << Tuning::log_slots;

/// True where this thread brought the word into the table. Tables that fill up take no more once `count` says that
/// there are too many words.
__device__ bool insert(std::uint64_t* table, std::uint64_t word, const volatile std::int32_t* count) {
  auto slot = static_cast<unsigned>((word * 0x9e3779b97f4a7c15) >> (64 - Tuning::log_slots));
  for (int tries = 0; tries < slots; ++tries, slot = (slot + 1) % slots) {
    if (*static_cast<volatile std::uint64_t*>(table + slot) == word) return false;
    const auto before = atomicCAS(reinterpret_cast<unsigned long long*>(table + slot),
                                  static_cast<unsigned long long>(no_word), static_cast<unsigned long long>(word));
    if (before == no_word) return true;
    if (before == word || (tries % Tuning::tries_a_look == Tuning::tries_a_look - 1 && *count > max_words))
      return false;
  }
  return false;
}

// Threads: each strides over the words into its block's table in shared memory; the block then adds what is new to the
//   table of the grid. Bytes: the words once, as long as there are not too many.
// Races: tables change by compare-and-swap alone; a block that sees too many words gives up before a barrier that all
//   its threads reach. A count above max_words is final, whatever it is.
template <class Words>
__global__ void __launch_bounds__(sum_threads)
    words_kernel(std::int64_t n, Words word, std::uint64_t* table, std::uint64_t* found, std::int32_t* count) {
  __shared__ std::uint64_t mine[slots];
  __shared__ std::int32_t mine_count;
  for (int s = threadIdx.x; s < slots; s += sum_threads) mine[s] = no_word;
  if (threadIdx.x == 0) mine_count = 0;
  __syncthreads();
  std::uint64_t recent = no_word, older = no_word;  // most words are one of the two
  const volatile std::int32_t* so_far = count;
  const volatile std::int32_t* here = &mine_count;
  const std::int64_t stride = std::int64_t(gridDim.x) * sum_threads;
  bool go_on = true;
  for (std::int64_t i = std::int64_t(blockIdx.x) * sum_threads + threadIdx.x; go_on && i < n;
       i += Tuning::words_in_flight * stride) {
    std::uint64_t now[Tuning::words_in_flight];
#pragma unroll
    for (int u = 0; u < Tuning::words_in_flight; ++u) now[u] = word(min(i + u * stride, n - 1));
#pragma unroll
    for (int u = 0; u < Tuning::words_in_flight; ++u) {
      if ((now[u] == recent || now[u] == older) && now[u] != no_word) continue;
      go_on = go_on && *here <= max_words && *so_far <= max_words;
      if (!go_on) continue;
      if (now[u] == no_word) atomicAdd(count, max_words + 1);
      older = recent, recent = now[u];
      if (insert(mine, recent, here)) atomicAdd(&mine_count, 1);
    }
  }
  __syncthreads();
  if (mine_count > max_words) {
    if (threadIdx.x == 0) atomicAdd(count, max_words + 1);
    return;
  }
  for (int s = threadIdx.x; s < slots; s += sum_threads)
    if (mine[s] != no_word && *so_far <= max_words && insert(table, mine[s], so_far)) {
      const int at = atomicAdd(count, 1);
      if (at < max_words) found[at] = mine[s];
    }
}

/// Sets the table of the grid up.
struct ClearWords {
  using Sum = NoSum;
  std::uint64_t* table;
  std::int32_t* count;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t s) const {
    table[s] = no_word;
    if (s == 0) *count = 0;
    return {};
  }
};

// Threads: one a row, striding over the grid. Bytes: the codes of each place, y once, x as often as the caches miss;
// the
//   dictionary is read into shared memory once a block.
// Races: shared memory is written before the one barrier, and rows come after it; each y_i is written by one thread.
template <bool with_dots, ColumnCode columns, ValueCode values, class T>
__global__ void __launch_bounds__(sum_threads, Tuning::blocks<T, with_dots>())
    packed_kernel(Product<PackedView<const T>> p, Skip skip, GridScratch<typename DotsView<T>::Sum> scratch) {
  if (skip.now()) return;
  extern __shared__ __align__(16) unsigned char memory[];
  T* dictionary = reinterpret_cast<T*>(memory);
  const PackedView<const T>& a = p.a;
  if constexpr (values == ValueCode::dictionary)
    for (int w = threadIdx.x; w < max_words; w += sum_threads) dictionary[w] = a.dictionary[w];
  __syncthreads();
  RowBook<with_dots, PackedView<const T>> book(p);
  for (std::int64_t i = std::int64_t(blockIdx.x) * sum_threads + threadIdx.x; i < a.rows;
       i += std::int64_t(gridDim.x) * sum_threads) {
    const std::int64_t slice = i / packed_slice, first = a.first_place(slice);
    const std::int32_t width = a.width_of(slice);
    std::int64_t at = first + i % packed_slice;
    T sum{};
    for (std::int32_t k = 0; k < width; k += RowTuning::flight, at += RowTuning::flight * packed_slice) {
      T terms[RowTuning::flight];
#pragma unroll
      for (int u = 0; u < RowTuning::flight; ++u) {
        const std::int64_t place = at + u * packed_slice, col = k + u < width ? packed_column<columns>(a, place) : -1;
        terms[u] = col < 0 ? T{} : packed_value<values>(a, dictionary, place) * p.x[col];
      }
#pragma unroll
      for (int u = 0; u < RowTuning::flight; ++u) sum += terms[u];
    }
    book.put(i, sum);
  }
  book.finish(scratch);
}

/// Bytes of shared memory where patterns name the columns: those of all patterns, their lengths, the dictionary.
template <ValueCode values, class T>
std::size_t pattern_memory(const PackedView<const T>& a) {
  const auto count = static_cast<std::size_t>(a.pattern_count), width = static_cast<std::size_t>(a.pattern_width);
  return (values == ValueCode::dictionary ? max_words * sizeof(T) : 0) + count * (width + 1) * sizeof(std::int32_t);
}

// Threads: one a row, striding over the grid; rows of a warp mostly have the same pattern, whose columns are then read
//   for all lanes at once. The pattern of a thread's next row is on its way while it works on one.
// Bytes: a byte a row, values, y once, x as often as the caches miss; patterns and dictionary are read into shared
//   memory once a block.
// Races: as above.
template <bool with_dots, ValueCode values, class T>
__global__ void __launch_bounds__(sum_threads, Tuning::pattern_blocks<T>())
    pattern_kernel(Product<PackedView<const T>> p, Skip skip, GridScratch<typename DotsView<T>::Sum> scratch) {
  if (skip.now()) return;
  constexpr int flight = Tuning::pattern_flight<T>();
  extern __shared__ __align__(16) unsigned char memory[];
  const PackedView<const T>& a = p.a;
  const int places = a.pattern_count * a.pattern_width;
  T* const dictionary = reinterpret_cast<T*>(memory);
  auto* const table =
      reinterpret_cast<std::int32_t*>(memory + (values == ValueCode::dictionary ? max_words * sizeof(T) : 0));
  auto* const lengths = table + places;
  if constexpr (values == ValueCode::dictionary)
    for (int w = threadIdx.x; w < max_words; w += sum_threads) dictionary[w] = a.dictionary[w];
  for (int at = threadIdx.x; at < places; at += sum_threads) table[at] = a.table[at];
  for (int id = threadIdx.x; id < a.pattern_count; id += sum_threads) lengths[id] = a.lengths[id];
  __syncthreads();
  RowBook<with_dots, PackedView<const T>> book(p);
  const auto rows = static_cast<unsigned>(a.rows);  // below 2^31, so that `i` cannot wrap
  const unsigned stride = gridDim.x * sum_threads;
  unsigned i = blockIdx.x * sum_threads + threadIdx.x;
  unsigned next = i < rows ? a.patterns[i] : 0;
  for (; i < rows; i += stride) {
    const unsigned id = next;
    if (i + stride < rows) next = a.patterns[i + stride];
    const std::int32_t* place = table + id * static_cast<unsigned>(a.pattern_width);
    const T* const x = p.x + i;
    std::int64_t at = a.first_place(i / packed_slice) + i % packed_slice;
    T sum{};
    const auto add = [&](auto has) {  // has(u): whether there is a u-th of the next entries
      T with[flight], value[flight];
#pragma unroll
      for (int u = 0; u < flight; ++u) {
        with[u] = value[u] = T{};
        if (!has(u)) continue;
        with[u] = x[place[u]];
        value[u] = packed_value<values>(a, dictionary, at + u * packed_slice);
      }
#pragma unroll
      for (int u = 0; u < flight; ++u)
        if (has(u)) sum += value[u] * with[u];
      place += flight, at += flight * packed_slice;
    };
    int left = lengths[id];
    for (; left >= flight; left -= flight) add([](int) { return true; });
    if (left > 0) add([left](int u) { return u < left; });
    book.put(i, sum);
  }
  book.finish(scratch);
}

/// A place of a pattern of columns and values in shared memory.
template <class T>
struct alignas(sizeof(T) > 4 ? 16 : 8) PatternTerm {
  T value;
  std::int32_t column;
};
/// Where a pattern begins among the places, and how many it has.
struct PatternPart {
  std::int32_t first, length;
};

/// Places of a pattern in shared memory: as many as are asked for at a time, or a multiple.
template <class T>
constexpr std::int32_t padded_width(const PackedView<const T>& a) {
  constexpr int flight = Tuning::coded_flight<T>();
  return (a.pattern_width + flight - 1) / flight * flight;
}
template <class T>
std::size_t coded_memory(const PackedView<const T>& a) {
  const auto count = static_cast<std::size_t>(a.pattern_count), width = static_cast<std::size_t>(padded_width(a));
  return count * (width * sizeof(PatternTerm<T>) + sizeof(PatternPart));
}

// Threads: one a row, striding over the grid, as above. Patterns are filled up with a column that x has, so that sums
//   alone look at their length: these kernels are bound by instructions next to bytes.
// Bytes: a byte a row, y once, x as often as the caches miss; patterns are read into shared memory once a block.
// Races: as above.
template <bool with_dots, class T>
__global__ void __launch_bounds__(sum_threads, Tuning::pattern_blocks<T>())
    coded_kernel(Product<PackedView<const T>> p, Skip skip, GridScratch<typename DotsView<T>::Sum> scratch) {
  if (skip.now()) return;
  constexpr int flight = Tuning::coded_flight<T>();
  constexpr std::integral_constant<int, flight> many;
  constexpr std::integral_constant<int, flight / 2> few;
  extern __shared__ __align__(16) unsigned char memory[];
  const PackedView<const T>& a = p.a;
  const auto rows = static_cast<unsigned>(a.rows);  // below 2^31, so that `i` cannot wrap
  const unsigned stride = gridDim.x * sum_threads;
  unsigned i = blockIdx.x * sum_threads + threadIdx.x;
  unsigned next = i < rows ? a.patterns[i] : 0;
  const std::int32_t width = padded_width(a), places = a.pattern_count * width;
  auto* const table = reinterpret_cast<PatternTerm<T>*>(memory);
  auto* const parts = reinterpret_cast<PatternPart*>(table + places);
  for (int at = threadIdx.x; at < places; at += sum_threads) {
    const std::int32_t id = at / width, k = at % width, first = id * a.pattern_width,
                       from = first + (k < a.pattern_width ? k : 0);
    const std::int32_t column = k < a.lengths[id] ? a.table[from] : a.table[first];
    table[at] = {a.pattern_values[from], column};
  }
  for (int id = threadIdx.x; id < a.pattern_count; id += sum_threads) parts[id] = {id * width, a.lengths[id]};
  __syncthreads();
  RowBook<with_dots, PackedView<const T>, sizeof(T) <= 8> book(p);
  for (; i < rows; i += stride) {
    const unsigned id = next;
    if (i + stride < rows) next = a.patterns[i + stride];
    const auto own = book.fetch(i);
    const PatternPart part = parts[id];
    const PatternTerm<T>* place = table + part.first;
    int left = part.length;
    T sum{};
    const auto add = [&](auto count, auto whole) {  // the next `count` entries, or those that are left
      T with[count], value[count];
#pragma unroll
      for (int u = 0; u < count; ++u) {
        const PatternTerm<T> term = place[u];
        value[u] = term.value, with[u] = p.x[static_cast<std::int32_t>(i) + term.column];
      }
#pragma unroll
      for (int u = 0; u < count; ++u)
        if (whole || u < left) sum += value[u] * with[u];
    };
#pragma unroll 1
    for (; left >= flight; left -= flight, place += flight) add(many, std::true_type{});
    if (left > few)
      add(many, std::false_type{});
    else if (left > 0)
      add(few, std::false_type{});
    book.put(i, sum, own);
  }
  book.finish(scratch);
}

}  // namespace

template <class Words>
void find_words(const Cuda& cuda, std::int64_t n, Words word, std::uint64_t* found, std::int32_t* count) {
  Frame frame(cuda);
  auto* table = frame.take<std::uint64_t>(slots);
  run_pass(cuda, slots, ClearWords{table, count});
  words_kernel<<<grid_blocks(cuda, n), sum_threads, 0, cuda.stream>>>(n, word, table, found, count);
  check(cudaGetLastError());
}

template <class V, class Offset>
void name_patterns(const Cuda& cuda, const NamePatterns<V, Offset>& names) {
  reduce_rows(cuda, names);
}

template <class V, class Offset>
void compare_patterns(const Cuda& cuda, const ComparePatterns<V, Offset>& rows) {
  reduce_rows(cuda, rows);
}

template <class T>
void run_product(const Cuda& cuda, const Product<PackedView<const T>>& p) {
  with_codes(p.a.column_code, p.a.value_code, [&](auto columns, auto values) {
    constexpr ColumnCode column_code = decltype(columns)::value;
    constexpr ValueCode value_code = decltype(values)::value;
    ProductGrid grid{.blocks = grid_blocks(cuda, p.a.rows)};
    if constexpr (value_code == ValueCode::pattern) {
      grid.shared = coded_memory(p.a);
      p.dots.wanted() ? launch_product<coded_kernel<true, T>>(cuda, p, grid)
                      : launch_product<coded_kernel<false, T>>(cuda, p, grid);
    } else if constexpr (column_code == ColumnCode::pattern) {
      grid.shared = pattern_memory<value_code>(p.a);
      p.dots.wanted() ? launch_product<pattern_kernel<true, value_code, T>>(cuda, p, grid)
                      : launch_product<pattern_kernel<false, value_code, T>>(cuda, p, grid);
    } else {
      if (value_code == ValueCode::dictionary) grid.shared = max_words * sizeof(T);
      p.dots.wanted() ? launch_product<packed_kernel<true, column_code, value_code, T>>(cuda, p, grid)
                      : launch_product<packed_kernel<false, column_code, value_code, T>>(cuda, p, grid);
    }
  });
}

KRILL_INSTANTIATE_WITH_OFFSETS(PackedPasses, Cuda);
template class PackedWords<Cuda>;

}  // namespace krill::detail
