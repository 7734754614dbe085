// Incomplete factorizations without fill: new values, and what has to be done once a pattern.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/bench/bench_matrix.hpp"
#include "apps/bench/job.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/factor/incomplete.hpp"
#include "sparse/factor/work.hpp"

namespace krill::apps::bench {
namespace {

/// A line of the table.
struct FactorVariant {
  std::string_view name, kernel;
  Factorization kind;
  bool analysis;  ///< the analysis itself is timed
};
constexpr FactorVariant all_variants[] = {
    {"ILU0", "ilu0", Factorization::ilu0, false},
    {"ILU0 analysis", "ilu0_analysis", Factorization::ilu0, true},
    {"IC0", "ic0", Factorization::ic0, false},
    {"IC0 analysis", "ic0_analysis", Factorization::ic0, true},
};

template <class T, class Offset>
struct Operands {
  using Factor = IncompleteFactor<T, Offset>;
  static constexpr std::int32_t max_rows_checked = 20'000;

  std::shared_ptr<const AnyMatrix<T>> source;
  Factorization kind;
  std::unique_ptr<Factor> factor;
  Array<T> rivals;  // the factor's values as the rival has them

  Operands(const BenchSubject<T>& s, const FactorVariant& variant, std::size_t copy)
      : source(source_copy(s, copy)), kind(variant.kind), rivals(nnz(*s.A), "the rival's factor") {
    analyze(s.ctx);
    if (const auto row = factor->structural_zero())
      throw InvalidArgument(fmt::format("there is no entry on the diagonal in row {} (rows count from 0)", *row));
  }

  const Csr<T, Offset>& matrix() const { return std::get<Csr<T, Offset>>(*source); }
  void analyze(Context& ctx) {
    factor.reset();
    factor = std::make_unique<Factor>(Factor::analyze(ctx, matrix(), kind));
  }

  /// The factors multiply to A in A's pattern, as far as rounding lets them: in some rows, for each costs a host time.
  std::string fault(std::span<const T> f) const {
    const std::int32_t step = std::max(1, matrix().rows() / max_rows_checked);
    for (std::int32_t i = 0; i < matrix().rows(); i += step)
      for (std::size_t k = row(i); k < row(i + 1) && (kind == Factorization::ilu0 || column(k) <= i); ++k) {
        const double excess = residual(f, i, k);
        if (excess > 1 || std::isnan(excess))
          return fmt::format("wrong result: the product differs from A in row {}, column {}", i, column(k));
      }
    return {};
  }

 private:
  std::size_t row(std::int32_t i) const {
    return static_cast<std::size_t>(matrix().row_offsets().host()[static_cast<std::size_t>(i)]);
  }
  std::int32_t column(std::size_t k) const { return matrix().col_indices().host()[k]; }
  std::complex<double> at(std::span<const T> f, std::int32_t i, std::int32_t j) const {
    const auto columns = matrix().col_indices().host();
    const auto first = columns.begin() + static_cast<std::ptrdiff_t>(row(i)),
               end = columns.begin() + static_cast<std::ptrdiff_t>(row(i + 1));
    const auto found = std::lower_bound(first, end, j);
    if (found == end || *found != j) return 0;
    return std::complex<double>(f[static_cast<std::size_t>(found - columns.begin())]);
  }
  /// |a_ij - (product)_ij| over what rounding explains.
  double residual(std::span<const T> f, std::int32_t i, std::size_t k) const {
    const std::int32_t j = column(k);
    const std::complex<double> a(matrix().values().host()[k]);
    std::complex<double> sum = kind == Factorization::ic0 && j == i ? a.real() : a;
    double size = std::abs(sum);
    for (std::size_t l = row(i); l < row(i + 1) && column(l) <= std::min(i, j); ++l) {
      const std::int32_t m = column(l);
      const std::complex<double> left = kind == Factorization::ilu0 && m == i ? 1 : std::complex<double>(f[l]);
      const std::complex<double> right = kind == Factorization::ilu0 ? at(f, m, j) : std::conj(at(f, j, m));
      sum -= left * right, size += std::abs(left * right);
    }
    const double epsilon = std::numeric_limits<real_t<T>>::epsilon();
    return std::abs(sum) / (16 * static_cast<double>(row(i + 1) - row(i) + 2) * epsilon * size);
  }
};

template <class T, class Offset>
Job<T> make_job(const BenchSubject<T>& s, const FactorVariant& variant, std::size_t copy) {
  auto operands = std::make_shared<Operands<T, Offset>>(s, variant, copy);
  auto* const o = operands.get();
  Job<T> job;
  job.bytes = factor_bytes<T, Offset>(rows(*s.A), nnz(*s.A));
  job.task = {.kernel = variant.kernel, .A = o->source.get(), .values = &o->rivals};
  if (variant.analysis) {
    job.run = [&ctx = s.ctx, o] { o->analyze(ctx); };
  } else {
    job.run = [&ctx = s.ctx, o] { o->factor->update(ctx, o->matrix()); };
    // first asked for our factor, then for that of each of the rival's algorithms
    job.fault = [o, ours = true]() mutable {
      return o->fault(std::exchange(ours, false) ? o->factor->matrix().values().host() : o->rivals.host());
    };
  }
  job.keeps = std::move(operands);
  return job;
}

}  // namespace

template <class T>
void bench_factor(const BenchSubject<T>& s) {
  for (const FactorVariant& variant : all_variants) {
    Row row = s.row("factor", variant.name);
    measure_job<T>(s, row, [&](std::size_t copy) {
      return with_csr(*s.A, [&]<class Offset>(const Csr<T, Offset>&) { return make_job<T, Offset>(s, variant, copy); });
    });
    s.report(row);
  }
}

template <class T>
struct FactorBenchInstances {
  static constexpr auto list = instance<void(const BenchSubject<T>&)>(bench_factor);
};
KRILL_INSTANTIATE(FactorBenchInstances);

}  // namespace krill::apps::bench
