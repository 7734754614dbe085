#include "sparse/banded/periodic.hpp"

#include <fmt/format.h>

#include "sparse/banded/periodic_passes.hpp"
#include "sparse/banded/plan_parts.hpp"
#include "sparse/core/made_for.hpp"

namespace krill {

using namespace detail;
namespace {

template <class T>
BandLayout inner_layout(const Banded<T>& A) {
  BandLayout inner = A.layout();
  require(inner.rows >= A.diagonals(),
          fmt::format("periodic banded plan: {} rows with {} diagonals, at least as many are needed", inner.rows,
                      A.diagonals()));
  inner.rows -= A.diagonals() / 2;
  return inner;
}

/// use(std::integral_constant<int, half>).
template <class Use>
void with_half(int diagonals, Use&& use) {
  if (diagonals == 3)
    use(std::integral_constant<int, 1>());
  else
    use(std::integral_constant<int, 2>());
}

template <int half, class T, class Where>
PeriodicBands<kernel_t<T>, half> periodic_bands(const Where& where, const Banded<T>& A) {
  PeriodicBands<kernel_t<T>, half> bands{A.layout(), {}};
  for (int k = -half; k <= half; ++k) bands.band[k + half] = A.band(k).read(where);
  return bands;
}

}  // namespace

template <class T>
PeriodicBandedPlan<T>::PeriodicBandedPlan(Context& ctx, const Banded<T>& A, BandedMethod method)
    : A_(A),
      inner_(ctx, inner_layout(A), A.diagonals(), method),
      corner_(std::int64_t{A.diagonals() / 2} * (A.diagonals() / 2) * A.layout().batch, "border of periodic systems"),
      zero_rows_(std::vector<std::int32_t>(static_cast<std::size_t>(A.layout().batch), no_row), "rows of zero pivots") {
  for (int c = 0; c < A.diagonals() / 2; ++c) {
    border_.emplace_back(A.layout().extent(), "border of periodic systems");
    ctx.dispatch([&](const auto& where) { border_.back().write(where); });
  }
  update(ctx);
}

template <class T>
void PeriodicBandedPlan<T>::update(Context& ctx) {
  const BandLayout& l = A_.layout();
  with_half(A_.diagonals(), [&]<int half>(std::integral_constant<int, half>) {
    using K = kernel_t<T>;
    ctx.dispatch([&](const auto& where) {
      FillBorder<K, half> fill{periodic_bands<half>(where, A_), {}};
      for (int c = 0; c < half; ++c) fill.border[c] = border_[static_cast<std::size_t>(c)].update(where);
      run_pass(where, std::int64_t{l.rows - half} * l.batch, fill);
    });
    for (Array<T>& column : border_) inner_.run(ctx, l, A_, column, column);
    ctx.dispatch([&](const auto& where) {
      InvertCorner<K, half> invert{periodic_bands<half>(where, A_), {}, {}, {}, {}};
      for (int c = 0; c < half; ++c) invert.border[c] = border_[static_cast<std::size_t>(c)].read(where);
      invert.inner_zero_rows = inner_.zero_rows_.read(where);
      invert.corner = corner_.write(where), invert.zero_rows = zero_rows_.write(where);
      run_pass(where, l.batch, invert);
    });
  });
}

template <class T>
void PeriodicBandedPlan<T>::solve(Context& ctx, const Array<T>& b, Array<T>& x) {
  const BandLayout& l = A_.layout();
  require_size("periodic banded plan: b", b.size(), l.extent());
  require_size("periodic banded plan: x", x.size(), l.extent());
  inner_.run(ctx, l, A_, b, x);
  with_half(A_.diagonals(), [&]<int half>(std::integral_constant<int, half>) {
    using K = kernel_t<T>;
    ctx.dispatch([&](const auto& where) {
      const PeriodicBands<K, half> bands = periodic_bands<half>(where, A_);
      const auto* corner = corner_.read(where);
      const auto* from = b.read(where);
      auto* to = x.update(where);
      run_pass(where, l.batch, SolveCorner<K, half>{bands, corner, from, to});
      SubtractBorder<K, half> subtract{bands, {}, to};
      for (int c = 0; c < half; ++c) subtract.border[c] = border_[static_cast<std::size_t>(c)].read(where);
      run_pass(where, std::int64_t{l.rows - half} * l.batch, subtract);
    });
  });
}

template <class T>
std::optional<BandedZeroPivot> PeriodicBandedPlan<T>::zero_pivot() const {
  return first_zero_pivot(zero_rows_);
}

template <class T>
std::size_t PeriodicBandedPlan<T>::bytes() const {
  std::size_t sum = inner_.bytes() + bytes_of(corner_, zero_rows_);
  for (const Array<T>& column : border_) sum += bytes_of(column);
  return sum;
}

KRILL_INSTANTIATE(PeriodicBandedPlan);

}  // namespace krill
