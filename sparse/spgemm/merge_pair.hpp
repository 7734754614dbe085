// Two matrices merged row by row, for what goes by the union of their patterns.
//
//   struct Sink {
//     constexpr std::int64_t begin(std::int64_t row) const;  // the number of the row's first entry
//     constexpr void entry(std::int64_t at, std::int32_t col, std::int64_t in_a, std::int64_t in_b) const;
//     constexpr void finish(std::int64_t row, std::int64_t end) const;
//   };
//
// entry() gets each entry of the union once, in any order, `at` counted from begin() on in the order of columns; in_a
// and in_b are its places in the matrices, `absent` where it has none.
#pragma once
#include "sparse/core/context.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/formats/csr.hpp"

namespace krill::detail {

inline constexpr std::int64_t absent = -1;

/// counts[row] = entries of the union.
struct CountUnion {
  std::int64_t* counts;

  constexpr std::int64_t begin(std::int64_t) const { return 0; }
  constexpr void entry(std::int64_t, std::int32_t, std::int64_t, std::int64_t) const {}
  constexpr void finish(std::int64_t row, std::int64_t end) const { counts[row] = end; }
};

/// The columns of the union.
template <class Offset>
struct ListUnion {
  const Offset* row_offsets;
  std::int32_t* col_indices;

  constexpr std::int64_t begin(std::int64_t row) const { return row_offsets[row]; }
  constexpr void entry(std::int64_t at, std::int32_t col, std::int64_t, std::int64_t) const { col_indices[at] = col; }
  constexpr void finish(std::int64_t, std::int64_t) const {}
};

/// values = alpha a + beta b; and the columns of the union, where there is room for them.
template <class T, class Offset>
struct AddUnion {
  const Offset* row_offsets;
  ScalarView<T> alpha;
  const T* a;
  ScalarView<T> beta;
  const T* b;
  T* values;
  std::int32_t* col_indices = nullptr;

  constexpr std::int64_t begin(std::int64_t row) const { return row_offsets[row]; }
  constexpr void entry(std::int64_t at, std::int32_t col, std::int64_t in_a, std::int64_t in_b) const {
    if (col_indices) col_indices[at] = col;
    T sum{};
    if (in_a != absent) sum += alpha() * a[in_a];
    if (in_b != absent) sum += beta() * b[in_b];
    values[at] = sum;
  }
  constexpr void finish(std::int64_t, std::int64_t) const {}
};

/// A and B are zero-based and sorted, of one shape. O(entries) on the host, with bisections of rows on CUDA.
template <class Offset, class Sink>
void merge_pair(const Host&, const CsrView<const NoValue, Offset>& a, const CsrView<const NoValue, Offset>& b, Sink);
template <class Offset, class Sink>
void merge_pair(const Cuda&, const CsrView<const NoValue, Offset>& a, const CsrView<const NoValue, Offset>& b, Sink);

/// What is compiled for each backend.
template <class Offset, class Where>
struct PairKernels {
  using Pattern = CsrView<const NoValue, Offset>;
  template <class Sink>
  using Merge = void(const Where&, const Pattern&, const Pattern&, Sink);
  static constexpr std::tuple list{instance<Merge<CountUnion>>(merge_pair),
                                   instance<Merge<ListUnion<Offset>>>(merge_pair),
                                   instance<Merge<AddUnion<float, Offset>>>(merge_pair),
                                   instance<Merge<AddUnion<double, Offset>>>(merge_pair),
                                   instance<Merge<AddUnion<Complex<float>, Offset>>>(merge_pair),
                                   instance<Merge<AddUnion<Complex<double>, Offset>>>(merge_pair)};
};

}  // namespace krill::detail
