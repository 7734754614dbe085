#include "sparse/spgemm/spgemm.hpp"

#include "sparse/convert/checked_offsets.hpp"
#include "sparse/core/device.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/made_for.hpp"
#include "sparse/spgemm/block_pattern.hpp"

namespace krill {

using namespace detail;
namespace {

/// Where rows of B are merged for the pattern, values are summed so, too, of rows of A with no more entries; and with
/// no more than the second figure a list is not made. Measured on an H200, new values, ms by merging and otherwise: 5
/// entries, 4096^2: 1.54, by a list 2.09; 7 entries, 128^3: 0.51, by a list 0.49; 7 and 8 entries, R A P at 128^3:
/// 0.333, by teams and a list 0.20.
struct MergeTuning {
  static constexpr std::int64_t max_summed = 7, max_unlisted = 5;
};

/// A matrix of the same shape without entries.
template <class T, class Offset>
Csr<T, Offset> empty_like(const Csr<T, Offset>& A) {
  return {A.cols(), Array(std::vector<Offset>(static_cast<std::size_t>(A.rows()) + 1)), Array<std::int32_t>(0),
          Array<T>(0)};
}

/// Columns that are kept of each row from the count on: of a row with more, none are. 0: none of any. Rows that are
/// merged have no such limit, so they are all kept, or none.
constexpr std::int64_t kept_columns(bool may_be_some, std::int64_t rows, std::int64_t max_products,
                                    std::int64_t products) {
  const auto fits = [&](std::int64_t columns) {
    return ProductTuning::kept_bytes(rows, columns) <= ProductTuning::max_kept_bytes;
  };
  if (max_products <= ProductTuning::max_sorted && fits(max_products)) return max_products;
  const bool pays = may_be_some && products >= ProductTuning::min_products_to_keep;
  return pays && fits(ProductTuning::few_held) ? ProductTuning::few_held : 0;
}

/// Of A P, from those of R A P.
SpgemmOptions inner_options(SpgemmOptions options) {
  options.max_entries = SpgemmOptions{}.max_entries;
  options.blocks.rows = options.blocks.inner;
  return options;
}

/// Whether A and B consist of full blocks. Waits.
template <class T, class Offset>
bool consist_of_blocks(Context& ctx, const Csr<T, Offset>& A, const Csr<T, Offset>& B, const ProductBlocks& blocks) {
  const auto [rows, inner, cols] = blocks;
  if (A.rows() % rows != 0 || A.cols() % inner != 0 || B.cols() % cols != 0) return false;
  Array<std::int64_t> partial_a(1, "partial blocks"), partial_b(1, "partial blocks");
  ctx.dispatch([&](const auto& where) {
    using Find = FindPartialBlocks<Offset>;
    run_pass(where, A.rows() * Find::lanes, Find{pattern(where, A), blocks.rows, blocks.inner, partial_a.write(where)});
    run_pass(where, B.rows() * Find::lanes, Find{pattern(where, B), blocks.inner, blocks.cols, partial_b.write(where)});
  });
  return partial_a.host()[0] == 0 && partial_b.host()[0] == 0;
}

/// The pattern of the blocks, an entry each.
template <class T, class Offset>
Csr<T, Offset> blocks_of(Context& ctx, const Csr<T, Offset>& A, std::int32_t row_dim, std::int32_t col_dim) {
  const std::int32_t rows = A.rows() / row_dim;
  const std::int64_t nnz = A.nnz() / row_dim / col_dim;
  Array<Offset> offsets(std::int64_t{rows} + 1, "offsets of blocks");
  Array<std::int32_t> columns(nnz, "columns of blocks");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, offsets.size(),
             GatherBlockOffsets<Offset>{A.row_offsets().read(where), row_dim, col_dim, offsets.write(where)});
    using Gather = GatherBlockColumns<Offset>;
    run_pass(where, rows * Gather::lanes,
             Gather{pattern(where, A), row_dim, col_dim, offsets.read(where), columns.write(where)});
  });
  return {A.cols() / col_dim, std::move(offsets), std::move(columns), Array<T>(nnz)};
}

}  // namespace

template <class T, class Offset>
Csr<T, Offset> SpgemmPlan<T, Offset>::pattern_of_blocks(Context& ctx, const Csr<T, Offset>& a, const Csr<T, Offset>& b,
                                                        const SpgemmOptions& options) {
  const auto [rows, inner, cols] = options.blocks;
  const std::int64_t most = std::numeric_limits<Offset>::max(), size = std::int64_t{rows} * cols;
  const std::int64_t max_entries = std::min(options.max_entries, most);
  const Csr<T, Offset> of_a = blocks_of(ctx, a, rows, inner), of_b = blocks_of(ctx, b, inner, cols), of_c = [&] {
    try {
      return pattern_of_product(ctx, of_a, of_b, {.max_entries = max_entries / size});
    } catch (const TooManyEntries&) {  // which speaks of blocks
      throw TooManyEntries(
          fmt::format("spgemm: the product has more entries than the {} that it may have", max_entries));
    }
  }();
  products_ *= size * inner, longest_row_ *= cols, merged_terms_ = 0;
  Array<Offset> row_offsets(std::int64_t{a.rows()} + 1, "spgemm row_offsets");
  Array<std::int32_t> col_indices(of_c.nnz() * size, "spgemm col_indices");
  Array<T> values(of_c.nnz() * size, "spgemm values");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, row_offsets.size(),
             SpreadBlockOffsets<Offset, Offset>{of_c.row_offsets().read(where), options.blocks.rows,
                                                options.blocks.cols, row_offsets.write(where)});
    using Spread = SpreadBlockColumns<Offset>;
    run_pass(where, a.rows() * Spread::lanes,
             Spread{pattern(where, of_c), options.blocks.rows, options.blocks.cols, row_offsets.read(where),
                    col_indices.write(where)});
    values.write(where);  // so that update() allocates nothing
  });
  find_pieces(ctx, row_offsets);
  return {b.cols(), std::move(row_offsets), std::move(col_indices), std::move(values)};
}

template <class T, class Offset>
Csr<T, Offset> SpgemmPlan<T, Offset>::pattern_of_product(Context& ctx, const Csr<T, Offset>& a, const Csr<T, Offset>& b,
                                                         const SpgemmOptions& options) {
  require_size("spgemm: rows of op(B)", b.rows(), a.cols());
  if (!options.blocks.are_single() && consist_of_blocks(ctx, a, b, options.blocks))
    return pattern_of_blocks(ctx, a, b, options);
  const std::int64_t rows = a.rows();
  Array<std::int64_t> products(rows, "products of rows"), before_windows(0, "entries before windows");
  ItemsOfRows windows;
  Array<ProductTotals> totals(1, "products of all rows");
  ctx.dispatch([&](const auto& where) {
    reduce_rows(where, MeasureProducts<Offset>{pattern(where, a), b.row_offsets().read(where), products.write(where),
                                               totals.write(where)});
  });
  const bool is_known = options.products > 0 && options.max_products_of_row > 0 && !options.b_is_sorted;
  const ProductTotals of_products =
      is_known ? ProductTotals{{options.max_products_of_row}, options.products, {}} : totals.host()[0];
  const std::int64_t max_products = of_products.of_a_row.value;
  products_ = of_products.all;
  if (ctx.on_cuda() && options.b_is_sorted && of_products.terms.value <= ProductTuning::max_merged &&
      max_products <= ProductTuning::max_sorted)
    merged_terms_ = of_products.terms.value;
  const bool sums_now = options.with_values && summed_terms() > 0;
  const std::int64_t stride =
      sums_now ? 0 : kept_columns(ctx.on_cuda() && merged_terms_ == 0, rows, max_products, products_);
  const bool keeps = stride > 0, keeps_all = stride >= max_products;
  const auto product = [&](const auto& where) {
    return ProductPattern<Offset>{pattern(where, a), pattern(where, b),          products.read(where), max_products,
                                  windows.on(where), before_windows.read(where), merged_terms_,        !keeps};
  };
  const auto count_long_rows = [&](const auto& where, std::int64_t* row_counts) {
    windows = items_of_rows(ctx, a.rows(), "windows of rows", [&](const auto& at, std::int64_t* items) {
      run_pass(at, rows, CountWindows{ceil_div(b.cols(), ProductTuning::window), row_counts, items});
    });
    const std::int64_t count = windows.rows.size();
    if (count == 0) return;
    before_windows =
        scanned<std::int64_t>(ctx, count, "entries before windows", [&](const auto& at, std::int64_t* counts) {
          if (const Cuda* cuda = at.cuda()) count_windows(*cuda, product(at), counts);
        });
    run_pass(where, rows, AddWindows{windows.starts.read(where), before_windows.read(where), row_counts});
  };
  Array<std::int32_t> kept(keeps ? rows * stride : 0, "columns of products");
  constexpr const char* name = "spgemm row_offsets";
  Array<std::int64_t> wide = scanned<std::int64_t>(ctx, rows, name, [&](const auto& where, std::int64_t* counts) {
    if (keeps)
      merge_products(where, product(where), KeepUnion{stride, kept.write(where), counts});
    else
      merge_products(where, product(where), CountUnion{counts});
    if (where.cuda() && max_products > ProductTuning::max_held) count_long_rows(where, counts);
  });
  ctx.dispatch([&](const auto& where) { run_pass(where, rows, MeasureRows{wide.read(where), totals.write(where)}); });
  const ProductTotals of_c = totals.host()[0];
  longest_row_ = of_c.of_a_row.value;
  if (of_c.all > options.max_entries)
    throw TooManyEntries(fmt::format("spgemm: the product has {} entries, more than the {} that it may have", of_c.all,
                                     options.max_entries));
  CheckedOffsets<Offset> sizes = checked<Offset>(ctx, std::move(wide), of_c.all, name);
  Array<std::int32_t> col_indices(sizes.nnz, "spgemm col_indices");
  Array<T> values(sizes.nnz, "spgemm values");
  ctx.dispatch([&](const auto& where) {
    const Offset* const offsets = sizes.offsets.read(where);
    if (keeps)
      run_pass(where, rows * CopyUnion<Offset>::lanes,
               CopyUnion<Offset>{stride, kept.read(where), offsets, col_indices.write(where)});
    kernel_t<T>* const sums = values.write(where);  // so that update() allocates nothing
    if constexpr (std::is_same_v<std::decay_t<decltype(where)>, Cuda>)
      if (sums_now)
        return sum_new_rows(where, a.view(where), b.view(where), merged_terms_, offsets, col_indices.write(where),
                            sums);
    if (!keeps_all) merge_products(where, product(where), ListUnion<Offset>{offsets, col_indices.write(where)});
  });
  find_pieces(ctx, sizes.offsets);
  return {b.cols(), std::move(sizes.offsets), std::move(col_indices), std::move(values)};
}

template <class T, class Offset>
void SpgemmPlan<T, Offset>::find_pieces(Context& ctx, const Array<Offset>& row_offsets) {
  pieces_ = {Array<std::int64_t>(0), Array<std::int32_t>(0)};
  if (!ctx.on_cuda() || longest_row_ <= ProductTuning::max_held) return;
  const auto rows = static_cast<std::int32_t>(row_offsets.size() - 1);
  pieces_ = items_of_rows(ctx, rows, "pieces of rows", [&](const auto& where, std::int64_t* items) {
    run_pass(where, rows, CountPieces<Offset>{row_offsets.read(where), items});
  });
}

template <class T, class Offset>
std::int64_t SpgemmPlan<T, Offset>::summed_terms() const {
  return merged_terms_ <= MergeTuning::max_summed ? merged_terms_ : 0;
}

template <class T, class Offset>
template <class Where>
SumTeams SpgemmPlan<T, Offset>::teams(const Where& where, std::int64_t entries_of_b, std::int32_t rows_of_b) const {
  return {lanes_along(entries_of_b, rows_of_b), longest_row_, pieces_.on(where), masked_, summed_terms()};
}

template <class T, class Offset>
void SpgemmPlan<T, Offset>::keep_products(Context& ctx, const Csr<T, Offset>& a, const Csr<T, Offset>& b,
                                          const SpgemmOptions& options) {
  const bool is_merged = merged_terms_ > 0 && merged_terms_ <= MergeTuning::max_unlisted;
  if (!ctx.on_cuda() || is_merged || products_ == 0 || products_ > std::numeric_limits<Offset>::max()) return;
  ctx.dispatch([&](const auto& where) {
    if constexpr (std::is_same_v<std::decay_t<decltype(where)>, Cuda>) {
      const auto fits = [&](std::int64_t items, std::size_t size, std::int64_t offsets) {
        const double bytes =
            static_cast<double>(items) * static_cast<double>(size) + static_cast<double>(offsets + 1) * sizeof(Offset);
        return bytes <= static_cast<double>(options.max_list_bytes) &&
               bytes <= static_cast<double>(device::free_memory(where.device)) / 4;
      };
      constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
      const SumTeams by = teams(where, b.nnz(), b.rows());
      const auto of_a = pattern(where, a), of_b = pattern(where, b), of_c = pattern(where, c_);
      if (products_ <= ProductTuning::max_listed * c_.nnz()) {
        if (a.nnz() > most || b.nnz() > most || !fits(products_, sizeof(ProductPair), c_.nnz())) return;
        list_starts_ = scanned<Offset>(ctx, c_.nnz(), "starts of products", [&](const auto&, Offset* counts) {
          count_products(where, of_a, of_b, by, of_c, counts);
        });
        list_ = Array<ProductPair>(products_, "products");
        list_products(where, of_a, of_b, by, of_c, list_starts_.read(where), list_.write(where));
      } else if (by.merged_terms == 0 && fits(products_, sizeof(ProductPlace), a.nnz())) {
        place_bases_ = scanned<Offset>(ctx, a.nnz(), "products before entries", [&](const auto&, Offset* counts) {
          run_pass(where, a.nnz(), CountTerms<Offset>{of_a.col_indices, of_b.row_offsets, counts});
        });
        run_pass(where, a.nnz(), CountFromB<Offset>{of_a.col_indices, of_b.row_offsets, place_bases_.update(where)});
        places_ = Array<ProductPlace>(products_, "places of products");
        record_places(where, of_a, of_b, by, of_c, place_bases_.read(where), places_.write(where));
      }
    }
  });
}

template <class T, class Offset>
SpgemmPlan<T, Offset>::SpgemmPlan(Context& ctx, Op op_a, const Csr<T, Offset>& A, Op op_b, const Csr<T, Offset>& B,
                                  SpgemmOptions options)
    : a_(ctx, op_a, A),
      b_(ctx, op_b, B),
      c_(pattern_of_product(ctx, a_.of(A), b_.of(B), options)),
      on_cuda_(ctx.on_cuda()) {
  keep_products(ctx, a_.of(A), b_.of(B), options);
  if (options.with_values && summed_terms() == 0) update(ctx, T(1), A, B);
}

template <class T, class Offset>
SpgemmPlan<T, Offset>::SpgemmPlan(Context& ctx, Op op_a, const Csr<T, Offset>& A, Op op_b, const Csr<T, Offset>& B,
                                  const Csr<T, Offset>& mask)
    : a_(ctx, op_a, A),
      b_(ctx, op_b, B),
      c_(mask.cols(), copy_of(ctx, mask.row_offsets()), copy_of(ctx, mask.col_indices()), copy_of(ctx, mask.values())),
      on_cuda_(ctx.on_cuda()),
      masked_(true) {
  require_size("masked spgemm: rows of op(B)", b_.of(B).rows(), a_.of(A).cols());
  require_size("masked spgemm: rows of the mask", mask.rows(), a_.of(A).rows());
  require_size("masked spgemm: columns of the mask", mask.cols(), b_.of(B).cols());
  longest_row_ = detail::longest_row(ctx, c_.row_offsets());
  find_pieces(ctx, c_.row_offsets());
}

template <class T, class Offset>
void SpgemmPlan<T, Offset>::update(Context& ctx, const Scalar<T>& alpha, const Csr<T, Offset>& A,
                                   const Csr<T, Offset>& B) {
  require_made_for(ctx, on_cuda_, "spgemm plan");
  require_disjoint("spgemm plan: A and C", A.values(), c_.values());
  require_disjoint("spgemm plan: B and C", B.values(), c_.values());
  a_.update(ctx, A, "spgemm plan: A");
  b_.update(ctx, B, "spgemm plan: B");
  ctx.dispatch([&](const auto& where) {
    const auto a = a_.of(A).view(where), b = b_.of(B).view(where);
    const SumTeams by = teams(where, b.nnz, b.rows);
    const auto factor = alpha.read(where);
    const auto c = pattern(where, c_);
    kernel_t<T>* const values = c_.values().write(where);
    if constexpr (std::is_same_v<std::decay_t<decltype(where)>, Cuda>) {
      if (list_.size() > 0)
        return sum_listed(where, factor, a.values, b.values, c.nnz, list_starts_.read(where), list_.read(where),
                          values);
      if (places_.size() > 0) {
        sum_placed(where, factor, a, b, by, ProductPlaces<Offset>{place_bases_.read(where), places_.read(where)},
                   c.row_offsets, values);
        return sum_pieces(where, factor, a, b, by, c, values);
      }
    }
    sum_products(where, factor, a, b, by, c, values);
  });
}

template <class T, class Offset>
std::size_t SpgemmPlan<T, Offset>::bytes() const {
  return c_.bytes() + a_.bytes() + b_.bytes() +
         bytes_of(pieces_.starts, pieces_.rows, list_starts_, list_, place_bases_, places_);
}

template <class T, class Offset>
TripleProductPlan<T, Offset>::TripleProductPlan(Context& ctx, Op op_r, const Csr<T, Offset>& R, const Csr<T, Offset>& A,
                                                const Csr<T, Offset>& P, SpgemmOptions options)
    : inner_(ctx, Op::none, A, Op::none, P, inner_options(options)),
      outer_(ctx, op_r, R, Op::none, inner_.matrix(), options) {}

template <class T, class Offset>
void TripleProductPlan<T, Offset>::update(Context& ctx, const Scalar<T>& alpha, const Csr<T, Offset>& R,
                                          const Csr<T, Offset>& A, const Csr<T, Offset>& P) {
  inner_.update(ctx, T(1), A, P);
  outer_.update(ctx, alpha, R, inner_.matrix());
}

template <class T, class Offset>
Csr<T, Offset> spgemm(Context& ctx, Op op_a, Op op_b, const std::type_identity_t<Scalar<T>>& alpha,
                      const Csr<T, Offset>& A, const Csr<T, Offset>& B) {
  SpgemmPlan<T, Offset> plan(ctx, op_a, A, op_b, B, {.max_list_bytes = 0});
  plan.update(ctx, alpha, A, B);
  return std::move(plan).release();
}

template <class T, class Offset>
Csr<T, Offset> spgemm(Context& ctx, Op op_a, Op op_b, const std::type_identity_t<std::optional<Scalar<T>>>& alpha,
                      const Csr<T, Offset>& A, const Csr<T, Offset>& B,
                      const std::type_identity_t<std::optional<Scalar<T>>>& beta, const Csr<T, Offset>& D) {
  require(alpha || beta, "spgemm: neither alpha nor beta is given");
  if (!beta) return spgemm(ctx, op_a, op_b, *alpha, A, B);
  if (!alpha) return spgeam(ctx, Op::none, Op::none, *beta, D, T(0), empty_like(D));
  return spgeam(ctx, Op::none, Op::none, T(1), spgemm(ctx, op_a, op_b, *alpha, A, B), *beta, D);
}

template <class T, class Offset>
struct SpgemmInstances {
  using Matrix = Csr<T, Offset>;
  using Factor = std::optional<Scalar<T>>;
  static constexpr std::tuple list{
      instance<Matrix(Context&, Op, Op, const Scalar<T>&, const Matrix&, const Matrix&)>(spgemm),
      instance<Matrix(Context&, Op, Op, const Factor&, const Matrix&, const Matrix&, const Factor&, const Matrix&)>(
          spgemm)};
};
KRILL_INSTANTIATE_WITH_OFFSETS(SpgemmPlan);
KRILL_INSTANTIATE_WITH_OFFSETS(TripleProductPlan);
KRILL_INSTANTIATE_WITH_OFFSETS(SpgemmInstances);

}  // namespace krill
