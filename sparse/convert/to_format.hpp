// A matrix in the format that a user names.
#pragma once
#include <array>
#include <string_view>

#include "krill/sparse/convert/convert.hpp"

namespace krill {

/// The formats as users name them: format_names has them in this order. bsr and gebsr make a Bsr, sell and hll a Sell,
/// dia and hdia a Dia. automatic leaves the choice to an SpmvPlan.
enum class Format {
  automatic,
  csr,
  coo,
  coo_aos,
  csc,
  bsr,
  bsrx,
  gebsr,
  gebsc,
  ell,
  sell,
  hll,
  hyb,
  dia,
  hdia,
  blocked_ell
};
inline constexpr std::array<std::string_view, 16> format_names{"auto", "csr",   "coo",   "coo_aos",    "csc",  "bsr",
                                                               "bsrx", "gebsr", "gebsc", "ell",        "sell", "hll",
                                                               "hyb",  "dia",   "hdia",  "blocked_ell"};

/// What else formats want to know.
struct FormatLayout {
  int block_rows = 0;          ///< of a block, 1 to 64; 0: the square block of 2 to 8 rows that takes the least memory
  int block_cols = 0;          ///< 0: as block_rows
  bool block_columns = false;  ///< entries inside blocks lie by columns
  int slice_rows = 32;         ///< of SELL and HLL
  int sort_window = 0;         ///< rows that SELL and HLL sort by length among each other; 0: none
  int hack_rows = 64;          ///< of HDIA
  int ell_width = -1;          ///< of HYB's ELL part; -1: the mean row length
};

/// A in that format; A itself where it has it already, and for automatic in CSR. Cost and refusals are those of the
/// conversions in formats.hpp.
template <class T>
AnyMatrix<T> to_format(Context&, AnyMatrix<T> A, Format, const FormatLayout& = {});

/// The same of a matrix that stays as it is.
template <class T, class Offset>
AnyMatrix<T> convert_format(Context&, const Csr<T, Offset>& A, Format, const FormatLayout& = {});

/// The b in 2 to 8 for which BSR with blocks of b x b takes the least memory, by estimated_squares(): the same on both
/// backends, and in a large matrix, where sizes come within a few per cent of each other, perhaps not the very least.
template <class T, class Offset>
std::int32_t best_block_dim(Context&, const Csr<T, Offset>& A);

}  // namespace krill
