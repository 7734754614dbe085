#include "apps/verify/gallery.hpp"

#include <fmt/format.h>

#include <optional>

#include "apps/samples/formats.hpp"
#include "apps/samples/preconditioners.hpp"
#include "apps/samples/solvers.hpp"
#include "apps/verify/suites.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/core/optional_libraries.hpp"
#include "sparse/io/generate.hpp"

namespace krill::apps::verify {
namespace {

/// A rule for the entries of a matrix: the columns of a row, ascending. Values are fixed numbers; the diagonal
/// dominates.
struct DrawnPattern {
  std::int32_t rows = 0, cols = 0;
  bool (*holds)(std::int32_t row, std::int32_t col, std::int32_t last) = nullptr;
};

/// What is asked of a matrix.
enum class Kind {
  definite,   ///< Hermitian positive definite
  general,    ///< square, with a diagonal that factorizations get along with
  odd,        ///< no system: rows without entries, or not square
  many_rows,  ///< definite and large: formats and products alone
};

struct Exhibit {
  std::string name;
  Kind kind;
  std::variant<GeneratorOptions, DrawnPattern> source;
  std::vector<BandedBatch> banded_batches = {};
};

bool is_arrow(std::int32_t i, std::int32_t j, std::int32_t last) { return i == j || i == last || j == last; }
bool is_dense_row(std::int32_t i, std::int32_t j, std::int32_t) { return i == j || i == 3 || j == i + 1; }
bool is_gappy(std::int32_t i, std::int32_t j, std::int32_t) { return i % 5 != 2 && (i * 7 + j * 3) % 11 == 0; }
bool is_everything(std::int32_t, std::int32_t, std::int32_t) { return true; }

const std::vector<Exhibit>& exhibits() {
  static const std::vector<Exhibit> all{
      {"tridiagonal",
       Kind::definite,
       GeneratorOptions(Poisson1dOptions{.nx = 300}),
       {{2, 9}, {3, 5}, {130, 4}, {1000, 3}}},
      {"poisson2d, 5 points", Kind::definite, GeneratorOptions(Poisson2dOptions{.nx = 15})},
      {"poisson2d, 9 points", Kind::definite, GeneratorOptions(Poisson2dOptions{.nx = 13, .stencil = Stencil2d::nine})},
      {"poisson3d, 7 points", Kind::definite, GeneratorOptions(Poisson3dOptions{.nx = 6})},
      {"poisson3d, 27 points", Kind::definite,
       GeneratorOptions(Poisson3dOptions{.nx = 6, .stencil = Stencil3d::twenty_seven})},
      {"elasticity3d", Kind::definite, GeneratorOptions(Elasticity3dOptions{.nx = 3, .ny = 2, .nz = 2})},
      {"random_spd", Kind::definite, GeneratorOptions(RandomSpdOptions{.rows = 250})},
      {"power_law_laplacian", Kind::definite, GeneratorOptions(PowerLawLaplacianOptions{.rows = 300, .shift = 0.1})},
      {"convection_diffusion2d", Kind::general, GeneratorOptions(ConvectionDiffusion2dOptions{.nx = 15, .peclet = 40})},
      {"random_dominant", Kind::general, GeneratorOptions(RandomDominantOptions{.rows = 250})},
      {"helmholtz2d", Kind::general, GeneratorOptions(Helmholtz2dOptions{.nx = 14, .wavenumber = 5})},
      {"arrow", Kind::general, DrawnPattern{200, 200, is_arrow}},
      {"dense row", Kind::general, DrawnPattern{300, 300, is_dense_row}},
      {"one entry", Kind::general, DrawnPattern{1, 1, is_everything}, {{1, 40}, {17, 33}}},
      {"empty rows", Kind::odd, DrawnPattern{120, 120, is_gappy}},
      {"wide", Kind::odd, DrawnPattern{40, 170, is_gappy}},
      {"tall", Kind::odd, DrawnPattern{170, 40, is_gappy}},
      {"poisson3d, 5,832 rows", Kind::many_rows,
       GeneratorOptions(Poisson3dOptions{.nx = 18, .stencil = Stencil3d::twenty_seven})},
      {"power_law_laplacian, 20,000 rows", Kind::many_rows,
       GeneratorOptions(PowerLawLaplacianOptions{.rows = 20000, .shift = 0.1})},
  };
  return all;
}

template <class T>
Csr<T> matrix_of(const DrawnPattern& pattern) {
  std::vector<std::int32_t> offsets{0}, cols;
  std::vector<T> values;
  for (std::int32_t i = 0; i < pattern.rows; ++i) {
    const std::size_t first = cols.size();
    for (std::int32_t j = 0; j < pattern.cols; ++j)
      if (pattern.holds(i, j, pattern.rows - 1)) cols.push_back(j);
    for (std::size_t k = first; k < cols.size(); ++k) {
      const std::int32_t j = cols[k];
      const auto size = static_cast<real_t<T>>(i == j ? pattern.rows : 0.25 + 0.125 * ((3 * i + 5 * j) % 7));
      T value(i != j && (i + j) % 3 == 0 ? -size : size);
      if constexpr (is_complex<T>) value = {value.real(), size * static_cast<real_t<T>>((i + 2 * j) % 4) / 8};
      values.push_back(value);
    }
    offsets.push_back(static_cast<std::int32_t>(cols.size()));
  }
  return {pattern.cols, Array<std::int32_t>(std::move(offsets)), Array<std::int32_t>(std::move(cols)),
          Array<T>(std::move(values))};
}

/// Nothing where the matrix is complex and T is not.
template <class T>
std::optional<Csr<T>> matrix_of(const Exhibit& exhibit) {
  if (const auto* pattern = std::get_if<DrawnPattern>(&exhibit.source)) return matrix_of<T>(*pattern);
  const auto& options = std::get<GeneratorOptions>(exhibit.source);
  if (!is_complex<T> && needs_complex(options)) return std::nullopt;
  return std::get<Csr<T>>(generate<T>(options));
}

/// Every triangle with every op.
std::vector<Triangle> all_triangles() {
  std::vector<Triangle> all;
  for (const Fill fill : {Fill::lower, Fill::upper})
    for (const Diagonal diagonal : {Diagonal::stored, Diagonal::unit})
      for (const Op op : {Op::none, Op::transpose, Op::adjoint}) all.push_back({fill, diagonal, op});
  return all;
}

/// Of the pairs of a solver and a preconditioner, each exhibit has one in so many, others than its neighbors: all are
/// met in the gallery, and what grows with both numbers does not take its time.
constexpr std::size_t rotation = 3;

template <class T>
Selection selection_for(const Exhibit& exhibit, std::size_t number) {
  const Kind kind = exhibit.kind;
  Selection s;
  s.banded_batches = exhibit.banded_batches;
  s.whole_library = true;
  s.formats = format_samples(in_verify);
  s.ops = {Op::none, Op::transpose, Op::adjoint};
  if (kind == Kind::odd || kind == Kind::many_rows) return s;
  s.scalings = {ScalingMethod::diagonal, ScalingMethod::symmetric, ScalingMethod::ruiz, ScalingMethod::negative};
  s.matches = true;
  s.orderings = {OrderingMethod::rcm, OrderingMethod::amd, OrderingMethod::color};
  if (with_metis) s.orderings.push_back(OrderingMethod::nested_dissection);
  s.triangles = all_triangles();
  s.triangular = {TriangularMethod::natural, TriangularMethod::by_level, TriangularMethod::level_kernels,
                  TriangularMethod::one_block};
  s.banded = {{BandedMethod::thomas},    {BandedMethod::lu},    {BandedMethod::qr},
              {BandedMethod::thomas, 5}, {BandedMethod::lu, 5}, {BandedMethod::qr, 5}};
  s.approximate = {{ApproximateMethod::jacobi, 3}, {ApproximateMethod::isai, 0}, {ApproximateMethod::isai, 1}};
  const auto samples = preconditioner_samples(in_verify);
  const auto solvers = solver_samples(in_verify, std::is_same_v<real_t<T>, float> ? 1e-4 : 1e-8);
  std::size_t pair = number;
  const auto solve_with = [&](const PreconditionerOptions& preconditioner, bool definite) {
    for (const SolverSample& solver : solvers)
      if (++pair % rotation == 0 && !solver.alone_with && needs_definite(solver.options) == definite &&
          (varies(preconditioner).empty() || takes_varying_preconditioner(solver.options)))  // else cases refuse it
        s.solves.emplace_back(solver.options, preconditioner);
  };
  for (const PreconditionerSample& sample : samples) {
    if (!sample.with_others()) continue;
    s.preconditioners.push_back(sample.options);
    solve_with(sample.options, false);
  }
  for (const SolverSample& solver : solvers)
    if (solver.alone_with && (kind == Kind::definite || !needs_definite(solver.options)))
      s.solves.emplace_back(solver.options, *solver.alone_with);
  if (kind != Kind::definite) return s;
  for (const PreconditionerSample& sample : samples) {
    if (sample.with_others()) continue;
    s.preconditioners.push_back(sample.options);
    solve_with(sample.options, true);
  }
  for (const PreconditionerSample& sample : samples)
    if (sample.with_pcg() && sample.with_others()) solve_with(sample.options, true);
  return s;
}

template <class T>
constexpr std::string_view precision_of() {
  if constexpr (is_complex<T>)
    return sizeof(real_t<T>) == 4 ? "complex64" : "complex128";
  else
    return sizeof(T) == 4 ? "float32" : "float64";
}

/// What the gallery is gone through with.
struct Visit {
  Ledger& ledger;
  Context& ctx;
  const GalleryWatch& watch;
  std::int32_t max_rows;
  int number, of;
};

template <class T>
void verify_exhibit(const Visit& visit, const Exhibit& exhibit) {
  std::optional<Csr<T>> A = matrix_of<T>(exhibit);
  if (!A || A->rows() > visit.max_rows) return;
  const Subject<T> subject(fmt::format("{}, {}", exhibit.name, precision_of<T>()), std::move(*A));
  if (visit.watch) visit.watch(subject.name, visit.number, visit.of);
  run_suites(visit.ledger, visit.ctx, subject, selection_for<T>(exhibit, static_cast<std::size_t>(visit.number)));
}

}  // namespace

void verify_gallery(Ledger& ledger, Context& ctx, const GalleryWatch& watch, std::int32_t max_rows) {
  const auto of = static_cast<int>(exhibits().size());
  for (int k = 0; k < of; ++k) {
    const Exhibit& exhibit = exhibits()[static_cast<std::size_t>(k)];
    const Visit visit{ledger, ctx, watch, max_rows, k + 1, of};
    verify_exhibit<double>(visit, exhibit);
    verify_exhibit<std::complex<float>>(visit, exhibit);
    if (exhibit.kind == Kind::many_rows) continue;
    verify_exhibit<float>(visit, exhibit);
    verify_exhibit<std::complex<double>>(visit, exhibit);
  }
}

}  // namespace krill::apps::verify
