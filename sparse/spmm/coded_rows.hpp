// A coded matrix as kernels of products with many columns read it: by rows, whatever the codes are.
#pragma once
#include "sparse/spmm/spmm.hpp"
#include "sparse/spmv/packed_passes.hpp"

namespace krill::detail {

/// The codes are looked at for each entry, whose work for all columns hides that, so that kernels are compiled once.
template <class T>
struct CodedRows {
  using Value = std::remove_const_t<T>;
  PackedView<T> a;

  constexpr std::int32_t stored_rows() const { return a.rows; }
  constexpr std::int32_t row_of(std::int32_t s) const { return s; }
  template <class F>
  constexpr void for_entries(std::int32_t s, F&& f) const {
    const bool by_pattern = a.column_code == ColumnCode::pattern;
    const std::int32_t slice = s / packed_slice;
    const std::int64_t pattern = by_pattern ? std::int64_t{a.patterns[s]} : 0, in_table = pattern * a.pattern_width;
    const std::int32_t count = by_pattern ? a.lengths[pattern] : a.width_of(slice);
    std::int64_t at = a.value_code == ValueCode::pattern ? 0 : a.first_place(slice) + s % packed_slice;
    for (std::int32_t k = 0; k < count; ++k, at += packed_slice) {
      const std::int64_t col = by_pattern                              ? std::int64_t{s} + a.table[in_table + k]
                               : a.column_code == ColumnCode::absolute ? packed_column<ColumnCode::absolute>(a, at)
                                                                       : packed_column<ColumnCode::delta16>(a, at);
      if (col >= 0) f(static_cast<std::int32_t>(col), value(in_table + k, at));
    }
  }

 private:
  /// Of a place of the table of patterns, or of the slices.
  constexpr Value value(std::int64_t in_table, std::int64_t at) const {
    switch (a.value_code) {
      case ValueCode::pattern:
        return a.pattern_values[in_table];
      case ValueCode::narrow:
        return packed_value<ValueCode::narrow>(a, a.dictionary, at);
      case ValueCode::dictionary:
        return packed_value<ValueCode::dictionary>(a, a.dictionary, at);
      case ValueCode::full:
        break;
    }
    return a.values[at];
  }
};

template <class T>
void run_products(const Host&, const RowProducts<CodedRows<const T>>&, std::int64_t entries);
template <class T>
void run_products(const Cuda&, const RowProducts<CodedRows<const T>>&, std::int64_t entries);

}  // namespace krill::detail
