// What all generators promise, and the random families.
#include "sparse/io/generate.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <cstring>
#include <set>

#include "sparse/core/counter_random.hpp"
#include "sparse/core/error.hpp"
#include "sparse/io/generate_rows.hpp"
#include "tests/io/dense.hpp"
#include "tests/support/assertions.hpp"

namespace krill::test {
namespace {

/// A few rows of each family, all of different extents.
std::vector<GeneratorOptions> small_options() {
  return {Poisson1dOptions{7},
          Poisson2dOptions{5, 4, Stencil2d::five},
          Poisson2dOptions{4, 5, Stencil2d::nine},
          Poisson3dOptions{3, 4, 5, Stencil3d::seven},
          Poisson3dOptions{5, 3, 4, Stencil3d::twenty_seven},
          ConvectionDiffusion2dOptions{5, 4, 50, Convection::upwind},
          ConvectionDiffusion3dOptions{3, 4, 5, 50, Convection::central},
          Anisotropic2dOptions{5, 4, 0.01, 30},
          Anisotropic3dOptions{3, 4, 5, 0.5, 0.01},
          Jumps3dOptions{5, 4, 3, 2, 6, 3},
          Elasticity3dOptions{2, 3, 1, 2, 0.25},
          Stokes2dOptions{5, 4, 0.5},
          Stokes2dOptions{4, 1},
          Stokes2dOptions{1, 4},
          Helmholtz2dOptions{5, 4, 3, 0.2},
          Helmholtz3dOptions{3, 4, 5, 3, 0.2},
          RandomSpdOptions{50, 6, 0.5, 3},
          RandomDominantOptions{50, 6, 1.5, 3},
          BandedBatchOptions{7, 5, DiagonalCount::three, 1.5, 3},
          BandedBatchOptions{6, 4, DiagonalCount::five, 1.5, 3},
          PowerLawLaplacianOptions{50, 2, 0.25, 3},
          ResistorNetworkOptions{6, 5, 0.3, 0.1, 3, 3}};
}

/// Enough rows that more than one thread works.
std::vector<GeneratorOptions> large_options() {
  return {Poisson1dOptions{40000},
          Poisson2dOptions{101, 99, Stencil2d::nine},
          Poisson3dOptions{21, 22, 23, Stencil3d::seven},
          ConvectionDiffusion2dOptions{101, 99, 50, Convection::upwind},
          Jumps3dOptions{21, 22, 23, 4, 6, 3},
          Elasticity3dOptions{7, 8, 9, 1, 0.3},
          Stokes2dOptions{101, 99},
          Helmholtz2dOptions{101, 99, 3, 0.2},
          RandomSpdOptions{10007, 8, 1, 3},
          RandomDominantOptions{10007, 8, 1.5, 3},
          BandedBatchOptions{101, 103, DiagonalCount::five, 1.5, 3},
          PowerLawLaplacianOptions{10007, 4, 0.25, 3},
          ResistorNetworkOptions{101, 99, 0.3, 0.1, 3, 3}};
}

template <class T>
bool refuses(const GeneratorOptions& options) {
  return !is_complex<T> && needs_complex(options);
}

template <class T>
class Generate : public ::testing::Test {};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Generate, Scalars);

TYPED_TEST(Generate, every_family_makes_canonical_csr) {
  for (const auto& options : small_options()) {
    if (refuses<TypeParam>(options)) continue;
    const AnyMatrix<TypeParam> any = generate<TypeParam>(options);
    const auto& A = std::get<Csr<TypeParam>>(any);
    EXPECT_NO_THROW(validate(A)) << options.index();
    EXPECT_EQ(A.rows(), A.cols());
    EXPECT_GT(A.nnz(), A.rows());
  }
}

TYPED_TEST(Generate, single_precision_is_double_precision_rounded) {
  using Double = std::conditional_t<is_complex<TypeParam>, std::complex<double>, double>;
  for (const auto& options : small_options()) {
    if (refuses<TypeParam>(options)) continue;
    const Reference a = made<TypeParam>(options), b = made<Double>(options);
    ASSERT_EQ(a.col, b.col);
    for (std::size_t k = 0; k < a.value.size(); ++k)  // a diagonal is the sum of a row's rounded entries
      EXPECT_LE(std::abs(a.value[k] - b.value[k]), 8 * epsilon<TypeParam>() * std::abs(b.value[k]));
  }
}

TYPED_TEST(Generate, every_number_of_threads_gives_the_same_bits) {
  const auto bits = [](const auto& span) {
    return std::string_view(reinterpret_cast<const char*>(span.data()), span.size_bytes());
  };
  const int threads = omp_get_max_threads();
  for (const auto& options : large_options()) {
    if (refuses<TypeParam>(options)) continue;
    omp_set_num_threads(1);
    const AnyMatrix<TypeParam> one = generate<TypeParam>(options);
    const auto& a = std::get<Csr<TypeParam>>(one);
    for (int t : {2, 3}) {
      omp_set_num_threads(t);
      const AnyMatrix<TypeParam> more = generate<TypeParam>(options);
      const auto& b = std::get<Csr<TypeParam>>(more);
      EXPECT_EQ(bits(a.row_offsets().host()), bits(b.row_offsets().host())) << options.index();
      EXPECT_EQ(bits(a.col_indices().host()), bits(b.col_indices().host())) << options.index();
      EXPECT_EQ(bits(a.values().host()), bits(b.values().host())) << options.index();
    }
  }
  omp_set_num_threads(threads);
}

/// In canonical form, wherever the cuts are.
TYPED_TEST(Generate, rows_put_together_are_the_matrix) {
  for (const auto& options : small_options()) {
    if (refuses<TypeParam>(options)) continue;
    const Reference whole = made<TypeParam>(options);
    Reference together;
    together.rows = whole.rows, together.cols = whole.cols;
    constexpr int parts = 5;
    for (int part = 0; part < parts; ++part) {
      std::int64_t first = 0;
      const AnyMatrix<TypeParam> any =
          generate_rows<TypeParam>(options, [&](std::int64_t rows, const auto& entries_before) {
            EXPECT_EQ(rows, whole.rows);
            EXPECT_EQ(entries_before(rows), std::ssize(whole.value));
            first = rows * part / parts;
            EXPECT_EQ(entries_before(first), std::ssize(together.value)) << options.index();
            return RowRange{first, rows * (part + 1) / parts};
          });
      const auto& A = std::get<Csr<TypeParam>>(any);
      EXPECT_NO_THROW(validate(A)) << options.index();
      EXPECT_EQ(A.cols(), whole.cols);
      const Reference rows = reference(A);
      for (const auto row : rows.row) together.row.push_back(row + static_cast<std::int32_t>(first));
      together.col.insert(together.col.end(), rows.col.begin(), rows.col.end());
      together.value.insert(together.value.end(), rows.value.begin(), rows.value.end());
    }
    EXPECT_EQ(together.row, whole.row) << options.index();
    EXPECT_EQ(together.col, whole.col) << options.index();
    EXPECT_EQ(together.value, whole.value) << options.index();
  }
}

TEST(GenerateRows, are_of_the_matrix) {
  const auto asked = [](std::int64_t begin, std::int64_t end) {
    return complaint<InvalidArgument>([&] {
      generate_rows<double>(Poisson1dOptions{.nx = 9}, [&](auto, const auto&) { return RowRange{begin, end}; });
    });
  };
  EXPECT_EQ(asked(0, 10), "poisson1d: rows 0 to 10 of a matrix that has 9");
  EXPECT_EQ(asked(-1, 3), "poisson1d: rows -1 to 3 of a matrix that has 9");
  EXPECT_EQ(asked(4, 3), "poisson1d: rows 4 to 3 of a matrix that has 9");
  EXPECT_EQ(asked(9, 9), "");
}

// --- random families -------------------------------------------------------------------------------------------------

/// The diagonal entry, and the sum of the magnitudes beside it.
std::vector<std::pair<Z, double>> diagonal_and_others(const Reference& A) {
  std::vector<std::pair<Z, double>> rows(static_cast<std::size_t>(A.rows));
  for (std::size_t k = 0; k < A.value.size(); ++k) {
    auto& [diagonal, others] = rows[static_cast<std::size_t>(A.row[k])];
    if (A.row[k] == A.col[k])
      diagonal = A.value[k];
    else
      others += std::abs(A.value[k]);
  }
  return rows;
}

TEST(GenerateRandomSpd, is_hermitian_and_dominant_by_the_shift) {
  const RandomSpdOptions options{60, 7, 0.25, 5};
  for (const Reference& A : {made(options), made<Z>(options)}) {
    EXPECT_TRUE(exactly_hermitian(A));
    EXPECT_TRUE(positive_definite(A));
    for (const auto& [diagonal, others] : diagonal_and_others(A))
      EXPECT_NEAR(diagonal.real() - others, 0.25, 100 * eps);
  }
}

TEST(GenerateRandomSpd, has_the_mean_row_length_that_was_asked) {
  const Reference A = made(RandomSpdOptions{20000, 9, 1, 1});
  EXPECT_NEAR(static_cast<double>(A.value.size()) / 20000, 9, 0.01);  // 8 n / 2 pairs, of which some 16 coincide
}

TEST(GenerateRandomDominant, has_the_row_length_and_the_dominance_that_were_asked) {
  const RandomDominantOptions options{60, 7, 1.5, 5};
  for (const Reference& A : {made(options), made<Z>(options)}) {
    EXPECT_EQ(A.value.size(), 60u * 7);
    EXPECT_FALSE(exactly_hermitian(A));
    for (const auto& [diagonal, others] : diagonal_and_others(A))
      EXPECT_NEAR(std::abs(diagonal / others - 1.5), 0, 20 * eps);
  }
}

TEST(GenerateRandomDominant, fills_small_matrices) {
  EXPECT_EQ(made(RandomDominantOptions{5, 10}).value.size(), 25u);
  EXPECT_EQ(made(RandomDominantOptions{1, 10}).value, Vector{1});
  EXPECT_EQ(made(RandomDominantOptions{3, 1}).value, (Vector{1, 1, 1}));
}

TEST(GenerateBandedBatch, has_blocks_of_three_or_five_diagonals) {
  for (const auto& [diagonals, far, entries] :
       {std::tuple{DiagonalCount::three, 1, 16}, {DiagonalCount::five, 2, 24}}) {
    const BandedBatchOptions options{6, 40, diagonals, 1.5, 5};
    for (const Reference& A : {made(options), made<Z>(options)}) {
      EXPECT_EQ(A.rows, 240);
      EXPECT_EQ(std::ssize(A.value), 40 * entries);
      for (std::size_t k = 0; k < A.value.size(); ++k) {
        EXPECT_EQ(A.row[k] / 6, A.col[k] / 6);
        EXPECT_LE(std::abs(A.row[k] - A.col[k]), far);
      }
      for (const auto& [diagonal, others] : diagonal_and_others(A))
        EXPECT_NEAR(std::abs(diagonal / others - 1.5), 0, 20 * eps);
      EXPECT_NE(A.value[0], A.value[static_cast<std::size_t>(entries)]);
    }
  }
  EXPECT_EQ(made(BandedBatchOptions{1, 3}).value, (Vector{1, 1, 1}));
  EXPECT_EQ(made(BandedBatchOptions{2, 3, DiagonalCount::five}).value.size(), 12u);
  EXPECT_EQ(systems_of(BandedBatchOptions{2, 3}), 3);
  EXPECT_EQ(systems_of(RandomDominantOptions{}), 0);
}

TEST(GenerateRandom, the_seed_decides) {
  const auto differ = [](auto options) {
    const Reference first = made(options), again = made(options);
    options.seed += 1;
    const Reference other = made(options);
    EXPECT_EQ(first.value, again.value);
    EXPECT_NE(first.col, other.col);
    EXPECT_NE(first.value, other.value);
  };
  differ(RandomSpdOptions{60});
  differ(RandomDominantOptions{60});
  differ(PowerLawLaplacianOptions{60});
  differ(ResistorNetworkOptions{8, 8, 0.5});
}

TEST(GenerateRandom, numbers_never_change) {  // else a seed in a user's case would mean another matrix
  constexpr CounterRandom random(1, 2);
  static_assert(random.bits(3, 4) == CounterRandom(1, 2).bits(3, 4));
  EXPECT_EQ(random.bits(3, 4), 0xd55ccd4aeb3ccafbu);
  EXPECT_EQ(random.unit(3, 4), static_cast<double>(random.bits(3, 4) >> 11) / 9007199254740992.0);
  double mean = 0, square = 0;
  constexpr int draws = 100000;
  for (int i = 0; i < draws; ++i) {
    const auto u = random.symmetric<double>(i);
    ASSERT_GE(u, -1);
    ASSERT_LT(u, 1);
    mean += u / draws, square += u * u / draws;
  }
  EXPECT_NEAR(mean, 0, 5 / std::sqrt(3.0 * draws));
  EXPECT_NEAR(square, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / draws));
}

TEST(GeneratePowerLaw, is_a_shifted_graph_laplacian) {
  const Reference A = made(PowerLawLaplacianOptions{300, 3, 0.25, 7});
  EXPECT_TRUE(exactly_hermitian(A));
  EXPECT_TRUE(positive_definite(A));
  for (std::size_t k = 0; k < A.value.size(); ++k)
    if (A.row[k] != A.col[k]) {
      EXPECT_EQ(A.value[k], -1.0);
    }
  for (const Z sum : times(A, Vector(300, 1))) EXPECT_EQ(sum, 0.25);
  // Without the shift the constant vector alone is in the kernel: the graph is connected.
  EXPECT_EQ(positive_pivots(dense(made(PowerLawLaplacianOptions{300, 3, 0, 7}))), 299);
}

TEST(GeneratePowerLaw, degrees_fall_with_the_third_power) {
  constexpr int nodes = 100000;
  const Reference A = made(PowerLawLaplacianOptions{nodes, 4, 0, 1});
  std::array<double, 2> above{};
  double longest = 0;
  for (const auto& [degree, others] : diagonal_and_others(A)) {
    above[0] += degree.real() >= 16, above[1] += degree.real() >= 32;
    longest = std::max(longest, degree.real());
  }
  // Of degree d there are 2 m (m + 1) / (d (d + 1) (d + 2)), so at least d have m (m + 1) / (d (d + 1)), m = 4.
  EXPECT_NEAR(above[0] / nodes, 20.0 / (16 * 17), 0.003);
  EXPECT_NEAR(above[1] / nodes, 20.0 / (32 * 33), 0.001);
  EXPECT_GT(longest, std::sqrt(nodes));
}

TEST(GenerateResistors, is_a_grounded_m_matrix_over_decades) {
  const Reference A = made(ResistorNetworkOptions{12, 11, 0.5, 0.05, 6, 2});
  EXPECT_TRUE(exactly_hermitian(A));
  EXPECT_TRUE(positive_definite(A));
  constexpr std::array series{1.0, 1.2, 1.5, 1.8, 2.2, 2.7, 3.3, 3.9, 4.7, 5.6, 6.8, 8.2};
  double least = 1e300, greatest = 0;
  for (std::size_t k = 0; k < A.value.size(); ++k) {
    if (A.row[k] == A.col[k]) continue;
    double ohms = -1 / A.value[k].real();
    least = std::min(least, ohms), greatest = std::max(greatest, ohms);
    while (ohms > 9) ohms /= 10;
    EXPECT_TRUE(std::ranges::any_of(series, [&](double e12) { return std::abs(ohms - e12) < 20 * eps; })) << ohms;
  }
  EXPECT_EQ(least, 1);
  EXPECT_GT(greatest, 1e5);
}

TEST(GenerateResistors, node_0_is_grounded_always) {
  const Reference A = made(ResistorNetworkOptions{5, 5, 0, 0, 1, 2});
  EXPECT_EQ(A.value.size(), 25u + 2 * 40);
  const Vector sums = times(A, Vector(25, 1));
  EXPECT_GT(sums[0].real(), 0.1);
  for (std::size_t i = 1; i < sums.size(); ++i) EXPECT_NEAR(sums[i].real(), 0, 20 * eps);
  EXPECT_TRUE(positive_definite(A));
}

// --- sizes and refusals ----------------------------------------------------------------------------------------------

TEST(GenerateOffsets, of_64_bits_describe_the_same_matrix) {
  const auto first = [](std::int64_t row) { return 2 * row; };
  const auto fill = [](std::int64_t i, std::int32_t* cols, double* values) {
    const auto col = static_cast<std::int32_t>(std::min<std::int64_t>(i, 3));
    cols[0] = col, cols[1] = col + 1;
    values[0] = 1, values[1] = static_cast<double>(i);
    return 2;
  };
  const auto narrow = detail::build_rows_as<double, std::int32_t>(5, {0, 5}, first, fill);
  const auto wide = detail::build_rows_as<double, std::int64_t>(5, {0, 5}, first, fill);
  EXPECT_NO_THROW(validate(wide));
  EXPECT_EQ(reference(narrow).row, reference(wide).row);
  EXPECT_EQ(reference(narrow).value, reference(wide).value);
}

template <class T = double>
std::string refusal(const GeneratorOptions& options) {
  try {
    generate<T>(options);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(GenerateErrors, name_the_option_its_value_and_the_range) {
  EXPECT_EQ(refusal(Poisson2dOptions{0}), "poisson2d: nx is 0, a finite value in [1, inf] is expected");
  EXPECT_EQ(refusal(Poisson2dOptions{3, -1}), "poisson2d: ny is -1, a finite value in [0, inf] is expected");
  EXPECT_EQ(refusal(Elasticity3dOptions{3, 3, 3, 1, 0.5}),
            "elasticity3d: poisson_ratio is 0.5, a finite value in (-1, 0.5) is expected");
  EXPECT_EQ(refusal(ConvectionDiffusion2dOptions{3, 3, std::nan("")}),
            "convection_diffusion2d: peclet is nan, a finite value in [0, inf] is expected");
  EXPECT_EQ(refusal(Poisson2dOptions{3, 3, static_cast<Stencil2d>(2)}), "poisson2d: stencil is choice 2 of 2");
  EXPECT_EQ(refusal(RandomSpdOptions{10, 3, 1, -1}), "random_spd: seed is -1, a finite value in [0, inf] is expected");
}

TEST(GenerateErrors, refuse_more_rows_than_indices_can_count) {
  EXPECT_EQ(
      refusal(Poisson3dOptions{2000, 2000, 2000}),
      "poisson3d: 2000 x 2000 x 2000 points with 1 unknown make 8000000000 rows, at most 2147483647 are possible");
  const int most = std::numeric_limits<int>::max();
  for (const GeneratorOptions& options :
       {GeneratorOptions(Poisson3dOptions{most}), GeneratorOptions(Elasticity3dOptions{most}),
        GeneratorOptions(ResistorNetworkOptions{most}), GeneratorOptions(Helmholtz3dOptions{most, 0, 0, 1, 0})})
    EXPECT_THROW(generate<double>(options), InvalidArgument);
}

TEST(GenerateErrors, refuse_coordinates_as_they_refuse_matrices) {
  EXPECT_THROW(node_coordinates(Elasticity3dOptions{0}), InvalidArgument);
  EXPECT_THROW(node_coordinates(Elasticity3dOptions{std::numeric_limits<int>::max()}), InvalidArgument);
  EXPECT_FALSE(node_coordinates(Poisson3dOptions{}));
}

TEST(GenerateErrors, refuse_batches_without_systems_or_with_too_many_rows) {
  EXPECT_EQ(refusal(BandedBatchOptions{0}), "banded_batch: rows is 0, a finite value in [1, inf] is expected");
  EXPECT_EQ(refusal(BandedBatchOptions{4, 0}), "banded_batch: systems is 0, a finite value in [1, inf] is expected");
  EXPECT_EQ(refusal(BandedBatchOptions{65536, 65536}),
            "banded_batch: 65536 systems of 65536 rows are 4294967296 rows, at most 2147483647 are possible");
}

TEST(GenerateErrors, refuse_what_memory_cannot_hold_at_once) {
  const int most = std::numeric_limits<int>::max();
  for (const GeneratorOptions& options :
       {GeneratorOptions(RandomSpdOptions{most, 10000}), GeneratorOptions(RandomDominantOptions{most, 10000}),
        GeneratorOptions(PowerLawLaplacianOptions{most, 10000})})
    EXPECT_THROW(generate<double>(options), OutOfMemory);
}

TEST(GenerateErrors, refuse_a_complex_matrix_in_real_precision) {
  EXPECT_EQ(refusal(Helmholtz2dOptions{}),
            "helmholtz2d: with damping the entries are complex: ask for complex64 or complex128, or set damping to 0");
  EXPECT_EQ(refusal<float>(Helmholtz2dOptions{5, 5, 3, 0}), "accepted");
  EXPECT_FALSE(needs_complex(Helmholtz2dOptions{5, 5, 3, 0}));
  EXPECT_FALSE(needs_complex(Poisson2dOptions{}));
}

template <std::size_t... I>
std::vector<GeneratorOptions> all_defaults(std::index_sequence<I...>) {
  return {GeneratorOptions(std::in_place_index<I>)...};
}

TEST(GenerateOptions, every_default_makes_a_matrix) {
  std::set<std::string_view> types;
  for (const auto& options : all_defaults(std::make_index_sequence<std::variant_size_v<GeneratorOptions>>())) {
    std::visit([&](const auto& o) { types.insert(o.type); }, options);
    EXPECT_NO_THROW(validate(std::get<Csr<Z>>(generate<Z>(options))));
  }
  EXPECT_EQ(types.size(), std::variant_size_v<GeneratorOptions>);
}

}  // namespace
}  // namespace krill::test
