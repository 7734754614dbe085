#include "sparse/coarsen/prolongator.hpp"

#include <algorithm>

#include "sparse/coarsen/near_null_space.hpp"
#include "sparse/coarsen/prolongator_passes.hpp"
#include "sparse/spgemm/spgemm.hpp"
#include "tests/coarsen/aggregates.hpp"
#include "tests/coarsen/planned.hpp"
#include "tests/spgemm/sums.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random.hpp"
#include "tests/support/replay.hpp"

namespace krill::test {
namespace {

using Prolongator = OnBackendAndScalar;

TEST_P(Prolongator, may_have_no_rows_or_no_aggregates) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const std::int32_t nodes : {0, 5}) {
      const Aggregates none = make_aggregates(std::vector<std::int32_t>(static_cast<std::size_t>(nodes), -1));
      const auto made = tentative_prolongator<T>(ctx, none, 2, random_candidates<T>(1, 2 * nodes, 2));
      EXPECT_EQ(made.P.rows(), 2 * nodes);
      EXPECT_EQ(made.P.cols(), 0);
      EXPECT_EQ(made.P.nnz(), 0);
      EXPECT_EQ(made.deficient, 0);
      const auto graph = make_graph<std::int32_t>(nodes, {});
      SmoothedProlongator<T> smoothed(ctx, graph, 2, made.P);
      smoothed.update(ctx, identity<T>(2 * nodes), graph, made.P, 1.0, 1.0);
      EXPECT_EQ(smoothed.matrix().rows(), 2 * nodes);
      EXPECT_EQ(smoothed.matrix().nnz(), 0);
    }
  });
}

/// A matrix with strong and weak entries: about one pair of coupled nodes in two is strong, and some that no entry of A
/// couples. Some diagonal entries are small beside the weak ones of their rows; one is zero, one is not stored.
template <class T>
struct Coupled {
  Csr<T> A;
  Edges edges;

  Coupled(std::int32_t nodes, std::int32_t dim, std::int32_t row_length)
      : A(random_dominant<T>(11, nodes * dim, row_length)) {
    const auto offsets = A.row_offsets().host();
    std::vector<std::int32_t> new_offsets{0}, columns;
    std::vector<T> values;
    for (std::int32_t i = 0; i < A.rows(); ++i) {
      for (auto k = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i)]);
           k < static_cast<std::size_t>(offsets[static_cast<std::size_t>(i) + 1]); ++k) {
        const std::int32_t j = A.col_indices().host()[k], p = i / dim, q = j / dim;
        T value = A.values().host()[k];
        if (i == j && i == 3) continue;
        if (i == j) value *= static_cast<real_t<T>>(i == 5 ? 0 : i % 4 == 1 ? 0.125 : 1);
        if (p != q && (p + q) % 2 == 0) edges.insert({p, q}), edges.insert({q, p});
        columns.push_back(j), values.push_back(value);
      }
      new_offsets.push_back(static_cast<std::int32_t>(columns.size()));
    }
    for (std::int32_t p = 0; p + 7 < nodes; p += 5) edges.insert({p, p + 7}), edges.insert({p + 7, p});
    A = Csr<T>(A.cols(), Array(std::move(new_offsets)), Array(std::move(columns)), Array(std::move(values)));
  }
};

/// (I - omega D_F^-1 A_F) P0 from its definition. Its terms bound the rounding: a quotient is as wrong as its
/// denominator, by the moduli of what is summed there over the sum.
template <class T, class Offset>
Sums smoothed(const Csr<T, Offset>& A, const Edges& edges, std::int32_t dim, const Csr<T, Offset>& P0, double omega) {
  using Row = std::vector<std::pair<std::int32_t, LongComplex>>;
  std::vector<Row> a(static_cast<std::size_t>(A.rows())), p0(static_cast<std::size_t>(A.rows()));
  for_entries_of(Op::none, A, [&](std::int32_t i, std::int32_t j, LongComplex v) {
    a[static_cast<std::size_t>(i)].push_back({j, v});
  });
  for_entries_of(Op::none, P0, [&](std::int32_t i, std::int32_t j, LongComplex v) {
    p0[static_cast<std::size_t>(i)].push_back({j, v});
  });
  Sums sums;
  const auto meet = [&](std::int32_t i, std::int32_t node) {
    for (const auto& [j, value] : p0[static_cast<std::size_t>(node) * static_cast<std::size_t>(dim)]) sums[{i, j}];
  };
  for (std::int32_t i = 0; i < A.rows(); ++i) meet(i, i / dim);
  for (const auto& [p, q] : edges)
    for (std::int32_t i = p * dim; i < (p + 1) * dim; ++i) meet(i, q);
  for (std::int32_t i = 0; i < A.rows(); ++i) {
    const std::int32_t node = i / dim;
    LongComplex own = 0, weak = 0;
    long double moduli = 0;
    Row kept, moved;
    for (const auto& [j, value] : a[static_cast<std::size_t>(i)]) {
      const bool strong = j / dim == node || edges.count({node, j / dim}) > 0;
      const std::int32_t to = strong ? j : node * dim + j % dim;
      if (to == i) (strong ? own : weak) += value, moduli += std::abs(value);
      if (to != i) (strong ? kept : moved).push_back({to, value});
    }
    LongComplex diagonal = own;
    if (own != LongComplex(0) && ((own + weak) / own).real() >= 0.1L) {
      diagonal += weak;
      kept.insert(kept.end(), moved.begin(), moved.end());
    }
    const LongComplex factor = diagonal == LongComplex(0) ? 0 : LongComplex(omega) / diagonal;
    const int wrong = 2 + static_cast<int>(diagonal == LongComplex(0) ? 0 : 2 * moduli / std::abs(diagonal));
    for (const auto& [j, value] : p0[static_cast<std::size_t>(i)])
      sums[{i, j}].add(value - factor * diagonal * value), sums[{i, j}].moduli += 2 * std::abs(value);
    for (const auto& [k, value] : kept)
      for (const auto& [j, entry] : p0[static_cast<std::size_t>(k)]) {
        Sum& sum = sums[{i, j}];
        sum.add(-factor * value * entry);
        sum.terms += wrong;
      }
  }
  return sums;
}

TEST_P(Prolongator, is_smoothed_as_defined) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const auto& [nodes, dim, m, length] :
         {std::array{250, 1, 1, 7}, {250, 1, 1, 40}, {200, 1, 2, 12}, {100, 2, 3, 16}, {70, 3, 6, 30}}) {
      const Coupled<T> system(nodes, dim, length);
      const Aggregates aggregates = make_aggregates(scattered(nodes, 10));
      const Csr<T> P0 =
          tentative_prolongator<T>(ctx, aggregates, dim, random_candidates<T>(3, std::int64_t{nodes} * dim, m)).P;
      const auto graph = make_graph<std::int32_t>(nodes, system.edges);
      SmoothedProlongator<T> plan(ctx, graph, dim, P0);
      EXPECT_EQ(plan.bytes(), plan.matrix().bytes());
      plan.update(ctx, system.A, graph, P0, 4.0 / 3, 2.0);
      expect_entries(smoothed(system.A, system.edges, dim, P0, 2.0 / 3), plan.matrix(), "smoothed");
    }
  });
}

/// As CUDA has them: entries of a row a few at a time, from any place on.
TEST_P(Prolongator, has_the_same_rows_when_it_fills_them_piece_by_piece) {
  if (std::get<0>(GetParam()) != Backend::host) GTEST_SKIP() << "the functions of CUDA's threads, on the host";
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const auto& [nodes, dim, m] : {std::array{250, 1, 1}, {70, 3, 6}}) {
      const Coupled<T> system(nodes, dim, 30);
      const auto b = random_candidates<T>(3, std::int64_t{nodes} * dim, m);
      const Csr<T> P0 = tentative_prolongator<T>(ctx, make_aggregates(scattered(nodes, 10)), dim, b).P;
      const auto graph = make_graph<std::int32_t>(nodes, system.edges);
      SmoothedProlongator<T> plan(ctx, graph, dim, P0);
      plan.update(ctx, system.A, graph, P0, 1.0, 2.0);
      Csr<T> pieces = plan.matrix().clone();
      std::ranges::fill(pieces.values().edit(), T(7));
      ctx.dispatch([&](const auto& where) {
        const CsrView<const NoValue> strong{graph.rows(), graph.rows(), graph.nnz(), graph.row_offsets.read(where),
                                            graph.col_indices.read(where)};
        const auto p = plan.matrix().view(where);
        const detail::Smoothing<kernel_t<T>, std::int32_t> smoothing{
            {system.A.view(where), strong, dim},
            P0.view(where),
            m,
            {1},
            {2},
            {p.rows, p.cols, p.nnz, p.row_offsets, p.col_indices},
            pieces.values().update(where)};
        for (std::int32_t row = 0; row < p.rows; ++row)
          for (std::int64_t first = p.row_offsets[row]; first < p.row_offsets[row + 1]; first += 8)
            smoothing.template fill<8>(row, first);
      });
      expect_entries(smoothed(system.A, system.edges, dim, P0, 0.5), pieces, "pieces");
    }
  });
}

/// On the matrix itself, and where the definition's own filtered entries stand: P0 = I makes them visible in P.
TEST_P(Prolongator, knows_a_bound_of_the_filtered_matrix) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const std::int32_t nodes = 150;
    const Coupled<T> system(nodes, 1, 9);
    const Csr<T> I = identity<T>(nodes);
    std::vector<long double> sums(static_cast<std::size_t>(nodes), 1);  // D_F^-1 A_F = I - (I - D_F^-1 A_F)
    for (const auto& [place, sum] : smoothed(system.A, system.edges, 1, I, 1))
      if (place.first != place.second) sums[static_cast<std::size_t>(place.first)] += std::abs(sum.value);
    Array<double> bound(1);
    const auto graph = make_graph<std::int32_t>(nodes, system.edges);
    replay(ctx, [&] { bound_filtered(ctx, system.A, graph, 1, bound); });
    const auto greatest = static_cast<double>(*std::max_element(sums.begin(), sums.end()));
    // Up to 10 terms, over a diagonal entry that is a tenth of what makes it up, or more.
    EXPECT_NEAR(bound.host()[0], greatest, 10 * 20 * epsilon<T>() * greatest);
    EXPECT_THROW(bound_filtered(ctx, system.A, graph, 0, bound), InvalidArgument);
    EXPECT_THROW(bound_filtered(ctx, system.A, graph, 2, bound), ShapeMismatch);
  });
}

/// A row that is strongly connected to all others, which make thousands of aggregates; 64-bit offsets.
TEST_P(Prolongator, has_rows_of_any_length) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const std::int32_t nodes = 3000;
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> columns, of_row;
    std::vector<T> values;
    Edges edges;
    for (std::int32_t i = 0; i < nodes; ++i) {
      of_row.push_back((i * 7 % nodes) / 2);
      for (std::int32_t j = 0; j < nodes; ++j)
        if (i == j || i == 0 || j == 0)
          columns.push_back(j), values.push_back(i == j ? T(4) : T(-1) / T(1 + i + j % 9));
      offsets.push_back(std::ssize(columns));
      if (i > 0) edges.insert({0, i}), edges.insert({i, 0});
    }
    const Csr<T, std::int64_t> A(nodes, Array(std::move(offsets)), Array(std::move(columns)), Array(std::move(values)));
    const auto P0 =
        tentative_prolongator<T, std::int64_t>(ctx, make_aggregates(of_row), 1, constant_candidates<T>(ctx, nodes, 1))
            .P;
    const auto graph = make_graph<std::int64_t>(nodes, edges);
    SmoothedProlongator<T, std::int64_t> plan(ctx, graph, 1, P0);
    plan.update(ctx, A, graph, P0, 0.5, 1.0);
    expect_entries(smoothed(A, edges, 1, P0, 0.5), plan.matrix(), "long");
  });
}

/// A B = 0: P B_c = P0 B_c - omega D_F^-1 A_F B = B, for constants whatever is weak.
TEST_P(Prolongator, keeps_constants_of_a_laplacian) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const std::int32_t nodes = 400;
    Edges edges = Coupled<T>(nodes, 1, 8).edges, strong;
    for (std::int32_t p = 0; p + 1 < nodes; ++p) edges.insert({p, p + 1}), edges.insert({p + 1, p});
    Sums laplacian;
    for (const auto& [p, q] : edges) {
      const bool is_strong = p - q == 1 || q - p == 1 || (p + q) % 3 != 0;
      const long double weight = is_strong ? 4 + (p + q) % 4 : 1;
      laplacian[{p, q}].value -= weight, laplacian[{p, p}].value += weight;
      if (is_strong) strong.insert({p, q});
    }
    std::vector<std::int32_t> offsets(static_cast<std::size_t>(nodes) + 1), columns;
    std::vector<T> values;
    for (const auto& [place, sum] : laplacian) {
      ++offsets[static_cast<std::size_t>(place.first) + 1];
      columns.push_back(place.second), values.push_back(T(static_cast<real_t<T>>(sum.value.real())));
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(nodes); ++i) offsets[i + 1] += offsets[i];
    const Csr<T> A(nodes, Array(std::move(offsets)), Array(std::move(columns)), Array(std::move(values)));
    std::vector<std::int32_t> of_row;
    for (std::int32_t i = 0; i < nodes; ++i) of_row.push_back(i / 6);
    const auto made = tentative_prolongator<T>(ctx, make_aggregates(of_row), 1, constant_candidates<T>(ctx, nodes, 1));
    const auto graph = make_graph<std::int32_t>(nodes, strong);
    ASSERT_LT(strong.size(), edges.size());
    SmoothedProlongator<T> plan(ctx, graph, 1, made.P);
    plan.update(ctx, A, graph, made.P, 1.5, 2.0);
    std::vector<Z> restored(static_cast<std::size_t>(nodes));
    for_entries_of(Op::none, plan.matrix(), [&](std::int32_t i, std::int32_t j, LongComplex value) {
      restored[static_cast<std::size_t>(i)] += Z(value * LongComplex(made.coarse_candidates.host().at(j, 0)));
    });
    // Weights are whole numbers. An entry of P times that of B_c is up to 1 + omega, and there are up to 20 of them.
    for (const Z& value : restored) ASSERT_LE(std::abs(value - 1.0), 20 * 2 * 8 * epsilon<T>());
  });
}

/// New values, factors on the device; nothing happens in a loop that has ended.
TEST_P(Prolongator, follows_new_values_in_captures_and_does_nothing_when_skipped) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    Coupled<T> system(200, 2, 12);
    const Aggregates aggregates = make_aggregates(scattered(200, 10));
    const Csr<T> P0 = tentative_prolongator<T>(ctx, aggregates, 2, random_candidates<T>(3, 400, 3)).P;
    const auto graph = make_graph<std::int32_t>(200, system.edges);
    SmoothedProlongator<T> plan(ctx, graph, 2, P0);
    plan.update(ctx, system.A, graph, P0, 1.0, 1.0);
    for (T& value : system.A.values().edit()) value *= static_cast<real_t<T>>(1 + std::abs(value));
    const Array<double> omega{1.25}, lambda{2.5};
    replay(ctx, [&] { plan.update(ctx, system.A, graph, P0, omega, lambda); });
    expect_entries(smoothed(system.A, system.edges, 2, P0, 0.5), plan.matrix(), "new values");
    const auto values = contents(plan.matrix().values());
    run_skipped(ctx, [&] { plan.update(ctx, system.A, graph, P0, 1.0, 1.0); });
    EXPECT_EQ(contents(plan.matrix().values()), values);
    SmoothedProlongator<T> fresh(ctx, graph, 2, P0);
    fresh.update(ctx, system.A, graph, P0, 1.25, 2.5);
    EXPECT_EQ(contents(std::move(fresh).release().values()), values);
  });
}

TEST_P(Prolongator, refuses_to_smooth_what_does_not_fit) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Coupled<T> system(40, 1, 6);
    const auto graph = make_graph<std::int32_t>(40, system.edges), other = make_graph<std::int32_t>(40, {});
    const auto b = constant_candidates<T>(ctx, 40, 1);
    const Csr<T> P0 = tentative_prolongator<T>(ctx, make_aggregates(scattered(40, 4)), 1, b).P;
    EXPECT_THROW(SmoothedProlongator<T>(ctx, graph, 0, P0), InvalidArgument);
    EXPECT_THROW(SmoothedProlongator<T>(ctx, graph, 2, P0), ShapeMismatch);
    const Csr<T> square = random_csr<T>(3, {"two", 40, 40, [](std::int32_t i, std::mt19937_64&) { return 1 + i % 2; }});
    EXPECT_NE(complaint<InvalidArgument>([&] { SmoothedProlongator<T>(ctx, graph, 1, square); }).find("row 0 of P0"),
              std::string::npos);
    SmoothedProlongator<T> plan(ctx, graph, 1, P0);
    EXPECT_THROW(plan.update(ctx, identity<T>(39), graph, P0, 1.0, 1.0), ShapeMismatch);
    EXPECT_THROW(plan.update(ctx, system.A, other, P0, 1.0, 1.0), ShapeMismatch);
    EXPECT_THROW(plan.update(ctx, system.A, graph, square, 1.0, 1.0), ShapeMismatch);
    if (ctx.on_cuda()) {
      Context host = Context::host();
      EXPECT_THROW(plan.update(host, system.A, graph, P0, 1.0, 1.0), InvalidArgument);
    }
  });
}

TEST_P(Prolongator, takes_the_memory_that_is_planned) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const auto check = [&]<class Offset>(Offset) {
      for (const auto& [nodes, dim, m] : {std::array{20000, 1, 1}, {3000, 3, 6}}) {
        const Aggregates aggregates = make_aggregates(scattered(nodes, 30));
        const auto b = random_candidates<T>(3, std::int64_t{nodes} * dim, m);
        expect_planned(
            ctx, [&] { return tentative_prolongator<T, Offset>(ctx, aggregates, dim, b); },
            [&](MemoryLedger& ledger, const auto& made) {
              return tentative_memory(ledger, CsrSizes::of(made.P), b.cols());
            });
        Edges edges;
        for (std::int32_t p = 0; p + 7 < nodes; ++p) edges.insert({p, p + 7}), edges.insert({p + 7, p});
        const auto graph = make_graph<Offset>(nodes, edges);
        const auto P0 = tentative_prolongator<T, Offset>(ctx, aggregates, dim, b).P;
        expect_planned(
            ctx, [&] { return SmoothedProlongator<T, Offset>(ctx, graph, dim, P0); },
            [&](MemoryLedger& ledger, const auto& made) {
              return made.memory(ledger, CsrSizes::of(made.matrix()), dim);
            });
      }
    };
    check(std::int32_t{});
    check(std::int64_t{});
  });
}

INSTANTIATE_TEST_SUITE_P(, Prolongator, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test
