#include "sparse/convert/to_banded.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "sparse/convert/banded_passes.hpp"
#include "sparse/core/borrow.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill {

using namespace detail;
namespace {

[[noreturn]] void refuse_entry(const BandLayout& l, int diagonals, std::int64_t row, std::int64_t col) {
  throw InvalidArgument(fmt::format("banded: a({}, {}) (counted from 0) lies outside of {} diagonals{}", row, col,
                                    diagonals, l.batch > 1 ? " of its system" : ""));
}

/// Names the first entry of row p that lies outside.
template <class T, class Offset>
[[noreturn]] void refuse(const Csr<T, Offset>& A, const Banded<T>& to, OutsideBands outside, std::int64_t p) {
  const BandLayout& l = to.layout();
  std::int64_t found = -1;
  A.view(Host{}).for_entries(static_cast<std::int32_t>(p), [&](std::int32_t col, const auto&) {
    const BandPlace place(l, p, col);
    if (found < 0 && !place.in_bands(to.diagonals() / 2) && place.refused(outside)) found = col;
  });
  refuse_entry(l, to.diagonals(), p, found);
}

void require_places(const BandLayout& l, std::int64_t rows, std::int64_t cols) {
  require_size("banded: columns of the matrix", cols, rows);
  require_size("banded: rows of the matrix", rows, l.unknowns());
  require(!l.padded(), "banded: a layout without padding is needed for a matrix in CSR or DIA");
}

/// Which band a diagonal of a matrix is, -2 to 2, or none where it may be left out.
std::optional<int> band_of(std::int64_t offset, const BandLayout& l, int most, OutsideBands outside) {
  const std::int64_t steps = offset / l.row_stride, away = steps < 0 ? -steps : steps;
  const bool on_rows = steps * l.row_stride == offset, in_systems = on_rows && away < l.rows;
  if (on_rows && away <= most) return static_cast<int>(steps);
  require(outside == OutsideBands::dropped || (outside == OutsideBands::refused_in_systems && !in_systems),
          fmt::format("banded: the diagonal {} of the matrix is none of {}{}", offset, 2 * most + 1,
                      l.batch > 1 ? " of its systems" : ""));
  return std::nullopt;
}

/// Where each band of a matrix in DIA begins among its values, -1 where it has none.
using BandPlaces = std::array<std::int64_t, 5>;

/// Raises where an entry belongs to a column of another system.
template <class T>
void refuse_between_systems(Context& ctx, const BandLayout& l, int diagonals, const Array<T>& values,
                            const BandPlaces& places) {
  Array<FirstIndex> found(1, "first entry between systems");
  ctx.dispatch([&](const auto& where) {
    const auto* const all = values.read(where);
    const auto band = [&](std::size_t k) { return places[k] < 0 ? nullptr : all + places[k]; };
    const BandedView<const kernel_t<T>> bands{l, band(0), band(1), band(2), band(3), band(4)};
    run_pass(where, l.unknowns(), FindBetweenSystems<kernel_t<T>>{bands, found.write(where)});
  });
  const std::int64_t p = found.host()[0].value;
  if (p == FirstIndex{}.value) return;
  for (std::size_t k = 0; k < places.size(); ++k) {
    const std::int64_t steps = static_cast<std::int64_t>(k) - 2, row = l.row_at(p) + steps;
    if (places[k] >= 0 && (row < 0 || row >= l.rows) && values.host()[static_cast<std::size_t>(places[k] + p)] != T(0))
      refuse_entry(l, diagonals, p, p + steps * l.row_stride);
  }
}

}  // namespace

template <class T, class Offset>
void update_values(Context& ctx, const Csr<T, Offset>& A, Banded<T>& to, OutsideBands outside) {
  const BandLayout& l = to.layout();
  require_places(l, A.rows(), A.cols());
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

template <class T>
Banded<T> to_banded(Context& ctx, Dia<T>&& A, const BandLayout& layout, int diagonals, OutsideBands outside) {
  require_layout("banded", layout);
  require_places(layout, A.rows(), A.cols());
  require(diagonals == 3 || diagonals == 5, fmt::format("banded: {} diagonals, 3 or 5 are expected", diagonals));
  require(A.hack_rows() == 0, "banded: diagonals of hacks of rows cannot be bands; bring the matrix into CSR or DIA");
  const int most = diagonals / 2;
  const std::int64_t n = layout.unknowns();
  BandPlaces places{-1, -1, -1, -1, -1};
  const auto offsets = A.offsets().host();
  for (std::size_t d = 0; d < offsets.size(); ++d)
    if (const auto band = band_of(offsets[d], layout, most, outside))
      places[static_cast<std::size_t>(*band + 2)] = static_cast<std::int64_t>(d) * n;
  if (layout.batch > 1 && outside == OutsideBands::refused)
    refuse_between_systems(ctx, layout, diagonals, A.values(), places);
  const auto owner = std::make_shared<Array<T>>(std::move(A.values()));
  std::array<Array<T>, 5> bands;
  ctx.dispatch([&](const auto& where) {
    T* const values = reinterpret_cast<T*>(owner->update(where));
    for (auto k = static_cast<std::size_t>(2 - most); k <= static_cast<std::size_t>(2 + most); ++k)
      bands[k] = places[k] < 0 ? Array<T>(std::vector<T>(static_cast<std::size_t>(n)), "diagonal of zeros")
                               : borrow(where, values + places[k], n, "diagonal");
  });
  return Banded<T>(layout, diagonals, std::move(bands), owner);
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

template <class T>
struct AdoptedInstances {
  static constexpr auto list = instance<Banded<T>(Context&, Dia<T>&&, const BandLayout&, int, OutsideBands)>(to_banded);
};
KRILL_INSTANTIATE(AdoptedInstances);

}  // namespace krill
