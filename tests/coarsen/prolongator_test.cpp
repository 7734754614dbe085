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
      const auto b = random_candidates<T>(1, 2 * nodes, 2);
      const auto made = tentative_prolongator<T>(ctx, none, 2, b);
      EXPECT_EQ(made.P.rows(), 2 * nodes);
      EXPECT_EQ(made.P.cols(), 0);
      EXPECT_EQ(made.P.nnz(), 0);
      EXPECT_EQ(made.deficient.host()[0], 0);
      const auto graph = make_graph<std::int32_t>(nodes, {});
      SmoothedProlongator<T> smoothed(ctx, graph, 2, made);
      smoothed.update(ctx, identity<T>(2 * nodes), graph, made, b, 1.0, 1.0);
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
Sums smoothed(const Csr<T, Offset>& A, const Edges& edges, std::int32_t dim, const Tentative<T, Offset>& tentative,
              const Dense<T>& b, double omega) {
  using Row = std::vector<std::pair<std::int32_t, LongComplex>>;
  const std::int32_t m = b.cols();
  std::vector<Row> a(static_cast<std::size_t>(A.rows())), p0(static_cast<std::size_t>(A.rows()));
  for_entries_of(Op::none, A, [&](std::int32_t i, std::int32_t j, LongComplex v) {
    a[static_cast<std::size_t>(i)].push_back({j, v});
  });
  for_entries_of(Op::none, tentative.P, [&](std::int32_t i, std::int32_t j, LongComplex v) {
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
    const Row& own_row = p0[static_cast<std::size_t>(i)];
    LongComplex own = 0;
    Row kept;
    std::vector<Sum> s(static_cast<std::size_t>(m));  // what weak entries take from the candidates
    for (const auto& [j, value] : a[static_cast<std::size_t>(i)]) {
      if (j == i) own += value;
      if (j / dim == i / dim || edges.count({i / dim, j / dim}) > 0)
        kept.push_back({j, value});
      else
        for (std::int32_t c = 0; c < m; ++c) s[static_cast<std::size_t>(c)].add(value * LongComplex(b.host().at(j, c)));
    }
    LongComplex more = 0;
    long double moduli = std::abs(own), square = 0, more_moduli = 0;
    for (std::size_t j = 0; j < own_row.size(); ++j) {  // s R = t, R upper triangular
      const auto r = [&](std::size_t k) {
        return LongComplex(tentative.coarse_candidates.host().at(own_row[k].first, static_cast<std::int32_t>(j)));
      };
      for (std::size_t k = 0; k < j; ++k)
        s[j].value -= s[k].value * r(k), s[j].moduli += s[k].moduli * std::abs(r(k)), s[j].terms += s[k].terms + 2;
      const LongComplex pivot = r(j);
      if (pivot == LongComplex(0)) {
        s[j] = {};
        continue;
      }
      s[j].value /= pivot, s[j].moduli /= std::abs(pivot);
      const LongComplex q = own_row[j].second;
      more += s[j].value * std::conj(q), more_moduli += s[j].moduli * std::abs(q), square += std::norm(q);
    }
    LongComplex diagonal = own;
    bool replaces = false;
    if (square > 0) {
      replaces = own != LongComplex(0) && ((own + more / square) / own).real() >= 0.1L;
      if (replaces) diagonal += more / square, moduli += more_moduli / square;
    }
    const LongComplex factor = diagonal == LongComplex(0) ? 0 : LongComplex(omega) / diagonal;
    const int wrong = 4 + static_cast<int>(diagonal == LongComplex(0) ? 0 : 2 * moduli / std::abs(diagonal));
    for (const auto& [j, value] : own_row) sums[{i, j}].add(value);
    const auto subtract = [&](std::int32_t j, LongComplex term, long double size, int terms) {
      Sum& sum = sums[{i, j}];
      sum.value -= factor * term, sum.moduli += std::abs(factor) * size, sum.terms += terms + wrong;
    };
    for (const auto& [k, value] : kept)
      for (const auto& [j, entry] : p0[static_cast<std::size_t>(k)])
        subtract(j, value * entry, std::abs(value * entry), 1);
    for (std::size_t j = 0; replaces && j < own_row.size(); ++j)
      subtract(own_row[j].first, s[j].value, s[j].moduli, s[j].terms + 2);
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
      const auto b = random_candidates<T>(3, std::int64_t{nodes} * dim, m);
      const auto P0 = tentative_prolongator<T>(ctx, aggregates, dim, b);
      const auto graph = make_graph<std::int32_t>(nodes, system.edges);
      SmoothedProlongator<T> plan(ctx, graph, dim, P0);
      EXPECT_EQ(plan.bytes(), plan.matrix().bytes() + (m > 1 ? b.bytes() : 0));
      plan.update(ctx, system.A, graph, P0, b, 4.0 / 3, 2.0);
      expect_entries(smoothed(system.A, system.edges, dim, P0, b, 2.0 / 3), plan.matrix(), "smoothed");
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
      const auto P0 = tentative_prolongator<T>(ctx, make_aggregates(scattered(nodes, 10)), dim, b);
      const auto graph = make_graph<std::int32_t>(nodes, system.edges);
      SmoothedProlongator<T> plan(ctx, graph, dim, P0);
      plan.update(ctx, system.A, graph, P0, b, 1.0, 2.0);
      Array<T> weak(std::int64_t{system.A.rows()} * m);
      Csr<T> pieces = plan.matrix().clone();
      std::ranges::fill(pieces.values().edit(), T(7));
      ctx.dispatch([&](const auto& where) {
        const CsrView<const NoValue> strong{graph.rows(), graph.rows(), graph.nnz(), graph.row_offsets.read(where),
                                            graph.col_indices.read(where)};
        const auto p = plan.matrix().view(where);
        const detail::DividedRows<kernel_t<T>, std::int32_t> rows{system.A.view(where), strong, dim};
        using Replace = detail::ReplaceWeak<kernel_t<T>, std::int32_t>;
        for (std::int32_t first = 0; first < m; first += Replace::width)
          reduce_rows(where, Replace{rows, P0.P.view(where), b.view(where), P0.coarse_candidates.view(where), first,
                                     weak.update(where)});
        const auto fill = [&]<bool one>(std::bool_constant<one>) {
          const detail::Smoothing<kernel_t<T>, std::int32_t, one> smoothing{
              rows,
              P0.P.view(where),
              b.view(where),
              P0.coarse_candidates.view(where),
              weak.read(where),
              {1},
              {2},
              {p.rows, p.cols, p.nnz, p.row_offsets, p.col_indices},
              pieces.values().update(where)};
          for (std::int32_t row = 0; row < p.rows; ++row)
            for (std::int64_t first = p.row_offsets[row]; first < p.row_offsets[row + 1]; first += 8)
              smoothing.template fill<8>(row, first);
        };
        m == 1 ? fill(std::true_type{}) : fill(std::false_type{});
      });
      expect_entries(smoothed(system.A, system.edges, dim, P0, b, 0.5), pieces, "pieces");
    }
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
    const auto b = constant_candidates<T>(ctx, nodes, 1);
    const auto P0 = tentative_prolongator<T, std::int64_t>(ctx, make_aggregates(of_row), 1, b);
    const auto graph = make_graph<std::int64_t>(nodes, edges);
    SmoothedProlongator<T, std::int64_t> plan(ctx, graph, 1, P0);
    plan.update(ctx, A, graph, P0, b, 0.5, 1.0);
    expect_entries(smoothed(A, edges, 1, P0, b, 0.5), plan.matrix(), "long");
  });
}

/// A B = 0: P B_c = P0 B_c - omega D_F^-1 A_F B = B, whatever is weak: a Laplacian L of which D L D is taken, with
/// D^-1 1 for its kernel, as matrices of coarse levels have one that is not constant. Entries are whole numbers.
TEST_P(Prolongator, keeps_the_kernel_of_a_matrix) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const std::int32_t nodes = 400;
    Edges edges = Coupled<T>(nodes, 1, 8).edges, strong;
    for (std::int32_t p = 0; p + 1 < nodes; ++p) edges.insert({p, p + 1}), edges.insert({p + 1, p});
    for (const std::int32_t kinds : {1, 3}) {
      const auto d = [&](std::int32_t p) { return 1 << (p % kinds); };
      Sums matrix;
      for (const auto& [p, q] : edges) {
        const bool is_strong = p - q == 1 || q - p == 1 || (p + q) % 3 != 0;
        const long double weight = is_strong ? 4 + (p + q) % 4 : 1;
        matrix[{p, q}].value -= weight * d(p) * d(q), matrix[{p, p}].value += weight * d(p) * d(p);
        if (is_strong) strong.insert({p, q});
      }
      std::vector<std::int32_t> offsets(static_cast<std::size_t>(nodes) + 1), columns;
      std::vector<T> values;
      for (const auto& [place, sum] : matrix) {
        ++offsets[static_cast<std::size_t>(place.first) + 1];
        columns.push_back(place.second), values.push_back(T(static_cast<real_t<T>>(sum.value.real())));
      }
      for (std::size_t i = 0; i < static_cast<std::size_t>(nodes); ++i) offsets[i + 1] += offsets[i];
      const Csr<T> A(nodes, Array(std::move(offsets)), Array(std::move(columns)), Array(std::move(values)));
      std::vector<std::int32_t> of_row;
      for (std::int32_t i = 0; i < nodes; ++i) of_row.push_back(i / 6);
      Dense<T> b(nodes, 1);
      for (std::int32_t i = 0; i < nodes; ++i) b.edit().at(i, 0) = T(1) / T(static_cast<real_t<T>>(d(i)));
      const auto made = tentative_prolongator<T>(ctx, make_aggregates(of_row), 1, b);
      const auto graph = make_graph<std::int32_t>(nodes, strong);
      ASSERT_LT(strong.size(), edges.size());
      SmoothedProlongator<T> plan(ctx, graph, 1, made);
      plan.update(ctx, A, graph, made, b, 1.5, 2.0);
      std::vector<Z> restored(static_cast<std::size_t>(nodes));
      for_entries_of(Op::none, plan.matrix(), [&](std::int32_t i, std::int32_t j, LongComplex value) {
        restored[static_cast<std::size_t>(i)] += Z(value * LongComplex(made.coarse_candidates.host().at(j, 0)));
      });
      // An entry of P times that of B_c is up to 1 + omega times the greatest b, and there are up to 20 of them.
      for (std::int32_t i = 0; i < nodes; ++i)
        ASSERT_LE(std::abs(restored[static_cast<std::size_t>(i)] - Z(b.host().at(i, 0))), 20 * 2 * 8 * epsilon<T>())
            << i;
    }
  });
}

/// New values, factors on the device; nothing happens in a loop that has ended.
TEST_P(Prolongator, follows_new_values_in_captures_and_does_nothing_when_skipped) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    Coupled<T> system(200, 2, 12);
    const Aggregates aggregates = make_aggregates(scattered(200, 10));
    const auto b = random_candidates<T>(3, 400, 3);
    const auto P0 = tentative_prolongator<T>(ctx, aggregates, 2, b);
    const auto graph = make_graph<std::int32_t>(200, system.edges);
    SmoothedProlongator<T> plan(ctx, graph, 2, P0);
    plan.update(ctx, system.A, graph, P0, b, 1.0, 1.0);
    for (T& value : system.A.values().edit()) value *= static_cast<real_t<T>>(1 + std::abs(value));
    const Array<double> omega{1.25}, lambda{2.5};
    replay(ctx, [&] { plan.update(ctx, system.A, graph, P0, b, omega, lambda); });
    expect_entries(smoothed(system.A, system.edges, 2, P0, b, 0.5), plan.matrix(), "new values");
    const auto values = contents(plan.matrix().values());
    run_skipped(ctx, [&] { plan.update(ctx, system.A, graph, P0, b, 1.0, 1.0); });
    EXPECT_EQ(contents(plan.matrix().values()), values);
    SmoothedProlongator<T> fresh(ctx, graph, 2, P0);
    fresh.update(ctx, system.A, graph, P0, b, 1.25, 2.5);
    EXPECT_EQ(contents(std::move(fresh).release().values()), values);
  });
}

TEST_P(Prolongator, refuses_to_smooth_what_does_not_fit) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Coupled<T> system(40, 1, 6);
    const auto graph = make_graph<std::int32_t>(40, system.edges), other = make_graph<std::int32_t>(40, {});
    const auto b = constant_candidates<T>(ctx, 40, 1);
    const auto P0 = tentative_prolongator<T>(ctx, make_aggregates(scattered(40, 4)), 1, b);
    EXPECT_THROW(SmoothedProlongator<T>(ctx, graph, 0, P0), InvalidArgument);
    EXPECT_THROW(SmoothedProlongator<T>(ctx, graph, 2, P0), ShapeMismatch);
    const Csr<T> square = random_csr<T>(3, {"two", 40, 40, [](std::int32_t i, std::mt19937_64&) { return 1 + i % 2; }});
    const Tentative<T> wrong{square.clone(), Dense<T>(40, 2), Array<std::int64_t>(0), Array<std::uint8_t>(0)};
    EXPECT_NE(complaint<InvalidArgument>([&] { SmoothedProlongator<T>(ctx, graph, 1, wrong); }).find("row 0 of P0"),
              std::string::npos);
    SmoothedProlongator<T> plan(ctx, graph, 1, P0);
    const auto coarser = tentative_prolongator<T>(ctx, make_aggregates(scattered(40, 3)), 1, b);
    EXPECT_THROW(plan.update(ctx, identity<T>(39), graph, P0, b, 1.0, 1.0), ShapeMismatch);
    EXPECT_THROW(plan.update(ctx, system.A, other, P0, b, 1.0, 1.0), ShapeMismatch);
    EXPECT_THROW(plan.update(ctx, system.A, graph, coarser, b, 1.0, 1.0), ShapeMismatch);
    EXPECT_THROW(plan.update(ctx, system.A, graph, P0, constant_candidates<T>(ctx, 39, 1), 1.0, 1.0), ShapeMismatch);
    EXPECT_THROW(plan.update(ctx, system.A, graph, P0, random_candidates<T>(1, 40, 2), 1.0, 1.0), ShapeMismatch);
    if (ctx.on_cuda()) {
      Context host = Context::host();
      EXPECT_THROW(plan.update(host, system.A, graph, P0, b, 1.0, 1.0), InvalidArgument);
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
        const auto P0 = tentative_prolongator<T, Offset>(ctx, aggregates, dim, b);
        expect_planned(
            ctx, [&] { return SmoothedProlongator<T, Offset>(ctx, graph, dim, P0); },
            [&](MemoryLedger& ledger, const auto& made) {
              return made.memory(ledger, CsrSizes::of(made.matrix()), dim, m);
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
