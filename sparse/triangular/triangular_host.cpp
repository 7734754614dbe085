#include "krill/sparse/core/pass_host.hpp"
#include "krill/sparse/triangular/triangular_passes.hpp"

namespace krill {
namespace {

template <class T>
void solve_place(const TriangularSolve<T>& s, T alpha, std::int64_t place) {
  const std::int32_t row = s.a.order[place];
  for (std::int32_t j = 0; j < s.b.cols; ++j) {
    T sum = alpha * s.b.at(row, j);
    s.a.for_entries(place, [&](std::int32_t col, T value) { sum -= value * s.x.at(col, j); });
    s.x.at(row, j) = s.a.inverses ? sum * s.a.inverses[place] : sum;
  }
}

}  // namespace

template <class T>
void run_solve(const Host& host, const TriangularSolve<T>& s, std::span<const std::int32_t> levels) {
  if (host.skip.now()) return;
  const T alpha = s.alpha();
  if (levels.empty())
    for (std::int64_t place = 0; place < s.a.rows; ++place) solve_place(s, alpha, place);
  for (std::size_t l = 0; l + 1 < levels.size(); ++l)
    for_each_index(host, levels[l + 1] - levels[l], [&](std::int64_t i) { solve_place(s, alpha, levels[l] + i); });
}

using Where = Host;

}  // namespace krill

#include "krill/sparse/triangular/triangular_instances.hpp"
