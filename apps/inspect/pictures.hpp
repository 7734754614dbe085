// The pictures of `krill inspect`.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sparse/formats/any_matrix.hpp"

namespace krill::apps {

/// How full a matrix is, cell by cell: at most `max_cells` along its longer side, squares of places as far as
/// possible.
struct Raster {
  static constexpr std::int32_t max_cells = 400;
  std::int32_t rows = 0, cols = 0;            ///< of the matrix
  std::int32_t cell_rows = 0, cell_cols = 0;  ///< of the raster
  std::int64_t nnz = 0;
  std::vector<std::int64_t> counts;  ///< entries of each cell, by rows of cells

  /// Share of the places of a cell that are entries.
  double density(std::int32_t row, std::int32_t col) const;
};
template <class T>
Raster rasterize(const AnyMatrix<T>& A);

/// A spy plot as SVG, darker where cells are fuller, on a logarithmic scale. Less than 150 kB.
std::string spy_plot(const Raster&, const std::string& name);

/// How many rows have how many entries, as SVG.
std::string row_plot(const std::map<std::int64_t, std::int64_t>& rows_by_length, const std::string& name);

}  // namespace krill::apps
