// The matrices of the kernel catalogue's test vectors that several rooms use, from zero.
#pragma once
#include <initializer_list>
#include <vector>

#include "sparse/formats/csr.hpp"

namespace krill::test::tv {

using Ints = std::vector<std::int32_t>;
using Longs = std::vector<std::int64_t>;

template <class T>
std::vector<T> numbers(std::initializer_list<double> list) {
  std::vector<T> values;
  for (const double x : list) values.push_back(T(static_cast<real_t<T>>(x)));
  return values;
}

template <class T>
Csr<T> csr(std::int32_t cols, Ints offsets, Ints columns, std::initializer_list<double> values) {
  return {cols, Array(std::move(offsets)), Array(std::move(columns)), Array(numbers<T>(values))};
}

/// TV-A45
template <class T>
Csr<T> a45() {
  return csr<T>(5, {0, 2, 4, 7, 9}, {0, 1, 1, 2, 0, 3, 4, 2, 4}, {1, 4, 2, 3, 5, 7, 8, 9, 6});
}
/// TV-HIP35
template <class T>
Csr<T> hip35() {
  return csr<T>(5, {0, 3, 5, 8}, {0, 1, 3, 1, 2, 0, 3, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
}
/// TV-PSBELL, TV-HLL, TV-DIA, TV-HDIA
template <class T>
Csr<T> psbell() {
  return csr<T>(5, {0, 2, 3, 6, 7, 9}, {0, 3, 1, 0, 2, 4, 3, 1, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
}

/// The blocks of TV-A45 in either order: TV-A45.bsr.
template <class T>
std::vector<T> a45_blocks(bool by_columns) {
  return by_columns ? numbers<T>({1, 0, 4, 2, 0, 3, 0, 0, 5, 0, 0, 0, 0, 9, 7, 0, 8, 6, 0, 0})
                    : numbers<T>({1, 4, 0, 2, 0, 0, 3, 0, 5, 0, 0, 0, 0, 7, 9, 0, 8, 0, 6, 0});
}

}  // namespace krill::test::tv
