// Small entries dropped (kernel catalogue 14.2, 14.4: CNV-NNZCOMPRESS, CNV-CSRCOMPRESS, CNV-PRUNEDENSE, CNV-PRUNECSR).
//
// One comparison holds for all doors: an entry stays where not |a| <= threshold. So entries as large as the threshold
// go, and NaN stays. |a| is the modulus for complex scalars. The threshold is compared as the double that it is: a
// float nearest to 0.1 is above 0.1. Thresholds are 0 (zeros go) to infinity (all numbers go); else InvalidArgument is
// raised. T may also be Half.
#pragma once
#include "sparse/convert/dense.hpp"
#include "sparse/core/half.hpp"

namespace krill {

/// The entries of A above the threshold; entries of a row keep their order, which may be any. Reads A twice. The same
/// in every run. Waits for the number of entries.
template <class T, class Offset>
Csr<T, Offset> prune(Context&, const Csr<T, Offset>& A, double threshold);

/// The entries of D above the threshold; at 0, to_csr(D). Reads D twice; three times where it has few rows. Waits for
/// the number of entries. Raises InvalidArgument also where that does not fit Offset.
template <class T, class Offset = std::int32_t>
Csr<T, Offset> prune(Context&, const Dense<T>& D, double threshold);

/// counts[i] = the entries of row i of A above the threshold, total[0] = those of A. `counts` has A.rows() entries,
/// `total` one. Reads the offsets and values once; the same in every run. Asynchronous, capturable after a first run.
/// Raises ShapeMismatch.
template <class T, class Offset>
void count_above(Context&, const Csr<T, Offset>& A, double threshold, Array<std::int32_t>& counts,
                 Array<std::int64_t>& total);

// The kernels behind the doors, on views: pointers on the tag's side, any index base. Of dense matrices: dense.hpp.

template <class T, class Offset>
void count_above(const Host&, const CsrView<const T, Offset>& a, double threshold, std::int32_t* counts,
                 std::int64_t* total);
template <class T, class Offset>
void count_above(const Cuda&, const CsrView<const T, Offset>& a, double threshold, std::int32_t* counts,
                 std::int64_t* total);

}  // namespace krill
