// All formats, with the layouts that tests go through.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "krill/sparse/convert/to_format.hpp"

namespace krill::test {

struct NamedFormat {
  std::string name;
  Format format;
  FormatLayout layout = {};
};

inline const std::vector<NamedFormat>& all_formats() {
  static const std::vector<NamedFormat> formats{
      {"csr", Format::csr},
      {"coo", Format::coo},
      {"coo_aos", Format::coo_aos},
      {"csc", Format::csc},
      {"bsr 1", Format::bsr, {.block_rows = 1}},
      {"bsr 2", Format::bsr, {.block_rows = 2}},
      {"bsr 3 by columns", Format::bsr, {.block_rows = 3, .block_columns = true}},
      {"bsr 40", Format::bsr, {.block_rows = 40}},
      {"bsr found", Format::bsr},
      {"bsrx 4", Format::bsrx, {.block_rows = 4}},
      {"gebsr 2 x 3", Format::gebsr, {.block_rows = 2, .block_cols = 3}},
      {"gebsr 5 x 1 by columns", Format::gebsr, {.block_rows = 5, .block_cols = 1, .block_columns = true}},
      {"gebsc 3 x 2", Format::gebsc, {.block_rows = 3, .block_cols = 2}},
      {"ell", Format::ell},
      {"sell", Format::sell},
      {"sell 3", Format::sell, {.slice_rows = 3}},
      {"sell 128 of one window", Format::sell, {.slice_rows = 128, .sort_window = 1 << 30}},
      {"hll 8", Format::hll, {.slice_rows = 8, .sort_window = 16}},
      {"hyb", Format::hyb},
      {"hyb 0", Format::hyb, {.ell_width = 0}},
      {"dia", Format::dia},
      {"hdia", Format::hdia},
      {"hdia 7", Format::hdia, {.hack_rows = 7}},
      {"blocked_ell 4", Format::blocked_ell, {.block_rows = 4}},
  };
  return formats;
}

/// A in that format; nothing where that would grow beyond all bounds (to_format refuses).
template <class T, class Offset>
std::optional<AnyMatrix<T>> converted(Context& ctx, const Csr<T, Offset>& A, const NamedFormat& named) {
  try {
    return to_format(ctx, AnyMatrix<T>(A.clone()), named.format, named.layout);
  } catch (const InvalidArgument& e) {
    if (std::string(e.what()).find(" would need ") == std::string::npos) throw;
    return std::nullopt;
  }
}

}  // namespace krill::test
