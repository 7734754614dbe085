// The formats as users name them, and what others need to know of each.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace krill {

/// bsr and gebsr make a Bsr, sell and hll a Sell, dia and hdia a Dia. automatic leaves the choice to an SpmvPlan.
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

/// Which members of a FormatLayout a format reads.
enum LayoutKey : unsigned {
  no_layout_key = 0,
  uses_block_rows = 1,
  uses_block_cols = 2,
  uses_block_columns = 4,
  uses_slices = 8,  ///< slice_rows and sort_window
  uses_hack_rows = 16,
  uses_ell_width = 32
};

inline constexpr std::int32_t largest_block_dim = 64, largest_blocked_ell_dim = 1024;

struct FormatFacts {
  Format format;
  std::string_view name;
  unsigned layout;              ///< LayoutKeys
  bool fills_up;                ///< with zeros among the entries, which nobody can tell from entries
  std::int32_t max_block_rows;  ///< 0: it has no blocks
  std::string_view doc;
};
inline constexpr std::array<FormatFacts, 16> format_facts{{
    {Format::automatic, "auto", no_layout_key, false, 0,
     "what moves the fewest bytes: csr, or a coded copy that is made and timed"},
    {Format::csr, "csr", no_layout_key, false, 0, "compressed sparse row: 12 bytes an entry (float64) and 4 a row"},
    {Format::coo, "coo", no_layout_key, false, 0, "coordinates, sorted by row: 16 bytes an entry (float64)"},
    {Format::coo_aos, "coo_aos", no_layout_key, false, 0, "the same, row and column of an entry side by side"},
    {Format::csc, "csc", no_layout_key, false, 0, "compressed sparse column"},
    {Format::bsr, "bsr", uses_block_rows | uses_block_columns, true, largest_block_dim,
     "square blocks: layout.block_rows"},
    {Format::bsrx, "bsrx", uses_block_rows | uses_block_columns, true, largest_block_dim,
     "the same, with an end of its own for each block row"},
    {Format::gebsr, "gebsr", uses_block_rows | uses_block_cols | uses_block_columns, true, largest_block_dim,
     "rectangular blocks: layout.block_rows, block_cols"},
    {Format::gebsc, "gebsc", uses_block_rows | uses_block_cols | uses_block_columns, true, largest_block_dim,
     "the same by columns"},
    {Format::ell, "ell", no_layout_key, false, 0, "every row as long as the longest"},
    {Format::sell, "sell", uses_slices, false, 0, "the same in slices: layout.slice_rows, sort_window"},
    {Format::hll, "hll", uses_slices, false, 0, "the same under its other name"},
    {Format::hyb, "hyb", uses_ell_width, false, 0, "ell for the usual rows, coo for what is beyond: layout.ell_width"},
    {Format::dia, "dia", no_layout_key, true, 0, "diagonals"},
    {Format::hdia, "hdia", uses_hack_rows, true, 0, "the same for each layout.hack_rows rows"},
    {Format::blocked_ell, "blocked_ell", uses_block_rows, true, largest_blocked_ell_dim,
     "as many blocks in every block row: layout.block_rows"},
}};

constexpr const FormatFacts& facts(Format format) { return format_facts[static_cast<std::size_t>(format)]; }
static_assert([] {
  for (const FormatFacts& f : format_facts)
    if (facts(f.format).format != f.format) return false;
  return facts(Format::blocked_ell).format == Format::blocked_ell;
}());

constexpr std::string_view name(Format format) { return facts(format).name; }
inline constexpr auto format_names = [] {
  std::array<std::string_view, format_facts.size()> names{};
  for (const FormatFacts& f : format_facts) names[static_cast<std::size_t>(f.format)] = f.name;
  return names;
}();

}  // namespace krill
