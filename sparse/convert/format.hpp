// The formats as users name them, and what others need to know of each.
#pragma once
#include <array>
#include <cstddef>
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

struct FormatFacts {
  Format format;
  std::string_view name;
  unsigned layout;  ///< LayoutKeys
  bool fills_up;    ///< with zeros among the entries, which nobody can tell from entries
};
inline constexpr std::array<FormatFacts, 16> format_facts{{
    {Format::automatic, "auto", no_layout_key, false},
    {Format::csr, "csr", no_layout_key, false},
    {Format::coo, "coo", no_layout_key, false},
    {Format::coo_aos, "coo_aos", no_layout_key, false},
    {Format::csc, "csc", no_layout_key, false},
    {Format::bsr, "bsr", uses_block_rows | uses_block_columns, true},
    {Format::bsrx, "bsrx", uses_block_rows | uses_block_columns, true},
    {Format::gebsr, "gebsr", uses_block_rows | uses_block_cols | uses_block_columns, true},
    {Format::gebsc, "gebsc", uses_block_rows | uses_block_cols | uses_block_columns, true},
    {Format::ell, "ell", no_layout_key, false},
    {Format::sell, "sell", uses_slices, false},
    {Format::hll, "hll", uses_slices, false},
    {Format::hyb, "hyb", uses_ell_width, false},
    {Format::dia, "dia", no_layout_key, true},
    {Format::hdia, "hdia", uses_hack_rows, true},
    {Format::blocked_ell, "blocked_ell", uses_block_rows, true},
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
