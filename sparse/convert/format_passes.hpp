// The passes of the conversions between formats, listed for both backends.
#pragma once
#include "sparse/convert/banded_passes.hpp"
#include "sparse/convert/block_passes.hpp"
#include "sparse/convert/block_tridiagonal_passes.hpp"
#include "sparse/convert/convert_passes.hpp"
#include "sparse/convert/dia_passes.hpp"
#include "sparse/convert/sell_passes.hpp"
#include "sparse/convert/structure.hpp"
#include "sparse/convert/to_csr_passes.hpp"

namespace krill::detail {

/// Of patterns, which do not depend on the scalar: for views of one type of values.
template <class Offset, class Where>
struct PatternPasses {
  static constexpr auto list =
      passes<Where, LongestRow<Offset>, RowSortKeys<Offset>, SlicePlaces<Offset>, CountBeyond<Offset>,
             ConvertOffsets<std::int64_t, Offset>, ConvertOffsets<std::int32_t, std::int64_t>, FillZero<std::int32_t>,
             ListDiagonals, FlagDiagonals<NoValue, Offset>, OpenRows, SampleSquares<Offset>, JoinPairs, SplitPairs,
             FillTail, PositionsInBlocks<Offset>, GatherBlocks<std::uint8_t, Offset>,
             GatherBlocks<std::uint16_t, Offset>, GatherBlocks<std::uint32_t, Offset>,
             GatherBlocks<std::uint64_t, Offset>>;
};

/// From a view that is stored by rows to CSR.
template <class View, class Where>
struct ToCsrPasses {
  static constexpr auto list =
      passes<Where, CountEntries<View, std::int64_t>, FillCsr<View, std::int32_t>, FillCsr<View, std::int64_t>>;
};
/// The same without the zeros that fill up blocks.
template <class View, class Where>
struct NonzerosPasses {
  static constexpr auto list =
      passes<Where, CountEntries<Nonzeros<View>, std::int64_t>, FillCsr<Nonzeros<View>, std::int64_t>>;
};

template <class Value, class Where, class T = kernel_t<Value>>
struct FormatPasses {
  template <class Offset>
  static constexpr auto from_csr =
      passes<Where, FillSell<T, Offset>, FillBeyond<T, Offset>, RefillBeyond<T, Offset>, FillDia<T, Offset>,
             FillColumns<T, Offset>, FillBands<T, Offset>, FindBandwidth<T, Offset>>;
  static constexpr std::tuple list{
      from_csr<std::int32_t>,
      from_csr<std::int64_t>,
      passes<Where, GatherBlocks<T>, AdoptPadding<T>, FillBlockTridiagonal<T>, FindBetweenSystems<T>>,
      ToCsrPasses<SellView<const T>, Where>::list,
      ToCsrPasses<HybView<const T>, Where>::list,
      ToCsrPasses<DiaView<const T>, Where>::list,
      ToCsrPasses<BsrView<const T>, Where>::list,
      ToCsrPasses<BlockedEllView<const T>, Where>::list,
      NonzerosPasses<BsrView<const T>, Where>::list,
      NonzerosPasses<BlockedEllView<const T>, Where>::list,
      instance<void(const Where&, const SellView<T>&, Padding, const std::int32_t*)>(adopt_padding)};
};

}  // namespace krill::detail
