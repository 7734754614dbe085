// From CSR to every other format, and back; values only; arrays of other conventions taken over.
#pragma once
#include <array>

#include "sparse/formats/any_matrix.hpp"
#include "sparse/formats/csr_sizes.hpp"

namespace krill {

/// How many times the bytes of CSR a conversion may take (and 1 MiB more, for the small ones). Beyond that it raises
/// InvalidArgument before anything large is allocated: "ell would need 512 GiB, ...: use hyb or sell".
struct GrowthLimit {
  double max = 16;
};

// Patterns are found on the matrix's side with O(nnz) work, with one wait for the sizes; see each for more. Results are
// zero-based and the same in every run and on both backends. A is canonical: columns ascend strictly in each row.

/// The same with the row and column of an entry side by side.
template <class T>
CooAos<T> to_coo_aos(Context&, const Coo<T>& A);
template <class T>
Coo<T> to_coo(Context&, const CooAos<T>& A);

/// By columns: a transposition (CNV-CSR2CSC).
template <class T, class Offset>
Csc<T> to_csc(Context&, const Csr<T, Offset>& A);

/// As many places in each row as the longest one has.
template <class T, class Offset>
Ell<T> to_ell(Context&, const Csr<T, Offset>& A, GrowthLimit = {});

/// The order of rows in SELL. With a window, rows are sorted by length inside each group of `window` of them, stably:
/// SELL-C-sigma. HLL is slice_rows = hack size with or without that; permuted SELL is one window of all rows,
/// ascending.
struct SellLayout {
  std::int32_t slice_rows = 32;
  std::int32_t window = 0;  ///< 0: rows keep their order
  bool ascending = false;
};
template <class T, class Offset>
Sell<T> to_sell(Context&, const Csr<T, Offset>& A, SellLayout = {}, GrowthLimit = {});

/// The width of the ELL part of HYB: the mean row length, rounded up (HIP-HYB-PARTITION: AUTO), the length of the
/// longest row (MAX: COO is empty), or `width` (USER, 0 to the longest).
enum class HybPartition { automatic, maximum, user };
template <class T, class Offset>
Hyb<T> to_hyb(Context&, const Csr<T, Offset>& A, HybPartition = HybPartition::automatic, std::int64_t width = 0,
              GrowthLimit = {});

/// DIA, or HDIA with groups of hack_rows rows. O(nnz + hack rows x diagonals).
template <class T, class Offset>
Dia<T> to_dia(Context&, const Csr<T, Offset>& A, std::int32_t hack_rows = 0, GrowthLimit = {});

/// The number of diagonals that DIA would have. Where a few rows show that there are more than `enough`, the count may
/// stop there.
template <class T, class Offset>
std::int64_t stored_diagonals(Context&, const Csr<T, Offset>& A, std::int64_t enough);

/// Blocks: every one that a stored entry falls into (CNV-CSR2BSR, CNV-CSR2GEBSR). O(nnz + places).
template <class T, class Offset>
Bsr<T> to_bsr(Context&, const Csr<T, Offset>& A, Blocking, GrowthLimit = {});

/// The same entries in other blocks (CNV-GEBSR2GEBSR): every block that a stored block of A reaches, the zeros that
/// fill it up included. The result has A's size in whole blocks of A, so that nothing in them is lost: what they hold
/// beyond A's rows and columns is part of it. By way of CSR: O(nnz).
template <class T>
Bsr<T> to_bsr(Context&, const Bsr<T>& A, Blocking, GrowthLimit = {});

/// The number of these blocks.
template <class T, class Offset>
std::int64_t stored_blocks(Context&, const Csr<T, Offset>& A, Blocking);

/// The number of square blocks, at [b], for each size b from smallest_square to largest_square. Exact up to 524,288
/// entries, by seven counts. Beyond, it is estimated from 32,768 entries from all over A, in one pass with one wait:
/// the cost hardly grows with A, and estimates are seldom off by more than 2 %.
inline constexpr std::int32_t smallest_square = 2, largest_square = 8;
template <class T, class Offset>
std::array<std::int64_t, largest_square + 1> estimated_squares(Context&, const Csr<T, Offset>& A);

/// As many blocks in each block row as the fullest one has.
template <class T, class Offset>
BlockedEll<T> to_blocked_ell(Context&, const Csr<T, Offset>& A, std::int32_t block_dim, GrowthLimit = {});

/// The same blocks, with an end of its own for each block row.
template <class T>
Bsrx<T> to_bsrx(Context&, const Bsr<T>& A);

/// The same blocks by columns (CNV-GEBSR2GEBSC); the insides of blocks stay as they are.
template <class T>
Gebsc<T> to_gebsc(Context&, const Bsr<T>& A);

/// Formats that are stored by rows, beside CSR and COO, and those of them whose blocks zeros fill up.
template <class Format, class T = typename Format::Value>
concept RowFormat = OneOf<Format, Bsr<T>, Bsrx<T>, Ell<T>, Sell<T>, Hyb<T>, Dia<T>, BlockedEll<T>>;
template <class Format, class T = typename Format::Value>
concept BlockFormat = OneOf<Format, Bsr<T>, Bsrx<T>, BlockedEll<T>>;

/// Back to CSR. Padding goes; zeros inside blocks stay (CNV-BSR2CSR), zeros on diagonals do not. Columns ascend.
/// Raises InvalidArgument where the entries do not fit Offset.
template <class T, class Offset = std::int32_t, template <class> class Format>
Csr<T, Offset> to_csr(Context&, const Format<T>&) requires RowFormat<Format<T>>;
template <class T, class Offset = std::int32_t>
Csr<T, Offset> to_csr(Context&, const CooAos<T>&);
template <class T, class Offset = std::int32_t>
Csr<T, Offset> to_csr(Context&, const Csc<T>&);
template <class T, class Offset = std::int32_t>
Csr<T, Offset> to_csr(Context&, const Gebsc<T>&);

/// The same without the zeros inside blocks, which products leave out.
template <class T, template <class> class Format>
Csr<T, std::int64_t> to_csr_without_zeros(Context&, const Format<T>&) requires BlockFormat<Format<T>>;

/// What it takes to make the CSR of that size: from rows, and from any matrix, where nothing is made of CSR itself.
HeldMemory rows_to_csr_memory(MemoryLedger&, const CsrSizes& made);
template <class T>
HeldMemory to_csr_memory(MemoryLedger&, const AnyMatrix<T>& A, const CsrSizes& made);

/// Where each entry of to_csr(ctx, A) lies in A.values(): values that change later need only be gathered.
template <class T, class Offset>
Array<Offset> positions_in_blocks(Context&, const Bsr<T>& A, const Csr<T, Offset>& entries);

/// New values for a matrix that was converted from `from`, whose pattern has not changed. O(nnz + places), for CSC and
/// GEBSC with a search in each column; asynchronous, allocates nothing. Raises ShapeMismatch where sizes differ.
template <class T, class Offset>
void update_values(Context&, const Csr<T, Offset>& from, AnyMatrix<T>& to);

/// ELL and SELL arrays of another convention made Krill's own, in place on the tag's side: columns counted from zero,
/// padding -1 with value 0. `row_lengths` of the stored rows may be null: then trailing places with value 0 that look
/// as `padding` says are padding (minus_one: those with a column below the base, whatever their value). O(places).
template <class T>
void adopt_padding(const Host&, const SellView<T>& arrays, Padding padding, const std::int32_t* row_lengths);
template <class T>
void adopt_padding(const Cuda&, const SellView<T>& arrays, Padding padding, const std::int32_t* row_lengths);

}  // namespace krill
