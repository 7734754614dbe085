#include "sparse/convert/to_banded.hpp"

#include <fmt/format.h>

#include "sparse/convert/banded_passes.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill {

using namespace detail;
namespace {

/// Names the first entry of row p that lies outside.
template <class T, class Offset>
[[noreturn]] void refuse(const Csr<T, Offset>& A, const Banded<T>& to, OutsideBands outside, std::int64_t p) {
  const BandLayout& l = to.layout();
  std::int64_t found = -1;
  A.view(Host{}).for_entries(static_cast<std::int32_t>(p), [&](std::int32_t col, const auto&) {
    const BandPlace place(l, p, col);
    if (found < 0 && !place.in_bands(to.diagonals() / 2) && place.refused(outside)) found = col;
  });
  throw InvalidArgument(fmt::format("banded: a({}, {}) (counted from 0) lies outside of {} diagonals{}", p, found,
                                    to.diagonals(), l.batch > 1 ? " of its system" : ""));
}

}  // namespace

template <class T, class Offset>
void update_values(Context& ctx, const Csr<T, Offset>& A, Banded<T>& to, OutsideBands outside) {
  const BandLayout& l = to.layout();
  require_size("banded: columns of the matrix", A.cols(), A.rows());
  require_size("banded: rows of the matrix", A.rows(), l.unknowns());
  require(!l.padded(), "banded: a layout without padding is needed for a matrix in CSR");
  Array<FirstIndex> refused(1, "first entry outside of bands");
  const bool five = to.diagonals() == 5;
  ctx.dispatch([&](const auto& where) {
    const BandedView<kernel_t<T>> bands{l,
                                        five ? to.band(-2).write(where) : nullptr,
                                        to.band(-1).write(where),
                                        to.band(0).write(where),
                                        to.band(1).write(where),
                                        five ? to.band(2).write(where) : nullptr};
    run_pass(where, A.rows(), FillBands<kernel_t<T>, Offset>{A.view(where), bands, outside, refused.write(where)});
  });
  if (const FirstIndex first = refused.host()[0]; first.value != FirstIndex{}.value)
    refuse(A, to, outside, first.value);
}

template <class T, class Offset>
Banded<T> to_banded(Context& ctx, const Csr<T, Offset>& A, const BandLayout& layout, int diagonals,
                    OutsideBands outside) {
  auto made = Banded<T>::unspecified(layout, diagonals);
  update_values(ctx, A, made, outside);
  return made;
}

template <class T, class Offset>
std::int64_t bandwidth(Context& ctx, const Csr<T, Offset>& A) {
  Array<Greatest> found(1, "bandwidth");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, A.rows(), FindBandwidth<kernel_t<T>, Offset>{A.view(where), found.write(where)});
  });
  return found.host()[0].value;
}

template <class T, class Offset>
struct ToBandedInstances {
  static constexpr std::tuple list{
      instance<std::int64_t(Context&, const Csr<T, Offset>&)>(bandwidth),
      instance<Banded<T>(Context&, const Csr<T, Offset>&, const BandLayout&, int, OutsideBands)>(to_banded),
      instance<void(Context&, const Csr<T, Offset>&, Banded<T>&, OutsideBands)>(update_values)};
};
KRILL_INSTANTIATE_WITH_OFFSETS(ToBandedInstances);

}  // namespace krill
