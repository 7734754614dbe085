// Fill by levels: A with zeros in the places that an incomplete factorization may fill, ILU(k) and IC(k) (Gustafsson
// 1978; Watts 1981).
//
// An entry of A has level 0. Elimination of column k from row i makes entry (i, j) of level
// min over k < min(i, j) of level(i, k) + level(k, j) + 1, and entries of level k or less are kept. That level is the
// length less 1 of the shortest path from i to j in the graph of A whose rows between are all less than i and j, so
// each row is found by itself, by a search in breadth (Hysom and Pothen 2002).
#pragma once
#include <algorithm>
#include <limits>

#include "sparse/factor/factorization.hpp"
#include "sparse/formats/csr.hpp"

namespace krill {

class Context;

/// The memory that fill, and what is made of it, has to fit in.
struct FillRoom {
  std::size_t free = std::numeric_limits<std::size_t>::max();
  std::size_t bytes_an_entry = 1;
  int device = -1;  ///< whose memory it is; -1: the host's

  std::int64_t max_entries() const {
    constexpr std::size_t countable = std::numeric_limits<std::int64_t>::max();
    return static_cast<std::int64_t>(std::min(free / bytes_an_entry, countable));
  }
};

/// A matrix with zeros where entries of level 1 to `level` are, which an IncompleteFactor or a FixedPointFactor of it
/// fills: the factorization ILU(level) or IC(level) of A. For IC only the lower triangle is kept, of the Hermitian
/// matrix whose lower triangle A stores. Rows are sorted. Level 0 adds nothing. An entry that A lacks on its diagonal
/// is there where its level allows it.
template <class T, class Offset = std::int32_t>
class FilledMatrix {
 public:
  /// The pattern is found on the host, also for CUDA, by all threads of the context; the values are gathered on the
  /// context's side. For each row O(entries of the rows within `level` steps of it, through rows before it), twice
  /// where A's pattern is not symmetric. Takes the filled matrix and sizeof Offset bytes an entry of it, on the host
  /// beside that 4 bytes an entry while the pattern is found. The same pattern for any number of threads. Waits.
  /// Raises ShapeMismatch unless A is square, InvalidArgument for a negative level or more entries than Offset can
  /// count, and OutOfMemory, as soon as it is seen, for more entries than there is room for.
  FilledMatrix(Context&, const Csr<T, Offset>& A, Factorization, int level, const FillRoom& = {});

  /// A in a pattern that is given, whose values are of no account, with zeros where A has no entry; entries of A
  /// outside of it are left out. `factored`: entries of A that fill_ratio() is measured by. Waits for nothing. Raises
  /// ShapeMismatch.
  FilledMatrix(Context&, const Csr<T, Offset>& A, Csr<T, Offset> pattern, std::int64_t factored);

  /// New values in A's pattern. Moves nnz (2 sizeof T + sizeof Offset) bytes, with the nnz of matrix(). Asynchronous,
  /// capturable after a first run. Raises ShapeMismatch where A has another number of entries.
  void update(Context&, const Csr<T, Offset>& A);

  const Csr<T, Offset>& matrix() const { return matrix_; }
  int level() const { return level_; }
  /// Entries over those of A, for IC of its lower triangle; 1: no fill.
  double fill_ratio() const { return fill_ratio_; }
  std::size_t bytes() const { return matrix_.bytes() + detail::bytes_of(sources_); }

 private:
  Csr<T, Offset> matrix_;
  Array<Offset> sources_{0, "sources of entries"};  // of each entry, that of A; -1: it is fill
  std::int64_t entries_of_a_ = 0;
  double fill_ratio_ = 1;
  int level_ = 0;
};

}  // namespace krill
