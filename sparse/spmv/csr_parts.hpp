// How products with a matrix in CSR are balanced on a device: what is too much for one block falls into parts.
#pragma once
#include "krill/sparse/spmv/product.hpp"

namespace krill {

inline constexpr int csr_row_block = 256;  ///< rows that one block takes at a time

/// Entries of a row block beyond which they fall into parts: twice what 256 rows have in the mean, and so many that the
/// sums of a part are little beside its entries.
constexpr std::int32_t csr_part_entries(std::int32_t rows, std::int64_t nnz) {
  const std::int64_t twice_the_mean = rows > 0 ? 2 * csr_row_block * (nnz / rows) : 0;
  return static_cast<std::int32_t>(twice_the_mean < 12'288   ? 12'288
                                   : twice_the_mean < 65'536 ? twice_the_mean
                                                             : 65'536);
}

/// A piece of work: part `part` of the `parts` that the entries of a row block fall into; its sums go to place `slot`.
struct CsrItem {
  std::int32_t row_block, part, parts, slot;
};

/// The pieces of a matrix, on the device. Null items mean one piece for every row block.
struct CsrParts {
  const CsrItem* items = nullptr;
  const std::int64_t* count = nullptr;  ///< of items
  void* sums = nullptr;                 ///< csr_row_block of a slot
  unsigned* arrived = nullptr;          ///< one a row block, zero between products
  std::int32_t entries = 0;             ///< of a part
};

template <class T, class Offset>
void run_product(const Cuda&, const Product<CsrView<const T, Offset>>&, const CsrParts&);

/// Owns the pieces. They are found on the device from two row offsets of every 256 rows, without a wait. On the host
/// there is nothing to find. One product at a time may use it.
class CsrBalance {
 public:
  CsrBalance() = default;
  template <class Offset>
  CsrBalance(Context&, std::int32_t rows, std::int64_t nnz, const Array<Offset>& row_offsets, std::size_t value_bytes);

  std::size_t bytes() const { return detail::bytes_of(items_, ends_, sums_, arrived_); }
  CsrParts parts(const Cuda& where) const {
    if (ends_.size() == 0) return {};
    return {items_.read(where), ends_.read(where) + ends_.size() - 1, sums_.write(where), arrived_.update(where),
            part_entries_};
  }

 private:
  std::int32_t part_entries_ = 0;
  Array<CsrItem> items_{0, "csr pieces"};
  Array<std::int64_t> ends_{0, "csr piece counts"};
  mutable Array<unsigned char> sums_{0, "csr part sums"};
  mutable Array<unsigned> arrived_{0, "csr parts arrived"};
};

}  // namespace krill
