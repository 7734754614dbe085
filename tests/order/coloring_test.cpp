#include "sparse/order/coloring.hpp"

#include <algorithm>
#include <set>

#include "apps/verify/references/coloring.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/io/generate.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/random.hpp"
#include "tests/support/references.hpp"

namespace krill::test {
namespace {

using Graph = std::vector<std::set<std::int32_t>>;

Graph joined_pattern(const Reference& A) {
  Graph graph(static_cast<std::size_t>(A.rows));
  for (std::size_t k = 0; k < A.row.size(); ++k) {
    if (A.row[k] == A.col[k]) continue;
    graph[static_cast<std::size_t>(A.row[k])].insert(A.col[k]);
    graph[static_cast<std::size_t>(A.col[k])].insert(A.row[k]);
  }
  return graph;
}

/// Colors of the textbook's greedy algorithm, row after row.
std::int32_t sequential_colors(const Graph& graph) {
  std::vector<std::int32_t> colors(graph.size(), -1);
  std::int32_t count = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    std::set<std::int32_t> taken;
    for (const std::int32_t j : graph[i]) taken.insert(colors[static_cast<std::size_t>(j)]);
    std::int32_t color = 0;
    while (taken.contains(color)) ++color;
    colors[i] = color;
    count = std::max(count, color + 1);
  }
  return count;
}

/// All that a coloring promises whatever its quality.
template <class T, class Offset>
void expect_sound(const Csr<T, Offset>& A, const Coloring& made) {
  const std::int32_t n = A.rows();
  const std::vector<std::int32_t> colors = contents(made.colors), offsets = contents(made.offsets),
                                  order = contents(made.ordering.order()), inverse = contents(made.ordering.inverse());
  ASSERT_EQ(std::ssize(colors), n);
  ASSERT_EQ(std::ssize(order), n);
  ASSERT_EQ(std::ssize(offsets), made.count + 1);
  EXPECT_EQ(offsets.front(), 0);
  EXPECT_EQ(offsets.back(), n);
  for (const auto& [row, col, value] : verify::clashes<T>(verify::rows_of(A), colors))
    FAIL() << "rows " << row << " and " << col << " have the color " << colors[static_cast<std::size_t>(row)];
  for (std::int32_t c = 0; c < made.count; ++c) {
    const auto begin = offsets[static_cast<std::size_t>(c)], end = offsets[static_cast<std::size_t>(c) + 1];
    ASSERT_LT(begin, end) << "color " << c << " has no row";
    for (std::int32_t place = begin; place < end; ++place) {
      const std::int32_t row = order[static_cast<std::size_t>(place)];
      ASSERT_EQ(colors[static_cast<std::size_t>(row)], c);
      ASSERT_EQ(inverse[static_cast<std::size_t>(row)], place);
      if (place > begin) {
        ASSERT_GT(row, order[static_cast<std::size_t>(place) - 1]);
      }
    }
  }
}

using Colorings = OnBackendAndScalar;

TEST_P(Colorings, are_sound_on_every_pattern) {
  with_scalar([&]<class T>(T) {
    Context ctx = context(), host = Context::host();
    for (const Shape& shape : square_shapes()) {
      SCOPED_TRACE(shape.name);
      const Csr<T, std::int64_t> A = random_csr<T, std::int64_t>(1, shape);
      const Coloring made = color(ctx, A);
      expect_sound(A, made);
      EXPECT_EQ(contents(made.colors), contents(color(host, A).colors));
      EXPECT_EQ(contents(made.colors), contents(color(ctx, A).colors));
    }
  });
}

TEST_P(Colorings, trap_14_give_what_the_fraction_leaves_colors_of_their_own) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_dominant<T>(2, 3000, 8);
    const Coloring whole = color(ctx, A);
    const auto sizes = contents(whole.offsets);
    for (const double fraction : {0.0, 0.3, 0.8, 0.999}) {
      SCOPED_TRACE(fraction);
      const Coloring made = color(ctx, A, fraction);
      expect_sound(A, made);
      std::int32_t classes = 0;
      while (sizes[static_cast<std::size_t>(classes)] < fraction * 3000) ++classes;
      EXPECT_EQ(made.count, classes + 3000 - sizes[static_cast<std::size_t>(classes)]);
      EXPECT_EQ(contents(made.ordering.order()), contents(whole.ordering.order()));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, Colorings, backends_and_scalars, param_name);

using ColoringQuality = OnBackend;

TEST_P(ColoringQuality, comes_near_the_sequential_greedy_algorithm) {
  Context ctx = context(), host = Context::host();
  const std::pair<const char*, GeneratorOptions> cases[] = {
      {"line", Poisson1dOptions{50'001}},
      {"5 points", Poisson2dOptions{200}},
      {"5 points, odd lines", Poisson2dOptions{151, 170}},
      {"9 points", Poisson2dOptions{201, 0, Stencil2d::nine}},
      {"7 points", Poisson3dOptions{36}},
      {"7 points, odd planes", Poisson3dOptions{31, 33, 40}},
      {"27 points", Poisson3dOptions{34, 0, 0, Stencil3d::twenty_seven}},
      {"27 points, odd planes", Poisson3dOptions{29, 31, 40, Stencil3d::twenty_seven}},
      {"elasticity", Elasticity3dOptions{14}},
      {"random", RandomSpdOptions{20'000, 16}},
      {"random, nonsymmetric", RandomDominantOptions{20'000, 12}},
      {"power law", PowerLawLaplacianOptions{30'000, 6}},
      {"network", ResistorNetworkOptions{150}},
  };
  for (const auto& [what, options] : cases) {
    SCOPED_TRACE(what);
    const AnyMatrix<double> any = generate<double>(options);
    const auto& A = std::get<Csr<double>>(any);
    const Coloring made = color(ctx, A);
    expect_sound(A, made);
    const std::int32_t sequential = sequential_colors(joined_pattern(reference(A)));
    EXPECT_LE(2 * made.count, 3 * sequential) << made.count << " colors, sequential " << sequential;
    EXPECT_EQ(contents(made.colors), contents(color(host, A).colors));
  }
}

TEST_P(ColoringQuality, needs_two_colors_on_large_grids) {
  Context ctx = context();
  for (const GeneratorOptions& options :
       {GeneratorOptions(Poisson2dOptions{700}), GeneratorOptions(Poisson3dOptions{70})}) {
    const AnyMatrix<double> A = generate<double>(options);
    EXPECT_EQ(color(ctx, std::get<Csr<double>>(A)).count, 2);
  }
}

/// Rows that all meet each other need a color each, in whichever window of the masks that lies; half of the entries
/// stand in A, the others in its transpose.
TEST_P(ColoringQuality, counts_a_clique) {
  Context ctx = context();
  for (const std::int32_t n : {100, 130, 500, 4200}) {
    std::vector<std::int32_t> offsets{0}, cols;
    for (std::int32_t i = 0; i < n; ++i) {
      for (std::int32_t j = i; j < n; ++j) cols.push_back(j);
      offsets.push_back(static_cast<std::int32_t>(cols.size()));
    }
    Array<float> values(std::vector<float>(cols.size(), 1.0F));
    const Csr<float> A(n, Array<std::int32_t>(std::move(offsets)), Array<std::int32_t>(std::move(cols)),
                       std::move(values));
    EXPECT_EQ(color(ctx, A).count, n);
  }
}

/// A hub in the middle of many short rows, among them rows of its own block and of others.
TEST_P(ColoringQuality, colors_long_rows_first) {
  Context ctx = context();
  constexpr std::int32_t n = 20'000, hub = 10'007;
  std::vector<std::int32_t> offsets{0}, cols;
  for (std::int32_t i = 0; i < n; ++i) {
    for (const std::int32_t j : {i - 1, i, i + 1})
      if (j >= 0 && j < n && i != hub) cols.push_back(j);
    if (i < hub - 1) cols.push_back(hub);
    if (i > hub + 1) cols.insert(cols.end() - (i + 1 < n ? 3 : 2), hub);
    for (std::int32_t j = 0; i == hub && j < n; ++j) cols.push_back(j);
    offsets.push_back(static_cast<std::int32_t>(cols.size()));
  }
  Array<double> values(std::vector<double>(cols.size(), 1.0));
  const Csr<double> A(n, Array<std::int32_t>(std::move(offsets)), Array<std::int32_t>(std::move(cols)),
                      std::move(values));
  validate(A);
  const Coloring made = color(ctx, A);
  expect_sound(A, made);
  EXPECT_EQ(made.colors.host()[hub], 0);
  EXPECT_EQ(made.count, 3);
}

INSTANTIATE_TEST_SUITE_P(, ColoringQuality, backends, param_name);

TEST(ColorSequence, has_a_step_for_every_row) {
  for (const detail::ColorSequence& sequence :
       {detail::ColorSequence{1000, 1000, 1}, detail::ColorSequence{1000, 100, 10}, detail::ColorSequence{1001, 334, 3},
        detail::ColorSequence{999, 64, 16}, detail::ColorSequence{70, 35, 2}, detail::ColorSequence{71, 35, 3}}) {
    SCOPED_TRACE(testing::Message() << sequence.rows << " rows, chunks of " << sequence.chunk);
    std::int32_t found = 0;
    for (std::int64_t step = 0; step < sequence.steps(); ++step) {
      const std::int32_t row = sequence.row(step);
      if (row < 0) continue;
      ++found;
      ASSERT_LT(row, sequence.rows);
      ASSERT_EQ(sequence.step(row), step);
    }
    EXPECT_EQ(found, sequence.rows);
  }
}

TEST(Coloring, refuses_what_it_cannot_color) {
  Context ctx = Context::host();
  const Csr<double> wide(3, Array<std::int32_t>{0, 1}, Array<std::int32_t>{2}, Array<double>{1.0});
  EXPECT_THROW(color(ctx, wide), ShapeMismatch);
  const Csr<double> A = poisson2d<double>(2);
  EXPECT_EQ(complaint<InvalidArgument>([&] { color(ctx, A, 1.5); }),
            "color: fraction_to_color = 1.5 lies outside 0 to 1");
  EXPECT_THROW(color(ctx, A, std::numeric_limits<double>::quiet_NaN()), InvalidArgument);
}

}  // namespace
}  // namespace krill::test
