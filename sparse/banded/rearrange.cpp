#include "sparse/banded/rearrange.hpp"

#include <fmt/format.h>

#include "sparse/core/instantiate.hpp"

namespace krill {

using namespace detail;

template <class T>
void rearrange(Context& ctx, const BandLayout& from_layout, const Array<T>& from, const BandLayout& to_layout,
               Array<T>& to) {
  require_layout("rearrange", from_layout);
  require_layout("rearrange", to_layout);
  require(from_layout.rows == to_layout.rows && from_layout.batch == to_layout.batch,
          fmt::format("rearrange: {} rows of {} systems into {} rows of {}", from_layout.rows, from_layout.batch,
                      to_layout.rows, to_layout.batch));
  require_size("rearrange: from", from.size(), from_layout.extent());
  require_size("rearrange: to", to.size(), to_layout.extent());
  require_disjoint("rearrange: to and from", from, to);
  ctx.dispatch([&](const auto& where) {
    const auto* source = from.read(where);
    auto* target = to_layout.padded() ? to.update(where) : to.write(where);
    run_rearrangement(where, Rearrangement<kernel_t<T>>{from_layout, to_layout, source, target});
  });
}

template <class T>
Banded<T> rearranged(Context& ctx, const Banded<T>& A, const BandLayout& layout) {
  Banded<T> made(layout, A.diagonals());
  for (int k = -A.diagonals() / 2; k <= A.diagonals() / 2; ++k)
    rearrange(ctx, A.layout(), A.band(k), layout, made.band(k));
  return made;
}

template <class T>
struct RearrangeInstances {
  static constexpr std::tuple list{
      instance<void(Context&, const BandLayout&, const Array<T>&, const BandLayout&, Array<T>&)>(rearrange),
      instance<Banded<T>(Context&, const Banded<T>&, const BandLayout&)>(rearranged)};
};
KRILL_INSTANTIATE(RearrangeInstances);

}  // namespace krill
