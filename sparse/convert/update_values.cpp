#include "sparse/convert/convert.hpp"
#include "sparse/convert/convert_passes.hpp"
#include "sparse/convert/dia_passes.hpp"
#include "sparse/convert/fill_blocks.hpp"
#include "sparse/convert/formats.hpp"
#include "sparse/convert/sell_passes.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill {

using namespace detail;
namespace {

/// Whether nnz() leaves out what a format fills up.
template <class Matrix>
inline constexpr bool counts_entries = !requires(const Matrix& a) {
  a.blocks();
}
&&!requires(const Matrix& a) { a.block_dim(); };

// New values for each format. A format's view is const, the pass's is not: it writes values alone.
template <class T, class Offset, class To>
requires OneOf<To, Csr<T, std::int32_t>, Csr<T, std::int64_t>, Coo<T>, CooAos<T>>
void update(Context& ctx, const Csr<T, Offset>& from, To& to) { copy_bits(ctx, from.values(), to.values()); }

template <class T, class Offset>
void update(Context& ctx, const Csr<T, Offset>& from, Csc<T>& to) {
  ctx.dispatch([&](const auto& where) {
    run_pass(where, to.cols(),
             FillColumns<kernel_t<T>, Offset>{from.view(where), to.transposed().view(where), to.values().write(where)});
  });
}

template <class T, class Offset>
void update(Context& ctx, const Csr<T, Offset>& from, Gebsc<T>& to) {
  ctx.dispatch([&](const auto& where) {
    fill_blocks(where, from.view(where),
                GebscPlaces<kernel_t<T>>{to.transposed().view(where), to.values().write(where)});
  });
}

template <class T, class Offset, class To>
requires OneOf<To, Bsr<T>, Bsrx<T>>
void update(Context& ctx, const Csr<T, Offset>& from, To& to) {
  ctx.dispatch([&](const auto& where) {
    fill_blocks(where, from.view(where), BsrPlaces<kernel_t<T>>{to.view(where), to.values().write(where)});
  });
}

template <class T, class Offset, class To>
requires OneOf<To, Ell<T>, Sell<T>>
void update(Context& ctx, const Csr<T, Offset>& from, To& to) {
  ctx.dispatch([&](const auto& where) {
    const auto view = to.view(where);
    run_pass(where, view.slices() * view.slice_rows,
             FillSell<kernel_t<T>, Offset>{from.view(where), view, nullptr, to.values().write(where)});
  });
}

template <class T, class Offset>
void update(Context& ctx, const Csr<T, Offset>& from, Hyb<T>& to) {
  update(ctx, from, to.ell());
  ctx.dispatch([&](const auto& where) {
    run_pass(where, to.coo().nnz(),
             RefillBeyond<kernel_t<T>, Offset>{from.view(where), to.coo().view(where), to.ell().width(),
                                               to.coo().values().write(where)});
  });
}

template <class T, class Offset>
void update(Context& ctx, const Csr<T, Offset>& from, Dia<T>& to) {
  ctx.dispatch([&](const auto& where) {
    const auto view = to.view(where);
    run_pass(where, detail::ceil_div(view.rows, view.hack_rows) * view.hack_rows,
             FillDia<kernel_t<T>, Offset>{from.view(where), view, to.values().write(where)});
  });
}

template <class T, class Offset>
void update(Context& ctx, const Csr<T, Offset>& from, BlockedEll<T>& to) {
  ctx.dispatch([&](const auto& where) {
    fill_blocks(where, from.view(where), BlockedEllPlaces<kernel_t<T>>{to.view(where), to.values().write(where)});
  });
}

}  // namespace

template <class T, class Offset>
void update_values(Context& ctx, const Csr<T, Offset>& from, AnyMatrix<T>& to) {
  require_size("update_values: rows of the converted matrix, which", rows(to), from.rows());
  require_size("update_values: columns of the converted matrix, which", cols(to), from.cols());
  std::visit(
      [&](auto& matrix) {
        if constexpr (counts_entries<std::remove_reference_t<decltype(matrix)>>)
          require_size("update_values: values of the converted matrix, which", matrix.nnz(), from.nnz());
        update(ctx, from, matrix);
      },
      to);
}

template <class T, class Offset>
struct UpdateValuesInstances {
  static constexpr auto list = instance<void(Context&, const Csr<T, Offset>&, AnyMatrix<T>&)>(update_values);
};
KRILL_INSTANTIATE_WITH_OFFSETS(UpdateValuesInstances);

}  // namespace krill
