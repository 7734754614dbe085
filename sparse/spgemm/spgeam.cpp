#include "sparse/spgemm/spgeam.hpp"

#include <numeric>

#include "sparse/convert/checked_offsets.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/made_for.hpp"
#include "sparse/spgemm/merge_pair.hpp"

namespace krill {

using namespace detail;
namespace {

/// The union of the patterns; values are unspecified.
template <class T, class Offset>
Csr<T, Offset> united(Context& ctx, const Csr<T, Offset>& A, const Csr<T, Offset>& B) {
  require_size("spgeam: rows of op(B)", B.rows(), A.rows());
  require_size("spgeam: columns of op(B)", B.cols(), A.cols());
  CheckedOffsets<Offset> sizes =
      checked_offsets<Offset>(ctx, A.rows(), "spgeam row_offsets", [&](const auto& where, std::int64_t* counts) {
        merge_pair(where, pattern(where, A), pattern(where, B), CountUnion{counts});
      });
  Array<std::int32_t> col_indices(sizes.nnz, "spgeam col_indices");
  Array<T> values(sizes.nnz, "spgeam values");
  ctx.dispatch([&](const auto& where) {
    merge_pair(where, pattern(where, A), pattern(where, B),
               ListUnion<Offset>{sizes.offsets.read(where), col_indices.write(where)});
    values.write(where);  // so that update() allocates nothing
  });
  return {A.cols(), std::move(sizes.offsets), std::move(col_indices), std::move(values)};
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
  SpgeamPlan<T, Offset> plan(ctx, op_a, A, op_b, B);
  plan.update(ctx, alpha, A, beta, B);
  return std::move(plan).release();
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
