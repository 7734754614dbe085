#include "sparse/vector/vector.hpp"

#include "sparse/core/instantiate.hpp"
#include "sparse/vector/vector_passes.hpp"

namespace krill {

using namespace detail;

template <class T>
void fill(Context& ctx, const std::type_identity_t<Scalar<T>>& value, Array<T>& x) {
  ctx.dispatch([&](const auto& where) {
    run_pass(where, x.size(), FillWith<kernel_t<T>>{value.read(where), x.write(where)});
  });
}

template <class T>
void copy(Context& ctx, const Array<T>& x, Array<T>& y) {
  axpby(ctx, T(1), x, T(0), y);
}

template <class T>
void axpby(Context& ctx, const std::type_identity_t<Scalar<T>>& alpha, const Array<T>& x,
           const std::type_identity_t<Scalar<T>>& beta, Array<T>& y) {
  require_size("axpby: y", y.size(), x.size());
  ctx.dispatch([&](const auto& where) {
    run_pass(where, x.size(),
             Axpby<kernel_t<T>>{alpha.read(where), beta.read(where), x.read(where), y.output(where, beta)});
  });
}

template <class T>
void multiply(Context& ctx, const Array<T>& x, const Array<T>& y, Array<T>& z) {
  require_size("multiply: y", y.size(), x.size());
  require_size("multiply: z", z.size(), x.size());
  ctx.dispatch([&](const auto& where) {
    run_pass(where, x.size(), Multiply<kernel_t<T>>{x.read(where), y.read(where), z.write(where)});
  });
}

template <class T>
void dot(Context& ctx, const Array<T>& x, const Array<T>& y, Array<wide_t<T>>& result) {
  require_size("dot: y", y.size(), x.size());
  require_size("dot: result", result.size(), 1);
  ctx.dispatch([&](const auto& where) {
    run_pass(where, x.size(), Dot<kernel_t<T>>{x.read(where), y.read(where), result.write(where)});
  });
}

template <class T>
void norm2(Context& ctx, const Array<T>& x, Array<double>& result) {
  require_size("norm2: result", result.size(), 1);
  ctx.dispatch([&](const auto& where) {
    run_pass(where, x.size(), Norm2<kernel_t<T>>{x.read(where), result.write(where)});
  });
}

template <class T>
void max_abs(Context& ctx, const Array<T>& x, Array<double>& result) {
  require_size("max_abs: result", result.size(), 1);
  ctx.dispatch([&](const auto& where) {
    run_pass(where, x.size(), MaxAbs<kernel_t<T>>{x.read(where), result.write(where)});
  });
}

template <class T>
struct VectorInstances {
  static constexpr std::tuple list{
      instance<void(Context&, const Scalar<T>&, Array<T>&)>(fill),
      instance<void(Context&, const Array<T>&, Array<T>&)>(copy),
      instance<void(Context&, const Scalar<T>&, const Array<T>&, const Scalar<T>&, Array<T>&)>(axpby),
      instance<void(Context&, const Array<T>&, const Array<T>&, Array<T>&)>(multiply),
      instance<void(Context&, const Array<T>&, const Array<T>&, Array<wide_t<T>>&)>(dot),
      instance<void(Context&, const Array<T>&, Array<double>&)>(norm2),
      instance<void(Context&, const Array<T>&, Array<double>&)>(max_abs)};
};
KRILL_INSTANTIATE(VectorInstances);

}  // namespace krill
