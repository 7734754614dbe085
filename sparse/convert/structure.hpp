// What conversions and plans ask of a matrix's structure before they make another one of it.
#pragma once
#include "sparse/convert/convert.hpp"
#include "sparse/core/pass.hpp"

namespace krill::detail {

/// The greatest number that was seen.
struct Greatest {
  std::int64_t value = 0;
  constexpr Greatest& operator+=(Greatest other) {
    if (other.value > value) value = other.value;
    return *this;
  }
};

/// greatest = the greatest difference of neighbors in `offsets`. Over the rows.
template <class Offset>
struct LongestRow {
  using Sum = Greatest;
  const Offset* offsets;
  Greatest* greatest;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t i) const { return {static_cast<std::int64_t>(offsets[i + 1] - offsets[i])}; }
  constexpr void finish(const Sum& sum) const { *greatest = sum; }
};

/// The length of the longest row, from row offsets. Waits.
template <class Offset>
std::int64_t longest_row(Context& ctx, const Array<Offset>& row_offsets) {
  Array<Greatest> greatest(1, "longest row");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, row_offsets.size() - 1, LongestRow<Offset>{row_offsets.read(where), greatest.write(where)});
  });
  return greatest.host()[0].value;
}

/// The pattern of A, as the passes want it that do not look at values.
template <class Where, class T, class Offset>
CsrView<const NoValue, Offset> pattern(const Where& where, const Csr<T, Offset>& A) {
  return {A.rows(), A.cols(), A.nnz(), A.row_offsets().read(where), A.col_indices().read(where)};
}

/// Offsets of what `count(where, counts)` counts for each of n things.
template <class Offset, class Count>
Array<Offset> scanned(Context& ctx, std::int64_t n, const char* name, Count&& count) {
  Array<Offset> counts(n, "counts"), offsets(n + 1, name);
  ctx.dispatch([&](const auto& where) {
    count(where, counts.write(where));
    scan_counts(where, n, counts.read(where), offsets.write(where));
  });
  return offsets;
}

}  // namespace krill::detail
