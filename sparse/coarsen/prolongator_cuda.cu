#include <algorithm>
#include <bit>

#include "sparse/coarsen/prolongator_passes.hpp"
#include "sparse/convert/reduce_rows_cuda.cuh"
#include "sparse/core/pass_cuda.cuh"

namespace krill::detail {
namespace {

struct Tuning {
  static constexpr int short_list = 8;           ///< strong neighbors whose aggregates fit into registers
  static constexpr std::int64_t long_list = 64;  ///< strong neighbors from which a warp has a node. Not varied.
  static constexpr int width = 8;                ///< entries of P that a thread sums at a time. Not varied.
};
constexpr int warp_size = 32;

/// A power of two of threads, up to a warp, for rows or columns of so many items in the mean.
int lanes_for(std::int64_t items, std::int64_t count) {
  const auto mean = static_cast<std::uint64_t>(ceil_div(items, std::max<std::int64_t>(count, 1)));
  return static_cast<int>(std::clamp<std::uint64_t>(std::bit_ceil(mean), 1, warp_size));
}

/// Lanes that have an aggregate.
struct WarpTeam {
  int lanes, lane;

  /// For each of them. All threads of the warp call it.
  template <class Sum>
  __device__ Sum sum(Sum mine) const {
    for (int offset = lanes / 2; offset > 0; offset /= 2)
      mine += on_words(mine, [=](unsigned word) { return __shfl_xor_sync(~0u, word, offset); });
    return mine;
  }
};

// Threads: a team of `lanes` neighboring ones (a power of two up to 32) an aggregate, a row to a lane at a time; all
//   teams of a warp take the same sums, those beyond the last aggregate with no rows.
// Bytes: candidates once, in the order of aggregates; P0 m (m + 1) times, which the caches hold; R once.
// Races: a lane reads and writes its own rows of P0 alone; lane 0 has the aggregate's rows of R.
template <class T, class Offset>
__global__ void __launch_bounds__(sum_threads)
    factor_aggregates_kernel(AggregateBasis<T, Offset> basis, std::int64_t aggregates, int lanes, Skip skip) {
  if (skip.now()) return;
  const WarpTeam team{lanes, static_cast<int>(threadIdx.x) % lanes};
  const int teams = sum_threads / lanes;
  for (std::int64_t first = std::int64_t{blockIdx.x} * teams; first < aggregates;
       first += std::int64_t{gridDim.x} * teams) {
    const std::int64_t aggregate = first + threadIdx.x / lanes;
    basis.factor(team, aggregate, aggregate < aggregates);
  }
}

/// The nodes of a warp one by one: use(node) by all its lanes, for each lane whose `mine` holds.
template <class Use>
__device__ void for_flagged(bool mine, std::int64_t node, Use&& use) {
  for (unsigned left = __ballot_sync(~0u, mine); left != 0; left &= left - 1)
    use(shuffle_from(node, __ffs(static_cast<int>(left)) - 1));
}

/// The aggregates of a node with a short list of neighbors: each is loaded once.
template <class Offset, class Sink>
__device__ void unite_short(const NodeUnion<Offset>& nodes, std::int64_t node, int neighbors, const Sink& sink) {
  std::int32_t met[Tuning::short_list + 1];
  met[Tuning::short_list] = nodes.of_node[node];
  const Offset begin = nodes.strong.row_offsets[node];
#pragma unroll
  for (int s = 0; s < Tuning::short_list; ++s)
    met[s] = s < neighbors ? nodes.of_node[nodes.strong.col_indices[begin + s]] : nodes.none;
  std::int64_t count = 0;
  for (std::int32_t last = -1;;) {
    std::int32_t least = nodes.none;
#pragma unroll
    for (const std::int32_t aggregate : met)
      if (aggregate > last && aggregate < least) least = aggregate;
    if (least == nodes.none) break;
    last = least;
    sink.entry(node, count++, last);
  }
  sink.finish(node, count);
}

// Threads: one a node, which seeks the next aggregate among its neighbors' as often as there are some; a warp for one
//   with more than Tuning::long_list of them. Loops end for a whole warp at a time.
// Bytes: the strong graph and the nodes' aggregates once, the caches hold rows for the later rounds; what the sink
//   writes.
// Races: a node is one thread's, or one lane's of the warp that has it.
template <class Offset, class Sink>
__global__ void __launch_bounds__(sum_threads) unite_nodes_kernel(NodeUnion<Offset> nodes, Sink sink, Skip skip) {
  if (skip.now()) return;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  for (std::int64_t first = std::int64_t{blockIdx.x} * sum_threads; first < nodes.strong.rows;
       first += std::int64_t{gridDim.x} * sum_threads) {
    const std::int64_t node = first + threadIdx.x;
    const bool there = node < nodes.strong.rows;
    const std::int64_t neighbors = there ? nodes.strong.row_offsets[node + 1] - nodes.strong.row_offsets[node] : 0;
    const bool is_long = neighbors > Tuning::long_list;
    if (there && neighbors <= Tuning::short_list) {
      unite_short(nodes, node, static_cast<int>(neighbors), sink);
    } else if (there && !is_long) {
      std::int64_t count = 0;
      for (std::int32_t last = -1; (last = nodes.next(node, last, 0, 1)) != nodes.none;)
        sink.entry(node, count++, last);
      sink.finish(node, count);
    }
    for_flagged(is_long, node, [&](std::int64_t of_all) {
      std::int64_t count = 0;
      for (std::int32_t last = -1;;) {
        last = static_cast<std::int32_t>(
            __reduce_min_sync(~0u, static_cast<unsigned>(nodes.next(of_all, last, lane, warp_size))));
        if (last == nodes.none) break;
        if (lane == 0) sink.entry(of_all, count, last);
        ++count;
      }
      if (lane == 0) sink.finish(of_all, count);
    });
  }
}

// Threads: a team of `lanes` neighboring ones a row, each with Tuning::width entries of P, which go along the row of A
//   together; what a row has beyond that is its warp's, as much at a time for each lane.
// Bytes: A, the strong graph and P once, of several candidates the weak part, P0 by the columns of A; the caches hold a
// row of A for all
//   lanes.
// Races: an entry of P is one lane's.
template <class T, class Offset, bool one_candidate>
__global__ void __launch_bounds__(sum_threads)
    smooth_kernel(Smoothing<T, Offset, one_candidate> s, int lanes, Skip skip) {
  if (skip.now()) return;
  constexpr int width = Tuning::width;
  const int lane = static_cast<int>(threadIdx.x) % lanes, warp_lane = static_cast<int>(threadIdx.x) % warp_size;
  const int teams = sum_threads / lanes;
  for (std::int64_t first = std::int64_t{blockIdx.x} * teams; first < s.rows.a.rows;
       first += std::int64_t{gridDim.x} * teams) {
    const std::int64_t row = first + threadIdx.x / lanes;
    const bool there = row < s.rows.a.rows;
    const std::int64_t begin = there ? s.p.row_offsets[row] : 0, end = there ? s.p.row_offsets[row + 1] : 0;
    const std::int64_t beyond = begin + std::int64_t{lanes} * width, mine = begin + std::int64_t{lane} * width;
    if (mine < end) s.template fill<width>(row, mine);
    for_flagged(lane == 0 && beyond < end, row, [&](std::int64_t of_all) {
      const std::int64_t row_begin = s.p.row_offsets[of_all], row_end = s.p.row_offsets[of_all + 1];
      for (std::int64_t at = row_begin + std::int64_t{lanes} * width + std::int64_t{warp_lane} * width; at < row_end;
           at += std::int64_t{warp_size} * width)
        s.template fill<width>(of_all, at);
    });
  }
}

}  // namespace

template <class T, class Offset>
void factor_aggregates(const Cuda& cuda, std::int64_t aggregates, const AggregateBasis<T, Offset>& basis) {
  if (aggregates == 0) return;
  const int lanes = lanes_for(basis.b.rows, aggregates);
  factor_aggregates_kernel<<<grid_blocks(cuda, aggregates, sum_threads / lanes), sum_threads, 0, cuda.stream>>>(
      basis, aggregates, lanes, cuda.skip);
  check(cudaGetLastError());
}

template <class Offset, class Sink>
void unite_nodes(const Cuda& cuda, const NodeUnion<Offset>& nodes, Sink sink) {
  unite_nodes_kernel<<<grid_blocks(cuda, nodes.strong.rows), sum_threads, 0, cuda.stream>>>(nodes, sink, cuda.skip);
  check(cudaGetLastError());
}

template <class T, class Offset, bool one_candidate>
void smooth(const Cuda& cuda, const Smoothing<T, Offset, one_candidate>& smoothing) {
  const int lanes = lanes_for(ceil_div(smoothing.p.nnz, std::int64_t{Tuning::width}), smoothing.p.rows);
  smooth_kernel<<<grid_blocks(cuda, smoothing.rows.a.rows, sum_threads / lanes), sum_threads, 0, cuda.stream>>>(
      smoothing, lanes, cuda.skip);
  check(cudaGetLastError());
}

template class TentativePasses<Cuda>;
template class ProlongatorPatternKernels<std::int32_t, Cuda>;
template class ProlongatorPatternKernels<std::int64_t, Cuda>;
KRILL_INSTANTIATE(CandidateKernels, Cuda);
KRILL_INSTANTIATE_WITH_OFFSETS(ProlongatorKernels, Cuda);

}  // namespace krill::detail
