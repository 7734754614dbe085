// What the generators in generate_*.cpp share.
#pragma once
#include <complex>
#include <limits>
#include <string_view>

#include "sparse/core/instantiate.hpp"
#include "sparse/core/pass_host.hpp"
#include "sparse/io/generate.hpp"

namespace krill::detail {

/// n, or nx where n is 0: grids are as wide in other directions as in x unless told otherwise.
inline std::int64_t extent(int n, int nx) { return n > 0 ? n : nx; }

/// a b c unknowns, the number of rows. Raises InvalidArgument where it exceeds 2^31 - 1, before it could overflow.
std::int64_t checked_rows(std::string_view type, std::int64_t a, std::int64_t b = 1, std::int64_t c = 1,
                          std::int64_t unknowns = 1);

/// Raises OutOfMemory where a matrix of this size, and `extra` bytes beside it, do not fit into the host's memory.
void require_matrix_memory(std::string_view type, std::int64_t rows, std::int64_t nnz, std::size_t scalar_bytes,
                           std::int64_t extra = 0);

/// Raises InvalidArgument unless a matrix of so many rows has those.
void require_rows(std::string_view type, const RowRange&, std::int64_t rows);

inline Host all_threads() { return {Context::host().threads(), {}, nullptr}; }

/// A number as K; without its imaginary part where K is real.
template <class K>
constexpr K scalar(std::complex<double> value) {
  if constexpr (is_complex<K>)
    return {static_cast<real_t<K>>(value.real()), static_cast<real_t<K>>(value.imag())};
  else
    return static_cast<K>(value.real());
}

/// Rows [begin, end) of a matrix: first(i) counts the entries of the rows before i (asked for a few i only, and for
/// i = rows), and fill(i, col_indices, values) writes row i, columns ascending, and returns its length.
template <class T, class Offset, class First, class Fill>
Csr<T, Offset> build_rows_as(std::int64_t rows, const RowRange& range, const First& first, const Fill& fill) {
  const std::int64_t before = first(range.begin), nnz = first(range.end) - before, count = range.end - range.begin;
  Array<Offset> row_offsets(count + 1, "row_offsets");
  Array<std::int32_t> col_indices(nnz, "col_indices");
  Array<T> values(nnz, "values");
  Offset* offsets = row_offsets.write(Host{});
  std::int32_t* cols = col_indices.write(Host{});
  kernel_t<T>* entries = values.write(Host{});
  for_blocks(all_threads(), count, 1024, nnz, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t at = first(range.begin + begin) - before;
    for (std::int64_t i = begin; i < end; ++i) {
      offsets[i] = static_cast<Offset>(at);
      at += fill(range.begin + i, cols + at, entries + at);
    }
  });
  offsets[count] = static_cast<Offset>(nnz);
  return {static_cast<std::int32_t>(rows), std::move(row_offsets), std::move(col_indices), std::move(values)};
}

/// The rows that `choose` names, with 32-bit offsets where they suffice for the number of entries, else with 64-bit
/// ones. Raises OutOfMemory, which calls the matrix `type`, and InvalidArgument where there are no such rows.
template <class T, class First, class Fill>
AnyMatrix<T> build_rows(std::string_view type, std::int64_t rows, const ChooseRows& choose, const First& first,
                        const Fill& fill) {
  const RowRange range = choose(rows, [&](std::int64_t row) { return std::int64_t{first(row)}; });
  require_rows(type, range, rows);
  const std::int64_t entries = first(range.end) - first(range.begin);
  require_matrix_memory(type, range.end - range.begin, entries, sizeof(T));
  if (entries <= std::numeric_limits<std::int32_t>::max())
    return build_rows_as<T, std::int32_t>(rows, range, first, fill);
  return build_rows_as<T, std::int64_t>(rows, range, first, fill);
}

// The families, one overload each: generate_stencil.cpp, generate_elasticity.cpp, generate_stokes.cpp,
// generate_graph.cpp.
template <class T>
AnyMatrix<T> generate_matrix(const Poisson1dOptions&, const ChooseRows&);
template <class T>
AnyMatrix<T> generate_matrix(const Poisson2dOptions&, const ChooseRows&);
template <class T>
AnyMatrix<T> generate_matrix(const Poisson3dOptions&, const ChooseRows&);
template <class T>
AnyMatrix<T> generate_matrix(const ConvectionDiffusion2dOptions&, const ChooseRows&);
template <class T>
AnyMatrix<T> generate_matrix(const ConvectionDiffusion3dOptions&, const ChooseRows&);
template <class T>
AnyMatrix<T> generate_matrix(const Anisotropic2dOptions&, const ChooseRows&);
template <class T>
AnyMatrix<T> generate_matrix(const Anisotropic3dOptions&, const ChooseRows&);
template <class T>
AnyMatrix<T> generate_matrix(const Jumps3dOptions&, const ChooseRows&);
template <class T>
AnyMatrix<T> generate_matrix(const Helmholtz2dOptions&, const ChooseRows&);
template <class T>
AnyMatrix<T> generate_matrix(const Helmholtz3dOptions&, const ChooseRows&);
template <class T>
AnyMatrix<T> generate_matrix(const Elasticity3dOptions&, const ChooseRows&);
template <class T>
AnyMatrix<T> generate_matrix(const Stokes2dOptions&, const ChooseRows&);
template <class T>
AnyMatrix<T> generate_matrix(const RandomSpdOptions&, const ChooseRows&);
template <class T>
AnyMatrix<T> generate_matrix(const RandomDominantOptions&, const ChooseRows&);
template <class T>
AnyMatrix<T> generate_matrix(const BandedBatchOptions&, const ChooseRows&);
template <class T>
AnyMatrix<T> generate_matrix(const PowerLawLaplacianOptions&, const ChooseRows&);
template <class T>
AnyMatrix<T> generate_matrix(const ResistorNetworkOptions&, const ChooseRows&);

/// node_coordinates() of a family that has them.
Dense<double> coordinates_of(const Elasticity3dOptions&);

}  // namespace krill::detail
