// The passes of the conversions between formats, for the backend that the including file calls Where.
#include "krill/sparse/convert/block_passes.hpp"
#include "krill/sparse/convert/convert_passes.hpp"
#include "krill/sparse/convert/dia_passes.hpp"
#include "krill/sparse/convert/sell_passes.hpp"
#include "krill/sparse/convert/structure.hpp"
#include "krill/sparse/convert/to_csr_passes.hpp"
#include "krill/sparse/core/instantiate.hpp"

namespace krill {

template void run_pass(const Where&, std::int64_t, LongestRow<std::int32_t>);
template void run_pass(const Where&, std::int64_t, LongestRow<std::int64_t>);
template void run_pass(const Where&, std::int64_t, RowSortKeys<std::int32_t>);
template void run_pass(const Where&, std::int64_t, RowSortKeys<std::int64_t>);
template void run_pass(const Where&, std::int64_t, SlicePlaces<std::int32_t>);
template void run_pass(const Where&, std::int64_t, SlicePlaces<std::int64_t>);
template void run_pass(const Where&, std::int64_t, CountBeyond<std::int32_t>);
template void run_pass(const Where&, std::int64_t, CountBeyond<std::int64_t>);
template void run_pass(const Where&, std::int64_t, ConvertOffsets<std::int64_t, std::int32_t>);
template void run_pass(const Where&, std::int64_t, ConvertOffsets<std::int32_t, std::int64_t>);
template void run_pass(const Where&, std::int64_t, ConvertOffsets<std::int64_t, std::int64_t>);
template void run_pass(const Where&, std::int64_t, FillZero<std::int32_t>);
template void run_pass(const Where&, std::int64_t, ListDiagonals);
// Patterns do not depend on the scalar: their pass looks at the matrix as if its values were of one type.
template void run_pass(const Where&, std::int64_t, FlagDiagonals<NoValue, std::int32_t>);
template void run_pass(const Where&, std::int64_t, FlagDiagonals<NoValue, std::int64_t>);
template void run_pass(const Where&, std::int64_t, OpenRows);
template void run_pass(const Where&, std::int64_t, SampleSquares<std::int32_t>);
template void run_pass(const Where&, std::int64_t, SampleSquares<std::int64_t>);
template void run_pass(const Where&, std::int64_t, JoinPairs);
template void run_pass(const Where&, std::int64_t, SplitPairs);
template void run_pass(const Where&, std::int64_t, FillTail);
template void run_pass(const Where&, std::int64_t, PlacesInBlocks<std::int32_t>);
template void run_pass(const Where&, std::int64_t, PlacesInBlocks<std::int64_t>);
template void run_pass(const Where&, std::int64_t, Conjugate<Complex<float>>);
template void run_pass(const Where&, std::int64_t, Conjugate<Complex<double>>);

#define INSTANTIATE(T, Offset)                                                           \
  template void run_pass(const Where&, std::int64_t, FillSell<kernel_t<T>, Offset>);     \
  template void run_pass(const Where&, std::int64_t, FillBeyond<kernel_t<T>, Offset>);   \
  template void run_pass(const Where&, std::int64_t, RefillBeyond<kernel_t<T>, Offset>); \
  template void run_pass(const Where&, std::int64_t, FillDia<kernel_t<T>, Offset>);      \
  template void run_pass(const Where&, std::int64_t, FillColumns<kernel_t<T>, Offset>);
KRILL_FOR_SCALARS_AND_OFFSETS(INSTANTIATE)
#undef INSTANTIATE

#define INSTANTIATE(T)                                                                                               \
  template void run_pass(const Where&, std::int64_t, GatherBlocks<kernel_t<T>>);                                     \
  template void run_pass(const Where&, std::int64_t, AdoptPadding<kernel_t<T>>);                                     \
  template void run_pass(const Where&, std::int64_t, CountEntries<SellView<const kernel_t<T>>, std::int64_t>);       \
  template void run_pass(const Where&, std::int64_t, CountEntries<HybView<const kernel_t<T>>, std::int64_t>);        \
  template void run_pass(const Where&, std::int64_t, CountEntries<DiaView<const kernel_t<T>>, std::int64_t>);        \
  template void run_pass(const Where&, std::int64_t, CountEntries<BsrView<const kernel_t<T>>, std::int64_t>);        \
  template void run_pass(const Where&, std::int64_t, CountEntries<BlockedEllView<const kernel_t<T>>, std::int64_t>); \
  template void run_pass(const Where&, std::int64_t, FillCsr<SellView<const kernel_t<T>>, std::int32_t>);            \
  template void run_pass(const Where&, std::int64_t, FillCsr<SellView<const kernel_t<T>>, std::int64_t>);            \
  template void run_pass(const Where&, std::int64_t, FillCsr<HybView<const kernel_t<T>>, std::int32_t>);             \
  template void run_pass(const Where&, std::int64_t, FillCsr<HybView<const kernel_t<T>>, std::int64_t>);             \
  template void run_pass(const Where&, std::int64_t, FillCsr<DiaView<const kernel_t<T>>, std::int32_t>);             \
  template void run_pass(const Where&, std::int64_t, FillCsr<DiaView<const kernel_t<T>>, std::int64_t>);             \
  template void run_pass(const Where&, std::int64_t, FillCsr<BsrView<const kernel_t<T>>, std::int32_t>);             \
  template void run_pass(const Where&, std::int64_t, FillCsr<BsrView<const kernel_t<T>>, std::int64_t>);             \
  template void run_pass(const Where&, std::int64_t, FillCsr<BlockedEllView<const kernel_t<T>>, std::int32_t>);      \
  template void run_pass(const Where&, std::int64_t, FillCsr<BlockedEllView<const kernel_t<T>>, std::int64_t>);      \
  template void run_pass(const Where&, std::int64_t,                                                                 \
                         CountEntries<Nonzeros<BsrView<const kernel_t<T>>>, std::int64_t>);                          \
  template void run_pass(const Where&, std::int64_t,                                                                 \
                         CountEntries<Nonzeros<BlockedEllView<const kernel_t<T>>>, std::int64_t>);                   \
  template void run_pass(const Where&, std::int64_t, FillCsr<Nonzeros<BsrView<const kernel_t<T>>>, std::int64_t>);   \
  template void run_pass(const Where&, std::int64_t,                                                                 \
                         FillCsr<Nonzeros<BlockedEllView<const kernel_t<T>>>, std::int64_t>);                        \
  template void adopt_padding(const Where&, const SellView<kernel_t<T>>&, Padding, const std::int32_t*);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
