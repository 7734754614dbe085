// Bytes of conversions.
#pragma once
#include <cstddef>
#include <cstdint>

namespace krill {

/// CSR to CSC: both read and written once.
template <class T, class Offset>
double csr2csc_bytes(std::int64_t rows, std::int64_t cols, std::int64_t nnz) {
  const auto entries = static_cast<double>(nnz) * static_cast<double>(sizeof(std::int32_t) + sizeof(T));
  return 2 * entries +
         (static_cast<double>(rows) + static_cast<double>(cols) + 2) * static_cast<double>(sizeof(Offset));
}

/// Row offsets to row indices, or back: both once. The columns and the values stay where they are.
template <class Offset>
double row_index_bytes(std::int64_t rows, std::int64_t nnz) {
  return (static_cast<double>(rows) + 1) * static_cast<double>(sizeof(Offset)) +
         static_cast<double>(nnz) * static_cast<double>(sizeof(std::int32_t));
}

}  // namespace krill
