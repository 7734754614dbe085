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
  static constexpr int held = 32;  ///< entries of C that a thread sums at a time
  /// Of rows that are found and summed at once, before C has its memory.
  static constexpr std::int64_t max_found_bytes = std::int64_t{1} << 31;
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

/// What is found of the rows of C. Rows without room have more entries than they may have.
struct FoundRows {
  std::int64_t entries = 0;
  std::int32_t longest = 0, without_room = 0;

  constexpr FoundRows& operator+=(const FoundRows& other) {
    entries += other.entries, without_room += other.without_room;
    if (other.longest > longest) longest = other.longest;
    return *this;
  }
};

/// Rows of C whose entries are not known yet, on CUDA. Entry e of a row stands at row + e count of `columns`, `values`.
template <class T, class Offset>
struct ContractionRows {
  CsrView<const T, Offset> a;
  const std::int32_t* of_row;
  std::int32_t count;                  // of the aggregates
  const std::int32_t *offsets, *rows;  // of the aggregates
  int room;                            // entries that a row may have, ContractTuning::held at most
  std::int32_t* columns;
  T* values;
  Offset* counts;  // entries of each row
  FoundRows* found;
};

/// Columns, values and counts of all rows, and what was found of them.
template <class T, class Offset>
void find_rows(const Cuda&, const ContractionRows<T, Offset>&);
/// The rows side by side, from their offsets on.
template <class T, class Offset>
void pack_rows(const Cuda&, const ContractionRows<T, Offset>&, const Offset* row_offsets, std::int32_t* col_indices,
               T* values);

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
