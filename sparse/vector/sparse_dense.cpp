#include "sparse/vector/sparse_dense.hpp"

#include "sparse/convert/structure.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/vector/sparse_dense_passes.hpp"

namespace krill {

using namespace detail;

/// Whether a scalar lies on the host and has that value, so that what it would do need not be launched.
template <class T>
static bool is_known(const ScalarView<T>& scalar, int value) {
  return !scalar.at && scalar.value == T(value);
}

template <class T>
SparseVector<T> to_sparse_vector(Context& ctx, const Array<T>& y) {
  const auto places =
      scanned<std::int32_t>(ctx, y.size(), "sparse vector places", [&](const auto& where, std::int32_t* counts) {
        run_pass(where, y.size(), CountNonzero<kernel_t<T>>{y.read(where), counts});
      });
  const std::int64_t nnz = last_offset(ctx, places);
  Array<std::int32_t> indices(nnz, "sparse vector indices");
  Array<T> values(nnz, "sparse vector values");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, y.size(),
             FillNonzeros<kernel_t<T>>{y.read(where), places.read(where), indices.write(where), values.write(where)});
  });
  return {y.size(), std::move(indices), std::move(values)};
}

template <class T>
void to_dense(Context& ctx, const SparseVector<T>& x, Array<T>& y) {
  axpby(ctx, factor_t<T>(1), x, factor_t<T>(0), y);
}

template <class T>
void gather(Context& ctx, const Array<T>& y, SparseVector<T>& x) {
  require_size("gather: y", y.size(), x.size());
  ctx.dispatch([&](const auto& where) {
    run_entries(where, x.nnz(), GatherEntries<kernel_t<T>>{x.write(where), y.read(where)});
  });
}

template <class T>
void gather_and_clear(Context& ctx, Array<T>& y, SparseVector<T>& x) {
  gather(ctx, y, x);
  ctx.dispatch([&](const auto& where) {
    run_entries(where, x.nnz(), ClearEntries<kernel_t<T>>{x.view(where), y.update(where)});
  });
}

template <class T>
void scatter(Context& ctx, const SparseVector<T>& x, Array<T>& y) {
  require_size("scatter: y", y.size(), x.size());
  ctx.dispatch([&](const auto& where) {
    run_entries(where, x.nnz(), ScatterEntries<kernel_t<T>>{x.view(where), y.update(where)});
  });
}

template <class T>
void axpby(Context& ctx, const std::type_identity_t<Scalar<factor_t<T>>>& alpha, const SparseVector<T>& x,
           const std::type_identity_t<Scalar<factor_t<T>>>& beta, Array<T>& y) {
  require_size("axpby: y", y.size(), x.size());
  ctx.dispatch([&](const auto& where) {
    if constexpr (TwoByte<T>) {  // beta y is not to be rounded where x is added
      const auto factor = beta.read(where);
      auto entries = x.view(where);
      T* const all = y.output(where, beta);
      Frame frame(where);
      T* const results = frame.template take<T>(static_cast<std::size_t>(x.nnz()));
      run_entries(where, x.nnz(), CombineEntries<T>{alpha.read(where), factor, entries, all, results});
      if (!is_known(factor, 1)) run_pass(where, y.size(), ScaleAll<T>{factor, all});
      entries.values = results;
      run_entries(where, x.nnz(), ScatterEntries<T>{entries, all});
    } else {
      const auto factor = beta.read(where);
      auto* const all = y.output(where, beta);
      if (!is_known(factor, 1)) run_pass(where, y.size(), ScaleAll<kernel_t<T>>{factor, all});
      run_entries(where, x.nnz(), AddEntries<kernel_t<T>>{alpha.read(where), x.view(where), y.update(where)});
    }
  });
}

template <class T>
void rotate(Context& ctx, SparseVector<T>& x, Array<T>& y, const std::type_identity_t<Scalar<factor_t<T>>>& c,
            const std::type_identity_t<Scalar<factor_t<T>>>& s) {
  require_size("rotate: y", y.size(), x.size());
  ctx.dispatch([&](const auto& where) {
    run_entries(where, x.nnz(),
                RotateEntries<kernel_t<T>>{c.read(where), s.read(where), x.update(where), y.update(where)});
  });
}

template <class T>
void dot(Context& ctx, const SparseVector<T>& x, const Array<T>& y, Array<wide_t<T>>& result, Op op) {
  require_size("dot: y", y.size(), x.size());
  require_size("dot: result", result.size(), 1);
  ctx.dispatch([&](const auto& where) {
    run_pass(where, x.nnz(),
             DotEntries<kernel_t<T>>{x.view(where), y.read(where), op == Op::adjoint, result.write(where)});
  });
}

template <class T, class Result>
requires NarrowDot<T, Result>
void dot(Context& ctx, const SparseVector<T>& x, const Array<T>& y, Array<Result>& result) {
  require_size("dot: y", y.size(), x.size());
  require_size("dot: result", result.size(), 1);
  ctx.dispatch([&](const auto& where) {
    run_pass(where, x.nnz(), DotNarrowEntries<T, Result>{x.view(where), y.read(where), result.write(where)});
  });
}

template <class T>
struct SparseDenseInstances {
  static constexpr std::tuple list{
      instance<SparseVector<T>(Context&, const Array<T>&)>(to_sparse_vector),
      instance<void(Context&, const SparseVector<T>&, Array<T>&)>(to_dense),
      instance<void(Context&, const Array<T>&, SparseVector<T>&)>(gather),
      instance<void(Context&, Array<T>&, SparseVector<T>&)>(gather_and_clear),
      instance<void(Context&, const SparseVector<T>&, Array<T>&)>(scatter),
      instance<void(Context&, const Scalar<T>&, const SparseVector<T>&, const Scalar<T>&, Array<T>&)>(axpby),
      instance<void(Context&, SparseVector<T>&, Array<T>&, const Scalar<T>&, const Scalar<T>&)>(rotate),
      instance<void(Context&, const SparseVector<T>&, const Array<T>&, Array<wide_t<T>>&, Op)>(dot)};
};
KRILL_INSTANTIATE(SparseDenseInstances);

template <class T, class... Result>
struct NarrowDotInstances {
  static constexpr std::tuple list{
      instance<void(Context&, const SparseVector<T>&, const Array<T>&, Array<Result>&)>(dot)...};
};
template <class T>
struct TwoByteInstances {
  using Factor = Scalar<float>;
  static constexpr std::tuple list{
      instance<void(Context&, const SparseVector<T>&, Array<T>&)>(to_dense),
      instance<void(Context&, const Array<T>&, SparseVector<T>&)>(gather),
      instance<void(Context&, Array<T>&, SparseVector<T>&)>(gather_and_clear),
      instance<void(Context&, const SparseVector<T>&, Array<T>&)>(scatter),
      instance<void(Context&, const Factor&, const SparseVector<T>&, const Factor&, Array<T>&)>(axpby),
      instance<void(Context&, SparseVector<T>&, Array<T>&, const Factor&, const Factor&)>(rotate)};
};
template struct TwoByteInstances<Half>;
template struct TwoByteInstances<BFloat16>;
template struct NarrowDotInstances<Half, float, Half>;
template struct NarrowDotInstances<BFloat16, float, BFloat16>;
template struct NarrowDotInstances<std::int8_t, float, std::int32_t>;

}  // namespace krill
