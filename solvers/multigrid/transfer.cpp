#include "solvers/multigrid/transfer.hpp"

#include "solvers/multigrid/multigrid_passes.hpp"
#include "sparse/spmv/work.hpp"

namespace krill {

using namespace detail;

template <class T>
MatrixTransfer<T>::MatrixTransfer(Context& ctx, AnyMatrix<T> P, AnyMatrix<T> R, double factor)
    : P_(std::move(P)),
      R_(std::move(R)),
      prolong_(P_),
      restrict_(R_),
      plan_bytes_(prolong_.prepare(ctx).bytes() + restrict_.prepare(ctx).bytes()),
      factor_(static_cast<real_t<T>>(factor)) {}

template <class T>
void MatrixTransfer<T>::restrict_to(Context& ctx, const Array<T>& r, Array<T>& coarse) const {
  restrict_.apply(ctx, r, coarse);
}

template <class T>
void MatrixTransfer<T>::add_correction(Context& ctx, const Array<T>& coarse, Array<T>& x) const {
  prolong_.prepare(ctx).apply(ctx, factor_, coarse, T(1), x);
}

template <class T>
std::size_t MatrixTransfer<T>::bytes() const {
  return krill::bytes(P_) + krill::bytes(R_) + plan_bytes_;
}

template <class T>
Work MatrixTransfer<T>::work() const {
  const std::int64_t fine = rows(P_), coarse = cols(P_);
  Work work{spmv_bytes<T>(matrix_bytes(P_), fine, coarse, true), spmv_flops<T>(fine, nnz(P_), false)};
  work += {spmv_bytes<T>(matrix_bytes(R_), coarse, fine, false), spmv_flops<T>(coarse, nnz(R_), false)};
  return work;
}

template <class T>
AggregateTransfer<T>::AggregateTransfer(Aggregates aggregates, double factor)
    : aggregates_(std::move(aggregates)), factor_(factor) {}

template <class T>
void AggregateTransfer<T>::restrict_to(Context& ctx, const Array<T>& r, Array<T>& coarse) const {
  require_size("restriction: r", r.size(), aggregates_.of_row.size());
  require_size("restriction: coarse", coarse.size(), aggregates_.count);
  ctx.dispatch([&](const auto& where) {
    run_pass(where, coarse.size(),
             SumAggregates<kernel_t<T>>{aggregates_.offsets.read(where), aggregates_.rows.read(where), r.read(where),
                                        coarse.write(where)});
  });
}

template <class T>
void AggregateTransfer<T>::add_correction(Context& ctx, const Array<T>& coarse, Array<T>& x) const {
  require_size("correction: x", x.size(), aggregates_.of_row.size());
  require_size("correction: coarse", coarse.size(), aggregates_.count);
  ctx.dispatch([&](const auto& where) {
    run_pass(where, x.size(),
             AddAggregates<kernel_t<T>>{aggregates_.of_row.read(where), static_cast<real_t<T>>(factor_),
                                        coarse.read(where), x.update(where)});
  });
}

template <class T>
std::size_t AggregateTransfer<T>::bytes() const {
  return detail::bytes_of(aggregates_.of_row, aggregates_.offsets, aggregates_.rows);
}

template <class T>
Work AggregateTransfer<T>::work() const {
  const auto fine = static_cast<double>(aggregates_.of_row.size()), coarse = static_cast<double>(aggregates_.count);
  return {(fine * 3 + coarse * 2) * sizeof(T) + (2 * fine + coarse + 1) * sizeof(std::int32_t), fine * multiply_add<T>};
}

template class MatrixTransfer<float>;
template class MatrixTransfer<double>;
template class MatrixTransfer<std::complex<float>>;
template class MatrixTransfer<std::complex<double>>;
template class AggregateTransfer<float>;
template class AggregateTransfer<double>;
template class AggregateTransfer<std::complex<float>>;
template class AggregateTransfer<std::complex<double>>;

}  // namespace krill
