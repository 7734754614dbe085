#include "sparse/core/pass_host.hpp"
#include "sparse/triangular/triangular_passes.hpp"

namespace krill::detail {

template <class T>
void run_solve(const Host& host, const TriangularSolve<T>& s, std::span<const std::int32_t> levels) {
  if (host.skip.now()) return;
  const T alpha = s.alpha();
  if (levels.empty())
    for (std::int64_t place = 0; place < s.a.rows; ++place) s.solve_place(alpha, place);
  for (std::size_t l = 0; l + 1 < levels.size(); ++l)
    for_each_index(host, levels[l + 1] - levels[l], [&](std::int64_t i) { s.solve_place(alpha, levels[l] + i); });
}

KRILL_INSTANTIATE_WITH_OFFSETS(TriangularPasses, Host);

}  // namespace krill::detail
