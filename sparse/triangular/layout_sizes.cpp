#include "krill/sparse/triangular/layout_sizes.hpp"

#include <vector>

#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/triangular/levels.hpp"
#include "krill/sparse/triangular/triangular_passes.hpp"

namespace krill {

template <class T, class Offset>
TriangleSizes count_triangle(Context& host, const Csr<T, Offset>& A, Fill fill, bool by_level, bool for_cuda) {
  const LevelSchedule schedule =
      by_level ? LevelSchedule(host, A.row_offsets(), A.col_indices(), fill) : LevelSchedule(host, A.rows(), fill);
  const auto order = schedule.order().host();
  const auto a = pattern(host.host_tag(), A);
  TriangleSizes sizes;
  sizes.levels = schedule.levels();
  sizes.row_bytes = sizeof(TriangleRow<Offset>), sizes.task_bytes = sizeof(TriangularTask);
  std::vector<std::int32_t> counts(order.size());
  for (std::size_t place = 0; place < counts.size(); ++place) {
    const std::int32_t i = order[place];
    for (Offset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
      counts[place] += fill == Fill::lower ? a.col_indices[k] < i : a.col_indices[k] > i;
    sizes.entries += counts[place];
  }
  sizes.slices = detail::ceil_div(A.rows(), task_rows);
  std::vector<std::int64_t> tasks(static_cast<std::size_t>(sizes.slices)), places(tasks.size());
  const CountTasks count{A.rows(), for_cuda ? most_shared_entries : 0, counts.data(), tasks.data(), places.data()};
  for (std::int64_t slice = 0; slice < sizes.slices; ++slice) count.entry(slice);
  for (const std::int64_t each : tasks) sizes.tasks += each;
  for (const std::int64_t each : places) sizes.places += each;
  return sizes;
}

#define INSTANTIATE(T, Offset) template TriangleSizes count_triangle(Context&, const Csr<T, Offset>&, Fill, bool, bool);
KRILL_FOR_SCALARS_AND_OFFSETS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
