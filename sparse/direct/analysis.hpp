// What a complete factorization of a sparse matrix will take, before any arithmetic.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sparse/core/context.hpp"
#include "sparse/direct/method.hpp"
#include "sparse/formats/any_matrix.hpp"

namespace krill {

struct DirectAnalysis {
  DirectMethod method = DirectMethod::lu;        ///< never automatic
  DirectLibrary library = DirectLibrary::eigen;  ///< never automatic
  /// Columns alone are ordered, and rows are exchanged as the values want: for patterns that are not nearly symmetric.
  /// Otherwise rows have the order of the columns, and the diagonal is preferred as pivot.
  bool by_columns = false;
  /// The column that is eliminated as the k-th.
  std::vector<std::int32_t> order;
  /// Entries of both factors, and additions and multiplications. Exact as long as no row is exchanged; by columns they
  /// are bounds, whatever the values are (George, Liu and Ng 1988), which may be several times too large.
  double entries = 0, operations = 0;

  std::int64_t nnz = 0;  ///< of A

  /// Raises InvalidArgument where the factors have more than 2^31 - 1 entries, beyond what is counted.
  void require_possible() const;
  /// What DirectFactors<T> keeps: an entry of the factors is a value and an index.
  template <class T>
  std::size_t kept_bytes() const;
  /// What it holds beside that while it factorizes, about.
  template <class T>
  std::size_t bytes_meanwhile() const;
};

/// Orders A to fill in little (approximate minimum degree, or nested dissection where there is much work and METIS
/// finds less of it; by columns, COLAMD of Davis et al. 2004) and counts, by merging rows (George and Heath 1980), in
/// time and memory in proportion to what it counts; beyond what is possible it gives up. automatic: LDLT where A is
/// Hermitian to a few roundings with a diagonal of one sign; CHOLMOD where there is much work for each entry of the
/// factors, KLU where there is little, Eigen else. On the host, one thread. Raises ShapeMismatch unless A is square,
/// InvalidArgument for ldlt where A is not Hermitian, which names the entry, for more than 715 million entries, and for
/// suitesparse where this build has none or A is of single precision.
template <class T>
DirectAnalysis analyze_direct(Context& host, const AnyMatrix<T>& A, DirectMethod,
                              DirectLibrary = DirectLibrary::automatic);

}  // namespace krill
