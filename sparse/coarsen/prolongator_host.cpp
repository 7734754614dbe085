#include <algorithm>
#include <vector>

#include "sparse/coarsen/prolongator_passes.hpp"
#include "sparse/convert/reduce_rows_host.hpp"
#include "sparse/core/pass_host.hpp"

namespace krill::detail {
namespace {

constexpr std::int64_t nodes_at_a_time = 256;  // Not varied
constexpr std::ptrdiff_t looked_back = 16;     // aggregates that are not listed twice; not varied

/// The only thread that has an aggregate.
struct ThreadTeam {
  static constexpr int lane = 0, lanes = 1;
  template <class Sum>
  Sum sum(Sum mine) const {
    return mine;
  }
};

}  // namespace

template <class T, class Offset>
void factor_aggregates(const Host& host, std::int64_t aggregates, const AggregateBasis<T, Offset>& basis) {
  if (host.skip.now() || aggregates == 0) return;
  for_blocks(host, aggregates, nodes_at_a_time, std::int64_t{basis.b.rows} * basis.b.cols,
             [&](std::int64_t begin, std::int64_t end) {
               for (std::int64_t aggregate = begin; aggregate < end; ++aggregate)
                 basis.factor(ThreadTeam{}, aggregate, true);
             });
}

template <class Offset, class Sink>
void unite_nodes(const Host& host, const NodeUnion<Offset>& nodes, Sink sink) {
  if (host.skip.now()) return;
  const auto& strong = nodes.strong;
  for_blocks(host, strong.rows, nodes_at_a_time, strong.rows + strong.nnz, [&](std::int64_t begin, std::int64_t end) {
    const Sink mine = sink;
    std::vector<std::int32_t> met;
    for (std::int64_t node = begin; node < end; ++node) {
      met.assign(1, nodes.of_node[node]);
      for (Offset s = strong.row_offsets[node]; s < strong.row_offsets[node + 1]; ++s) {
        const std::int32_t aggregate = nodes.of_node[strong.col_indices[s]];
        const auto last = met.end() - std::min<std::ptrdiff_t>(std::ssize(met), looked_back);
        if (std::find(last, met.end(), aggregate) == met.end()) met.push_back(aggregate);
      }
      std::sort(met.begin(), met.end());
      met.erase(std::unique(met.begin(), met.end()), met.end());
      if (met.back() == nodes.none) met.pop_back();
      for (std::size_t at = 0; at < met.size(); ++at) mine.entry(node, static_cast<std::int64_t>(at), met[at]);
      mine.finish(node, std::ssize(met));
    }
  });
}

template <class T, class Offset, bool one_candidate>
void smooth(const Host& host, const Smoothing<T, Offset, one_candidate>& s) {
  if (host.skip.now()) return;
  for_blocks(host, s.rows.a.rows, nodes_at_a_time, s.rows.a.nnz * s.columns(),
             [&](std::int64_t begin, std::int64_t end) {
               for (std::int64_t row = begin; row < end; ++row) s.fill(row);
             });
}

template class TentativePasses<Host>;
template class ProlongatorPatternKernels<std::int32_t, Host>;
template class ProlongatorPatternKernels<std::int64_t, Host>;
KRILL_INSTANTIATE(CandidateKernels, Host);
KRILL_INSTANTIATE_WITH_OFFSETS(ProlongatorKernels, Host);

}  // namespace krill::detail
