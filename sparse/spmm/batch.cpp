#include "sparse/spmm/batch.hpp"

#include <fmt/format.h>

#include "sparse/core/instantiate.hpp"

namespace krill {

using namespace detail;
namespace {

std::int32_t checked_count(const char* what, std::int32_t count) {
  require(count >= 1, fmt::format("{}: a batch of {} matrices; there has to be one", what, count));
  return count;
}

/// The size of one, or of `count`.
void require_one_or_all(const char* what, std::int64_t size, std::int64_t of_one, std::int32_t count) {
  if (size != of_one) require_size(what, size, of_one * count);
}

std::int64_t checked_stride(std::int64_t asked, std::int64_t least) {
  require(asked == 0 || asked >= least,
          fmt::format("dense batch: a stride of {} entries, but each matrix takes {}", asked, least));
  return asked == 0 ? least : asked;
}

/// Columns of a batch that lie evenly apart, as those of one matrix.
template <class T>
bool is_one_matrix(const DenseView<T>& first, std::int64_t stride) {
  return first.order == Order::column_major && (first.cols == 1 || stride == first.leading_dimension * first.cols);
}
template <class T>
DenseView<T> as_one_matrix(DenseView<T> first, std::int64_t stride, std::int64_t count) {
  if (first.cols == 1) first.leading_dimension = stride;
  first.cols = static_cast<std::int32_t>(first.cols * count);
  return first;
}

}  // namespace

template <class T, class Offset>
CsrBatch<T, Offset>::CsrBatch(std::int32_t count, std::int32_t rows, std::int32_t cols, std::int64_t nnz,
                              Array<Offset> row_offsets, Array<std::int32_t> col_indices, Array<T> values)
    : MatrixShape("csr batch", rows, cols),
      count_(checked_count("csr batch", count)),
      nnz_(nnz),
      row_offsets_(std::move(row_offsets)),
      col_indices_(std::move(col_indices)),
      values_(std::move(values)) {
  require_one_or_all("csr batch: row_offsets", row_offsets_.size(), std::int64_t{rows} + 1, count);
  require_one_or_all("csr batch: col_indices", col_indices_.size(), nnz, count);
  require_one_or_all("csr batch: values", values_.size(), nnz, count);
}

template <class T, class Offset>
void validate(const CsrBatch<T, Offset>& A) {
  const bool shared = A.offsets_stride() == 0 && A.columns_stride() == 0;
  for (std::int32_t i = 0; i < (shared ? 1 : A.count()); ++i) try {
      validate(Host{}, A.view(Host{}, i));
    } catch (const InvalidArgument& error) {
      throw InvalidArgument(fmt::format("matrix {} of the batch: {}", i, error.what()));
    }
}

template <class T>
DenseBatch<T>::DenseBatch(std::int32_t count, std::int64_t rows, std::int64_t cols, Order order,
                          std::int64_t leading_dimension, std::int64_t stride)
    : MatrixShape("dense batch", rows, cols),
      count_(checked_count("dense batch", count)),
      order_(order),
      leading_dimension_(dense_leading_dimension(*this, order, leading_dimension)),
      stride_(checked_stride(stride, leading_dimension_ * (order == Order::column_major ? cols : rows))),
      values_(stride_ * count, "dense batch values") {}
template <class T>
DenseBatch<T>::DenseBatch(std::int32_t count, std::int64_t rows, std::int64_t cols, Array<T> values, Order order,
                          std::int64_t leading_dimension, std::int64_t stride)
    : DenseBatch(count, rows, cols, order, leading_dimension, stride) {
  require_size("dense batch: values", values.size(), values_.size());
  values_ = std::move(values);
}

template <class T, class Offset>
void spmm(Context& ctx, Op op_b, const std::type_identity_t<Scalar<T>>& alpha, const CsrBatch<T, Offset>& A,
          const DenseBatch<T>& B, const std::type_identity_t<Scalar<T>>& beta, DenseBatch<T>& C) {
  const bool turned = op_b != Op::none;
  require_size("spmm of a batch: rows of op(B)", turned ? B.cols() : B.rows(), A.cols());
  require_size("spmm of a batch: rows of C", C.rows(), A.rows());
  require_size("spmm of a batch: columns of C", C.cols(), turned ? B.rows() : B.cols());
  if (A.count() != 1) require_size("spmm of a batch: matrices of A", A.count(), C.count());
  if (B.count() != 1) require_size("spmm of a batch: matrices of B", B.count(), C.count());
  require_disjoint("spmm of a batch: B and C", B.values(), C.values());
  ctx.dispatch([&](const auto& where) {
    const auto first = alpha.read(where), second = beta.read(where);
    const auto a = A.view(where);
    const auto b = turned ? B.view(where).transposed() : B.view(where);
    const auto c = C.output(where, beta);
    if (c.rows == 0 || c.cols == 0) return;
    using Products = ManyProducts<kernel_t<T>, Offset>;
    Products products{{first, b, op_b == Op::adjoint, second, c}, a};
    const std::int64_t count = C.count();
    const bool one_A = A.offsets_stride() == 0 && A.columns_stride() == 0 && A.values_stride() == 0;
    const bool one_B = B.count() == 1;
    if (one_A && !one_B && is_one_matrix(b, B.stride()) && is_one_matrix(c, C.stride()) &&
        count * c.cols <= std::numeric_limits<std::int32_t>::max()) {
      products.b = as_one_matrix(b, B.stride(), count), products.c = as_one_matrix(c, C.stride(), count);
      return run_products(where, products);
    }
    run_batch(where, ProductBatch<kernel_t<T>, Offset>{products, count, A.offsets_stride(), A.columns_stride(),
                                                       A.values_stride(), one_B ? 0 : B.stride(), C.stride()});
  });
}

template <class T, class Offset>
struct SpmmBatchInstances {
  static constexpr std::tuple list{instance<void(Context&, Op, const Scalar<T>&, const CsrBatch<T, Offset>&,
                                                 const DenseBatch<T>&, const Scalar<T>&, DenseBatch<T>&)>(spmm),
                                   instance<void(const CsrBatch<T, Offset>&)>(validate)};
};
KRILL_INSTANTIATE_WITH_OFFSETS(CsrBatch);
KRILL_INSTANTIATE(DenseBatch);
KRILL_INSTANTIATE_WITH_OFFSETS(SpmmBatchInstances);

}  // namespace krill
