#include "sparse/banded/weak_rows.hpp"

#include "sparse/core/instantiate.hpp"

namespace krill {

template <class T>
detail::WeakRows detail::weak_rows(Context& ctx, const Banded<T>& A) {
  Array<WeakRows> found(1, "rows that are not dominant");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, A.layout().unknowns(), FindWeakRows<kernel_t<T>>{A.view(where), found.write(where)});
  });
  return found.host()[0];
}

template <class T>
BandedMethod method_for(Context& ctx, const Banded<T>& A) {
  const bool dominant = detail::weak_rows(ctx, A).not_dominant.row == detail::no_row;
  return dominant ? BandedMethod::thomas : BandedMethod::lu;
}

template <class T>
struct WeakRowInstances {
  static constexpr std::tuple list{instance<detail::WeakRows(Context&, const Banded<T>&)>(detail::weak_rows),
                                   instance<BandedMethod(Context&, const Banded<T>&)>(method_for)};
};
KRILL_INSTANTIATE(WeakRowInstances);

}  // namespace krill
