// Blocks times a dense matrix: by the usual units and, of 16-bit numbers, by tensor cores.
#include "sparse/core/bulk_copy.cuh"
#include "sparse/core/instantiate.hpp"
#include "sparse/spmm/blocks.hpp"
#include "sparse/spmm/lines.cuh"

namespace krill::detail {
namespace {

// Reasoned, not varied.
struct Tuning {
  static constexpr int threads = 256;
  static constexpr int rows = 4;     ///< of a block that a thread has, so that a row of B is read once for them
  static constexpr int bytes = 16;   ///< of a row of a block that are loaded at once,
  static constexpr int singles = 2;  ///< or values of it, where they do not come so
  static constexpr int flight = 4;   ///< rows of B that a thread asks for before it uses the first
  /// Blocks that a multiprocessor is to hold.
  template <class T>
  static constexpr int resident() {
    return sizeof(T) == 8 ? 3 : 2;
  }
  static constexpr int alone = 128;  ///< blocks of a block row for its own lanes; a longer one is for a thread block
};
/// Values of a row of a block in a load.
template <class T>
constexpr int pieces = Tuning::bytes / sizeof(T);

/// What a thread adds to its rows' sums for the columns j to j + chunk of a block: `values` is that of row 0 and column
/// j, `b` the row of B that belongs to it. whole: all of them are there, and each row of them is a load; else `left`
/// are.
template <int chunk, bool whole, class Products, int count>
__device__ void add_columns(const Products& p, const typename Products::Vector* values, int rows, int left,
                            const typename Products::Vector* b, typename Products::Sum (&sums)[Tuning::rows][count]) {
  using T = typename Products::Vector;
  using Sum = typename Products::Sum;
  T of_row[Tuning::rows][chunk];
#pragma unroll
  for (int r = 0; r < Tuning::rows; ++r)
    if constexpr (whole) {
      const auto loaded = r < rows ? load_few<chunk>(values + r * p.a.step_i) : Few<T, chunk>{};
#pragma unroll
      for (int j = 0; j < chunk; ++j) of_row[r][j] = loaded.entry[j];
    } else {
#pragma unroll
      for (int j = 0; j < chunk; ++j)
        of_row[r][j] = r < rows && j < left ? values[r * p.a.step_i + j * p.a.step_j] : T{};
    }
  constexpr int flight = std::min(chunk, Tuning::flight);
#pragma unroll
  for (int first = 0; first < chunk; first += flight) {
    Few<T, count> from[flight];
#pragma unroll
    for (int j = 0; j < flight; ++j)
      from[j] = whole || first + j < left ? load_few<count>(b + (first + j) * p.b.leading_dimension) : Few<T, count>{};
#pragma unroll
    for (int j = 0; j < flight; ++j) {
      Sum entries[count];
#pragma unroll
      for (int c = 0; c < count; ++c) entries[c] = p.of_b(from[j].entry[c]);
#pragma unroll
      for (int r = 0; r < Tuning::rows; ++r)
        if (const auto value = static_cast<Sum>(of_row[r][first + j]); !(value == Sum(0))) {
#pragma unroll
          for (int c = 0; c < count; ++c) sums[r][c] += value * entries[c];
        }
    }
  }
}

// Threads: `lanes` neighboring ones, a team, have a few rows of a block row, each with 16 bytes of a row of B, so that
//   the lanes of a row read whole lines; B is row-major, and comes in such pieces. A long block row that a team of the
//   block meets is left to all teams together, one after the other, each with every so many-th block.
// Bytes: A once for each group of columns, C once, B as often as the caches miss.
// Races: an entry of C is one thread's. Whether all teams work together is the same for the whole block, which stays
//   together at barriers; their sums are added in order.
template <class Products>
__global__ void __launch_bounds__(Tuning::threads, Tuning::resident<typename Products::Vector>())
    blocks_kernel(Products all, int lanes, std::int32_t group, bool whole, bool at_once, Skip skip) {
  using T = typename Products::Vector;
  using Sum = typename Products::Sum;
  constexpr int count = few<T>;
  __shared__ __align__(16) unsigned char memory[Tuning::threads * count * sizeof(Sum)];
  if (skip.now()) return;
  Sum* const shared = reinterpret_cast<Sum*>(memory);
  const auto first_column = static_cast<std::int32_t>(blockIdx.y) * group;
  const Products p = columns_of(all, first_column, min(group, all.b.cols - first_column));
  const auto thread = static_cast<int>(threadIdx.x), column = thread % lanes * count;
  const int team = thread / lanes, teams = Tuning::threads / lanes;
  const int parts = (p.a.row_dim + Tuning::rows - 1) / Tuning::rows;
  int turn = -1, turns = 0;  // -1: each team its own rows; then the long ones of each
  do {
    const bool together = turn >= 0;
    const std::int64_t number = std::int64_t{blockIdx.x} * teams + (together ? turn : team);
    const bool there = number < std::int64_t{p.a.block_rows()} * parts;
    const auto block_row = static_cast<std::int32_t>(there ? number / parts : 0);
    const int first = static_cast<int>(number % parts) * Tuning::rows;
    const std::int32_t row = block_row * p.a.row_dim + first;
    const int rows = min(min(Tuning::rows, p.a.row_dim - first), p.a.rows - row);
    const std::int64_t begin = p.a.begin(block_row), end = p.a.end(block_row);
    const bool is_long = there && end - begin > Tuning::alone;
    if (!together) turns = __syncthreads_or(is_long) ? teams : 0;
    if (!there || is_long != together) continue;
    Sum sums[Tuning::rows][count] = {};
    for (std::int64_t k = begin + (together ? team : 0); k < end && column < p.b.cols; k += together ? teams : 1) {
      const int columns = p.a.columns(block_row, k);
      const T* values = p.a.block(block_row, k) + first * p.a.step_i;
      const T* b = p.b.values + p.a.first_column(k) * p.b.leading_dimension + column;
      int j = 0;
      if constexpr (pieces < T >> 1)
        if (whole)
          for (; j + pieces<T> <= columns; j += pieces<T>)
            add_columns<pieces<T>, true>(p, values + j, rows, columns, b + j * p.b.leading_dimension, sums);
#pragma unroll 1
      for (; j < columns; j += Tuning::singles)
        add_columns<Tuning::singles, false>(p, values + j * p.a.step_j, rows, columns - j,
                                            b + j * p.b.leading_dimension, sums);
    }
#pragma unroll
    for (int r = 0; r < Tuning::rows; ++r) {
      if (r >= rows) continue;
      if (together) {
#pragma unroll
        for (int c = 0; c < count; ++c) shared[c * Tuning::threads + thread] = sums[r][c];
        __syncthreads();
        for (int t = 1; t < teams && team == 0; ++t)
#pragma unroll
          for (int c = 0; c < count; ++c) sums[r][c] += shared[c * Tuning::threads + thread + t * lanes];
        __syncthreads();
      }
      if (column >= p.b.cols || (together && team > 0)) continue;
      if (at_once) {
        put_few(p, row + r, column, sums[r]);
      } else {
#pragma unroll
        for (int c = 0; c < count; ++c)
          if (column + c < p.b.cols) p.put(row + r, column + c, sums[r][c]);
      }
    }
  } while (++turn < turns);
}

/// C is row-major, and made of whole pieces of `count` entries.
template <class Products>
bool stores_in(const Products& p, int count) {
  return p.c.order == Order::row_major && comes_in_fews(p.c.as_const()) && p.c.cols % count == 0;
}

template <class Products>
void run_without_tensor_cores(const Cuda& cuda, const Products& p) {
  using T = typename Products::Vector;
  constexpr std::int32_t group = line_entries<T>;
  const bool gathered = p.b.order != Order::row_major || !comes_in_fews(p.b);
  const bool at_once = stores_in(p, few<T>), whole = p.a.comes_in(pieces<T>);
  Frame frame(cuda);
  T* const room =
      gathered
          ? frame.take<T>(static_cast<std::size_t>(p.b.rows) * static_cast<std::size_t>(line_entries_for<T>(p.b.cols)))
          : nullptr;
  const int lanes = line_entries_for<T>(p.b.cols) / few<T>;
  const std::int64_t parts = std::int64_t{p.a.block_rows()} * ceil_div(p.a.row_dim, Tuning::rows);
  const auto blocks = static_cast<unsigned>(ceil_div(parts * lanes, std::int64_t{Tuning::threads}));
  const std::int32_t step = gathered ? group : p.b.cols;
  for (std::int32_t first = 0; first < p.b.cols; first += step) {
    auto part = columns_of(p, first, std::min(step, p.b.cols - first));
    if (gathered) part.b = in_lines(cuda, part.b, room);
    const dim3 grid(blocks, static_cast<unsigned>(ceil_div(part.b.cols, group)));
    blocks_kernel<<<grid, Tuning::threads, 0, cuda.stream>>>(part, lanes, group, whole, at_once, cuda.skip);
    check(cudaGetLastError());
  }
}

/// sums += a b for 16 x 16 and 16 x 8 numbers, spread over a warp as mma.m16n8k16 has them.
template <class T>
__device__ void multiply_add([[maybe_unused]] float (&sums)[4], [[maybe_unused]] const std::uint32_t (&a)[4],
                             [[maybe_unused]] const std::uint32_t (&b)[2]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (std::is_same_v<T, Half>)
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

struct TensorTuning {
  static constexpr int dim = 16;   ///< rows and columns of A that a step takes
  static constexpr int terms = 4;  ///< of a step, that a lane has of each of its rows and columns
};

/// Two numbers in a word, the first one in its lower half.
template <class T>
__device__ std::uint32_t packed(T first, T second) {
  return std::uint32_t{first.bits} | std::uint32_t{second.bits} << 16;
}

/// The first `count` of four numbers that lie `step` apart, zeros in the place of others. whole: they are one load.
template <class T>
__device__ uint2 load_terms(const T* from, std::int64_t step, int count, bool whole) {
  if (whole && count >= TensorTuning::terms) return *reinterpret_cast<const uint2*>(from);
  T terms[TensorTuning::terms];
#pragma unroll
  for (int e = 0; e < TensorTuning::terms; ++e) terms[e] = e < count ? from[e * step] : T{};
  return {packed(terms[0], terms[1]), packed(terms[2], terms[3])};
}

/// `tiles` numbers of a row of B, side by side; `count` of them are there. whole: they are one load.
template <int tiles, class T>
__device__ void load_side_by_side(const T* from, int count, bool whole, T (&to)[tiles]) {
  using Whole = std::conditional_t<tiles == 8, uint4, std::conditional_t<tiles == 4, uint2, unsigned>>;
  static_assert(sizeof(Whole) == sizeof to);
  if (whole && count >= tiles) {
    const Whole words = *reinterpret_cast<const Whole*>(from);
    memcpy(to, &words, sizeof to);
  } else {
#pragma unroll
    for (int c = 0; c < tiles; ++c) to[c] = c < count ? from[c] : T{};
  }
}

// Threads: a warp has 16 rows of a block row and 8 x tiles columns. The order of columns, and of the terms of a step,
// is
//   the kernel's own: lane 4 g + t reads rows g and g + 8 of A and columns tiles g, tiles g + 1, ... of B, of which it
//   has terms 4 t to 4 t + 3, so that what it reads lies side by side. Tile j consists of the columns tiles c + j.
// Bytes: A once for 8 x tiles columns, C once, B as often as the caches miss.
// Races: an entry of C is one lane's. Whole warps stay together: what depends on a lane is loaded as zero.
template <int tiles, class Products>
__global__ void __launch_bounds__(Tuning::threads)
    tensor_kernel(Products p, bool whole_a, bool whole_b, bool at_once, Skip skip) {
  using T = typename Products::Vector;
  constexpr int dim = TensorTuning::dim, terms = TensorTuning::terms;
  if (skip.now()) return;
  const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4, t = lane % 4, parts = p.a.row_dim / dim;
  const std::int64_t number = (std::int64_t{blockIdx.x} * Tuning::threads + threadIdx.x) / 32;
  if (number >= std::int64_t{p.a.block_rows()} * parts) return;
  const auto block_row = static_cast<std::int32_t>(number / parts);
  const std::int32_t in_block = static_cast<std::int32_t>(number % parts) * dim + g;
  const std::int32_t row = block_row * p.a.row_dim + in_block;
  const auto group = static_cast<std::int32_t>(blockIdx.y) * 8 * tiles;
  const std::int32_t column = group + tiles * g, there = p.b.cols - column;
  const bool by_rows = p.b.order == Order::row_major;
  float sums[tiles][4] = {};
  for (std::int64_t k = p.a.begin(block_row); k < p.a.end(block_row); ++k) {
    const int columns = p.a.columns(block_row, k);
    const std::int64_t from = p.a.first_column(k);
    const T* const values = p.a.block(block_row, k) + in_block * p.a.step_i;
    for (int j = terms * t, begin = 0; begin < columns; begin += dim, j += dim) {
      const int known = columns - j;
      const uint2 upper = load_terms(values + j * p.a.step_j, p.a.step_j, row < p.a.rows ? known : 0, whole_a);
      const uint2 lower =
          load_terms(values + 8 * p.a.step_i + j * p.a.step_j, p.a.step_j, row + 8 < p.a.rows ? known : 0, whole_a);
      const std::uint32_t a[4] = {upper.x, lower.x, upper.y, lower.y};
      if (by_rows) {
        T b[terms][tiles];
#pragma unroll
        for (int e = 0; e < terms; ++e)
          load_side_by_side(&p.b.at(from + j + e, column), e < known ? there : 0, whole_b, b[e]);
#pragma unroll
        for (int c = 0; c < tiles; ++c)
          multiply_add<T>(sums[c], a, {packed(b[0][c], b[1][c]), packed(b[2][c], b[3][c])});
      } else {
#pragma unroll
        for (int c = 0; c < tiles; ++c) {
          const uint2 b = load_terms(&p.b.at(from + j, column + c), 1, c < there ? known : 0, whole_b);
          multiply_add<T>(sums[c], a, {b.x, b.y});
        }
      }
    }
  }
#pragma unroll
  for (int s = 0; s < 4; ++s) {  // of row g or g + 8 and the columns tiles (2 t) or tiles (2 t + 1), ...
    const std::int32_t to = row + s / 2 * 8, first = group + tiles * (2 * t + s % 2);
    float of_row[tiles];
#pragma unroll
    for (int c = 0; c < tiles; ++c) of_row[c] = sums[c][s];
    if (to >= p.a.rows || first >= p.c.cols) continue;
    if constexpr (tiles == 8)
      if (at_once) {
        put_few(p, to, first, of_row);
        continue;
      }
#pragma unroll
    for (int c = 0; c < tiles; ++c)
      if (first + c < p.c.cols) p.put(to, first + c, of_row[c]);
  }
}

template <int tiles, class Products>
bool run_tensor_kernel(const Cuda& cuda, const Products& p) {
  if (!compiled_for<tensor_kernel<tiles, Products>, 80>()) return false;
  using T = typename Products::Vector;
  const auto address = reinterpret_cast<std::uintptr_t>(p.b.values);
  const auto in_a_load = static_cast<std::int64_t>(p.b.order == Order::row_major ? tiles : TensorTuning::terms);
  const bool whole_b = static_cast<std::int64_t>(address) % (in_a_load * std::int64_t{sizeof(T)}) == 0 &&
                       p.b.leading_dimension % in_a_load == 0;
  const std::int64_t warps = std::int64_t{p.a.block_rows()} * (p.a.row_dim / TensorTuning::dim);
  const dim3 grid(static_cast<unsigned>(ceil_div(warps, std::int64_t{Tuning::threads / 32})),
                  static_cast<unsigned>(ceil_div(p.b.cols, 8 * tiles)));
  tensor_kernel<tiles><<<grid, Tuning::threads, 0, cuda.stream>>>(p, p.a.comes_in(TensorTuning::terms), whole_b,
                                                                  stores_in(p, tiles), cuda.skip);
  check(cudaGetLastError());
  return true;
}

/// False where they cannot serve.
template <class Products>
bool run_with_tensor_cores(const Cuda& cuda, const Products& p) {
  if (p.a.row_dim % TensorTuning::dim != 0 || p.a.col_dim % TensorTuning::dim != 0) return false;
  if (p.b.cols <= 16) return run_tensor_kernel<2>(cuda, p);
  return p.b.cols <= 32 ? run_tensor_kernel<4>(cuda, p) : run_tensor_kernel<8>(cuda, p);
}

}  // namespace

template <class Types>
void run_blocks(const Cuda& cuda, const BlockProducts<Types>& p, TensorCores units) {
  if constexpr (sizeof(typename Types::Storage) == 2)
    if (units == TensorCores::allowed && run_with_tensor_cores(cuda, p)) return;
  run_without_tensor_cores(cuda, p);
}

KRILL_INSTANTIATE(BlockProductKernels, Cuda);
template struct NarrowBlockKernels<Half, Cuda>;
template struct NarrowBlockKernels<BFloat16, Cuda>;

}  // namespace krill::detail
