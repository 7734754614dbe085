// What contractions are made of, on both backends.
#pragma once
#include "sparse/coarsen/contract.hpp"
#include "sparse/convert/convert_passes.hpp"
#include "sparse/convert/lower_entry.hpp"
#include "sparse/convert/structure.hpp"
#include "sparse/core/pass.hpp"

namespace krill::detail {

/// to[e] = the aggregate of the column of entry e; where that is none, the aggregate of its row. Over the rows.
template <class Offset>
struct RenameColumns {
  using Sum = NoSum;
  CsrView<const NoValue, Offset> a;
  const std::int32_t* of_row;
  std::int32_t* to;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t row) const {
    const std::int32_t own = of_row[row];
    for (Offset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) {
      const std::int32_t other = of_row[a.col_indices[k]];
      to[k] = other >= 0 ? other : own;
    }
    return {};
  }
};

/// How rows of C are divided among threads on CUDA. Not varied.
struct ContractTuning {
  static constexpr int held = 32;                  ///< entries of C that a thread sums at a time
  static constexpr std::int64_t max_entries = 96;  ///< of a row for a thread: a longer one has a warp for each 32
};

/// items[row] = warps of a row of C that no single thread has, 0 for others. Over the rows of C.
template <class Offset>
struct CountContractPieces {
  using Sum = NoSum;
  const Offset* c_offsets;
  std::int64_t longest;
  std::int64_t* items;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t row) const {
    const std::int64_t length = c_offsets[row + 1] - c_offsets[row];
    items[row] = length > longest ? (length + 31) / 32 : 0;
    return {};
  }
};

template <class T, class Offset>
struct Contraction {
  CsrView<const T, Offset> a;
  const std::int32_t* of_row;
  const std::int32_t *offsets, *rows;  // of the aggregates
  CsrView<const NoValue, Offset> c;
  T* values;
  const std::int64_t* piece_starts = nullptr;  // on CUDA
  std::int64_t pieces = 0;
};

template <class T, class Offset>
void contract(const Host&, const Contraction<T, Offset>&);
template <class T, class Offset>
void contract(const Cuda&, const Contraction<T, Offset>&);

/// What is compiled for each backend.
template <class Offset, class Where>
struct ContractPasses {
  static constexpr auto list =
      passes<Where, RenameColumns<Offset>, CountContractPieces<Offset>, ConvertOffsets<std::int32_t, Offset>>;
};
template <class Value, class Offset, class Where, class T = kernel_t<Value>>
struct ContractKernels {
  static constexpr auto list = instance<void(const Where&, const Contraction<T, Offset>&)>(contract);
};

}  // namespace krill::detail
