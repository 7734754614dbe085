// Batches of products: A, B or both differ from one to the next; no matrix is given.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "apps/bench/bench_matrix.hpp"
#include "apps/bench/job.hpp"
#include "apps/system/linear_system.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/spmm/batch.hpp"
#include "sparse/spmm/work.hpp"

namespace krill::apps::bench {
namespace {

/// What the products of a batch have of their own. in_coo: A in coordinates, for which there is no rival.
struct BatchVariant {
  const char* name;
  bool many_A, many_B;
  std::int32_t columns;
  bool in_coo = false;
};
constexpr BatchVariant batch_variants[] = {
    {"one A", false, true, 1},
    {"one B", true, false, 1},
    {"own A and B", true, true, 1},
    {"one A, 8", false, true, 8},
    {"one B, 8", true, false, 8},
    {"own A and B, 8", true, true, 8},
    {"coo, own A and B", true, true, 1, true},
};
constexpr std::int32_t checked_rows = 10;  // of each product

template <class T>
struct BatchOperands {
  CsrBatch<T> A;
  std::optional<CooBatch<T>> coo = {};
  DenseBatch<T> B, C;

  BatchOperands(const Csr<T>& first, std::int32_t count, const BatchVariant& v)
      : A(count, first.rows(), first.cols(), first.nnz(), copies(first.row_offsets(), v.many_A ? count : 1),
          copies(first.col_indices(), v.many_A ? count : 1),
          Array<T>(random_vector<T>(first.nnz() * (v.many_A ? count : 1), 1, RandomPurpose::known_solution), "A")),
        B(v.many_B ? count : 1, first.cols(), v.columns,
          Array<T>(
              random_vector<T>(std::int64_t{first.cols()} * v.columns * (v.many_B ? count : 1), 1, RandomPurpose::rhs),
              "B")),
        C(count, first.rows(), v.columns) {
    if (!v.in_coo) return;
    std::vector<std::int32_t> row_indices;
    const auto offsets = first.row_offsets().host();
    for (std::int32_t i = 0; i < first.rows(); ++i)
      row_indices.insert(
          row_indices.end(),
          static_cast<std::size_t>(offsets[static_cast<std::size_t>(i) + 1] - offsets[static_cast<std::size_t>(i)]), i);
    coo.emplace(count, first.rows(), first.cols(), first.nnz(), copies(Array(std::move(row_indices)), count),
                A.col_indices().clone(), A.values().clone());
  }

  double bytes() const { return static_cast<double>((coo ? coo->bytes() : A.bytes()) + B.bytes() + C.bytes()); }
  void run(Context& ctx) {
    coo ? spmm(ctx, Op::none, T(1), *coo, B, T(0), C) : spmm(ctx, Op::none, T(1), A, B, T(0), C);
  }

  /// Rounding of a row's terms explains all of an entry's error. Whoever comes next finds NaN.
  std::string fault() {
    const Host host;
    std::string found;
    const auto cs = C.values().edit();
    for (std::int32_t i = 0; i < A.count() && found.empty(); ++i) {
      const auto a = A.view(host, i);
      const auto a_values = A.values().host().subspan(static_cast<std::size_t>(i * A.values_stride()));
      const auto b = B.values().host().subspan(static_cast<std::size_t>(B.count() == 1 ? 0 : i * B.stride()));
      const auto c = cs.subspan(static_cast<std::size_t>(i * C.stride()));
      for (std::int32_t row = i % checked_rows; row < a.rows; row += std::max(1, a.rows / checked_rows))
        for (std::int64_t j = 0; j < C.cols(); ++j) {
          std::complex<double> sum;
          double size = 0;
          for (auto k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) {
            const auto term = std::complex<double>(a_values[static_cast<std::size_t>(k)]) *
                              std::complex<double>(b[static_cast<std::size_t>(a.col_indices[k] + j * a.cols)]);
            sum += term, size += std::abs(term);
          }
          const double error = std::abs(sum - std::complex<double>(c[static_cast<std::size_t>(row + j * a.rows)]));
          if (!(error <= 64 * double{std::numeric_limits<real_t<T>>::epsilon()} * size))
            found = fmt::format("wrong result: entry ({}, {}) of product {}", row, j, i);
        }
    }
    std::ranges::fill(cs, T(std::numeric_limits<real_t<T>>::quiet_NaN()));
    return found;
  }

 private:
  template <class U>
  static Array<U> copies(const Array<U>& given, std::int32_t count) {
    const auto source = given.host();
    std::vector<U> all;
    all.reserve(source.size() * static_cast<std::size_t>(count));
    for (std::int32_t i = 0; i < count; ++i) all.insert(all.end(), source.begin(), source.end());
    return Array<U>(std::move(all));
  }
};

}  // namespace

template <class T>
void bench_batch(const BenchSubject<T>& s) {
  const std::int32_t count = s.ctx.on_cuda() ? 1000 : 50;
  const MadeMatrix<T> made = make_matrix<T>(named_matrix("poisson2d", {"nx=100"}), {});
  const auto& first = std::get<Csr<T>>(made.A);
  for (const BatchVariant& v : batch_variants) {
    Row row;
    row.kernel = "batch", row.matrix = fmt::format("{} x {} rows", count, first.rows()), row.precision = s.precision;
    row.variant = v.name, row.rows = std::int64_t{count} * first.rows(), row.nnz = count * first.nnz();
    measure_job<T>(s, row, [&](std::size_t) {
      auto operands = std::make_shared<BatchOperands<T>>(first, count, v);
      auto* const o = operands.get();
      Job<T> job;
      job.bytes = o->bytes();
      job.flops = multiply_add<T> * static_cast<double>(count * first.nnz() * v.columns);
      job.run = [&ctx = s.ctx, o] { o->run(ctx); };
      job.task = {.kernel = "spmm_batch", .batch = o->coo ? nullptr : &o->A, .x = &o->B.values(), .y = &o->C.values()};
      job.task.columns = v.columns, job.task.x_stride = v.many_B ? o->B.stride() : 0;
      job.fault = [o] { return o->fault(); };
      job.keeps = std::move(operands);
      return job;
    });
    s.report(row);
  }
}

template <class T>
struct BatchBenchInstances {
  static constexpr auto list = instance<void(const BenchSubject<T>&)>(bench_batch);
};
KRILL_INSTANTIATE(BatchBenchInstances);

}  // namespace krill::apps::bench
