#include "sparse/spgemm/spgeam.hpp"

#include <numeric>

#include "sparse/convert/checked_offsets.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/made_for.hpp"
#include "sparse/spgemm/merge_pair.hpp"

namespace krill {

using namespace detail;
namespace {

/// The rows of C. Raises ShapeMismatch.
template <class T, class Offset>
CheckedOffsets<Offset> rows_of_union(Context& ctx, const Csr<T, Offset>& A, const Csr<T, Offset>& B) {
  require_size("spgeam: rows of op(B)", B.rows(), A.rows());
  require_size("spgeam: columns of op(B)", B.cols(), A.cols());
  return checked_offsets<Offset>(ctx, A.rows(), "spgeam row_offsets", [&](const auto& where, std::int64_t* counts) {
    merge_pair(where, pattern(where, A), pattern(where, B), CountUnion{counts});
  });
}

/// C of those rows: list(where, offsets, columns, values) finds its entries.
template <class T, class Offset, class List>
Csr<T, Offset> listed(Context& ctx, std::int32_t cols, CheckedOffsets<Offset> rows, List&& list) {
  Array<std::int32_t> col_indices(rows.nnz, "spgeam col_indices");
  Array<T> values(rows.nnz, "spgeam values");
  ctx.dispatch(
      [&](const auto& where) { list(where, rows.offsets.read(where), col_indices.write(where), values.write(where)); });
  return {cols, std::move(rows.offsets), std::move(col_indices), std::move(values)};
}

/// The union of the patterns; values are unspecified, and have their memory, so that update() allocates nothing.
template <class T, class Offset>
Csr<T, Offset> united(Context& ctx, const Csr<T, Offset>& A, const Csr<T, Offset>& B) {
  return listed<T>(ctx, A.cols(), rows_of_union(ctx, A, B),
                   [&](const auto& where, const Offset* offsets, std::int32_t* columns, auto*) {
                     merge_pair(where, pattern(where, A), pattern(where, B), ListUnion<Offset>{offsets, columns});
                   });
}

}  // namespace

template <class T, class Offset>
SpgeamPlan<T, Offset>::SpgeamPlan(Context& ctx, Op op_a, const Csr<T, Offset>& A, Op op_b, const Csr<T, Offset>& B)
    : a_(ctx, op_a, A), b_(ctx, op_b, B), c_(united(ctx, a_.of(A), b_.of(B))), on_cuda_(ctx.on_cuda()) {}

template <class T, class Offset>
void SpgeamPlan<T, Offset>::update(Context& ctx, const Scalar<T>& alpha, const Csr<T, Offset>& A, const Scalar<T>& beta,
                                   const Csr<T, Offset>& B) {
  require_made_for(ctx, on_cuda_, "spgeam plan");
  require_disjoint("spgeam plan: A and C", A.values(), c_.values());
  require_disjoint("spgeam plan: B and C", B.values(), c_.values());
  a_.update(ctx, A, "spgeam plan: A");
  b_.update(ctx, B, "spgeam plan: B");
  const auto &a = a_.of(A), &b = b_.of(B);
  ctx.dispatch([&](const auto& where) {
    merge_pair(where, pattern(where, a), pattern(where, b),
               AddUnion<kernel_t<T>, Offset>{c_.row_offsets().read(where), alpha.read(where), a.values().read(where),
                                             beta.read(where), b.values().read(where), c_.values().write(where)});
  });
}

template <class T, class Offset>
Csr<T, Offset> spgeam(Context& ctx, Op op_a, Op op_b, const std::type_identity_t<Scalar<T>>& alpha,
                      const Csr<T, Offset>& A, const std::type_identity_t<Scalar<T>>& beta, const Csr<T, Offset>& B) {
  const Operand<T, Offset> first(ctx, op_a, A), second(ctx, op_b, B);
  const auto &a = first.of(A), &b = second.of(B);
  return listed<T>(ctx, a.cols(), rows_of_union(ctx, a, b),
                   [&](const auto& where, const Offset* offsets, std::int32_t* columns, auto* values) {
                     merge_pair(
                         where, pattern(where, a), pattern(where, b),
                         AddUnion<kernel_t<T>, Offset>{offsets, alpha.read(where), a.values().read(where),
                                                       beta.read(where), b.values().read(where), values, columns});
                   });
}

template <class T, class Offset>
Csr<T, Offset> identity(std::int32_t rows) {
  std::vector<Offset> row_offsets(static_cast<std::size_t>(rows) + 1);
  std::vector<std::int32_t> col_indices(static_cast<std::size_t>(rows));
  std::iota(row_offsets.begin(), row_offsets.end(), Offset{0});
  std::iota(col_indices.begin(), col_indices.end(), 0);
  return {rows, Array(std::move(row_offsets), "identity row_offsets"),
          Array(std::move(col_indices), "identity col_indices"),
          Array(std::vector<T>(static_cast<std::size_t>(rows), T(1)), "identity values")};
}

template <class T, class Offset>
Csr<T, Offset> add_identity(Context& ctx, const Csr<T, Offset>& A, const std::type_identity_t<Scalar<T>>& alpha) {
  require_size("add_identity: columns of the square matrix", A.cols(), A.rows());
  return spgeam(ctx, Op::none, Op::none, T(1), A, alpha, identity<T, Offset>(A.rows()));
}

template <class T, class Offset>
struct SpgeamInstances {
  using Matrix = Csr<T, Offset>;
  static constexpr std::tuple list{
      instance<Matrix(Context&, Op, Op, const Scalar<T>&, const Matrix&, const Scalar<T>&, const Matrix&)>(spgeam),
      instance<Matrix(std::int32_t)>(identity<T, Offset>),
      instance<Matrix(Context&, const Matrix&, const Scalar<T>&)>(add_identity)};
};
KRILL_INSTANTIATE_WITH_OFFSETS(SpgeamPlan);
KRILL_INSTANTIATE_WITH_OFFSETS(SpgeamInstances);

}  // namespace krill
