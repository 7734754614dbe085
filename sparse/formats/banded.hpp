// Tridiagonal and pentadiagonal matrices, one or a batch of them.
#pragma once
#include <array>
#include <memory>

#include "sparse/formats/csr.hpp"

namespace krill {

/// Where row i of system j lies in each band, in b and in x. Memory that no row lies in is padding. Systems lie
/// `batch_stride` entries apart, or, where `group` is not 0, so many of them do, and such groups lie `group_stride`
/// apart: the lines of a grid in its second direction are of that kind.
struct BandLayout {
  std::int32_t rows = 0, batch = 0;
  std::int64_t row_stride = 1, batch_stride = 0;
  std::int32_t group = 0;
  std::int64_t group_stride = 0;

  /// A system's rows one after the other, systems `stride` entries apart; 0: rows of them.
  static BandLayout strided(std::int32_t rows, std::int32_t batch, std::int64_t stride = 0) {
    return {rows, batch, 1, stride ? stride : rows};
  }
  /// Row i of all systems one after the other, rows `stride` entries apart; 0: batch of them.
  static BandLayout interleaved(std::int32_t rows, std::int32_t batch, std::int64_t stride = 0) {
    return {rows, batch, stride ? stride : batch, 1};
  }
  static BandLayout single(std::int32_t rows) { return strided(rows, 1); }

  /// One system for each line of nx, ny or nz points (direction 0, 1 or 2) of a grid whose point (x, y, z) lies at
  /// x + nx (y + ny z).
  static BandLayout lines(std::int32_t nx, std::int32_t ny, std::int32_t nz, int direction) {
    if (direction == 0) return strided(nx, ny * nz);
    if (direction == 2) return interleaved(nz, nx * ny);
    return {ny, nx * nz, nx, 1, nx, std::int64_t{nx} * ny};
  }

  constexpr std::int64_t at(std::int64_t i, std::int64_t j) const {
    if (group == 0) return i * row_stride + j * batch_stride;
    return i * row_stride + j % group * batch_stride + j / group * group_stride;
  }
  /// The row, in its system, that lies at a place, where there is no padding.
  constexpr std::int64_t row_at(std::int64_t place) const { return place / row_stride % rows; }
  constexpr bool is_interleaved() const { return batch_stride < row_stride; }
  /// Entries from the first to the last.
  constexpr std::int64_t extent() const { return at(rows - 1, batch - 1) + 1; }
  constexpr std::int64_t unknowns() const { return std::int64_t{rows} * batch; }
  constexpr bool padded() const { return extent() > unknowns(); }
  /// The same order without padding.
  constexpr BandLayout compact() const {
    return is_interleaved() ? BandLayout{rows, batch, batch, 1} : BandLayout{rows, batch, 1, rows};
  }
  friend constexpr bool operator==(const BandLayout&, const BandLayout&) = default;
};

/// Raises InvalidArgument where a size is below 1, lines overlap, the extent passes 2^59 entries, or the last group is
/// not full.
void require_layout(std::string_view what, const BandLayout&);

/// What kernels see: a(i, i + k) lies in the bands ds, dl, d, du, dw for k = -2 to 2, each at layout.at(i, j). ds and
/// dw are null where there are three bands. Places that are outside of a matrix (the first of dl, the last of du, the
/// first two of ds, the last two of dw) are not read.
template <class T>
struct BandedView {
  BandLayout layout;
  T *ds = nullptr, *dl = nullptr, *d = nullptr, *du = nullptr, *dw = nullptr;
};

/// A batch of square matrices of three or five diagonals.
template <class T>
class Banded {
 public:
  using Value = T;

  /// Bands of zeros. Raises InvalidArgument, also where `diagonals` is not 3 or 5.
  explicit Banded(const BandLayout&, int diagonals = 3);
  /// Bands whose entries are unspecified. Raises as those of zeros.
  static Banded unspecified(const BandLayout&, int diagonals);
  /// Bands that are there, such as Array::borrow_host() and borrow_device() of the caller's memory; ds and dw of five
  /// diagonals. Raises InvalidArgument, and ShapeMismatch where a band has another length than the layout's extent.
  Banded(const BandLayout&, Array<T> dl, Array<T> d, Array<T> du);
  Banded(const BandLayout&, Array<T> ds, Array<T> dl, Array<T> d, Array<T> du, Array<T> dw);
  /// Bands ds to dw, of which three diagonals leave the first and the last empty, in memory that `owner` keeps.
  Banded(const BandLayout&, int diagonals, std::array<Array<T>, 5> bands, std::shared_ptr<const void> owner);
  /// System j, on the host: every place of the bands that is inside of the matrix is an entry.
  Csr<T> to_csr(std::int32_t j = 0) const;

  const BandLayout& layout() const { return layout_; }
  int diagonals() const { return diagonals_; }
  std::size_t bytes() const { return detail::bytes_of(ds_, dl_, d_, du_, dw_); }

  /// a(i, i + k) of all systems, k = -2 to 2 (-1 to 1 where there are three). Raises InvalidArgument.
  const Array<T>& band(int k) const;
  Array<T>& band(int k) { return const_cast<Array<T>&>(std::as_const(*this).band(k)); }

  template <class Where>
  BandedView<const kernel_t<T>> view(const Where& where) const {
    const bool five = diagonals_ == 5;
    return {layout_,         five ? ds_.read(where) : nullptr, dl_.read(where), d_.read(where),
            du_.read(where), five ? dw_.read(where) : nullptr};
  }

 private:
  void require_bands() const;

  BandLayout layout_;
  int diagonals_;
  std::shared_ptr<const void> owner_;  // of memory that bands borrow, or none
  Array<T> ds_, dl_, d_, du_, dw_;
};

}  // namespace krill
