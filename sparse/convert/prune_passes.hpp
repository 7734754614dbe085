// What the kernels of pruning are compiled of, for both backends.
#pragma once
#include <limits>

#include "sparse/convert/convert.hpp"
#include "sparse/convert/kept.hpp"
#include "sparse/convert/magnitude.hpp"
#include "sparse/convert/prune.hpp"

namespace krill::detail {

/// Sizes that leave no doubt: infinite above the threshold, 0 below, and of those that are equal to it the greater the
/// earlier they stand. Over the entries.
struct BreakTies {
  using Sum = NoSum;
  std::int64_t all;
  const double* threshold;
  double* sizes;
  double least = 0;

  constexpr bool begin() { return least = *threshold, true; }
  constexpr NoSum entry(std::int64_t k) const {
    const double size = sizes[k];
    if (size > least)
      sizes[k] = std::numeric_limits<double>::infinity();
    else
      sizes[k] = size < least || size == 0 ? 0 : static_cast<double>(all - k);
    return {};
  }
};

/// What is compiled for each backend.
template <class Offset, class Where>
struct KeptPasses {
  static constexpr auto list = passes<Where, KeptOffsets<Offset>, CountKept<Offset>, BreakTies>;
};
template <class Value, class Offset, class Where, class T = kernel_t<Value>>
struct CountAboveKernels {
  static constexpr auto list =
      instance<void(const Where&, const CsrView<const T, Offset>&, double, std::int32_t*, std::int64_t*)>(count_above);
};
template <class Value, class Where, class T = kernel_t<Value>>
struct PruneKernels {
  static constexpr std::tuple list{
      instance<void(const Where&, const ValueLines<T>&, std::int64_t, double*)>(threshold_of_rank),
      instance<void(const Where&, std::int64_t, const T*, double, KeptWord*, std::int64_t*)>(mark_above),
      instance<void(const Where&, std::int64_t, const Kept&, const EntryList<const T>&, const EntryList<T>&)>(
          copy_kept)};
};

}  // namespace krill::detail

namespace krill {

template <class T, class Offset, class Where>
void count_above(const Where& where, const CsrView<const T, Offset>& a, double threshold, std::int32_t* counts,
                 std::int64_t* total) {
  using detail::Kept;
  const std::int64_t tiles = Kept::tiles(a.nnz);
  Frame frame(where);
  auto* const words = frame.take<detail::KeptWord>(static_cast<std::size_t>(tiles * Kept::words));
  auto* const in_tiles = frame.take<std::int64_t>(static_cast<std::size_t>(tiles));
  auto* const starts = frame.take<std::int64_t>(static_cast<std::size_t>(tiles + 1));
  detail::mark_above(where, a.nnz, a.values, threshold, words, in_tiles);
  scan_counts(where, tiles, in_tiles, starts);
  run_pass(where, a.rows, detail::CountKept<Offset>{{words, starts}, a.row_offsets, counts, total});
}

}  // namespace krill
