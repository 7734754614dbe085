// Solves with three and five diagonals, and with blocks, from one long system to many short ones.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "apps/bench/job.hpp"
#include "apps/system/linear_system.hpp"
#include "sparse/banded/banded_factor.hpp"
#include "sparse/banded/block_tridiagonal_plan.hpp"
#include "sparse/banded/periodic.hpp"
#include "sparse/banded/rearrange.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/pass_host.hpp"
#include "sparse/io/generate_rows.hpp"

namespace krill::apps::bench {

using krill::detail::all_threads;
namespace {

/// A line of the table.
struct BandedVariant {
  std::string_view name;
  BandedMethod method;
  int diagonals;
  bool batch, interleaved;      ///< batch: for several systems, else for one
  std::string_view rival = {};  ///< the kernel that rivals are asked for: a name of cuSPARSE; empty: none
};
constexpr BandedVariant banded_variants[] = {
    {"gtsv2", BandedMethod::lu, 3, false, false, "gtsv2"},
    {"gtsv2_nopivot", BandedMethod::thomas, 3, false, false, "gtsv2_nopivot"},
    {"gtsv2_strided", BandedMethod::thomas, 3, true, false, "gtsv2_strided"},
    {"gtsv_interleaved thomas", BandedMethod::thomas, 3, true, true, "gtsv_interleaved thomas"},
    {"gtsv_interleaved lu", BandedMethod::lu, 3, true, true, "gtsv_interleaved lu"},
    {"gtsv_interleaved qr", BandedMethod::qr, 3, true, true, "gtsv_interleaved qr"},
    {"gpsv_interleaved", BandedMethod::qr, 5, true, true, "gpsv_interleaved"},
    {"five interleaved thomas", BandedMethod::thomas, 5, true, true, "gpsv_interleaved"},
    {"five strided lu", BandedMethod::lu, 5, true, false},
};
/// Solves with a factor that is there; the row of the same method without one is what they spare.
constexpr BandedVariant factored_variants[] = {
    {"factored thomas", BandedMethod::thomas, 3, true, true},
    {"factored lu", BandedMethod::lu, 3, true, true},
};

/// Systems whose rows are dominant. Bands are zero where they leave the matrix, as cuSPARSE wants them.
template <class T>
struct BandedOperands {
  Banded<T> A;
  Array<T> b, x;
  BandedPlan<T> plan;

  BandedOperands(Context& ctx, const BandLayout& l, const BandedVariant& v)
      : A(l, v.diagonals),
        b(random_vector<T>(l.extent(), 1, RandomPurpose::rhs), "b"),
        x(l.extent(), "x"),
        plan(ctx, l, v.diagonals, v.method) {
    for (int k = -v.diagonals / 2; k <= v.diagonals / 2; ++k) {
      std::vector<T> values = random_vector<T>(l.extent(), 4 + k, RandomPurpose::known_solution);
      for_each_index(all_threads(), l.extent(), [&](std::int64_t place) {
        T& value = values[static_cast<std::size_t>(place)];
        const std::int64_t col = l.row_at(place) + k;
        value = k == 0 ? value + T(8) : col < 0 || col >= l.rows ? T(0) : value;
      });
      A.band(k) = Array<T>(std::move(values));
    }
  }

  /// What is wrong with x, if anything: no row leaves more of a residual than rounding of 100 operations explains, 200
  /// for five diagonals, on numbers of the size that rows of such systems have (rotations mix them, so that a row of
  /// small ones gets the rounding of its neighbors). Whoever comes next finds NaN.
  std::string fault() {
    using Wide = wide_t<T>;
    const BandLayout& l = A.layout();
    const int half = A.diagonals() / 2;
    const T *bands[5] = {}, *const rhs = b.host().data(), *const solution = x.host().data();
    for (int k = -half; k <= half; ++k) bands[k + half] = A.band(k).host().data();
    struct Greatest {
      double residual = 0, size = 0;
    };
    constexpr std::int64_t block = 1 << 16;
    std::vector<Greatest> parts(static_cast<std::size_t>((l.extent() + block - 1) / block));
    for_blocks(all_threads(), l.extent(), block, l.extent(), [&](std::int64_t begin, std::int64_t end) {
      Greatest& part = parts[static_cast<std::size_t>(begin / block)];
      for (std::int64_t place = begin; place < end; ++place) {
        const std::int64_t row = l.row_at(place);
        Wide sum(rhs[place]);
        double size = std::abs(sum);
        for (int k = -half; k <= half; ++k) {
          if (row + k < 0 || row + k >= l.rows) continue;
          const Wide term = Wide(bands[k + half][place]) * Wide(solution[place + k * l.row_stride]);
          sum -= term, size += std::abs(term);
        }
        const double residual = std::abs(sum);
        part.residual = std::max(part.residual, std::isnan(residual) ? HUGE_VAL : residual);
        part.size = std::max(part.size, size);
      }
    });
    Greatest of_all;
    for (const Greatest& part : parts) {
      of_all.residual = std::max(of_all.residual, part.residual);
      of_all.size = std::max(of_all.size, part.size);
    }
    const double bound = (half == 1 ? 100 : 200) * double{std::numeric_limits<real_t<T>>::epsilon()};
    std::string found;
    if (!(of_all.residual <= bound * of_all.size))
      found = fmt::format("wrong result: a residual of {:.2g} beside terms up to {:.2g}", of_all.residual, of_all.size);
    for (T& value : x.edit()) value = std::numeric_limits<real_t<T>>::quiet_NaN();
    return found;
  }
};

BandLayout layout_of(const BandedShape& shape, bool interleaved) {
  return interleaved ? BandLayout::interleaved(shape.rows, shape.batch) : BandLayout::strided(shape.rows, shape.batch);
}

template <class T>
Row row_of(const BenchSubject<T>& s, const BandedShape& shape, std::string_view variant, std::int64_t diagonals) {
  Row row;
  row.kernel = "banded", row.matrix = shape.name();
  const std::int64_t unknowns = std::int64_t{shape.rows} * shape.batch;
  row.rows = unknowns, row.nnz = unknowns * diagonals;
  row.precision = s.precision, row.variant = variant;
  return row;
}

template <class T>
void measure_shape(const BenchSubject<T>& s, const BandedShape& shape, const BandedVariant& v) {
  const BandLayout l = layout_of(shape, v.interleaved);
  Row row = row_of(s, shape, v.name, v.diagonals);
  measure_job<T>(s, row, [&](std::size_t) {
    auto operands = std::make_shared<BandedOperands<T>>(s.ctx, l, v);
    auto* const o = operands.get();
    Job<T> job;
    const Work work = o->plan.work();
    job.bytes = work.bytes, job.flops = work.flops;
    job.run = [&ctx = s.ctx, o] { o->plan.solve(ctx, o->A, o->b, o->x); };
    if (!v.rival.empty()) job.task = {.kernel = v.rival, .bands = &o->A, .x = &o->b, .y = &o->x};
    job.fault = [o] { return o->fault(); };
    job.keeps = std::move(operands);
    return job;
  });
  s.report(row);
}

template <class T>
void measure_factored(const BenchSubject<T>& s, const BandedShape& shape, const BandedVariant& v) {
  const BandLayout l = layout_of(shape, v.interleaved);
  Row row = row_of(s, shape, v.name, v.diagonals);
  measure_job<T>(s, row, [&](std::size_t) {
    auto operands = std::make_shared<BandedOperands<T>>(s.ctx, l, v);
    auto factor = std::make_shared<BandedFactor<T>>(s.ctx, operands->A, v.method);
    auto* const o = operands.get();
    Job<T> job;
    const Work work = factor->work();
    job.bytes = work.bytes, job.flops = work.flops;
    job.run = [&ctx = s.ctx, o, f = factor.get()] { f->solve(ctx, o->b, o->x); };
    job.fault = [o] { return o->fault(); };
    job.keeps = std::make_shared<std::pair<decltype(operands), decltype(factor)>>(operands, factor);
    return job;
  });
  s.report(row);
}

/// Periodic systems whose corners are zeros, which the plan does not know: open ones judge them.
template <class T>
void measure_periodic(const BenchSubject<T>& s, const BandedShape& shape) {
  const BandLayout l = layout_of(shape, true);
  Row row = row_of(s, shape, "periodic lu", 3);
  measure_job<T>(s, row, [&](std::size_t) {
    constexpr BandedVariant three{"periodic lu", BandedMethod::lu, 3, true, true};
    auto operands = std::make_shared<BandedOperands<T>>(s.ctx, l, three);
    auto plan = std::make_shared<PeriodicBandedPlan<T>>(s.ctx, operands->A);
    auto* const o = operands.get();
    Job<T> job;
    const Work work = o->plan.work();
    job.bytes = work.bytes + static_cast<double>(l.unknowns() * std::int64_t{sizeof(T)}), job.flops = work.flops;
    job.run = [&ctx = s.ctx, o, p = plan.get()] { p->solve(ctx, o->b, o->x); };
    job.fault = [o] { return o->fault(); };
    job.keeps = std::make_shared<std::pair<decltype(operands), decltype(plan)>>(operands, plan);
    return job;
  });
  s.report(row);
}

constexpr int bench_block = 4;

/// Block tridiagonal systems whose rows are dominant.
template <class T>
struct BlockOperands {
  BlockTridiagonal<T> A;
  Array<T> b, x;
  BlockTridiagonalPlan<T> plan;
  static constexpr int size = bench_block;

  BlockOperands(Context& ctx, const BandLayout& l)
      : A(l, size),
        b(random_vector<T>(l.extent() * size, 1, RandomPurpose::rhs), "b"),
        x(l.extent() * size, "x"),
        plan(ctx, l, size) {
    for (int k = -1; k <= 1; ++k)
      A.band(k) = Array<T>(random_vector<T>(A.band(k).size(), 4 + k, RandomPurpose::known_solution));
    const auto diagonal = A.band(0).edit();
    for_each_index(all_threads(), l.extent() * size, [&](std::int64_t row) {
      diagonal[static_cast<std::size_t>(row * size + row % size)] += T(6 * size);
    });
  }

  /// As that of BandedOperands, of systems one after the other; a row meets 3 size entries.
  std::string fault() {
    using Wide = wide_t<T>;
    const BandLayout& l = A.layout();
    const auto rhs = b.host(), solution = x.host();
    double residual = 0, largest = 0;
    for (std::int64_t row = 0; row < l.extent() * size; ++row) {
      Wide sum(rhs[static_cast<std::size_t>(row)]);
      double terms = std::abs(sum);
      const std::int64_t block = row / size, i = l.row_at(block);
      for (int k = -1; k <= 1; ++k) {
        if (i + k < 0 || i + k >= l.rows) continue;
        const auto entries = A.band(k).host();
        for (int c = 0; c < size; ++c) {
          const Wide term = Wide(entries[static_cast<std::size_t>(row * size + c)]) *
                            Wide(solution[static_cast<std::size_t>((block + k) * size + c)]);
          sum -= term, terms += std::abs(term);
        }
      }
      residual = std::max(residual, std::isnan(std::abs(sum)) ? HUGE_VAL : std::abs(sum));
      largest = std::max(largest, terms);
    }
    std::string found;
    if (!(residual <= 100 * double{std::numeric_limits<real_t<T>>::epsilon()} * largest))
      found = fmt::format("wrong result: a residual of {:.2g} beside terms up to {:.2g}", residual, largest);
    for (T& value : x.edit()) value = std::numeric_limits<real_t<T>>::quiet_NaN();
    return found;
  }
};

template <class T>
void measure_blocks(const BenchSubject<T>& s, const BandedShape& shape) {
  const BandLayout l = BandLayout::strided(shape.rows / bench_block, shape.batch);
  Row row = row_of(s, shape, fmt::format("blocks of {}", bench_block), 3 * bench_block);
  const std::int64_t unknowns = l.unknowns() * bench_block;
  row.rows = unknowns, row.nnz = unknowns * 3 * bench_block;
  measure_job<T>(s, row, [&](std::size_t) {
    auto operands = std::make_shared<BlockOperands<T>>(s.ctx, l);
    auto* const o = operands.get();
    Job<T> job;
    const Work work = o->plan.work();
    job.bytes = work.bytes, job.flops = work.flops;
    job.run = [&ctx = s.ctx, o] { o->plan.solve(ctx, o->A, o->b, o->x); };
    job.fault = [o] { return o->fault(); };
    job.keeps = std::move(operands);
    return job;
  });
  s.report(row);
}

template <class T>
void measure_rearrangement(const BenchSubject<T>& s, const BandedShape& shape) {
  const BandLayout from = layout_of(shape, false), to = layout_of(shape, true);
  Row row = row_of(s, shape, "strided to interleaved", 1);
  measure_job<T>(s, row, [&](std::size_t) {
    auto operands = std::make_shared<std::pair<Array<T>, Array<T>>>(
        Array<T>(random_vector<T>(from.extent(), 1, RandomPurpose::rhs), "b"), Array<T>(to.extent(), "x"));
    auto* const o = operands.get();
    Job<T> job;
    job.bytes = 2.0 * static_cast<double>(from.unknowns()) * sizeof(T);
    job.run = [&ctx = s.ctx, o, from, to] { rearrange(ctx, from, o->first, to, o->second); };
    job.fault = [o, from, to] {
      std::string found;
      const auto given = o->first.host();
      const auto made = o->second.edit();
      for (std::int64_t place = 0; place < from.extent() && found.empty(); ++place)
        if (made[static_cast<std::size_t>(to.at(place % from.rows, place / from.rows))] !=
            given[static_cast<std::size_t>(place)])
          found = fmt::format("wrong result: entry {} is not in its place", place);
      std::fill(made.begin(), made.end(), T(std::numeric_limits<real_t<T>>::quiet_NaN()));
      return found;
    };
    job.keeps = std::move(operands);
    return job;
  });
  s.report(row);
}

}  // namespace

std::string BandedShape::name() const { return fmt::format("{} x {}", rows, batch); }

template <class T>
void bench_banded(const BenchSubject<T>& s) {
  for (const BandedShape& shape : s.shapes) {
    for (const BandedVariant& v : banded_variants)
      if (v.batch == (shape.batch > 1)) measure_shape(s, shape, v);
    for (const BandedVariant& v : factored_variants)
      if (shape.batch > 1) measure_factored(s, shape, v);
    if (shape.rows >= 3) measure_periodic(s, shape);
    if (shape.rows >= bench_block) measure_blocks(s, shape);
    if (shape.batch > 1) measure_rearrangement(s, shape);
  }
}

template <class T>
struct BandedBenchInstances {
  static constexpr auto list = instance<void(const BenchSubject<T>&)>(bench_banded);
};
KRILL_INSTANTIATE(BandedBenchInstances);

}  // namespace krill::apps::bench
