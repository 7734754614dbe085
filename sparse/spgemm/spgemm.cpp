#include "sparse/spgemm/spgemm.hpp"

#include "sparse/convert/structure.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/made_for.hpp"
#include "sparse/spgemm/offsets.hpp"

namespace krill {

using namespace detail;
namespace {

/// The rows that `flag(where, flags)` marks with 1, on CUDA.
template <class Flag>
Array<std::int32_t> flagged_rows(Context& ctx, std::int64_t rows, Flag&& flag) {
  if (!ctx.on_cuda()) return Array<std::int32_t>(0, "long rows");
  const Array<std::int64_t> starts = scanned<std::int64_t>(ctx, rows, "long rows before", flag);
  Array<std::int32_t> found(last_offset(ctx, starts), "long rows");
  ctx.dispatch([&](const auto& where) { run_pass(where, rows, ListFlagged{starts.read(where), found.write(where)}); });
  return found;
}

/// So many lanes that most rows of A have one for each entry.
template <class T, class Offset>
TeamRows teams_for(Context& ctx, const Csr<T, Offset>& A) {
  const std::int64_t longest = longest_row(ctx, A.row_offsets());
  return {longest <= 8 ? 8 : longest <= 16 ? 16 : 32};
}

/// A matrix of the same shape without entries.
template <class T, class Offset>
Csr<T, Offset> empty_like(const Csr<T, Offset>& A) {
  return {A.cols(), Array(std::vector<Offset>(static_cast<std::size_t>(A.rows()) + 1)), Array<std::int32_t>(0),
          Array<T>(0)};
}

}  // namespace

template <class T, class Offset>
Csr<T, Offset> SpgemmPlan<T, Offset>::pattern_of_product(Context& ctx, const Csr<T, Offset>& a,
                                                         const Csr<T, Offset>& b) {
  require_size("spgemm: rows of op(B)", b.rows(), a.cols());
  const std::int64_t rows = a.rows();
  teams_ = teams_for(ctx, a);
  Array<std::int64_t> products(rows, "products of rows");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, rows, CountProducts<Offset>{pattern(where, a), b.row_offsets().read(where), products.write(where)});
  });
  const Array<std::int32_t> marked = flagged_rows(ctx, rows, [&](const auto& where, std::int64_t* flags) {
    run_pass(where, rows, FlagMergedByBlocks<Offset>{teams_, a.row_offsets().read(where), products.read(where), flags});
  });
  const auto merge = [&](const auto& where, auto sink) {
    merge_products(where, pattern(where, a), pattern(where, b), teams_, products.read(where),
                   RowList{marked.read(where), marked.size()}, sink);
  };
  auto row_offsets =
      checked_offsets<Offset>(ctx, rows, "spgemm row_offsets",
                              [&](const auto& where, std::int64_t* counts) { merge(where, CountUnion{counts}); });
  const std::int64_t nnz = last_offset(ctx, row_offsets);
  Array<std::int32_t> col_indices(nnz, "spgemm col_indices");
  Array<T> values(nnz, "spgemm values");
  ctx.dispatch([&](const auto& where) {
    merge(where, ListUnion<Offset>{row_offsets.read(where), col_indices.write(where)});
    values.write(where);  // so that update() allocates nothing
  });
  long_rows_ = flagged_rows(ctx, rows, [&](const auto& where, std::int64_t* flags) {
    run_pass(where, rows,
             FlagSummedInPieces<Offset>{teams_, a.row_offsets().read(where), row_offsets.read(where), flags});
  });
  return {b.cols(), std::move(row_offsets), std::move(col_indices), std::move(values)};
}

template <class T, class Offset>
SpgemmPlan<T, Offset>::SpgemmPlan(Context& ctx, Op op_a, const Csr<T, Offset>& A, Op op_b, const Csr<T, Offset>& B)
    : a_(ctx, op_a, A), b_(ctx, op_b, B), c_(pattern_of_product(ctx, a_.of(A), b_.of(B))), on_cuda_(ctx.on_cuda()) {}

template <class T, class Offset>
void SpgemmPlan<T, Offset>::update(Context& ctx, const Scalar<T>& alpha, const Csr<T, Offset>& A,
                                   const Csr<T, Offset>& B) {
  require_made_for(ctx, on_cuda_, "spgemm plan");
  require_disjoint("spgemm plan: A and C", A.values(), c_.values());
  require_disjoint("spgemm plan: B and C", B.values(), c_.values());
  a_.update(ctx, A, "spgemm plan: A");
  b_.update(ctx, B, "spgemm plan: B");
  ctx.dispatch([&](const auto& where) {
    const auto a = a_.of(A).view(where), b = b_.of(B).view(where);
    sum_products(where, alpha.read(where), a, b, teams_, RowList{long_rows_.read(where), long_rows_.size()},
                 pattern(where, c_), c_.values().write(where));
  });
}

template <class T, class Offset>
std::size_t SpgemmPlan<T, Offset>::bytes() const {
  return c_.bytes() + a_.bytes() + b_.bytes() + static_cast<std::size_t>(long_rows_.size()) * sizeof(std::int32_t);
}

template <class T, class Offset>
Csr<T, Offset> spgemm(Context& ctx, Op op_a, Op op_b, const std::type_identity_t<Scalar<T>>& alpha,
                      const Csr<T, Offset>& A, const Csr<T, Offset>& B) {
  SpgemmPlan<T, Offset> plan(ctx, op_a, A, op_b, B);
  plan.update(ctx, alpha, A, B);
  return std::move(plan).release();
}

template <class T, class Offset>
Csr<T, Offset> spgemm(Context& ctx, Op op_a, Op op_b, const std::type_identity_t<std::optional<Scalar<T>>>& alpha,
                      const Csr<T, Offset>& A, const Csr<T, Offset>& B,
                      const std::type_identity_t<std::optional<Scalar<T>>>& beta, const Csr<T, Offset>& D) {
  require(alpha || beta, "spgemm: neither alpha nor beta is given");
  if (!beta) return spgemm(ctx, op_a, op_b, *alpha, A, B);
  if (!alpha) return spgeam(ctx, Op::none, Op::none, *beta, D, T(0), empty_like(D));
  return spgeam(ctx, Op::none, Op::none, T(1), spgemm(ctx, op_a, op_b, *alpha, A, B), *beta, D);
}

template <class T, class Offset>
struct SpgemmInstances {
  using Matrix = Csr<T, Offset>;
  using Factor = std::optional<Scalar<T>>;
  static constexpr std::tuple list{
      instance<Matrix(Context&, Op, Op, const Scalar<T>&, const Matrix&, const Matrix&)>(spgemm),
      instance<Matrix(Context&, Op, Op, const Factor&, const Matrix&, const Matrix&, const Factor&, const Matrix&)>(
          spgemm)};
};
KRILL_INSTANTIATE_WITH_OFFSETS(SpgemmPlan);
KRILL_INSTANTIATE_WITH_OFFSETS(SpgemmInstances);

}  // namespace krill
