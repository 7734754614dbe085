// The passes of the conversions between formats, for the backend that the including file calls Where.
#include "krill/sparse/convert/format_passes.hpp"
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
template void run_pass(const Where&, std::int64_t, OpenRows);
template void run_pass(const Where&, std::int64_t, JoinPairs);
template void run_pass(const Where&, std::int64_t, SplitPairs);
template void run_pass(const Where&, std::int64_t, FillTail);
template void run_pass(const Where&, std::int64_t, Conjugate<Complex<float>>);
template void run_pass(const Where&, std::int64_t, Conjugate<Complex<double>>);

#define INSTANTIATE(T, Offset)                                                             \
  template void run_pass(const Where&, std::int64_t, FillSell<kernel_t<T>, Offset>);       \
  template void run_pass(const Where&, std::int64_t, FillBeyond<kernel_t<T>, Offset>);     \
  template void run_pass(const Where&, std::int64_t, RefillBeyond<kernel_t<T>, Offset>);   \
  template void run_pass(const Where&, std::int64_t, FillDia<kernel_t<T>, Offset>);        \
  template void run_pass(const Where&, std::int64_t, FillBlocks<kernel_t<T>, Offset>);     \
  template void run_pass(const Where&, std::int64_t, FillBlockedEll<kernel_t<T>, Offset>); \
  template void run_pass(const Where&, std::int64_t, FillColumns<kernel_t<T>, Offset>);    \
  template void run_pass(const Where&, std::int64_t, FillBlockColumns<kernel_t<T>, Offset>);
KRILL_FOR_SCALARS_AND_OFFSETS(INSTANTIATE)
#undef INSTANTIATE

// Patterns do not depend on the scalar: their passes look at the matrix as if its values were of one type.
#define INSTANTIATE(Offset)                                                                \
  template void run_pass(const Where&, std::int64_t, FlagDiagonals<NoValue, Offset>);      \
  template void run_pass(const Where&, std::int64_t, CountHackDiagonals<NoValue, Offset>); \
  template void run_pass(const Where&, std::int64_t, ListHackDiagonals<NoValue, Offset>);  \
  template void run_pass(const Where&, std::int64_t, CountBlocks<NoValue, Offset>);        \
  template void run_pass(const Where&, std::int64_t, ListBlocks<NoValue, Offset>);         \
  template void run_pass(const Where&, std::int64_t, ListEllBlocks<NoValue, Offset>);
INSTANTIATE(std::int32_t)
INSTANTIATE(std::int64_t)
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
