// Solves with three and five diagonals or with blocks, and the bands and blocks that they take from a matrix.
#include <fmt/format.h>

#include <algorithm>

#include "apps/verify/trial.hpp"
#include "sparse/banded/banded_factor.hpp"
#include "sparse/banded/block_tridiagonal_plan.hpp"
#include "sparse/convert/to_block_tridiagonal.hpp"
#include "sparse/core/counter_random.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill::apps::verify {
namespace {

constexpr std::string_view elimination_bound =
    "|b - A x|_i <= gamma_k (|A| |x| + |b|)_i, k = 100 for three diagonals and 200 for five: of row i for thomas on "
    "dominant rows (Higham 2002, theorem 9.14), of the system's largest row with pivoting (theorem 9.3)";
constexpr std::string_view singular_bound = "0: the row is named, and other systems come out bit by bit";

std::size_t place_in(const BandLayout& l, std::int64_t i, std::int64_t j) {
  return static_cast<std::size_t>(l.at(i, j));
}

/// use(k) for the bands of row i: those that are inside of the matrix.
template <class T, class Use>
void for_bands(const Banded<T>& A, std::int64_t i, Use&& use) {
  for (int k = -A.diagonals() / 2; k <= A.diagonals() / 2; ++k)
    if (i + k >= 0 && i + k < A.layout().rows) use(k);
}

/// A x = b of all systems, one after the other. A of one system stands for all vectors. An equation meets at most 15
/// others on a level of a divided system, which add two roundings each; with five diagonals it is twice as wide.
template <class T>
Equations<T> residuals(const Banded<T>& A, const BandLayout& l, BandedMethod method, std::span<const T> b,
                       std::span<const T> x) {
  const long double of_terms = gamma<T>(A.diagonals() == 3 ? 100 : 200);
  Equations<T> e;
  for (std::int64_t j = 0; j < l.batch; ++j) {
    long double largest = 0;
    for (std::int64_t i = 0; i < l.rows; ++i) {
      const Exact<T> right = exact(b[place_in(l, i, j)]);
      Exact<T> left(0);
      long double terms = modulus(right);
      for_bands(A, i, [&](int k) {
        const auto at = place_in(A.layout(), i, A.layout().batch == 1 ? 0 : j);
        const Exact<T> term = exact(A.band(k).host()[at]) * exact(x[place_in(l, i + k, j)]);
        left += term, terms += modulus(term);
      });
      largest = std::max(largest, terms);
      e.left.push_back(left), e.right.emplace_back(right, of_terms * terms);
    }
    if (method != BandedMethod::thomas)
      std::for_each(e.right.end() - l.rows, e.right.end(), [&](Bounded<T>& row) { row.error = of_terms * largest; });
  }
  return e;
}

template <class T>
bool has_dominant_rows(const Banded<T>& A) {
  for (std::int64_t j = 0; j < A.layout().batch; ++j)
    for (std::int64_t i = 0; i < A.layout().rows; ++i) {
      long double excess = 0;
      for_bands(A, i, [&](int k) {
        const long double size = modulus(exact(A.band(k).host()[place_in(A.layout(), i, j)]));
        excess += k == 0 ? size : -size;
      });
      if (!(excess >= 0)) return false;
    }
  return true;
}

/// What stands in padding before and after.
template <class T>
T padding_mark() {
  return T(real_t<T>(777));
}

/// Numbers by row and system whatever the layout, NaN in padding and outside of matrices, where nothing is to be read.
template <class T>
Banded<T> drawn_bands(const BandLayout& l, int diagonals, bool dominant) {
  Banded<T> A(l, diagonals);
  for (int k = -diagonals / 2; k <= diagonals / 2; ++k)
    std::ranges::fill(A.band(k).edit(), T(std::numeric_limits<real_t<T>>::quiet_NaN()));
  for (std::int64_t j = 0; j < l.batch; ++j)
    for (std::int64_t i = 0; i < l.rows; ++i)
      for_bands(A, i, [&](int k) {
        const CounterRandom draw(20260101, 100 + k);
        A.band(k).edit()[place_in(l, i, j)] = draw.symmetric<T>(i, j) + T(real_t<T>(k == 0 && dominant ? 8 : 0));
      });
  return A;
}

template <class T>
std::vector<T> drawn_vectors(const BandLayout& l) {
  const CounterRandom draw(20260101, 110);
  std::vector<T> b(static_cast<std::size_t>(l.extent()), padding_mark<T>());
  for (std::int64_t j = 0; j < l.batch; ++j)
    for (std::int64_t i = 0; i < l.rows; ++i) b[place_in(l, i, j)] = draw.symmetric<T>(i, j);
  return b;
}

/// The first place without a row whose mark is gone.
template <class T>
std::optional<std::size_t> touched_padding(const BandLayout& l, std::span<const T> x) {
  std::vector<bool> used(x.size());
  for (std::int64_t j = 0; j < l.batch; ++j)
    for (std::int64_t i = 0; i < l.rows; ++i) used[place_in(l, i, j)] = true;
  for (std::size_t at = 0; at < x.size(); ++at)
    if (!used[at] && x[at] != padding_mark<T>()) return at;
  return std::nullopt;
}

/// What solves: eliminations anew, or a factor with new values.
enum class SolvedBy { plan, factor };

/// x, and the row of each system that has no pivot, -1 where all have one.
template <class T>
std::vector<std::int32_t> solve_by(Context& ctx, SolvedBy by, const Banded<T>& A, const BandLayout& vectors,
                                   BandedMethod method, const Array<T>& b, Array<T>& x) {
  std::vector<std::int32_t> rows;
  const auto ask = [&](const auto& solver, std::int32_t systems) {
    for (std::int32_t j = 0; j < systems; ++j) rows.push_back(solver.zero_pivot(j).value_or(-1));
  };
  if (by == SolvedBy::plan) {
    BandedPlan<T> plan(ctx, A.layout(), vectors, A.diagonals(), method);
    plan.solve(ctx, A, b, x);
    ask(plan, vectors.batch);
  } else {
    BandedFactor<T> factor(ctx, A, vectors, method);
    factor.update(ctx, A);
    factor.solve(ctx, b, x);
    ask(factor, A.layout().batch);
  }
  return rows;
}

template <class T>
Comparison compare_banded(Context& ctx, SolvedBy by, const Banded<T>& A, const BandLayout& vectors,
                          BandedMethod method) {
  const Array<T> b(drawn_vectors<T>(vectors));
  Array<T> x(std::vector<T>(static_cast<std::size_t>(vectors.extent()), padding_mark<T>()));
  const auto rows = solve_by(ctx, by, A, vectors, method, b, x);
  if (const auto zero = std::ranges::find_if(rows, [](std::int32_t row) { return row != -1; }); zero != rows.end())
    return failed(
        fmt::format("system {}, which is regular, is said to have a zero pivot in row {}", zero - rows.begin(), *zero));
  if (const auto at = touched_padding(vectors, x.host()))
    return failed(fmt::format("entry {} of x is padding and was overwritten", *at));
  return compare(residuals(A, vectors, method, b.host(), x.host()));
}

struct NamedBandLayout {
  std::string name;
  BandLayout matrices, vectors;
};

std::vector<NamedBandLayout> layouts_of(const BandedBatch& batch) {
  const auto [rows, systems] = batch;
  std::vector<NamedBandLayout> all;
  for (const auto& [name, layout] :
       {std::pair("single", BandLayout::single(rows)), std::pair("strided", BandLayout::strided(rows, systems)),
        std::pair("strided with padding", BandLayout::strided(rows, systems, rows + 5)),
        std::pair("interleaved", BandLayout::interleaved(rows, systems)),
        std::pair("interleaved with padding", BandLayout::interleaved(rows, systems, systems + 3)),
        std::pair("lines of a grid", BandLayout::lines(systems, rows, 2, 1))})
    all.push_back({name, layout, layout});
  all.push_back({"one matrix, columns", BandLayout::single(rows), BandLayout::strided(rows, systems, rows + 2)});
  all.push_back({"one matrix, rows", BandLayout::single(rows), BandLayout::interleaved(rows, systems)});
  return all;
}

std::string banded_name(BandedMethod method, int diagonals) {
  return fmt::format("banded {}, {} diagonals", banded_method_names[static_cast<std::size_t>(method)], diagonals);
}

/// Row and column 0 of every third system are empty.
template <class T>
Comparison compare_with_singular(Context& ctx, SolvedBy by, const BandLayout& l, int diagonals, BandedMethod method) {
  const Banded<T> regular = drawn_bands<T>(l, diagonals, true);
  Banded<T> A = drawn_bands<T>(l, diagonals, true);
  for (std::int64_t j = 1; j < l.batch; j += 3)
    for_bands(A, 0, [&](int k) {
      A.band(k).edit()[place_in(l, 0, j)] = T(0);
      A.band(-k).edit()[place_in(l, k, j)] = T(0);
    });
  const Array<T> b(drawn_vectors<T>(l));
  Array<T> expected(l.extent(), "x"), x(l.extent(), "x");
  solve_by(ctx, by, regular, l, method, b, expected);
  const auto rows = solve_by(ctx, by, A, l, method, b, x);
  std::vector<T> alone, beside;
  for (std::int32_t j = 0; j < l.batch; ++j) {
    const std::int32_t found = rows[static_cast<std::size_t>(j)], empty = j % 3 == 1 ? 0 : -1;
    if (found != empty)
      return failed(fmt::format("system {}: row {} has no pivot (-1: none), row {} is said to", j, empty, found));
    for (std::int64_t i = 0; i < l.rows && j % 3 != 1; ++i) {
      alone.push_back(expected.host()[place_in(l, i, j)]);
      beside.push_back(x.host()[place_in(l, i, j)]);
    }
  }
  return compare_bits<T>(beside, alone);
}

template <class T>
void check_batches(Ledger& ledger, Context& ctx, SolvedBy by, const std::vector<BandedBatch>& batches, int diagonals,
                   BandedMethod method) {
  const std::string name = banded_name(method, diagonals) + (by == SolvedBy::factor ? ", factored" : "");
  const std::size_t layouts = layouts_of(batches.front()).size();
  for (std::size_t k = 0; k < layouts; ++k)
    ledger.check(name + ", " + layouts_of(batches.front())[k].name, elimination_bound, [&] {
      Comparison all;
      for (const BandedBatch& batch : batches) {
        const NamedBandLayout l = layouts_of(batch)[k];
        const bool dominant = method == BandedMethod::thomas;
        all.merge(compare_banded(ctx, by, drawn_bands<T>(l.matrices, diagonals, dominant), l.vectors, method),
                  fmt::format("{} systems of {} rows", l.vectors.batch, batch.rows));
      }
      return all;
    });
  ledger.check(name + ", singular systems", singular_bound, [&] {
    Comparison all;
    for (const BandedBatch& batch : batches)
      all.merge(
          compare_with_singular<T>(ctx, by, BandLayout::interleaved(batch.rows, batch.systems), diagonals, method),
          fmt::format("{} systems of {} rows", batch.systems, batch.rows));
    return all;
  });
}

/// Against entries that lie in a band, each at its place.
template <class T>
Comparison compare_bands(const Subject<T>& s, const Banded<T>& A) {
  const BandLayout& l = A.layout();
  std::vector<T> got, expected;
  for (std::int64_t j = 0; j < l.batch; ++j)
    for (std::int64_t i = 0; i < l.rows; ++i)
      for_bands(A, i, [&](int k) {
        got.push_back(A.band(k).host()[place_in(l, i, j)]);
        expected.push_back(s.rows.at(static_cast<std::int32_t>(l.at(i, j)), static_cast<std::int32_t>(l.at(i + k, j))));
      });
  return compare_bits<T>(got, expected);
}

/// What of the subject's matrix lies in the bands.
template <class T>
void check_own_bands(Ledger& ledger, Context& ctx, const Subject<T>& s, const BandedSample& sample) {
  const BandLayout l = sample.layout.rows > 0 ? sample.layout : BandLayout::single(s.A.rows());
  const Banded<T> A = to_banded(ctx, s.A, l, sample.diagonals, OutsideBands::dropped);
  const std::string of = l.batch == 1 ? "" : fmt::format(", {} lines of {}", l.batch, l.rows);
  ledger.check(fmt::format("to_banded, {} diagonals{}", sample.diagonals, of), exact_bound,
               [&] { return compare_bands(s, A); });
  const bool dominant = has_dominant_rows(A);
  const BandedMethod method = sample.method.value_or(dominant ? BandedMethod::thomas : BandedMethod::lu);
  const std::string name = banded_name(method, sample.diagonals) + of;
  if (method == BandedMethod::thomas && !dominant)
    return ledger.not_checked(name, "not all rows are diagonally dominant, which it takes to be stable");
  BandedPlan<T> plan(ctx, l, sample.diagonals, method);
  Array<T> x(l.extent(), "x");
  plan.solve(ctx, A, array(s.y.front().values, "b"), x);
  if (plan.zero_pivot()) return ledger.not_checked(name, "what lies in the bands is singular");
  ledger.check(name, elimination_bound, [&] {
    Comparison all;
    for (const auto& b : s.y) {
      plan.solve(ctx, A, array(b.values, "b"), x);
      all.merge(compare(residuals<T>(A, l, method, b.values, x.host())), b.name);
    }
    return all;
  });
}

constexpr std::string_view block_bound =
    "|b - A x|_i <= gamma_k (|A| |x| + |b|) of the system's largest row, k = 6 (3 size + 2): |L| |U| is at most three "
    "times |A| where rows are dominant (Higham 2002, 9.5 and 13.2), and chunks round twice";

/// Entries of rows of blocks, dominant; as drawn_bands().
template <class T>
BlockTridiagonal<T> drawn_blocks(const BandLayout& l, int size) {
  BlockTridiagonal<T> A(l, size);
  for (int k = -1; k <= 1; ++k) {
    const CounterRandom draw(20260101, 120 + k);
    const auto band = A.band(k).edit();
    std::ranges::fill(band, T(std::numeric_limits<real_t<T>>::quiet_NaN()));
    for (std::int64_t j = 0; j < l.batch; ++j)
      for (std::int64_t i = std::max(0, -k); i < l.rows - std::max(0, k); ++i)
        for (int e = 0; e < size * size; ++e)
          band[place_in(l, i, j) * static_cast<std::size_t>(size * size) + static_cast<std::size_t>(e)] =
              draw.symmetric<T>(i * size * size + e, j) + T(real_t<T>(k == 0 && e / size == e % size ? 6 * size : 0));
  }
  return A;
}

template <class T>
Comparison compare_blocks(Context& ctx, const BandLayout& matrices, const BandLayout& l, int size) {
  const BlockTridiagonal<T> A = drawn_blocks<T>(matrices, size);
  const auto at = [&](std::int64_t i, std::int64_t j, std::int64_t r) {
    return place_in(l, i, j) * static_cast<std::size_t>(size) + static_cast<std::size_t>(r);
  };
  std::vector<T> given(static_cast<std::size_t>(l.extent() * size), padding_mark<T>());
  std::vector<bool> used(given.size());
  const CounterRandom draw(20260101, 110);
  for (std::int64_t j = 0; j < l.batch; ++j)
    for (std::int64_t row = 0; row < std::int64_t{l.rows} * size; ++row) {
      given[at(row / size, j, row % size)] = draw.symmetric<T>(row, j);
      used[at(row / size, j, row % size)] = true;
    }
  BlockTridiagonalPlan<T> plan(ctx, matrices, l, size);
  const Array<T> b(given);
  Array<T> x(std::vector<T>(given.size(), padding_mark<T>()));
  plan.solve(ctx, A, b, x);
  if (const auto singular = plan.singular_block())
    return failed(fmt::format("system {}, which is regular, is said to have a singular block in block row {}",
                              singular->system, singular->row));
  for (std::size_t p = 0; p < used.size(); ++p)
    if (!used[p] && x.host()[p] != padding_mark<T>())
      return failed(fmt::format("entry {} of x is padding and was overwritten", p));
  const long double of_terms = gamma<T>(6 * (3 * size + 2));
  Equations<T> e;
  for (std::int64_t j = 0; j < l.batch; ++j) {
    long double largest = 0;
    for (std::int64_t row = 0; row < std::int64_t{l.rows} * size; ++row) {
      const std::int64_t i = row / size;
      const Exact<T> right = exact(b.host()[at(i, j, row % size)]);
      Exact<T> left(0);
      long double terms = modulus(right);
      for (int k = -1; k <= 1; ++k) {
        if (i + k < 0 || i + k >= l.rows) continue;
        const std::size_t block = place_in(matrices, i, matrices.batch == 1 ? 0 : j);
        for (int c = 0; c < size; ++c) {
          const auto in_block = static_cast<std::size_t>(row % size * size + c);
          const Exact<T> term = exact(A.band(k).host()[block * static_cast<std::size_t>(size * size) + in_block]) *
                                exact(x.host()[at(i + k, j, c)]);
          left += term, terms += modulus(term);
        }
      }
      largest = std::max(largest, terms);
      e.left.push_back(left), e.right.emplace_back(right, 0);
    }
    std::for_each(e.right.end() - std::int64_t{l.rows} * size, e.right.end(),
                  [&](Bounded<T>& row) { row.error = of_terms * largest; });
  }
  return compare(e);
}

template <class T>
void check_block_batches(Ledger& ledger, Context& ctx, const std::vector<BandedBatch>& batches) {
  for (int size = 1; size <= largest_tridiagonal_block; ++size)
    ledger.check(fmt::format("block tridiagonal, blocks of {}", size), block_bound, [&] {
      Comparison all;
      for (const BandedBatch& batch : batches)
        for (const NamedBandLayout& l : layouts_of(batch))
          all.merge(compare_blocks<T>(ctx, l.matrices, l.vectors, size),
                    fmt::format("{}, {} systems of {} block rows", l.name, l.vectors.batch, batch.rows));
      return all;
    });
}

/// Blocks of the subject's matrix, where they fit.
template <class T>
void check_own_blocks(Ledger& ledger, Context& ctx, const Subject<T>& s) {
  for (int size = 1; size <= largest_tridiagonal_block; ++size) {
    if (s.A.rows() % size != 0) continue;
    ledger.check(fmt::format("to_block_tridiagonal, blocks of {}", size), exact_bound, [&] {
      const BandLayout l = BandLayout::single(s.A.rows() / size);
      const BlockTridiagonal<T> A = to_block_tridiagonal(ctx, s.A, size, l, OutsideBands::dropped);
      std::vector<T> got, expected;
      for (std::int32_t row = 0; row < s.A.rows(); ++row)
        for (int k = -1; k <= 1; ++k)
          for (int c = 0; c < size; ++c) {
            const std::int32_t i = row / size;
            if (i + k < 0 || i + k >= l.rows) continue;
            got.push_back(A.band(k).host()[static_cast<std::size_t>(row * size + c)]);
            expected.push_back(s.rows.at(row, (i + k) * size + c));
          }
      return compare_bits<T>(got, expected);
    });
  }
}

}  // namespace

template <class T>
void check_banded(Ledger& ledger, Context& ctx, const Subject<T>& s, const Selection& selection) {
  if (!s.is_square()) return;
  for (const BandedSample& sample : selection.banded) {
    check_own_bands(ledger, ctx, s, sample);
    if (!sample.method || selection.banded_batches.empty()) continue;
    check_batches<T>(ledger, ctx, SolvedBy::plan, selection.banded_batches, sample.diagonals, *sample.method);
    if (*sample.method != BandedMethod::qr)  // of which a factor is a plan
      check_batches<T>(ledger, ctx, SolvedBy::factor, selection.banded_batches, sample.diagonals, *sample.method);
  }
  if (selection.banded.empty() || selection.banded_batches.empty()) return;
  check_block_batches<T>(ledger, ctx, selection.banded_batches);
  check_own_blocks(ledger, ctx, s);
}

template <class T>
struct BandedSuiteInstances {
  static constexpr auto list = instance<void(Ledger&, Context&, const Subject<T>&, const Selection&)>(check_banded);
};
KRILL_INSTANTIATE(BandedSuiteInstances);

}  // namespace krill::apps::verify
