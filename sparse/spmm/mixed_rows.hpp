// A mixed product as its kernels work on it: op(A) by rows.
#pragma once
#include "sparse/convert/sort_passes.hpp"
#include "sparse/core/pass.hpp"
#include "sparse/spmm/mixed.hpp"

namespace krill::detail {

/// Row offsets of either width, so that kernels need not be compiled for both.
struct AnyOffsets {
  const std::int32_t* narrow = nullptr;
  const std::int64_t* wide = nullptr;

  AnyOffsets() = default;
  AnyOffsets(const std::int32_t* offsets) : narrow(offsets) {}
  AnyOffsets(const std::int64_t* offsets) : wide(offsets) {}
  constexpr std::int64_t operator[](std::int64_t i) const { return wide ? wide[i] : narrow[i]; }
};

/// A matrix by rows, as kernels read it.
template <class T>
struct AnyRows {
  std::int32_t rows = 0, cols = 0;
  std::int64_t nnz = 0;
  AnyOffsets row_offsets;
  const std::int32_t* col_indices = nullptr;
  const T* values = nullptr;
  IndexBase base = IndexBase::zero;

  constexpr std::int32_t row_of(std::int32_t s) const { return s; }
  template <class F>
  constexpr void for_entries(std::int32_t s, F&& f) const {
    const auto first = static_cast<std::int32_t>(base);
    const std::int64_t end = row_offsets[s + 1] - first;
    for (std::int64_t k = row_offsets[s] - first; k < end; ++k) f(col_indices[k] - first, values[k]);
  }
};

/// C = alpha A B + beta C, or with the conjugate of A.
template <class Types>
struct MixedRows : MixedDense<Types> {
  using Value = kernel_t<typename Types::Storage>;
  using Offset = std::int64_t;
  using typename MixedDense<Types>::Sum;

  AnyRows<Value> a;
  bool conjugate_a = false;

  /// A value of A as it is stored, for times().
  constexpr Sum widened(Value value) const { return conj_if(conjugate_a, static_cast<Sum>(value)); }
};

/// What kernels see of offsets, columns and values, all counted from `base`.
template <class T, class Offset>
AnyRows<T> any_rows(const CsrView<const T, Offset>& a) {
  return {a.rows, a.cols, a.nnz, AnyOffsets(a.row_offsets), a.col_indices, a.values, a.base};
}

template <class Types>
void run_rows(const Host&, const MixedRows<Types>&);
/// Finds the tiles first.
template <class Types>
void run_rows(const Cuda&, const MixedRows<Types>&);
/// With tiles that are known, of SpmmTiling; their room for sums is not used.
template <class Types>
void run_rows(const Cuda&, const MixedRows<Types>&, const CsrTilesView&);

/// What is moved in the place of a value of so many bytes, so that types of one size share a pass.
template <std::size_t bytes>
using load_word_t = std::conditional_t<
    bytes == 1, std::uint8_t,
    std::conditional_t<bytes == 2, std::uint16_t, std::conditional_t<bytes == 4, std::uint32_t, std::uint64_t>>>;

/// to[k] = from[places[k]].
template <class Where, class T, class Offset>
void gather_values(const Where& where, std::int64_t nnz, const T* from, const Offset* places, T* to) {
  using Word = load_word_t<sizeof(T)>;
  static_assert(sizeof(Word) == sizeof(T));
  run_pass(
      where, nnz,
      GatherPermuted<Word, Offset>{reinterpret_cast<const Word*>(from), places, reinterpret_cast<Word*>(to), false});
}

template <class Where, class Offset>
constexpr auto gather_passes =
    passes<Where, GatherPermuted<std::uint8_t, Offset>, GatherPermuted<std::uint16_t, Offset>,
           GatherPermuted<std::uint32_t, Offset>, GatherPermuted<std::uint64_t, Offset>>;

/// What is compiled for each backend.
template <class Where>
struct MixedPasses {
  static constexpr std::tuple list{gather_passes<Where, std::int32_t>, gather_passes<Where, std::int64_t>};
};
template <class Where, class Table = MixedTable>
struct MixedKernels;
template <class Where, class... Types>
struct MixedKernels<Where, std::tuple<Types...>> {
  static constexpr std::tuple list{instance<void(const Where&, const MixedRows<Types>&)>(run_rows)...};
};

}  // namespace krill::detail
