// The sizes of a matrix in CSR, from which the memory of set-ups is predicted.
#pragma once
#include "sparse/core/memory_ledger.hpp"
#include "sparse/formats/csr.hpp"

namespace krill {

struct CsrSizes {
  std::int32_t rows = 0, cols = 0;
  std::int64_t nnz = 0;
  std::size_t scalar = 0, offset = 0;  ///< bytes; scalar 0: a pattern

  template <class T, class Offset>
  static CsrSizes of(const Csr<T, Offset>& A) {
    return {A.rows(), A.cols(), A.nnz(), sizeof(T), sizeof(Offset)};
  }
  /// The sizes with another number of entries.
  CsrSizes with_nnz(std::int64_t entries) const { return {rows, cols, entries, scalar, offset}; }
  CsrSizes transposed() const { return {cols, rows, nnz, scalar, offset}; }

  std::size_t offsets_bytes() const { return (static_cast<std::size_t>(rows) + 1) * offset; }
  std::size_t columns_bytes() const { return static_cast<std::size_t>(nnz) * sizeof(std::int32_t); }
  std::size_t values_bytes() const { return static_cast<std::size_t>(nnz) * scalar; }
};

/// The three arrays of a matrix in CSR.
inline HeldMemory csr_memory(MemoryLedger& ledger, const CsrSizes& m) {
  HeldMemory held = ledger.hold(m.offsets_bytes());
  held += ledger.hold(m.columns_bytes());
  held += ledger.hold(m.values_bytes());
  return held;
}
template <class T, class Offset>
HeldMemory csr_memory(MemoryLedger& ledger, const Csr<T, Offset>& A) {
  return csr_memory(ledger, CsrSizes::of(A));
}

}  // namespace krill
