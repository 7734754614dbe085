#include "sparse/convert/formats.hpp"
#include "sparse/convert/rows_to_csr.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/overloaded.hpp"

namespace krill {

using namespace detail;
template <class T, class Offset, template <class> class Format>
Csr<T, Offset> to_csr(Context& ctx, const Format<T>& A) requires RowFormat<Format<T>> {
  return rows_to_csr<T, Offset>(ctx, A.rows(), A.cols(), [&](const auto& where) { return A.view(where); });
}
template <class T, class Offset>
Csr<T, Offset> to_csr(Context& ctx, const CooAos<T>& A) {
  return to_csr<T, Offset>(ctx, to_coo(ctx, A));
}
template <class T, class Offset>
Csr<T, Offset> to_csr(Context& ctx, const Csc<T>& A) {
  return with_offsets<Offset>(ctx, transpose(ctx, A.transposed()));
}
template <class T, class Offset>
Csr<T, Offset> to_csr(Context& ctx, const Gebsc<T>& A) {
  return transpose(ctx, to_csr<T, Offset>(ctx, A.transposed()));
}

HeldMemory rows_to_csr_memory(MemoryLedger& ledger, const CsrSizes& made) {
  const HeldMemory wide = ledger.hold<std::int64_t>(made.rows + std::int64_t{1});
  { const HeldMemory counts = ledger.hold<std::int64_t>(made.rows); }
  return csr_memory(ledger, made);
}

template <class T>
HeldMemory to_csr_memory(MemoryLedger& ledger, const AnyMatrix<T>& A, const CsrSizes& made) {
  return std::visit(
      [&]<class Matrix>(const Matrix& a) -> HeldMemory {
        if constexpr (is_csr<Matrix>) return {};
        if constexpr (std::is_same_v<Matrix, Coo<T>>) return csr_memory(ledger, made);
        if constexpr (std::is_same_v<Matrix, CooAos<T>>) {
          const HeldMemory split = ledger.hold(a.bytes());
          return csr_memory(ledger, made);
        }
        if constexpr (std::is_same_v<Matrix, Csc<T>>) {  // the offsets become wider after the transposition
          HeldMemory turned = transpose_memory(ledger, CsrSizes::of(a.transposed()));
          if (made.offset > sizeof(std::int32_t)) turned += ledger.hold<std::int64_t>(made.rows + std::int64_t{1});
          return turned;
        }
        if constexpr (std::is_same_v<Matrix, Gebsc<T>>) {
          const HeldMemory turned = rows_to_csr_memory(ledger, made.transposed());
          return transpose_memory(ledger, made.transposed());
        }
        if constexpr (RowFormat<Matrix>) return rows_to_csr_memory(ledger, made);
      },
      A);
}

template <class T, class Offset>
Array<Offset> positions_in_blocks(Context& ctx, const Bsr<T>& A, const Csr<T, Offset>& entries) {
  Array<Offset> positions(entries.nnz(), "positions in blocks");
  ctx.dispatch([&](const auto& where) {
    const std::int32_t* offsets = A.row_offsets().read(where);
    const BsrView<const NoValue> pattern{
        A.rows(), A.cols(), A.blocks(), A.stored_blocks(), offsets, offsets + 1, A.col_indices().read(where)};
    run_pass(where, A.rows(),
             PositionsInBlocks<Offset>{pattern, entries.row_offsets().read(where), positions.write(where)});
  });
  return positions;
}

template <class T, template <class> class Format>
Csr<T, std::int64_t> to_csr_without_zeros(Context& ctx, const Format<T>& A) requires BlockFormat<Format<T>> {
  return rows_to_csr<T, std::int64_t>(ctx, A.rows(), A.cols(), [&](const auto& where) {
    const auto a = A.view(where);
    return Nonzeros<std::remove_const_t<decltype(a)>>{a, a.cols};
  });
}

template <class Matrix, class T, class Offset>
constexpr auto to_csr_of() {
  if constexpr (is_csr<Matrix> || std::is_same_v<Matrix, Coo<T>>)  // convert.hpp has those
    return nullptr;
  else
    return instance<Csr<T, Offset>(Context&, const Matrix&)>(to_csr);
}
template <class Matrix, class T>
constexpr auto to_csr_without_zeros_of() {
  if constexpr (BlockFormat<Matrix>)
    return instance<Csr<T, std::int64_t>(Context&, const Matrix&)>(to_csr_without_zeros);
  else
    return nullptr;
}
template <class T, class Offset, class... Matrix>
constexpr auto to_csr_of_each(std::type_identity<std::variant<Matrix...>>) {
  return std::tuple{to_csr_of<Matrix, T, Offset>()..., to_csr_without_zeros_of<Matrix, T>()...};
}

template <class T, class Offset>
struct ToCsrOffsetInstances {
  static constexpr auto of_each = to_csr_of_each<T, Offset>(std::type_identity<AnyMatrix<T>>());
  static constexpr auto positions =
      instance<Array<Offset>(Context&, const Bsr<T>&, const Csr<T, Offset>&)>(positions_in_blocks);
};
KRILL_INSTANTIATE_WITH_OFFSETS(ToCsrOffsetInstances);

template <class T>
struct ToCsrInstances {
  static constexpr auto memory =
      instance<HeldMemory(MemoryLedger&, const AnyMatrix<T>&, const CsrSizes&)>(to_csr_memory);
};
KRILL_INSTANTIATE(ToCsrInstances);

}  // namespace krill
