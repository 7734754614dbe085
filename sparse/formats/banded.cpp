#include "sparse/formats/banded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sparse/core/instantiate.hpp"

namespace krill {
namespace {

constexpr double max_extent = 0x1p59;  // so that bytes of 16 each can be counted

/// The places of a diagonal, zeros all.
template <class T>
Array<T> zero_band(std::int64_t extent, const char* name) {
  return Array<T>(std::vector<T>(static_cast<std::size_t>(extent)), name);
}

void require_diagonals(int diagonals) {
  require(diagonals == 3 || diagonals == 5, fmt::format("banded: {} diagonals, 3 or 5 are expected", diagonals));
}

}  // namespace

void require_layout(std::string_view what, const BandLayout& l) {
  require(l.rows >= 1, fmt::format("{}: {} rows, at least 1 is needed", what, l.rows));
  require(l.batch >= 1, fmt::format("{}: a batch of {}, at least 1 is needed", what, l.batch));
  require(l.row_stride >= 1 && l.batch_stride >= 1,
          fmt::format("{}: strides {} of rows and {} of systems, both must be positive", what, l.row_stride,
                      l.batch_stride));
  struct Run {
    std::string_view of;
    std::int64_t stride, count;
  };
  std::array<Run, 3> runs{Run{"rows", l.row_stride, l.rows}, Run{"systems", l.batch_stride, l.batch},
                          Run{"groups", l.group_stride, 1}};
  if (l.group != 0) {
    require(
        l.group > 0 && l.batch % l.group == 0 && l.group_stride > 0,
        fmt::format("{}: {} systems in groups of {}, {} entries apart: groups must be full, and their stride positive",
                    what, l.batch, l.group, l.group_stride));
    runs[1].count = l.group, runs[2].count = l.batch / l.group;
  }
  std::ranges::stable_sort(runs, {}, &Run::stride);
  double size = 1;
  std::int64_t reach = 1;
  for (const Run& run : runs) {
    if (run.count == 1) continue;
    require(run.stride >= reach,
            fmt::format("{}: {} lie {} entries apart, at least {} are needed", what, run.of, run.stride, reach));
    size += double(run.stride) * double(run.count - 1);
    require(size <= max_extent, fmt::format("{}: {} rows of {} systems with strides {} and {} are more than memory has",
                                            what, l.rows, l.batch, l.row_stride, l.batch_stride));
    reach += run.stride * (run.count - 1);
  }
}

template <class T>
Banded<T>::Banded(const BandLayout& layout, int diagonals) : layout_(layout), diagonals_(diagonals) {
  require_layout("banded", layout);
  require_diagonals(diagonals);
  const std::int64_t n = layout.extent(), outer = diagonals == 5 ? n : 0;
  ds_ = zero_band<T>(outer, "ds"), dw_ = zero_band<T>(outer, "dw");
  dl_ = zero_band<T>(n, "dl"), d_ = zero_band<T>(n, "d"), du_ = zero_band<T>(n, "du");
}

template <class T>
Banded<T> Banded<T>::unspecified(const BandLayout& layout, int diagonals) {
  require_layout("banded", layout);
  require_diagonals(diagonals);
  const auto band = [&](const char* name) { return Array<T>(layout.extent(), name); };
  return diagonals == 5 ? Banded(layout, band("ds"), band("dl"), band("d"), band("du"), band("dw"))
                        : Banded(layout, band("dl"), band("d"), band("du"));
}

template <class T>
Banded<T>::Banded(const BandLayout& layout, Array<T> dl, Array<T> d, Array<T> du)
    : layout_(layout), diagonals_(3), dl_(std::move(dl)), d_(std::move(d)), du_(std::move(du)) {
  require_bands();
}
template <class T>
Banded<T>::Banded(const BandLayout& layout, Array<T> ds, Array<T> dl, Array<T> d, Array<T> du, Array<T> dw)
    : layout_(layout),
      diagonals_(5),
      ds_(std::move(ds)),
      dl_(std::move(dl)),
      d_(std::move(d)),
      du_(std::move(du)),
      dw_(std::move(dw)) {
  require_bands();
}
template <class T>
Banded<T>::Banded(const BandLayout& layout, int diagonals, std::array<Array<T>, 5> bands,
                  std::shared_ptr<const void> owner)
    : layout_(layout),
      diagonals_(diagonals),
      owner_(std::move(owner)),
      ds_(std::move(bands[0])),
      dl_(std::move(bands[1])),
      d_(std::move(bands[2])),
      du_(std::move(bands[3])),
      dw_(std::move(bands[4])) {
  require_diagonals(diagonals);
  require_bands();
}
template <class T>
void Banded<T>::require_bands() const {
  require_layout("banded", layout_);
  for (int k = -diagonals_ / 2; k <= diagonals_ / 2; ++k)
    require_size(fmt::format("banded: diagonal {}", k), band(k).size(), layout_.extent());
}

template <class T>
const Array<T>& Banded<T>::band(int k) const {
  const int most = diagonals_ / 2;
  require(-most <= k && k <= most, fmt::format("banded: diagonal {}, {} to {} are there", k, -most, most));
  const Array<T>* const bands[] = {&ds_, &dl_, &d_, &du_, &dw_};
  return *bands[k + 2];
}

template <class T>
Csr<T> Banded<T>::to_csr(std::int32_t j) const {
  require(0 <= j && j < layout_.batch, fmt::format("banded: system {} of a batch of {}", j, layout_.batch));
  const int most = diagonals_ / 2;
  std::vector<std::int32_t> offsets{0}, columns;
  std::vector<T> values;
  for (std::int64_t i = 0; i < layout_.rows; ++i) {
    for (int k = -most; k <= most; ++k) {
      if (i + k < 0 || i + k >= layout_.rows) continue;
      columns.push_back(static_cast<std::int32_t>(i + k));
      values.push_back(band(k).host()[static_cast<std::size_t>(layout_.at(i, j))]);
    }
    offsets.push_back(static_cast<std::int32_t>(columns.size()));
  }
  return {layout_.rows, Array<std::int32_t>(std::move(offsets)), Array<std::int32_t>(std::move(columns)),
          Array<T>(std::move(values))};
}

KRILL_INSTANTIATE(Banded);

}  // namespace krill
