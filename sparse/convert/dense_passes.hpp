// The entry-by-entry parts of conversions to and from dense matrices, written once for both backends.
#pragma once
#include "sparse/convert/dense.hpp"
#include "sparse/convert/magnitude.hpp"
#include "sparse/convert/row_of_entry.hpp"
#include "sparse/core/pass.hpp"
#include "sparse/formats/csr.hpp"
#include "sparse/formats/dense.hpp"

namespace krill::detail {

/// d_ij = 0, padding left out. Over the rows cols entries, as they lie in memory.
template <class T>
struct ZeroDense {
  using Sum = NoSum;
  DenseView<T> d;
  std::int64_t length = 0;
  bool padded = false;

  constexpr bool begin() {
    length = d.line_length();
    padded = d.leading_dimension > length;  // else no division is needed
    return true;
  }
  constexpr NoSum entry(std::int64_t k) const {
    d.values[padded ? k / length * d.leading_dimension + k % length : k] = T{};
    return {};
  }
};

/// d_ij = a_ij for the entries that are stored. Over those: a thread an entry serves rows of any length.
template <class T, class Offset>
struct ScatterCsr {
  using Sum = NoSum;
  CsrView<const T, Offset> a;
  DenseView<T> d;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t k) const {
    d.at(row_of_entry(a.row_offsets, a.rows, k), a.col_indices[k] - static_cast<std::int32_t>(a.base)) = a.values[k];
    return {};
  }
};

/// total = counts[0] + ... + counts[n - 1].
template <class Count>
struct TotalCount {
  using Sum = std::int64_t;
  const Count* counts;
  std::int64_t* total;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t i) const { return counts[i]; }
  constexpr void finish(const Sum& sum) const { *total = sum; }
};

/// What is compiled for each backend.
template <class Value, class Offset, class Where, class T = kernel_t<Value>>
struct DenseKernels {
  static constexpr std::tuple list{
      instance<void(const Where&, const CsrView<const T, Offset>&, const DenseView<T>&)>(csr_to_dense),
      instance<void(const Where&, const DenseView<const T>&, Offset*, std::int64_t*, double)>(count_nonzeros),
      instance<void(const Where&, const DenseView<const T>&, const CsrView<T, Offset>&, double)>(dense_to_csr)};
};

}  // namespace krill::detail
