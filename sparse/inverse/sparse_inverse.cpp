#include "sparse/inverse/sparse_inverse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sparse/convert/structure.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/made_for.hpp"
#include "sparse/inverse/sparse_inverse_passes.hpp"
#include "sparse/triangular/levels.hpp"

namespace krill {

using namespace detail;
namespace {

/// The range within the rows that there are.
RowRange clipped(RowRange wanted, std::int32_t rows) {
  wanted.end = std::min<std::int64_t>(wanted.end, rows);
  if (wanted.begin < 0 || wanted.begin > wanted.end)
    throw InvalidArgument(
        fmt::format("sparse inverse: rows {} to {} of a matrix that has {}", wanted.begin, wanted.end, rows));
  return wanted;
}

}  // namespace

template <class T, class Offset>
SparseInverse<T, Offset>::SparseInverse(Analysis, Context& ctx, const Csr<T, Offset>& A, InverseForm form,
                                        std::int32_t max_entries, RowRange wanted)
    : form_(form),
      on_cuda_(ctx.on_cuda()),
      a_nnz_(A.nnz()),
      matrix_(A.cols(), Array<Offset>(1), Array<std::int32_t>(), Array<T>()),
      outcomes_(A.rows(), "outcomes of rows") {
  require_size("sparse inverse: columns of the matrix", A.cols(), A.rows());
  if (max_entries < 1 || max_entries > max_inverse_entries)
    throw InvalidArgument(fmt::format("sparse inverse: rows of at most {} entries; from 1 to {} are possible",
                                      max_entries, max_inverse_entries));
  const std::int32_t rows = A.rows();
  wanted = clipped(wanted, rows);
  Array<Offset> begins(rows, "begins of rows");
  Array<std::int32_t> classes(rows, "classes of rows");
  Array<InverseFacts> facts(1, "facts of an inverse");
  auto offsets = scanned<Offset>(ctx, rows, "inverse row_offsets", [&](const auto& where, Offset* counts) {
    run_pass(where, rows,
             CountInverse<Offset>{pattern(where, A), wanted, form == InverseForm::factored, max_entries,
                                  begins.write(where), counts, classes.write(where), facts.write(where)});
  });
  const InverseFacts found = facts.host()[0];
  first_missing_ = found.missing, longest_ = found.longest, shortened_ = found.shortened;
  const std::int64_t nnz = last_offset(ctx, offsets);
  Array<std::int32_t> columns(nnz, "inverse col_indices");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, rows,
             InverseColumns<Offset>{pattern(where, A), begins.read(where), offsets.read(where), columns.write(where)});
  });
  matrix_ = {rows, std::move(offsets), std::move(columns), Array<T>(nnz, "inverse")};
  if (!on_cuda_ || rows == 0) return;
  for (std::size_t c = 0; c < inverse_classes; ++c) class_offsets_[c + 1] = class_offsets_[c] + found.in_class[c];
  order_ = Array<std::int32_t>(rows, "rows by length");
  Array<std::int32_t> sorted(rows, "sorted classes");
  ctx.dispatch([&](const auto& where) {
    sort_by_depth(where, Steps{rows}, inverse_classes, classes.read(where), sorted.write(where), order_.write(where));
  });
}

template <class T, class Offset>
SparseInverse<T, Offset>::SparseInverse(Context& ctx, const Csr<T, Offset>& A, InverseForm form,
                                        std::int32_t max_entries)
    : SparseInverse(Analysis{}, ctx, A, form, max_entries) {
  update(ctx, A);
}

template <class T, class Offset>
SparseInverse<T, Offset> SparseInverse<T, Offset>::analyze(Context& ctx, const Csr<T, Offset>& A, InverseForm form,
                                                           std::int32_t max_entries, RowRange wanted) {
  return {Analysis{}, ctx, A, form, max_entries, wanted};
}

template <class T, class Offset>
HeldMemory SparseInverse<T, Offset>::memory(MemoryLedger& ledger, Context& host, const Csr<T, Offset>& A,
                                            InverseForm form, std::int32_t max_entries, CsrSizes& made) {
  const SparseInverse inverse = analyze(host, A, form, max_entries);
  made = CsrSizes::of(inverse.matrix());
  HeldMemory kept, order;
  {
    const HeldMemory begins = ledger.hold<Offset>(made.rows), of_rows = ledger.hold<std::int32_t>(made.rows);
    kept = ledger.hold(made.offsets_bytes());
    kept += ledger.hold(made.columns_bytes());
    if (ledger.on_cuda()) {
      order = ledger.hold<std::int32_t>(made.rows);
      const HeldMemory sorted = ledger.hold<std::int32_t>(made.rows);
      sort_by_depth_scratch(ledger, made.rows, classes);
    }
  }
  kept += ledger.hold(made.values_bytes());
  const HeldMemory outcomes = ledger.hold<std::uint8_t>(made.rows);
  const auto offsets = inverse.matrix().row_offsets().host();
  std::size_t long_rows = 0;
  for (std::size_t row = 0; row + 1 < offsets.size(); ++row) long_rows += offsets[row + 1] - offsets[row] > max_lanes;
  if (ledger.on_cuda() && long_rows > 0) {
    const auto longest = static_cast<std::size_t>(inverse.longest_row());
    const std::size_t blocks = long_system_blocks(longest, sizeof(T), long_rows, ledger.multiprocessors());
    ledger.scratch({blocks * long_system_size(longest) * sizeof(T), blocks * longest * sizeof(std::int32_t)});
  }
  return kept;
}

template <class T, class Offset>
void SparseInverse<T, Offset>::update(Context& ctx, const Csr<T, Offset>& A) {
  require_made_for(ctx, on_cuda_, "sparse inverse");
  require_size("sparse inverse: rows of the matrix", A.rows(), matrix_.rows());
  require_size("sparse inverse: entries of the matrix", A.nnz(), a_nnz_);
  ctx.dispatch([&](const auto& where) {
    InverseTask<kernel_t<T>, Offset> task;
    task.a = A.view(where);
    task.factored = form_ == InverseForm::factored;
    task.offsets = matrix_.row_offsets().read(where);
    task.columns = matrix_.col_indices().read(where);
    task.values = matrix_.values().write(where);
    task.outcomes = outcomes_.write(where);
    task.longest = longest_;
    if (order_.size()) task.order = order_.read(where);
    task.class_offsets = class_offsets_;
    solve_inverse(where, task);
    run_pass(where, A.rows(), FindBadInverses{outcomes_.read(where), bad_rows_.write(where)});
  });
}

template <class T, class Offset>
std::size_t SparseInverse<T, Offset>::bytes() const {
  return matrix_.bytes() + detail::bytes_of(outcomes_, order_);
}

template <class T, class Offset>
std::optional<std::int32_t> SparseInverse<T, Offset>::structural_zero() const {
  return row_or_none(first_missing_);
}

template <class T, class Offset>
std::optional<std::int32_t> SparseInverse<T, Offset>::singular() const {
  return row_or_none(bad_rows_.host()[singular_inverse]);
}

template <class T, class Offset>
std::optional<std::int32_t> SparseInverse<T, Offset>::not_finite() const {
  return row_or_none(bad_rows_.host()[not_finite_inverse]);
}

template <class T, class Offset>
std::optional<std::int32_t> first_not_hermitian(Context& ctx, const Csr<T, Offset>& A, RowRange wanted) {
  require_size("first_not_hermitian: columns of the matrix", A.cols(), A.rows());
  constexpr double eps = std::numeric_limits<real_t<T>>::epsilon();
  wanted = clipped(wanted, A.rows());
  if (wanted.end - wanted.begin == A.rows()) {
    Array<MirrorSum> mirrors(1, "sum over mirrors");
    ctx.dispatch([&](const auto& where) {
      reduce_rows(where, CompareMirrors<kernel_t<T>, Offset>{A.view(where), mirrors.write(where)});
    });
    const MirrorSum sum = mirrors.host()[0];
    if (sum.balance == 0 && sum.wrong == 0) return {};
  }
  Array<FirstRow> first(1, "first row that is not Hermitian");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, wanted.end - wanted.begin,
             FindNotHermitian<kernel_t<T>, Offset>{A.view(where), wanted.begin, eps, first.write(where)});
  });
  return row_or_none(first.host()[0].row);
}

template <class T, class Offset>
struct SparseInverseInstances {
  static constexpr auto list =
      instance<std::optional<std::int32_t>(Context&, const Csr<T, Offset>&, RowRange)>(first_not_hermitian);
};
KRILL_INSTANTIATE_WITH_OFFSETS(SparseInverse);
KRILL_INSTANTIATE_WITH_OFFSETS(SparseInverseInstances);

}  // namespace krill
