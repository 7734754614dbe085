#include "sparse/convert/dense.hpp"

#include "sparse/convert/prune.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill {

template <class T, class Offset>
void to_dense(Context& ctx, const Csr<T, Offset>& A, Dense<T>& D) {
  require_size("to_dense: rows of the dense matrix", D.rows(), A.rows());
  require_size("to_dense: columns of the dense matrix", D.cols(), A.cols());
  ctx.dispatch([&](const auto& where) { csr_to_dense<kernel_t<T>, Offset>(where, A.view(where), D.write(where)); });
}

template <class T, class Offset>
Dense<T> to_dense(Context& ctx, const Csr<T, Offset>& A, Order order, std::int64_t leading_dimension) {
  Dense<T> D(A.rows(), A.cols(), order, leading_dimension);
  to_dense(ctx, A, D);
  return D;
}

template <class T, class Offset>
Csr<T, Offset> to_csr(Context& ctx, const Dense<T>& D) {
  return prune<T, Offset>(ctx, D, 0);
}

template <class T>
void count_nonzeros(Context& ctx, const Dense<T>& D, Direction direction, Array<std::int32_t>& counts,
                    Array<std::int64_t>& total) {
  const bool by_rows = direction == Direction::rows;
  require_size("count_nonzeros: counts", counts.size(), by_rows ? D.rows() : D.cols());
  require_size("count_nonzeros: total", total.size(), 1);
  ctx.dispatch([&](const auto& where) {
    const DenseView<const kernel_t<T>> d = D.view(where);
    count_nonzeros(where, by_rows ? d : d.transposed(), counts.write(where), total.write(where));
  });
}

template <class T, class Offset>
struct DenseOffsetInstances {
  static constexpr std::tuple list{instance<Dense<T>(Context&, const Csr<T, Offset>&, Order, std::int64_t)>(to_dense),
                                   instance<void(Context&, const Csr<T, Offset>&, Dense<T>&)>(to_dense),
                                   instance<Csr<T, Offset>(Context&, const Dense<T>&)>(to_csr)};
};
KRILL_INSTANTIATE_WITH_OFFSETS(DenseOffsetInstances);

template <class T>
struct DenseInstances {
  static constexpr auto list =
      instance<void(Context&, const Dense<T>&, Direction, Array<std::int32_t>&, Array<std::int64_t>&)>(count_nonzeros);
};
KRILL_INSTANTIATE(DenseInstances);

}  // namespace krill
