// The kernel catalogue's vectors of formats and conversions, in the bases that they are printed in.
#include "tests/support/catalogue.hpp"

#include <cmath>

#include "sparse/convert/base.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/convert/dense.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"

namespace krill::test {
namespace {

using ConvertCatalogue = OnBackendAndScalar;

/// An array, counted from one.
template <class Index>
std::vector<Index> from_one(Context& ctx, const Array<Index>& indices) {
  return contents(to_base_one(ctx, indices));
}

TEST_P(ConvertCatalogue, TV_A45_in_coordinates_rows_and_columns_from_both_bases) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto values = tv::numbers<T>({1, 4, 2, 3, 5, 7, 8, 9, 6});
    const Csr<T> A = from_base_one(ctx, 5, Array<std::int32_t>{1, 3, 5, 8, 10},
                                   Array<std::int32_t>{1, 2, 2, 3, 1, 4, 5, 3, 5}, Array<T>(values));
    EXPECT_NO_THROW(validate(A));
    EXPECT_EQ(contents(A.row_offsets()), (tv::Ints{0, 2, 4, 7, 9}));
    EXPECT_EQ(contents(A.col_indices()), (tv::Ints{0, 1, 1, 2, 0, 3, 4, 2, 4}));
    EXPECT_EQ(contents(A.values()), values);
    EXPECT_EQ(contents(to_dense(ctx, A, Order::row_major).values()),
              tv::numbers<T>({1, 4, 0, 0, 0, 0, 2, 3, 0, 0, 5, 0, 0, 7, 8, 0, 0, 9, 0, 6}));
    const Coo<T> coo = to_coo(ctx, A);
    EXPECT_EQ(contents(coo.row_indices()), (tv::Ints{0, 0, 1, 1, 2, 2, 2, 3, 3}));
    EXPECT_EQ(contents(coo.col_indices()), contents(A.col_indices()));
    EXPECT_EQ(from_one(ctx, to_csr(ctx, coo).row_offsets()), (tv::Ints{1, 3, 5, 8, 10}));
    const Csc<T> C = to_csc(ctx, A);
    EXPECT_EQ(contents(C.col_offsets()), (tv::Ints{0, 2, 4, 6, 7, 9}));
    EXPECT_EQ(contents(C.row_indices()), (tv::Ints{0, 2, 0, 1, 1, 3, 2, 2, 3}));
    EXPECT_EQ(contents(C.values()), tv::numbers<T>({1, 5, 4, 2, 3, 9, 7, 8, 6}));
    EXPECT_EQ(from_one(ctx, C.col_offsets()), (tv::Ints{1, 3, 5, 7, 8, 10}));
    EXPECT_EQ(from_one(ctx, C.row_indices()), (tv::Ints{1, 3, 1, 2, 2, 4, 3, 3, 4}));
  });
}

TEST_P(ConvertCatalogue, TV_A45_in_blocks_and_TV_BSRX_and_TV_CSR2GEBSR) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Bsr<T> by_columns = to_bsr(ctx, tv::a45<T>(), {2, 2, BlockOrder::column_major});
    EXPECT_EQ(contents(by_columns.row_offsets()), (tv::Ints{0, 2, 5}));
    EXPECT_EQ(contents(by_columns.col_indices()), (tv::Ints{0, 1, 0, 1, 2}));
    EXPECT_EQ(from_one(ctx, by_columns.row_offsets()), (tv::Ints{1, 3, 6}));
    EXPECT_EQ(from_one(ctx, by_columns.col_indices()), (tv::Ints{1, 2, 1, 2, 3}));
    EXPECT_EQ(contents(by_columns.values()), tv::a45_blocks<T>(true));
    EXPECT_EQ(contents(to_bsr(ctx, tv::a45<T>(), {2, 2, BlockOrder::row_major}).values()), tv::a45_blocks<T>(false));
    const Bsr<T> squares = to_bsr(ctx, tv::a45<T>(), {3, 3});
    EXPECT_EQ(bsr_bytes<T>(4, squares.stored_blocks(), squares.blocks()), squares.bytes());

    const Bsrx<T> full = to_bsrx(ctx, by_columns);
    EXPECT_EQ(contents(full.row_begins()), (tv::Ints{0, 2}));
    EXPECT_EQ(contents(full.row_ends()), (tv::Ints{2, 5}));
    const Bsrx<T> sub(4, 5, by_columns.blocks(), Array<std::int32_t>{0, 3}, Array<std::int32_t>{0, 4},
                      by_columns.col_indices().clone(), by_columns.values().clone());
    const Csr<T> block = to_csr(ctx, sub);  // block (1, 1) alone: rows 2 and 3, columns 2 and 3
    EXPECT_EQ(contents(block.row_offsets()), (tv::Ints{0, 0, 0, 2, 4}));
    EXPECT_EQ(contents(block.col_indices()), (tv::Ints{2, 3, 2, 3}));
    EXPECT_EQ(contents(block.values()), tv::numbers<T>({0, 7, 9, 0}));

    const Bsr<T> rectangles = to_bsr(ctx, tv::a45<T>(), {2, 3, BlockOrder::column_major});
    EXPECT_EQ(contents(rectangles.row_offsets()), (tv::Ints{0, 1, 3}));
    EXPECT_EQ(contents(rectangles.col_indices()), (tv::Ints{0, 0, 1}));
    EXPECT_EQ(contents(rectangles.values()), tv::numbers<T>({1, 0, 4, 2, 0, 3, 5, 0, 0, 0, 0, 9, 7, 0, 8, 6, 0, 0}));
  });
}

TEST_P(ConvertCatalogue, TV_HIP35_and_TV_HYB) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = from_base_one(ctx, 5, Array<std::int32_t>{1, 4, 6, 9}, Array<std::int32_t>{1, 2, 4, 2, 3, 1, 4, 5},
                                   Array<T>(tv::numbers<T>({1, 2, 3, 4, 5, 6, 7, 8})));
    const Coo<T> coo = to_coo(ctx, A);
    EXPECT_EQ(contents(coo.row_indices()), (tv::Ints{0, 0, 0, 1, 1, 2, 2, 2}));
    EXPECT_EQ(contents(coo.col_indices()), (tv::Ints{0, 1, 3, 1, 2, 0, 3, 4}));
    EXPECT_EQ(contents(to_coo_aos(ctx, coo).indices()), (tv::Ints{0, 0, 0, 1, 0, 3, 1, 1, 1, 2, 2, 0, 2, 3, 2, 4}));
    const Csc<T> C = to_csc(ctx, A);
    EXPECT_EQ(from_one(ctx, C.col_offsets()), (tv::Ints{1, 3, 5, 6, 8, 9}));
    EXPECT_EQ(from_one(ctx, C.row_indices()), (tv::Ints{1, 3, 1, 2, 2, 1, 3, 3}));
    EXPECT_EQ(contents(C.values()), tv::numbers<T>({1, 6, 2, 4, 5, 3, 7, 8}));
    const Ell<T> E = to_ell(ctx, A);
    EXPECT_EQ(E.width(), 3);
    EXPECT_EQ(contents(E.values()), tv::numbers<T>({1, 4, 6, 2, 5, 7, 3, 0, 8}));
    EXPECT_EQ(contents(E.col_indices()), (tv::Ints{0, 1, 0, 1, 2, 3, 3, -1, 4}));
    EXPECT_EQ(from_one(ctx, E.col_indices()), (tv::Ints{1, 2, 1, 2, 3, 4, 4, -1, 5}));  // padding stays

    const Hyb<T> H = to_hyb(ctx, A, HybPartition::user, 2);
    EXPECT_EQ(contents(H.ell().values()), tv::numbers<T>({1, 4, 6, 2, 5, 7}));
    EXPECT_EQ(contents(H.ell().col_indices()), (tv::Ints{0, 1, 0, 1, 2, 3}));
    EXPECT_EQ(contents(H.coo().values()), tv::numbers<T>({3, 8}));
    EXPECT_EQ(contents(H.coo().row_indices()), (tv::Ints{0, 2}));
    EXPECT_EQ(contents(H.coo().col_indices()), (tv::Ints{3, 4}));
    const Hyb<T> whole = to_hyb(ctx, A, HybPartition::maximum), automatic = to_hyb(ctx, A);
    for (const Hyb<T>* wide : {&whole, &automatic}) {
      EXPECT_EQ(wide->ell().width(), 3);
      EXPECT_EQ(wide->coo().nnz(), 0);
    }
  });
}

TEST_P(ConvertCatalogue, TV_HIPBSR_keeps_what_its_blocks_have_beyond_the_matrix_out_of_the_rows) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = tv::csr<T>(3, {0, 2, 4, 6, 8}, {0, 2, 0, 2, 0, 1, 0, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
    const Bsr<T> B = to_bsr(ctx, A, {2, 2, BlockOrder::column_major});
    EXPECT_EQ(contents(B.row_offsets()), (tv::Ints{0, 2, 4}));
    EXPECT_EQ(contents(B.col_indices()), (tv::Ints{0, 1, 0, 1}));
    EXPECT_EQ(contents(B.values()), tv::numbers<T>({1, 3, 0, 0, 2, 4, 0, 0, 5, 7, 6, 0, 0, 8, 0, 0}));
    EXPECT_EQ(contents(to_dense(ctx, to_csr(ctx, B), Order::row_major).values()),
              tv::numbers<T>({1, 0, 2, 3, 0, 4, 5, 6, 0, 7, 0, 8}));
  });
}

/// Zeros in blocks are entries of the CSR; its rows and columns are the matrix's, not those of whole blocks, which the
/// same blocks of the padded matrix give.
TEST_P(ConvertCatalogue, trap_15_zeros_in_blocks_become_entries_and_the_padded_size_is_asked_for) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Bsr<T> B = to_bsr(ctx, tv::csr<T>(3, {0, 1, 2, 3}, {0, 1, 2}, {1, 2, 3}), {2, 2});
    const Csr<T> A = to_csr(ctx, B);
    EXPECT_EQ(A.rows(), 3);
    EXPECT_EQ(A.cols(), 3);
    EXPECT_EQ(contents(A.row_offsets()), (tv::Ints{0, 2, 4, 5}));
    EXPECT_EQ(contents(A.values()), tv::numbers<T>({1, 0, 0, 2, 3}));
    const Bsr<T> padded(4, 4, B.blocks(), B.row_offsets().clone(), B.col_indices().clone(), B.values().clone());
    EXPECT_EQ(contents(to_csr(ctx, padded).row_offsets()), (tv::Ints{0, 2, 4, 6, 8}));
  });
}

TEST_P(ConvertCatalogue, TV_HIPGEBSR_and_trap_16_the_insides_of_blocks_stay_as_they_are) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = tv::csr<T>(5, {0, 2, 4, 7, 9}, {0, 3, 0, 2, 0, 1, 3, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
    const Bsr<T> B = to_bsr(ctx, A, {2, 3, BlockOrder::column_major});
    EXPECT_EQ(contents(B.row_offsets()), (tv::Ints{0, 2, 4}));
    EXPECT_EQ(contents(B.col_indices()), (tv::Ints{0, 1, 0, 1}));
    EXPECT_EQ(contents(B.values()),
              tv::numbers<T>({1, 3, 0, 0, 0, 4, 2, 0, 0, 0, 0, 0, 5, 0, 6, 0, 0, 8, 7, 0, 0, 9, 0, 0}));
    const Gebsc<T> C = to_gebsc(ctx, B);
    EXPECT_EQ(contents(C.col_offsets()), (tv::Ints{0, 2, 4}));
    EXPECT_EQ(contents(C.row_indices()), (tv::Ints{0, 1, 0, 1}));
    EXPECT_EQ(contents(C.values()),
              tv::numbers<T>({1, 3, 0, 0, 0, 4, 5, 0, 6, 0, 0, 8, 2, 0, 0, 0, 0, 0, 7, 0, 0, 9, 0, 0}));
    EXPECT_EQ(C.blocks().row_dim, 2);
    EXPECT_EQ(C.blocks().col_dim, 3);
  });
}

TEST_P(ConvertCatalogue, TV_GEBSR2GEBSR) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = tv::csr<T>(5, {0, 2, 4, 7, 9}, {0, 3, 0, 2, 0, 1, 3, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
    const Bsr<T> other =
        to_bsr(ctx, to_bsr(ctx, A, {2, 3, BlockOrder::column_major}), {3, 2, BlockOrder::column_major});
    EXPECT_EQ(other.rows(), 4);
    EXPECT_EQ(other.cols(), 6);
    EXPECT_EQ(contents(other.row_offsets()), (tv::Ints{0, 3, 6}));
    EXPECT_EQ(contents(other.col_indices()), (tv::Ints{0, 1, 2, 0, 1, 2}));
    EXPECT_EQ(contents(other.values()), tv::numbers<T>({1, 3, 5, 0, 0, 6, 0, 4, 0, 2, 0, 7, 0, 0, 0, 0, 0, 0,
                                                        0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0}));
  });
}

/// One entry in a block of 4 x 4: blocks of 1 x 2 beside it are stored although they hold nothing but padding, also
/// beyond the matrix's rows and columns. With blocks of one entry on either side it is csr2gebsr, and gebsr2csr.
TEST_P(ConvertCatalogue, other_blocks_keep_blocks_of_padding) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Bsr<T> large = to_bsr(ctx, tv::csr<T>(3, {0, 1}, {2}, {7}), {4, 4});
    const Bsr<T> small = to_bsr(ctx, large, {1, 2});
    EXPECT_EQ(small.rows(), 4);
    EXPECT_EQ(small.cols(), 4);
    EXPECT_EQ(contents(small.row_offsets()), (tv::Ints{0, 2, 4, 6, 8}));
    EXPECT_EQ(contents(small.col_indices()), (tv::Ints{0, 1, 0, 1, 0, 1, 0, 1}));
    std::vector<T> expected(16);
    expected[2] = T(7);
    EXPECT_EQ(contents(small.values()), expected);
    const Bsr<T> one_by_one = to_bsr(ctx, tv::a45<T>(), {1, 1}), of_entries = to_bsr(ctx, one_by_one, {2, 3});
    EXPECT_EQ(contents(of_entries.values()), contents(to_bsr(ctx, tv::a45<T>(), {2, 3}).values()));
    EXPECT_EQ(contents(to_bsr(ctx, of_entries, {1, 1}).values()),
              contents(to_csr(ctx, Bsr<T>(4, 6, of_entries.blocks(), of_entries.row_offsets().clone(),
                                          of_entries.col_indices().clone(), of_entries.values().clone()))
                           .values()));
    EXPECT_THROW(to_bsr(ctx, large, {0, 2}), InvalidArgument);
  });
}

TEST_P(ConvertCatalogue, TV_SELL_and_TV_SELLPERM_and_TV_HLL) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = tv::csr<T>(4, {0, 3, 4, 6, 8, 9}, {0, 2, 3, 1, 0, 3, 1, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
    const Sell<T> S = to_sell(ctx, A, SellLayout{2});
    EXPECT_EQ(contents(S.slice_offsets()), (tv::Longs{0, 6, 10, 12}));
    EXPECT_EQ(contents(S.col_indices()), (tv::Ints{0, 1, 2, -1, 3, -1, 0, 1, 3, 2, 3, -1}));
    EXPECT_EQ(contents(S.values()), tv::numbers<T>({1, 4, 2, 0, 3, 0, 5, 7, 6, 8, 9, 0}));
    const Sell<T> P = to_sell(ctx, A, SellLayout{2, 5, true});
    EXPECT_EQ(contents(P.row_permutation()), (tv::Ints{1, 4, 2, 3, 0}));
    EXPECT_EQ(contents(P.slice_offsets()), (tv::Longs{0, 2, 6, 12}));
    EXPECT_EQ(contents(P.col_indices()), (tv::Ints{1, 3, 0, 1, 3, 2, 0, -1, 2, -1, 3, -1}));
    EXPECT_EQ(contents(P.values()), tv::numbers<T>({4, 9, 5, 7, 6, 8, 1, 0, 2, 0, 3, 0}));
    const Sell<T> L = to_sell(ctx, tv::psbell<T>(), SellLayout{2});
    EXPECT_EQ(contents(L.slice_offsets()), (tv::Longs{0, 4, 10, 14}));
    EXPECT_EQ(contents(L.values()), tv::numbers<T>({1, 3, 2, 0, 4, 7, 5, 0, 6, 0, 8, 0, 9, 0}));
    const Sell<T> sorted = to_sell(ctx, tv::psbell<T>(), SellLayout{2, 5});
    EXPECT_EQ(contents(sorted.row_permutation()), (tv::Ints{2, 0, 4, 1, 3}));
  });
}

/// Arrays with another padding, taken over: they become those of `expected`.
template <class T>
void expect_adopted(Context& ctx, const SellView<kernel_t<T>>& shape, const tv::Longs& slices, IndexBase base,
                    Padding padding, tv::Ints columns, std::initializer_list<double> values, const tv::Ints* lengths,
                    const Array<std::int32_t>& expected_columns, const Array<T>& expected_values) {
  Array<std::int32_t> adopted(std::move(columns)), row_lengths(lengths ? *lengths : tv::Ints(5));
  Array<T> adopted_values(tv::numbers<T>(values));
  Array<std::int64_t> offsets(slices);
  ctx.dispatch([&](const auto& where) {
    SellView<kernel_t<T>> arrays = shape;
    if (!slices.empty()) arrays.slice_offsets = offsets.update(where);
    arrays.col_indices = adopted.update(where), arrays.values = adopted_values.update(where), arrays.base = base;
    adopt_padding(where, arrays, padding, lengths ? row_lengths.read(where) : nullptr);
  });
  EXPECT_EQ(contents(adopted), contents(expected_columns));
  EXPECT_EQ(contents(adopted_values), contents(expected_values));
}

TEST_P(ConvertCatalogue, TV_HLL_and_TV_PSBELL_and_trap_24_every_padding_of_the_seeds_is_taken_over) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const tv::Ints lengths{2, 1, 3, 1, 2};
    const Sell<T> L = to_sell(ctx, tv::psbell<T>(), SellLayout{2});
    const Ell<T> E = to_ell(ctx, tv::psbell<T>());
    const SellView<kernel_t<T>> hacks{5, 5, 2}, whole{5, 5, 5, 3};
    for (const tv::Ints* known : {static_cast<const tv::Ints*>(nullptr), &lengths}) {
      const auto expect = [&](IndexBase base, Padding padding, const tv::Ints& columns,
                              std::initializer_list<double> values) {
        expect_adopted<T>(ctx, hacks, {0, 4, 10, 14}, base, padding, columns, values, known, L.col_indices(),
                          L.values());
      };
      expect(IndexBase::one, Padding::last_column, {1, 2, 4, 2, 1, 4, 3, 4, 5, 4, 2, 1, 5, 1},
             {1, 3, 2, 0, 4, 7, 5, 0, 6, 0, 8, 0, 9, 0});
      expect(IndexBase::zero, Padding::first_column, {0, 1, 3, 0, 0, 3, 2, 0, 4, 0, 1, 0, 4, 0},
             {1, 3, 2, 0, 4, 7, 5, 0, 6, 0, 8, 0, 9, 0});
      expect(IndexBase::zero, Padding::minus_one, {0, 1, 3, -1, 0, 3, 2, -1, 4, -1, 1, -1, 4, -1},
             {1, 3, 2, std::nan(""), 4, 7, 5, 99, 6, 99, 8, 99, 9, 99});
      expect_adopted<T>(ctx, whole, {}, IndexBase::one, Padding::last_column,
                        {1, 2, 1, 4, 2, 4, 2, 3, 4, 5, 4, 2, 5, 4, 5}, {1, 3, 4, 7, 8, 2, 0, 5, 0, 9, 0, 0, 6, 0, 0},
                        known, E.col_indices(), E.values());
    }
    EXPECT_EQ(E.width(), 3);
    EXPECT_EQ(E.values().size() - E.nnz(), 6);
    const tv::Ints idiag{1, 1, 2, 1, 2};  // where each row has its diagonal entry, counted from one
    const Array<T> diagonals = diagonal(ctx, AnyMatrix<T>(tv::psbell<T>()));
    for (std::size_t i = 0; i < 5; ++i) {
      const std::size_t place = static_cast<std::size_t>(idiag[i] - 1) * 5 + i;
      EXPECT_EQ(E.col_indices().host()[place], static_cast<std::int32_t>(i));
      EXPECT_EQ(E.values().host()[place], diagonals.host()[i]);
    }
  });
}

TEST_P(ConvertCatalogue, TV_DIA_and_TV_HDIA_and_TV_BELL) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Dia<T> D = to_dia(ctx, tv::psbell<T>());
    EXPECT_EQ(contents(D.offsets()), (tv::Ints{-3, -2, 0, 2, 3}));
    EXPECT_EQ(contents(D.values()),
              tv::numbers<T>({0, 0, 0, 0, 8, 0, 0, 4, 0, 0, 1, 3, 5, 7, 9, 0, 0, 6, 0, 0, 2, 0, 0, 0, 0}));
    const Dia<T> H = to_dia(ctx, tv::psbell<T>(), 2);
    EXPECT_EQ(contents(H.hack_offsets()), (tv::Longs{0, 2, 5, 7}));
    EXPECT_EQ(contents(H.offsets()), (tv::Ints{0, 3, -2, 0, 2, -3, 0}));
    EXPECT_EQ(contents(H.values()), tv::numbers<T>({1, 3, 2, 0, 4, 0, 5, 7, 6, 0, 8, 0, 9, 0}));
    const Csr<T> A = tv::csr<T>(6, {0, 2, 3, 5, 7, 8, 9}, {0, 1, 1, 0, 4, 4, 5, 2, 3}, {1, 2, 3, 7, 4, 5, 6, 8, 9});
    const BlockedEll<T> B = to_blocked_ell(ctx, A, 2);
    EXPECT_EQ(B.ell_cols(), 4);
    EXPECT_EQ(contents(B.col_indices()), (tv::Ints{0, -1, 0, 2, 1, -1}));
    EXPECT_EQ(contents(B.values()),
              tv::numbers<T>({1, 2, 0, 0, 0, 3, 0, 0, 7, 0, 4, 0, 0, 0, 5, 6, 8, 0, 0, 0, 0, 9, 0, 0}));
  });
}

INSTANTIATE_TEST_SUITE_P(, ConvertCatalogue, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
