// The passes of solves in parts.
#pragma once
#include "sparse/core/pass.hpp"
#include "sparse/formats/csr.hpp"

namespace krill::detail {

/// inside[k] = 1 for entries between two rows of one part, 0 for others. Over the rows. Moves nnz 16 bytes.
template <class T, class Offset>
struct MarkInside {
  using Sum = NoSum;
  CsrView<const T, Offset> a;
  const std::int32_t* part_of;
  double* inside;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    for (Offset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
      inside[k] = part_of[a.col_indices[k]] == part_of[i] ? 1 : 0;
    return {};
  }
};

/// sums[p] = the sum of r over the rows of part p, rows[offsets[p]], ..., in a fixed order, added in double precision.
/// Moves n (sizeof T + 4) bytes.
template <class T>
void sum_parts(const Host&, std::int32_t parts, const std::int32_t* offsets, const std::int32_t* rows, const T* r,
               T* sums);
template <class T>
void sum_parts(const Cuda&, std::int32_t parts, const std::int32_t* offsets, const std::int32_t* rows, const T* r,
               T* sums);

/// What is compiled for each backend.
template <class Value, class Offset, class Where, class T = kernel_t<Value>>
struct PartPasses {
  static constexpr auto list = passes<Where, MarkInside<T, Offset>>;
};
template <class Value, class Where, class T = kernel_t<Value>>
struct PartSums {
  static constexpr auto sum =
      instance<void(const Where&, std::int32_t, const std::int32_t*, const std::int32_t*, const T*, T*)>(sum_parts);
};

}  // namespace krill::detail
