#include "sparse/convert/formats.hpp"
#include "sparse/convert/growth.hpp"
#include "sparse/convert/sell_passes.hpp"
#include "sparse/convert/sort.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill {

using namespace detail;
namespace {

template <class T>
double place_bytes(double places) {
  return places * static_cast<double>(sizeof(T) + sizeof(std::int32_t));
}

template <class T, class Offset>
std::string row_profile(const Csr<T, Offset>& A, std::int64_t longest) {
  return fmt::format("the longest row has {} entries, the mean is {:.3g}", longest,
                     static_cast<double>(A.nnz()) / std::max(A.rows(), 1));
}

/// Columns and values of SELL or ELL, whose other arrays stand in `shape`.
template <class Where, class T, class Offset>
void fill(const Where& where, const Csr<T, Offset>& from, const SellView<const kernel_t<T>>& shape,
          Array<std::int32_t>& columns, Array<T>& values) {
  run_pass(where, shape.slices() * shape.slice_rows,
           FillSell<kernel_t<T>, Offset>{from.view(where), shape, columns.write(where), values.write(where)});
}

template <class T, class Offset>
Ell<T> make_ell(Context& ctx, const Csr<T, Offset>& A, std::int64_t width, std::int64_t nnz) {
  Array<std::int32_t> columns(A.rows() * width, "ell col_indices");
  Array<T> values(A.rows() * width, "ell values");
  ctx.dispatch([&](const auto& where) {
    fill(where, A, {A.rows(), A.cols(), std::max(A.rows(), 1), width}, columns, values);
  });
  return {A.rows(), A.cols(), width, nnz, std::move(columns), std::move(values)};
}

/// The rows in their order for SELL; empty where they keep it.
template <class T, class Offset>
Array<std::int32_t> row_order(Context& ctx, const Csr<T, Offset>& A, const SellLayout& layout) {
  if (layout.window == 0) return Array<std::int32_t>(0, "sell row_permutation");
  Array<std::int32_t> windows(A.rows(), "windows"), keys(A.rows(), "row lengths");
  auto order = identity_permutation<std::int32_t>(ctx, A.rows());
  ctx.dispatch([&](const auto& where) {
    run_pass(where, A.rows(),
             RowSortKeys<Offset>{A.row_offsets().read(where), layout.window, layout.ascending, windows.write(where),
                                 keys.write(where)});
  });
  sort_by_row(ctx, windows, keys, order, {0, A.rows() / layout.window});
  return order;
}

}  // namespace

template <class T, class Offset>
Ell<T> to_ell(Context& ctx, const Csr<T, Offset>& A, GrowthLimit limit) {
  const std::int64_t width = longest_row(ctx, A.row_offsets());
  require_growth("ell", A, place_bytes<T>(static_cast<double>(A.rows()) * static_cast<double>(width)), limit,
                 row_profile(A, width), "hyb or sell");
  return make_ell(ctx, A, width, A.nnz());
}

template <class T, class Offset>
Sell<T> to_sell(Context& ctx, const Csr<T, Offset>& A, SellLayout layout, GrowthLimit limit) {
  require_range("sell: slice_rows", layout.slice_rows, 1, 1 << 20);
  require_range("sell: window", layout.window, 0, std::numeric_limits<std::int32_t>::max());
  Array<std::int32_t> order = row_order(ctx, A, layout);
  const std::int64_t slices = detail::ceil_div(A.rows(), layout.slice_rows);
  const auto count = [&](const auto& where, std::int64_t* places) {
    const std::int32_t* permutation = order.size() ? order.read(where) : nullptr;
    run_pass(where, slices,
             SlicePlaces<Offset>{A.row_offsets().read(where), A.rows(), layout.slice_rows, permutation, places});
  };
  Array<std::int64_t> slice_offsets = scanned<std::int64_t>(ctx, slices, "sell slice_offsets", count);
  const std::int64_t places = last_offset(ctx, slice_offsets);
  if (place_bytes<T>(static_cast<double>(places)) > limit.max * static_cast<double>(A.bytes()))
    require_growth("sell", A, place_bytes<T>(static_cast<double>(places)), limit,
                   row_profile(A, longest_row(ctx, A.row_offsets())), "sell with a window, or hyb");
  Array<std::int32_t> columns(places, "sell col_indices");
  Array<T> values(places, "sell values");
  ctx.dispatch([&](const auto& where) {
    const std::int32_t* permutation = order.size() ? order.read(where) : nullptr;
    fill(where, A, {A.rows(), A.cols(), layout.slice_rows, 0, slice_offsets.read(where), nullptr, nullptr, permutation},
         columns, values);
  });
  return {A.rows(),           A.cols(),          layout.slice_rows, A.nnz(), std::move(slice_offsets),
          std::move(columns), std::move(values), std::move(order)};
}

template <class T, class Offset>
Hyb<T> to_hyb(Context& ctx, const Csr<T, Offset>& A, HybPartition partition, std::int64_t user_width,
              GrowthLimit limit) {
  const std::int64_t longest = longest_row(ctx, A.row_offsets());
  if (partition == HybPartition::user) require_range("hyb: width", user_width, 0, longest);
  const std::int64_t width = partition == HybPartition::user ? user_width
                             : partition == HybPartition::maximum
                                 ? longest
                                 : std::min(longest, detail::ceil_div(A.nnz(), std::max(A.rows(), 1)));
  require_growth("hyb", A, place_bytes<T>(static_cast<double>(A.rows()) * static_cast<double>(width)), limit,
                 row_profile(A, longest), "hyb with a smaller width");
  const Array<std::int64_t> starts =
      scanned<std::int64_t>(ctx, A.rows(), "starts of the coo part", [&](const auto& where, std::int64_t* counts) {
        run_pass(where, A.rows(), CountBeyond<Offset>{A.row_offsets().read(where), width, counts});
      });
  const std::int64_t beyond = last_offset(ctx, starts);
  Array<std::int32_t> row_indices(beyond, "hyb row_indices"), col_indices(beyond, "hyb col_indices");
  Array<T> values(beyond, "hyb values");
  ctx.dispatch([&](const auto& where) {
    const CooView<kernel_t<T>> to{
        A.rows(), A.cols(), beyond, row_indices.write(where), col_indices.write(where), values.write(where)};
    run_pass(where, A.rows(), FillBeyond<kernel_t<T>, Offset>{A.view(where), width, starts.read(where), to});
  });
  Coo<T> coo(A.rows(), A.cols(), std::move(row_indices), std::move(col_indices), std::move(values));
  return {make_ell(ctx, A, width, A.nnz() - beyond), std::move(coo)};
}

template <class T, class Offset>
struct ToSellInstances {
  static constexpr std::tuple list{
      instance<Ell<T>(Context&, const Csr<T, Offset>&, GrowthLimit)>(to_ell),
      instance<Sell<T>(Context&, const Csr<T, Offset>&, SellLayout, GrowthLimit)>(to_sell),
      instance<Hyb<T>(Context&, const Csr<T, Offset>&, HybPartition, std::int64_t, GrowthLimit)>(to_hyb)};
};
KRILL_INSTANTIATE_WITH_OFFSETS(ToSellInstances);

}  // namespace krill
