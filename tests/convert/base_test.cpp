// Arrays that count from one: taken over, converted into every format, and written again.
#include "sparse/convert/base.hpp"

#include "sparse/convert/convert.hpp"
#include "sparse/convert/to_format.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/base_one.hpp"
#include "tests/support/formats.hpp"
#include "tests/support/lent.hpp"
#include "tests/support/random.hpp"

namespace krill::test {
namespace {

using BaseOne = OnBackendAndScalar;

template <class T, class Offset>
void expect_there_and_back(Context& ctx, const Csr<T, Offset>& A) {
  const FromOne<T, Offset> arrays(A);
  const Csr<T, Offset> taken = arrays.taken_over(ctx);
  EXPECT_NO_THROW(validate(taken));
  EXPECT_EQ(taken.cols(), A.cols());
  EXPECT_EQ(contents(taken.row_offsets()), contents(A.row_offsets()));
  EXPECT_EQ(contents(taken.col_indices()), contents(A.col_indices()));
  EXPECT_EQ(contents(taken.values()), contents(A.values()));
  EXPECT_EQ(contents(to_base_one(ctx, taken.row_offsets())), contents(arrays.row_offsets));
  EXPECT_EQ(contents(to_base_one(ctx, taken.col_indices())), contents(arrays.col_indices));
}

TEST_P(BaseOne, arrays_are_taken_over_and_written_again) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Shape& shape : nasty_shapes()) {
      SCOPED_TRACE(shape.name);
      expect_there_and_back(ctx, random_csr<T>(3, shape));
      expect_there_and_back(ctx, random_csr<T, std::int64_t>(3, shape));
    }
  });
}

TEST_P(BaseOne, conversions_into_every_format_are_those_of_the_same_matrix_from_zero) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_csr<T>(4, nasty_shapes()[6]);
    for (const NamedFormat& named : all_formats()) {
      SCOPED_TRACE(named.name);
      const auto expected = converted<T>(ctx, A, named), found = converted<T>(ctx, FromOne(A).taken_over(ctx), named);
      ASSERT_EQ(expected.has_value(), found.has_value());
      if (!expected) continue;
      ASSERT_NO_THROW(std::visit([](const auto& f) { validate(f); }, *found));
      const AnyMatrix<T> a = to_csr(ctx, *expected), b = to_csr(ctx, *found);
      EXPECT_EQ(contents(std::get<Csr<T>>(b).row_offsets()), contents(std::get<Csr<T>>(a).row_offsets()));
      EXPECT_EQ(contents(std::get<Csr<T>>(b).col_indices()), contents(std::get<Csr<T>>(a).col_indices()));
      EXPECT_EQ(contents(std::get<Csr<T>>(b).values()), contents(std::get<Csr<T>>(a).values()));
    }
  });
}

/// Coordinates and blocks take their index arrays one by one; padding of Blocked-ELL stays what it is.
TEST_P(BaseOne, other_formats_take_their_arrays_one_by_one) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_csr<T>(5, nasty_shapes()[6]);
    const Coo<T> coo = to_coo(ctx, A);
    const Coo<T> taken(A.rows(), A.cols(), from_base_one(ctx, FromOne<T>::one_more(coo.row_indices())),
                       from_base_one(ctx, FromOne<T>::one_more(coo.col_indices())), coo.values().clone());
    EXPECT_NO_THROW(validate(taken));
    EXPECT_EQ(contents(to_csr(ctx, taken).row_offsets()), contents(A.row_offsets()));
    const Bsr<T> blocks = to_bsr(ctx, A, {3, 2});
    const Bsr<T> taken_blocks(A.rows(), A.cols(), blocks.blocks(),
                              from_base_one(ctx, FromOne<T>::one_more(blocks.row_offsets())),
                              from_base_one(ctx, FromOne<T>::one_more(blocks.col_indices())), blocks.values().clone());
    EXPECT_NO_THROW(validate(taken_blocks));
    const Array<std::int32_t> padded{1, -1, 2, -1};
    EXPECT_EQ(contents(from_base_one(ctx, padded)), (std::vector<std::int32_t>{0, -1, 1, -1}));
    EXPECT_EQ(contents(to_base_one(ctx, from_base_one(ctx, padded))), contents(padded));
  });
}

TEST_P(BaseOne, row_indices_of_offsets_count_as_these_do) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Shape& shape : nasty_shapes()) {
      const Csr<T> A = random_csr<T>(6, shape);
      const FromOne<T> arrays(A);
      Array<std::int32_t> rows(A.nnz());
      ctx.dispatch([&](const auto& where) {
        expand_offsets(where, A.rows(), A.nnz(), arrays.row_offsets.read(where), rows.write(where), IndexBase::one);
      });
      EXPECT_EQ(contents(rows), contents(FromOne<T>::one_more(to_coo(ctx, A).row_indices()))) << shape.name;
    }
  });
}

/// The caller's memory stays as it is, be it const or not.
TEST_P(BaseOne, borrowed_arrays_stay_as_they_are) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const std::vector<std::int32_t> offsets{1, 2, 4}, columns{2, 1, 2};
    Lent<std::int32_t> lent_offsets(ctx, offsets), lent_columns(ctx, columns);
    const Csr<T> A = from_base_one(ctx, 2, lent_offsets.borrow(), lent_columns.borrow_const(),
                                   Array<T>(std::vector<T>{T(1), T(2), T(3)}));
    EXPECT_EQ(contents(A.row_offsets()), (std::vector<std::int32_t>{0, 1, 3}));
    EXPECT_EQ(contents(A.col_indices()), (std::vector<std::int32_t>{1, 0, 1}));
    EXPECT_EQ(lent_offsets.contents(), offsets);
    EXPECT_EQ(lent_columns.contents(), columns);
  });
}

/// Arrays of one base that are said to be of the other: the first entry that cannot be is named.
TEST_P(BaseOne, arrays_of_the_other_base_are_named) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto complaint_of = [](const auto& A) { return complaint<InvalidArgument>([&] { validate(A); }); };
    const Array<std::int32_t> offsets{1, 2, 4}, zero_offsets{0, 1, 3}, columns{2, 1, 2}, zero_columns{1, 0, 1};
    const std::vector<T> values(3, T(1));
    EXPECT_EQ(complaint_of(Csr<T>(2, offsets.clone(), columns.clone(), Array<T>(values))),
              "csr: row_offsets[0] is 1, 0 was expected (the index base)");
    EXPECT_EQ(complaint_of(Csr<T>(2, zero_offsets.clone(), columns.clone(), Array<T>(values))),
              "csr: col_indices[0] = 2 in row 0 lies outside 0 to 1");
    EXPECT_EQ(complaint_of(from_base_one(ctx, 2, zero_offsets, zero_columns, Array<T>(values))),
              "csr: row_offsets[0] is -1, 0 was expected (the index base)");
    EXPECT_EQ(complaint_of(from_base_one(ctx, 2, offsets, zero_columns, Array<T>(values))),
              "csr: col_indices[1] = -1 in row 1 lies outside 0 to 1");
    EXPECT_THROW(from_base_one(ctx, 2, Array<std::int32_t>(0), columns, Array<T>(values)), ShapeMismatch);
    EXPECT_THROW(from_base_one(ctx, 2, offsets, columns, Array<T>(2)), ShapeMismatch);
  });
}

INSTANTIATE_TEST_SUITE_P(, BaseOne, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
