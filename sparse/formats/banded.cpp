#include "sparse/formats/banded.hpp"

#include <fmt/format.h>

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
  const bool rows_inside = l.row_stride <= l.batch_stride;  // a line is a system
  const std::int64_t inner = rows_inside ? l.row_stride : l.batch_stride;
  const std::int64_t outer = rows_inside ? l.batch_stride : l.row_stride;
  const std::int32_t length = rows_inside ? l.rows : l.batch, lines = rows_inside ? l.batch : l.rows;
  const double size = double(inner) * (length - 1) + double(outer) * (lines - 1) + 1;
  require(size <= max_extent, fmt::format("{}: {} rows of {} systems with strides {} and {} are more than memory has",
                                          what, l.rows, l.batch, l.row_stride, l.batch_stride));
  const std::int64_t least = inner * (length - 1) + 1;
  require(lines == 1 || outer >= least, fmt::format("{}: {} lie {} entries apart, at least {} are needed", what,
                                                    rows_inside ? "systems" : "rows", outer, least));
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
const Array<T>& Banded<T>::band(int k) const {
  const int most = diagonals_ / 2;
  require(-most <= k && k <= most, fmt::format("banded: diagonal {}, {} to {} are there", k, -most, most));
  const Array<T>* const bands[] = {&ds_, &dl_, &d_, &du_, &dw_};
  return *bands[k + 2];
}

template <class T>
Banded<T> Banded<T>::from_csr(const Csr<T>& A, int diagonals) {
  require_size("banded: columns of the matrix", A.cols(), A.rows());
  Banded made(BandLayout::single(A.rows()), diagonals);
  const auto view = A.view(Host{});
  const int most = diagonals / 2;
  kernel_t<T>* bands[5] = {};
  for (int k = -most; k <= most; ++k) bands[k + 2] = made.band(k).update(Host{});
  for (std::int32_t i = 0; i < A.rows(); ++i)
    view.for_entries(i, [&](std::int32_t col, const kernel_t<T>& value) {
      const std::int64_t k = std::int64_t{col} - i;
      require(-most <= k && k <= most,
              fmt::format("banded: a({}, {}) (counted from 0) lies outside of {} diagonals", i, col, diagonals));
      bands[k + 2][i] = value;
    });
  return made;
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
