#include "sparse/spmm/batch.hpp"

#include "sparse/convert/convert.hpp"
#include "tests/spmm/dense_operands.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/lent.hpp"
#include "tests/support/replay.hpp"

namespace krill::test {
namespace {

using SpmmBatch = OnBackendAndScalar;

constexpr std::int32_t members = 5;

/// Rows of none to 40 entries, as many for any seed.
const Shape uneven{"uneven", 70, 60, [](std::int32_t row, std::mt19937_64&) { return row * 7 % 41; }};
/// Short rows, among which a full one is long.
const Shape spiked{"spiked", 70, 60, [](std::int32_t row, std::mt19937_64&) { return row % 33 == 20 ? 60 : row % 5; }};

/// Arrays one after the other.
template <class T>
Array<T> joined(const std::vector<Array<T>>& parts) {
  std::vector<T> all;
  for (const Array<T>& part : parts) all.insert(all.end(), part.host().begin(), part.host().end());
  return Array<T>(std::move(all));
}

/// Matrices of a batch, one by one and together.
template <class T, class Offset>
struct SparseMembers {
  std::vector<Csr<T, Offset>> one_by_one;
  CsrBatch<T, Offset> together;

  /// `shares` one pattern, or each has its own; or only one matrix is there.
  static SparseMembers of(std::int32_t count, bool shares, const Shape& shape = uneven) {
    std::vector<Csr<T, Offset>> made;
    std::vector<Array<Offset>> offsets;
    std::vector<Array<std::int32_t>> columns;
    std::vector<Array<T>> values;
    for (std::int32_t i = 0; i < count; ++i) {
      made.push_back(random_csr<T, Offset>(shares ? 40 : 40 + static_cast<std::uint64_t>(i), shape));
      const auto own = random_vector<T>(60 + static_cast<std::uint64_t>(i), made.back().nnz());
      std::copy(own.begin(), own.end(), made.back().values().edit().begin());
      if (!shares || i == 0) {
        offsets.push_back(made.back().row_offsets().clone());
        columns.push_back(made.back().col_indices().clone());
      }
      values.push_back(made.back().values().clone());
    }
    const std::int64_t nnz = made.front().nnz();
    CsrBatch<T, Offset> batch(count, shape.rows, shape.cols, nnz, joined(offsets), joined(columns), joined(values));
    return {std::move(made), std::move(batch)};
  }
};

template <class T>
DenseBatch<T> random_batch(std::uint64_t seed, std::int32_t count, std::int64_t rows, std::int64_t cols, Order order,
                           std::int64_t padding, std::int64_t gap) {
  const std::int64_t ld = (order == Order::column_major ? rows : cols) + padding;
  const std::int64_t stride = ld * (order == Order::column_major ? cols : rows) + gap;
  return {count, rows, cols, Array<T>(random_vector<T>(seed, stride * count)), order, ld, stride};
}

/// Matrix `i` of a batch by itself.
template <class T>
Dense<T> member(const DenseBatch<T>& batch, std::int64_t i) {
  const auto from = batch.values().host().subspan(static_cast<std::size_t>(i * batch.stride()));
  const std::int64_t lines = batch.order() == Order::column_major ? batch.cols() : batch.rows();
  std::vector<T> own(from.begin(), from.begin() + batch.leading_dimension() * lines);
  const std::int64_t line = batch.order() == Order::column_major ? batch.rows() : batch.cols();
  for (std::size_t p = 0; p < own.size(); ++p)
    if (static_cast<std::int64_t>(p) % batch.leading_dimension() >= line)
      own[p] = T(std::numeric_limits<real_t<T>>::quiet_NaN());  // as expect_product wants padding
  return {batch.rows(), batch.cols(), Array<T>(std::move(own)), batch.order(), batch.leading_dimension()};
}

/// Entries of a batch that belong to no matrix.
template <class T>
std::vector<T> between(const DenseBatch<T>& batch) {
  const std::int64_t lines = batch.order() == Order::column_major ? batch.cols() : batch.rows();
  const std::int64_t line = batch.order() == Order::column_major ? batch.rows() : batch.cols();
  std::vector<T> found;
  for (std::int64_t p = 0; p < batch.values().size(); ++p) {
    const std::int64_t place = p % batch.stride();
    if (place >= lines * batch.leading_dimension() || place % batch.leading_dimension() >= line)
      found.push_back(batch.values().host()[static_cast<std::size_t>(p)]);
  }
  return found;
}

template <class Offset, class T>
void follows_its_formula(Context& ctx) {
  const T alpha = random_vector<T>(1, 1)[0], factor = random_vector<T>(2, 1)[0];
  for (const std::int32_t of_A : {1, members})
    for (const bool shares : {false, true}) {
      if (of_A == 1 && shares) continue;
      const auto A = SparseMembers<T, Offset>::of(of_A, shares);
      for (const std::int32_t of_B : {1, members})
        for (const std::int64_t k : {1, 3, 9})
          for (const Op op : ops)
            for (const Order of_b : orders)
              for (const Order of_c : orders)
                for (const std::int64_t gap : {0, 4}) {
                  const std::int64_t padding = gap ? 3 : 0;
                  const T beta = k == 3 ? factor : T(0);
                  const auto B =
                      random_batch<T>(3, of_B, op == Op::none ? 60 : k, op == Op::none ? k : 60, of_b, padding, gap);
                  auto C = random_batch<T>(4, members, 70, k, of_c, padding, gap);
                  std::vector<Dense<T>> before;
                  for (std::int32_t i = 0; i < members; ++i) before.push_back(member(C, i));
                  const std::vector<T> left = between(C);
                  spmm(ctx, op, alpha, A.together, B, beta, C);
                  for (std::int32_t i = 0; i < members; ++i)
                    expect_product(Op::none, op, alpha,
                                   reference(A.one_by_one[static_cast<std::size_t>(of_A == 1 ? 0 : i)]),
                                   member(B, of_B == 1 ? 0 : i), beta, before[static_cast<std::size_t>(i)],
                                   member(C, i), "member " + std::to_string(i));
                  EXPECT_EQ(between(C), left);
                }
    }
}

TEST_P(SpmmBatch, follows_its_formula_in_every_mode) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    follows_its_formula<std::int32_t, T>(ctx);
  });
}

TEST_P(SpmmBatch, has_long_rows_among_short_ones) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const std::int32_t of_A : {1, members}) {
      const auto A = SparseMembers<T, std::int32_t>::of(of_A, false, spiked);
      for (const std::int64_t k : {1, 7, 8})  // of one A in groups of 8 columns: 5; 35; 40, which are whole groups
        for (const Order order : orders) {
          const auto B = random_batch<T>(3, members, 60, k, order, 1, 0);
          DenseBatch<T> C(members, 70, k);
          spmm(ctx, Op::none, T(2), A.together, B, T(0), C);
          for (std::int32_t i = 0; i < members; ++i)
            expect_product(Op::none, Op::none, T(2),
                           reference(A.one_by_one[static_cast<std::size_t>(of_A == 1 ? 0 : i)]), member(B, i), T(0),
                           Dense<T>(70, k, Array<T>(std::vector<T>(static_cast<std::size_t>(70 * k)))), member(C, i),
                           "member " + std::to_string(i));
        }
    }
  });
}

TEST_P(SpmmBatch, has_offsets_of_64_bits) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto A = SparseMembers<T, std::int64_t>::of(members, false);
    const auto B = random_batch<T>(3, members, 60, 2, Order::row_major, 0, 0);
    DenseBatch<T> C(members, 70, 2);
    spmm(ctx, Op::none, T(2), A.together, B, T(0), C);
    for (std::int32_t i = 0; i < members; ++i)
      expect_product(Op::none, Op::none, T(2), reference(A.one_by_one[static_cast<std::size_t>(i)]), member(B, i), T(0),
                     Dense<T>(70, 2, Array<T>(std::vector<T>(140))), member(C, i), "64 bits");
  });
}

/// A batch in coordinates, of the same matrices.
template <class T>
CooBatch<T> in_coordinates(Context& ctx, const SparseMembers<T, std::int64_t>& A, bool shares) {
  std::vector<Array<std::int32_t>> rows, columns;
  std::vector<Array<T>> values;
  for (const Csr<T, std::int64_t>& member : A.one_by_one) {
    Coo<T> coo = to_coo(ctx, member);
    if (!shares || rows.empty())
      rows.push_back(coo.row_indices().clone()), columns.push_back(coo.col_indices().clone());
    values.push_back(coo.values().clone());
  }
  return {A.together.count(), uneven.rows,     uneven.cols,   A.together.nnz(),
          joined(rows),       joined(columns), joined(values)};
}

TEST_P(SpmmBatch, in_coordinates_is_that_in_csr_bit_by_bit) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const std::int32_t of_A : {1, members})
      for (const bool shares : {false, true})
        for (const std::int32_t of_B : {1, members})
          for (const std::int64_t k : {1, 3}) {
            const auto A = SparseMembers<T, std::int64_t>::of(of_A, shares);
            const CooBatch<T> coo = in_coordinates(ctx, A, shares);
            validate(coo);
            const auto B = random_batch<T>(3, of_B, k, 60, Order::row_major, 1, 2);
            auto C = random_batch<T>(4, members, 70, k, Order::column_major, 3, 4);
            DenseBatch<T> D(members, 70, k, C.values().clone(), Order::column_major, C.leading_dimension(), C.stride());
            spmm(ctx, Op::adjoint, T(2), A.together, B, T(3), C);
            spmm(ctx, Op::adjoint, T(2), coo, B, T(3), D);
            EXPECT_EQ(contents(D.values()), contents(C.values()));
          }
    const auto A = SparseMembers<T, std::int64_t>::of(members, false);
    const CooBatch<T> coo = in_coordinates(ctx, A, false);
    const auto B = random_batch<T>(3, members, 60, 2, Order::column_major, 0, 0);
    DenseBatch<T> C(members, 70, 2), again(members, 70, 2);
    replay(ctx, [&] { spmm(ctx, Op::none, T(2), coo, B, T(0), C); });
    spmm(ctx, Op::none, T(2), A.together, B, T(0), again);
    EXPECT_EQ(contents(C.values()), contents(again.values()));
    run_skipped(ctx, [&] { spmm(ctx, Op::none, T(7), coo, B, T(0), C); });
    EXPECT_EQ(contents(C.values()), contents(again.values()));
  });
}

TEST_P(SpmmBatch, in_coordinates_has_empty_matrices_and_refuses_what_does_not_fit) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const CooBatch<T> empty(2, 3, 2, 0, Array<std::int32_t>(0), Array<std::int32_t>(0), Array<T>(0));
    DenseBatch<T> C(2, 3, 1, Array<T>(std::vector<T>(6, T(5)))), wide(2, 3, 2);
    const DenseBatch<T> B(2, 2, 1, Array<T>(std::vector<T>(4, T(1))));
    spmm(ctx, Op::none, T(1), empty, B, T(2), C);
    EXPECT_EQ(contents(C.values()), std::vector<T>(6, T(10)));
    EXPECT_THROW(spmm(ctx, Op::none, T(1), empty, B, T(2), wide), ShapeMismatch);
    const auto batch = [](std::int32_t count, std::int64_t nnz, Array<std::int32_t> rows) {
      return CooBatch<T>(count, 3, 2, nnz, std::move(rows), Array<std::int32_t>{0, 1}, Array<T>{T(1), T(2)});
    };
    EXPECT_THROW(batch(0, 2, Array<std::int32_t>{0, 1}), InvalidArgument);
    EXPECT_THROW(batch(3, 2, Array<std::int32_t>{0, 1, 2}), ShapeMismatch);
    EXPECT_EQ(complaint<InvalidArgument>([&] {
                validate(batch(2, 2, Array<std::int32_t>{0, 1, 1, 0}));
              }).substr(0, 27),
              "matrix 1 of the batch: coo:");
  });
}

TEST_P(SpmmBatch, TV_SPMM_BATCH_and_trap_22_has_three_modes) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    DenseBatch<T> C(2, 2, 1);
    const CsrBatch<T> one(1, 2, 2, 3, Array<std::int32_t>{0, 2, 3}, Array<std::int32_t>{0, 1, 1},
                          Array<T>{T(1), T(2), T(3)});
    spmm(ctx, Op::none, T(1), one, DenseBatch<T>(2, 2, 1, Array<T>{T(1), T(1), T(2), T(5)}), T(0), C);
    EXPECT_EQ(contents(C.values()), (std::vector<T>{T(3), T(3), T(12), T(15)}));
    const CsrBatch<T> two(2, 2, 2, 3, Array<std::int32_t>{0, 2, 3, 0, 2, 3}, Array<std::int32_t>{0, 1, 1, 0, 1, 1},
                          Array<T>{T(1), T(2), T(3), T(10), T(20), T(30)});
    validate(two);
    spmm(ctx, Op::none, T(1), two, DenseBatch<T>(1, 2, 1, Array<T>{T(1), T(1)}), T(0), C);
    EXPECT_EQ(contents(C.values()), (std::vector<T>{T(3), T(3), T(30), T(30)}));
    spmm(ctx, Op::none, T(1), two, DenseBatch<T>(2, 2, 1, Array<T>{T(1), T(1), T(2), T(5)}), T(0), C);
    EXPECT_EQ(contents(C.values()), (std::vector<T>{T(3), T(3), T(120), T(150)}));
    const CooBatch<T> coo(2, 2, 2, 3, Array<std::int32_t>{0, 0, 1}, Array<std::int32_t>{0, 1, 1}, two.values().clone());
    spmm(ctx, Op::none, T(1), coo, DenseBatch<T>(2, 2, 1, Array<T>{T(1), T(1), T(2), T(5)}), T(0), C);
    EXPECT_EQ(contents(C.values()), (std::vector<T>{T(3), T(3), T(120), T(150)}));
  });
}

TEST_P(SpmmBatch, can_be_captured_skipped_and_repeated) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const std::int32_t of_A : {1, members}) {
      const auto A = SparseMembers<T, std::int32_t>::of(of_A, true);
      const auto B = random_batch<T>(3, members, 60, 2, Order::column_major, 0, 0);
      const auto other = random_batch<T>(5, members, 60, 2, Order::column_major, 0, 0);
      DenseBatch<T> C(members, 70, 2), again(members, 70, 2);
      const Array<T> two{T(2)}, zero{T(0)};
      for (T& entry : C.values().edit()) entry = T(std::numeric_limits<real_t<T>>::quiet_NaN());
      replay(ctx, [&] { spmm(ctx, Op::none, two, A.together, B, zero, C); });
      spmm(ctx, Op::none, T(2), A.together, B, T(0), again);
      EXPECT_EQ(contents(C.values()), contents(again.values()));
      run_skipped(ctx, [&] { spmm(ctx, Op::none, two, A.together, other, zero, C); });
      EXPECT_EQ(contents(C.values()), contents(again.values()));
    }
  });
}

TEST_P(SpmmBatch, refuses_what_does_not_fit) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto A = SparseMembers<T, std::int32_t>::of(members, true);
    DenseBatch<T> C(members, 70, 2), fewer(members - 1, 70, 2), wide(members, 70, 3), square(members, 60, 60);
    const DenseBatch<T> B(members, 60, 2), low(members, 59, 2), two(2, 60, 2);
    EXPECT_THROW(spmm(ctx, Op::none, T(1), A.together, low, T(0), C), ShapeMismatch);
    EXPECT_THROW(spmm(ctx, Op::transpose, T(1), A.together, B, T(0), C), ShapeMismatch);
    EXPECT_THROW(spmm(ctx, Op::none, T(1), A.together, B, T(0), wide), ShapeMismatch);
    EXPECT_THROW(spmm(ctx, Op::none, T(1), A.together, B, T(0), fewer), ShapeMismatch);
    EXPECT_THROW(spmm(ctx, Op::none, T(1), A.together, two, T(0), C), ShapeMismatch);
    EXPECT_THROW(DenseBatch<T>(0, 60, 2), InvalidArgument);
    EXPECT_THROW(DenseBatch<T>(2, 60, 2, Order::column_major, 60, 119), InvalidArgument);
    EXPECT_THROW(DenseBatch<T>(2, 60, 2, Array<T>(239)), ShapeMismatch);
    EXPECT_THROW(CsrBatch<T>(0, 1, 1, 0, Array<std::int32_t>{0, 0}, Array<std::int32_t>(0), Array<T>(0)),
                 InvalidArgument);
    EXPECT_THROW(CsrBatch<T>(3, 1, 1, 1, Array<std::int32_t>{0, 1}, Array<std::int32_t>{0}, Array<T>{T(1), T(2)}),
                 ShapeMismatch);
    const CsrBatch<T> outside(2, 1, 1, 1, Array<std::int32_t>{0, 1}, Array<std::int32_t>{0, 1}, Array<T>{T(1)});
    EXPECT_THROW(validate(outside), InvalidArgument);
    const CsrBatch<T> I(1, 60, 60, 0, Array(std::vector<std::int32_t>(61)), Array<std::int32_t>(0), Array<T>(0));
    EXPECT_THROW(spmm(ctx, Op::none, T(1), I, square, T(0), square), InvalidArgument);
  });
}

/// Two matrices of 2 x 2 in each batch, `apart` entries from one to the next, in one array of a caller's; B's first is
/// that from entry 20 on.
TEST_P(SpmmBatch, refuses_lent_batches_that_overlap) {
  struct Case {
    std::int64_t first, apart_of_b, apart_of_c;
    bool overlaps;
  };
  const Case cases[]{{20, 4, 4, true},  {27, 4, 4, true}, {28, 4, 4, false}, {12, 4, 4, false}, {13, 4, 4, true},
                     {24, 8, 8, false}, {23, 8, 8, true}, {25, 8, 8, true},  {16, 8, 8, false}, {17, 8, 8, true},
                     {0, 8, 24, false}, {0, 8, 25, true}, {0, 8, 16, false}, {0, 4, 40, false}, {32, 8, 4, false}};
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const CsrBatch<T> I(1, 2, 2, 2, Array<std::int32_t>{0, 1, 2}, Array<std::int32_t>{0, 1}, Array<T>{T(1), T(1)});
    Lent<T> memory(ctx, random_vector<T>(1, 100));
    for (const Case& c : cases) {
      const auto lent = [&](std::int64_t first, std::int64_t apart) {
        return DenseBatch<T>(2, 2, 2, memory.borrow_part(first, 2 * apart), Order::column_major, 2, apart);
      };
      const DenseBatch<T> B = lent(20, c.apart_of_b);
      DenseBatch<T> C = lent(c.first, c.apart_of_c);
      for (const Op op : {Op::none, Op::transpose}) {
        const auto run = [&] { spmm(ctx, op, T(1), I, B, T(1), C); };
        if (c.overlaps)
          EXPECT_THROW(run(), InvalidArgument) << c.first << ", " << c.apart_of_b;
        else
          EXPECT_NO_THROW(run()) << c.first << ", " << c.apart_of_b;
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, SpmmBatch, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
