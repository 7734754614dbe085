// Dots at the places of a sparse matrix: blocks take as many entries each, whatever the rows look like.
#include <algorithm>
#include <bit>

#include "sparse/core/instantiate.hpp"
#include "sparse/core/pass_cuda.cuh"
#include "sparse/spmm/lines.cuh"
#include "sparse/spmm/sddmm.hpp"
#include "sparse/spmm/tiling.hpp"

namespace krill::detail {
namespace {

// Reasoned, not varied.
struct Tuning {
  static constexpr int threads = 256;
  static constexpr int chunk = 32;   ///< entries that a group of lanes has one after the other, with their rows
  static constexpr int at_once = 4;  ///< entries whose columns are on their way at a time
  static constexpr int min_lanes = at_once, max_lanes = 32;
  static constexpr int gathered_from = 8;  ///< terms of a dot, where they are brought into lines
};

/// Entries [begin, end) of a block, and the rows [first_row, end_row) in which they lie; all threads of the block.
template <class Offset>
struct BlockEntries {
  Offset begin, end;
  std::int32_t first_row, end_row;

  template <class T>
  __device__ BlockEntries(const EntryDots<T, Offset>& p, int per_block) {
    __shared__ std::int32_t rows[2];
    const std::int64_t first = std::int64_t{blockIdx.x} * per_block;
    begin = static_cast<Offset>(first), end = static_cast<Offset>(min(first + per_block, p.nnz));
    if (threadIdx.x < 2) rows[threadIdx.x] = p.row_of(threadIdx.x == 0 ? begin : end - 1, 0, p.rows);
    __syncthreads();
    first_row = rows[0], end_row = rows[1] + 1;
  }
};

/// The value of the lane whose number differs by that bit.
template <class T>
__device__ T shuffle_xor(T value, int bit) {
  return shuffle_from(value, static_cast<int>(threadIdx.x) % 32 ^ bit);
}

/// The sums of four entries over `lanes` neighboring lanes; a lane gets that of entry `entry`, and so do some others.
template <class T>
struct FourSums {
  T sum;
  int entry;

  __device__ FourSums(const T (&mine)[Tuning::at_once], int lanes, int lane) {
    const bool upper = lane & lanes / 2, odd = lane & lanes / 4;
    T two[2];
    for (int i = 0; i < 2; ++i) {
      const T kept = upper ? mine[2 + i] : mine[i], given = upper ? mine[i] : mine[2 + i];
      two[i] = kept + shuffle_xor(given, lanes / 2);
    }
    sum = (odd ? two[1] : two[0]) + shuffle_xor(odd ? two[0] : two[1], lanes / 4);
    for (int offset = lanes / 8; offset > 0; offset /= 2) sum += shuffle_xor(sum, offset);
    entry = (upper ? 2 : 0) + (odd ? 1 : 0);
  }
};

/// A lane's share of a line of `size` entries: `held` pieces.
template <int held, int count, class T>
struct Share {
  Few<T, count> pieces[held];

  __device__ void load(const T* line, int size, int lanes, int lane) {
#pragma unroll
    for (int h = 0; h < held; ++h) {
      const int at = (h * lanes + lane) * count;
      pieces[h] = at < size ? load_few<count>(line + at) : Few<T, count>{};
    }
  }
  /// With the share of a column of op(B).
  template <class Dots>
  __device__ auto dot(const Dots& p, const Share& of_b) const {
    typename Dots::Sum sum{};
#pragma unroll
    for (int h = 0; h < held; ++h)
#pragma unroll
      for (int c = 0; c < count; ++c) sum += p.term(pieces[h].entry[c], of_b.pieces[h].entry[c]);
    return sum;
  }
};

// Threads: `lanes` neighboring ones have a chunk of entries, with a row of A in their registers. Rows of A and columns
//   of B are lines of memory, of at most lanes x held x count entries.
// Bytes: C once, a row of A once a chunk, a column of B for every entry, as far as the caches do not have it.
// Races: an entry of C is one lane's. Whole warps stay together.
template <int held, int count, class T, class Offset>
__global__ void __launch_bounds__(Tuning::threads) lines_kernel(EntryDots<T, Offset> p, int lanes, Skip skip) {
  using Sum = typename EntryDots<T, Offset>::Sum;
  if (skip.now()) return;
  const int lane = static_cast<int>(threadIdx.x) % lanes, inner = p.a.cols;
  const BlockEntries<Offset> block(p, Tuning::threads / lanes * Tuning::chunk);
  Offset first = block.begin + static_cast<Offset>(static_cast<int>(threadIdx.x) / lanes * Tuning::chunk);
  std::int32_t row = first < block.end ? p.row_of(first, block.first_row, block.end_row) : block.first_row;
  Offset row_end = p.row_offsets[row + 1];
  Share<held, count, T> a;
  a.load(&p.a.at(row, 0), inner, lanes, lane);
  for (int done = 0; done < Tuning::chunk; done += Tuning::at_once, first += Tuning::at_once) {
    Share<held, count, T> b[Tuning::at_once];
#pragma unroll
    for (int u = 0; u < Tuning::at_once; ++u)
      b[u].load(&p.b.at(0, p.col_indices[min(first + u, block.end - 1)]), inner, lanes, lane);
    Sum dots[Tuning::at_once];
#pragma unroll
    for (int u = 0; u < Tuning::at_once; ++u) {
      const Offset entry = first + u;
      if (entry >= row_end && entry < block.end) {
        ++row;
        if (p.row_offsets[row + 1] <= entry) row = p.row_of(entry, row, block.end_row);
        row_end = p.row_offsets[row + 1];
        a.load(&p.a.at(row, 0), inner, lanes, lane);
      }
      dots[u] = a.dot(p, b[u]);
    }
    const FourSums<Sum> whole(dots, lanes, lane);
    const Offset entry = first + whole.entry;
    if (lane % (lanes / Tuning::at_once) == 0 && entry < block.end) p.put(entry, whole.sum);
  }
}

// Threads: one an entry. Neighbors have neighboring columns or the same row, so they read one line at a time or one
//   entry together.
// Bytes, races: as the kernel above, but for a row of A, which is read from the caches for every entry.
template <class T, class Offset>
__global__ void __launch_bounds__(Tuning::threads) entries_kernel(EntryDots<T, Offset> p, Skip skip) {
  if (skip.now()) return;
  const BlockEntries<Offset> block(p, Tuning::threads);
  const Offset entry = block.begin + static_cast<Offset>(threadIdx.x);
  if (entry >= block.end) return;
  const std::int32_t row = p.row_of(entry, block.first_row, block.end_row);
  const T* a = &p.a.at(row, 0);
  const T* b = &p.b.at(0, p.col_indices[entry]);
  const std::int64_t step_a = p.a.order == Order::row_major ? 1 : p.a.leading_dimension;
  const std::int64_t step_b = p.b.order == Order::row_major ? p.b.leading_dimension : 1;
  typename EntryDots<T, Offset>::Sum sum{};
#pragma unroll 8
  for (int k = 0; k < p.a.cols; ++k, a += step_a, b += step_b) sum += p.term(*a, *b);
  p.put(entry, sum);
}

template <int held, int count, class T, class Offset>
void launch_lines(const Cuda& cuda, const EntryDots<T, Offset>& p, int lanes) {
  const std::int64_t blocks = ceil_div(p.nnz, std::int64_t{Tuning::threads / lanes * Tuning::chunk});
  lines_kernel<held, count><<<static_cast<unsigned>(blocks), Tuning::threads, 0, cuda.stream>>>(p, lanes, cuda.skip);
  check(cudaGetLastError());
}

/// Terms of a dot that a launch's lanes can hold, in pieces of `count` entries.
template <int count>
constexpr std::int32_t max_terms = Tuning::max_lanes * 4 * count;

/// Whether dots may be made of parts of so many terms: not where each part would be rounded to 16 bits.
template <class T, class Offset>
bool may_be_parts(const EntryDots<T, Offset>& p, std::int32_t terms) {
  return std::is_same_v<T, typename EntryDots<T, Offset>::Sum> || p.a.cols <= terms;
}

/// Lines in pieces of `count` entries; those that are longer than a launch's lanes can hold are added part by part.
template <int count, class T, class Offset>
void run_lines(const Cuda& cuda, EntryDots<T, Offset> p) {
  constexpr std::int32_t most = max_terms<count>;
  const std::int32_t inner = p.a.cols;
  for (std::int32_t first = 0; first == 0 || first < inner;
       first += most, p.beta = {typename EntryDots<T, Offset>::Sum(1)}) {
    const EntryDots<T, Offset> part = inner_part(p, first, std::min(most, inner - first));
    const std::int32_t pieces = ceil_div(part.a.cols, count);
    const auto wanted = static_cast<int>(std::bit_ceil(static_cast<unsigned>(ceil_div(pieces, 2))));
    const int lanes = std::clamp(wanted, Tuning::min_lanes, Tuning::max_lanes);
    if (pieces <= lanes)
      launch_lines<1, count>(cuda, part, lanes);
    else if (pieces <= 2 * lanes)
      launch_lines<2, count>(cuda, part, lanes);
    else
      launch_lines<4, count>(cuda, part, lanes);
  }
}

template <class T, class Offset>
bool in_fews(const EntryDots<T, Offset>& p) {
  return comes_in_fews(p.a) && comes_in_fews(p.b);
}
template <class T, class Offset>
void run_lines(const Cuda& cuda, const EntryDots<T, Offset>& p) {
  in_fews(p) ? run_lines<few<T>>(cuda, p) : run_lines<1>(cuda, p);
}

/// Part by part, with copies of A and B where they are no lines.
template <class T, class Offset>
void run_gathered(const Cuda& cuda, EntryDots<T, Offset> p) {
  const auto room_for = [&](Frame& frame, std::int32_t lines) {
    return frame.take<T>(static_cast<std::size_t>(lines) * static_cast<std::size_t>(line_entries_for<T>(p.a.cols)));
  };
  Frame frame(cuda);
  T* const room_a = p.a.order == Order::row_major ? nullptr : room_for(frame, p.a.rows);
  T* const room_b = p.b.order == Order::column_major ? nullptr : room_for(frame, p.b.cols);
  const std::int32_t inner = p.a.cols;
  for (std::int32_t first = 0; first < inner;
       first += line_entries<T>, p.beta = {typename EntryDots<T, Offset>::Sum(1)}) {
    EntryDots<T, Offset> part = inner_part(p, first, std::min(line_entries<T>, inner - first));
    if (room_a) part.a = in_lines(cuda, part.a, room_a);
    if (room_b) part.b = in_lines(cuda, part.b.transposed(), room_b).transposed();
    run_lines(cuda, part);
  }
}

}  // namespace

template <class T, class Offset>
void run_entry_dots(const Cuda& cuda, const EntryDots<T, Offset>& p) {
  const bool lines = p.a.order == Order::row_major && p.b.order == Order::column_major;
  if (lines && may_be_parts(p, in_fews(p) ? max_terms<few<T>> : max_terms<1>)) {
    run_lines(cuda, p);
  } else if (!lines && may_be_parts(p, line_entries<T>) && p.a.cols >= Tuning::gathered_from &&
             p.nnz / std::max(p.rows, 1) >= SpmmTiling::gathered_mean) {
    run_gathered(cuda, p);
  } else {
    entries_kernel<<<static_cast<unsigned>(ceil_div(p.nnz, std::int64_t{Tuning::threads})), Tuning::threads, 0,
                     cuda.stream>>>(p, cuda.skip);
    check(cudaGetLastError());
  }
}

KRILL_INSTANTIATE_WITH_OFFSETS(EntryDotsKernels, Cuda);
template struct EntryDotsKernels<Half, std::int32_t, Cuda>;
template struct EntryDotsKernels<BFloat16, std::int32_t, Cuda>;
template struct EntryDotsKernels<Complex<Half>, std::int32_t, Cuda>;

}  // namespace krill::detail
