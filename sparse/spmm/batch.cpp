#include "sparse/spmm/batch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sparse/convert/convert.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/spmm/call.hpp"

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

/// How far the next matrix's arrays are.
struct BatchStrides {
  std::int64_t offsets, columns, values;
};

/// Raises InvalidArgument where a matrix of C shares memory that a caller lends with one of B. Matrices of one batch
/// may lie between those of the other.
template <class T>
void require_apart(const DenseView<const T>& b, std::int64_t next_b, std::int64_t count_b, const DenseView<T>& c,
                   std::int64_t next_c, std::int64_t count_c) {
  constexpr std::int64_t size = sizeof(T);
  const auto address = [](const T* at) { return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(at)); };
  const std::int64_t first = address(b.values) - address(c.values), pitch = next_c * size;
  if (first >= count_c * pitch || first + count_b * next_b * size <= 0) return;
  for (std::int64_t i = 0; i < count_b; ++i) {
    const std::int64_t begin = first + i * next_b * size, end = begin + next_b * size;
    if (end <= 0) continue;
    DenseView<const T> from = b;
    from.values += i * next_b;
    for (std::int64_t j = std::max(begin, std::int64_t{0}) / pitch; j < std::min(count_c, ceil_div(end, pitch)); ++j) {
      DenseView<T> to = c;
      to.values += j * next_c;
      detail::require_apart("spmm of a batch: B and C", from, to);
    }
  }
}

/// The operands of C_i = alpha A_i op_b(B_i) + beta C_i, but for A.
template <class T>
struct BatchCall {
  Op op_b;
  const Scalar<T>& alpha;
  const DenseBatch<T>& B;
  const Scalar<T>& beta;
  DenseBatch<T>& C;

  void check(std::int32_t rows, std::int32_t cols, std::int32_t count) const {
    const bool turned = op_b != Op::none;
    require_size("spmm of a batch: rows of op(B)", turned ? B.cols() : B.rows(), cols);
    require_size("spmm of a batch: rows of C", C.rows(), rows);
    require_size("spmm of a batch: columns of C", C.cols(), turned ? B.rows() : B.cols());
    if (count != 1) require_size("spmm of a batch: matrices of A", count, C.count());
    if (B.count() != 1) require_size("spmm of a batch: matrices of B", B.count(), C.count());
    require_disjoint("spmm of a batch: B and C", B.values(), C.values());
  }

  /// The products with the matrices from `a` on.
  template <class Where, class Offset>
  void run(const Where& where, const CsrView<const kernel_t<T>, Offset>& a, const BatchStrides& next) const {
    const auto first = alpha.read(where), second = beta.read(where);
    const auto b = op_b != Op::none ? B.view(where).transposed() : B.view(where);
    const auto c = C.output(where, beta);
    if (c.rows == 0 || c.cols == 0) return;
    require_apart(b, B.stride(), B.count(), c, C.stride(), C.count());
    ManyProducts<kernel_t<T>, Offset> products{{{first, b, op_b == Op::adjoint, second, c}, a}};
    const std::int64_t count = C.count();
    const bool one_A = next.offsets == 0 && next.columns == 0 && next.values == 0, one_B = B.count() == 1;
    if (one_A && !one_B && is_one_matrix(b, B.stride()) && is_one_matrix(c, C.stride()) &&
        count * c.cols <= std::numeric_limits<std::int32_t>::max()) {
      products.b = as_one_matrix(b, B.stride(), count), products.c = as_one_matrix(c, C.stride(), count);
      return run_many_columns(where, products);
    }
    run_batch(where, ProductBatch<kernel_t<T>, Offset>{products, count, next.offsets, next.columns, next.values,
                                                       one_B ? 0 : B.stride(), C.stride()});
  }
};

/// validate() of the matrices of a batch, or of the first where all have its pattern.
template <class Batch>
void validate_members(const Batch& A, bool one_pattern) {
  for (std::int32_t i = 0; i < (one_pattern ? 1 : A.count()); ++i) try {
      validate(Host{}, A.view(Host{}, i));
    } catch (const InvalidArgument& error) {
      throw InvalidArgument(fmt::format("matrix {} of the batch: {}", i, error.what()));
    }
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
  validate_members(A, A.offsets_stride() == 0 && A.columns_stride() == 0);
}

template <class T>
CooBatch<T>::CooBatch(std::int32_t count, std::int32_t rows, std::int32_t cols, std::int64_t nnz,
                      Array<std::int32_t> row_indices, Array<std::int32_t> col_indices, Array<T> values)
    : MatrixShape("coo batch", rows, cols),
      count_(checked_count("coo batch", count)),
      nnz_(nnz),
      row_indices_(std::move(row_indices)),
      col_indices_(std::move(col_indices)),
      values_(std::move(values)) {
  require_one_or_all("coo batch: row_indices", row_indices_.size(), nnz, count);
  require_one_or_all("coo batch: col_indices", col_indices_.size(), nnz, count);
  require_one_or_all("coo batch: values", values_.size(), nnz, count);
}

template <class T>
void validate(const CooBatch<T>& A) {
  validate_members(A, A.rows_stride() == 0 && A.columns_stride() == 0);
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
  const BatchCall<T> call{op_b, alpha, B, beta, C};
  call.check(A.rows(), A.cols(), A.count());
  ctx.dispatch([&](const auto& where) {
    call.run(where, A.view(where), {A.offsets_stride(), A.columns_stride(), A.values_stride()});
  });
}

template <class T>
void spmm(Context& ctx, Op op_b, const std::type_identity_t<Scalar<T>>& alpha, const CooBatch<T>& A,
          const DenseBatch<T>& B, const std::type_identity_t<Scalar<T>>& beta, DenseBatch<T>& C) {
  const BatchCall<T> call{op_b, alpha, B, beta, C};
  call.check(A.rows(), A.cols(), A.count());
  ctx.dispatch([&](const auto& where) {
    const auto a = A.view(where);
    const std::int64_t each = A.rows() + std::int64_t{1}, all = A.rows_stride() == 0 ? each : A.count() * each;
    Frame frame(where);
    auto* offsets = frame.take<std::int64_t>(static_cast<std::size_t>(all));
    if constexpr (std::is_same_v<std::decay_t<decltype(where)>, Cuda>)  // a launch for all
      run_pass(where, all, BatchOffsets{a.row_indices, A.rows(), A.nnz(), offsets});
    else
      for (std::int64_t i = 0; i < all / each; ++i)
        compress_rows(where, A.rows(), A.nnz(), a.row_indices + i * A.nnz(), offsets + i * each);
    const CsrView<const kernel_t<T>, std::int64_t> first{a.rows, a.cols, a.nnz, offsets, a.col_indices, a.values};
    call.run(where, first, {all == each ? 0 : each, A.columns_stride(), A.values_stride()});
  });
}

template <class T, class Offset>
struct SpmmBatchInstances {
  static constexpr std::tuple list{instance<void(Context&, Op, const Scalar<T>&, const CsrBatch<T, Offset>&,
                                                 const DenseBatch<T>&, const Scalar<T>&, DenseBatch<T>&)>(spmm),
                                   instance<void(const CsrBatch<T, Offset>&)>(validate)};
};
template <class T>
struct CooBatchInstances {
  static constexpr std::tuple list{instance<void(Context&, Op, const Scalar<T>&, const CooBatch<T>&,
                                                 const DenseBatch<T>&, const Scalar<T>&, DenseBatch<T>&)>(spmm),
                                   instance<void(const CooBatch<T>&)>(validate)};
};
KRILL_INSTANTIATE_WITH_OFFSETS(CsrBatch);
KRILL_INSTANTIATE(CooBatch);
KRILL_INSTANTIATE(DenseBatch);
KRILL_INSTANTIATE_WITH_OFFSETS(SpmmBatchInstances);
KRILL_INSTANTIATE(CooBatchInstances);

}  // namespace krill
