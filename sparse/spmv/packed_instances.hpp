// The passes of packing, for the backend that the including file calls Where.
#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/spmv/packed_passes.hpp"

namespace krill {

#define INSTANTIATE(Offset)                                                                                  \
  template void find_words(const Where&, std::int64_t, PatternWords<Offset>, std::uint64_t*, std::int32_t*); \
  template void run_pass(const Where&, std::int64_t, NamePatterns<Offset>);                                  \
  template void run_pass(const Where&, std::int64_t, ComparePatterns<Offset>);                               \
  template void run_pass(const Where&, std::int64_t, FillPatterns<Offset>);                                  \
  template void run_pass(const Where&, std::int64_t, GreatestSpan<Offset>);                                  \
  template void run_pass(const Where&, std::int64_t, FillBases<Offset>);
INSTANTIATE(std::int32_t)
INSTANTIATE(std::int64_t)
#undef INSTANTIATE
template void run_pass(const Where&, std::int64_t, UniformSlices);
template void find_words(const Where&, std::int64_t, ValueWords<float>, std::uint64_t*, std::int32_t*);
template void find_words(const Where&, std::int64_t, ValueWords<double>, std::uint64_t*, std::int32_t*);
template void find_words(const Where&, std::int64_t, ValueWords<Complex<float>>, std::uint64_t*, std::int32_t*);
template void run_pass(const Where&, std::int64_t, CountWide<double>);
template void run_pass(const Where&, std::int64_t, CountWide<Complex<double>>);

#define INSTANTIATE(T, Offset) template void run_pass(const Where&, std::int64_t, FillPacked<kernel_t<T>, Offset>);
KRILL_FOR_SCALARS_AND_OFFSETS(INSTANTIATE)
#undef INSTANTIATE

#define INSTANTIATE(T) template void run_product(const Where&, const Product<PackedView<const kernel_t<T>>>&);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill
