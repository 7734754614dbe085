// The row view that hides small entries, and what is compiled of it for both backends.
#pragma once
#include "sparse/convert/dense_passes.hpp"
#include "sparse/convert/magnitude.hpp"
#include "sparse/convert/prune.hpp"
#include "sparse/convert/to_csr_passes.hpp"

namespace krill::detail {

/// A row view without its entries at or below the threshold.
template <class View>
struct Above {
  using Value = typename View::Value;
  View a;
  double threshold;

  constexpr std::int32_t stored_rows() const { return a.stored_rows(); }
  constexpr std::int32_t row_of(std::int32_t s) const { return a.row_of(s); }
  template <class F>
  constexpr void for_entries(std::int32_t s, F&& f) const {
    a.for_entries(s, [&](std::int32_t col, const Value& value) {
      if (is_above(value, threshold)) f(col, value);
    });
  }
};

/// What is compiled for each backend.
template <class Value, class Offset, class Where, class T = kernel_t<Value>>
struct PruneKernels {
  using View = Above<CsrView<const T, Offset>>;
  static constexpr auto list = passes<Where, CountEntries<View, std::int32_t>, CountEntries<View, std::int64_t>,
                                      TotalCount<std::int32_t>, FillCsr<View, Offset>>;
  static constexpr auto count =
      instance<void(const Where&, const CsrView<const T, Offset>&, double, std::int32_t*, std::int64_t*)>(count_above);
};
template <class Value, class Where, class T = kernel_t<Value>>
struct RankKernels {
  static constexpr auto list =
      instance<void(const Where&, const ValueLines<T>&, std::int64_t, double*)>(threshold_of_rank);
};

}  // namespace krill::detail

namespace krill {

template <class T, class Offset, class Where>
void count_above(const Where& where, const CsrView<const T, Offset>& a, double threshold, std::int32_t* counts,
                 std::int64_t* total) {
  using View = detail::Above<CsrView<const T, Offset>>;
  run_pass(where, a.rows, detail::CountEntries<View, std::int32_t>{{a, threshold}, counts});
  run_pass(where, a.rows, detail::TotalCount<std::int32_t>{counts, total});
}

}  // namespace krill
