// C = A B for a matrix in CSR, or what --format names, and dense ones of 1 to 128 columns, in both orders.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "apps/bench/bench_matrix.hpp"
#include "apps/bench/job.hpp"
#include "apps/samples/formats.hpp"
#include "apps/system/linear_system.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/spmm/plan.hpp"
#include "sparse/spmm/work.hpp"

namespace krill::apps::bench {
namespace {

constexpr std::int32_t all_columns[] = {1, 4, 8, 32, 128};
constexpr std::int64_t max_entries = std::int64_t{1} << 29;  // of B or C
constexpr std::int32_t checked_rows = 1000;                  // at most, evenly spread

/// What multiplies: a plan, or spmm in a format.
struct SpmmForm {
  std::string name;
  SpmvMethod method = SpmvMethod::in_place;
  std::optional<Format> format = {};
};
/// CSR by a plan, and what --format names beside.
template <class T>
std::vector<SpmmForm> forms(const BenchSubject<T>& s) {
  std::vector<SpmmForm> some;
  if (s.wants("csr")) some.push_back({""});
  if (s.formats.empty()) return some;
  if (s.wants("auto")) some.push_back({" auto", SpmvMethod::automatic});
  for (const NamedFormat& named : format_samples(in_bench))
    if (s.wants(named.name)) some.push_back({" " + named.name, SpmvMethod::in_place, named.format});
  return some;
}

template <class T>
struct SpmmOperands {
  std::shared_ptr<const AnyMatrix<T>> A;
  std::optional<SpmmPlan<T>> plan = {};        // of csr, and of auto
  std::optional<AnyMatrix<T>> converted = {};  // in another format, which is multiplied in place
  Dense<T> B, C;

  SpmmOperands(const BenchSubject<T>& s, std::size_t copy, std::int32_t columns, Order order, const SpmmForm& form)
      : A(source_copy(s, copy)),
        B(cols(*A), columns, Array<T>(random_vector<T>(std::int64_t{cols(*A)} * columns, 1, RandomPurpose::rhs), "B"),
          order),
        C(rows(*A), columns, order) {
    if (form.format)
      converted =
          with_csr(*A, [&](const auto& csr) { return AnyMatrix<T>(convert_format(s.ctx, csr, *form.format, {})); });
    else
      plan.emplace(s.ctx, *A, Op::none, columns, form.method);
  }

  void run(Context& ctx) {
    plan ? plan->apply(ctx, Op::none, T(1), B, T(0), C) : spmm(ctx, Op::none, Op::none, T(1), *converted, B, T(0), C);
  }
  /// What it moves, and operations of the entries that there are.
  Work work() const {
    const Work of_entries = spmm_work(*A, B.cols());
    if (converted) return {spmm_work(*converted, B.cols()).bytes, of_entries.flops};
    return {of_entries.bytes - matrix_bytes(*A) + static_cast<double>(plan->report().bytes), of_entries.flops};
  }

  /// What is wrong with C, if anything: rounding of a row's terms explains all of an entry's error. Whoever comes next
  /// finds NaN.
  std::string fault() {
    std::string found = with_csr(*A, [&](const auto& csr) { return wrong_entry(csr); });
    for (T& value : C.values().edit()) value = std::numeric_limits<real_t<T>>::quiet_NaN();
    return found;
  }

 private:
  template <class Offset>
  std::string wrong_entry(const Csr<T, Offset>& csr) const {
    const auto offsets = csr.row_offsets().host();
    const auto columns = csr.col_indices().host();
    const auto values = csr.values().host();
    const auto b = B.host(), c = C.host();
    const double epsilon = std::numeric_limits<real_t<T>>::epsilon();
    const std::int32_t step = std::max(1, csr.rows() / checked_rows);
    for (std::int32_t i = 0; i < csr.rows(); i += step) {
      const auto from = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i)]),
                 to = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i) + 1]);
      for (std::int32_t j = 0; j < B.cols(); ++j) {
        std::complex<double> sum;
        double size = 0;
        for (std::size_t k = from; k < to; ++k) {
          const auto term = std::complex<double>(values[k]) * std::complex<double>(b.at(columns[k], j));
          sum += term, size += std::abs(term);
        }
        const double error = std::abs(sum - std::complex<double>(c.at(i, j)));
        if (std::isfinite(size) && !(error <= 4 * static_cast<double>(to - from + 2) * epsilon * size))
          return fmt::format("wrong result: entry ({}, {}) is off by {:.2g} of its terms", i, j, error / size);
      }
    }
    return {};
  }
};

template <class T>
void measure(const BenchSubject<T>& s, const SpmmForm& form, std::int32_t columns, Order order) {
  const bool by_rows = order == Order::row_major;
  const std::string_view place = by_rows ? "by rows" : columns == 1 ? "column" : "columns";
  Row row = s.row("spmm", fmt::format("{} {}{}", columns, place, form.name));
  measure_job<T>(s, row, [&](std::size_t copy) {
    auto operands = std::make_shared<SpmmOperands<T>>(s, copy, columns, order, form);
    auto* const o = operands.get();
    Job<T> job;
    const Work work = o->work();
    job.bytes = work.bytes, job.flops = work.flops;
    job.run = [&ctx = s.ctx, o] { o->run(ctx); };
    job.task = {.kernel = "spmm", .A = o->A.get(), .x = &o->B.values(), .y = &o->C.values()};
    job.task.columns = columns, job.task.by_rows = by_rows;
    job.fault = [o] { return o->fault(); };
    job.keeps = std::move(operands);
    return job;
  });
  s.report(row);
}

}  // namespace

template <class T>
void bench_spmm(const BenchSubject<T>& s) {
  for (const SpmmForm& form : forms(s))
    for (const Order order : {Order::column_major, Order::row_major})
      for (const std::int32_t columns : all_columns)
        if ((columns > 1 || order == Order::column_major) && std::max(rows(*s.A), cols(*s.A)) <= max_entries / columns)
          measure(s, form, columns, order);
  if constexpr (std::is_same_v<T, float>)
    if (s.formats.empty()) bench_half_products(s);
}

template <class T>
struct SpmmBenchInstances {
  static constexpr auto list = instance<void(const BenchSubject<T>&)>(bench_spmm);
};
KRILL_INSTANTIATE(SpmmBenchInstances);

}  // namespace krill::apps::bench
