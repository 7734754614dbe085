// Small entries dropped (kernel catalogue 14.2, 14.4: CNV-NNZCOMPRESS, CNV-CSRCOMPRESS, CNV-PRUNEDENSE, CNV-PRUNECSR,
// CNV-PRUNEDENSEPCT, CNV-PRUNECSRPCT).
//
// One comparison holds for all doors: an entry stays where not |a| <= threshold. So entries as large as the threshold
// go, and NaN stays. |a| is the modulus for complex scalars. The threshold is compared as the double that it is: a
// float nearest to 0.1 is above 0.1. Thresholds are 0 (zeros go) to infinity (all numbers go); else InvalidArgument is
// raised. T may also be Half.
#pragma once
#include "sparse/convert/dense.hpp"
#include "sparse/core/half.hpp"

namespace krill {

/// The entries of A above the threshold; entries of a row keep their order, which may be any. Reads the values twice
/// and all else once, with a bit and a count for each. The same in every run. Waits for the number of entries.
template <class T, class Offset>
Csr<T, Offset> prune(Context&, const Csr<T, Offset>& A, double threshold);

/// The entries of A whose `sizes`, one for each, are above the threshold; their own values have no part in it. Raises
/// ShapeMismatch.
template <class T, class Offset>
Csr<T, Offset> prune(Context&, const Csr<T, Offset>& A, const Array<double>& sizes, double threshold);

/// The `count` entries of A of the largest sizes, of equal ones the first; fewer where fewer sizes are above 0. Sizes
/// are 0 to the greatest number, or infinite for entries that stay in any case, of which there are `count` at most. On
/// CUDA twelve readings of the sizes, on the host O(nnz). Waits. The same in every run. Raises ShapeMismatch, and
/// InvalidArgument for a negative count.
template <class T, class Offset>
Csr<T, Offset> prune_to(Context&, const Csr<T, Offset>& A, Array<double> sizes, std::int64_t count);

/// The entries of D above the threshold; at 0, to_csr(D). Reads D twice; three times where it has few rows. Waits for
/// the number of entries. Raises InvalidArgument also where that does not fit Offset.
template <class T, class Offset = std::int32_t>
Csr<T, Offset> prune(Context&, const Dense<T>& D, double threshold);

/// A without that percentage of its entries, the smallest: with their moduli |a|_0 <= |a|_1 <= ... of all N entries
/// that are stored, NaN last, prune() by the threshold |a|_k, k = ceil(N (percentage / 100)) - 1 in double, 0 at least.
/// So entries as large as the last one to go go, too, and 0 % drops the smallest ones. Where |a|_k is NaN, all but NaN
/// go. On CUDA the threshold takes three readings of the values (Half, float), else six, and 16 KB of workspace; on the
/// host O(N) and a number of workspace an entry. Waits for the threshold, and for the number of entries. Raises
/// InvalidArgument where the percentage is not 0 to 100.
template <class T, class Offset>
Csr<T, Offset> prune_percentage(Context&, const Csr<T, Offset>& A, double percentage);

/// The same of all D.rows() D.cols() entries, zeros among them. Raises as prune(), too.
template <class T, class Offset = std::int32_t>
Csr<T, Offset> prune_percentage(Context&, const Dense<T>& D, double percentage);

/// counts[i] = the entries of row i of A above the threshold, total[0] = those of A. `counts` has A.rows() entries,
/// `total` one. Reads the offsets and values once; a quarter of a byte an entry is workspace. The same in every run.
/// Asynchronous, capturable after a first run.
/// Raises ShapeMismatch.
template <class T, class Offset>
void count_above(Context&, const Csr<T, Offset>& A, double threshold, Array<std::int32_t>& counts,
                 Array<std::int64_t>& total);

// The kernels behind the doors, on views: pointers on the tag's side, any index base. Of dense matrices: dense.hpp.

/// Values in lines of one length, `stride` apart: a dense matrix, or in one line what a sparse one stores.
template <class T>
struct ValueLines {
  std::int64_t length, lines, stride;
  const T* values;

  constexpr std::int64_t size() const { return length * lines; }
  constexpr T at(std::int64_t k) const {
    return values[lines == 1 || stride == length ? k : k / length * stride + k % length];
  }
};

/// *threshold = the modulus of that rank, 0 to size - 1, ascending, NaN last; infinity where it is NaN.
template <class T>
void threshold_of_rank(const Host&, const ValueLines<T>&, std::int64_t rank, double* threshold);
template <class T>
void threshold_of_rank(const Cuda&, const ValueLines<T>&, std::int64_t rank, double* threshold);

/// `where` is Host or Cuda.
template <class T, class Offset, class Where>
void count_above(const Where&, const CsrView<const T, Offset>& a, double threshold, std::int32_t* counts,
                 std::int64_t* total);

}  // namespace krill
