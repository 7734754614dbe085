#include "sparse/spmm/plan.hpp"

#include <fmt/format.h>

#include "sparse/core/instantiate.hpp"
#include "sparse/spmm/call.hpp"
#include "sparse/spmm/planned_tiles.hpp"
#include "sparse/spmv/planned_csr.hpp"
#include "sparse/spmv/product.hpp"

namespace krill {

using namespace detail;

template <class T>
struct SpmmPlan<T>::Body {
  PlannedCsr<T> csr;
  PlannedTiles tiles;
  CsrTiles vector = {};  // of a product with one

  void find_tiles(Context& ctx) {
    csr.with_arrays([&](const auto& offsets, const auto& values) {
      if (tiles.columns == 1)
        vector = CsrTiles::of(ctx, csr.rows(), offsets, values);
      else
        tiles.find(ctx, csr.rows(), values.size(), sizeof(T), offsets);
    });
  }

  template <class Where, class V, class Offset>
  void multiply(const Where& where, const ManyProducts<V, Offset>& p) const {
    if constexpr (std::is_same_v<Where, Cuda>) {
      if (is_spmv(p) && !vector.empty()) return run_product(where, as_spmv(p), vector.view(where));
      if (const CsrTiles* known = tiles.of(p)) return run_products(where, p, known->view(where));
    }
    is_spmv(p) ? run_product(where, as_spmv(p)) : run_products(where, p);
  }
};

template <class T>
SpmmPlan<T>::SpmmPlan(Context& ctx, const AnyMatrix<T>& A, Op op, std::int64_t columns) {
  require(columns >= 1 && columns <= std::numeric_limits<std::int32_t>::max(),
          fmt::format("spmm plan: columns: expected 1 to 2147483647, got {}", columns));
  const Context::SkipScope never(ctx, nullptr);  // a plan that was left half made would stay so
  body_.reset(new Body{{ctx, A, op}, {static_cast<std::int32_t>(columns)}});
  body_->find_tiles(ctx);
  ctx.synchronize();
}

template <class T>
SpmmPlan<T>::SpmmPlan(SpmmPlan&&) noexcept = default;
template <class T>
SpmmPlan<T>& SpmmPlan<T>::operator=(SpmmPlan&&) noexcept = default;
template <class T>
SpmmPlan<T>::~SpmmPlan() = default;

template <class T>
std::int32_t SpmmPlan<T>::rows() const {
  return body_->csr.rows();
}
template <class T>
std::int32_t SpmmPlan<T>::cols() const {
  return body_->csr.cols();
}
template <class T>
std::size_t SpmmPlan<T>::bytes() const {
  return body_->csr.bytes() + body_->vector.bytes() + body_->tiles.bytes();
}

template <class T>
void SpmmPlan<T>::update(Context& ctx) {
  const Context::SkipScope never(ctx, nullptr);
  if (body_->csr.update(ctx)) body_->find_tiles(ctx);
}

template <class T>
void SpmmPlan<T>::apply(Context& ctx, Op op_b, const Scalar<T>& alpha, const Dense<T>& B, const Scalar<T>& beta,
                        Dense<T>& C) const {
  const SpmmCall<T> call{alpha, op_b, B, beta, C};
  call.check(rows(), cols());
  ctx.dispatch([&](const auto& where) {
    call.with_operands(where, [&](const auto& dense) {
      body_->csr.with_view(where, [&]<class Offset>(const CsrView<const kernel_t<T>, Offset>& a) {
        body_->multiply(where, ManyProducts<kernel_t<T>, Offset>{{dense, a}});
      });
    });
  });
}

KRILL_INSTANTIATE(SpmmPlan);

}  // namespace krill
