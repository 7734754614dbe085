// What a memory plan has to know of a matrix: numbers that set-ups allocate by, counted on the host.
#pragma once
#include <cstdint>
#include <string>

#include "krill/solvers/precond/options.hpp"
#include "krill/sparse/factor/item_sizes.hpp"
#include "krill/sparse/formats/any_matrix.hpp"
#include "krill/sparse/triangular/layout_sizes.hpp"

namespace krill::apps {

/// What a sparse approximate inverse allocates by.
struct InverseSizes {
  bool factored = false;
  std::int64_t entries = 0;
  std::int32_t longest = 0, long_rows = 0;  ///< the most entries of a row; rows of more than a warp's lanes
};

/// A matrix in CSR and what follows from its pattern.
struct MatrixSizes {
  std::int32_t rows = 0;
  std::int64_t nnz = 0;
  std::size_t scalar = 8, real = 8, offset = 4;  ///< bytes
  bool symmetric_pattern = true;
  TriangleSizes lower, upper;
  ItemSizes items;
  InverseSizes inverse;

  std::size_t n() const { return static_cast<std::size_t>(rows); }
  std::size_t entries() const { return static_cast<std::size_t>(nnz); }
  std::size_t csr() const { return (n() + 1) * offset + entries() * (4 + scalar); }
  /// The same in single precision.
  MatrixSizes lowered() const;
};

/// What the choice of the preconditioner makes worth counting. O(nnz), and for factorisations on CUDA what their
/// analysis takes.
template <class T>
MatrixSizes count_sizes(Context& host, const AnyMatrix<T>& A, const PreconditionerOptions&, bool on_cuda);

}  // namespace krill::apps
