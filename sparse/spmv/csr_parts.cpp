#include "krill/sparse/spmv/csr_parts.hpp"

#include "krill/sparse/convert/convert.hpp"
#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/spmv/csr_parts_passes.hpp"

namespace krill {

// Two prefix sums over the row blocks, then each row block writes its pieces. The sizes of the arrays are bounds that
// need no look at the matrix: a row block has one piece, and one more for every csr_part_entries().
template <class Offset>
CsrBalance::CsrBalance(Context& ctx, std::int32_t rows, std::int64_t nnz, const Array<Offset>& row_offsets,
                       std::size_t value_bytes) {
  if (!ctx.on_cuda()) return;
  const std::int64_t blocks = detail::ceil_div(rows, csr_row_block), extra = nnz / csr_part_entries(rows, nnz) + 1;
  part_entries_ = csr_part_entries(rows, nnz);
  items_ = Array<CsrItem>(blocks + extra, "csr pieces");
  ends_ = Array<std::int64_t>(blocks + 1, "csr piece counts");
  sums_ = Array<unsigned char>(2 * extra * csr_row_block * static_cast<std::int64_t>(value_bytes), "csr part sums");
  arrived_ = Array<unsigned>(blocks, "csr parts arrived");
  Array<std::int64_t> counts(blocks, "csr piece counts"), slots(blocks + 1, "csr part places");
  ctx.dispatch([&](const auto& where) {
    const CsrPieceCounts<Offset> pieces{row_offsets.read(where), rows, part_entries_, counts.write(where), false};
    run_pass(where, blocks, pieces);
    scan_counts(where, blocks, counts.read(where), ends_.write(where));
    CsrPieceCounts<Offset> parts = pieces;
    parts.parts_only = true;
    run_pass(where, blocks, parts);
    scan_counts(where, blocks, counts.read(where), slots.write(where));
    run_pass(where, blocks,
             CsrPieces{ends_.read(where), slots.read(where), items_.write(where), arrived_.write(where)});
  });
}

template CsrBalance::CsrBalance(Context&, std::int32_t, std::int64_t, const Array<std::int32_t>&, std::size_t);
template CsrBalance::CsrBalance(Context&, std::int32_t, std::int64_t, const Array<std::int64_t>&, std::size_t);

}  // namespace krill
