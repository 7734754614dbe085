#include "sparse/parallel/halo_exchange.hpp"

#include "sparse/core/instantiate.hpp"
#include "sparse/parallel/border_passes.hpp"

namespace krill {

using namespace detail;
namespace {

void start_on(const Host& host, Team& team, std::span<const Team::Outgoing> out, std::span<const Team::Incoming> in) {
  if (!host.skip.now()) team.start(out, in);  // as on all ranks
}
[[maybe_unused]] void start_on(const Cuda& cuda, Team& team, std::span<const Team::Outgoing> out,
                               std::span<const Team::Incoming> in) {
  team.start_on(cuda, out, in);
}
void finish_on(const Host& host, Team& team) {
  if (!host.skip.now()) team.finish();
}
[[maybe_unused]] void finish_on(const Cuda& cuda, Team& team) { team.finish_on(cuda); }

}  // namespace

template <class T>
HaloExchange<T>::HaloExchange(Team& team, HaloPlan plan)
    : team_(team),
      plan_(std::move(plan)),
      packed_rows_(std::vector(plan_.packed_rows().begin(), plan_.packed_rows().end()), "rows for other ranks"),
      ghosts_(std::ssize(plan_.ghosts()), "ghosts"),
      packed_(plan_.packs() ? plan_.sent() : 0, "entries for other ranks") {}

template <class T>
void HaloExchange<T>::start(Context& ctx, const Array<T>& x) const {
  using K = kernel_t<T>;
  require_size("halo: x", x.size(), plan_.own());
  ctx.dispatch([&](const auto& where) {
    const K* own = x.read(where);
    K* packed = plan_.packs() ? packed_.write(where) : nullptr;
    if (packed) run_pass(where, packed_.size(), TakePlaces<K>{packed_rows_.read(where), own, packed});
    const auto [out, in] = plan_.messages<K>(own, packed, ghosts_.write(where));
    start_on(where, team_, out, in);
  });
}

template <class T>
void HaloExchange<T>::finish(Context& ctx) const {
  ctx.dispatch([&](const auto& where) { finish_on(where, team_); });
}

template <class T>
std::size_t HaloExchange<T>::bytes() const {
  return bytes_of(packed_rows_, ghosts_, packed_);
}

KRILL_INSTANTIATE(HaloExchange);

}  // namespace krill
