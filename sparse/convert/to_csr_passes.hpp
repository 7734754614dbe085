// The passes that make CSR of whatever is stored by rows.
#pragma once
#include "sparse/core/pass.hpp"
#include "sparse/formats/bsr.hpp"
#include "sparse/formats/csr.hpp"

namespace krill::detail {

/// A row view without its zeros: those that fill up blocks are no entries of a product.
template <class View>
struct Nonzeros {
  using Value = typename View::Value;
  View a;
  std::int32_t cols;

  constexpr std::int32_t stored_rows() const { return a.stored_rows(); }
  constexpr std::int32_t row_of(std::int32_t s) const { return a.row_of(s); }
  template <class F>
  constexpr void for_entries(std::int32_t s, F&& f) const {
    a.for_entries(s, [&](std::int32_t col, const Value& value) {
      if (!(value == Value(0))) f(col, value);
    });
  }
};

/// counts[row] = entries of stored row s. Over the stored rows of any row view.
template <class View, class Offset>
struct CountEntries {
  using Sum = NoSum;
  View a;
  Offset* counts;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t s) const {
    Offset count = 0;
    a.for_entries(static_cast<std::int32_t>(s), [&](std::int32_t, const auto&) { ++count; });
    counts[a.row_of(static_cast<std::int32_t>(s))] = count;
    return {};
  }
};

/// The entries of stored row s from row_offsets[row] on. Over the stored rows of any row view.
template <class View, class Offset>
struct FillCsr {
  using Sum = NoSum;
  View from;
  CsrView<typename View::Value, Offset> to;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t s) const {
    Offset at = to.row_offsets[from.row_of(static_cast<std::int32_t>(s))];
    from.for_entries(static_cast<std::int32_t>(s), [&](std::int32_t col, const auto& value) {
      to.col_indices[at] = col;
      to.values[at++] = value;
    });
    return {};
  }
};

/// Where the values of a row's entries lie among those of blocks, in the order in which for_entries() hands them over.
template <class Offset>
struct PositionsInBlocks {
  using Sum = NoSum;
  BsrView<const NoValue> a;
  const Offset* row_offsets;
  Offset* positions;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    const std::int64_t block_row = i / a.blocks.row_dim;
    const auto row = static_cast<std::int32_t>(i % a.blocks.row_dim);
    Offset at = row_offsets[i];
    for (std::int32_t k = a.row_begins[block_row]; k < a.row_ends[block_row]; ++k)
      for (std::int32_t j = 0; j < a.blocks.col_dim && at < row_offsets[i + 1]; ++j)
        positions[at++] = static_cast<Offset>(k * a.blocks.size() + a.blocks.at(row, j));
    return {};
  }
};

/// col_indices[k] = col for the places behind the last row's entries. Over all places.
struct FillTail {
  using Sum = NoSum;
  const std::int64_t* row_offsets;
  std::int32_t rows, col;
  std::int32_t* col_indices;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t k) const {
    if (k >= row_offsets[rows]) col_indices[k] = col;
    return {};
  }
};

}  // namespace krill::detail
