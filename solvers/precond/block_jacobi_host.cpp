#include <algorithm>
#include <vector>

#include "solvers/precond/block_jacobi_passes.hpp"
#include "sparse/core/pass_host.hpp"

namespace krill::detail {
namespace {

/// One block, by rows, in place. False where a pivot is zero.
template <class T>
bool invert(T* m, std::int32_t dim) {
  std::int32_t swapped[max_block_jacobi_dim];
  for (std::int32_t k = 0; k < dim; ++k) {
    std::int32_t pivot_row = k;
    for (std::int32_t i = k + 1; i < dim; ++i)
      if (pivot_size(m[i * dim + k]) > pivot_size(m[pivot_row * dim + k])) pivot_row = i;
    swapped[k] = pivot_row;
    if (m[pivot_row * dim + k] == T(0)) return false;
    std::swap_ranges(m + k * dim, m + (k + 1) * dim, m + pivot_row * dim);
    const T inverse = T(1) / m[k * dim + k];
    m[k * dim + k] = T(1);
    for (std::int32_t j = 0; j < dim; ++j) m[k * dim + j] = m[k * dim + j] * inverse;
    for (std::int32_t i = 0; i < dim; ++i) {
      if (i == k) continue;
      const T factor = m[i * dim + k];
      m[i * dim + k] = T{};
      for (std::int32_t j = 0; j < dim; ++j) m[i * dim + j] -= factor * m[k * dim + j];
    }
  }
  for (std::int32_t k = dim - 1; k >= 0; --k)
    for (std::int32_t i = 0; i < dim; ++i) std::swap(m[i * dim + k], m[i * dim + swapped[k]]);
  return true;
}

}  // namespace

template <class T>
void invert_blocks(const Host& host, std::int64_t rows, BlockLayout layout, T* blocks, std::int32_t* events) {
  const std::int32_t dim = layout.dim;
  const std::int64_t count = layout.blocks(rows);
  const auto note = [&](BlockEvent event, std::int64_t b) {
#pragma omp critical
    events[event] = std::min(events[event], static_cast<std::int32_t>(b));
  };
  for_blocks(host, count, 64, count * dim * dim, [&](std::int64_t begin, std::int64_t end) {
    std::vector<T> m(static_cast<std::size_t>(dim) * static_cast<std::size_t>(dim));
    const auto finite = [&] { return std::ranges::all_of(m, [](T v) { return is_finite(v); }); };
    for (std::int64_t b = begin; b < end; ++b) {
      const auto each = [&](auto&& f) {
        for (std::int32_t i = 0; i < dim; ++i)
          for (std::int32_t j = 0; j < dim; ++j) f(m.data()[i * dim + j], blocks[layout.at(b * dim + i, j)]);
      };
      each([](T& mine, T& theirs) { mine = theirs; });
      if (!finite()) {
        note(not_finite_block, b);
        continue;
      }
      if (!invert(m.data(), dim))
        note(singular_block, b);
      else if (!finite())
        note(not_finite_block, b);
      each([](T& mine, T& theirs) { theirs = mine; });
    }
  });
}

KRILL_INSTANTIATE_WITH_OFFSETS(BlockJacobiPasses, Host);

}  // namespace krill::detail
