#include "sparse/triangular/layout_sizes.hpp"

#include <numeric>
#include <vector>

#include "sparse/core/instantiate.hpp"
#include "sparse/triangular/triangular_passes.hpp"

namespace krill::detail {

template <class T, class Offset>
TriangleSizes count_triangle(Context& host, const Csr<T, Offset>& A, const LevelSchedule& schedule, bool for_cuda) {
  const auto order = schedule.order().host();
  const auto a = pattern(host.host_tag(), A);
  TriangleSizes sizes;
  std::vector<std::int32_t> counts(order.size());
  for (std::size_t place = 0; place < counts.size(); ++place) {
    const std::int32_t i = order[place];
    for (Offset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
      counts[place] += schedule.fill() == Fill::lower ? a.col_indices[k] < i : a.col_indices[k] > i;
  }
  if (!for_cuda) {
    sizes.places = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    return sizes;
  }
  sizes.slices = ceil_div(A.rows(), task_rows);
  std::vector<std::int64_t> tasks(static_cast<std::size_t>(sizes.slices)), places(tasks.size());
  const CountTasks count{A.rows(), counts.data(), tasks.data(), places.data()};
  for (std::int64_t slice = 0; slice < sizes.slices; ++slice) count.entry(slice);
  for (const std::int64_t each : tasks) sizes.tasks += each;
  for (const std::int64_t each : places) sizes.places += each;
  return sizes;
}

template <class T, class Offset>
struct LayoutSizesInstances {
  static constexpr auto list =
      instance<TriangleSizes(Context&, const Csr<T, Offset>&, const LevelSchedule&, bool)>(count_triangle);
};
KRILL_INSTANTIATE_WITH_OFFSETS(LayoutSizesInstances);

}  // namespace krill::detail
