// Triangular solves with the lower and the upper triangle of a matrix, exact and approximate, and what a plan for them
// costs.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

#include "apps/bench/bench_matrix.hpp"
#include "apps/bench/job.hpp"
#include "apps/system/linear_system.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/triangular/approximate.hpp"
#include "sparse/triangular/triangular.hpp"
#include "sparse/triangular/work.hpp"

namespace krill::apps::bench {
namespace {

/// A line of the table. Nobody else has approximate solves, so no kernel of a rival.
struct SolveVariant {
  std::string_view name, kernel;
  Fill fill;
  std::int32_t columns;  ///< 0: the plan itself is timed
  std::optional<ApproximateOptions> approximate = {};
};
constexpr SolveVariant all_variants[] = {
    {"L solve", "triangular", Fill::lower, 1},
    {"U solve", "triangular", Fill::upper, 1},
    {"L solve, 8 columns", "triangular_many", Fill::lower, 8},
    {"L plan", "triangular_plan", Fill::lower, 0},
    {"L jacobi, 3 sweeps", "", Fill::lower, 1, ApproximateOptions{ApproximateMethod::jacobi, 3}},
    {"L isai", "", Fill::lower, 1, ApproximateOptions{ApproximateMethod::isai, 0}},
};

/// What a solve reads and writes. Where the matrix has zeros on its diagonal, ones stand there.
template <class T, class Offset, class Options>
struct Operands {
  static constexpr bool exact = std::is_same_v<Options, TriangularOptions>;
  using Plan = std::conditional_t<exact, TriangularPlan<T, Offset>, ApproximateTriangularPlan<T, Offset>>;

  std::shared_ptr<const AnyMatrix<T>> source;
  Triangle triangle;
  Options options;
  std::unique_ptr<Plan> plan;
  Dense<T> b, x;

  Operands(const BenchSubject<T>& s, const SolveVariant& variant, std::size_t copy, const Options& wanted)
      : source(source_copy(s, copy)),
        triangle{variant.fill},
        options(wanted),
        b(rows(*s.A), std::max(1, variant.columns),
          Array<T>(random_vector<T>(std::int64_t{rows(*s.A)} * std::max(1, variant.columns), 1, RandomPurpose::rhs),
                   "b")),
        x(rows(*s.A), std::max(1, variant.columns)) {
    make_plan(s.ctx);
    if (plan->zero_pivot()) {
      triangle.diagonal = Diagonal::unit;
      make_plan(s.ctx);
    }
  }

  const Csr<T, Offset>& matrix() const { return std::get<Csr<T, Offset>>(*source); }
  void make_plan(Context& ctx) {
    plan.reset();
    plan = std::make_unique<Plan>(ctx, matrix(), triangle, options);
  }
  std::int64_t entries() const {
    if constexpr (exact)
      return plan->report().entries;
    else
      return plan->entries();
  }
  void solve(Context& ctx) {
    if constexpr (exact)
      plan->solve(ctx, T(1), b, x);
    else
      plan->solve(ctx, T(1), b.values(), x.values());
  }

  /// What is wrong with x, if anything; an approximate one need only be there. Whoever comes next finds NaN in x.
  std::string fault() {
    std::string found = exact ? large_residual() : "";
    if (x.rows() > 0 && std::isnan(std::abs(x.host().at(0, 0)))) found = "wrong result: NaN";
    for (T& value : x.values().edit()) value = std::numeric_limits<real_t<T>>::quiet_NaN();
    return found;
  }
  /// The first column leaves no more of a residual in a row than rounding there explains; where values are too large
  /// for that to be said, nothing is.
  std::string large_residual() {
    const auto solved = x.host();
    const auto right = b.host();
    std::string found;
    for (std::int32_t i = 0; i < x.rows() && found.empty(); ++i) {
      std::complex<double> sum = right.at(i, 0);
      double size = std::abs(sum);
      const auto add = [&](std::complex<double> value, std::int32_t col) {
        const std::complex<double> term = value * std::complex<double>(solved.at(col, 0));
        sum -= term, size += std::abs(term);
      };
      const auto offsets = matrix().row_offsets().host();
      const auto from = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i)]),
                 to = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i) + 1]);
      for (std::size_t k = from; k < to; ++k) {
        const std::int32_t col = matrix().col_indices().host()[k];
        const bool inside = triangle.fill == Fill::lower ? col < i : col > i;
        if (inside || (col == i && triangle.diagonal == Diagonal::stored)) add(matrix().values().host()[k], col);
      }
      if (triangle.diagonal == Diagonal::unit) add(1, i);
      const double epsilon = std::numeric_limits<real_t<T>>::epsilon();
      if (std::isfinite(size) && !(std::abs(sum) <= 16 * static_cast<double>(to - from + 2) * epsilon * size))
        found = fmt::format("wrong result: row {} leaves a residual of {:.2g} of its terms", i, std::abs(sum) / size);
    }
    return found;
  }
};

/// The bytes of approximate solves are those of exact ones, so that rates compare.
template <class T, class Offset, class Options>
Job<T> make_job(const BenchSubject<T>& s, const SolveVariant& variant, std::size_t copy, const Options& options) {
  auto operands = std::make_shared<Operands<T, Offset, Options>>(s, variant, copy, options);
  auto* const o = operands.get();
  Job<T> job;
  const Work work = triangular_work<T>(rows(*s.A), static_cast<double>(o->entries()), std::max(1, variant.columns));
  job.bytes = work.bytes;
  job.task = {.kernel = variant.kernel, .A = o->source.get(), .x = &o->b.values(), .y = &o->x.values()};
  job.task.triangle = o->triangle;
  if (variant.columns == 0) {
    job.run = [&ctx = s.ctx, o] { o->make_plan(ctx); };
  } else {
    job.flops = work.flops;
    job.run = [&ctx = s.ctx, o] { o->solve(ctx); };
    job.fault = [o] { return o->fault(); };
  }
  job.keeps = std::move(operands);
  return job;
}

}  // namespace

template <class T>
void bench_triangular(const BenchSubject<T>& s) {
  for (const SolveVariant& variant : all_variants) {
    Row row = s.row("triangular", variant.name);
    if (rows(*s.A) != cols(*s.A)) {
      row.error = "the matrix is not square";
      return s.report(row);
    }
    measure_job<T>(s, row, [&](std::size_t copy) {
      return with_csr(*s.A, [&]<class Offset>(const Csr<T, Offset>&) {
        return variant.approximate ? make_job<T, Offset>(s, variant, copy, *variant.approximate)
                                   : make_job<T, Offset>(s, variant, copy, TriangularOptions{});
      });
    });
    s.report(row);
  }
}

template <class T>
struct TriangularBenchInstances {
  static constexpr auto list = instance<void(const BenchSubject<T>&)>(bench_triangular);
};
KRILL_INSTANTIATE(TriangularBenchInstances);

}  // namespace krill::apps::bench
